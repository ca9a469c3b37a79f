"""Models on the items of an evaluation: their values, means and paired differences.

Epochs are nested in items: each item has one value, the mean over its epochs or the unbiased
estimate of pass@k or pass^k. Items, or clusters of them, are the sample. Which formula holds
depends on the scores (right or wrong, between 0 and 1, or without bounds) and on whether items are
independent or in clusters.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, counted, either, listed, note
from gnomon.results import made_by
from gnomon.scores.checks import without_score
from gnomon.scores.columns import Codes, IntArray
from gnomon.scores.table import FloatArray, ScoreTable, Units, clusters_of_items
from gnomon.stats.clusters import Clusters
from gnomon.stats.distributions import student_quantile
from gnomon.stats.metrics import Metric, Metrics, metric_list
from gnomon.stats.proportions import (
    MOST_PRECISION,
    effective_wilson,
    mcnemar,
    pass_at,
    pass_hat,
    tango,
    tango_score,
    wilson,
)

if TYPE_CHECKING:
    from gnomon.stats.vote_ratings import Votes

Mask = npt.NDArray[np.bool_]

#: Metrics of items.
METRICS = ("mean", "pass@K", "pass^K")
_PASS = re.compile(r"pass[@^]([1-9]\d{0,5})")
#: Coverage was measured from this many items and clusters on.
FEW_ITEMS, FEW_CLUSTERS = 20, 5
#: A cluster with more than this share of the items is named in a warning.
LARGE_CLUSTER = 0.5
#: A difference of graded scores has the variance of its items and of two more that differ by this
#: much, one each way: where nearly all items agree, rare ones were not observed yet. With 20 items
#: differences of shares over epochs then cover 97 % (at least 93 %), without it 90 % (65 %).
ADDED = 0.4
#: With fewer clusters than this the two items stand for unobserved clusters. By Student's t, which
#: graded scores have, intervals of shares near 1 in 20 lognormal clusters cover at least 92 %
#: (without the items 89 %); if they stood for clusters there too, power would be 0.11, not 0.17.
WEIGHTED_CLUSTERS = 10
#: A variance below this share of its parts may be rounding: it is computed again item by item.
ROUNDING = 1e-9


def votes_of(scores: ScoreTable) -> Votes | None:
    """Return the votes of a table that holds votes, else None."""
    if "opponent" not in scores.rows:
        return None
    # Loaded only where it is needed, for the memory of large evaluations.
    from gnomon.stats.vote_ratings import Votes

    return Votes.of(scores)


def refuse_options(units: Units | Literal["votes"], **given: Any) -> None:
    """Reject options that do not apply to what is compared, unless they are None or False."""
    for name, value in given.items():
        if value is None or value is False:
            continue
        option = either(name, f"--{name.replace('_', '-').replace('=', ' ')}")
        if units != "tasks":
            other = "tasks" if units == "items" else "items"
            raise ScoreDataError(f"{option} applies to {other}, not to {units}")
        remedy = either(
            "read it with units='items'", "read the file with gnomon read --units items"
        )
        raise ScoreDataError(
            f"{option} applies to items, found tasks; if the tasks of this table are items of an "
            f"evaluation, {remedy}"
        )


def item_settings(scores: ScoreTable, level: float, **settings: Any) -> dict[str, Any]:
    """Return the settings that all results on items share, with further ones."""
    of = {name: getattr(scores, name) for name in ("scale", "higher_is_better", "cluster")}
    return made_by(None, **of, units="items", level=level, method="auto", **settings)


def item_metrics(metrics: Metrics | None) -> list[str]:
    """Return the names of metrics of items, the mean by default."""
    wanted = metric_list(metrics or "mean")
    names = [one.name if isinstance(one, Metric) else one for one in wanted]
    for name in names:
        if name != "mean" and _PASS.fullmatch(name) is None:
            raise UnknownNameError("metric of items", name, METRICS)
    return names


@dataclass(frozen=True, slots=True)
class ItemMean:
    """A model's mean over items with its variance, from which intervals at any level follow."""

    n: int
    n_samples: int
    value: float
    variance: float
    df: float
    scale: str
    clusters: Clusters | None

    @classmethod
    def of(
        cls, x: FloatArray, scale: str, clusters: Clusters | None = None, n_samples: int = 0
    ) -> ItemMean:
        """Return the mean of items that are independent or in clusters."""
        n, variance, df = x.size, math.nan, math.nan
        if clusters is not None and len(clusters) > 1:
            sums = clusters.residual_sums(x)
            variance, df = float(sums @ sums) / n**2, clusters.df
        elif clusters is None and n > 1:
            variance, df = float(x.var(ddof=1)) / n, n - 1.0
        value = float(x.mean()) if n else math.nan
        return cls(n, n_samples or n, value, variance, df, scale, clusters)

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
        is_constant = self.variance <= (1e-12 * abs(self.value)) ** 2
        if math.isnan(self.variance) or (self.scale == "free" and is_constant):
            return math.nan, math.nan
        if self.scale == "free":
            half = student_quantile(level, self.df) * math.sqrt(self.variance)
            return self.value - half, self.value + half
        weight, least = 1.0, None
        if self.clusters is not None:
            # Unobserved clusters count for as many items as one has; for fewer where clusters are
            # few, because Student's t allows for those.
            n_clusters = len(self.clusters)
            share = n_clusters / (n_clusters + WEIGHTED_CLUSTERS)
            weight, least = float((self.n / n_clusters) ** share), self.clusters.n_even
        return effective_wilson(
            self.value, self.variance, self.n,
            df=self.df, level=level, n_samples=self.n_samples, weight=weight, least=least,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ItemDifferences:
    """Paired differences of models, one per entry of arrays of shape (pairs,).

    Both models have `n` items, in `units` clusters (or items). `only_a` and `only_b` items are
    solved by one model alone, NaN unless scores are 0 and 1; scores may be `bounded` between 0
    and 1, and items `clustered`.
    """

    n: FloatArray
    units: FloatArray
    value: FloatArray
    variance: FloatArray
    df: FloatArray
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
        """Where differences do not vary, so that only their number is informative."""
        return np.asarray((self.variance == 0.0) & ~self.exact)

    @property
    def scored(self) -> Mask:
        """Where scores are right or wrong, so that Tango's score decides."""
        return np.asarray(~np.isnan(self.only_a) & ~self.constant)

    @property
    def methods(self) -> list[str]:
        """The names of the intervals."""
        found = np.where(self.scored, "tango", np.where(self.clustered, "t", "paired_t"))
        found = np.where(self.clustered, np.char.add("cluster_", found), found)
        return [str(name) for name in np.where(self.constant, "sign_flips", found)]

    @property
    def error(self) -> FloatArray:
        """Standard errors; of right and wrong with the two items of Bonett and Price (2012)."""
        n = self.n + 2.0
        share, gap = (self.only_a + self.only_b + 2.0) / n, (self.only_a - self.only_b) / n
        # The variance of two more items that differ, one each way.
        n_items, units = np.maximum(self.n, 1.0), np.maximum(self.units, 1.0)
        few = self.clustered & (units < WEIGHTED_CLUSTERS)
        weight = np.where(few, (n_items / units) ** (units / (units + WEIGHTED_CLUSTERS)), 1.0)
        added = 2.0 * (ADDED * weight) ** 2 / (n_items * (n_items + 2.0 * weight))
        other = np.sqrt(self.variance + np.where(self.bounded, added, 0.0))
        return np.where(self.exact, np.sqrt((share - gap**2) / n), other)

    @property
    def _effective(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Items that one model alone solves, all items, and degrees of freedom, for the score.

        Clusters count for as many independent items as have their variance (Korn and Graubard
        1998), at most MOST_PRECISION times their own.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = ((self.only_a + self.only_b) / self.n - self.value**2) / (self.n - 1.0)
            ratio = np.minimum(spread / self.variance, MOST_PRECISION)
        ratio = np.where(self.clustered & self.scored, ratio, 1.0)
        df = np.where(self.exact, np.inf, self.df)
        return self.only_a * ratio, self.only_b * ratio, self.n * ratio, df

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the intervals of the differences.

        Where differences between 0 and 1 do not vary, the exact bound: none of that many units is
        unlike, so at most a share of 1 - (alpha / 2) ** (1 / units) is.
        """
        half = _quantiles(level, self.df) * self.error
        unlike = 1.0 - ((1.0 - level) / 2.0) ** (1.0 / np.maximum(self.units, 1.0))
        ends = []
        b, c, n, df = self._effective
        scored = tango(b, c, n, critical=_quantiles(level, df))
        for side, of_scored in zip((-1.0, 1.0), scored, strict=True):
            end = self.value + side * half
            bound = self.value + side * unlike * (1.0 - side * self.value)
            end = np.where(self.constant, np.where(self.bounded, bound, np.nan), end)
            end = np.where(self.bounded, np.clip(end, -1.0, 1.0), end)
            end = np.where(self.scored, of_scored, end)
            ends.append(np.where(np.isnan(self.variance), np.nan, end))
        return ends[0], ends[1]

    @property
    def p_values(self) -> FloatArray:
        """Two-sided: McNemar's mid-p, or Student's t; random sign flips where nothing varies."""
        found = np.minimum(2.0 * np.minimum(self.tail(0.0, 1.0), self.tail(0.0, -1.0)), 1.0)
        flips = np.where(self.value == 0.0, 1.0, 2.0 ** (1.0 - self.units))
        found = np.where(self.constant, flips, found)
        found = np.where(self.exact, self._mid_p, found)
        return np.where(np.isnan(self.variance), np.nan, found)

    @property
    def _mid_p(self) -> FloatArray:
        return mcnemar(*(np.where(self.exact, x, 0.0) for x in (self.only_a, self.only_b)))

    def tail(self, limit: float, side: float) -> FloatArray:
        """Return the one-sided p-value that the differences lie above a limit (below: side -1).

        Tango's score or Student's t, which the intervals invert. Where differences do not vary, the
        chance to see no unlike unit if there are enough of them to reach the limit, or, where
        scores have no bounds, of equal signs.
        """
        from scipy.special import stdtr

        beyond = side * (self.value - limit)
        b, c, n, df = self._effective
        with np.errstate(invalid="ignore", divide="ignore"):
            score = side * tango_score(b, c, n, np.full_like(n, limit))
            found = stdtr(df, -np.where(self.scored, score, beyond / self.error))
            unlike = np.where(self.bounded, beyond / (1.0 + side * self.value), 0.5)
        constant = np.where(beyond > 0.0, np.clip(1.0 - unlike, 0.0, 1.0) ** self.units, 1.0)
        found = np.where(self.constant, constant, found)
        # Tango's score is infinite where one model alone solves every item.
        found = np.where(self.exact & (self.variance == 0.0), np.maximum(found, constant), found)
        if limit == 0.0:
            found = np.where(self.exact & (beyond > 0.0), np.maximum(found, self._mid_p / 2), found)
        return np.where(np.isnan(self.variance), np.nan, found)

    def detectable(self, level: float, power: float) -> FloatArray:
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
    y: FloatArray, pairs: IntArray, scales: npt.NDArray[np.str_], clusters: Clusters | None
) -> ItemDifferences:
    """Return differences of models without gaps: products of matrices over items or clusters.

    `y` has shape (models, items), `pairs` two rows of it per pair.
    """
    n, units = y.shape[1], y.shape[1] if clusters is None else len(clusters)
    (a, b), n_pairs = pairs.T, len(pairs)
    mean = y.mean(axis=1) if n else np.full(len(y), np.nan)
    binary = scales == "binary"
    only_a, only_b = np.full((2, n_pairs), np.nan)
    if binary.any() and n:
        both = y @ y.T
        only = np.diag(both)[pairs.T] - both[a, b]
        only_a, only_b = np.where(binary[a] & binary[b], only, np.nan)
    if units < 2:
        products = np.full((len(y), len(y)), np.nan)
    elif clusters is not None:
        sums = clusters.residual_sums(y)
        products = sums @ sums.T / n**2
    elif binary.all():  # whole numbers, whose products are exact
        products = (both - n * np.outer(mean, mean)) / n / (n - 1)
    else:
        rest = y - mean[:, None]
        products = rest @ rest.T / n / (n - 1)
    own = np.maximum(np.diag(products), 0.0)
    variance = own[a] + own[b] - 2.0 * products[a, b]
    largest = max(float(y.max(initial=0.0)), -float(y.min(initial=0.0)))
    for i in np.flatnonzero(variance <= ROUNDING * (own[a] + own[b] + ROUNDING * largest**2)):
        found = ItemMean.of(y[a[i]] - y[b[i]], "free", clusters).variance
        variance[i] = 0.0 if found <= (1e-12 * largest) ** 2 else found
    df = math.nan if units < 2 else n - 1.0 if clusters is None else clusters.df
    return ItemDifferences(
        n=np.full(n_pairs, float(n)),
        units=np.full(n_pairs, float(units)),
        value=mean[a] - mean[b],
        variance=variance,
        df=np.full(n_pairs, df),
        only_a=only_a,
        only_b=only_b,
        bounded=(scales != "free")[a] & (scales != "free")[b],
        clustered=np.full(n_pairs, clusters is not None),
    )


class Items:
    """Values of all models of a table on its items in one metric."""

    def __init__(self, table: ScoreTable, metric: str = "mean") -> None:
        passing = _PASS.fullmatch(metric)
        self.table, self.metric, self.k = table, metric, int(passing[1]) if passing else 0
        self.models, self.names = table.algorithms, table.tasks
        self.cluster_of: IntArray | None = None
        if table.cluster is not None:
            self.cluster_of = clusters_of_items(table.rows, table.cluster)[1]
        shape = len(self.models), len(self.names)
        self.values = np.empty(shape) if self.k else table.means()
        self.scales = [self._read(row, model) for row, model in enumerate(self.models)]
        self.known = ~np.isnan(self.values)

    def _samples(self, model: str) -> tuple[Codes, FloatArray, IntArray, npt.NDArray[Any]]:
        """Return item and score of each sample; number and total of the samples of each item."""
        item, score = self.table.samples(model)
        n: IntArray = np.bincount(item, minlength=len(self.names)).astype(np.int64, copy=False)
        return item, score, n, np.bincount(item, weights=score, minlength=n.size)

    def n_epochs(self, model: str) -> IntArray:
        """Return the number of epochs of each item."""
        return self._samples(model)[2]

    def _read(self, row: int, model: str) -> str:
        """Return whether a model's values are binary, unit or free; fill in those of pass@k."""
        _, score, n, total = self._samples(model)
        if np.isinf(score).any():
            raise ScoreDataError(f"{model}: expected finite scores of items, found a censored one")
        scale = _scale(score)
        if self.k:
            self._check_epochs(model, n, score, scale)
            found = (pass_at if "@" in self.metric else pass_hat)(n, total, self.k)
            self.values[row] = np.where(n >= self.k, found, np.nan)
        values = self.values[row]
        return "unit" if scale == "binary" and _scale(values[~np.isnan(values)]) != scale else scale

    def _check_epochs(self, model: str, n: IntArray, score: FloatArray, scale: str) -> None:
        """Refuse scores that pass@k and pass^k do not apply to; warn of items left out."""
        where = f"{self.metric} of {model}"
        if scale != "binary":
            raise ScoreDataError(
                f"{where}: expected scores 0 or 1, found {score.min():g} to {score.max():g}; "
                "take the mean"
            )
        if not (n >= self.k).any():
            raise ScoreDataError(
                f"{where}: expected an item with {counted(self.k, 'epoch')} or more, found at most "
                f"{int(n.max(initial=0))}"
            )
        few = np.flatnonzero((n > 0) & (n < self.k))
        if few.size:
            named = listed([self.names[i] for i in few])
            note(
                f"{where}: {counted(few.size, 'item')} with fewer than {self.k} epochs left out "
                f"({named})"
            )

    def clusters(self, there: Mask | None = None) -> Clusters | None:
        """Return the clusters of some items, or of all, if the table has clusters."""
        if self.cluster_of is None:
            return None
        return Clusters.numbered(self.cluster_of if there is None else self.cluster_of[there])

    def groups(self, column: str) -> dict[str, Mask]:
        """Return the items of each value of a column, in the order of the table."""
        if column not in self.table.attributes:
            raise UnknownNameError("column", column, self.table.attributes)
        names, code = clusters_of_items(self.table.rows, column)
        return {name: code == i for i, name in enumerate(names)}

    def inside(self, column: str) -> Items:
        """Return the same for groups by a column: within one cluster, items are the sample."""
        if column != self.table.cluster:
            return self
        found = copy.copy(self)
        found.cluster_of = None
        return found

    def shared(self, models: Iterable[str], among: Mask | None = None) -> Mask:
        """Return which items (among some) all of some models have, shape (items,)."""
        rows = [self.models.index(name) for name in models]
        there = np.asarray(self.known[rows].all(axis=0))
        return there if among is None else there & among

    def mean(self, model: str, among: Mask | None = None) -> ItemMean:
        """Return the mean of a model over the items that it has (among some)."""
        row, there = self.models.index(model), self.shared([model], among)
        n_samples = int(self.n_epochs(model)[there].sum())
        return ItemMean.of(
            self.values[row, there], self.scales[row], self.clusters(there), n_samples
        )

    def differences(
        self, pairs: Sequence[tuple[str, str]], among: Mask | None = None
    ) -> ItemDifferences:
        """Return the differences of pairs of models on the items that both have (among some)."""
        place = {name: row for row, name in enumerate(self.models)}
        rows = sorted({place[name] for pair in pairs for name in pair})
        known = self.known[rows] if among is None else self.known[rows] & among
        there = np.asarray(known.all(axis=0))
        if len(pairs) > 1 and known.sum() > there.sum() * len(rows):  # items differ by pair
            parts = [self.differences([pair], among) for pair in pairs]
            return ItemDifferences(
                *(
                    np.concatenate([getattr(x, f.name) for x in parts])
                    for f in fields(ItemDifferences)
                )
            )
        y = self.values if len(rows) == len(self.models) else self.values[rows]
        y = y if there.all() else np.compress(there, y, axis=1)
        at = np.searchsorted(rows, [[place[name] for name in pair] for pair in pairs])
        return paired_differences(
            y, at, np.array([self.scales[row] for row in rows]), self.clusters(there)
        )

    def warn_of_unscored(self, models: Iterable[str]) -> None:
        """Warn of samples without a score."""
        rows = self.table.rows
        absent = rows["algorithm"].isin(models) & np.isnan(rows["score"])
        if found := without_score(rows.take(absent)):
            audit = either("audit(scores)", "gnomon audit")
            note(f"{found}; values use the others; {audit} shows the possible effect")

    def warn_of_missing(self, models: Iterable[str]) -> None:
        """Warn of items that a model lacks and another has."""
        known = {model: self.known[self.models.index(model)] for model in models}
        anywhere = np.logical_or.reduce(list(known.values()))
        for model, there in known.items():
            lacking = np.flatnonzero(anywhere & ~there)
            if lacking.size:
                named = listed([self.names[i] for i in lacking])
                note(
                    f"{model} lacks {lacking.size} of {counted(int(anywhere.sum()), 'item')} "
                    f"({named}); its mean is over its own items, comparisons over shared ones"
                )

    def warn_of_few(self, there: Mask, where: str) -> None:
        """Warn of few items or clusters, and of one cluster that dominates."""
        n, clusters, column = int(there.sum()), self.clusters(there), self.table.cluster
        validated = "intervals were validated with"
        if n < FEW_ITEMS:
            note(f"{where}: {counted(n, 'item')}; {validated} {FEW_ITEMS} or more")
        if clusters is None or n == 0:
            return
        named, share = f"{where}: {counted(len(clusters), 'cluster')} ({column})", clusters.shares
        if len(clusters) == 1:
            note(
                f"{named}, interval not estimable: clusters, not items, are the sample; name a "
                "finer column, or none"
            )
        elif len(clusters) < FEW_CLUSTERS:
            note(f"{named}; {validated} {FEW_CLUSTERS} or more")
        elif share.max() > LARGE_CLUSTER:
            note(
                f"{where}: one cluster ({column}) has {100 * share.max():.0f} % of the items and "
                "dominates the interval"
            )


def _scale(scores: FloatArray) -> str:
    """Return how scores are bounded: binary (0 or 1), unit (between 0 and 1) or free."""
    if not scores.size or np.all((scores == 0.0) | (scores == 1.0)):
        return "binary"
    return "unit" if scores.min() >= 0.0 and scores.max() <= 1.0 else "free"
