"""Sequential comparisons: looks at planned numbers of runs, the error of all controlled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.comparison import compare
from gnomon.stats.comparisons.comparison_records import Comparison
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.metrics import Metric

#: Before so many runs two clusters of a task's runs cannot be seen: all may lie in one.
SEEN_RUNS = 5


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

    Examples
    --------
    >>> from gnomon.stats import compare
    >>> scores = ScoreTable.from_arrays({"a": [[3], [4]], "b": [[1], [2]]})
    >>> (one,) = compare(scores, "a", "b", "mean")
    >>> SequentialResult(False, 2, one).as_record()["runs"]
    2
    """

    decided: bool
    runs: int
    comparison: Comparison

    def as_record(self) -> dict[str, Any]:
        """Return what was compared and decided as a mapping fit for JSON."""
        record = self.comparison.as_record()
        names = ("a", "b", "metric", "value", "low", "high", "p_value", "level")
        own = {name: record[name] for name in names}
        return own | {"decided": self.decided, "runs": self.runs}


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

    A look before 5 runs decides only what it would decide without any one of the tasks, so with one
    task it decides nothing: runs that fall in two clusters may all lie in one of them, and then
    show no variance. Where one such task rules the comparison, looks at 2, 4 and 8 runs would else
    err in 15 % of all studies instead of 5.

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

    def compared(part: ScoreTable, level: float) -> Comparison:
        return compare(
            part, a, b, [metric], level=level, gamma=gamma, method="small_sample", rng=rng
        )[0]

    for n, own in zip(looks, sequential_levels(looks, level=level), strict=True):
        if n > made:
            break
        part = _first_runs(table, (a, b), tasks, n)
        found = compared(part, float(own))
        decided = _decides(found)
        if decided and n < SEEN_RUNS:
            rests = (part.select(tasks=[t for t in tasks if t != one]) for one in tasks)
            decided = len(tasks) > 1 and all(_decides(compared(r, float(own))) for r in rests)
        result = SequentialResult(decided, n, found)
        if decided:
            return result
    if result is None:
        raise ScoreDataError(f"expected {looks[0]} runs per task at the first look, found {made}")
    return result


def _decides(found: Comparison) -> bool:
    """Return whether a comparison finds a difference at its level."""
    return found.p_value <= 1.0 - found.level


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
