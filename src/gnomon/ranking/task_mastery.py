"""Mastery of tasks: how many learn each, how soon, how hard it is beside others, and after others.

Of scores such as m*, the attempts before mastery, lower is better, and who did not learn is
censored. A table by people has a task for each rule, or for each rule after others
(``color-match:clockwise``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.ranking.ratings import difficulty, perron_vector
from gnomon.ranking.task_clusters import cluster_tasks, labels_of
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.rank_tests import holm, mann_whitney, pairs_won
from gnomon.stats.items.proportions import clopper_pearson
from gnomon.stats.product_limit import CensoredTimes, censored_times

#: Which series are one task: those after the same rules, the first of each player, or all.
Grouping = Literal["task", "naive", "ignore"]


@dataclass(frozen=True)
class TaskMastery(FieldRecord):
    """How many mastered a task, and how soon.

    Parameters
    ----------
    task : str
    label : str
        ``0`` with nothing before; else a letter for each rule before, a small one if it was not
        mastered. The task itself where there are several rules at the end.
    n, n_learned : int
        Players, and those of them who mastered it.
    success_rate, success_low, success_high : float
        Their share, with the interval of Clopper and Pearson.
    median, median_low, median_high : float
        Attempts by which half have mastered it, of **all** players; infinite where the data do not
        reach so far.
    ease : float
        Entry of the Perron vector of ease ratios: the largest is the easiest task.
    difficulty : float
        The smallest ease over this one: 1 for the hardest.
    transfer : float
        1 less the difficulty over that of the same rule with nothing before; NaN without that.
    cluster : int
        Number of the group of tasks that are alike, from 1.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"people": [[3, 9], [0, 7]]}, higher_is_better=False)
    >>> [one.task for one in mastery(table)]
    ['task_0', 'task_1']
    """

    task: str
    label: str
    n: int
    n_learned: int
    success_rate: float
    success_low: float
    success_high: float
    median: float
    median_low: float
    median_high: float
    ease: float
    difficulty: float
    transfer: float
    cluster: int


@dataclass(frozen=True)
class TaskPair(FieldRecord):
    """Which of two tasks is mastered sooner.

    Parameters
    ----------
    a, b : str
    sooner : float
        Share of pairs of players of which that on `a` was sooner; a tie counts one half.
    ease_ratio : float
        Smoothed pairs of players won by `a` over those lost.
    p_value, p_adjusted : float
        Of Mann and Whitney's test, and after Holm's correction over all pairs.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"people": [[3, 9], [0, 7]]}, higher_is_better=False)
    >>> mastery(table).pairs[0].ease_ratio
    5.0
    """

    a: str
    b: str
    sooner: float
    ease_ratio: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TaskMasteries(Results[TaskMastery]):
    """Mastery of several tasks, the easiest first.

    Parameters
    ----------
    pairs : tuple of TaskPair
        Every two of them.
    samples : mapping from task to TaskSample
        The scores behind it.
    distributions : mapping from task to CensoredTimes
        The share that had mastered it after so many attempts.
    wins : numpy.ndarray of float, shape (n, n)
        Pairs of players of which that on the row's task was sooner; ties are halves.
    tree : str
        How tasks are merged into clusters: ``height( left, right)``.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"people": [[3, 9], [0, 7]]}, higher_is_better=False)
    >>> mastery(table).distributions["task_0"].times
    array([0., 3.])
    """

    pairs: tuple[TaskPair, ...]
    samples: Mapping[str, TaskSample]
    distributions: Mapping[str, CensoredTimes]
    wins: FloatArray
    tree: str

    drawn_by: ClassVar[str | None] = "gnomon.plot.mastery:draw_mastery"
    columns: ClassVar[tuple[str, ...]] = (
        "task", "n", "n_learned", "success_rate", "success_low", "success_high", "median",
        "median_low", "median_high", "difficulty", "transfer", "cluster",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """What is counted."""
        return "mastery of tasks, the easiest first"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read medians and difficulty."""
        whose = "all players, who did not learn included: inf where fewer than half learned"
        if self.settings.get("as_reference"):
            whose = "those who learned, as the reference system has them"
        return (
            f"Medians are of {whose}.",
            "Difficulty is relative to the hardest task here, transfer to the task with nothing "
            "before it.",
        )


