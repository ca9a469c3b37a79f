"""Shares of runs, or of tasks, above thresholds, and their bands at each or for the whole curve.

The bootstrap band of a run-score profile needs no resampling: at a threshold the number of runs
above it is, task by task, a binomial draw, so its distribution over all tasks is a product of
characteristic functions. Other bands come from resampled curves.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.quantiles import percentile_interval
from gnomon.stats.strata import Strata, as_strata

__all__ = [
    "Band",
    "Kind",
    "average_score_profile",
    "band_of",
    "exact_band",
    "resampled_profiles",
    "run_score_profile",
    "simultaneous_band",
    "task_shares",
]


def run_score_profile(
    scores: Strata | npt.ArrayLike, tau: npt.ArrayLike, *, higher_is_better: bool = True
) -> FloatArray:
    """Return the share of runs better than each threshold, averaged over tasks.

    Strictly better: above, or below where lower is better.

    Examples
    --------
    >>> run_score_profile([[0.5, 3.0], [2.0, 4.0]], [0, 1, 3])
    array([1.  , 0.75, 0.25])
    """
    shares = task_shares(as_strata(scores), np.asarray(tau, dtype=np.float64), higher_is_better)
    return np.asarray(shares.mean(axis=0))


def average_score_profile(
    scores: Strata | npt.ArrayLike, tau: npt.ArrayLike, *, higher_is_better: bool = True
) -> FloatArray:
    """Return the share of tasks whose mean score is better than each threshold.

    Examples
    --------
    >>> average_score_profile([[0.5, 3.0], [2.0, 4.0]], [0, 1, 3])
    array([1. , 1. , 0.5])
    """
    means = as_strata(scores).task_means
    return _shares_above(np.sort(means), np.asarray(tau, dtype=np.float64), higher_is_better)


def _shares_above(ordered: FloatArray, tau: FloatArray, higher_is_better: bool) -> FloatArray:
    """Return the share of ordered values strictly better than each threshold."""
    if higher_is_better:
        return 1.0 - np.searchsorted(ordered, tau, "right") / ordered.size
    return np.searchsorted(ordered, tau, "left") / ordered.size


def task_shares(strata: Strata, tau: FloatArray, higher_is_better: bool) -> FloatArray:
    """Return the share of each task's runs better than each threshold, (tasks, thresholds)."""
    parts = strata.per_task()
    return np.stack([_shares_above(np.sort(x), tau, higher_is_better) for x in parts])


#: A lattice of more points than this is resampled instead of computed.
LARGEST_LATTICE = 100_000

#: A deviation of a share that is none.
ROUNDING = 1e-12

Kind = Literal["run_score", "average_score"]
Band = Literal["pointwise", "simultaneous", "none"]


def band_of(
    strata: Strata,
    tau: FloatArray,
    value: FloatArray,
    *,
    kind: Kind,
    band: Band,
    level: float,
    higher_is_better: bool,
    n_resamples: int,
    key: np.uint64,
) -> tuple[FloatArray, FloatArray]:
    """Return the band of the profile `value`, by the cheapest way that there is.

    Parameters
    ----------
    strata, tau, kind, level, higher_is_better, n_resamples, key
        As in the functions below.
    value : ndarray of float, shape (thresholds,)
        The profile.
    band : str
        As in :func:`~gnomon.stats.profiles.performance.performance_profiles`.

    Returns
    -------
    low, high : ndarray of float, shape (thresholds,)
        NaN without a band, and with one run per task.
    """
    if band == "none" or strata.counts.max() == 1:
        return np.full(tau.size, np.nan), np.full(tau.size, np.nan)
    if band == "pointwise" and kind == "run_score" and _lattice(strata) <= LARGEST_LATTICE:
        ends = exact_band(strata, tau, level=level, higher_is_better=higher_is_better)
    else:
        drawn = resampled_profiles(
            strata,
            tau,
            kind=kind,
            higher_is_better=higher_is_better,
            n_resamples=n_resamples,
            key=key,
        )
        if band == "simultaneous":
            return simultaneous_band(drawn, value, level)
        ends = percentile_interval(drawn, level)[:2]
    # The same share, summed in another order, may differ in the last digit.
    low, high = (np.where(np.abs(end - value) < ROUNDING, value, end) for end in ends)
    return low, high


