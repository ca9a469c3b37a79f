"""The table of a ladder of rules, and the probe for contamination by what was published."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

from gnomon.errors import ScoreDataError, counted
from gnomon.experiments.config.suites import Suite, available_suites, load_suite
from gnomon.results import FieldRecord, Results, noted
from gnomon.stats.small_samples.task_samples import LEAST_TASKS

if TYPE_CHECKING:
    from gnomon.experiments.folder.run_folder import RunFolder
    from gnomon.scores.table import FloatArray, ScoreTable
    from gnomon.stats.comparisons.comparison_records import Comparisons

#: The row of all rules together.
EVERY = "all"
#: With fewer variants a difference of a few outliers passes for one of all.
LEAST_VARIANTS = 20
#: The player that all people together are.
PEOPLE = "people"


@dataclass(frozen=True)
class RungScore(FieldRecord):
    """What a player scores on a rung of a ladder: a mean over rules of means over trials.

    Parameters
    ----------
    algorithm : str
    rung : str
        What the rules of the rung ask for, or ``all``.
    held_out : bool
        Whether it is of variants of the rules, or of the published rules.
    value : float
        NaN if one of the rules, or all variants of one, have no score.
    low, high : float
        What more trials of these rules would give, as :func:`gnomon.estimate` says it; NaN where a
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
        """Return the rungs of the players that have one on such rules."""
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

    Learners, people and models may stand in one table of scores; a run, an imported study and logs
    are read together by :func:`gnomon.read_scores`.

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
    >>> found = ladder(gn.load_scores("gohr-induction", "skill"))
    >>> [one.rung for one in found if one.algorithm == "ideal"][:3]
    ['feature', 'position', 'order']
    """
    chosen = load_suite(suite)
    if not chosen.rungs:
        raise ScoreDataError(f"suite {suite!r} has no rungs")
    scores = scores.last_step()
    with noted():  # that one trial has no interval is said by its ends
        records = tuple(
            one for name in scores.algorithms for one in _rungs(scores, name, chosen, level)
        )
    settings = {"suite": chosen.full_name, "metric": scores.metric, "level": level}
    return Ladder(records, settings=settings)


def ladder_of_run(
    run: RunFolder, people: ScoreTable | None = None, *, level: float = 0.95
) -> Ladder | None:
    """Return the table of the ladder that a run played, None if it played none.

    Parameters
    ----------
    run : RunFolder
        Finished or not.
    people : ScoreTable, optional
        Skills of people, who then are one more player.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=1, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ladder_of_run(gn.run(config, folder).folder) is None
    True
    """
    from gnomon.experiments.scoring.run_scores import score

    suite = suite_with_rungs(rule.name for rule in run.config.rules)
    if suite is None:
        return None
    skills = score(run, "skill")
    both = skills if people is None else with_people(skills, people)
    found = ladder(both, suite, level=level)
    if people is None or any(one.algorithm == PEOPLE for one in found.played()):
        return found
    return replace(found, warnings=("people: there is no rung of which they played every rule",))


def with_people(scores: ScoreTable, people: ScoreTable) -> ScoreTable:
    """Return scores with those of people beside them, all as runs of one player, ``people``.

    Who plays as a study asks plays few of the rules, so that rungs are of all people together.

    Parameters
    ----------
    scores : ScoreTable
    people : ScoreTable
        The same score, with the people as algorithms.

    Examples
    --------
    >>> import gnomon as gn
    >>> learners = gn.load_scores("gohr-induction", "skill").select(algorithms=["ideal"])
    >>> person = {"algorithm": "p-1", "task": "clockwise", "run": 0, "score": 0.4}
    >>> both = with_people(learners, gn.ScoreTable.from_records([person], metric="skill"))
    >>> both.algorithms, both.runs("people", "clockwise").tolist()
    (('ideal', 'people'), [0.4])
    """
    from gnomon.scores.table import ScoreTable

    run = pl.col("run").cast(pl.String)
    theirs = (
        people.last_step()
        .to_frame()
        .select(
            algorithm=pl.lit(PEOPLE),
            task="task",
            run=pl.format("{} {}", "algorithm", run),
            score="score",
        )
    )
    ours = scores.last_step().to_frame().select("algorithm", "task", run=run, score="score")
    better = scores.higher_is_better
    both = pl.concat([ours, theirs])
    return ScoreTable.from_frame(both, metric=scores.metric, higher_is_better=better)


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


def contamination(scores: ScoreTable, *, level: float = 0.95) -> Comparisons:
    """Compare what each player scores on held-out variants with what it scores on published rules.

    Who knows the text of a published rule does worse on a variant of its family. The difference is
    the mean over rules of that of the mean over their variants and the mean of the published rule;
    a rule with its variants is one draw, and the interval is Student's of these, with one degree of
    freedom fewer than rules. So it holds what other variants and more trials would give: a variant
    that is harder or easier in itself is part of its spread. ``ideal`` has read: it thinks each
    rule of the library likelier than any variant, and its difference shows what that is worth.

    Parameters
    ----------
    scores : ScoreTable
        With variants as tasks ``RULE@SEED``; those of several seeds count alike.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    Comparisons
        One a player that has both, ``a`` the held-out variants and ``b`` the published rules. Where
        it has fewer than 6 rules of both, or fewer than 20 variants in all, interval and p-value
        are NaN and a warning says that they cannot tell: of 6 variants of which one is far harder
        than the others, 85 % of 95 % intervals held what they should (``python -m benchmarks
        contamination`` tells it of more). P-values are not corrected for the number of players.

    Raises
    ------
    ScoreDataError
        If no player has both.

    References
    ----------
    Ibragimov and Müller (2010), t-statistic based correlation and heterogeneity robust inference,
    Journal of Business & Economic Statistics 28: means of a few clusters, though of unlike
    variances, have a conservative t-test at the level 0.05.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.load_scores("gohr-induction", "skill").select(algorithms=["ideal"])
    >>> [one] = contamination(scores)
    >>> print(f"{one.a}: {one.value:.4f} [{one.low:.4f}, {one.high:.4f}]")
    ideal, held out: -0.0010 [-0.0015, -0.0006]
    """
    from gnomon.stats import Comparison, Comparisons

    at = pl.col("task").str.split("@")
    frame = scores.last_step().to_frame()
    frame = frame.with_columns(rule=at.list.first(), variant=at.list.len() > 1)
    by_task = frame.group_by("algorithm", "rule", "variant", "task").agg(pl.col("score").mean())
    new, old = (pl.col("score").filter(pl.col("variant") == side) for side in (True, False))
    sides = by_task.group_by("algorithm", "rule").agg(
        score=new.mean() - old.mean(), n_variants=new.len()
    )
    differences = sides.drop_nulls().sort("algorithm", "rule")
    found, notes = [], []
    for name in scores.algorithms:
        own = differences.filter(algorithm=name)
        of_rules, n_variants = own["score"].to_numpy(), int(own["n_variants"].sum())
        if not of_rules.size:
            continue
        low, high, p_value = math.nan, math.nan, math.nan
        if of_rules.size >= LEAST_TASKS and n_variants >= LEAST_VARIANTS:
            low, high, p_value = _student(of_rules, level)
        else:
            notes.append(
                f"{name}: cannot tell from {counted(n_variants, 'variant')} of "
                f"{counted(of_rules.size, 'rule')}; expected {LEAST_VARIANTS} or more of "
                f"{LEAST_TASKS} or more; further seeds give more"
            )
        value = float(of_rules.mean())
        pair = f"{name}, held out", f"{name}, published"
        found.append(
            Comparison(
                *pair, "mean", None, value, low, high, p_value, p_value, level, "paired_t", 0, 0.0
            )
        )
    if not found:
        raise ScoreDataError("expected rules and their variants RULE@SEED, found no player of both")
    settings = {
        "metric": scores.metric,
        "level": level,
        "method": "paired_t",
        "family": "not corrected",
        "higher_is_better": scores.higher_is_better,
    }
    return Comparisons(tuple(found), settings, tuple(notes))


def _student(values: FloatArray, level: float) -> tuple[float, float, float]:
    """Return Student's interval of a mean and the p-value of 0."""
    from scipy import stats

    found = stats.ttest_1samp(values, 0.0)
    ends = found.confidence_interval(level)
    return float(ends.low), float(ends.high), float(found.pvalue)
