"""Shares of runs, or of tasks, above thresholds, and their bands at each or for the whole curve.

The band of a run-score profile is in closed form: at a threshold the number of runs above it is,
task by task, a binomial draw. The band of a profile of task means comes from resampled curves.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import Resamples, percentile_interval
from gnomon.stats.medians import locally_moderated_variances
from gnomon.stats.samples import Strata, as_strata


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


#: A deviation of a share that is none.
ROUNDING = 1e-12

#: Up to so many runs beyond a threshold the band's end towards them is that of the exact binomial.
FEW_RUNS_BEYOND = 5

#: How many runs the expectation of what another run would do counts for.
PRIOR_RUNS = 2.0

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
    """Return the band of the profile `value`: Wilson's of runs, resampled of task means.

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
    if kind == "run_score":
        return wilson_band(
            strata,
            tau,
            level=level,
            simultaneous=band == "simultaneous",
            higher_is_better=higher_is_better,
        )
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


def wilson_band(
    scores: Strata | npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    higher_is_better: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Return the band of a run-score profile by Wilson's interval, in closed form.

    The share V of runs above a threshold is a mean over tasks of binomial shares. Its interval is
    Wilson's (1927) for as many runs as would give a plain share the same variance, the effective
    number of runs (as Korn and Graubard 1998 for surveys). A few runs that all lie on one side of
    the threshold show no variance; what another run would do tells it:

    1. The spread S of a task is moderated by the tasks nearest in mean, with R + 1 degrees of
       freedom (:func:`~gnomon.stats.medians.locally_moderated_variances`). F
       is then the probability that one more run is above, by Student's t around the task's mean
       with the scale ``S sqrt(1 + 1/R)``.
    2. It counts for two runs: ``q = (R p + 2 F)/(R + 2)``, p being the share of the task's runs
       above.
    3. ``v = sum q (1 - q)/B/T**2 + 1/N**2`` with ``B = R (1 - R/(R + 2)**2)``: the variance of the
       mean over T tasks, if F is the truth, and that one of all N runs may always have gone the
       other way.
    4. The effective number of runs is ``Q (1 - Q)/v``, at least 1, with Q the mean of q, no nearer
       to 0 or 1 than 1/N.
    5. Where at most 5 of all runs lie beyond the threshold, the end on their side is no nearer to
       them than Clopper and Pearson's (1934) for N runs: Wilson's would be, since rare events are
       skewed (Brown, Cai and DasGupta 2001), and a whole curve passes many such thresholds.

    A band for the whole curve has the same shape, with the multiplier in place of the normal
    quantile that a standardized bridge keeps below (equal precision: Miller and Siegmund 1982,
    Nair 1984), or Bonferroni's where there are so few thresholds that this is less; and its ends
    fall, as every profile does.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
        Runs may be infinite (censored).
    tau : array_like of float, shape (thresholds,)
        Thresholds, ascending.
    level : float
        Confidence level, between 0 and 1, at each threshold or of the whole curve.
    simultaneous : bool
        Whether the band is for the whole curve.
    higher_is_better : bool
        Direction of the scores: the share is of runs above, or below.

    Returns
    -------
    low, high : ndarray of float, shape (thresholds,)
        They enclose the profile, differ at every threshold, and lie between 0 and 1; NaN with one
        run per task. At 2 and 3 runs they cover 97 to 98 % for 95. A task whose rare event, of
        less than one in N runs, has not happened yet is not covered.

    Examples
    --------
    >>> low, high = wilson_band([[1.0, 2.0], [3.0, 4.0]], [0.0, 1.5, 2.5])
    >>> low.round(2), high.round(2)
    (array([0.38, 0.18, 0.07]), array([1.  , 0.99, 0.93]))
    """
    strata, edges = as_strata(scores), np.asarray(tau, dtype=np.float64)
    if strata.counts.max() == 1:
        return np.full(edges.size, np.nan), np.full(edges.size, np.nan)
    if not higher_is_better:
        low, high = wilson_band(
            Strata(-strata.values, strata.starts),
            -edges[::-1],
            level=level,
            simultaneous=simultaneous,
        )
        return low[::-1], high[::-1]
    value, expected, n_effective = _effective_runs(strata, edges)
    n_runs = strata.values.size
    if not simultaneous:
        return _ends(value, n_effective, n_runs, _normal_end(1.0 - level))
    multiplier = _multiplier(level, expected, np.unique(edges).size)
    low, high = _ends(value, n_effective, n_runs, multiplier)
    return np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)


def _effective_runs(strata: Strata, tau: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the profile, its smoothed form kept off 0 and 1, and the effective number of runs."""
    shares, runs, n = task_shares(strata, tau, True), strata.counts[:, None], strata.values.size
    smoothed = (runs * shares + PRIOR_RUNS * _next_run(strata, tau, shares)) / (runs + PRIOR_RUNS)
    unbiased = runs * (1.0 - runs / np.square(runs + PRIOR_RUNS))
    of_tasks = (smoothed * (1.0 - smoothed) / unbiased).sum(axis=0)
    variance = of_tasks / strata.n_tasks**2 + 1.0 / n**2
    expected = np.clip(smoothed.mean(axis=0), 1.0 / n, 1.0 - 1.0 / n)
    n_effective = np.maximum(expected * (1.0 - expected) / variance, 1.0)
    return shares.mean(axis=0), expected, n_effective


def _next_run(strata: Strata, tau: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the probability that one more run of each task is above, (tasks, thresholds)."""
    from scipy import special

    finite = np.isfinite(strata.values)
    if not finite.all():
        return _next_run_of_censored(strata, tau, shares, finite)
    variances, dfs = locally_moderated_variances(strata)
    scales = np.sqrt(variances * (1.0 + 1.0 / strata.counts))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = special.stdtr(dfs[:, None], (strata.task_means[:, None] - tau) / scales)
    return np.where(scales > 0.0, chances, shares)


def _next_run_of_censored(
    strata: Strata, tau: FloatArray, shares: FloatArray, finite: npt.NDArray[np.bool_]
) -> FloatArray:
    """Return the same where runs are infinite: those are as likely again as they were."""
    n_finite = np.add.reduceat(finite.astype(np.int64), strata.starts[:-1])
    some = n_finite > 0
    if not some.any():
        return shares
    kept = Strata(strata.values[finite], np.concatenate([[0], np.cumsum(n_finite[some])]))
    among = task_shares(kept, tau, True)
    change = (_next_run(kept, tau, among) - among) * (n_finite / strata.counts)[some, None]
    found = shares.copy()
    found[some] += change
    return found


def _ends(
    value: FloatArray, n_effective: FloatArray, n_runs: int, multiplier: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends around a profile that lie this many standard errors away."""
    n, squared = n_effective, multiplier**2
    half = multiplier * np.sqrt(value * (1.0 - value) / n + squared / (4.0 * n**2))
    middle, scale = value + squared / (2.0 * n), 1.0 + squared / n
    low = np.minimum((middle - half) / scale, _exact_low(value, n_runs, multiplier))
    high = np.maximum((middle + half) / scale, 1.0 - _exact_low(1.0 - value, n_runs, multiplier))
    return np.clip(low, 0.0, value), np.clip(high, value, 1.0)


def _exact_low(value: FloatArray, n_runs: int, multiplier: float) -> FloatArray:
    """Return Clopper and Pearson's lower end where few runs are above, elsewhere the value."""
    from scipy import special

    above = value * n_runs
    few = (above > ROUNDING) & (above <= FEW_RUNS_BEYOND + ROUNDING * n_runs)
    found, tail = value.copy(), special.ndtr(-multiplier)
    found[few] = special.betaincinv(above[few], n_runs - above[few] + 1.0, tail)
    return found


def _multiplier(level: float, expected: FloatArray, n_thresholds: int) -> float:
    """Return how many standard errors the whole curve stays within."""
    tail = 1.0 - level
    least, most = min(float(expected.min()), 0.5), max(float(expected.max()), 0.5)
    length = math.log(most * (1.0 - least) / ((1.0 - most) * least))

    def crossing(c: float) -> float:
        """Return about how likely the curve is to leave c standard errors anywhere."""
        density = math.exp(-c * c / 2.0) / math.sqrt(2.0 * math.pi)
        return density * (4.0 / c + (c - 1.0 / c) * length)

    low, high = 1.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if crossing(middle) > tail else (low, middle)
    return max(min(low, _normal_end(tail / n_thresholds)), _normal_end(tail))


def _normal_end(tails: float) -> float:
    """Return beyond which a normal deviate, either way, lies with this probability."""
    from scipy import special

    return float(-special.ndtri(tails / 2.0))


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
        As in :class:`~gnomon.stats.bootstrap.Resamples`.

    Returns
    -------
    ndarray of float, shape (n_resamples, thresholds)

    Examples
    --------
    >>> found = resampled_profiles([[1.0], [3.0]], [0.0, 2.0], n_resamples=200, key=np.uint64(1))
    >>> found.shape, np.unique(found[:, 1]).tolist()
    ((200, 2), [0.0, 0.5, 1.0])
    """
    strata, edges = as_strata(scores), np.asarray(tau, dtype=np.float64)
    resamples = Resamples(strata, n_resamples=n_resamples, key=key, draw_tasks=draw_tasks)

    def beyond(values: FloatArray) -> npt.NDArray[np.bool_]:
        return values > edges if higher_is_better else values < edges

    if kind == "average_score":
        means = np.concatenate(list(resamples.task_means()))
        return np.asarray(np.mean([beyond(task[:, None]) for task in means.T], axis=0))
    passed = beyond(strata.values[:, None]).astype(np.float64)
    return np.concatenate([weights @ passed for weights in resamples.weights()])


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
