"""Models on the items of an evaluation: values of items, means and paired differences of models.

Epochs are nested in items: each item has one value, the mean over its epochs or the unbiased
estimate of pass@k or pass^k, and items (or clusters of them) are the sample.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, counted, either, listed
from gnomon.results import made_by
from gnomon.scores.contents import without_score
from gnomon.scores.items import clusters_of_items
from gnomon.scores.table import FloatArray, ScoreTable, Units
from gnomon.stats.cautions import warn
from gnomon.stats.clusters import Clusters, VarianceComponents, variance_components
from gnomon.stats.metrics import Metric, Metrics, metric_list
from gnomon.stats.paired import Differences, ItemMean, paired_differences

IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Metrics of items.
METRICS = ("mean", "pass@K", "pass^K")
#: Intervals were measured from this many items and clusters on.
FEW_ITEMS, FEW_CLUSTERS = 20, 5
#: A cluster with more than this share of the items is named in a warning.
LARGE_CLUSTER = 0.5


def counted_as(scores: ScoreTable, units: Units | None, cluster: str | None) -> ScoreTable:
    """Return a table with other units or clusters; without either, the table itself."""
    if units is None and cluster is None:
        return scores
    kept = scores.cluster if cluster is None and units != "tasks" else cluster
    return replace(scores, units=units or scores.units, cluster=kept)


def expect_items(**asked: str | None) -> None:
    """Reject options that apply to items only."""
    for name, value in asked.items():
        if value is not None:
            raise ScoreDataError(
                f"{name} is for items, found tasks; if the tasks of this table are items that "
                "models share, set units='items'"
            )


def refuse_unlike(**asked: bool) -> None:
    """Reject options that do not apply to items."""
    for name, is_asked in asked.items():
        if is_asked:
            raise ScoreDataError(f"{name} is for tasks and does not apply to items")


def item_settings(scores: ScoreTable, level: float, **settings: Any) -> dict[str, Any]:
    """Return the settings that all results on items share, with further ones."""
    of = {name: getattr(scores, name) for name in ("scale", "higher_is_better", "cluster")}
    return made_by(None, **of, units="items", level=level, method="auto", **settings)


def item_metrics(metrics: Metrics | None) -> list[str]:
    """Return the names of metrics of items, the mean by default."""
    wanted = metric_list(metrics or "mean")
    names = [one.name if isinstance(one, Metric) else one for one in wanted]
    for name in names:
        samples_of(name)
    return names


def samples_of(metric: str) -> int:
    """Return K of ``pass@K`` and ``pass^K``, 0 for the mean."""
    if metric == "mean":
        return 0
    found = re.fullmatch(r"pass[@^]([1-9]\d{0,5})", metric)
    if found is None:
        raise UnknownNameError("metric of items", metric, METRICS)
    return int(found[1])


def pass_at(n: npt.ArrayLike, successes: npt.ArrayLike, k: int) -> FloatArray:
    """Return the unbiased estimate of pass@k: one of k samples of an item succeeds.

    Parameters
    ----------
    n, successes : array_like
        Samples of each item, at least `k`, and how many of them succeed.
    k : int
        Number of samples.

    References
    ----------
    Chen et al. (2021), Evaluating large language models trained on code.

    Examples
    --------
    >>> pass_at(4, [0, 1, 2, 4], 2)
    array([0.        , 0.5       , 0.83333333, 1.        ])
    """
    samples, right = np.asarray(n, dtype=np.float64), np.asarray(successes, dtype=np.float64)
    return 1.0 - pass_hat(samples, samples - right, k)


def pass_hat(n: npt.ArrayLike, successes: npt.ArrayLike, k: int) -> FloatArray:
    """Return the unbiased estimate of pass^k: all of k samples of an item succeed.

    Parameters
    ----------
    n, successes, k
        As in :func:`pass_at`.

    References
    ----------
    Yao, Shinn, Razavi and Narasimhan (2024), tau-bench.

    Examples
    --------
    >>> pass_hat(4, [0, 1, 2, 4], 2)
    array([0.        , 0.        , 0.16666667, 1.        ])
    """
    samples, right = np.asarray(n, dtype=np.float64), np.asarray(successes, dtype=np.float64)
    share = np.ones(np.broadcast(samples, right).shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        for i in range(k):
            share = share * np.maximum(right - i, 0.0) / (samples - i)
    return share


class Items:
    """Values of all models of a table on its items in one metric; means and paired differences.

    Parameters
    ----------
    table : ScoreTable
        Of items, without steps.
    metric : str
        ``mean``, ``pass@K`` or ``pass^K``.
    """

    def __init__(self, table: ScoreTable, metric: str = "mean") -> None:
        self.table, self.metric = table, metric
        self.k = samples_of(metric)
        self._scores = table.item_scores
        self.models, self.names = self._scores.models, self._scores.items
        self.cluster_of = self._scores.cluster_of
        shape = len(self.models), len(self.names)
        self.values, self.n_epochs = np.empty(shape), np.empty(shape, dtype=np.int32)
        self.scales = [self._read(row, model) for row, model in enumerate(self.models)]
        self.known = ~np.isnan(self.values)

    def _samples(self, model: str) -> tuple[IntArray, FloatArray]:
        item, _, score = self._scores.rows(model)
        there = ~np.isnan(score)
        return (item, score) if there.all() else (item[there], score[there])

    def _read(self, row: int, model: str) -> str:
        """Fill in the values of a model; return whether its values are binary, unit or free."""
        item, score = self._samples(model)
        if np.isinf(score).any():
            raise ScoreDataError(f"{model}: expected finite scores of items, found a censored one")
        n = np.bincount(item, minlength=len(self.names))
        total = np.bincount(item, weights=score, minlength=len(self.names))
        scale = _scale(score)
        if self.k:
            values = self._counted(model, n, total, score, scale)
        else:
            with np.errstate(invalid="ignore"):
                values = total / n
        self.values[row], self.n_epochs[row] = values, n
        return "unit" if scale == "binary" and _scale(values[~np.isnan(values)]) != scale else scale

    def _counted(
        self, model: str, n: IntArray, total: npt.NDArray[Any], score: FloatArray, scale: str
    ) -> FloatArray:
        """Return pass@k or pass^k of each item that has k epochs."""
        where = f"{self.metric} of {model}"
        if scale != "binary":
            raise ScoreDataError(
                f"{where}: expected scores 0 or 1, found {score.min():g} to {score.max():g}; "
                "take the mean"
            )
        if not (n >= self.k).any():
            raise ScoreDataError(
                f"{where}: expected {counted(self.k, 'epoch')} of an item or more, found at most "
                f"{int(n.max(initial=0))}"
            )
        few = np.flatnonzero((n > 0) & (n < self.k))
        if few.size:
            named = listed([self.names[i] for i in few])
            warn(
                f"{where}: {counted(few.size, 'item')} with fewer than {self.k} epochs left out "
                f"({named})"
            )
        values = (pass_at if "@" in self.metric else pass_hat)(n, total, self.k)
        return np.where(n >= self.k, values, np.nan)

    def noise(self, model: str) -> FloatArray:
        """Return the variance of each value by its epochs alone, estimated without bias.

        NaN where there are not two epochs for each that is counted. With h(k) the chance that all
        of k samples of an item fail (for pass^k: succeed), the variance of its estimate is
        E h(k)² - h(2k), which has an unbiased estimate from 2k epochs on.
        """
        n = self.n_epochs[self.models.index(model)].astype(np.float64)
        item, score = self._samples(model)
        total = np.bincount(item, weights=score, minlength=len(self.names))
        with np.errstate(invalid="ignore", divide="ignore"):
            if not self.k:
                spread = np.square(score - (total / n)[item])
                squares = np.bincount(item, weights=spread, minlength=len(self.names))
                return np.where(n > 1, squares / (n - 1.0) / n, np.nan)
            alike = n - total if "@" in self.metric else total
            once, twice = pass_hat(n, alike, self.k), pass_hat(n, alike, 2 * self.k)
            return np.where(n >= 2 * self.k, np.square(once) - twice, np.nan)

    def clusters(self, there: Mask) -> Clusters | None:
        """Return the clusters of some items, if the table has clusters."""
        return None if self.cluster_of is None else _numbered(self.cluster_of[there])

    @cached_property
    def _all_clusters(self) -> Clusters | None:
        return None if self.cluster_of is None else _numbered(self.cluster_of)

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
        found.__dict__.pop("_all_clusters", None)
        return found

    def mean(self, model: str, among: Mask | None = None) -> ItemMean:
        """Return the mean of a model over the items that it has (among some)."""
        row = self.models.index(model)
        there = self.known[row] if among is None else self.known[row] & among
        x, n_samples = self.values[row, there], int(self.n_epochs[row, there].sum())
        return ItemMean.of(x, self.scales[row], self.clusters(there), n_samples)

    def components(self, models: Sequence[str], among: Mask | None = None) -> VarianceComponents:
        """Return the variance components of a model's mean, or of the difference of two."""
        there = self.shared(models) if among is None else self.shared(models) & among
        rows = [self.models.index(name) for name in models]
        values = np.compress(there, self.values[rows], axis=1)
        noise = np.array([self.noise(m) for m in models])
        value = values[0] - values[1] if len(rows) > 1 else values[0]
        n_epochs = self.n_epochs[rows][:, there].min(axis=0)
        return variance_components(
            value, noise[:, there].sum(axis=0), n_epochs, self.clusters(there)
        )

    def shared(self, models: Iterable[str]) -> Mask:
        """Return which items all of some models have, shape (items,)."""
        rows = [self.models.index(name) for name in models]
        return np.asarray(self.known[rows].all(axis=0))

    def differences(
        self, pairs: Sequence[tuple[str, str]], among: Mask | None = None
    ) -> Differences:
        """Return the differences of pairs of models on the items that both have (among some)."""
        place = {name: row for row, name in enumerate(self.models)}
        names = sorted({name for pair in pairs for name in pair}, key=place.__getitem__)
        rows = [place[name] for name in names]
        known = self.known[rows] if among is None else self.known[rows] & among
        there = np.asarray(known.all(axis=0))
        if len(pairs) > 1 and known.sum() > there.sum() * len(rows):  # items differ by pair
            parts = [self.differences([pair], among) for pair in pairs]
            return Differences(
                *(np.concatenate([getattr(x, f.name) for x in parts]) for f in fields(Differences))
            )
        whole = bool(there.all())
        y = self.values if len(rows) == len(self.models) else self.values[rows]
        y = y if whole else np.compress(there, y, axis=1)
        scales = np.array([self.scales[row] for row in rows])
        at = np.array([[names.index(name) for name in pair] for pair in pairs])
        clusters = self._all_clusters if whole else self.clusters(there)
        return paired_differences(y, at, scales, clusters)

    def warn_of_unscored(self, models: Iterable[str]) -> None:
        """Warn of samples without a score."""
        rows = self.table.rows
        absent = rows["algorithm"].isin(models) & np.isnan(rows["score"])
        if found := without_score(rows.take(absent)):
            audit = either("audit(scores)", "gnomon audit")
            warn(f"{found}; values use the others, {audit} shows what that may change")

    def warn_of_missing(self, models: Iterable[str]) -> None:
        """Warn of items that a model lacks and another has."""
        known = {model: self.known[self.models.index(model)] for model in models}
        anywhere = np.logical_or.reduce(list(known.values()))
        for model, there in known.items():
            lacking = np.flatnonzero(anywhere & ~there)
            if lacking.size:
                named = listed([self.names[i] for i in lacking])
                warn(
                    f"{model} lacks {lacking.size} of {counted(int(anywhere.sum()), 'item')} "
                    f"({named}); its mean is over its own items, comparisons over shared ones"
                )

    def warn_of_few(self, there: Mask, where: str) -> None:
        """Warn of few items or clusters, and of one cluster that dominates."""
        n, clusters, column = int(there.sum()), self.clusters(there), self.table.cluster
        if n < FEW_ITEMS:
            warn(f"{where}: {counted(n, 'item')}; intervals were measured from {FEW_ITEMS} on")
        if clusters is None or n == 0:
            return
        share = clusters.sizes.max() / n
        if len(clusters) == 1:
            warn(
                f"{where}: interval not estimable from one cluster ({column}); clusters, not "
                "items, are the sample: name a finer column, or none"
            )
        elif len(clusters) < FEW_CLUSTERS:
            warn(
                f"{where}: {counted(len(clusters), 'cluster')} ({column}); intervals were measured "
                f"from {FEW_CLUSTERS} clusters on"
            )
        elif share > LARGE_CLUSTER:
            warn(
                f"{where}: one cluster ({column}) has {share:.0%} of the items and decides most of "
                "the interval"
            )


def _scale(scores: FloatArray) -> str:
    """Return how scores are bounded: binary (0 or 1), unit (between 0 and 1) or free."""
    if not scores.size or np.all((scores == 0.0) | (scores == 1.0)):
        return "binary"
    return "unit" if scores.min() >= 0.0 and scores.max() <= 1.0 else "free"


def _numbered(codes: IntArray) -> Clusters:
    """Return the clusters of some items, numbered without gaps."""
    sizes = np.bincount(codes)
    there = sizes > 0
    if there.all():
        return Clusters(codes, sizes)
    return Clusters((np.cumsum(there) - 1)[codes], sizes[there])
