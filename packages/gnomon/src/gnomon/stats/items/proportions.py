"""Intervals of one proportion: Wilson, Jeffreys, Clopper-Pearson, and Wilson's of graded items.

By exact enumeration over shares from .02 to .98 Wilson's interval covers 95.3 % on average with 20
items (least 91), 95.2 % with 50 (92); Student's t 89 % (33) and 93 % (64).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

#: A graded share has at most the precision of so many right-or-wrong samples for each that it has.
MOST_PRECISION = 4.0


def normal_quantile(level: float) -> float:
    """Return the number of standard errors of a two-sided interval.

    Examples
    --------
    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri((1.0 + level) / 2.0))


def student_quantile(level: float, df: float) -> float:
    """Return the number of estimated standard errors of a two-sided interval, by Student's t.

    Examples
    --------
    >>> round(student_quantile(0.95, 4), 3)
    2.776
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, (1.0 + level) / 2.0))


def wilson(
    share: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    level: float = 0.95,
    critical: npt.ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval of a proportion.

    Parameters
    ----------
    share : array_like of float
        Proportions, between 0 and 1.
    n : array_like of float
        Number of observations of each, above 0; need not be whole.
    level : float
        Confidence level.
    critical : array_like of float, optional
        Number of standard errors; the normal distribution's if not given.

    Returns
    -------
    low, high : ndarray of float
        Between 0 and 1, with the share inside.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22:209.

    Examples
    --------
    >>> low, high = wilson(0.4, 20)
    >>> print(f"{low:.3f} {high:.3f}")
    0.219 0.613
    """
    p, n = np.asarray(share, dtype=np.float64), np.asarray(n, dtype=np.float64)
    c = np.asarray(normal_quantile(level) if critical is None else critical)
    square = np.square(c) / n
    center = p + square / 2.0
    half = c * np.sqrt(p * (1.0 - p) / n + square / (4.0 * n))
    ends = (center - half) / (1.0 + square), (center + half) / (1.0 + square)
    return np.clip(ends[0], 0.0, p), np.clip(ends[1], p, 1.0)


def jeffreys(
    successes: npt.ArrayLike, n: npt.ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the equal-tailed interval of a proportion's Beta distribution, from Jeffreys' prior.

    An end at which there is no failure, or no success, is 1 or 0.

    Parameters
    ----------
    successes, n : array_like of float
    level : float

    References
    ----------
    Brown, Cai and DasGupta (2001), Statistical Science 16:101.

    Examples
    --------
    >>> low, high = jeffreys(8, 20)
    >>> print(f"{low:.3f} {high:.3f}")
    0.211 0.616
    """
    return _beta_interval(successes, n, level, near=0.5, far=0.5)


def clopper_pearson(
    successes: npt.ArrayLike, n: npt.ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact interval of a proportion, which never covers less than its level.

    For claims such as "at least": it is wider than it need be, 98 % with 20 items.

    Parameters
    ----------
    successes, n : array_like of float
    level : float

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26:404.

    Examples
    --------
    >>> low, high = clopper_pearson(8, 20)
    >>> print(f"{low:.3f} {high:.3f}")
    0.191 0.639
    """
    return _beta_interval(successes, n, level, near=0.0, far=1.0)


def _beta_interval(
    successes: npt.ArrayLike, n: npt.ArrayLike, level: float, *, near: float, far: float
) -> tuple[FloatArray, FloatArray]:
    """Return quantiles of Beta(x + near, n - x + far) and of Beta(x + far, n - x + near)."""
    from scipy.special import betaincinv

    x, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = (1.0 - level) / 2.0
    # The Beta distribution has no parameter 0: there the end is that of the scale.
    low = np.where(x <= 0.0, 0.0, betaincinv(np.maximum(x + near, 0.5), n - x + far, tail))
    high = np.where(x >= n, 1.0, betaincinv(x + far, np.maximum(n - x + near, 0.5), 1.0 - tail))
    return low, high


@dataclass(frozen=True, slots=True)
class EffectiveShare:
    """A mean of scores between 0 and 1, with Wilson's interval at an effective number of items.

    Parameters
    ----------
    value, low, high : float
    n_effective : float
        How many right-or-wrong items would give a share of that precision.
    """

    value: float
    low: float
    high: float
    n_effective: float


def effective_wilson(
    value: float,
    variance: float,
    n: int,
    *,
    df: float,
    level: float = 0.95,
    n_samples: int | None = None,
    weight: float = 1.0,
    least: float | None = None,
) -> EffectiveShare:
    """Return Wilson's interval of a mean of scores in [0, 1], at an effective number of items.

    The variance is that of the items with one more that is right and one that is wrong (so that
    items that are all right do not give an interval without width); the effective number of items
    is that at which a plain share has it (Korn and Graubard 1998).

    Parameters
    ----------
    value : float
        Mean over items.
    variance : float
        Its estimated variance.
    n : int
        Number of items.
    df : float
        Degrees of freedom of the variance: one less than items, or of clusters fewer.
    level : float
    n_samples : int, optional
        Samples of all items together, `n` if not given: more than 4 times that is not believed.
    weight : float
        How many items the right one and the wrong one count for, each.
    least : float, optional
        The least effective number, `n` if not given.

    References
    ----------
    Korn and Graubard (1998), Survey Methodology 24:193.

    Examples
    --------
    >>> y = np.array([1.0, 0.8, 0.6, 1.0, 0.4] * 6)
    >>> found = effective_wilson(y.mean(), y.var(ddof=1) / 30, 30, df=29, n_samples=150)
    >>> print(f"{found.value:.2f} [{found.low:.3f}, {found.high:.3f}]")
    0.76 [0.652, 0.843]
    """
    p = (n * value + weight) / (n + 2.0 * weight)
    added = np.square(weight) * (np.square(1.0 - p) + np.square(p))
    squares = (n - 1.0) * n * variance + added
    found = p * (1.0 - p) * n * (n + 2.0 * weight) / squares
    most = MOST_PRECISION * (n if n_samples is None else n_samples)
    n_effective = float(np.clip(found, n if least is None else least, most))
    low, high = wilson(value, n_effective, critical=student_quantile(level, df))
    return EffectiveShare(value, float(low), float(high), n_effective)
