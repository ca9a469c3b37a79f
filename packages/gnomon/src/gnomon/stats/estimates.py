"""Estimates of summaries of every algorithm, over all tasks or for each, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from gnomon.errors import ScoreDataError, listed
from gnomon.results import generator, made_by, recorded
from gnomon.scores.plausibility import warn_of_unlike_scales
from gnomon.scores.table import FloatArray, ScoreTable, Units
from gnomon.stats.bootstrap.medians import median_interval
from gnomon.stats.bootstrap.resamples import Resamples, draw_key
from gnomon.stats.cautions import (
    check_target,
    name_far_task,
    name_large_share,
    name_median_at_a_gap,
    name_task_sample,
    name_two_clusters,
    name_uneven_runs,
    warn,
)
from gnomon.stats.estimate_records import Estimate, Estimates
from gnomon.stats.intervals import Interval, Method, checked, interval_of, resolved_method
from gnomon.stats.items import counted_as, expect_items, refuse_unlike
from gnomon.stats.metrics import Metric, Metrics, metric_list, metrics_for
from gnomon.stats.small_samples.moderated_variances import TableVariances, expect_table
from gnomon.stats.small_samples.small_sample import Influences, delta_interval
from gnomon.stats.small_samples.task_samples import check_tasks
from gnomon.stats.strata import Strata

Resampling = Literal["runs", "runs_and_tasks"]

#: Whose variances: an algorithm's own, or moderated over those of the table.
Variances = Literal["own", "table"]


def estimate(
    scores: ScoreTable,
    metrics: Metrics | None = None,
    *,
    units: Units | None = None,
    cluster: str | None = None,
    by: str | None = None,
    per_task: bool = False,
    level: float = 0.95,
    method: Method = "auto",
    resampling: Resampling = "runs",
    variances: Variances = "own",
    n_resamples: int = 2000,
    gamma: float | None = None,
    n_threads: int = 1,
    rng: np.random.Generator | int | None = None,
) -> Estimates:
    """Estimate summaries of every algorithm of a table, with intervals.

    Algorithms are compared on the tasks that all of them have. Runs are independent inside each
    task, tasks are fixed; one set of resamples serves all metrics of an algorithm.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run.
    metrics : str, Metric or sequence of them, optional
        Names as in :func:`~gnomon.stats.metrics.metric_named`; if not given ``mean``, ``median``
        (of task means), ``iqm`` (interquartile mean) and, if it has a target, ``optimality_gap``.
        Of items ``mean``, which is what is not given, ``pass@K`` (one of K samples succeeds) and
        ``pass^K`` (all of them do).
    units, cluster : str, optional
        As in :func:`~gnomon.stats.comparisons.comparison.compare`.
    by : str, optional
        Of items, a column whose groups are estimated each by itself too.
    per_task : bool
        Whether to estimate each task by itself, ``median`` if no metric is named. The median of
        several tasks is that of their means; of one task it is that of its runs, with a percentile
        interval whatever the method.
    level : float
        Confidence level, between 0 and 1.
    method : str
        ``small_sample``: closed forms that hold their coverage with few runs (see
        :mod:`gnomon.stats.small_samples.small_sample`); ``percentile`` and
        ``bca``: from resamples; ``auto``: the first below 20 runs and above 50,000
        scores of an algorithm, else the second. Items have ``auto`` only.
    resampling : str
        ``runs`` inside each task, or ``runs_and_tasks`` where the tasks are a sample too, of at
        least 6: ``auto`` and ``small_sample`` are then expanded percentile intervals
        (:func:`gnomon.stats.intervals.expanded`).
    variances : str
        ``own``: each algorithm's; ``table``: moderated over the table's algorithms
        (:mod:`gnomon.stats.small_samples.moderated_variances`), for the small-sample intervals of
        means, interquartile means and the like. At 2 runs they are 17 to 22 % narrower, at 3 runs 6
        to 7 %, from 5 on about equal; and they depend on who else is in the table.
    n_resamples : int
        Number of resamples.
    gamma : float, optional
        Target of the optimality gap: 1 if higher is better, else there is no default.
    n_threads : int
        Threads to resample with; does not change the result.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Estimates
        For each algorithm in the table's order, the metrics in the given order; with `per_task`, by
        task, metric and algorithm. Of items they are :class:`~gnomon.stats.ItemEstimates`, with
        what the variance is made of.

    Raises
    ------
    UnknownNameError
        There is no such metric.
    ScoreDataError
        No task is shared by all algorithms, the gap has no target, or the method cannot serve the
        metric; ``runs_and_tasks`` of fewer than 6 tasks; ``table`` with one algorithm alone, per
        task, or by a method from resamples.

    Warns
    -----
    DegenerateScoresWarning
        Tasks were left out, or some have fewer runs than others; one task carries more than half of
        the variance; runs of a task fall in two clusters; a given target lies outside the scores;
        what an interval over tasks like these cannot promise; or something is not estimable (NaN):
        an interval from one run per task or from scores that do not vary, a mean of infinite
        scores.

    Examples
    --------
    >>> from gnomon.stats import estimate
    >>> scores = ScoreTable.from_arrays({"dqn": np.arange(40.0).reshape(10, 4) / 40})
    >>> for e in estimate(scores, ["iqm", "median"]):
    ...     print(f"{e.metric}: {e.value:.3f} [{e.low:.3f}, {e.high:.3f}] {e.method}")
    iqm: 0.487 [0.355, 0.620] delta_t
    median: 0.487 [0.359, 0.616] profile_likelihood
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, found {level}")
    scores = counted_as(scores, units, cluster)
    if scores.units == "items":
        unlike = {"resampling": resampling != "runs", "variances": variances != "own"}
        unlike["method"] = method != "auto"
        # What only items need would be a tenth of the start of an estimate of a small table.
        from gnomon.stats.item_results import estimate_items

        refuse_unlike(per_task=per_task, gamma=gamma is not None, **unlike)
        return estimate_items(scores, metrics, by=by, level=level)
    expect_items(by=by)
    drawn: Method | None = next((name for name in get_args(Method) if name == method), None)
    if drawn is None:
        raise ValueError(f"expected one of the methods {get_args(Method)}, found {method!r}")
    if resampling not in get_args(Resampling):
        raise ValueError(f"expected one of {get_args(Resampling)}, found {resampling!r}")
    how = _Settings(
        level, drawn, resampling, variances, n_resamples, gamma, n_threads, generator(rng)
    )
    if variances != "own":
        over = "tasks one by one" if per_task else resampling
        expect_table(scores, method, over)
    with recorded() as notes:
        of = _of_tasks if per_task else _of_aggregates
        found = tuple(of(scores, metrics, how))
    direction = "higher" if scores.higher_is_better else "lower"
    settings = made_by(
        rng,
        title=f"{scores.metric}, {direction} is better",
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        level=level,
        method=method,
        resampling=resampling,
        variances=variances,
        n_resamples=n_resamples,
        gamma=gamma,
    )
    return Estimates(found, settings, tuple(notes))


