"""Structure of a suite: single tasks, correlations, and the tasks that a subset explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation import PreparationOptions, PreparedScores, prepare
from gnomon.distillation.procedures import fit_least_squares
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import FloatArray, ScoreTable

#: Fewer rows in common do not show a correlation.
_LEAST_COMMON = 3
#: A smaller share of the squares is no variance but rounding.
_ROUNDING = 1e-12


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
    """How well each task alone predicts the summary, best first."""

    drawn_by = "gnomon.plot.subsets:single_task_figure"


def single(
    scores: ScoreTable | PreparedScores, **preparation: Unpack[PreparationOptions]
) -> SingleTasks:
    """Return how well each task alone predicts the summary, best first (figure 2 of the paper).

    Tasks with fewer than 3 scores are left out, and those on which scores or summaries are equal.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    **preparation
        The options of :func:`gnomon.distillation.prepare`.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 4]], "c": [[3, 7]]})
    >>> [one.task for one in single(table, transform="identity", summary="mean")]
    ['task_1', 'task_0']
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
    found = []
    for task, x in zip(data.tasks, data.x.T, strict=True):
        whole = ~np.isnan(x) & ~np.isnan(data.target)
        x, y = x[whole], data.target[whole]
        if y.size < _LEAST_COMMON or not (np.ptp(x) and np.ptp(y)):
            continue
        slope, intercept = np.polyfit(x, y, 1)
        r = np.corrcoef(x, y)[0, 1]
        found.append(SingleTask(task, float(r * r), float(intercept), float(slope), y.size))
    return SingleTasks(tuple(sorted(found, key=lambda one: -one.r2)), {}, tuple(notes))


@dataclass(frozen=True)
class Correlation(FieldRecord):
    """Pearson correlation of the transformed scores of two tasks."""

    a: str
    b: str
    correlation: float
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(Results[Correlation]):
    """Pairs of tasks, the most correlated first."""


def correlations(
    scores: ScoreTable | PreparedScores, **preparation: Unpack[PreparationOptions]
) -> Correlations:
    """Return the Pearson correlations of all pairs of tasks, greatest first.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    **preparation
        The options of :func:`gnomon.distillation.prepare`.

    Raises
    ------
    ScoreDataError
        No two tasks share three algorithms.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 4]], "c": [[3, 6]]})
    >>> [round(one.correlation, 3) for one in correlations(table, transform="identity")]
    [1.0]
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
    r, n = _correlation_matrix(data.x)
    i, j = np.triu_indices(len(data.tasks), 1)
    known = np.isfinite(r[i, j])
    i, j = i[known], j[known]
    if not i.size:
        raise ScoreDataError("expected two tasks that several algorithms have; there are none")
    found = tuple(
        Correlation(data.tasks[i[k]], data.tasks[j[k]], float(r[i[k], j[k]]), int(n[i[k], j[k]]))
        for k in np.argsort(-r[i, j], kind="stable")
    )
    return Correlations(found, {}, tuple(notes))


def _correlation_matrix(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return correlations of columns with gaps, and the number of rows that both columns have.

    A correlation is NaN with fewer than 3 rows in common, or if a column does not vary on them.
    """
    there = ~np.isnan(x)
    seen = there.astype(np.float64)
    means = np.where(there, x, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    # Centred and scaled: sums of squares of large numbers would lose the differences.
    centred = np.where(there, x - means, 0.0)
    z = centred / np.maximum(np.abs(centred).max(axis=0), np.finfo(np.float64).tiny)
    n = seen.T @ seen
    sums, squares, products = z.T @ seen, (z * z).T @ seen, z.T @ z
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products - sums * sums.T / n
        variance = squares - sums * sums / n
        variance[variance <= _ROUNDING * squares] = 0.0
        r = covariance / np.sqrt(variance * variance.T)
    return np.where((n >= _LEAST_COMMON) & np.isfinite(r), np.clip(r, -1, 1), np.nan), n


@dataclass(frozen=True)
class ExplainedTask:
    """How well a subset predicts one task: least squares with intercept, in-sample."""

    task: str
    r2: float
    model: SubsetModel

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        model = self.model
        record = {"task": self.task, "r2": self.r2, "intercept": model.intercept}
        return record | {"weights": list(model.weights), "n_rows": model.n_rows}


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedTasks(Results[ExplainedTask]):
    """How well a subset predicts every task, best first.

    `explained` and `explained_others` are the shares of the variance of all tasks pooled, with and
    without the tasks of the subset.
    """

    subset: tuple[str, ...] = field(kw_only=True)
    explained: float = field(kw_only=True)
    explained_others: float = field(kw_only=True)

    columns = ("task", "r2", "intercept", "n_rows")
    drawn_by = "gnomon.plot.subsets:explained_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """The pooled shares, if there are other tasks."""
        if len(self.subset) == len(self):
            return ()
        return (
            f"{', '.join(self.subset)} explain {self.explained:.1%} of the variance of all tasks, "
            f"{self.explained_others:.1%} of the others; in-sample",
        )


def explained(
    scores: ScoreTable | PreparedScores,
    tasks: Sequence[str],
    **preparation: Unpack[PreparationOptions],
) -> ExplainedTasks:
    """Predict every task from a subset, and return how much of its variance that explains.

    Every task is fitted to the subset with intercept, in-sample (figure 4, tables 10 and 11 of the
    Atari-5 paper).

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    tasks : sequence of str
        The tasks of the subset.
    **preparation
        The options of :func:`gnomon.distillation.prepare`.

    Raises
    ------
    ScoreDataError
        A task is named twice, or there are too few algorithms with scores on the subset.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 4]], "c": [[3, 7]]})
    >>> found = explained(table, ["task_0"], transform="identity")
    >>> [(one.task, round(one.r2, 3)) for one in found]
    [('task_0', 1.0), ('task_1', 0.987)]
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
    x = data.x[:, data.columns(tasks)]
    if len(set(tasks)) < len(tasks):
        raise ScoreDataError(f"expected different tasks, found {', '.join(tasks)}")
    found, residual, total = [], {}, {}
    for name, y in zip(data.tasks, data.x.T, strict=True):
        model = fit_least_squares(data, tasks, target=y, intercept=True, weights="any")
        whole = ~np.isnan(x).any(axis=1) & ~np.isnan(y)
        residual[name] = float(((y[whole] - model.predict(x[whole])) ** 2).sum())
        total[name] = float(((y[whole] - y[whole].mean()) ** 2).sum())
        r2 = 1.0 - residual[name] / total[name] if total[name] else float("nan")
        found.append(ExplainedTask(name, r2, model))

    def pooled(names: Sequence[str]) -> float:
        whole = sum(total[name] for name in names)
        return 1.0 - sum(residual[name] for name in names) / whole if whole else float("nan")

    return ExplainedTasks(
        tuple(sorted(found, key=lambda one: -one.r2)),
        {"subset": list(tasks)},
        tuple(notes),
        subset=tuple(tasks),
        explained=pooled(data.tasks),
        explained_others=pooled([name for name in data.tasks if name not in tasks]),
    )
