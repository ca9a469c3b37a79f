"""Differences of two models on the same items: Tango, Bonett and Price, Newcombe, McNemar, t.

Right or wrong, two models make a table of four counts, of which two tell them apart: b items that
only the first solves, and c that only the second does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.items.proportions import normal_quantile, wilson

#: Halvings of the interval in which an end lies: to 1e-15.
N_HALVINGS = 52


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How often both models solve an item, only one of them, or none.

    Parameters
    ----------
    both, only_a, only_b, neither : int
    """

    both: int
    only_a: int
    only_b: int
    neither: int

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray) -> PairCounts:
        """Count scores 0 and 1 of two models on the same items, both of shape (items,).

        Examples
        --------
        >>> PairCounts.of(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
        PairCounts(both=1, only_a=1, only_b=0, neither=1)
        """
        n_a, n_b, both = int(a.sum()), int(b.sum()), int((a * b).sum())
        return cls(both, n_a - both, n_b - both, a.size - n_a - n_b + both)

    @property
    def n(self) -> int:
        """Number of items."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def difference(self) -> float:
        """Share of a less share of b."""
        return (self.only_a - self.only_b) / self.n


def tango(counts: PairCounts, *, level: float = 0.95) -> tuple[float, float]:
    """Return Tango's score interval of a difference of paired proportions.

    All differences that a score test does not reject, the shares of discordant items being their
    most likely ones under each. From 20 items on it covers 94 to 96 %.

    References
    ----------
    Tango (1998), Statistics in Medicine 17:891.

    Examples
    --------
    >>> low, high = tango(PairCounts(43, 0, 1, 0))
    >>> print(f"{low:.4f} {high:.4f}")
    -0.1181 0.0594
    """
    z, seen = normal_quantile(level), counts.difference
    low, high = (-1.0, seen), (seen, 1.0)
    for _ in range(N_HALVINGS):
        middle = (low[0] + low[1]) / 2.0
        low = (low[0], middle) if _score(counts, middle) <= z else (middle, low[1])
        middle = (high[0] + high[1]) / 2.0
        high = (middle, high[1]) if _score(counts, middle) >= -z else (high[0], middle)
    return low[1], high[0]


def _score(counts: PairCounts, delta: float) -> float:
    """Return by how many standard errors, of those under a difference, the seen one exceeds it."""
    n, b, c = counts.n, counts.only_a, counts.only_b
    linear = -b - c + (2 * n - b + c) * delta
    root = math.sqrt(max(linear**2 + 8 * n * c * delta * (1.0 - delta), 0.0))
    share = (root - linear) / (4.0 * n)
    variance = n * (2.0 * share + delta * (1.0 - delta))
    excess = b - c - n * delta
    if variance <= 0.0:
        return math.copysign(math.inf, excess) if excess else 0.0
    return excess / math.sqrt(variance)


def bonett_price(counts: PairCounts, *, level: float = 0.95) -> tuple[float, float]:
    """Return Bonett and Price's interval of a difference of paired proportions, in closed form.

    Wald's, of the items and of one more that only the first solves and one that only the second.

    References
    ----------
    Bonett and Price (2012), Journal of Educational and Behavioral Statistics 37:479.

    Examples
    --------
    >>> low, high = bonett_price(PairCounts(30, 8, 2, 10))
    >>> print(f"{low:.3f} {high:.3f}")
    -0.011 0.242
    """
    n = counts.n + 2
    p, q = (counts.only_a + 1) / n, (counts.only_b + 1) / n
    half = normal_quantile(level) * math.sqrt((p + q - (p - q) ** 2) / n)
    return max(p - q - half, -1.0), min(p - q + half, 1.0)


def newcombe_unpaired(
    p: npt.ArrayLike, n: npt.ArrayLike, q: npt.ArrayLike, m: npt.ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Newcombe's interval of a difference of independent proportions (his method 10).

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:873.

    Examples
    --------
    >>> low, high = newcombe_unpaired(56 / 70, 70, 48 / 80, 80)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0524 0.3339
    """
    return _square_and_add(p, n, q, m, np.asarray(0.0), level)


def newcombe_paired(counts: PairCounts, *, level: float = 0.95) -> tuple[float, float]:
    """Return Newcombe's interval of a difference of paired proportions (his method 10).

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:2635.

    Examples
    --------
    >>> low, high = newcombe_paired(PairCounts(36, 12, 2, 0))
    >>> print(f"{low:.4f} {high:.4f}")
    0.0569 0.3404
    """
    e, f, g, h, n = counts.both, counts.only_a, counts.only_b, counts.neither, counts.n
    margins = (e + f) * (g + h) * (e + g) * (f + h)
    excess = float(e * h - f * g)
    if excess > 0.0:
        excess = max(excess - n / 2.0, 0.0)
    phi = excess / math.sqrt(margins) if margins else 0.0
    low, high = _square_and_add((e + f) / n, n, (e + g) / n, n, np.asarray(phi), level)
    return float(low), float(high)


def _square_and_add(
    p: npt.ArrayLike,
    n: npt.ArrayLike,
    q: npt.ArrayLike,
    m: npt.ArrayLike,
    phi: FloatArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of a difference from Wilson's of both, correlated as their scores are."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    (low_p, high_p), (low_q, high_q) = wilson(p, n, level=level), wilson(q, m, level=level)
    down_p, up_p, down_q, up_q = p - low_p, high_p - p, q - low_q, high_q - q
    below = np.square(down_p) - 2.0 * phi * down_p * up_q + np.square(up_q)
    above = np.square(up_p) - 2.0 * phi * up_p * down_q + np.square(down_q)
    return p - q - np.sqrt(below), p - q + np.sqrt(above)


def mcnemar(only_a: int, only_b: int, *, mid: bool = True) -> float:
    """Return the p-value of McNemar's exact test: that two models solve equally many items.

    Two-sided, from the binomial distribution of the items that one of them alone solves.

    Parameters
    ----------
    only_a, only_b : int
    mid : bool
        Whether what was seen counts one half (mid-p): the exact test errs in 1 to 4 % at level 5 %,
        the mid-p in 2 to 5 and at most 6. Of equal counts it is 1, where Fagerland and others take
        one half of what was seen away: no level that is tested is near.

    References
    ----------
    McNemar (1947), Psychometrika 12:153. Fagerland, Lydersen and Laake (2013), BMC Medical Research
    Methodology 13:91.

    Examples
    --------
    >>> print(f"{mcnemar(1, 6):.4f} {mcnemar(1, 6, mid=False):.4f}")
    0.0703 0.1250
    """
    from scipy.special import bdtr, gammaln

    n, least = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    tail = 2.0 * float(bdtr(least, n, 0.5))
    if mid:
        logs = gammaln(n + 1) - gammaln(least + 1) - gammaln(n - least + 1) - n * math.log(2.0)
        # Twice one half of what was seen; where both counts are equal it stands on both sides.
        tail -= math.exp(logs)
    return min(tail, 1.0)
