"""Scores of series that people played, as a table: players as algorithms, rules as tasks."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._io.text_file import read_text
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.experiments.scoring.attempt_scores import AAI_FAMILY, aai_curves, corrected_success
from gnomon.experiments.scoring.mastery import TARGET_STREAK, attempts_to_master
from gnomon.experiments.series.attempt_chances import AttemptChances, NaivePlayer, attempt_chances
from gnomon.experiments.series.played_series import PlayedSeries
from gnomon.rules.catalogue import available_rules, load_rule
from gnomon.rules.parser import parse
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

#: Which series are compared with which, by what the player met before.
PrecedenceMode = Literal["naive", "every", "every-cond", "ignore"]

#: Every score of a series, with its unit.
SERIES_METRICS = {
    "m_star": "attempts",
    "m_dagger": "attempts",
    "skill": "fraction",
    **dict.fromkeys(AAI_FAMILY),
    "aai": "ratio",
}
#: What the reference system puts for an m* that was not reached, and its upper limit.
_REFERENCE_M_STAR = 300.0


@dataclass(frozen=True, slots=True)
class _Measured:
    """A series with what its attempts say; chances and m* are None and NaN if unknown."""

    series: PlayedSeries
    accepted: npt.NDArray[np.bool_]
    m_star: float
    is_learned: bool
    chances: tuple[AttemptChances, ...] | None
    preceding: tuple[str, ...] = ()


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
    as_reference: bool = False,
) -> ScoreTable:
    """Return a score of every series that people played, as a table.

    Parameters
    ----------
    series : iterable of PlayedSeries
        Those of a player in the order of play.
    metric : str
        ``m_star``, the attempts before mastery; ``m_dagger``, that less the mean of the player's
        mastered series; ``skill``; or one of the AAI family, at the end of the series.
    rules : Path, optional
        A folder of rule texts, ``NAME.txt``; without it, rules of the catalogue. Needed for
        `target_r` and all but the first two metrics, which play the boards again.
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
    as_reference : bool
        Put in what the reference system does: m* of 300 at most, also of who did not learn; the
        mean of m-dagger over the rows of the table only; to the first of two adversaries the
        attempts of both; and the AAI family of :func:`aai_curves` so.

    Returns
    -------
    ScoreTable
        A run for each series with an attempt. Who did not learn is ``censored``. Attributes are
        ``series``, ``rule``, ``preceding``, ``learned``, ``attempts``, ``errors``, ``criterion``,
        and ``plan`` and ``trial_list`` if known. A score is missing where the chances cannot be
        known, since the board is not in the files or the rule replies otherwise, which a
        `DegenerateScoresWarning` tells; and m-dagger where the player learned nothing.

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
    from gnomon.scores.table import ScoreTable

    target_streak = _checked(metric, target_streak, target_r)
    needs_chances = target_r is not None or metric not in ("m_star", "m_dagger")
    rule_of = _rules(rules) if needs_chances else None
    all_measured = [
        _measured(_whole_board(one) if as_reference else one, rule_of, target_streak, target_r)
        for one in series
    ]
    chosen = [
        one
        for one in _with_preceding(all_measured, conditional=precedence == "every-cond")
        if one.accepted.size
        and (precedence != "naive" or one.series.number == 0)
        and rule in (None, one.series.rule)
    ]
    if not chosen:
        raise ScoreDataError(
            _none_left(precedence, rule, any_there=any(x.accepted.size for x in all_measured))
        )
    if as_reference:
        chosen = [_limited(one) for one in chosen]
    means = _mean_m_star(chosen if as_reference else all_measured)
    rows = _numbered(_row(one, precedence) for one in chosen)
    criterion = _criterion(target_streak, target_r)
    for row, one in zip(rows, chosen, strict=True):
        row["score"] = _score(one, metric, means, p0, as_reference=as_reference)
        row["criterion"] = criterion
    if any(math.isinf(row["score"]) for row in rows):
        rows = [row | {"censored": math.isinf(row["score"])} for row in rows]
    return ScoreTable.from_records(
        rows,
        metric=metric,
        unit=SERIES_METRICS[metric],
        higher_is_better=metric == "skill",
        provenance=(
            f"series of people, learned at {criterion}",
            "accepted picks left out",
            *(["as the reference system counts"] if as_reference else []),
        ),
    )


def _checked(metric: str, target_streak: int | None, target_r: float | None) -> int | None:
    """Return the streak to reach, if any."""
    if metric not in SERIES_METRICS:
        raise UnknownNameError("metric", metric, SERIES_METRICS)
    if target_streak is not None and target_streak < 1:
        raise ScoreDataError(f"target streak: expected at least 1, found {target_streak}")
    if target_r is not None and not target_r > 1:
        raise ScoreDataError(f"target R: expected a number above 1, found {target_r:g}")
    return TARGET_STREAK if target_streak is None and target_r is None else target_streak


def _criterion(target_streak: int | None, target_r: float | None) -> str:
    streak = [] if target_streak is None else [f"{target_streak} in a row"]
    return " or ".join([*streak, *([] if target_r is None else [f"R of {target_r:g}"])])


def _none_left(precedence: PrecedenceMode, rule: str | None, *, any_there: bool) -> str:
    on = f" on {rule}" if rule is not None else ""
    first = any_there and precedence == "naive"
    which = ", the first of its player (others are scored with another precedence mode)"
    return f"expected a series{on} with an attempt{which if first else ''}; found none"


