"""Models on the items that both have: values of all models once, pairs and groups of items of them.

Nothing is made for each item: a pair is two rows of numbers and a mask.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, counted, listed
from gnomon.scores.contents import without_score
from gnomon.scores.items import clusters_of_items
from gnomon.scores.table import ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.items.cluster_errors import Clusters
from gnomon.stats.items.item_means import ItemDifference, ItemMean, Moments, moments
from gnomon.stats.items.item_values import ItemMetric, ItemValues, item_values
from gnomon.stats.items.paired import PairCounts

#: Intervals were measured from so many items, and from so many clusters on.
FEW_ITEMS, FEW_CLUSTERS = 20, 5
#: A cluster with more than this share of the items is named in a warning.
LARGE_CLUSTER = 0.5

Mask = npt.NDArray[np.bool_]


class ItemPairs:
    """Values of the models of a table on its items, and what follows for one or two of them.

    Parameters
    ----------
    scores : ScoreTable
        Of items, without steps.

    Examples
    --------
    >>> table = ScoreTable.from_arrays(
    ...     {"a": [[1, 1, 0, 1]], "b": [[1, 0, 0, 1]]}, units="items"
    ... )
    >>> pairs = ItemPairs(table)
    >>> pairs.difference("a", "b", ItemMetric.named("mean")).moments.value
    0.25
    """

    def __init__(self, scores: ScoreTable) -> None:
        self.table, self.scores = scores, scores.item_scores
        # All pairs ask for the same few rows again and again.
        self.values = lru_cache(maxsize=None)(self._values)
        self._whole = lru_cache(maxsize=None)(self._moments)

    def _values(self, model: str, metric: ItemMetric) -> ItemValues:
        return item_values(self.scores, model, metric)

    def mean(self, model: str, metric: ItemMetric, among: Mask | None = None) -> ItemMean:
        """Return the mean of a model over the items that it has, `among` some."""
        own = self.values(model, metric)
        there = own.known if among is None else own.known & among
        scale = "binary" if own.binary else "free" if own.scale == "free" else "unit"
        found = moments(own.values[there], self.clusters(there))
        return ItemMean(found, scale, int(own.n_epochs[there].sum()))

    def shared(self, a: str, b: str, metric: ItemMetric) -> Mask:
        """Return which items two models have, shape (items,)."""
        return self.values(a, metric).known & self.values(b, metric).known

    def expect_shared(self, a: str, b: str, metric: ItemMetric) -> Mask:
        """Return which items two models have.

        Raises
        ------
        ScoreDataError
            None.
        """
        both = self.shared(a, b, metric)
        if not both.any():
            raise ScoreDataError(f"{a} and {b} share no item with a score, so they have no pairs")
        return both

    def difference(
        self, a: str, b: str, metric: ItemMetric, among: Mask | None = None
    ) -> ItemDifference:
        """Return the difference of two models on the items that both have, `among` some."""
        x, y = self.values(a, metric), self.values(b, metric)
        there = self.shared(a, b, metric)
        there = there if among is None else there & among
        bounded, binary = "free" not in (x.scale, y.scale), x.binary and y.binary
        if not there.all():
            pair = x.values[there], y.values[there]
            return ItemDifference.of(*pair, self.clusters(there), bounded=bounded, binary=binary)
        # Of complete rows nothing is computed or copied twice.
        both = moments(x.values - y.values, self._all_clusters)
        counts = PairCounts.of(x.values, y.values) if binary else None
        return ItemDifference(self._whole(a, metric), self._whole(b, metric), both, bounded, counts)

    def _moments(self, model: str, metric: ItemMetric) -> Moments:
        return moments(self.values(model, metric).values, self._all_clusters)

    @cached_property
    def _all_clusters(self) -> Clusters | None:
        codes = self.scores.cluster_of
        return None if codes is None else _numbered(codes)

    def clusters(self, there: Mask) -> Clusters | None:
        """Return the clusters of some items, if the table has clusters."""
        if self.scores.cluster_of is None:
            return None
        return _numbered(self.scores.cluster_of[there])

    def inside(self, column: str | None) -> ItemPairs:
        """Return the same for groups by a column: in a cluster by itself, items were drawn."""
        if column is None or column != self.table.cluster:
            return self
        return ItemPairs(replace(self.table, cluster=None))

    def groups(self, column: str) -> dict[str, Mask]:
        """Return the items of each value of a column, in the order of the table.

        Raises
        ------
        UnknownNameError
            There is no such column.
        ScoreDataError
            An item has two values of it, or none.
        """
        if column not in self.table.attributes:
            raise UnknownNameError("column", column, self.table.attributes)
        names, of = clusters_of_items(self.table.rows, column)
        return {name: of == number for number, name in enumerate(names)}

    def warn_of_unscored(self, models: Iterable[str]) -> None:
        """Say how many samples of some models have no score, and why."""
        own = self.table.rows.take(self.table.rows["algorithm"].isin(models))
        if found := without_score(own):
            warn(f"{found}; values are of the others, and the audit says what that may change")

    def warn_of_lacking(self, models: Iterable[str], metric: ItemMetric) -> None:
        """Say which items each model lacks that another has."""
        known = {model: self.values(model, metric).known for model in models}
        anywhere = np.any(list(known.values()), axis=0)
        for model, there in known.items():
            lacking = np.flatnonzero(anywhere & ~there)
            if lacking.size:
                named = listed([self.scores.items[i] for i in lacking])
                warn(
                    f"{model} lacks {lacking.size} of {counted(int(anywhere.sum()), 'item')} "
                    f"({named}); its mean is over its own, comparisons over those that both have"
                )

    def warn_of_few(self, there: Mask, where: str) -> None:
        """Say that items or clusters are too few, or one cluster too large, for what is known."""
        n, clusters = int(there.sum()), self.clusters(there)
        if n < FEW_ITEMS:
            warn(f"{where}: {counted(n, 'item')}; intervals were measured from {FEW_ITEMS} on")
        if clusters is None:
            return
        if n == 0:
            return
        column, least = self.table.cluster, len(clusters)
        largest = int(np.argmax(clusters.sizes))
        share = clusters.sizes[largest] / n
        if least == 1:
            warn(
                f"{where}: interval not estimable from one cluster ({column}); clusters, not "
                "items, are what was drawn: name a finer column, or none"
            )
        elif least < FEW_CLUSTERS:
            warn(
                f"{where}: {counted(least, 'cluster')} ({column}); intervals were measured from "
                f"{FEW_CLUSTERS} clusters on"
            )
        elif share > LARGE_CLUSTER:
            warn(
                f"{where}: one cluster ({column}) has {share:.0%} of the items; most of what is "
                "unknown is whether another one like it would say the same"
            )


def _numbered(codes: npt.NDArray[np.int64]) -> Clusters:
    """Return the clusters that some items have, numbered without gaps."""
    sizes = np.bincount(codes)
    there = sizes > 0
    if there.all():
        return Clusters(codes, sizes)
    return Clusters((np.cumsum(there) - 1)[codes], sizes[there])
