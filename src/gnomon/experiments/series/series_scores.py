"""Scores of series that people played, as a table: players as algorithms, rules as tasks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gnomon.errors import UnknownNameError
from gnomon.experiments.scoring.attempt_scores import (
    AAI_FAMILY,
    ATTEMPT_METRICS,
    TrialAttempts,
    aai_curves,
    corrected_success,
)
from gnomon.experiments.series.attempt_chances import NaivePlayer
from gnomon.experiments.series.measured_series import (
    MeasuredSeries,
    PrecedenceMode,
    criterion_text,
    measure_series,
)
from gnomon.experiments.series.played_series import PlayedSeries
from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, Board
from gnomon.game.outcomes import CLEARED, IN_PROGRESS
from gnomon.learners.base import TrialLog
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gnomon.scores.table import FloatArray, ScoreTable

#: Every score of a series, with its unit.
SERIES_METRICS = {
    "m_star": "attempts",
    "m_dagger": "attempts",
    "errors": "errors",
    "skill": "fraction",
    "informative": "fraction",
    "positive_tests": "fraction",
    **dict.fromkeys(AAI_FAMILY),
    "aai": "ratio",
}
#: Scores of what attempts tested, as of learners.
_OF_TESTS = ("informative", "positive_tests")


def score_series(
    series: Iterable[PlayedSeries],
    metric: str = "m_star",
    *,
    rules: Path | None = None,
    target_streak: int | None = None,
    target_r: float | None = None,
    precedence: PrecedenceMode = "naive",
    p0: NaivePlayer = "random",
    rule: str | None = None,
    by: Literal["player", "people"] = "player",
    as_reference: bool = False,
) -> ScoreTable:
    """Return a score of every series that people played, as a table.

    Parameters
    ----------
    series : iterable of PlayedSeries
        Those of a player in the order of play.
    metric : str
        ``m_star``, the attempts before mastery; ``m_dagger``, that less the mean of the player's
        mastered series; ``errors`` before mastery, or in all without it; ``skill``; one of the AAI
        family, at the end of the series; or ``informative`` and ``positive_tests``, as of learners
        (:data:`gnomon.experiments.ATTEMPT_METRICS`), without picks.
    rules : Path, optional
        A folder of rule texts, ``NAME.txt``; without it, rules of the catalogue. Needed for
        `target_r` and all but the first three metrics, which play the boards again.
    target_streak : int, optional
        Mastery is so many successes in a row; 10 if no criterion is given.
    target_r : float, optional
        Or a likelihood ratio so high, of the successes in a row, for one who knows the rule against
        one who tries at random. Of two criteria the first that is met counts.
    precedence : {"naive", "every", "every-cond", "ignore"}
        Only the first series of each player; or all, their tasks told apart by the rules that were
        met before, by these and whether they were mastered, or not at all.
    p0 : {"random", "mcp1"}
        The player who knows nothing: any attempt, or none that is known to fail.
    rule : str, optional
        Only series on this rule.
    by : {"player", "people"}
        Whether each player is an algorithm, or all of them are runs of one, ``people``: so they
        stand beside learners, and rules that different people played can be ranked.
    as_reference : bool
        Put in what the reference system does: m* of 300 at most, also of who did not learn; the
        mean of m-dagger over the rows of the table only; to the first of two adversaries the
        attempts of both; and the AAI family of :func:`aai_curves` so.

    Returns
    -------
    ScoreTable
        A run for each series with an attempt. Who did not learn is ``censored``. Attributes are
        ``player``, ``series``, ``rule``, ``preceding``, ``learned``, ``attempts``, ``errors``,
        ``at_least`` (below which m* cannot have been), ``criterion``, and ``plan`` and
        ``trial_list`` if known. A score is missing where the chances cannot be known, since the
        board is not in the files or the rule replies otherwise, which a `DegenerateScoresWarning`
        tells; and m-dagger where the player learned nothing.

    Raises
    ------
    UnknownNameError
        With the nearest names of metrics.
    ScoreDataError
        There is nothing to score, a criterion cannot be, or there is no text of a rule.

    References
    ----------
    The reference system's ``MwSeries`` tables, as since version 8.056.

    Examples
    --------
    >>> from gnomon.experiments.series.played_series import PlayedEpisode
    >>> from gnomon.experiments.series.transcript_files import RecordedAttempt
    >>> made = [
    ...     RecordedAttempt("p1", "e1", number, "", 0, None, 8, 2, code, "a.csv", {})
    ...     for number, code in enumerate([4, 4, 0, 0])
    ... ]
    >>> series = PlayedSeries("p1", "clockwise", 0, (PlayedEpisode("e1", tuple(made)),))
    >>> score_series([series], target_streak=2).runs("p1", "clockwise")
    array([2.])
    """
    if metric not in SERIES_METRICS:
        raise UnknownNameError("metric", metric, SERIES_METRICS)
    measured = measure_series(
        series,
        rules=rules,
        target_streak=target_streak,
        target_r=target_r,
        precedence=precedence,
        rule=rule,
        with_chances=metric not in ("m_star", "m_dagger", "errors"),
        as_reference=as_reference,
    )
    criterion = criterion_text(target_streak, target_r)
    rows = [
        _row(one)
        | {"criterion": criterion, "score": _score(one, metric, p0, as_reference=as_reference)}
        for one in measured
    ]
    note = f"series of people, learned at {criterion}"
    how = ("as the reference system counts",) if as_reference else ()
    return series_table(rows, metric, by=by, provenance=(note, "accepted picks left out", *how))


def series_table(
    rows: Iterable[dict[str, Any]],
    metric: str,
    *,
    by: Literal["player", "people"] = "player",
    provenance: tuple[str, ...] = (),
) -> ScoreTable:
    """Return rows of scores of series as a table: an infinite score is censored.

    Parameters
    ----------
    rows : iterable of mapping
        With ``player``, ``task`` and ``score``; what else they hold are attributes.
    metric : str
        One of `SERIES_METRICS`.
    by, provenance
        As of :func:`score_series`, and of :class:`gnomon.scores.ScoreTable`.

    Examples
    --------
    >>> rows = [{"player": "p1", "task": "clockwise", "score": math.inf}]
    >>> series_table(rows, "m_star", by="people").frame["censored"].to_list()
    [True]
    """
    from gnomon.scores.table import ScoreTable

    named = ({"algorithm": r["player"] if by == "player" else "people"} | r for r in rows)
    numbered = _numbered(named)
    if any(math.isinf(row["score"]) for row in numbered):
        numbered = [row | {"censored": math.isinf(row["score"])} for row in numbered]
    return ScoreTable.from_records(
        numbered,
        metric=metric,
        unit=SERIES_METRICS[metric],
        higher_is_better=metric in ("skill", *_OF_TESTS),
        provenance=provenance,
    )


def _row(one: MeasuredSeries) -> dict[str, Any]:
    series = one.series
    return {
        "player": series.player,
        "task": one.key,
        "series": series.number,
        "rule": series.rule,
        "preceding": ":".join(one.preceding) or None,
        "plan": series.plan or None,
        "trial_list": series.trial_list or None,
        "learned": one.is_learned,
        "attempts": one.accepted.size,
        "errors": int((~one.accepted).sum()),
        "at_least": one.at_least,
    }


def _numbered(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each series of an algorithm on a task the number of its run."""
    n_runs: dict[tuple[str, str], int] = defaultdict(int)
    found = []
    for row in rows:
        key = row["algorithm"], row["task"]
        found.append(row | {"run": n_runs[key]})
        n_runs[key] += 1
    return found