def _rules(folder: Path | None) -> Callable[[str], RuleSet]:
    """Return what finds a rule by its name: in a folder, or else in the catalogue."""
    if folder is not None and not folder.is_dir():
        raise ScoreDataError(f"{folder}: expected a folder of rules; there is none")

    @cache
    def rule_of(name: str) -> RuleSet:
        path = None if folder is None else folder / f"{name}.txt"
        if path is not None and path.is_file():
            return parse(read_text(path))
        if name in available_rules():
            return load_rule(name)
        where = "a folder of rules (--rules)" if path is None else str(path)
        raise ScoreDataError(f"rule {name}: expected its text in {where}; there is none")

    return rule_of


def _whole_board(series: PlayedSeries) -> PlayedSeries:
    """Return a series in which the first of two adversaries has the attempts of both."""
    return replace(series, mover=None) if series.mover == 0 else series


def _measured(
    series: PlayedSeries,
    rule_of: Callable[[str], RuleSet] | None,
    target_streak: int | None,
    target_r: float | None,
) -> _Measured:
    accepted = np.array([attempt.code == 0 for attempt in series.countable], dtype=np.bool_)
    if not accepted.size:
        return _Measured(series, accepted, math.inf, False, None)
    chances = None if rule_of is None else _chances(series, rule_of(series.rule))
    if target_r is None:
        m_star = attempts_to_master(accepted, target=target_streak)
    elif chances is None:
        m_star = math.nan
    else:
        ratios = [one.likelihood_ratio for one in chances]
        m_star = attempts_to_master(
            accepted, target=target_streak, ratios=ratios, target_r=target_r
        )
    return _Measured(series, accepted, m_star, math.isfinite(m_star), chances)


def _chances(series: PlayedSeries, rule_set: RuleSet) -> tuple[AttemptChances, ...] | None:
    """Return the chances of the attempts that count; None, with a warning, if one is unknown."""
    found: list[AttemptChances] = []
    try:
        for episode in series.episodes:
            if episode.board is None:
                raise ScoreDataError(
                    f"the board of episode {episode.name} is not in the files, or has pictures"
                )
            of_episode = attempt_chances(
                rule_set, episode.board, episode.attempts, only_movable=series.only_movable
            )
            pairs = zip(episode.attempts, of_episode, strict=True)
            found += [chances for attempt, chances in pairs if series.counts(attempt)]
    except ScoreDataError as error:
        warnings.warn(
            f"{series.player}, series {series.number} ({series.rule}): not estimable, {error}",
            DegenerateScoresWarning,
            stacklevel=4,
        )
        return None
    return tuple(found)


def _with_preceding(measured: Sequence[_Measured], *, conditional: bool) -> list[_Measured]:
    """Tell each series which rules its player met before, and if asked whether they were learned.

    A series without any attempt was met, too.
    """
    before: dict[str, tuple[str, ...]] = defaultdict(tuple)
    found = []
    for one in measured:
        player, met = one.series.player, one.series.rule
        found.append(replace(one, preceding=before[player]))
        if conditional:
            known = "unknown" if math.isnan(one.m_star) else str(one.is_learned).lower()
            met = f"{known}.{met}"
        before[player] = (*before[player], met)
    return found


def _limited(one: _Measured) -> _Measured:
    """Return a series with the m* of the reference system; what is unknown stays so."""
    return replace(one, m_star=float(np.minimum(one.m_star, _REFERENCE_M_STAR)))


def _mean_m_star(measured: Iterable[_Measured]) -> dict[str, float]:
    """Return the mean m* of the series that each player mastered."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in measured:
        if one.is_learned:
            found[one.series.player].append(one.m_star)
    return {player: float(np.mean(values)) for player, values in found.items()}


def _row(one: _Measured, precedence: PrecedenceMode) -> dict[str, Any]:
    series = one.series
    told_apart = precedence in ("every", "every-cond")
    preceding = one.preceding if told_apart else ()
    return {
        "algorithm": series.player,
        "task": ":".join((*preceding, series.rule)),
        "series": series.number,
        "rule": series.rule,
        "preceding": ":".join(preceding) or None,
        "plan": series.plan or None,
        "trial_list": series.trial_list or None,
        "learned": one.is_learned,
        "attempts": one.accepted.size,
        "errors": int((~one.accepted).sum()),
    }


def _numbered(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each series of a player on a task the number of its run."""
    n_runs: dict[tuple[str, str], int] = defaultdict(int)
    found = []
    for row in rows:
        key = row["algorithm"], row["task"]
        found.append(row | {"run": n_runs[key]})
        n_runs[key] += 1
    return found


def _score(
    one: _Measured,
    metric: str,
    means: dict[str, float],
    p0: NaivePlayer,
    *,
    as_reference: bool,
) -> float:
    if metric == "m_star":
        return one.m_star
    if metric == "m_dagger":
        return one.m_star - means.get(one.series.player, math.nan)
    if one.chances is None:
        return math.nan
    chance, mu = np.array([chances.of(p0) for chances in one.chances]).T
    if metric == "skill":
        return corrected_success(one.accepted, chance)
    lengths = [sum(map(one.series.counts, episode.attempts)) for episode in one.series.episodes]
    curves = aai_curves(
        one.accepted,
        chance,
        mu,
        # The reference takes the next board, after one that was not cleared, for the same.
        episode=None if as_reference else np.repeat(np.arange(len(lengths)), lengths),
        as_reference=as_reference,
    )
    return float(curves[metric][-1])