def mastery(
    table: ScoreTable,
    *,
    grouping: Grouping = "task",
    each: bool = False,
    level: float = 0.95,
    as_reference: bool = False,
) -> TaskMasteries:
    r"""Describe how many learn each task, how soon, and how hard it is.

    The players of a task, which are algorithms or runs of one, are its sample. With :math:`Z_{ij}`
    the pairs of players of which that on i was sooner, the ease ratios are
    :math:`(Z_{ij} + 1) / (Z_{ji} + 1)`, and their Perron vector is the ease. Tasks are clustered by
    complete linkage of 1 - p; **their number is a description, and no test**, for the clusters come
    from the data.

    Parameters
    ----------
    table : ScoreTable
        Attempts before mastery, such as m*; who did not learn is censored. An attribute
        ``at_least`` says how long a censored one was at least; without it, longer than any.
    grouping : {"task", "naive", "ignore"}
        Whether to take the tasks as they stand, only series before which nothing was played, or
        all series on a rule as one task, whatever came before; by the attributes ``rule`` and
        ``preceding``.
    each : bool
        Every algorithm by itself: learners are no sample of one population. A task is then called
        ``TASK, ALGORITHM``.
    level : float
        Confidence level of the intervals.
    as_reference : bool
        Medians of those who learned only; m* of 300 or as recorded for who did not; and p-values
        without correction for ties, as the reference system has them.

    Returns
    -------
    TaskMasteries
        A sequence of :class:`TaskMastery`, the easiest first.

    Raises
    ------
    ScoreDataError
        There is no task with a score, or the attributes that a grouping needs are not there.

    References
    ----------
    The reference system's ``MwByHuman`` and ``BuildCurves``; intervals: :func:`censored_times`.

    Examples
    --------
    >>> runs = {"people": [[3, 9], [0, 7], [5, 20]]}
    >>> table = ScoreTable.from_arrays(runs, higher_is_better=False)
    >>> [(one.task, one.n_learned, one.median) for one in mastery(table)]
    [('task_0', 3, 3.0), ('task_1', 3, 9.0)]
    """
    if table.higher_is_better:
        raise ScoreDataError(
            f"expected attempts before mastery, of which fewer is better; found {table.scale}"
        )
    settings = {"metric": table.metric, "grouping": grouping, "level": level}
    with recorded() as notes:
        samples = _samples(table, grouping, each=each, as_reference=as_reference)
        wins, ease = _ease(list(samples.values()), 1e-12 if as_reference else 1e-26)
        # What is equal but for rounding stands in the order of the table.
        order = np.argsort(-np.round(ease, 12), kind="stable")
        names = list(samples)
        pairs = tuple(_pairs(names, samples, wins, as_reference=as_reference))
        labels = labels_of(names)
        clusters, tree = cluster_tasks(labels, [pair.p_value for pair in pairs])
        hard = np.minimum(ease.min(), 1.0) / ease if as_reference else difficulty(ease)
        by_name = dict(zip(names, hard.tolist(), strict=True))
        spread = {names[i]: samples[names[i]].distribution(level) for i in order}
        records = tuple(
            _record(
                *(samples[name], spread[name], level),
                as_reference=as_reference,
                task=name,
                label=labels[name],
                ease=float(ease[names.index(name)]),
                difficulty=by_name[name],
                transfer=_transfer(name, by_name),
                cluster=clusters[name],
            )
            for name in spread
        )
    return TaskMasteries(
        records,
        settings | {"as_reference": as_reference},
        tuple(notes),
        pairs=pairs,
        samples=samples,
        distributions=spread,
        wins=wins[np.ix_(order, order)],
        tree=tree,
    )


@dataclass(frozen=True)
class TaskSample:
    """Scores of all players of a task.

    Parameters
    ----------
    values : numpy.ndarray of float
        As they are ranked, infinite of who did not learn.
    learned : numpy.ndarray of float
        Of those who did.
    at_least : numpy.ndarray of float
        Of those who did not: what it cannot have been below.
    n : int
        Players, also those without a value.
    error_rate : float
        All errors over all attempts; NaN if they are not known.

    Examples
    --------
    >>> values = np.array([3.0, np.inf])
    >>> TaskSample(values, values[:1], values[1:], 2, 0.5).n_learned
    1
    """

    values: FloatArray
    learned: FloatArray
    at_least: FloatArray
    n: int
    error_rate: float

    @property
    def n_learned(self) -> int:
        """Players who mastered the task."""
        return self.learned.size

    def distribution(self, level: float) -> CensoredTimes:
        """Return the share that had mastered it after so many attempts."""
        times = np.concatenate([self.learned, self.at_least])
        observed = np.arange(times.size) < self.learned.size
        # m-dagger may be below 0; only the order counts.
        return censored_times(times, observed, level=level)


