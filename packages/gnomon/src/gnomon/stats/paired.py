"""Means over items and paired differences of models, as numbers: variance, interval and test.

Which formula holds depends on the scores (right or wrong, between 0 and 1, or without bounds) and
on whether items are independent or in clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.clusters import Clusters
from gnomon.stats.proportions import (
    effective_wilson,
    mcnemar,
    newcombe,
    student_quantile,
    tango,
    wilson,
)

Mask = npt.NDArray[np.bool_]

#: A difference of graded scores has the variance of its items and of two more that differ by this
#: much, one each way: where nearly all items agree, rare ones were not observed yet. With 20 items
#: differences of shares over epochs then cover 97 % (at least 93 %), without it 90 % (65 %).
ADDED = 0.4
#: With fewer clusters than this the two items stand for unobserved clusters. With 20 lognormal
#: clusters and shares near 1 intervals cover at least 92 % (without the items 89 %); if they stood
#: for clusters there too, power would be 0.11 instead of 0.17 (``benchmarks items``).
FEW_CLUSTERS = 10
#: A variance below this share of its parts may be rounding: it is computed again item by item.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ItemMean:
    """A model's mean over items, from which intervals at any level follow."""

    n: int
    n_samples: int
    value: float
    variance: float
    df: float
    scale: str
    clusters: Clusters | None
    design_effect: float

    @classmethod
    def of(
        cls, x: FloatArray, scale: str, clusters: Clusters | None = None, n_samples: int = 0
    ) -> ItemMean:
        """Return the mean of items that are independent or in clusters."""
        n = x.size
        units = n if clusters is None else len(clusters)
        value = float(x.mean()) if n else math.nan
        variance = df = effect = math.nan
        if units > 1:
            plain = float(x.var(ddof=1)) / n
            variance, df, effect = plain, n - 1.0, 1.0
            if clusters is not None:
                sums = clusters.residual_sums(x)
                variance, df = float(sums @ sums) / n**2, clusters.df
                effect = variance / plain if plain > 0.0 else math.nan
        return cls(n, n_samples or n, value, variance, df, scale, clusters, effect)

    @property
    def method(self) -> str:
        """The name of the interval."""
        if self.scale == "free":
            return "t" if self.clusters is None else "cluster_t"
        if self.clusters is not None:
            return "cluster_wilson"
        return "wilson" if self.scale == "binary" else "effective_wilson"

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval; NaN from one item or cluster, and from unbounded equal scores."""
        if self.n and self.method == "wilson":
            low, high = wilson(round(self.n * self.value), self.n, level=level)
            return float(low), float(high)
        if math.isnan(self.variance) or (self.scale == "free" and self.is_constant):
            return math.nan, math.nan
        if self.scale == "free":
            half = student_quantile(level, self.df) * math.sqrt(self.variance)
            return self.value - half, self.value + half
        options: dict[str, Any] = {"df": self.df, "level": level, "n_samples": self.n_samples}
        if self.clusters is not None:
            weight = unobserved_weight(self.n, len(self.clusters))
            options |= {"weight": weight, "least": self.clusters.n_even}
        return effective_wilson(self.value, self.variance, self.n, **options)

    @property
    def is_constant(self) -> bool:
        """Whether the scores (or the means of clusters) do not vary."""
        return self.variance <= (1e-12 * abs(self.value)) ** 2


def unobserved_weight(n_items: int, n_clusters: int) -> float:
    """Return how many items an unobserved cluster counts for.

    With many clusters as many as one has; with few fewer, because Student's t allows for those.
    """
    share = n_clusters / (n_clusters + FEW_CLUSTERS)
    return float((n_items / n_clusters) ** share)


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Paired differences of models, one per entry: all fields are arrays of shape (pairs,).

    `n` items both models have, in `units` clusters (or items); `value`, `variance` and `df` of the
    mean difference; `mean_a`, `mean_b`, `variance_a`, `variance_b` of each model; `only_a`,
    `only_b` items that one model alone solves, NaN unless scores are 0 and 1; whether scores are
    `bounded` between 0 and 1, and whether items are `clustered`.
    """

    n: FloatArray
    units: FloatArray
    value: FloatArray
    variance: FloatArray
    df: FloatArray
    mean_a: FloatArray
    mean_b: FloatArray
    variance_a: FloatArray
    variance_b: FloatArray
    only_a: FloatArray
    only_b: FloatArray
    bounded: Mask
    clustered: Mask

    @property
    def exact(self) -> Mask:
        """Where scores are right or wrong and items independent: Tango and McNemar."""
        return np.asarray(~np.isnan(self.only_a) & ~self.clustered)

    @property
    def constant(self) -> Mask:
        """Where differences do not vary, so that nothing but their number is informative."""
        return np.asarray((self.variance == 0.0) & ~self.exact)

    @property
    def methods(self) -> list[str]:
        """The names of the intervals."""
        found = np.where(self.clustered, "cluster_t", np.where(self.exact, "tango", "paired_t"))
        return [str(name) for name in np.where(self.constant, "sign_flips", found)]

    @property
    def error(self) -> FloatArray:
        """Standard errors; of right and wrong with the two items of Bonett and Price (2012)."""
        n = self.n + 2.0
        share, gap = (self.only_a + self.only_b + 2.0) / n, (self.only_a - self.only_b) / n
        paired = np.sqrt((share - gap**2) / n)
        return np.where(self.exact, paired, np.sqrt(self.variance + self._added))

    @property
    def _added(self) -> FloatArray:
        """The variance of two more items that differ, one each way."""
        n, units = np.maximum(self.n, 1.0), np.maximum(self.units, 1.0)
        few = self.clustered & (units < FEW_CLUSTERS)
        weight = np.where(few, (n / units) ** (units / (units + FEW_CLUSTERS)), 1.0)
        added = 2.0 * (ADDED * weight) ** 2 / (n * (n + 2.0 * weight))
        return np.where(self.bounded, added, 0.0)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the intervals of the differences.

        Where differences between 0 and 1 do not vary, the exact bound: of that many units none is
        unlike, so at most a share of 1 - (alpha / 2) ** (1 / units) is.
        """
        half = _quantiles(level, self.df) * self.error
        low, high = self.value - half, self.value + half
        unlike = 1.0 - ((1.0 - level) / 2.0) ** (1.0 / np.maximum(self.units, 1.0))
        ends = self.value - unlike * (1.0 + self.value), self.value + unlike * (1.0 - self.value)
        none = self.constant & ~self.bounded
        low = np.where(none, np.nan, np.where(self.constant, ends[0], low))
        high = np.where(none, np.nan, np.where(self.constant, ends[1], high))
        return self._combined(tango(self.only_a, self.only_b, self.n, level=level), (low, high))

    def unpaired_interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the intervals for models on different items."""
        v, w = self.variance_a, self.variance_b
        with np.errstate(invalid="ignore", divide="ignore"):
            df = np.where(v + w > 0.0, (v + w) ** 2 * self.df / (v**2 + w**2), 2.0 * self.df)
        half = _quantiles(level, df) * np.sqrt(v + w + self._added)
        half = np.where((v + w == 0.0) & ~self.bounded, np.nan, half)
        n = np.maximum(self.n, 1.0)
        a, b = (np.where(self.exact, mean, 0.0) * n for mean in (self.mean_a, self.mean_b))
        exact = newcombe(a, n, b, n, level=level)
        return self._combined(exact, (self.value - half, self.value + half))

    def _combined(
        self, exact: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        ends = [np.where(self.bounded, np.clip(end, -1.0, 1.0), end) for end in other]
        known = ~np.isnan(self.variance)
        low, high = (
            np.where(known, np.where(self.exact, of, end), np.nan)
            for of, end in zip(exact, ends, strict=True)
        )
        return low, high

    @property
    def p_values(self) -> FloatArray:
        """Two-sided: McNemar's mid-p, or Student's t; random sign flips where nothing varies."""
        from scipy.special import stdtr

        with np.errstate(invalid="ignore", divide="ignore"):
            found = 2.0 * stdtr(self.df, -np.abs(self.value) / self.error)
        flips = np.where(self.value == 0.0, 1.0, 2.0 ** (1.0 - self.units))
        found = np.where(self.constant, flips, found)
        b, c = (np.where(self.exact, x, 0.0) for x in (self.only_a, self.only_b))
        found = np.where(self.exact, mcnemar(b, c), found)
        return np.where(np.isnan(self.variance), np.nan, found)

    def detectable(self, level: float, power: float = 0.8) -> FloatArray:
        """Return the smallest difference that this many items find with that power.

        NaN where differences do not vary. Of right and wrong the variance is that under the
        difference itself, given the share of items on which the models differ.
        """
        steps = _quantiles(level, self.df) + _quantiles(2.0 * power - 1.0, self.df)
        n = self.n + 2.0
        share = (self.only_a + self.only_b + 2.0) / n
        exact, other = steps * np.sqrt(share / (n + steps**2)), steps * self.error
        other = np.where(self.bounded, np.minimum(other, 1.0), other)
        found = np.where(self.exact, exact, np.where(self.constant, np.nan, other))
        return np.where(np.isnan(self.variance), np.nan, found)


def _quantiles(level: float, df: FloatArray) -> FloatArray:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, (1.0 + level) / 2.0))


