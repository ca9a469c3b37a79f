"""Scores of series that people played, as a table: players as algorithms, rules as tasks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError, joined
from gnomon.experiments.scoring.attempt_scores import (
    AAI_FAMILY,
    ATTEMPT_METRICS,
    RecordedAttempts,
    TrialAttempts,
    aai_curves,
)
from gnomon.experiments.series.attempt_chances import NaivePlayer
from gnomon.experiments.series.measured_series import MeasuredSeries
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
    "start_skill": "fraction",
    "end_skill": "fraction",
    "inflection": "attempts",
    "steepness": "1/attempts",
    "informative": "fraction",
    "positive_tests": "fraction",
    **dict.fromkeys(AAI_FAMILY),
    "aai": "ratio",
}
#: Scores of what attempts tested, as of learners.
_OF_TESTS = ("informative", "positive_tests")
#: Scores of successes and their chances alone.
_OF_CHANCE = ("skill", "start_skill", "end_skill", "inflection", "steepness")


def needs_chances(metric: str) -> bool:
    """Tell whether a score needs to know what a player who knows nothing could expect.

    Raises UnknownNameError: there is no such score of a series; with the nearest names.

    Examples
    --------
    >>> needs_chances("aai"), needs_chances("m_star")
    (True, False)
    """
    if metric not in SERIES_METRICS:
        raise UnknownNameError("metric", metric, SERIES_METRICS)
    return metric not in ("m_star", "m_dagger", "errors")


def known_chances(measured: Iterable[MeasuredSeries], metric: str) -> list[MeasuredSeries]:
    """Return the series whose chances are known; raise a ScoreDataError if there is none.

    Examples
    --------
    >>> series = PlayedSeries("p1", "clockwise", 0, ())
    >>> one = MeasuredSeries(series, np.array([True]), 0.0, True, chances=())
    >>> known_chances([one], "aai") == [one]
    True
    """
    measured = list(measured)
    found = [one for one in measured if one.chances is not None]
    if not found:
        causes = (f"the first: {one.cause}" for one in measured if one.cause)
        why = next(causes, "in Python, measure_series is asked with_chances")
        raise ScoreDataError(
            f"expected a series whose chances are known for {metric}, found none; --rules names "
            f"the folder of the rules ({why})"
        )
    return found


def score_series(
    measured: Iterable[MeasuredSeries],
    metric: str = "m_star",
    *,
    p0: NaivePlayer = "random",
    by: Literal["player", "people"] = "player",
    as_reference: bool = False,
) -> ScoreTable:
    """Return a score of every series that people played, as a table.

    Parameters
    ----------
    measured : iterable of MeasuredSeries
        Of :func:`measure_series`; with their chances for all but the first three metrics.
    metric : str
        ``m_star``, the attempts before mastery; ``m_dagger``, that less the mean of the player's
        mastered series; ``errors`` before mastery, or in all without it; one of the AAI family, at
        the end of the series; or, as of learners (:data:`gnomon.experiments.ATTEMPT_METRICS`),
        ``skill``, ``start_skill``, ``end_skill``, ``inflection`` and ``steepness`` of the fitted
        learning curve, ``informative`` and ``positive_tests``, the last two without picks.
    p0 : {"random", "mcp1"}
        The player who knows nothing: any attempt, or none that is known to fail.
    by : {"player", "people"}
        Whether each player is an algorithm, or all of them are runs of one, ``people``: so they
        stand beside learners, and rules that different people played can be ranked.
    as_reference : bool
        Whether they were measured so; then the AAI family of :func:`aai_curves` and the learning
        curve of :func:`fit_learning_curve` are, too.

    Returns
    -------
    ScoreTable
        A run for each series. Who did not learn is ``censored``. Attributes are ``player``,
        ``series``, ``rule``, ``preceding``, ``learned``, ``attempts``, ``errors``, ``at_least``
        (below which m* cannot have been), ``criterion``, and ``plan`` and ``trial_list`` if known.
        A score is missing where the chances are not known; and m-dagger where the player learned
        nothing.

    Raises
    ------
    UnknownNameError
        With the nearest names of metrics.
    ScoreDataError
        No series has the chances that the metric needs.

    References
    ----------
    The reference system's ``MwSeries`` tables, as since version 8.056.

    Examples
    --------
    >>> series = PlayedSeries("p1", "clockwise", 0, ())
    >>> one = MeasuredSeries(series, np.array([False, False, True, True]), 2.0, True, None)
    >>> score_series([one]).runs("p1", "clockwise")
    array([2.])
    """
    measured = list(measured)
    if needs_chances(metric):
        known_chances(measured, metric)
    rows = [
        _row(one) | {"score": _score(one, metric, p0, as_reference=as_reference)}
        for one in measured
    ]
    learned = joined(list(dict.fromkeys(one.criterion for one in measured if one.criterion)))
    note = f"series of people, learned at {learned}" if learned else "series of people"
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
        higher_is_better=metric in ATTEMPT_METRICS and ATTEMPT_METRICS[metric].higher_is_better,
        provenance=provenance,
    )


def of_all_people(table: ScoreTable) -> ScoreTable:
    """Return a table in which all players are runs of one algorithm, ``people``.

    Examples
    --------
    >>> rows = [{"player": p, "task": "clockwise", "score": 3.0} for p in ("p1", "p2")]
    >>> of_all_people(series_table(rows, "m_star")).runs("people", "clockwise")
    array([3., 3.])
    """
    import polars as pl

    numbers = pl.int_range(pl.len()).over("task")
    frame = table.frame.with_columns(pl.lit("people").alias("algorithm"), numbers.alias("run"))
    return replace(table, frame=frame)


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
        "criterion": one.criterion or None,
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
    if metric in _OF_CHANCE:
        chance = np.array([chances.of(p0)[0] for chances in one.chances])
        attempts = RecordedAttempts(one.accepted, chance, as_reference)
        return ATTEMPT_METRICS[metric].compute(attempts)
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
        np.array([series.counts(one) for one in made], dtype=np.bool_),
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
