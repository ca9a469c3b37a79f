"""The bootstrap distribution of a median, exactly: no draws, no Monte Carlo error.

The median of a resample is one value of the sample, or the mean of two, and how likely each two
are depends on the number of values alone (Maritz and Jarrett 1978; Efron 1979, section 3).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

_Ints = npt.NDArray[np.int64]

#: Medians that are held in memory together; has no influence on any number.
BLOCK = 500_000
#: Pairs of places less likely than this are left out: together they move no level by 1e-7.
_NEGLIGIBLE = 1e-12
#: And so are those this far apart: a gap of g ranks has probability exp(-g) or so.
_FARTHEST = 64
#: What sums of probabilities may be off by.
_ROUNDING = 1e-9


def median_interval(x: npt.ArrayLike, *, level: float = 0.95) -> tuple[float, float, float]:
    """Return the median of one sample with its bootstrap percentile interval.

    Parameters
    ----------
    x : array_like of float, shape (runs,)
        May hold infinite values, which a median can pass; NaN is left out.
    level : float
        Confidence level.

    Returns
    -------
    median, low, high : float
        Infinite where more than half of the values are; all NaN for an empty sample, and the ends
        NaN for a single value, which says nothing about its spread.

    Examples
    --------
    >>> median_interval([5, 1, 4, float("inf"), 2])
    (4.0, 1.0, inf)
    """
    sample = np.asarray(x, dtype=np.float64).ravel()
    middle, low, high = median_curve(sample[~np.isnan(sample), None], level=level)
    return float(middle[0]), float(low[0]), float(high[0])


def median_curve(
    curves: npt.ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the median curve of several trials with a pointwise bootstrap percentile band.

    Parameters
    ----------
    curves : array_like of float, shape (trials, points)
        May hold infinite values, not NaN.
    level : float
        Confidence level at each point.

    Returns
    -------
    median, low, high : ndarray of float, shape (points,)
        The ends are quantiles of the median over all resamples of the trials. They are NaN for
        fewer than two trials; where all trials agree they equal the median.

    Raises
    ------
    ValueError
        `curves` has another shape or holds NaN.

    Examples
    --------
    >>> median_curve([[9, 5, 0], [8, 3, 0], [7, 4, 0], [9, 1, 0], [6, 2, 0]])
    (array([8., 3., 0.]), array([6., 1., 0.]), array([9., 5., 0.]))
    """
    x = np.asarray(curves, dtype=np.float64)
    if x.ndim != 2 or np.isnan(x).any():
        raise ValueError(f"expected curves (trials, points) without NaN, found shape {x.shape}")
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
    n_rows = max(1, BLOCK // probability.size)
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
def _places(n: int) -> tuple[_Ints, _Ints, FloatArray]:
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
