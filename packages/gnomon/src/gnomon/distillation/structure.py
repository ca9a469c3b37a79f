"""Structure of a suite: correlations of tasks, single tasks as predictors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
import numpy.typing as npt

from gnomon.distillation.preparation.preparation import PreparationOptions, prepare
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import FloatArray, ScoreTable

#: Fewer rows in common say nothing of a correlation.
_LEAST_COMMON = 3
#: A variance that is none, as a share of the squares that it is left over from.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Edge(FieldRecord):
    """Two tasks and the Pearson correlation of their transformed scores."""

    a: str
    b: str
    correlation: float
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(Results[Edge]):
    """Pairs of tasks, the strongest first, then the most negative ones.

    Parameters
    ----------
    n_strongest : int
        How many of them are the strongest, which a figure shows.
    categories : mapping from task to str
        Colours of the figure.
    """

    n_strongest: int = field(kw_only=True)
    categories: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    drawn_by = "gnomon.plot.distillation:correlation_figure"


@dataclass(frozen=True)
class SingleTask(FieldRecord):
    """How well one task alone predicts the summary (least squares with intercept, in-sample)."""

    task: str
    r2: float
    intercept: float
    slope: float
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class SingleTasks(Results[SingleTask]):
    """How well each task alone predicts the summary, best first.

    Parameters
    ----------
    categories : mapping from task to str
        Colours of the figure.
    """

    categories: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    drawn_by = "gnomon.plot.distillation:single_task_figure"


def correlations(
    scores: ScoreTable | PreparedScores,
    *,
    strongest: int = 24,
    negative: int = 0,
    tasks: Sequence[str] | None = None,
    categories: Mapping[str, str] | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Correlations:
    """Return the pairs of tasks that go together most (figure 5 of the Atari-5 paper).

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    strongest : int
        How many pairs.
    negative : int
        And so many of the least correlations, which are the most negative ones.
    tasks : sequence of str, optional
        Only pairs of these.
    categories : mapping from task to str, optional
        Colours of the figure.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distillation.prepare` takes it.

    Raises
    ------
    ScoreDataError
        No two tasks share algorithms enough.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 4]], "c": [[3, 6]]})
    >>> [round(edge.correlation, 3) for edge in correlations(table, transform="identity")]
    [1.0]
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
    r, n = correlation_matrix(data)
    index = data.columns(data.tasks if tasks is None else tasks)
    a, b = np.triu_indices(index.size, 1)
    i, j = index[a], index[b]
    known = np.isfinite(r[i, j])
    i, j = i[known], j[known]
    order = np.argsort(-r[i, j], kind="stable")
    kept = np.concatenate([order[:strongest], order[max(strongest, order.size - negative) :]])
    found = tuple(
        Edge(data.tasks[i[k]], data.tasks[j[k]], float(r[i[k], j[k]]), int(n[i[k], j[k]]))
        for k in kept
    )
    if not found:
        raise ScoreDataError("expected two tasks that several algorithms have; there are none")
    settings = {"strongest": strongest, "negative": negative}
    of_tasks = categories or {}
    return Correlations(
        found, settings, tuple(notes), n_strongest=min(strongest, order.size), categories=of_tasks
    )


def correlation_matrix(data: PreparedScores) -> tuple[FloatArray, FloatArray]:
    """Return Pearson correlations of all pairs of tasks, and the number of rows that have both.

    Returns
    -------
    correlation : ndarray of float, shape (tasks, tasks)
        NaN where fewer than 3 rows have both, or a task does not vary on them.
    n_rows : ndarray of float, shape (tasks, tasks)

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 9]], "b": [[2, 6]], "c": [[3, 3]]})
    >>> correlation_matrix(prepare(table, transform="identity"))[0]
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    there = ~np.isnan(data.x)
    x, seen = _about_zero(data.x, there), there.astype(np.float64)
    n = seen.T @ seen
    sums, squares, products = x.T @ seen, (x * x).T @ seen, x.T @ x
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products - sums * sums.T / n
        variance = squares - sums * sums / n
        variance[variance <= _ROUNDING * squares] = 0.0
        r = covariance / np.sqrt(variance * variance.T)
    return np.where((n >= _LEAST_COMMON) & np.isfinite(r), np.clip(r, -1, 1), np.nan), n


def _about_zero(x: FloatArray, there: npt.NDArray[np.bool_]) -> FloatArray:
    """Return columns of mean 0 within -1 and 1, and 0 for what is not there.

    Sums of squares of large numbers would lose what the numbers differ by.
    """
    means = np.where(there, x, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    centred = np.where(there, x - means, 0.0)
    least = np.finfo(np.float64).tiny
    return np.asarray(centred / np.maximum(np.abs(centred).max(axis=0), least))


def single(
    scores: ScoreTable | PreparedScores,
    *,
    categories: Mapping[str, str] | None = None,
    **preparation: Unpack[PreparationOptions],
) -> SingleTasks:
    """Return how well each task alone predicts the summary, best first (figure 2).

    Tasks with fewer than 3 scores are left out, and those on which they, or the summaries beside
    them, do not vary.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    categories : mapping from task to str, optional
        Colours of the figure.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distillation.prepare` takes it.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 4]], "c": [[3, 7]]})
    >>> [one.task for one in single(table, transform="identity", summary="mean")]
    ['task_1', 'task_0']
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
    found = []
    for task in data.tasks:
        x = data.x[:, data.tasks.index(task)]
        whole = ~np.isnan(x) & ~np.isnan(data.target)
        if whole.sum() < _LEAST_COMMON or not (np.ptp(x[whole]) and np.ptp(data.target[whole])):
            continue
        slope, intercept = np.polyfit(x[whole], data.target[whole], 1)
        r = np.corrcoef(x[whole], data.target[whole])[0, 1]
        n = int(whole.sum())
        found.append(SingleTask(task, float(r * r), float(intercept), float(slope), n))
    found.sort(key=lambda one: -one.r2)
    return SingleTasks(tuple(found), {}, tuple(notes), categories=categories or {})