def _samples(
    table: ScoreTable, grouping: Grouping, *, each: bool, as_reference: bool
) -> dict[str, TaskSample]:
    rows = table.to_records()
    if grouping != "task":
        if not {"rule", "preceding"} <= set(table.attributes):
            raise ScoreDataError(
                f"grouping {grouping!r}: expected the columns 'rule' and 'preceding', which tables "
                "of people's series have; found none"
            )
        rows = [
            row | {"task": row["rule"]}
            for row in rows
            if grouping == "ignore" or not row["preceding"]
        ]
    if each:
        rows = [row | {"task": f"{row['task']}, {row['algorithm']}"} for row in rows]
    kept: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        # Of a player who learned nothing there is no m-dagger: no score, and no success either.
        if row["score"] is not None or _is_censored(row):
            kept.setdefault(row["task"], []).append(row)
    if not kept:
        raise ScoreDataError("expected a task with scores, found none")
    return {
        task: _sample(of_task, table.metric, as_reference=as_reference)
        for task, of_task in kept.items()
    }


def _sample(rows: list[dict[str, Any]], metric: str, *, as_reference: bool) -> TaskSample:
    censored = [row for row in rows if _is_censored(row)]
    learned = np.array([row["score"] for row in rows if not _is_censored(row)], dtype=np.float64)
    at_least = [row.get("at_least") for row in censored]
    bounds = np.array([math.inf if x is None else float(x) for x in at_least], dtype=np.float64)
    if metric == "m_dagger":
        bounds[:] = math.inf  # What was played says nothing of a difference of two means.
    worst = [math.inf] * len(censored)
    if as_reference:
        worst = [row.get(f"recorded_{metric}", 300.0) for row in censored]
    elif metric == "m_dagger":
        worst = [math.inf for row in censored if row.get("censored")]
    ranked = np.array([*learned, *(x for x in worst if x is not None and not math.isnan(x))])
    moves, errors = (sum(row.get(x, 0) for row in rows) for x in ("attempts", "errors"))
    rate = errors / moves if moves else math.nan
    return TaskSample(ranked, learned, bounds, len(rows), rate)


def _is_censored(row: dict[str, Any]) -> bool:
    return bool(row.get("censored")) or row.get("learned") is False


def _ease(samples: list[TaskSample], tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Return pairs of which the row's was sooner, and the Perron vector of the ease ratios."""
    wins = np.array([[pairs_won(b.values, a.values) for b in samples] for a in samples])
    ratios = (wins + 1.0) / (wins.T + 1.0)
    np.fill_diagonal(ratios, 1.0)
    return wins, perron_vector(ratios, tolerance=tolerance)


def _pairs(
    names: list[str], samples: Mapping[str, TaskSample], wins: FloatArray, *, as_reference: bool
) -> list[TaskPair]:
    at = list(combinations(range(len(names)), 2))
    values = [samples[name].values for name in names]
    p_values = [
        _uncorrected(wins[i, j], values[i].size, values[j].size)
        if as_reference
        else mann_whitney(values[i], values[j])[1]
        for i, j in at
    ]
    return [
        TaskPair(
            names[i],
            names[j],
            float(wins[i, j] / n) if (n := values[i].size * values[j].size) else math.nan,
            float((wins[i, j] + 1.0) / (wins[j, i] + 1.0)),
            p,
            float(adjusted),
        )
        for (i, j), p, adjusted in zip(at, p_values, holm(p_values), strict=True)
    ]


def _uncorrected(wins: float, n: int, m: int) -> float:
    """Return the normal p-value of U without correction for ties and for continuity."""
    if not n * m:
        return math.nan
    from scipy.special import ndtr

    spread = math.sqrt(n * m * (n + m + 1) / 12.0)
    return float(2.0 * ndtr((min(wins, n * m - wins) - n * m / 2.0) / spread))


def _record(
    sample: TaskSample, spread: CensoredTimes, level: float, *, as_reference: bool, **more: Any
) -> TaskMastery:
    """Return how many learned a task and how soon, with what is known of its place."""
    low, high = clopper_pearson(sample.n_learned, sample.n, level=level)
    median = spread.median, spread.median_low, spread.median_high
    if as_reference:
        middle = float(np.median(sample.learned)) if sample.n_learned else math.nan
        median = middle, math.nan, math.nan
    return TaskMastery(
        n=sample.n,
        n_learned=sample.n_learned,
        success_rate=sample.n_learned / sample.n,
        success_low=float(low),
        success_high=float(high),
        median=median[0],
        median_low=median[1],
        median_high=median[2],
        **more,
    )


def _transfer(task: str, hard: Mapping[str, float]) -> float:
    rule = task.rpartition(":")[2]
    return 1.0 - hard[task] / hard[rule] if rule in hard else math.nan