def exact_band(
    scores: Strata | npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    level: float = 0.95,
    higher_is_better: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Return the pointwise bootstrap percentile band of a run-score profile, without resampling.

    At a threshold, R_t times the resampled share of task t is Binomial(R_t, p_t), independent over
    tasks; the distribution of the mean share comes from the product of their characteristic
    functions. Its quantiles are what infinitely many resamples would give.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    tau : array_like of float
        Thresholds.
    level : float
        Confidence level at each threshold.

    Returns
    -------
    low, high : ndarray of float, shape (thresholds,)

    Examples
    --------
    >>> exact_band([[1.0, 2.0], [3.0, 4.0]], [1.5, 2.5])
    (array([0.5, 0. ]), array([1., 1.]))
    """
    strata = as_strata(scores)
    shares = task_shares(strata, np.asarray(tau, dtype=np.float64), higher_is_better)
    total = _lattice(strata)
    if total > LARGEST_LATTICE:
        raise ValueError(
            f"runs per task of {sorted(set(strata.counts.tolist()))} have no common lattice of "
            "reasonable size; use a simultaneous band, which resamples"
        )
    probabilities = _sum_distributions(shares, strata.counts, total // strata.n_tasks)
    cumulated = np.cumsum(probabilities, axis=1)
    tail = (1.0 - level) / 2.0
    # The slack keeps a quantile that rounding would push over by one point.
    low = np.argmax(cumulated >= tail - 1e-12, axis=1)
    high = np.argmax(cumulated >= 1.0 - tail - 1e-12, axis=1)
    return low / total, high / total


def _lattice(strata: Strata) -> int:
    """Return T lcm(R_t): the shares of ragged tables live on a lattice of one over it."""
    return math.lcm(*strata.counts.tolist()) * strata.n_tasks


def _sum_distributions(shares: FloatArray, counts: npt.NDArray[np.int64], steps: int) -> FloatArray:
    """Return for each threshold the distribution of the sum of ``steps/R_t`` times a binomial.

    Tasks with the same share and number of runs have the same factor, so a threshold is a row of
    how often each factor occurs, and all products are one matrix product of logarithms.
    """
    size = steps * counts.size + 1
    angles = np.arange(size // 2 + 1) * (2.0 * np.pi / size)
    # A whole number for each pair (runs above, runs): np.unique is fast on one axis only.
    base = int(counts.max()) + 1
    above = np.rint(shares * counts[:, None]).astype(np.int64)
    different, which = np.unique(counts[:, None] * base + above, return_inverse=True)
    n = (different // base)[:, None]
    p = (different % base)[:, None] / n
    factors = 1.0 - p + p * np.exp(-1j * angles * (steps / n))
    # A factor of zero stays one, to 300 digits, and has a logarithm.
    logarithms = n * np.log(np.where(np.abs(factors) < 1e-300, 1e-300, factors))
    rows = np.tile(np.arange(shares.shape[1]), shares.shape[0])
    occurrences = np.zeros((shares.shape[1], different.size))
    np.add.at(occurrences, (rows, which.ravel()), 1.0)
    transforms = np.exp(occurrences @ logarithms)
    return np.maximum(np.fft.irfft(transforms, size, axis=1), 0.0)


def resampled_profiles(
    scores: Strata | npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    kind: Kind = "run_score",
    higher_is_better: bool = True,
    n_resamples: int,
    key: np.uint64,
    draw_tasks: bool = False,
) -> FloatArray:
    """Return the profile of every resample.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    tau : array_like of float, shape (thresholds,)
        Ascending.
    kind, higher_is_better
        As in :func:`~gnomon.stats.profiles.performance.performance_profiles`.
    n_resamples, key, draw_tasks
        As in :class:`~gnomon.stats.bootstrap.resamples.Resamples`.

    Returns
    -------
    ndarray of float, shape (n_resamples, thresholds)
    """
    from gnomon.stats.bootstrap.kernels import resample_profiles

    strata, edges = as_strata(scores), np.asarray(tau, dtype=np.float64)
    # Below t is above -t with everything mirrored.
    values = strata.values if higher_is_better else -strata.values
    edges = edges if higher_is_better else -edges[::-1]
    passed = np.searchsorted(edges, values, "left")
    out = np.empty((n_resamples, edges.size))
    of_means = kind == "average_score"
    resample_profiles(key, 0, values, passed, strata.starts, edges, of_means, draw_tasks, out)
    return out if higher_is_better else out[:, ::-1]


def simultaneous_band(
    replicates: FloatArray, value: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return a band that holds the whole curve at once, from resampled curves.

    The half-width is constant: the quantile of the largest deviation of a resampled curve from the
    estimate (a bootstrap Kolmogorov band). It is cut at 0 and 1.

    Parameters
    ----------
    replicates : ndarray of float, shape (n_resamples, thresholds)
    value : ndarray of float, shape (thresholds,)
    level : float
        Confidence level of the whole band.

    Examples
    --------
    >>> drawn = np.array([[0.9, 0.5], [1.0, 0.4], [0.8, 0.6]])
    >>> [end.round(2).tolist() for end in simultaneous_band(drawn, np.array([0.9, 0.5]), 0.5)]
    [[0.8, 0.4], [1.0, 0.6]]
    """
    largest = np.abs(replicates - value).max(axis=1)
    half = float(np.quantile(largest, level))
    half = half if half > ROUNDING else 0.0
    return np.clip(value - half, 0.0, 1.0), np.clip(value + half, 0.0, 1.0)
