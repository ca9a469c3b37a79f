"""The table of a ladder of rules: the mean score of each player on each rung."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, noted
from gohr.experiments.config.suites import Suite, available_suites, load_suite

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gohr.experiments.run_folder import RunFolder

#: The row of all rules together.
EVERY = "all"


@dataclass(frozen=True)
class RungScore(FieldRecord):
    """Score of a player on a rung of a ladder: a mean over rules of means over trials.

    Parameters
    ----------
    algorithm : str
    rung : str
        The induction that the rules of the rung need, or ``all``.
    held_out : bool
        Whether it is of variants of the rules, or of the published rules.
    value : float
        NaN if one of the rules, or all variants of one, have no score.
    low, high : float
        Interval over repeated trials of these rules, as from :func:`gnomon.estimate`; NaN where a
        rule has one trial.
    n_rules : int
        Number of rules of the rung.

    Examples
    --------
    >>> RungScore("ideal", "memory", False, 0.6, 0.5, 0.7, 3).n_rules
    3
    """

    algorithm: str
    rung: str
    held_out: bool
    value: float
    low: float
    high: float
    n_rules: int


class Ladder(Results[RungScore]):
    """The rungs of a ladder, player by player, the easiest rung first.

    Examples
    --------
    >>> Ladder((RungScore("ideal", "memory", False, 0.6, 0.5, 0.7, 3),)).by_algorithm()
    [{'algorithm': 'ideal', 'memory': 0.6}]
    """

    def played(self, *, held_out: bool = False) -> tuple[RungScore, ...]:
        """Return the rungs of the players that have scores on such rules."""
        own = [one for one in self if one.held_out == held_out]
        players = {one.algorithm for one in own if not math.isnan(one.value)}
        return tuple(one for one in own if one.algorithm in players)

    def by_algorithm(self, *, held_out: bool = False) -> list[dict[str, Any]]:
        """Return a row a player with a column a rung; none where nothing was played."""
        rows: dict[str, dict[str, Any]] = {}
        for one in self.played(held_out=held_out):
            rows.setdefault(one.algorithm, {"algorithm": one.algorithm})[one.rung] = one.value
        return list(rows.values())


def suite_with_rungs(rules: Iterable[str]) -> str | None:
    """Return the ladder of which every rule, or a variant of it, is among some rules.

    Examples
    --------
    >>> suite_with_rungs(["clockwise"]) is None
    True
    """
    given = {rule.partition("@")[0] for rule in rules}
    for name in available_suites():
        suite = load_suite(name)
        if suite.rungs and given.issuperset(suite.rules):
            return name
    return None


def ladder(scores: ScoreTable, suite: str = "gohr-induction", *, level: float = 0.95) -> Ladder:
    """Return the table of a ladder: each player's mean score on each rung.

    Learners, people and models may share one table of scores; :func:`gnomon.read_scores` reads
    several runs and files at once.

    Parameters
    ----------
    scores : ScoreTable
        With the rules as tasks, and their variants as tasks ``RULE@SEED``.
    suite : str
        A suite with rungs.
    level : float
        Confidence level of the intervals.

    Raises
    ------
    ScoreDataError
        If the suite has no rungs.

    Examples
    --------
    >>> import gnomon as gn
    >>> import gohr
    >>> found = ladder(gn.load_scores("gohr-induction", "skill"))
    >>> [one.rung for one in found if one.algorithm == "ideal"][:3]
    ['feature', 'position', 'order']
    """
    chosen = load_suite(suite)
    if not chosen.rungs:
        raise ScoreDataError(f"suite {suite!r} has no rungs")
    scores = scores.last_step()
    with noted():  # with one trial the ends show that there is no interval
        records = tuple(
            one for name in scores.algorithms for one in _rungs(scores, name, chosen, level)
        )
    settings = {"suite": chosen.full_name, "metric": scores.metric, "level": level}
    return Ladder(records, settings=settings)


def ladder_of_run(run: RunFolder, *, level: float = 0.95) -> Ladder | None:
    """Return the table of the ladder that a run played, None if it played none.

    Parameters
    ----------
    run : RunFolder
        Finished or not.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=1, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ladder_of_run(gohr.run(config, folder).folder) is None
    True
    """
    from gohr.experiments.scores import score

    suite = suite_with_rungs(rule.name for rule in run.config.rules)
    return None if suite is None else ladder(score(run, "skill"), suite, level=level)


def _rungs(scores: ScoreTable, algorithm: str, suite: Suite, level: float) -> Iterator[RungScore]:
    from gnomon.stats import estimate

    played = scores.tasks_of(algorithm)
    rungs = {name: tuple(rules) for name, rules in suite.rungs.items()} | {EVERY: suite.rules}
    for held_out, (rung, rules) in product((False, True), rungs.items()):
        tasks = [t for t in played if t.partition("@")[0] in rules and ("@" in t) == held_out]
        ends = (math.nan, math.nan, math.nan)
        if len({task.partition("@")[0] for task in tasks}) == len(rules):
            own = scores.select(algorithms=[algorithm], tasks=tasks)
            [found] = estimate(own, "mean", level=level)
            ends = found.value, found.low, found.high
        yield RungScore(algorithm, rung, held_out, *ends, len(rules))
