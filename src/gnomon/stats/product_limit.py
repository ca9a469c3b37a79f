"""Product-limit estimate (Kaplan and Meier) of censored times, with intervals and the median.

A person who did not master a rule in forty attempts has a time above forty. Such a time is
*censored*: to leave it out makes the rest look fast, and to put a number in its place makes one up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

_Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CensoredTimes:
    """The distribution of times of which some are censored.

    Parameters
    ----------
    times : numpy.ndarray of float, shape (n_steps,)
        The different finite times, also those of censored ones, rising.
    share : numpy.ndarray of float, shape (n_steps,)
        Estimated share of all whose time is at most that; it holds until the next of `times`.
    low, high : numpy.ndarray of float, shape (n_steps,)
        Ends of the pointwise interval of the share between that time and the next.
    n, n_observed : int
        How many times, and how many of them are not censored.
    median, median_low, median_high : float
        The first time at which half are through, with its interval; infinite where the data do not
        reach so far. The lower end may be the time of a censored one.

    Examples
    --------
    >>> found = censored_times([3, 8, 5, 9], [True, True, False, True])
    >>> found.times, found.share.round(3), found.median
    (array([3., 5., 8., 9.]), array([0.25 , 0.25 , 0.625, 1.   ]), 8.0)
    """

    times: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    n: int
    n_observed: int
    median: float
    median_low: float
    median_high: float


def censored_times(
    times: npt.ArrayLike, observed: npt.ArrayLike, *, level: float = 0.95
) -> CensoredTimes:
    r"""Estimate a distribution of times by Kaplan and Meier's product limit.

    With :math:`Y_i` at risk and :math:`d_i` events at the i-th time, the share that is not through
    is :math:`\prod (1 - d_i / Y_i)`. Its interval is that of the beta product: the share behaves as
    a product of Beta variables, one for each event, whose first two moments those of one Beta
    variable are given; its ends are those of Clopper and Pearson where nothing is censored before.

    Parameters
    ----------
    times : array_like of float, shape (n,)
        Times, at least 0; of a censored one, how long it was at least. Infinite is allowed there.
    observed : array_like of bool, shape (n,)
        Whether a time is observed rather than censored.
    level : float
        Confidence level of the intervals, between 0 and 1.

    Returns
    -------
    CensoredTimes
        Without times if all of them are infinite.

    Raises
    ------
    ValueError
        There is no time, one is NaN, or an observed one is infinite.

    References
    ----------
    Kaplan and Meier (1958), J. Am. Stat. Assoc. 53; Fay, Brittain and Proschan (2013),
    Biostatistics 14:723, the method of moments; Brookmeyer and Crowley (1982), Biometrics 38, for
    the interval of the median.

    Examples
    --------
    >>> found = censored_times([1, 2, 3, 4, 5, 6, 7, 8], [True] * 8)
    >>> found.median, found.median_low, found.median_high
    (4.0, 1.0, 8.0)
    """
    t, seen = np.asarray(times, dtype=np.float64), np.asarray(observed, dtype=np.bool_)
    if t.ndim != 1 or not t.size or t.shape != seen.shape:
        raise ValueError("expected at least one time, and of each whether it was observed")
    if np.isnan(t).any() or np.isinf(t[seen]).any():
        raise ValueError("expected times, infinite at most where censored")
    steps = np.unique(t[np.isfinite(t)])
    events = (t[seen, None] == steps).sum(axis=0)
    at_risk, after = (t[:, None] >= steps).sum(axis=0), (t[:, None] > steps).sum(axis=0)
    left = np.cumprod(1.0 - events / at_risk)
    moments, tail = _beta_product(events, at_risk), 0.5 - level / 2.0
    # At the latest, the next event comes at once: one more Beta(Y, 1).
    low = _beta_quantile(moments * [after / (after + 1), after / (after + 2)], tail)
    high = _beta_quantile(moments, 1.0 - tail)
    return CensoredTimes(
        steps,
        1.0 - left,
        1.0 - high,
        1.0 - low,
        t.size,
        int(seen.sum()),
        _first(steps, left <= 0.5 + 1e-12),
        # With very few, half may be through before the first time.
        _first(steps, low <= 0.5) if tail ** (1.0 / t.size) > 0.5 else 0.0,
        _first(steps, high < 0.5),
    )


def _first(steps: FloatArray, there: npt.NDArray[np.bool_]) -> float:
    return float(steps[np.argmax(there)]) if there.any() else float("inf")


def _beta_product(events: _Counts, at_risk: _Counts) -> FloatArray:
    """Return mean and mean square of the share that is not through, shape (2, n_times)."""
    # Beta(Y - d + 1, d): the Beta variables of d events one by one make this product.
    a, size = at_risk - events + 1.0, at_risk + 1.0
    return np.cumprod([a / size, a * (a + 1.0) / (size * (size + 1.0))], axis=1)


def _beta_quantile(moments: FloatArray, q: float) -> FloatArray:
    """Return the quantile of the Beta distribution with a mean and a mean square."""
    from scipy.special import betaincinv

    mean, square = moments
    # Before the first event it is 1 for certain, and 0 is possible when nobody is left.
    found, varies = mean.copy(), square > mean * mean
    mean, square = mean[varies], square[varies]
    size = (mean - square) / (square - mean * mean)
    found[varies] = betaincinv(mean * size, (1.0 - mean) * size, q)
    return np.asarray(found)
