"""Comparisons of two algorithms: differences of any metric, with interval, test and correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError, counted
from gnomon.results import generator, made_by, recorded
from gnomon.scores.normalization import with_left_out
from gnomon.scores.plausibility import warn_of_unlike_scales
from gnomon.scores.table import FloatArray, ScoreTable, Units
from gnomon.stats.bootstrap.resamples import draw_key
from gnomon.stats.cautions import name_uneven_runs, warn
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons
from gnomon.stats.comparisons.difference import (
    IMPROVEMENT,
    DifferenceOptions,
    Judgement,
    judged,
    judged_tasks,
)
from gnomon.stats.comparisons.improvement import SIGN_FLIPS
from gnomon.stats.comparisons.rank_tests import holm
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.intervals import Interval, checked
from gnomon.stats.item_results import compare_items
from gnomon.stats.items import counted_as, expect_items, refuse_unlike
from gnomon.stats.metrics import METRICS, Metric, Metrics, metric_list, metrics_for
from gnomon.stats.small_samples.moderated_variances import TableVariances
from gnomon.stats.strata import Strata

#: What is said where no algorithm has several runs on a task.
TASK_SAMPLE = "one run per algorithm and task, so the tasks are treated as a sample of tasks"

SmallMethod = Literal["auto", "small_sample", "percentile"]


def compare(
    scores: ScoreTable,
    a: str,
    b: str,
    metrics: Metrics | None = None,
    *,
    units: Units | None = None,
    cluster: str | None = None,
    by: str | None = None,
    sequential: Literal["e"] | None = None,
    per_task: bool = False,
    paired: bool = False,
    level: float = 0.95,
    method: SmallMethod = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Comparisons:
    """Compare two algorithms on the tasks that both have, or two models on the items.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run.
    a, b : str
        The algorithms.
    metrics : str, Metric or sequence of them, optional
        As in :func:`~gnomon.stats.estimates.estimate`, and ``probability_of_improvement``; if not
        given ``mean``, ``median``, ``iqm`` and that. Of items ``mean``, ``pass@K`` (one of K
        samples succeeds) and ``pass^K`` (all of them do).
    units : str, optional
        What a task is: ``tasks``, or ``items`` of an evaluation, which are drawn and shared, so
        that models are compared item by item; as the table has it, if not given.
    cluster : str, optional
        Of items, the column that tells which ones belong together; as the table has it.
    by : str, optional
        Of items, a column whose groups are compared each by itself too, with the share of the
        difference that each carries.
    sequential : str, optional
        Of items, ``e``: look after look in the order of the table, by bets that are valid at every
        one of them (:class:`~gnomon.stats.ConfidenceSequence`).
    per_task : bool
        Whether to compare on each task too; p-values of tasks are then corrected over tasks, for
        each metric by itself (Holm); that of all tasks together is not corrected.
    paired : bool
        Whether runs with the same label are pairs (the same seed): pairs are kept together.
    level : float
        Confidence level.
    method : str
        ``small_sample``: delta-t (for means on one task this is Welch's test) and, for medians,
        the profile intervals of both combined (:mod:`gnomon.stats.comparisons.difference`);
        ``percentile``: bootstrap; ``auto``: the first below 20 runs, and above 50,000 scores
        of an algorithm.
    n_resamples : int
        Number of resamples, for ``percentile`` and metrics without closed form.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Comparisons
        For each metric the whole and then, if wanted, the tasks or groups. Of items they are
        :class:`~gnomon.stats.ItemComparisons`, which have the unpaired answer and what so many
        items can tell, or :class:`~gnomon.stats.ItemLooks`.

    Raises
    ------
    UnknownNameError
        There is no such algorithm or metric.
    ScoreDataError
        The algorithms are one, no task is shared, or runs to be paired have no common labels; or
        tasks are asked for what items have, or items for what tasks have.

    Warns
    -----
    DegenerateScoresWarning
        Something is left out or not estimable.

    Examples
    --------
    >>> from gnomon.stats import compare
    >>> scores = ScoreTable.from_arrays({"dqn": [[1, 4], [2, 6], [3, 5]], "sac": [[5, 7], [6, 9]]})
    >>> for c in compare(scores, "sac", "dqn", "mean"):
    ...     print(f"{c.metric}: {c.value:.2f} [{c.low:.2f}, {c.high:.2f}], p = {c.p_value:.3f}")
    mean: 3.25 [1.10, 5.40], p = 0.017
    """
    chosen_pair(scores, a, b)
    scores = counted_as(scores, units, cluster)
    if scores.units == "items":
        refuse_unlike(per_task=per_task, method=method != "auto", gamma=gamma is not None)
        if sequential is None:
            return compare_items(scores, (a, b), metrics, by=by, level=level)
        if by is not None:
            raise ScoreDataError("by compares groups of all items, and goes without sequential")
        from gnomon.stats.sequential import compare_items_sequentially

        return compare_items_sequentially(scores, a, b, metrics, level=level)
    expect_items(by=by, sequential=sequential)
    metrics = metrics or (*METRICS[:3], IMPROVEMENT)
    how = ComparisonSettings(paired, level, method, n_resamples, gamma, generator(rng))
    with recorded() as notes:
        warn_of_unlike_scales(scores, metric_list(metrics), algorithms=(a, b), gamma=gamma)
        found = tuple(compared_pair(scores, a, b, metric_list(metrics), per_task, how))
    settings = how.settings(rng, scores, _family(found))
    return Comparisons(found, settings, tuple(notes))


def _family(found: Sequence[Comparison]) -> str:
    """Say which p-values of two algorithms were corrected together."""
    n_tasks = len({one.task for one in found} - {None})
    n_metrics = len({one.metric for one in found})
    if n_tasks:
        each = "" if n_metrics == 1 else f", for each of {n_metrics} metrics by itself"
        tasks = counted(n_tasks, "task")
        return f"Holm's correction over {tasks}{each}; of all tasks together, not corrected"
    return "not corrected, " + ("one test" if n_metrics == 1 else "one test for each metric")


def chosen_pair(scores: ScoreTable, a: str | None, b: str | None) -> tuple[str, str] | None:
    """Return two algorithms of a table, or None where none is named, which means all pairs.

    Raises
    ------
    UnknownNameError
        There is no such algorithm.
    ScoreDataError
        One is named alone, or twice.
    """
    if a is None:
        return None
    if b is None:
        raise ScoreDataError(f"expected two algorithms to compare, or none; found {a!r} alone")
    scores.shared_tasks([a, b])  # knows both names
    if a == b:
        raise ScoreDataError(f"expected two different algorithms, found {a!r} twice")
    return a, b


@dataclass(frozen=True)
class ComparisonSettings:
    """What all comparisons of one call share."""

    paired: bool
    level: float
    method: SmallMethod
    n_resamples: int
    gamma: float | None
    rng: np.random.Generator

    def settings(
        self,
        rng: np.random.Generator | int | None,
        scores: ScoreTable,
        family: str,
    ) -> dict[str, Any]:
        """Return what the results say of how they were made.

        `family` says in words which p-values were corrected together.
        """
        return made_by(
            rng,
            scale=scores.scale,
            higher_is_better=scores.higher_is_better,
            correction="holm",
            family=family,
            paired=self.paired,
            level=self.level,
            method=self.method,
            n_resamples=self.n_resamples,
            gamma=self.gamma,
        )


def compared_pair(
    scores: ScoreTable,
    a: str,
    b: str,
    metrics: Sequence[str | Metric],
    per_task: bool,
    how: ComparisonSettings,
    variances: TableVariances | None = None,
) -> list[Comparison]:
    """Return the comparisons of two algorithms, not corrected for other pairs.

    With `variances` those of a whole table moderate what a formula gives (none of pairs of runs).
    """
    tasks = shared_tasks(scores, (a, b))
    x, y, options = scores_of_pair(scores, a, b, tasks, how)
    for name, of_runs in ((a, x), (b, y)):
        name_uneven_runs(of_runs, tasks, name)
    comparisons = []
    full = with_left_out(scores)
    for metric in metrics_to_compare(metrics, how.gamma, scores.higher_is_better):
        moderated, compared, on = options, (x, y), tasks
        if metric.name == IMPROVEMENT and full is not scores:
            # Wins need no scale: tasks that normalising left out take part.
            on = full.shared_tasks((a, b))
            compared = _strata_pair(full, a, b, on, how.paired)
        if variances is not None and metric.influence is not None:
            of = variances.influences(metric, tasks)
            if a in of and b in of:
                moderated = replace(options, moderated=(of[a], of[b]))
        whole = judged(*compared, metric, moderated)
        comparisons += _compared((a, b), metric.name, [None], whole, options.level)
        if per_task:
            each = judged_tasks(*compared, metric, options)
            comparisons += _compared((a, b), metric.name, on, each, options.level)
    return comparisons


def metrics_to_compare(
    wanted: Metrics, gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics, with a stand-in for the probability of improvement."""
    metrics = []
    for one in metric_list(wanted):
        if one == IMPROVEMENT:
            metrics.append(Metric(IMPROVEMENT, lambda s: math.nan))
            continue
        try:
            metrics += metrics_for([one], gamma=gamma, higher_is_better=higher_is_better)
        except UnknownNameError:
            raise UnknownNameError("metric", str(one), (*METRICS, IMPROVEMENT)) from None
    return metrics


def scores_of_pair(
    scores: ScoreTable, a: str, b: str, tasks: Sequence[str], how: ComparisonSettings
) -> tuple[Strata, Strata, DifferenceOptions]:
    """Return both algorithms' scores, and how their difference is to be judged."""
    x, y = _strata_pair(scores, a, b, tasks, how.paired)
    keys = (draw_key(how.rng), draw_key(how.rng))
    options = DifferenceOptions(
        scores.higher_is_better, how.paired, how.level, how.method, how.n_resamples, keys
    )
    return x, y, options


def _strata_pair(
    table: ScoreTable, a: str, b: str, tasks: Sequence[str], paired: bool
) -> tuple[Strata, Strata]:
    """Return both algorithms' scores; if paired, only runs that both have, in the same order."""
    if not paired:
        return Strata.from_table(table, a, tasks), Strata.from_table(table, b, tasks)
    parts: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    left_out = 0
    for task in tasks:
        of_a = dict(zip(table.run_labels(a, task), table.runs(a, task), strict=True))
        of_b = dict(zip(table.run_labels(b, task), table.runs(b, task), strict=True))
        common = [label for label in of_a if label in of_b]
        if not common:
            raise ScoreDataError(f"task {task}: {a} and {b} have no run label in common to pair")
        left_out += len(of_a) + len(of_b) - 2 * len(common)
        parts[0].append(np.array([of_a[label] for label in common]))
        parts[1].append(np.array([of_b[label] for label in common]))
    if left_out:
        warn(f"{a} and {b}: {left_out} runs left out that have no partner")
    return Strata.from_runs(parts[0]), Strata.from_runs(parts[1])


def _compared(
    pair: tuple[str, str],
    metric: str,
    tasks: Sequence[str | None],
    judgements: Sequence[Judgement],
    level: float,
) -> list[Comparison]:
    """Return the comparisons of two algorithms on some tasks, corrected over these."""
    found = [
        _estimable(one, pair, f"{metric} of {pair[0]} and {pair[1]}" + (f" on {t}" if t else ""))
        for t, one in zip(tasks, judgements, strict=True)
    ]
    adjusted = holm([p_value for *_, p_value in found]).tolist()
    return [
        Comparison(
            *pair,
            metric,
            task,
            value,
            interval.low,
            interval.high,
            p_value,
            p_adjusted,
            level,
            interval.method,
            interval.n_resamples,
            interval.mc_error,
        )
        for task, (value, interval, p_value), p_adjusted in zip(tasks, found, adjusted, strict=True)
    ]


def _estimable(
    found: Judgement, pair: tuple[str, str], where: str
) -> tuple[float, Interval, float]:
    """Return value, interval and p-value, NaN with a warning where they are not estimable."""
    if not math.isfinite(found.value):
        warn(f"{where}: not estimable, some runs are infinite (censored)")
        return math.nan, found.interval, found.p_value
    if found.interval.method == SIGN_FLIPS:
        warn(f"{where}: {TASK_SAMPLE}")
        return found.value, found.interval, found.p_value
    if min(found.n_runs) == 1:
        single = pair[found.n_runs.index(1)]
        warn(f"{where}: interval not estimable from one run per task of {single}")
        return found.value, found.interval, found.p_value
    interval, fault = checked(found.interval, found.size)
    if fault is not None:
        warn(f"{where}: {fault}")
    p_value = math.nan if math.isnan(interval.low) else found.p_value
    return found.value, interval, p_value


def corrected(comparisons: list[Comparison]) -> list[Comparison]:
    """Return the comparisons with Holm's correction over all of them."""
    adjusted = holm([c.p_value for c in comparisons])
    return [replace(c, p_adjusted=float(p)) for c, p in zip(comparisons, adjusted, strict=True)]
