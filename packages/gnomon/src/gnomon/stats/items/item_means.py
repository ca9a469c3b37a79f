"""Mean of items and difference of two models' means: variance, interval and test by what they are.

Which formula holds depends on the scores: right or wrong, between 0 and 1, or without bounds; and
on whether items are independent or in clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.items.cluster_errors import Clusters, cluster_error
from gnomon.stats.items.paired import PairCounts, mcnemar, newcombe_unpaired, tango
from gnomon.stats.items.proportions import (
    clopper_pearson,
    effective_wilson,
    jeffreys,
    student_quantile,
    wilson,
)

#: A difference of scores between 0 and 1 has the variance of its items and of two more, that differ
#: by so much one way and the other: where all items but a few agree, what is rare was not seen yet.
#: With 20 items differences of shares over epochs then cover 97 % (least 93), by t alone 90 (65).
ADDED = 0.4
#: With so many clusters an unseen one counts for the root of its items.
FEW = 10.0


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean over items, its variance, and the degrees of freedom of that.

    Parameters
    ----------
    n : int
        Number of items.
    value, variance, df : float
        Variance and degrees of freedom are NaN if there is one item or one cluster, all if none.
    n_clusters : int or None
    design_effect : float
        1 without clusters.
    weight : float
        How many items an unseen cluster counts for: with many clusters as many as one has, with few
        fewer (with 10 the root of that), since there Student's t makes up for what was not seen.
    n_even : float
        How many clusters of one size would be as uneven (Kish); items, without clusters.
    """

    n: int
    value: float
    variance: float
    df: float
    n_clusters: int | None
    design_effect: float
    weight: float
    n_even: float


def moments(values: FloatArray, clusters: Clusters | None = None) -> Moments:
    """Return mean, variance and degrees of freedom of items that are independent or in clusters.

    Examples
    --------
    >>> found = moments(np.array([1.0, 0.0, 1.0, 1.0]))
    >>> found.value, found.variance, found.df
    (0.75, 0.0625, 3)
    """
    n = values.size
    if n == 0:
        none = None if clusters is None else 0
        return Moments(0, math.nan, math.nan, math.nan, none, math.nan, 1.0, 0.0)
    value = float(values.mean())
    if clusters is None:
        variance = float(values.var(ddof=1)) / n if n > 1 else math.nan
        return Moments(n, value, variance, n - 1 if n > 1 else math.nan, None, 1.0, 1.0, n)
    sizes = clusters.sizes.astype(np.float64)
    g = sizes.size
    weight, even = (n / g) ** (g / (g + FEW)), n**2 / float(sizes @ sizes)
    if sizes.size == 1:
        return Moments(n, value, math.nan, math.nan, 1, math.nan, weight, even)
    error = cluster_error(values, clusters)
    of = error.variance, error.df, error.n_clusters, error.design_effect
    return Moments(n, value, *of, weight, even)


@dataclass(frozen=True)
class ItemMean:
    """A model's mean over items, from which intervals at any level follow.

    Parameters
    ----------
    moments : Moments
    scale : str
        ``binary``: each value is 0 or 1; ``unit``: between 0 and 1; ``free``.
    n_samples : int
        Scores of all items together.
    """

    moments: Moments
    scale: str
    n_samples: int

    @property
    def method(self) -> str:
        """How its interval is made."""
        clustered = self.moments.n_clusters is not None
        if self.scale == "free":
            return "cluster_t" if clustered else "t"
        if clustered:
            return "cluster_wilson"
        return "wilson" if self.scale == "binary" else "effective_wilson"

    def interval(self, level: float, method: str | None = None) -> tuple[float, float]:
        """Return the interval by `method`, or by the one that fits the scores.

        Examples
        --------
        >>> share = ItemMean(moments(np.repeat([1.0, 0.0], [8, 12])), "binary", 20)
        >>> print(share.method, np.round(share.interval(0.95), 3))
        wilson [0.219 0.613]
        """
        m = self.moments
        if m.n == 0:
            return math.nan, math.nan
        right = round(m.n * m.value)
        match method or self.method:
            case "wilson":
                low, high = wilson(m.value, m.n, level=level)
            case "beta":
                low, high = jeffreys(right, m.n, level=level)
            case "clopper_pearson":
                low, high = clopper_pearson(right, m.n, level=level)
            case _ if math.isnan(m.variance):
                return math.nan, math.nan
            case "t" | "cluster_t":
                half = student_quantile(level, m.df) * math.sqrt(m.variance)
                return m.value - half, m.value + half
            case _:
                found = effective_wilson(
                    m.value, m.variance, m.n, df=m.df, level=level, n_samples=self.n_samples,
                    weight=m.weight, least=m.n_even,
                )  # fmt: skip
                return found.low, found.high
        return float(low), float(high)


