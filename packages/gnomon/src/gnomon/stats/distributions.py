"""Quantiles and tails that every estimate needs, without SciPy, which takes 0.2 s to load.

Equal to `scipy.special` to 1e-12.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

#: Terms of a continued fraction at most: enough for 1e6 degrees of freedom.
MOST_TERMS = 10_000


def normal_quantile(level: float) -> float:
    """Return the half width of a two-sided normal interval, in standard errors."""
    return NormalDist().inv_cdf((1.0 + level) / 2.0)


@lru_cache(maxsize=1024)
def student_quantile(level: float, df: float) -> float:
    """Return the half width of a two-sided Student interval, in estimated standard errors."""
    if math.isnan(df):
        return math.nan
    # Newton's method from the normal quantile, which lies below: the tail is convex.
    t, wanted = normal_quantile(level), 1.0 - level
    if math.isinf(df):
        return t
    for _ in range(200):
        log_density = _log_student_constant(df) - (df + 1.0) / 2.0 * math.log1p(t * t / df)
        step = (_student_tails(t, df) - wanted) / (2.0 * math.exp(log_density))
        t += step
        if abs(step) <= 1e-14 * t:
            break
    return t


def chi_squared_tail(statistic: float, df: int) -> float:
    """Return the probability that chi squared with whole degrees of freedom exceeds a value."""
    if statistic <= 0.0:
        return 1.0
    half = statistic / 2.0
    tail = math.exp(-half) if df % 2 == 0 else math.erfc(math.sqrt(half))
    for k in range(2 - df % 2, df, 2):
        tail += math.exp(k / 2.0 * math.log(half) - half - math.lgamma(k / 2.0 + 1.0))
    return tail


def _log_student_constant(df: float) -> float:
    """Return the logarithm of Student's density at zero."""
    a = df / 2.0
    if a < 100.0:
        ratio = math.lgamma(a + 0.5) - math.lgamma(a)
    else:  # the difference of two large numbers, by its asymptotic series
        ratio = 0.5 * math.log(a) - 1.0 / (8.0 * a) + 1.0 / (192.0 * a**3) - 1.0 / (640.0 * a**5)
    return ratio - 0.5 * math.log(math.pi * df)


def _student_tails(t: float, df: float) -> float:
    """Return the probability of values beyond t, on both sides."""
    a, x, y = df / 2.0, df / (df + t * t), t * t / (df + t * t)
    # Of the incomplete beta function at x, x**a * sqrt(y) / B(a, 1/2).
    log_x = math.log(x) if x < 0.5 else math.log1p(-y)
    log_front = _log_student_constant(df) + 0.5 * math.log(df * y) + a * log_x
    if x < (a + 1.0) / (a + 2.5):
        return math.exp(log_front) * _beta_fraction(a, 0.5, x) / a
    return 1.0 - math.exp(log_front) * _beta_fraction(0.5, a, y) / 0.5


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz's method)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d or tiny)
    found = d
    for m in range(1, MOST_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 / ((1.0 + term * d) or tiny)
            c = (1.0 + term / c) or tiny
            found *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return found
