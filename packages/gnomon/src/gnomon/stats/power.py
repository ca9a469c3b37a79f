"""The power of t tests, and confidence limits of the difference that a pilot shows."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from gnomon.scores.table import FloatArray

#: Nodes of an integral over the standard deviation: exact to 1e-7 from one degree of freedom on.
N_NODES = 160


def power_of_t(noncentralities: FloatArray, df: float, level: float) -> FloatArray:
    """Return the power of the two-sided t test for differences in units of their standard error.

    At no difference it is the error of the test, 1 - level.
    """
    from scipy import special

    deviations, weights = _deviations(df)
    centers = noncentralities[:, None]
    beyond = float(special.stdtrit(df, (1.0 + level) / 2.0)) * deviations
    chances = special.ndtr(centers - beyond) + special.ndtr(-centers - beyond)
    return np.asarray(np.clip(chances @ weights, 0.0, 1.0))


def noncentrality(t: float, df: float, share: float) -> float:
    """Return the noncentrality at which that share of Student's t values lies below `t`.

    It is a confidence limit of a difference in units of its standard error, from the t that was
    seen: the lower one for a share near 1, the upper one for a share near 0.
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

    u, weights = _nodes()
    # Squeezed towards the ends, where its quantiles run away.
    share = (1.0 + np.sin(np.pi * u / 2.0)) / 2.0
    weights = weights * np.pi / 4.0 * np.cos(np.pi * u / 2.0)
    return np.sqrt(2.0 * special.gammaincinv(df / 2.0, share) / df), weights


@cache
def _nodes() -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of Gauss and Legendre, which take a fifth of a second."""
    return np.polynomial.legendre.leggauss(N_NODES)