@dataclass(frozen=True)
class ItemDifference:
    """Difference of two models on the items that both have.

    Parameters
    ----------
    a, b : Moments
        Of either model by itself.
    moments : Moments
        Of the items' differences.
    bounded : bool
        Whether scores lie between 0 and 1.
    counts : PairCounts or None
        Of scores that are right or wrong.

    Examples
    --------
    >>> a = np.repeat([1.0, 0.0, 1.0, 0.0], [30, 8, 10, 2])
    >>> b = np.repeat([1.0, 0.0, 0.0, 1.0], [30, 8, 10, 2])
    >>> found = ItemDifference.of(a, b, None, bounded=True, binary=True)
    >>> print(found.method, np.round(found.interval(0.95), 3), round(found.p_value, 3))
    tango [0.028 0.301] 0.022
    """

    a: Moments
    b: Moments
    moments: Moments
    bounded: bool
    counts: PairCounts | None

    @classmethod
    def of(
        cls,
        a: FloatArray,
        b: FloatArray,
        clusters: Clusters | None,
        *,
        bounded: bool,
        binary: bool,
    ) -> ItemDifference:
        """Compare values on the same items, both of shape (items,)."""
        of_a, of_b, both = (moments(values, clusters) for values in (a, b, a - b))
        return cls(of_a, of_b, both, bounded, PairCounts.of(a, b) if binary else None)

    @property
    def scored(self) -> PairCounts | None:
        """The counts, where Tango's interval is of independent items."""
        return self.counts if self.moments.n_clusters is None else None

    @property
    def method(self) -> str:
        """How its interval is made."""
        if self.scored is not None:
            return "tango"
        return "paired_t" if self.moments.n_clusters is None else "cluster_t"

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of the paired difference."""
        if self.scored is not None:
            return tango(self.scored, level=level)
        half = student_quantile(level, self.moments.df) * self.error
        return self._within(self.moments.value - half, self.moments.value + half)

    def unpaired_interval(self, level: float) -> tuple[float, float]:
        """Return the interval as it would be from other items for either model."""
        if self.scored is not None:
            n = self.scored.n
            low, high = newcombe_unpaired(self.a.value, n, self.b.value, n, level=level)
            return float(low), float(high)
        variance = self.a.variance + self.b.variance
        squares = self.a.variance**2 / self.a.df + self.b.variance**2 / self.b.df
        df = variance**2 / squares if squares > 0.0 else self.a.df + self.b.df
        half = student_quantile(level, df) * math.sqrt(variance + self._added)
        value = self.moments.value
        return self._within(value - half, value + half)

    @cached_property
    def error(self) -> float:
        """Standard error of the difference, with what was perhaps not seen yet."""
        if self.scored is not None:
            n, differ = self.scored.n + 2, self.scored.only_a + self.scored.only_b + 2
            return math.sqrt(differ / n - self.scored.difference**2) / math.sqrt(n)
        return math.sqrt(self.moments.variance + self._added)

    @property
    def _added(self) -> float:
        """Variance of two items more that differ, weighted as unseen clusters are."""
        if not self.bounded:
            return 0.0
        n, weight = self.moments.n, self.moments.weight
        return 2.0 * (ADDED * weight) ** 2 / (n * (n + 2.0 * weight))

    @property
    def p_value(self) -> float:
        """Two-sided, that there is no difference: McNemar's mid-p, or Student's t."""
        if self.scored is not None:
            return mcnemar(self.scored.only_a, self.scored.only_b)
        return self.p_beyond(0.0, two_sided=True)

    def p_beyond(self, limit: float, *, two_sided: bool = False) -> float:
        """Return the p-value of a difference of `limit`, by Student's t; one-sided, if not said."""
        from scipy.special import stdtr

        distance = abs(self.moments.value - limit)
        if self.error == 0.0:
            return 1.0 if distance == 0.0 else 0.0
        tail = float(stdtr(self.moments.df, -distance / self.error))
        return 2.0 * tail if two_sided else tail

    def detectable(self, level: float, power: float = 0.8) -> float:
        """Return the smallest difference that so many items tell apart with that power."""
        df = self.moments.df
        steps = student_quantile(level, df) + student_quantile(2.0 * power - 1.0, df)
        return steps * self.error

    def _within(self, low: float, high: float) -> tuple[float, float]:
        return (max(low, -1.0), min(high, 1.0)) if self.bounded else (low, high)
