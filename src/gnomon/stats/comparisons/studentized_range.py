"""Distributions over an estimated standard deviation: studentized range, noncentral Student's t.

The studentized range is the widest difference of k independent normal means over a standard
deviation with its own chi-square error (Games and Howell 1976 use it where variances differ, with
Satterthwaite's degrees of freedom for each pair).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from gnomon.scores.table import FloatArray

#: Nodes of the two integrals, over the lowest mean and over the standard deviation: exact to 1e-7
#: from one degree of freedom on, in a twentieth of the time that SciPy takes for a quantile.
N_NODES = (96, 160)


def range_cdf(q: float, n_means: int, df: float) -> float:
    """Return the probability that the studentized range of some means is at most q.

    Parameters
    ----------
    q : float
        From 0 on.
    n_means : int
        Number of means, at least 2.
    df : float
        Degrees of freedom of the standard deviation, at least 1.

    Examples
    --------
    For two means it is Student's t, times the square root of 2:

    >>> round(range_cdf(2.776 * math.sqrt(2), 2, 4.0), 3)
    0.95
    """
    from scipy import special

    deviations, weights = _deviations(df)
    z, dz = _nodes(N_NODES[0])
    z, dz = 9.0 * z, 9.0 * dz  # of the highest mean
    density = n_means * np.exp(-np.square(z) / 2.0) / math.sqrt(2.0 * math.pi) * dz
    inside = special.ndtr(z) - special.ndtr(z - q * deviations[:, None])
    return float(weights @ (np.power(inside, n_means - 1) @ density))


def range_quantile(level: float, n_means: int, df: float) -> float:
    """Return the value that the studentized range stays below with a probability.

    Parameters
    ----------
    level : float
        The probability, between 0 and 1.
    n_means, df
        As in :func:`range_cdf`.

    Examples
    --------
    >>> round(range_quantile(0.95, 3, 10.0), 3)
    3.877
    """
    from scipy import optimize

    high = 4.0
    while range_cdf(high, n_means, df) < level:
        high *= 2.0
    root = optimize.brentq(lambda q: range_cdf(q, n_means, df) - level, 0.0, high, xtol=1e-9)
    return float(root)


def noncentrality(t: float, df: float, share: float) -> float:
    """Return the noncentrality at which that share of Student's t values lies below `t`.

    It is a confidence limit of a difference in units of its standard error, from the t that was
    seen: the lower one for a share near 1, the upper one for a share near 0.

    Parameters
    ----------
    t, df : float
        Student's t and its degrees of freedom.
    share : float
        Between 0 and 1.

    Examples
    --------
    With many degrees of freedom it is the normal one:

    >>> round(noncentrality(3.0, 1e6, 0.975), 2)
    1.04
    """
    from scipy import optimize, special

    deviations, weights = _deviations(df)

    def excess(center: float) -> float:
        return float(weights @ special.ndtr(t * deviations - center)) - share

    reach = abs(t) * float(deviations.max()) + 10.0
    return float(optimize.brentq(excess, -reach, reach, xtol=1e-9))


@lru_cache(maxsize=64)
def _deviations(df: float) -> tuple[FloatArray, FloatArray]:
    """Return values of the standard deviation, and their probabilities."""
    from scipy import special

    u, weights = _nodes(N_NODES[1])
    # Squeezed towards the ends, where its quantiles run away.
    share = (1.0 + np.sin(np.pi * u / 2.0)) / 2.0
    weights = weights * np.pi / 4.0 * np.cos(np.pi * u / 2.0)
    return np.sqrt(2.0 * special.gammaincinv(df / 2.0, share) / df), weights


@lru_cache(maxsize=2)
def _nodes(n: int) -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(n)
