"""Sequential comparisons: looks at the runs while they are made, with the error controlled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.comparison import Comparison, compare
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.metrics import Metric

__all__ = ["SequentialResult", "sequential_compare", "sequential_levels"]


def sequential_levels(looks: Sequence[int], *, level: float = 0.95) -> FloatArray:
    """Return the level at which to test at each look, so that all looks together keep `level`.

    The error is spent as by O'Brien and Fleming (Lan and DeMets 1983), little at first; each look
    is tested at its own share, so that by Bonferroni's inequality the sum holds for any test, at
    the price of some power.

    Parameters
    ----------
    looks : sequence of int
        Numbers of runs at which data are looked at, ascending; the last is the end.
    level : float
        1 minus the error of the whole.

    Examples
    --------
    >>> (1 - sequential_levels([5, 10, 20])).round(4)
    array([0.0001, 0.0055, 0.0444])
    """
    from scipy import special

    shares = np.asarray(looks, dtype=np.float64) / looks[-1]
    if np.any(np.diff(shares) <= 0.0):
        raise ValueError(f"expected ascending numbers of runs, found {list(looks)}")
    z = special.ndtri(1.0 - (1.0 - level) / 2.0)
    spent = 2.0 * special.ndtr(-z / np.sqrt(shares))
    return np.asarray(1.0 - np.diff(spent, prepend=0.0))


@dataclass(frozen=True, slots=True)
class SequentialResult:
    """The outcome of a comparison that may stop early.

    Parameters
    ----------
    decided : bool
        Whether some look found a difference.
    runs : int
        Runs per task at the last look that was made.
    comparison : Comparison
        The comparison at that look, at that look's level.
    """

    decided: bool
    runs: int
    comparison: Comparison


def sequential_compare(
    table: ScoreTable,
    a: str,
    b: str,
    metric: str | Metric = "iqm",
    *,
    looks: Sequence[int],
    level: float = 0.95,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> SequentialResult:
    """Compare two algorithms look by look and stop when decided, the error controlled.

    Parameters
    ----------
    table : ScoreTable
        Runs in the order in which they were made; those not made yet may be missing.
    a, b, metric, gamma, rng
        As in :func:`~gnomon.stats.comparisons.comparison.compare`.
    looks : sequence of int
        Planned numbers of runs per task, fixed beforehand; see :func:`sequential_levels`.
    level : float
        1 minus the probability of finding any difference where there is none.

    Raises
    ------
    ScoreDataError
        There are fewer runs than the first look needs.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(10, 3))
    >>> table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 5})
    >>> result = sequential_compare(
    ...     table, "a", "b", "mean", looks=[3, 5, 10], rng=np.random.default_rng(1)
    ... )
    >>> result.decided, result.runs
    (True, 3)
    """
    tasks = shared_tasks(table, (a, b))
    made = min(table.runs(name, task).size for name in (a, b) for task in tasks)
    result = None
    for n, own in zip(looks, sequential_levels(looks, level=level), strict=True):
        if n > made:
            break
        part = _first_runs(table, (a, b), tasks, n)
        (found,) = compare(
            part, a, b, [metric], level=float(own), gamma=gamma, method="small_sample", rng=rng
        )
        decided = found.p_value <= 1.0 - float(own)
        result = SequentialResult(decided, n, found)
        if decided:
            return result
    if result is None:
        raise ScoreDataError(f"expected {looks[0]} runs per task at the first look, found {made}")
    return result


def _first_runs(
    table: ScoreTable, algorithms: Sequence[str], tasks: Sequence[str], n_runs: int
) -> ScoreTable:
    """Return the table of the first runs of each algorithm on each task."""
    records = [
        {"algorithm": name, "task": task, "run": run, "score": float(score)}
        | {"censored": bool(np.isinf(score))}
        for name in algorithms
        for task in tasks
        for run, score in enumerate(table.runs(name, task)[:n_runs])
    ]
    return ScoreTable.from_records(records, higher_is_better=table.higher_is_better)
