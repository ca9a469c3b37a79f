"""Sequential comparisons of models, item by item.

The confidence sequence of a paired difference is made by betting. A bettor who assumes that the
mean difference is delta bets on each item before it is seen, at fair odds. The wealth is then a
martingale, so it ever exceeds 1 / alpha with probability at most alpha (Ville 1939). The
differences not refuted so far are the confidence sequence; the wealth against no difference is the
e-value. Stakes maximise the approximate expected growth given what was seen before (aGRAPA of
Waudby-Smith and Ramdas 2024), at most half of what may be lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.errors import ScoreDataError, note
from gnomon.results import recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.clusters import Clusters
from gnomon.stats.comparison import Comparison, Comparisons
from gnomon.stats.items import Items, item_metrics, item_settings
from gnomon.stats.metrics import Metrics

#: The largest stake, as a share of what may be lost (Waudby-Smith and Ramdas 2024).
MOST_STAKE = 0.5
#: The largest difference that is tried, and halvings in the search for an end (to 1e-9).
LARGEST, N_HALVINGS = 1.0 - 1e-9, 31
#: Numbers of items or clusters that are shown; every other look is as valid.
LOOKS = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


@dataclass(frozen=True)
class ConfidenceSequence:
    """Bets on differences in the order of their arrival, each between minus and plus its weight.

    A weight is 1 for an item, and for a cluster its size over that of the largest; the mean
    difference is the sum of `x` over the sum of `weight`.
    """

    x: FloatArray
    weight: FloatArray

    @cached_property
    def _seen(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what was known before each: mean difference, mean square, mean weight."""
        # One item of either sign before the first keeps stakes low while little is known.
        n = np.arange(1.0, self.x.size + 1.0)
        weight, total, squares = (
            np.concatenate([[first], first + np.cumsum(values[:-1])])
            for first, values in ((1.0, self.weight), (0.0, self.x), (1.0, np.square(self.x)))
        )
        return total / weight, squares / n, weight / n

    def log_wealth(self, delta: float = 0.0) -> FloatArray:
        """Return the logarithm of the wealth against a difference in (-1, 1), after each item."""
        mean, square, weight = self._seen
        # First and second moment of x - delta * weight, as known before the item.
        first = (mean - delta) * weight
        second = square - 2.0 * delta * mean * weight**2 + (delta * weight) ** 2
        stake = first / np.maximum(second, first**2)
        stake = np.clip(stake, -MOST_STAKE / (1.0 - delta), MOST_STAKE / (1.0 + delta))
        return np.cumsum(np.log1p(stake * (self.x - delta * self.weight)))

    def e_value(self, n: int | None = None) -> float:
        """Return the wealth against no difference after `n` items, by default all."""
        return math.exp(min(float(self.log_wealth()[:n][-1]), 700.0))

    def p_value(self, n: int | None = None) -> float:
        """Return the p-value that holds at every look: one over the largest wealth so far."""
        return math.exp(-max(float(self.log_wealth()[:n].max()), 0.0))

    def first_beyond(self, most: float) -> int | None:
        """Return after how many items the wealth first reached `most`; None if never."""
        beyond = np.flatnonzero(self.log_wealth() >= math.log(most))
        return int(beyond[0]) + 1 if beyond.size else None

    def interval(self, level: float, n: int | None = None) -> tuple[float, float]:
        """Return the differences that no look at the first `n` items has refuted."""
        part = ConfidenceSequence(self.x[:n], self.weight[:n])
        # Against a difference of 1 or -1 itself nothing can be staked.
        seen = float(np.clip(part.x.sum() / part.weight.sum(), -LARGEST, LARGEST))
        return part._end(seen, -1.0, level), part._end(seen, 1.0, level)

    def _end(self, inside: float, outside: float, level: float) -> float:
        """Return where refuted differences begin, between one that is not and a bound."""
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