def paired_differences(
    y: FloatArray,
    pairs: npt.NDArray[np.int64],
    scales: npt.NDArray[np.str_],
    clusters: Clusters | None,
) -> Differences:
    """Return differences of models without gaps: products of matrices over items or clusters.

    `y` has shape (models, items), `pairs` two rows of it per pair.
    """
    n, units = y.shape[1], y.shape[1] if clusters is None else len(clusters)
    a, b = pairs.T
    mean = y.mean(axis=1) if n else np.full(len(y), np.nan)
    binary = scales == "binary"
    only_a, only_b = np.full((2, len(pairs)), np.nan)
    overlap = None
    if binary.any() and n:
        # Whole numbers up to 2**24 are exact in single precision, which takes half the memory.
        right: npt.NDArray[Any] = y.astype(np.float32 if n < 2**24 else np.float64)
        overlap = (right @ right.T).astype(np.float64)
        alone = np.where(binary[a] & binary[b], np.diag(overlap)[pairs.T] - overlap[a, b], np.nan)
        only_a, only_b = alone
    if units < 2:
        products = np.full((len(y), len(y)), np.nan)
    elif clusters is not None:
        sums = clusters.residual_sums(y)
        products = sums @ sums.T / n**2
    elif overlap is not None and binary.all():
        products = (overlap - n * np.outer(mean, mean)) / n / (n - 1)
    else:
        rest = y - mean[:, None]
        products = rest @ rest.T / n / (n - 1)
    own = np.maximum(np.diag(products), 0.0)
    variance = own[a] + own[b] - 2.0 * products[a, b]
    largest = max(float(y.max(initial=0.0)), -float(y.min(initial=0.0)))
    for i in np.flatnonzero(variance <= ROUNDING * (own[a] + own[b] + ROUNDING * largest**2)):
        x = y[a[i]] - y[b[i]]
        rest = clusters.residual_sums(x) if clusters is not None else x - x.mean()
        found = float(rest @ rest) / (n**2 if clusters is not None else n * (n - 1))
        variance[i] = 0.0 if found <= (1e-12 * largest) ** 2 else found
    df = math.nan if units < 2 else n - 1.0 if clusters is None else clusters.df
    n_pairs = len(pairs)
    return Differences(
        n=np.full(n_pairs, float(n)),
        units=np.full(n_pairs, float(units)),
        value=mean[a] - mean[b],
        variance=variance,
        df=np.full(n_pairs, df),
        mean_a=mean[a],
        mean_b=mean[b],
        variance_a=own[a],
        variance_b=own[b],
        only_a=only_a,
        only_b=only_b,
        bounded=(scales != "free")[a] & (scales != "free")[b],
        clustered=np.full(n_pairs, clusters is not None),
    )
