"""Estimates of each task by itself, where the median is that of the runs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.resamples import median_replicates
from gnomon.stats.estimates import Estimate, estimate_aggregates
from gnomon.stats.intervals.methods import Interval, checked, percentile
from gnomon.stats.intervals.quantiles import quantiles

__all__ = ["estimate_tasks"]


def estimate_tasks(
    table: ScoreTable,
    metrics: Sequence[str] = ("median",),
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[tuple[str, Estimate]]:
    """Estimate summaries of every algorithm on each task by itself.

    The median of several tasks is that of their means; of one task, it is that of its runs, with a
    percentile interval.

    Parameters
    ----------
    table : ScoreTable
        Scores of one step.
    metrics : sequence of str, optional
        As for :func:`gnomon.stats.estimates.estimate_aggregates`.
    level : float, optional
        Confidence level of the intervals.
    n_resamples : int, optional
        Bootstrap resamples.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    list of (task, Estimate)
        By task, metric and algorithm, in the order of the table.

    Warns
    -----
    DegenerateScoresWarning
        Something is not estimable; it is NaN.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[5.0, 1.0], [9.0, 1.0], [7.0, 4.0]]})
    >>> found = estimate_tasks(table, rng=np.random.default_rng(0))
    >>> [(task, e.value, e.low, e.high) for task, e in found]
    [('task_0', 7.0, 5.0, 9.0), ('task_1', 1.0, 1.0, 4.0)]
    """
    found = []
    for task in table.tasks:
        cells = table.select(tasks=[task])
        for metric in metrics:
            if metric == "median":
                estimates = [
                    _median_of_runs(name, task, cells.runs(name, task), level, n_resamples, rng)
                    for name in cells.algorithms
                ]
            else:
                estimates = estimate_aggregates(
                    cells, [metric], level=level, n_resamples=n_resamples, gamma=gamma, rng=rng
                )
            found += [(task, estimate) for estimate in estimates]
    return found


def _median_of_runs(
    algorithm: str,
    task: str,
    runs: FloatArray,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Estimate:
    """Estimate the median of an algorithm's runs on a task."""
    value, fault = math.nan, None
    interval = Interval(math.nan, math.nan, "percentile", 0, math.nan)
    if runs.size:
        value = float(quantiles(runs, [0.5])[0])
    if runs.size > 1:
        drawn = median_replicates(runs, n_resamples=n_resamples, rng=rng)
        interval, fault = checked(percentile(drawn, level))
    else:
        fault = "interval not estimable from one run"
    if not math.isfinite(value):
        why = "there are no runs" if runs.size == 0 else "half of the runs never got there"
        fault = f"not estimable, {why}"
    if fault is not None:
        text = f"median of {algorithm} on {task}: {fault}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=3)
    return Estimate(
        algorithm,
        "median",
        value,
        interval.low,
        interval.high,
        level,
        interval.method,
        runs.size,
        1,
        interval.n_resamples,
        interval.mc_error,
    )
