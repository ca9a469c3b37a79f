"""Effect sizes without the unit of the scores, permutation tests, and tests of each task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.rank_tests import PairwiseTest, holm, mann_whitney, pairs_won
from gnomon.stats.estimates import shared_tasks

TaskTest = Literal["welch", "mann_whitney", "permutation", "wilcoxon"]


def hedges_g(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Return the difference of two means in pooled standard deviations, mended for few runs.

    Hedges' (1981) correction multiplies Cohen's d by about ``1 - 3 / (4 (n + m) - 9)``. NaN if
    neither sample varies or one has a single value.

    Examples
    --------
    >>> round(hedges_g([3, 4, 5], [1, 2, 3]), 3)
    1.6
    """
    a, b = _finite(x), _finite(y)
    if min(a.size, b.size) < 2:
        return float("nan")
    df = a.size + b.size - 2
    pooled = ((a.size - 1) * a.var(ddof=1) + (b.size - 1) * b.var(ddof=1)) / df
    if pooled == 0.0:
        return float("nan")
    return float((a.mean() - b.mean()) / np.sqrt(pooled) * (1.0 - 3.0 / (4.0 * df - 1.0)))


def cliffs_delta(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Return how much more often x is above y than below, from -1 to 1: ``2 P(X > Y) - 1``.

    Examples
    --------
    >>> cliffs_delta([3, 4, 5], [1, 2, 3])
    0.8888888888888888
    """
    a, b = _present(x), _present(y)
    if not a.size or not b.size:
        return float("nan")
    return 2.0 * pairs_won(a, b) / (a.size * b.size) - 1.0


def violation_ratio(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Return how far x is from being above y at every quantile: 0 it is, 1 it is below at all.

    The squared distance of the quantile functions where x is the lower one, over the squared
    distance everywhere (del Barrio, Cuesta-Albertos and Matrán 2018). NaN if they are equal.

    Examples
    --------
    >>> round(violation_ratio([2, 3, 9], [1, 4, 5]), 3)
    0.056
    """
    a, b = np.sort(_present(x)), np.sort(_present(y))
    edges = np.unique(np.concatenate([np.arange(n + 1) / n for n in (a.size, b.size)]))
    widths, middles = np.diff(edges), (edges[1:] + edges[:-1]) / 2.0
    difference = a[(middles * a.size).astype(int)] - b[(middles * b.size).astype(int)]
    squares = widths * np.square(difference)
    total = float(squares.sum())
    return float(squares[difference < 0.0].sum()) / total if total > 0.0 else float("nan")


def almost_stochastic_order(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the violation ratio and an upper bound of it: below 0.5, x is almost surely above y.

    Dror, Shlomov and Reichart (2019): the bound is the ratio plus the normal quantile times its
    bootstrap standard deviation.

    Parameters
    ----------
    x, y : array_like of float, shape (runs,)
    level : float
        Confidence level of the bound.
    n_resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        Source of the draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratio, bound = almost_stochastic_order([2, 3, 9, 9], [1, 4, 5, 5], rng=rng)
    >>> round(ratio, 3), bound < 0.5
    (0.029, True)
    """
    from scipy import special

    a, b = _present(x), _present(y)
    ratio = violation_ratio(a, b)
    drawn = np.array(
        [violation_ratio(rng.choice(a, a.size), rng.choice(b, b.size)) for _ in range(n_resamples)]
    )
    spread = float(np.nanstd(drawn)) if np.isfinite(drawn).any() else float("nan")
    return ratio, float(np.clip(ratio + special.ndtri(level) * spread, 0.0, 1.0))


def permutation_test(
    x: npt.ArrayLike, y: npt.ArrayLike, *, n_permutations: int = 9999, rng: np.random.Generator
) -> float:
    """Return the two-sided p-value of a difference of means under all relabelings.

    Examples
    --------
    >>> permutation_test([1, 2, 3], [1, 2, 3], rng=np.random.default_rng(0))
    1.0
    """
    a, b = _finite(x), _finite(y)
    both = np.concatenate([a, b])
    labels = np.tile(np.arange(both.size) < a.size, (n_permutations, 1))
    relabeled = rng.permuted(labels, axis=1)
    means = (relabeled @ both) / a.size - (~relabeled @ both) / b.size
    observed = abs(a.mean() - b.mean()) * (1.0 - 1e-12)
    return (1 + int(np.sum(np.abs(means) >= observed))) / (n_permutations + 1)


def task_tests(
    table: ScoreTable,
    a: str,
    b: str,
    test: TaskTest = "mann_whitney",
    *,
    rng: np.random.Generator,
) -> dict[str, PairwiseTest]:
    """Test two algorithms against each other on every shared task, corrected over tasks.

    Parameters
    ----------
    table : ScoreTable
        One score for each run.
    a, b : str
        The algorithms.
    test : str
        ``welch``, ``mann_whitney``, ``permutation`` (of the means), or ``wilcoxon`` (signed ranks,
        of runs with the same label in pairs).
    rng : numpy.random.Generator
        For permutations.

    Returns
    -------
    dict from task to PairwiseTest
        `u` counts the pairs of runs in which `a` is greater; `p_adjusted` is Holm's.

    Raises
    ------
    ScoreDataError
        Runs to be paired have no common labels.

    Examples
    --------
    >>> runs = {"a": [[5, 1], [6, 2], [7, 3]], "b": [[1, 2], [2, 3], [3, 1]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> found = task_tests(scores, "a", "b", "welch", rng=np.random.default_rng(0))
    >>> {task: round(test.p_adjusted, 3) for task, test in found.items()}
    {'task_0': 0.016, 'task_1': 1.0}
    """
    tasks = shared_tasks(table, (a, b))
    test_of = _tests(rng)[test]
    p_values = []
    for task in tasks:
        x, y = table.runs(a, task), table.runs(b, task)
        if test == "wilcoxon":
            x, y = _paired(table, a, b, task)
        p_values.append(test_of(x, y))
    u = [pairs_won(table.runs(a, task), table.runs(b, task)) for task in tasks]
    return {
        task: PairwiseTest(a, b, won, p, float(adjusted))
        for task, won, p, adjusted in zip(tasks, u, p_values, holm(p_values), strict=True)
    }


def _tests(
    rng: np.random.Generator,
) -> dict[str, Callable[[FloatArray, FloatArray], float]]:
    """Return the tests by name, each from two samples to a p-value, NaN where there is none."""
    return {
        "welch": _welch,
        "mann_whitney": lambda x, y: mann_whitney(x, y)[1],
        "permutation": lambda x, y: permutation_test(x, y, rng=rng),
        "wilcoxon": _wilcoxon,
    }


def _welch(x: FloatArray, y: FloatArray) -> float:
    from scipy import stats

    a, b = _finite(x), _finite(y)
    if min(a.size, b.size) < 2 or a.var() + b.var() == 0.0:
        return float("nan")
    return float(stats.ttest_ind(a, b, equal_var=False).pvalue)


def _wilcoxon(x: FloatArray, y: FloatArray) -> float:
    from scipy import stats

    if not np.any(x - y):
        return 1.0
    return float(stats.wilcoxon(x, y, method="auto").pvalue)


def _paired(table: ScoreTable, a: str, b: str, task: str) -> tuple[FloatArray, FloatArray]:
    """Return the runs that both have, in the same order."""
    of_b = dict(zip(table.run_labels(b, task), table.runs(b, task), strict=True))
    pairs = [
        (score, of_b[label])
        for label, score in zip(table.run_labels(a, task), table.runs(a, task), strict=True)
        if label in of_b
    ]
    if not pairs:
        raise ScoreDataError(f"task {task}: {a} and {b} have no run label in common to pair")
    x, y = np.array(pairs).T
    return x, y


def _present(x: npt.ArrayLike) -> FloatArray:
    values = np.asarray(x, dtype=np.float64).ravel()
    return values[~np.isnan(values)]


def _finite(x: npt.ArrayLike) -> FloatArray:
    values = _present(x)
    if not np.isfinite(values).all():
        raise ScoreDataError("expected finite scores for a test of means; some are censored")
    return values
