"""Summaries of the scores of one algorithm over runs and tasks: one number each.

On a complete table (the same number of runs on every task) the definitions are those of rliable
(Agarwal et al. 2021, *Deep reinforcement learning at the edge of the statistical precipice*). On a
ragged one every task has the same weight: with T tasks, a score of a task with R_t runs weighs
1 / (T R_t).

Every function takes an array of shape (runs, tasks), NaN where a run is missing, or
:class:`~gnomon.stats.strata.Strata`; of a batch of tables it returns one number for each. Infinite
scores (censored runs) go through: a result that is infinite or NaN means that the summary is not
estimable.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.strata import Number, Strata, as_strata, number


def mean(scores: Strata | npt.ArrayLike) -> Number:
    """Return the mean over tasks of the mean over runs.

    Examples
    --------
    >>> mean([[1, 10], [3, 20]])
    8.5
    """
    strata = as_strata(scores)
    return strata.averaged(strata.values)


def median(scores: Strata | npt.ArrayLike) -> Number:
    """Return the median over tasks of the mean over runs.

    With an even number of tasks it is the average of the middle two.

    Examples
    --------
    >>> median([[1, 10, 7], [3, 20, 7]])
    7.0
    """
    with np.errstate(invalid="ignore"):
        return number(np.median(as_strata(scores).task_means, axis=-1))


def interquartile_mean(scores: Strata | npt.ArrayLike) -> Number:
    """Return the mean of the middle half of all scores, runs and tasks pooled.

    This is :func:`trimmed_mean` with a quarter cut from each end. It forgets outliers as the
    median does, and needs fewer runs than the median for the same precision.

    Examples
    --------
    >>> interquartile_mean([[0, 1, 2, 100]])
    1.5
    """
    return trimmed_mean(scores, 0.25)


def trimmed_mean(scores: Strata | npt.ArrayLike, proportion: float) -> Number:
    """Return the mean of all scores, pooled, without the lowest and the highest ones.

    Of N scores, ``k = floor(proportion * N)`` count as cut from each end, that is the share k/N of
    the whole *weight*. A score of a task with R_t runs weighs 1 / (T R_t), and a score at the edge
    may be cut in part. Where all tasks have equally many runs, these are exactly the k lowest and
    the k highest scores, as in rliable (and `scipy.stats.trim_mean`); fewer than ``1/proportion``
    scores are not trimmed at all.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    proportion : float
        Share to cut from each end, at least 0 and below 0.5.

    Returns
    -------
    float
        Infinite, or NaN, if an infinite score is not cut.

    Examples
    --------
    Two tasks, the second with a single run, which therefore weighs as much as the other four:

    >>> trimmed_mean([[1, 9], [2, np.nan], [3, np.nan], [4, np.nan]], 0.2)
    6.125
    """
    strata = as_strata(scores)
    return pooled_mean(strata, *trimmed_cuts(strata, proportion))[0]


def trimmed_cuts(strata: Strata, proportion: float) -> tuple[float, float]:
    """Return what :func:`trimmed_mean` cuts from the low and from the high end."""
    cut = float(n_trimmed(strata.n_scores, proportion))
    return cut, cut


def pooled_mean(strata: Strata, cut_low: float, cut_high: float) -> tuple[Number, Number, Number]:
    """Return the mean of what is left of the pooled scores, and its lowest and highest score.

    The weights of all N scores sum to N; `cut_low` and `cut_high` of them are cut from the ends.
    """
    (values, mass), n = strata.pooled, strata.n_scores
    above = np.cumsum(mass)
    kept = np.minimum(above, n - cut_high) - np.maximum(above - mass, cut_low)
    # A weight that only rounding keeps is none.
    first, last = np.flatnonzero(kept > 1e-9)[[0, -1]]
    inside = slice(first, last + 1)
    with np.errstate(invalid="ignore"):
        mean_inside = values[..., inside] @ kept[inside] / (n - cut_low - cut_high)
    return number(mean_inside), number(values[..., first]), number(values[..., last])


def n_trimmed(n_scores: int, proportion: float) -> int:
    """Return how many of N scores count as cut from each end, as SciPy does it."""
    if not 0.0 <= proportion < 0.5:
        raise ValueError(f"expected a proportion from 0 to below 0.5, found {proportion}")
    return int(proportion * n_scores)


def optimality_gap(
    scores: Strata | npt.ArrayLike, gamma: float = 1.0, *, higher_is_better: bool = True
) -> Number:
    """Return by how much scores miss the target `gamma` on average, forgetting what is beyond it.

    The gap is the mean of ``max(gamma - score, 0)``, lower is better. Where lower scores are
    better, it is the mean of ``max(score - gamma, 0)``.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    gamma : float
        The score that is good enough, by custom 1 for normalised scores.
    higher_is_better : bool
        Direction of the scores.

    Examples
    --------
    >>> optimality_gap([[0.5, 3.0], [0.7, 0.8]])
    0.25
    """
    strata = as_strata(scores)
    return strata.averaged(shortfalls(strata.values, gamma, higher_is_better=higher_is_better))


def shortfalls(x: FloatArray, gamma: float, *, higher_is_better: bool) -> FloatArray:
    """Return by how much each score misses the target."""
    return np.maximum(gamma - x if higher_is_better else x - gamma, 0.0)


def share_above(scores: Strata | npt.ArrayLike, threshold: float) -> Number:
    """Return the share of runs that score strictly above a threshold, averaged over tasks.

    With a normalised human score of 1 as the threshold this is rliable's "superhuman probability".

    Examples
    --------
    >>> share_above([[0.5, 3.0], [2.0, 4.0]], 1.0)
    0.75
    """
    strata = as_strata(scores)
    return strata.averaged((strata.values > threshold).astype(np.float64))


def difficulty_progress(
    scores: Strata | npt.ArrayLike, proportion: float = 0.25, *, higher_is_better: bool = True
) -> Number:
    """Return the mean of the worst scores, runs and tasks pooled.

    Of N scores the worst ``k = max(1, floor(proportion * N))`` count, by weight as in
    :func:`trimmed_mean`.

    Examples
    --------
    >>> difficulty_progress([[0, 1, 2, 100]], 0.5)
    0.5
    """
    strata = as_strata(scores)
    return pooled_mean(strata, *worst_cuts(strata, proportion, higher_is_better))[0]


def worst_cuts(strata: Strata, proportion: float, higher_is_better: bool) -> tuple[float, float]:
    """Return what :func:`difficulty_progress` cuts from the low and from the high end."""
    if not 0.0 < proportion <= 1.0:
        raise ValueError(f"expected a proportion above 0 and up to 1, found {proportion}")
    n_scores = strata.n_scores
    better = float(n_scores - max(1, int(proportion * n_scores)))
    return (0.0, better) if higher_is_better else (better, 0.0)


def task_iqm(scores: Strata | npt.ArrayLike) -> Number:
    """Return the mean over tasks of the interquartile mean of each task's runs.

    Unlike the pooled :func:`interquartile_mean` it keeps every task: outliers are cut among the
    runs of a task only. With fewer than 4 runs nothing is cut.

    Examples
    --------
    >>> task_iqm([[0, 1], [2, 1], [4, 1], [90, 1]])
    2.0
    """
    parts = as_strata(scores).per_task()
    tasks = [Strata(runs, np.array([0, runs.shape[-1]])) for runs in parts]
    return number(np.mean([trimmed_mean(one, 0.25) for one in tasks], axis=0))
