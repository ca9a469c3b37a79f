"""The noncentral distribution of Student's t: its noncentrality from a value that was seen."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gnomon.scores.table import FloatArray

#: Nodes of the integral over the standard deviation: exact to 1e-7 from one degree of freedom on.
N_NODES = 160


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

    With few it is SciPy's:

    >>> from scipy.stats import nct
    >>> for df, t, share in ((1.0, -2.0, 0.2), (2.5, 0.7, 0.975), (40.0, 6.0, 0.025)):
    ...     print(round(float(nct.cdf(t, df, noncentrality(t, df, share))), 4))
    0.2
    0.975
    0.025
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

    u, weights = np.polynomial.legendre.leggauss(N_NODES)
    # Squeezed towards the ends, where its quantiles run away.
    share = (1.0 + np.sin(np.pi * u / 2.0)) / 2.0
    weights = weights * np.pi / 4.0 * np.cos(np.pi * u / 2.0)
    return np.sqrt(2.0 * special.gammaincinv(df / 2.0, share) / df), weights
