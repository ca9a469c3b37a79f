"""Warnings about what an interval cannot know: few runs, one dominant task, tasks not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gnomon.errors import ScoreDataError, note
from gnomon.scores.checks import cells_where, tasks_left_out
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.intervals import SharedEffect
from gnomon.stats.metrics import Metric
from gnomon.stats.strata import Strata

#: With fewer tasks their spread is hardly known.
LEAST_TASKS = 6
#: Level of the test of all algorithms for an effect that runs share over tasks to be reported.
SHARED_FOUND = 0.05
#: Level of the test of one algorithm for its effect to be reported.
CLEARLY_SHARED = 0.01
#: A task with more than this share of the variance is named.
LARGE_SHARE = 0.5


def shared_tasks(table: ScoreTable, algorithms: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the tasks that all algorithms have, and warn about those left out."""
    names = algorithms or table.algorithms
    tasks = common_tasks(table, names)
    own = {name: {*table.tasks_of(name)} for name in names}
    if left_out := tasks_left_out(table.tasks, tasks, own):
        note(left_out)
    return tasks


def common_tasks(table: ScoreTable, algorithms: Sequence[str]) -> tuple[str, ...]:
    """Return the tasks that all of some algorithms have; refuse algorithms that share none."""
    if tasks := table.shared_tasks(algorithms):
        return tasks
    shown = ", ".join(algorithms)
    raise ScoreDataError(f"expected tasks that all algorithms have; {shown} share none")


def warn_of_missing_tasks(table: ScoreTable) -> None:
    """Warn of algorithms without a score on some task, where pairs are compared on their own."""
    if absent := cells_where(table.algorithms, table.tasks, table.run_counts == 0):
        note(f"no score in {absent}; each pair is compared on the tasks that both have")


def warn_of_missing_runs(table: ScoreTable) -> None:
    """Warn of runs without a score."""
    if missing := int(np.isnan(table.effective_scores).sum()):
        note(f"{missing} of {len(table)} runs have no score and are left out")


def warn_of_uneven_runs(table: ScoreTable, tasks: Sequence[str]) -> None:
    """Warn about tasks, in the order of the table, with fewer runs than others have."""
    wanted = {*tasks}
    counts = table.run_counts[:, [task in wanted for task in table.tasks]]
    most = counts.max(axis=1, keepdims=True)
    if alone := cells_where(table.algorithms, tasks, (counts == 1) & (most > 1)):
        note(f"a single run in {alone}, whose variance is not known; intervals may be too short")
    if fewer := cells_where(table.algorithms, tasks, (counts > 1) & (counts < most)):
        note(f"fewer runs than on other tasks in {fewer}; all tasks have the same weight")


def dominant_task(strata: Strata, variances: FloatArray, tasks: Sequence[str]) -> str | None:
    """Return the task that has most of the variance, with its share; None if there is none."""
    shares = variances / strata.counts
    total, largest = shares.sum(), int(np.argmax(shares))
    if len(tasks) < 3 or not shares[largest] > LARGE_SHARE * total:
        return None
    return f"{tasks[largest]}, {100 * shares[largest] / total:.0f} %"


def warn_of_dependent_runs(strata: Strata, effect: SharedEffect | None, algorithm: str) -> None:
    """Warn where runs clearly share an effect over tasks, or labels do not identify runs."""
    if strata.sorted_runs:
        note(
            f"{algorithm}: the runs of every task are in order of their scores, so their labels "
            "do not identify runs"
        )
    if effect and effect.p_table < SHARED_FOUND and effect.p_value < CLEARLY_SHARED:
        note(
            f"{algorithm}: runs with the same label vary together over tasks "
            f"(p = {effect.p_value:.2g}); intervals allow for it where that makes them wider"
        )


def check_target(gamma: float, strata: Strata, algorithm: str) -> None:
    """Warn about a target outside the scores, where it decides nothing."""
    low, high = float(strata.values.min()), float(strata.values.max())
    if not low <= gamma <= high:
        note(
            f"optimality_gap of {algorithm}: the target {gamma:g} lies outside the scores, "
            f"{low:g} to {high:g}: every score misses it, or none"
        )


def check_tasks(tasks: Sequence[str], metrics: Sequence[Metric]) -> None:
    """Refuse too few tasks as a sample, and warn about what their interval cannot promise.

    No interval of a mean holds for all distributions (Bahadur and Savage 1956).
    """
    if len(tasks) < LEAST_TASKS:
        raise ScoreDataError(
            f"runs_and_tasks: expected {LEAST_TASKS} tasks or more, to generalise to other tasks; "
            f"found {len(tasks)}; resampling runs is about these tasks alone"
        )
    for metric in metrics:
        if metric.each is not None and metric.bounds == (-math.inf, math.inf):
            note(
                f"{metric.name} with tasks as the sample: intervals may be too short, since a rare "
                "task with far higher scores may be missing from the sample; take the median or "
                "the iqm unless scores are bounded"
            )
