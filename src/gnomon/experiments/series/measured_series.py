"""Series of people measured: mastery, m*, m-dagger, and the chances at each attempt."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon._io.text_file import read_text
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.experiments.scoring.mastery import TARGET_STREAK, attempts_to_master
from gnomon.experiments.series.attempt_chances import AttemptChances, attempt_chances
from gnomon.experiments.series.played_series import PlayedSeries
from gnomon.rules.catalogue import available_rules, load_rule
from gnomon.rules.parser import parse
from gnomon.rules.syntax import RuleSet

#: Which series are compared with which, by what the player met before.
PrecedenceMode = Literal["naive", "every", "every-cond", "ignore"]

#: What the reference system puts for an m* that was not reached, and its upper limit.
REFERENCE_M_STAR = 300.0


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSeries:
    """A series of a person with what its attempts say.

    Parameters
    ----------
    series : PlayedSeries
    accepted : numpy.ndarray of bool, shape (n_attempts,)
        Whether each attempt that counts was a success.
    m_star : float
        Attempts before mastery; infinite if the rule was not mastered, NaN if that is not known.
    is_learned : bool
        Whether the rule was mastered.
    chances : tuple of AttemptChances or None
        At each attempt that counts; None if they were not asked for, or are not known.
    preceding : tuple of str
        The rules that the player met before, the first first; by ``every-cond`` each with ``true.``
        or ``false.`` before it.
    m_dagger : float
        m* less the mean m* of the player's mastered series; NaN if there is none.
    criterion : str
        What counted as mastery.
    cause : str
        Why the chances are not known, though they were asked for.

    Examples
    --------
    >>> series = PlayedSeries("p1", "clockwise", 0, ())
    >>> one = MeasuredSeries(series, np.array([False, True, True]), math.inf, False, None)
    >>> one.at_least
    1
    """

    series: PlayedSeries
    accepted: npt.NDArray[np.bool_]
    m_star: float
    is_learned: bool
    chances: tuple[AttemptChances, ...] | None
    preceding: tuple[str, ...] = ()
    m_dagger: float = math.nan
    criterion: str = ""
    cause: str = ""

    @property
    def at_least(self) -> int:
        """What m* cannot have been below: attempts before the streak with which the series ends."""
        failures = np.flatnonzero(~self.accepted)
        return int(failures[-1]) + 1 if failures.size else 0

    @property
    def key(self) -> str:
        """The rule, after those that were met before: ``clockwise:color-match``."""
        return ":".join((*self.preceding, self.series.rule))


def measure_series(
    series: Iterable[PlayedSeries],
    *,
    rules: Path | None = None,
    target_streak: int | None = None,
    target_r: float | None = None,
    precedence: PrecedenceMode = "naive",
    rule: str | None = None,
    with_chances: bool = False,
    as_reference: bool = False,
) -> tuple[MeasuredSeries, ...]:
    """Return each series with an attempt, measured: for tables of scores, and for curves.

    Parameters
    ----------
    series : iterable of PlayedSeries
        Those of a player in the order of play.
    rules : Path, optional
        A folder of rule texts, ``NAME.txt``; without it, rules of the catalogue. Needed for
        `target_r` and the chances, for which the boards are played again.
    target_streak : int, optional
        Mastery is so many successes in a row; 10 if no criterion is given.
    target_r : float, optional
        Or a likelihood ratio so high, of the successes in a row, for one who knows the rule against
        one who tries at random. Of two criteria the first that is met counts.
    precedence : {"naive", "every", "every-cond", "ignore"}
        Only the first series of each player; or all, their tasks told apart by the rules that were
        met before, by these and whether they were mastered, or not at all.
    rule : str, optional
        Only series on this rule.
    with_chances : bool
        Find what a player who knows nothing could expect at each attempt.
    as_reference : bool
        Put in what the reference system does: m* of 300 at most, also of who did not learn; the
        mean of m-dagger over the series that are returned only; to the first of two adversaries
        the attempts of both.

    Raises
    ------
    ScoreDataError
        There is nothing to measure, a criterion cannot be, or there is no text of a rule.

    Warns
    -----
    DegenerateScoresWarning
        The chances of a series cannot be known, since a board is not in the files or the rule
        replies otherwise.

    Examples
    --------
    >>> from gnomon.experiments.series.played_series import PlayedEpisode
    >>> from gnomon.experiments.series.transcript_files import RecordedAttempt
    >>> made = [
    ...     RecordedAttempt("p1", "e1", number, "", 0, None, 8, 2, code, "a.csv", {})
    ...     for number, code in enumerate([4, 4, 0, 0])
    ... ]
    >>> series = PlayedSeries("p1", "clockwise", 0, (PlayedEpisode("e1", tuple(made)),))
    >>> measure_series([series], target_streak=2)[0].m_star
    2.0
    """
    target_streak, criterion = _checked(target_streak, target_r)
    needed = with_chances or target_r is not None
    rule_of = find_rules(rules) if needed else None
    all_measured = [
        _measured(_whole_board(one) if as_reference else one, rule_of, target_streak, target_r)
        for one in series
    ]
    chosen = [
        one
        for one in _with_preceding(all_measured, precedence)
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
    return tuple(
        replace(
            one, m_dagger=one.m_star - means.get(one.series.player, math.nan), criterion=criterion
        )
        for one in chosen
    )


def _checked(target_streak: int | None, target_r: float | None) -> tuple[int | None, str]:
    """Return the streak to reach, if any, and the criterion in words."""
    if target_streak is not None and target_streak < 1:
        raise ScoreDataError(f"target streak: expected at least 1, found {target_streak}")
    if target_r is not None and not target_r > 1:
        raise ScoreDataError(f"target R: expected a number above 1, found {target_r:g}")
    if target_streak is None and target_r is None:
        target_streak = TARGET_STREAK
    streak = [] if target_streak is None else [f"{target_streak} in a row"]
    return target_streak, " or ".join(
        [*streak, *([] if target_r is None else [f"R of {target_r:g}"])]
    )


def _none_left(precedence: PrecedenceMode, rule: str | None, *, any_there: bool) -> str:
    on = f" on {rule}" if rule is not None else ""
    first = any_there and precedence == "naive"
    which = ", the first of its player (others are scored with another precedence mode)"
    return f"expected a series{on} with an attempt{which if first else ''}; found none"


def find_rules(folder: Path | None) -> Callable[[str], RuleSet]:
    """Return what finds a rule by its name: in a folder, or else in the catalogue.

    Raises ScoreDataError: there is no such folder; and so does what is returned, of a rule.
    """
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
) -> MeasuredSeries:
    accepted = np.array([attempt.code == 0 for attempt in series.countable], dtype=np.bool_)
    if not accepted.size:
        return MeasuredSeries(series, accepted, math.inf, False, None)
    chances, cause = (None, "") if rule_of is None else _chances(series, rule_of(series.rule))
    if target_r is None:
        m_star = attempts_to_master(accepted, target=target_streak)
    elif chances is None:
        m_star = math.nan
    else:
        ratios = [one.likelihood_ratio for one in chances]
        m_star = attempts_to_master(
            accepted, target=target_streak, ratios=ratios, target_r=target_r
        )
    is_learned = math.isfinite(m_star)
    return MeasuredSeries(series, accepted, m_star, is_learned, chances, cause=cause)


def _chances(
    series: PlayedSeries, rule_set: RuleSet
) -> tuple[tuple[AttemptChances, ...] | None, str]:
    """Return the chances of the attempts that count; if one is unknown None, warn, and say why."""
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
        cause = f"{series.player}, series {series.number} ({series.rule}): not estimable, {error}"
        warnings.warn(cause, DegenerateScoresWarning, stacklevel=4)
        return None, cause
    return tuple(found), ""


def _with_preceding(
    measured: Sequence[MeasuredSeries], precedence: PrecedenceMode
) -> list[MeasuredSeries]:
    """Tell each series, if asked, which rules its player met before, and which were learned.

    A series without any attempt was met, too.
    """
    if precedence in ("naive", "ignore"):
        return list(measured)
    before: dict[str, tuple[str, ...]] = defaultdict(tuple)
    found = []
    for one in measured:
        player, met = one.series.player, one.series.rule
        found.append(replace(one, preceding=before[player]))
        if precedence == "every-cond":
            known = "unknown" if math.isnan(one.m_star) else str(one.is_learned).lower()
            met = f"{known}.{met}"
        before[player] = (*before[player], met)
    return found


def _limited(one: MeasuredSeries) -> MeasuredSeries:
    """Return a series with the m* of the reference system; what is unknown stays so."""
    return replace(one, m_star=float(np.minimum(one.m_star, REFERENCE_M_STAR)))


def _mean_m_star(measured: Iterable[MeasuredSeries]) -> dict[str, float]:
    """Return the mean m* of the series that each player mastered."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in measured:
        if one.is_learned:
            found[one.series.player].append(one.m_star)
    return {player: float(np.mean(values)) for player, values in found.items()}
