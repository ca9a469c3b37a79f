"""Histograms of the scores of each task: how runs spread, before any summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import Results, Row, made_by
from gnomon.scores.table import FloatArray, ScoreTable

#: Bins of a task at least and at most.
LEAST, MOST = 8, 40


@dataclass(frozen=True, eq=False)
class Histogram:
    """The scores of one algorithm's runs on one task, counted in bins.

    Parameters
    ----------
    algorithm, task : str
    edges : ndarray of float, shape (bins + 1,)
        Ascending; the same for all algorithms of the task.
    counts : ndarray of int, shape (bins,)
    scores : ndarray of float, shape (runs,)
        The finite scores.
    n_infinite : int
        How many runs never got there, and are in no bin.

    Examples
    --------
    >>> x = np.array([0.1, 0.2, 0.9])
    >>> one = Histogram("dqn", "pong", np.array([0.0, 0.5, 1.0]), np.array([2, 1]), x, 0)
    >>> one.as_records()[1]
    {'algorithm': 'dqn', 'task': 'pong', 'low': 0.5, 'high': 1.0, 'count': 1}
    """

    algorithm: str
    task: str
    edges: FloatArray
    counts: FloatArray
    scores: FloatArray
    n_infinite: int

    def as_record(self) -> dict[str, Any]:
        """Return edges and counts as lists, fit for JSON."""
        lists = {"edges": self.edges.tolist(), "counts": self.counts.tolist()}
        return {"algorithm": self.algorithm, "task": self.task, **lists}

    def as_records(self) -> list[dict[str, Any]]:
        """Return one mapping for each bin, fit for JSON."""
        key = {"algorithm": self.algorithm, "task": self.task}
        bins = zip(self.edges, self.edges[1:], self.counts, strict=False)
        return [key | {"low": float(a), "high": float(b), "count": int(n)} for a, b, n in bins]


@dataclass(frozen=True, eq=False, repr=False)
class Histograms(Results[Histogram]):
    """The histogram of every algorithm on every task, task by task.

    Examples
    --------
    >>> scores = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [3.0, 4.0]]})
    >>> len(score_histograms(scores))
    2
    """

    drawn_by: ClassVar[str | None] = "gnomon.plot.histograms:draw_histograms"

    def as_records(self) -> list[dict[str, Any]]:
        """Return a mapping for each bin of each histogram."""
        return [record for one in self for record in one.as_records()]

    def rows(self) -> Sequence[Row]:
        """Return where the scores of each algorithm on each task lie."""
        return [_five_numbers(one) for one in self]


def _five_numbers(one: Histogram) -> Row:
    numbers = np.quantile(one.scores, [0, 0.25, 0.5, 0.75, 1]) if one.scores.size else [None] * 5
    names = ("least", "25%", "50%", "75%", "greatest")
    key = {"task": one.task, "algorithm": one.algorithm, "runs": one.scores.size + one.n_infinite}
    return key | dict(zip(names, (x if x is None else float(x) for x in numbers), strict=True))


def score_histograms(scores: ScoreTable) -> Histograms:
    """Count the scores of every algorithm on each task, in bins that the task's algorithms share.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run. Algorithms that lack on a task have no histogram there.

    Returns
    -------
    Histograms
        Task by task, in the table's order. The bins are equally wide, and
        twice as many as Sturges' rule gives for all scores of the task: at least 8, at most 40.

    Raises
    ------
    ScoreDataError
        No score is finite.

    References
    ----------
    Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice.

    Examples
    --------
    >>> runs = {"dqn": [[1.0], [1.2], [3.0]], "sac": [[4.0], [5.0], [9.0]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> [int(one.counts.sum()) for one in score_histograms(scores)]
    [3, 3]
    """
    found = []
    for task in scores.tasks:
        runs = {name: scores.runs(name, task) for name in scores.algorithms}
        finite = {name: x[np.isfinite(x)] for name, x in runs.items() if x.size}
        pooled = np.concatenate(list(finite.values()))
        if pooled.size:
            edges = _edges(pooled)
            for name, x in finite.items():
                counts = np.histogram(x, edges)[0].astype(np.float64)
                found.append(Histogram(name, task, edges, counts, x, runs[name].size - x.size))
    if not found:
        raise ScoreDataError("histograms: expected at least one finite score, found none")
    settings = made_by(None, scale=scores.scale, higher_is_better=scores.higher_is_better)
    return Histograms(tuple(found), settings)


def _edges(values: FloatArray) -> FloatArray:
    n = int(np.clip(np.histogram_bin_edges(values, "sturges").size * 2, LEAST, MOST))
    low, high = float(values.min()), float(values.max())
    air = 0.0 if low < high else 0.5 * abs(low) or 0.5
    return np.linspace(low - air, high + air, n + 1)
