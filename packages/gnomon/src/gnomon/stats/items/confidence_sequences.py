"""Confidence sequence of a paired difference, by betting: valid at every look, whenever one stops.

Somebody who believes that the mean difference is delta bets on each item before it is seen, and at
fair odds: what is won is a martingale, so that the chance that it ever grows beyond 1 / alpha is at
most alpha (Ville 1939). The differences not refuted so far are the confidence sequence; what is won
against "no difference" is the e-value. The stake on each item is that of the greatest expected
growth under what was seen before it (approximate GRAPA of Waudby-Smith and Ramdas 2024), at most
half of what may be lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.scores.table import FloatArray

#: The largest stake, as a share of what would lose all.
MOST_STAKE = 0.5
#: The largest difference that is tried.
LARGEST = 1.0 - 1e-9
#: Halvings in the search for an end, to 1e-9.
N_HALVINGS = 31


@dataclass(frozen=True)
class ConfidenceSequence:
    """Bets on differences as they arrive.

    Parameters
    ----------
    x : ndarray of float, shape (n,)
        Differences in the order in which they came, each between minus its weight and its weight.
    weight : ndarray of float, shape (n,)
        Between 0 and 1: 1 for an item; of clusters, their size over that of the largest. The mean
        is that of all items: sum of `x` over sum of `weight`.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Journal of the Royal Statistical Society B 86:1.

    Examples
    --------
    >>> x = np.tile([1.0, 0.0, 1.0, -1.0, 0.0], 30)
    >>> bets = ConfidenceSequence(x, np.ones(x.size))
    >>> print(np.round(bets.interval(0.95), 2), bets.first_beyond(20.0))
    [0.01 0.39] 138
    """

    x: FloatArray
    weight: FloatArray

    @cached_property
    def _seen(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what was known before each: mean difference, its square's mean, mean weight."""
        # One item of either sign before the first keeps stakes low while little is known.
        n = np.arange(1.0, self.x.size + 1.0)
        weight = np.concatenate([[1.0], np.cumsum(self.weight)[:-1] + 1.0])
        mean = np.concatenate([[0.0], np.cumsum(self.x)[:-1]]) / weight
        square = np.concatenate([[1.0], np.cumsum(np.square(self.x))[:-1] + 1.0])
        return mean, square / n, weight / n

    def log_wealth(self, delta: float = 0.0) -> FloatArray:
        """Return the logarithm of what was won against a difference, after each item.

        Parameters
        ----------
        delta : float
            Between -1 and 1, and neither of them.
        """
        mean, square, weight = self._seen
        # Of x - delta * weight: first and second moment as they were before the item.
        first = (mean - delta) * weight
        second = square - 2.0 * delta * mean * weight**2 + (delta * weight) ** 2
        stake = first / np.maximum(second, first**2)
        stake = np.clip(stake, -MOST_STAKE / (1.0 - delta), MOST_STAKE / (1.0 + delta))
        return np.cumsum(np.log1p(stake * (self.x - delta * self.weight)))

    def e_value(self, n: int | None = None) -> float:
        """Return what was won against no difference after `n` items, all if not given."""
        wealth = self.log_wealth()[: self.x.size if n is None else n]
        return math.exp(min(float(wealth[-1]), 700.0))

    def p_value(self, n: int | None = None) -> float:
        """Return the p-value that holds at every look: one over the most that was won so far."""
        wealth = self.log_wealth()[: self.x.size if n is None else n]
        return math.exp(-max(float(wealth.max()), 0.0))

    def first_beyond(self, most: float) -> int | None:
        """Return after how many items that much was won against no difference; None if never."""
        beyond = np.flatnonzero(self.log_wealth() >= math.log(most))
        return int(beyond[0]) + 1 if beyond.size else None

    def interval(self, level: float, n: int | None = None) -> tuple[float, float]:
        """Return the differences that no look at the first `n` items has refuted."""
        part = self if n is None else ConfidenceSequence(self.x[:n], self.weight[:n])
        # A difference of 1 or -1 itself leaves nothing to bet on.
        seen = float(np.clip(part.x.sum() / part.weight.sum(), -LARGEST, LARGEST))
        return part._end(seen, -1.0, level), part._end(seen, 1.0, level)

    def _end(self, inside: float, outside: float, level: float) -> float:
        """Return where differences begin to be refuted, from one that is not towards a bound."""
        limit = -math.log(1.0 - level)

        def refuted(delta: float) -> bool:
            return bool(self.log_wealth(delta).max() >= limit)

        if not refuted(outside * LARGEST):
            return outside
        if refuted(inside):
            return inside
        for _ in range(N_HALVINGS):
            middle = (inside + outside) / 2.0
            inside, outside = (inside, middle) if refuted(middle) else (middle, outside)
        return outside


def expected_items(
    x: FloatArray,
    weight: FloatArray,
    *,
    level: float,
    most: int,
    n_draws: int,
    rng: np.random.Generator,
) -> float:
    """Return the mean number of items until bets refute no difference, if items are like these.

    Parameters
    ----------
    x, weight : ndarray of float, shape (n,)
        As in :class:`ConfidenceSequence`; drawn from with replacement.
    level : float
    most : int
        Where a study ends at the latest; it counts as that many.
    n_draws : int
        Simulated studies.
    rng : numpy.random.Generator

    Examples
    --------
    >>> x = np.tile([1.0, 0.0, 1.0, -1.0, 0.0], 30)
    >>> rng = np.random.default_rng(0)
    >>> 50 < expected_items(x, np.ones(150), level=0.95, most=400, n_draws=50, rng=rng) < 150
    True
    """
    needed = []
    for _ in range(n_draws):
        drawn = rng.integers(x.size, size=most)
        stopped = ConfidenceSequence(x[drawn], weight[drawn]).first_beyond(1.0 / (1.0 - level))
        needed.append(most if stopped is None else stopped)
    return float(np.mean(needed))