@dataclass(frozen=True, eq=False, repr=False)
class ItemLooks(Comparisons):
    """Looks at two models as items arrive, each valid whatever the number of looks.

    In at most ``1 - level`` of studies any of the intervals misses the true difference.
    """

    columns = ("a", "b", "metric", "n_items", "value", "low", "high", "e_value", "p_value")

    @property
    def title(self) -> str:
        """How to read the values."""
        return "a minus b on the same items as they arrive; valid at every look"

    @property
    def notes(self) -> tuple[str, ...]:
        """The number of items after which the comparison could have stopped, by metric."""
        return tuple(
            f"{metric}: no difference is "
            + (f"rejected after {n:,}" if n else f"not rejected by {self[-1].n_items:,}")
            + " items."
            for metric, n in self.settings["n_stopped"].items()
        )


def compare_items_sequentially(
    scores: ScoreTable, a: str, b: str, metrics: Metrics | None = None, *, level: float = 0.95
) -> ItemLooks:
    """Compare two models item by item (or cluster by cluster), in the order of the table."""
    found: list[Comparison] = []
    stopped = {}
    with recorded() as notes:
        for metric in item_metrics(metrics):
            items = Items(scores, metric)
            items.warn_of_missing((a, b))
            looks, stopped[metric] = _looks(items, a, b, level)
            found += looks
    family = "not corrected over metrics; each holds at all looks together"
    settings = item_settings(scores, level, sequential="e", family=family, n_stopped=stopped)
    return ItemLooks(tuple(found), settings, tuple(notes))


def _looks(items: Items, a: str, b: str, level: float) -> tuple[list[Comparison], int | None]:
    """Return the looks, and after how many items the bets stop."""
    there = items.shared((a, b))
    if not there.any():
        raise ScoreDataError(f"{a} and {b} share no item with a score")
    x, y = (items.values[items.models.index(name), there] for name in (a, b))
    of = items.differences([(a, b)])
    if not of.bounded[0]:
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        raise ScoreDataError(
            f"sequential: expected scores between 0 and 1, found {low:g} to {high:g} for {a} and "
            f"{b}; normalize them"
        )
    clusters = items.clusters(there)
    if clusters is None:
        _warn_of_order(x - y, a, b)
    totals, sizes = _arrivals(x - y, clusters)
    bets = ConfidenceSequence(totals / sizes.max(), sizes / sizes.max())
    n_items = np.cumsum(sizes).astype(int)
    found = []
    for n in [*(look for look in LOOKS if look < totals.size), totals.size]:
        low, high = bets.interval(level, n)
        one = Comparison(
            a=a,
            b=b,
            metric=items.metric,
            task=None,
            value=float(totals[:n].sum() / sizes[:n].sum()),
            low=low,
            high=high,
            p_value=bets.p_value(n),
            p_adjusted=bets.p_value(n),
            level=level,
            method="betting",
            n_items=int(n_items[n - 1]),
            e_value=bets.e_value(n),
        )
        found.append(one)
    first = bets.first_beyond(1.0 / (1.0 - level))
    return found, None if first is None else int(n_items[first - 1])


def _arrivals(difference: FloatArray, clusters: Clusters | None) -> tuple[FloatArray, FloatArray]:
    """Return the sums of what arrives together, items or clusters, and their sizes."""
    if clusters is None:
        return difference, np.ones(difference.size)
    _, first = np.unique(clusters.codes, return_index=True)
    order = np.argsort(first, kind="stable")
    return clusters.sums(difference)[order], clusters.sizes[order].astype(np.float64)


def _warn_of_order(difference: FloatArray, a: str, b: str) -> None:
    """Warn if consecutive items are alike, as if they were sorted."""
    residuals, n = difference - difference.mean(), difference.size
    squares = float(residuals @ residuals)
    if n < 2 or squares == 0.0:
        return
    alike = float(residuals[1:] @ residuals[:-1]) / squares
    if alike > 4.0 / math.sqrt(n):
        note(
            f"sequential: consecutive items are alike (difference of {a} and {b}: correlation "
            f"{alike:.2f}), as if they were sorted; shuffle them, or name their clusters"
        )