def _score(one: MeasuredSeries, metric: str, p0: NaivePlayer, *, as_reference: bool) -> float:
    if metric == "m_star":
        return one.m_star
    if metric == "m_dagger":
        return one.m_dagger
    if metric == "errors":
        until = int(one.m_star) if one.is_learned else one.accepted.size
        return float((~one.accepted[:until]).sum())
    if one.chances is None:
        return math.nan
    if metric in _OF_TESTS:
        # What the attempts tested follows from boards and replies; the rule plays no part.
        return ATTEMPT_METRICS[metric].compute(attempts_of_series(one.series))
    if metric == "skill":
        return corrected_success(one.accepted, [chances.of(p0)[0] for chances in one.chances])
    return float(curves_of(one, p0, as_reference=as_reference)[metric][-1])


def attempts_of_series(series: PlayedSeries) -> TrialAttempts:
    """Return the attempts of a series as those of a trial, without picks; boards must be known.

    Examples
    --------
    >>> from gnomon.experiments.series.played_series import PlayedEpisode
    >>> from gnomon.experiments.series.transcript_files import RecordedAttempt
    >>> from gnomon.game import Piece
    >>> attempt = RecordedAttempt("p", "e", 0, "", 0, 0, 8, 2, 0, "a.csv", {})
    >>> episode = PlayedEpisode("e", (attempt,), (Piece(0, 8, "STAR", "RED"),))
    >>> attempts_of_series(PlayedSeries("p", "clockwise", 0, (episode,))).log.finish
    array([1], dtype=int8)
    """
    boards = [Board(tuple(episode.board or ())) for episode in series.episodes]
    moves = [
        [attempt for attempt in episode.attempts if attempt.bucket is not None]
        for episode in series.episodes
    ]
    cleared = [
        sum(attempt.removed for attempt in made) == len(board.pieces)
        for made, board in zip(moves, boards, strict=True)
    ]
    made = [attempt for of_board in moves for attempt in of_board]
    actions = [N_BUCKETS * (one.cell - 1) + (one.bucket or 0) for one in made]
    log = TrialLog(
        np.array([board.codes(DEFAULT_SPEC) for board in boards], dtype=np.uint8),
        np.array([len(of_board) for of_board in moves], dtype=np.int64),
        np.array(actions, dtype=np.uint8),
        np.array([one.code for one in made], dtype=np.int8),
        np.where(cleared, CLEARED, IN_PROGRESS).astype(np.int8),
    )
    return TrialAttempts(log, RuleSet(()), DEFAULT_SPEC)


def curves_of(
    one: MeasuredSeries, p0: NaivePlayer = "random", *, as_reference: bool = False
) -> dict[str, FloatArray]:
    """Return the AAI family of a series after each attempt; its chances must be known.

    Examples
    --------
    >>> from gnomon.experiments.series.attempt_chances import AttemptChances
    >>> chance = AttemptChances((0.5, 2.0), (0.5, 2.0), 2.0)
    >>> series = PlayedSeries("p1", "clockwise", 0, ())
    >>> one = MeasuredSeries(series, np.array([False]), math.inf, False, (chance,))
    >>> curves_of(one, as_reference=True)["aai"]
    array([2.])
    """
    assert one.chances is not None
    chance, mu = np.array([chances.of(p0) for chances in one.chances]).T
    lengths = [sum(map(one.series.counts, e.attempts)) for e in one.series.episodes]
    return aai_curves(
        one.accepted,
        chance,
        mu,
        # The reference takes the next board, after one that was not cleared, for the same.
        episode=None if as_reference else np.repeat(np.arange(len(lengths)), lengths),
        as_reference=as_reference,
    )
