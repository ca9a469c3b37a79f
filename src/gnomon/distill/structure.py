"""What is like what in a suite: correlations, single tasks as predictors, components, fairness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.distill.models import SubsetModel
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.procedures.least_squares import fit_least_squares
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

__all__ = [
    "Components",
    "Edge",
    "FairnessTest",
    "SingleTask",
    "TaskModels",
    "correlations",
    "edges",
    "fairness",
    "principal_components",
    "single_tasks",
    "task_models",
    "thirds",
]

#: Fewer rows in common say nothing of a correlation.
_LEAST_COMMON = 3
#: A variance that is none, as a share of the squares that it is left over from.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Edge:
    """Two tasks and the Pearson correlation of their transformed scores."""

    a: str
    b: str
    correlation: float
    n_rows: int


@dataclass(frozen=True)
class SingleTask:
    """How well one task alone predicts the summary (least squares with intercept, in-sample)."""

    task: str
    r2: float
    intercept: float
    slope: float
    n_rows: int


@dataclass(frozen=True, eq=False)
class TaskModels:
    """Models of every task from a subset, and how much of the variance they explain.

    Parameters
    ----------
    models : mapping from task to SubsetModel
    r2 : mapping from task to float
        In-sample, on the rows that have the task and the subset; 1 for the subset's own.
    explained, explained_others : float
        Share of the variance of all tasks pooled; and without the tasks of the subset, which
        explain themselves.
    """

    models: Mapping[str, SubsetModel]
    r2: Mapping[str, float]
    explained: float
    explained_others: float


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of the standardised scores on complete tasks.

    Parameters
    ----------
    tasks : tuple of str
    explained : ndarray of float
        Share of the variance of each component.
    directions : ndarray of float, shape (components, tasks)
    target_correlation : ndarray of float
        Size of the correlation of each component with the summary.
    """

    tasks: tuple[str, ...]
    explained: FloatArray
    directions: FloatArray
    target_correlation: FloatArray


@dataclass(frozen=True)
class FairnessTest:
    """Whether two groups of algorithms differ in the error of their estimates.

    Parameters
    ----------
    a, b : str
        ``low``, ``middle`` or ``high``: tertiles by the true summary.
    measure : str
        ``accuracy`` compares the sizes of relative errors, ``bias`` the errors.
    mean_a, mean_b : float
    welch_p, wilcoxon_p : float
        Two-sided; the second is the rank-sum test.
    """

    a: str
    b: str
    measure: str
    mean_a: float
    mean_b: float
    welch_p: float
    wilcoxon_p: float