@dataclass(frozen=True)
class _Settings:
    """What all estimates of one call share."""

    level: float
    method: Method
    resampling: Resampling
    variances: Variances
    n_resamples: int
    gamma: float | None
    n_threads: int
    rng: np.random.Generator


def _of_aggregates(
    scores: ScoreTable, metrics: Metrics | None, how: _Settings
) -> Iterator[Estimate]:
    """Yield the estimates over all tasks that the algorithms share."""
    wanted = metrics_for(metrics, gamma=how.gamma, higher_is_better=scores.higher_is_better)
    tasks = shared_tasks(scores)
    names = [metric.name for metric in wanted]
    warn_of_unlike_scales(scores, names, tasks=tasks, gamma=how.gamma)
    over_tasks = how.resampling == "runs_and_tasks"
    if over_tasks:
        check_tasks(len(tasks))
        for metric in wanted:
            name_task_sample(metric)
    table = TableVariances(scores, alone=True) if how.variances == "table" else None
    if table is not None:
        warn("variances of the table: an algorithm's interval depends on which others are in it")
    for algorithm in scores.algorithms:
        strata = Strata.from_table(scores, algorithm, tasks)
        if how.gamma is not None and any(metric.name == "optimality_gap" for metric in wanted):
            check_target(how.gamma, strata, algorithm)
        name_uneven_runs(strata, tasks, algorithm)
        resamples = Resamples(
            strata,
            n_resamples=how.n_resamples,
            key=draw_key(how.rng),
            draw_tasks=over_tasks,
            n_threads=how.n_threads,
        )
        resolved = resolved_method(how.method, strata, draw_tasks=over_tasks)
        if table is not None:
            resolved = "small_sample"
        if resolved != "small_sample" or over_tasks:
            resamples.of_all(wanted)
        elif any(metric.influence is not None for metric in wanted):
            name_two_clusters(strata, tasks, algorithm)
        for metric in wanted:
            of = {} if table is None else table.influences(metric, tasks)
            moderated = of.get(algorithm)
            yield _estimate(algorithm, tasks, metric, resamples, resolved, how.level, moderated)


