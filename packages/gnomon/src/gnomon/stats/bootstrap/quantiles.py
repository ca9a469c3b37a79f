"""Quantiles of resamples, with infinities and with what the draws do to them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray


def quantiles(replicates: FloatArray, probabilities: npt.ArrayLike) -> FloatArray:
    """Return quantiles along the first axis, as `numpy.quantile` (linear) but fit for infinities.

    Parameters
    ----------
    replicates : ndarray of float, shape (n, ...)
    probabilities : array_like of float, shape (k,)

    Returns
    -------
    ndarray of float, shape (k, ...)
        NaN where a replicate is NaN.

    Examples
    --------
    >>> quantiles(np.array([1.0, 2.0, 3.0, np.inf]), [0.5, 1.0])
    array([2.5, inf])
    """
    at = np.asarray(probabilities, dtype=np.float64) * (replicates.shape[0] - 1)
    below = np.floor(at).astype(np.int64)
    above = np.ceil(at).astype(np.int64)
    # The last place is sorted too, since NaN goes there.
    wanted = np.unique(np.concatenate([below, above, [replicates.shape[0] - 1]]))
    ordered = np.partition(replicates, wanted, axis=0)
    low, high = ordered[below], ordered[above]
    share = (at - below).reshape(-1, *[1] * (replicates.ndim - 1))
    with np.errstate(invalid="ignore"):
        mixed = np.where((low == high) | (share == 0.0), low, low + share * (high - low))
    return np.where(np.isnan(ordered[-1]), np.nan, mixed)


def percentile_interval(
    replicates: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the ends of the percentile interval and their Monte Carlo error.

    Parameters
    ----------
    replicates : ndarray of float, shape (n_resamples, ...)
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    low, high, mc_error : ndarray of float, shape (...)
        As in :func:`quantile_ends`.

    Examples
    --------
    >>> low, high, _ = percentile_interval(np.arange(101.0), 0.9)
    >>> round(float(low), 9), round(float(high), 9)
    (5.0, 95.0)
    """
    tail = (1.0 - level) / 2.0
    return quantile_ends(replicates, tail, 1.0 - tail)


def quantile_ends(
    replicates: FloatArray, lower: float, upper: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return two quantiles along the first axis and the Monte Carlo error of the worse one.

    The error is about one standard deviation over repetitions with other draws: half of what the
    quantile moves when its probability moves by one binomial standard error either way.
    """
    probabilities = [lower, upper]
    for p in (lower, upper):
        spread = np.sqrt(p * (1.0 - p) / replicates.shape[0])
        probabilities += [max(p - spread, 0.0), min(p + spread, 1.0)]
    low, high, low_a, low_b, high_a, high_b = quantiles(replicates, probabilities)
    with np.errstate(invalid="ignore"):
        mc_error = np.maximum(low_b - low_a, high_b - high_a) / 2.0
    return low, high, np.where(np.isfinite(mc_error), mc_error, np.nan)