def correlations(data: PreparedScores) -> tuple[FloatArray, FloatArray]:
    """Return Pearson correlations of all pairs of tasks, and the number of rows that have both.

    Returns
    -------
    correlation : ndarray of float, shape (tasks, tasks)
        NaN where fewer than 3 rows have both, or a task does not vary on them.
    n_rows : ndarray of float, shape (tasks, tasks)
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


def edges(
    data: PreparedScores,
    *,
    n_strongest: int = 24,
    n_weakest: int = 0,
    tasks: Sequence[str] | None = None,
) -> list[Edge]:
    """Return the most correlated pairs of tasks, strongest first (figure 5 of the Atari-5 paper).

    Parameters
    ----------
    data : PreparedScores
    n_strongest : int
        How many.
    n_weakest : int
        And so many of the least correlations, which are the most negative ones.
    tasks : sequence of str, optional
        Only pairs of these.
    """
    r, n = correlations(data)
    index = data.columns(data.tasks if tasks is None else tasks)
    a, b = np.triu_indices(index.size, 1)
    i, j = index[a], index[b]
    known = np.isfinite(r[i, j])
    i, j = i[known], j[known]
    order = np.argsort(-r[i, j], kind="stable")
    kept = np.concatenate([order[:n_strongest], order[max(n_strongest, order.size - n_weakest) :]])
    return [
        Edge(data.tasks[i[k]], data.tasks[j[k]], float(r[i[k], j[k]]), int(n[i[k], j[k]]))
        for k in kept
    ]


def single_tasks(data: PreparedScores) -> list[SingleTask]:
    """Return how well each task alone predicts the summary, best first (figure 2).

    Tasks with fewer than 3 scores are left out, and those on which they, or the summaries beside
    them, do not vary.
    """
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
    return sorted(found, key=lambda single: -single.r2)


def task_models(data: PreparedScores, subset: Sequence[str]) -> TaskModels:
    """Fit every task to a subset, with intercept, in-sample (figure 4, tables 10 and 11)."""
    models, r2 = {}, {}
    residual, total = {}, {}
    columns = data.columns(subset)
    for task in data.tasks:
        y = data.x[:, data.tasks.index(task)]
        model = fit_least_squares(
            data, subset, target=y, target_name=task, intercept=True, weights="any"
        )
        whole = ~np.isnan(data.x[:, columns]).any(axis=1) & ~np.isnan(y)
        error = y[whole] - model.predict(data.x[whole][:, columns])
        residual[task] = float(error @ error)
        total[task] = float(((y[whole] - y[whole].mean()) ** 2).sum())
        models[task] = model
        r2[task] = 1.0 - residual[task] / total[task] if total[task] else float("nan")
    others = [task for task in data.tasks if task not in subset]
    explained = (_explained(residual, total, tasks) for tasks in (data.tasks, others))
    return TaskModels(models, r2, *explained)


def _explained(
    residual: Mapping[str, float], total: Mapping[str, float], tasks: Sequence[str]
) -> float:
    """Return the pooled share of the variance of some tasks; NaN if there is none."""
    whole = sum(total[task] for task in tasks)
    return 1.0 - sum(residual[task] for task in tasks) / whole if whole else float("nan")


def principal_components(data: PreparedScores) -> Components:
    """Return the principal components of the standardised scores on complete tasks.

    Tasks on which all algorithms score the same are left out. The correlations are NaN if all have
    the same summary.

    Raises
    ------
    ScoreDataError
        Fewer than two tasks are complete and vary.
    """
    complete = data.complete_tasks()
    varies = data.varies(complete)
    tasks = tuple(task for task, differs in zip(complete, varies, strict=True) if differs)
    if len(tasks) < 2:
        raise ScoreDataError(
            f"expected at least 2 tasks without gaps on which scores differ, found {len(tasks)}"
        )
    x = data.x[:, data.columns(tasks)]
    z = _about_zero(x, np.ones_like(x, dtype=np.bool_))
    u, d, directions = np.linalg.svd(z / z.std(axis=0), full_matrices=False)
    correlation = np.full(d.size, np.nan)
    if np.ptp(data.target):
        y = data.target - data.target.mean()
        correlation = np.abs(u.T @ y) / np.linalg.norm(y)
    return Components(tasks, d**2 / (d**2).sum(), directions, correlation)


def thirds(predicted: FloatArray, true: FloatArray) -> dict[str, npt.NDArray[np.int64]]:
    """Return the low, middle and high algorithms by the true summary, of those predicted."""
    whole = np.flatnonzero(~(np.isnan(predicted) | np.isnan(true)))
    order = whole[np.argsort(true[whole], kind="stable")]
    return dict(zip(("low", "middle", "high"), np.array_split(order, 3), strict=True))


def fairness(predicted: FloatArray, true: FloatArray, relative: FloatArray) -> list[FairnessTest]:
    """Compare the errors of low, middle and high algorithms (figure 3, section 5.4).

    Parameters
    ----------
    predicted, true : ndarray of float, shape (algorithms,)
        Summaries; NaN in `predicted` leaves an algorithm out.
    relative : ndarray of float, shape (algorithms,)
        Signed relative errors.

    Returns
    -------
    list of FairnessTest
        Of each pair of tertiles, accuracy and bias.

    Raises
    ------
    ScoreDataError
        There are fewer than two algorithms in a third.
    """
    from scipy.stats import ranksums, ttest_ind

    groups = thirds(predicted, true)
    fewest = min(index.size for index in groups.values())
    if fewest < 2:
        raise ScoreDataError(
            f"expected at least 6 predicted algorithms for three groups, found "
            f"{sum(index.size for index in groups.values())}"
        )
    tests = []
    for measure in ("accuracy", "bias"):
        errors = np.abs(relative) if measure == "accuracy" else relative
        for a, b in (("low", "middle"), ("low", "high"), ("middle", "high")):
            x, y = errors[groups[a]], errors[groups[b]]
            welch = float(ttest_ind(x, y, equal_var=False).pvalue)
            ranks = float(ranksums(x, y).pvalue)
            tests.append(
                FairnessTest(a, b, measure, float(x.mean()), float(y.mean()), welch, ranks)
            )
    return tests