def _of_tasks(scores: ScoreTable, metrics: Metrics | None, how: _Settings) -> Iterator[Estimate]:
    """Yield the estimates of each task by itself."""
    for task in scores.tasks:
        cells = scores.select(tasks=[task])
        for metric in metric_list(metrics or "median"):
            if metric == "median":
                for name in cells.algorithms:
                    yield _median_of_runs(name, task, cells.runs(name, task), how)
            else:
                for found in _of_aggregates(cells, metric, how):
                    yield replace(found, task=task)


def shared_tasks(table: ScoreTable, algorithms: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the tasks that all algorithms have, and say which were left out.

    Raises
    ------
    ScoreDataError
        There is none.

    Warns
    -----
    DegenerateScoresWarning
        Some algorithm lacks a task.
    """
    names = algorithms or table.algorithms
    tasks = table.shared_tasks(names)
    if not tasks:
        shown = ", ".join(names)
        raise ScoreDataError(f"expected tasks that all algorithms have; {shown} share none")
    left_out = [
        t for t in table.tasks if t not in tasks and any(t in table.tasks_of(a) for a in names)
    ]
    if left_out:
        shown = listed(left_out)
        warn(f"{len(left_out)} of {len(table.tasks)} tasks left out, not all have them: {shown}")
    return tasks


def _estimate(
    algorithm: str,
    tasks: Sequence[str],
    metric: Metric,
    resamples: Resamples,
    method: Method,
    level: float,
    moderated: Influences | None,
) -> Estimate:
    """Return one estimate; NaN and a warning that names the reason where there is none.

    With `moderated` influences the interval is theirs.
    """
    strata = resamples.strata
    value = metric.value(strata)
    interval = Interval(math.nan, math.nan, method, 0, math.nan)
    reason = None
    if not math.isfinite(value):
        reason = "not estimable, some runs are infinite (censored)"
    elif strata.counts.max() == 1 and not resamples.draw_tasks:
        reason = "interval not estimable from one run per task"
    else:
        found = (
            interval_of(metric, value, resamples, method=method, level=level)
            if moderated is None
            else Interval(*delta_interval(value, moderated, level), "moderated_t")
        )
        interval, reason = checked(found)
        if reason is None and interval.method in ("delta_t", "moderated_t"):
            influences = moderated or metric.influences(strata)
            if influences is not None:
                name_large_share(influences, tasks, metric.name, algorithm)
        if reason is None and interval.method == "profile_likelihood":
            name_median_at_a_gap(strata, algorithm)
        if (reason, interval.method) == (None, "expanded_percentile") and metric.name != "median":
            name_far_task(strata, tasks, metric.name, algorithm)
    if reason is not None:
        warn(f"{metric.name} of {algorithm}: {reason}")
    return Estimate(
        algorithm,
        metric.name,
        value if math.isfinite(value) else math.nan,
        interval.low,
        interval.high,
        level,
        interval.method,
        strata.n_runs,
        strata.n_tasks,
        interval.n_resamples,
        interval.mc_error,
    )


def _median_of_runs(algorithm: str, task: str, runs: FloatArray, how: _Settings) -> Estimate:
    """Estimate the median of an algorithm's runs on a task."""
    value, low, high = median_interval(runs, level=how.level)
    interval, fault = checked(Interval(low, high, "percentile"))
    if runs.size == 1:
        fault = "interval not estimable from one run"
    if not math.isfinite(value):
        why = "there are no runs" if runs.size == 0 else "half of the runs never got there"
        fault = f"not estimable, {why}"
    if fault is not None:
        warn(f"median of {algorithm} on {task}: {fault}")
    return Estimate(
        algorithm,
        "median",
        value,
        interval.low,
        interval.high,
        how.level,
        interval.method,
        runs.size,
        1,
        interval.n_resamples,
        interval.mc_error,
        task,
    )
