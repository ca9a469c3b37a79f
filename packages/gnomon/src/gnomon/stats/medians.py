"""Intervals of medians: of a median over tasks, and of the median of one sample.

A median over tasks has the profile of its likelihood. Its error comes from the gaps between the
true means near the middle, which no resampling of runs shows. The likelihood of an order statistic
does: the upper end is the highest c for which moving enough tasks up to c costs less log-likelihood
than a chi-square quantile allows. Moving task t to c costs
``((8v+1)/(8v+3))**2 v log(1 + ((c - m)/se)**2/v)``, the squared normal score of a t deviate with v
degrees of freedom (Wallace 1959). The quantile is divided by ``sqrt(1 + n/3)``, n being about how
many tasks lie within a standard error of the median: where many do, their errors average out.
Variances are moderated by those of the tasks nearest in score.

The interval of a difference extends on each side by the root of the two squared distances of the
ends, less twice their product times the correlation of the estimates (Zou and Donner 2008; Zou 2007
for dependent ones). It covers more than its level where the task means are dense.

The median of one sample has the percentile interval of its bootstrap distribution, which needs no
draws: it is known exactly (Maritz and Jarrett 1978; Efron 1979, section 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnomon.scores.columns import IntArray
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import replicates
from gnomon.stats.distributions import normal_quantile
from gnomon.stats.intervals import Interval
from gnomon.stats.metrics import metric_named
from gnomon.stats.strata import Number, Strata

#: Tasks nearest in score whose variances moderate a task's own, the weight of that prior in
#: degrees of freedom, and the factor on it: chosen on nine populations, and varying them by half
#: changes coverage by 3 points at most from three runs on.
WINDOW = 7
PRIOR_DF = 2.0
PRIOR_FACTOR = 0.75
#: Distances from the median, in standard errors of the least certain task, at which the profile is
#: computed; between them it is interpolated, to a relative precision of 1e-4.
OFFSETS = np.concatenate([[0.0], np.geomspace(1e-6, 1e8, 1500)])
#: Normal scores of levels up to 1 - 1e-15.
MOST = 8.0
SCORES = np.linspace(0.0, MOST, 4001)
#: Medians that are held in memory together; has no influence on any number.
MEDIANS = 500_000
#: Pairs of places less likely than this, or this far apart, are left out: together they move no
#: level by 1e-7, since a gap of g ranks has a probability of about exp(-g).
_NEGLIGIBLE, _FARTHEST = 1e-12, 64
#: Rounding of sums of probabilities.
_ROUNDING = 1e-9


def locally_moderated_variances(
    strata: Strata, *, prior_factor: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return the variance of each task's runs with its degrees of freedom, moderated locally.

    The prior is the mean variance of the :data:`WINDOW` tasks nearest in mean, itself among them,
    times a factor, and weighs as much as :data:`PRIOR_DF` degrees of freedom. The scores are
    finite; the variance is 0 where neither the task nor one near it varies.
    """
    own_df = (strata.counts - 1).astype(np.float64)
    own, n = strata.task_variances, own_df.size
    order = np.argsort(strata.task_means, kind="stable")
    width = min(WINDOW, n)
    window = np.clip(np.arange(n) - width // 2, 0, n - width)[:, None] + np.arange(width)
    weights = own_df[order][window].sum(axis=1)
    # Among tasks of a single run there is nothing to go by but all the others.
    overall = own @ own_df / max(float(own_df.sum()), 1.0)
    squares = (own * own_df)[order][window].sum(axis=1)
    prior = np.empty(n)
    prior[order] = prior_factor * np.where(
        weights > 0.0, squares / np.maximum(weights, 1.0), overall
    )
    dfs = PRIOR_DF + own_df
    return (PRIOR_DF * prior + own_df * own) / dfs, dfs


@dataclass(frozen=True, eq=False)
class MedianProfile:
    """How far the median of one algorithm may lie from its estimate, at each normal score.

    `below` and `above` are the distances of the ends at the scores of :data:`SCORES`.
    """

    value: float
    below: FloatArray
    above: FloatArray

    @classmethod
    def of(cls, strata: Strata) -> MedianProfile:
        """Return the profile of finite scores, at least one task with two runs."""
        variances, dfs = locally_moderated_variances(strata, prior_factor=PRIOR_FACTOR)
        means, errors = strata.task_means, np.sqrt(variances / strata.counts)
        value = float(np.median(means))
        scores = (value - means[errors > 0.0]) / errors[errors > 0.0]
        lower = np.array([0.5 * math.erfc(-one / math.sqrt(2.0)) for one in scores.tolist()])
        near = np.sum(lower * (1.0 - lower)) * math.sqrt(math.pi)
        dense = math.sqrt(1.0 + float(near) / 3.0)
        below, above = (_distances(sign * means, errors, dfs, dense) for sign in (-1.0, 1.0))
        return cls(value, below, above)

    def interval(self, level: float) -> Interval:
        """Return the interval at a level."""
        score = normal_quantile(level)
        low, high = (float(np.interp(score, SCORES, side)) for side in (self.below, self.above))
        return Interval(self.value - low, self.value + high, "profile")

    def minus(self, other: MedianProfile, correlation: float = 0.0) -> MedianProfile:
        """Return the profile of the difference of two medians."""

        def combined(a: FloatArray, b: FloatArray) -> FloatArray:
            squares = a * a + b * b - 2.0 * correlation * a * b
            return np.maximum.accumulate(np.sqrt(np.maximum(squares, 0.0)))

        below, above = combined(self.below, other.above), combined(self.above, other.below)
        return MedianProfile(self.value - other.value, below, above)

    def p_value(self) -> float:
        """Return 1 minus the highest level at which the interval excludes zero."""
        from scipy import special

        side = self.below if self.value > 0.0 else self.above
        if side[-1] == 0.0:
            return math.nan
        within = np.searchsorted(side, abs(self.value), "right")
        score = MOST if within == side.size else float(np.interp(abs(self.value), side, SCORES))
        return float(2.0 * special.ndtr(-score))


def _distances(means: FloatArray, errors: FloatArray, dfs: FloatArray, dense: float) -> FloatArray:
    """Return by how much the upper end exceeds the median, at each score."""
    n = means.size
    ordered, step = np.sort(means), float(errors.max())
    found = np.zeros(SCORES.size)
    wallace = np.square((8.0 * dfs + 1.0) / (8.0 * dfs + 3.0)) * dfs
    for rank in {(n - 1) // 2, n // 2}:
        ends = ordered[rank] + step * OFFSETS[:, None]
        lower = means < ends
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            costs = wallace * np.log1p(np.square((ends - means) / errors) / dfs)
        # The tasks for which it costs least are moved, until the rank is reached.
        costs = np.cumsum(np.sort(np.where(lower, costs, np.inf), axis=1), axis=1)
        n_moved = lower.sum(axis=1) - rank
        cost = np.where(n_moved > 0, costs[np.arange(len(costs)), np.maximum(n_moved, 1) - 1], 0.0)
        scores = np.minimum(np.sqrt(dense * cost), 2.0 * MOST)
        distances = np.interp(SCORES, scores, step * OFFSETS)
        if scores[1] >= MOST:  # the task has no error, and cannot be moved
            distances[:] = 0.0
        found += distances / len({(n - 1) // 2, n // 2})
    return found


def paired_correlation(x: Strata, y: Strata, *, n_resamples: int, key: np.uint64) -> float:
    """Return the correlation of two medians whose runs are pairs, 0 if it is negative.

    It is that of resampled pairs, times (R - 1)/R: few pairs show correlation that is not there.
    """
    of_median = [metric_named("median")]
    drawn: npt.NDArray[np.float64] = replicates([x, y], of_median, n_resamples=n_resamples, key=key)
    a, b = drawn[:, 0]
    if a.std() == 0.0 or b.std() == 0.0:
        return 0.0
    runs = 1.0 / float(np.mean(1.0 / x.counts))
    return max(float(np.corrcoef(a, b)[0, 1]), 0.0) * (runs - 1.0) / runs


def median_interval(x: npt.ArrayLike, *, level: float = 0.95) -> tuple[Number, Number, Number]:
    """Return the median of a sample, or of each point of curves, with its percentile interval.

    Parameters
    ----------
    x : array_like of float, shape (runs,) or (runs, points)
        May hold infinite values, which a median can pass. NaN is left out of one sample, and
        refused in curves.
    level : float
        Confidence level, at each point.

    Returns
    -------
    median, low, high : float, or ndarray of float, shape (points,)
        The ends are quantiles of the median over all resamples of the runs. They are infinite where
        more than half of the values are, and NaN for fewer than two runs, which do not show their
        spread; where all runs agree they equal the median, which is NaN for an empty sample.

    Raises
    ------
    ValueError
        `x` has another shape, or curves hold NaN.

    Examples
    --------
    >>> median_interval([5, 1, 4, float("inf"), 2])
    (4.0, 1.0, inf)
    >>> median_interval([[9, 5, 0], [8, 3, 0], [7, 4, 0], [9, 1, 0], [6, 2, 0]])
    (array([8., 3., 0.]), array([6., 1., 0.]), array([9., 5., 0.]))
    """
    x = np.asarray(x, dtype=np.float64)
    if x.ndim == 1:
        middle, low, high = median_interval(x[~np.isnan(x), None], level=level)
        return float(middle[0]), float(low[0]), float(high[0])
    if x.ndim != 2 or np.isnan(x).any():
        raise ValueError(f"expected curves (runs, points) without NaN, found shape {x.shape}")
    n, n_points = x.shape
    empty = np.full(n_points, np.nan)
    if n < 2:
        return (x[0].copy() if n else empty), empty, empty.copy()
    columns = np.sort(x.T, axis=1)
    # Once all have learned, a curve stays as it is, and so does its median.
    is_new = np.append(True, (columns[1:] != columns[:-1]).any(axis=1))[:n_points]
    low, high = _ends(columns[is_new], (1.0 - level) / 2.0)
    which = np.cumsum(is_new) - 1
    middle = _middle(columns[:, (n - 1) // 2], columns[:, n // 2])
    return middle, low[which], high[which]


def _ends(ordered: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Return two quantiles of the resampled median of each row of ascending values."""
    below, above, probability = _places(ordered.shape[1])
    ends = np.empty((2, len(ordered)))
    n_rows = max(1, MEDIANS // probability.size)
    for first in range(0, len(ordered), n_rows):
        rows = ordered[first : first + n_rows]
        medians = _middle(rows[:, below], rows[:, above])
        order = medians.argsort(axis=1)
        up_to = probability[order].cumsum(axis=1)
        for end, share in zip(ends, (tail, 1.0 - tail), strict=True):
            place = (up_to >= share - _ROUNDING).argmax(axis=1)
            at = np.take_along_axis(order, place[:, None], axis=1)
            end[first : first + n_rows] = np.take_along_axis(medians, at, axis=1)[:, 0]
    return ends[0], ends[1]


def _middle(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what lies in the middle between two values, which may be infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(low < high, low / 2.0 + high / 2.0, low)


@lru_cache(maxsize=64)
def _places(n: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the two places, from 0, of the median of a resample of n, and how likely they are.

    The lower one is at place i or before it if at least m = floor((n + 1) / 2) draws are. For even
    n = 2m it is at i and the upper one at j > i if m draws are at i or before it, the last of them
    at i, and m at j or after it, the first of them at j.
    """
    from scipy.special import betainc, gammaln

    m = (n + 1) // 2
    marginal = np.diff(betainc(m, n - m + 1, np.arange(n + 1) / n))
    likely = np.flatnonzero(marginal > _NEGLIGIBLE)
    if n % 2:
        return likely, likely, marginal[likely] / marginal[likely].sum()
    first, distance = (
        grid.ravel() for grid in np.meshgrid(likely, np.arange(1, min(n, _FARTHEST)), indexing="ij")
    )
    below, above = np.stack([first, first + distance])[:, first + distance < n]
    rank = np.arange(1, n + 1)
    with np.errstate(divide="ignore"):
        # log of (i/n)^m - ((i-1)/n)^m, the chance that the largest of m draws is at rank i.
        largest = m * np.log(rank / n) + np.log(-np.expm1(m * np.log1p(-1.0 / rank)))
    ways = gammaln(n + 1) - 2.0 * gammaln(m + 1)
    apart = np.exp(ways + largest[below] + largest[n - 1 - above])
    together = (marginal - np.bincount(below, apart, n))[likely]
    below, above = np.append(likely, below), np.append(likely, above)
    probability = np.append(together, apart)
    kept = probability > _NEGLIGIBLE
    return below[kept], above[kept], probability[kept] / probability[kept].sum()
