"""Times that are known to be long, but not how long: Kaplan and Meier's estimate, and medians.

A person who did not master a rule in forty attempts has a time above forty. Such a time is
*censored*: to leave it out makes the rest look fast, and to put a number in its place makes one up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class CensoredTimes:
    """The distribution of times of which some are censored.

    Parameters
    ----------
    times : numpy.ndarray of float, shape (n_steps,)
        The different times that were observed, rising.
    share : numpy.ndarray of float, shape (n_steps,)
        Estimated share of all whose time is at most that.
    low, high : numpy.ndarray of float, shape (n_steps,)
        Ends of the pointwise interval of the share.
    n, n_observed : int
        How many times, and how many of them are not censored.
    median, median_low, median_high : float
        The first time at which half are through, with its interval; infinite where the data do not
        reach so far.

    Examples
    --------
    >>> found = censored_times([3, 8, 5, 9], [True, True, False, True])
    >>> found.times, found.share.round(3), found.median
    (array([3., 8., 9.]), array([0.25 , 0.625, 1.   ]), 8.0)
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
        Without steps if everything is censored.

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
    steps, events = np.unique(t[seen], return_counts=True)
    at_risk = (t[:, None] >= steps).sum(axis=0)
    # Whoever is censored at the very time of an event was still at risk there.
    after = (t[:, None] > steps).sum(axis=0) + ((t[:, None] == steps) & ~seen[:, None]).sum(axis=0)
    left = np.cumprod(1.0 - events / at_risk)
    low, high = _beta_product(events, at_risk, after, level)
    first = 1.0 - np.power(0.5 - level / 2.0, 1.0 / t.size)
    return CensoredTimes(
        steps,
        1.0 - left,
        1.0 - high,
        1.0 - low,
        t.size,
        int(seen.sum()),
        _first(steps, left <= 0.5 + 1e-12),
        # With very few, half may be through before the first event.
        _first(steps, low <= 0.5) if first < 0.5 else 0.0,
        _first(steps, high < 0.5),
    )


def _first(steps: FloatArray, there: npt.NDArray[np.bool_]) -> float:
    return float(steps[np.argmax(there)]) if there.any() else float("inf")


def _beta_product(
    events: npt.NDArray[np.int64],
    at_risk: npt.NDArray[np.int64],
    after: npt.NDArray[np.int64],
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval of the share that is not through, after each event."""
    from scipy.special import betaincinv

    tail = (1.0 - level) / 2.0
    # Beta(Y - d + 1, d): the Beta variables of d events one by one make this product.
    b = events.astype(np.float64)
    a = at_risk.astype(np.float64) - b + 1.0
    mean = np.asarray(np.cumprod(a / (a + b)), dtype=np.float64)
    ratio = a * (a + 1.0) / ((a + b) * (a + b + 1.0))
    square = np.asarray(np.cumprod(ratio), dtype=np.float64)
    high = betaincinv(*_moments(mean, square), 1.0 - tail)
    # At the latest, the next event comes at once: one more Beta(Y, 1).
    low = np.zeros(mean.size)
    some = after > 0
    more, mean, square = after[some].astype(np.float64), mean[some], square[some]
    low[some] = betaincinv(*_moments(mean * more / (more + 1), square * more / (more + 2)), tail)
    return low, np.asarray(high)


def _moments(mean: FloatArray, square: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the parameters of the Beta distribution with a mean and a mean square."""
    size = (mean - square) / (square - mean * mean)
    return np.asarray(mean * size), np.asarray((1.0 - mean) * size)
