"""Estimates of models on items: share, mean, pass@k and pass^k, by what the scores are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError, counted
from gnomon.results import Row, made_by, recorded
from gnomon.scores.table import ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.estimate_records import Estimate, Estimates
from gnomon.stats.items.item_comparisons import item_metrics
from gnomon.stats.items.item_pairs import ItemPairs, Mask
from gnomon.stats.items.item_values import ItemMetric
from gnomon.stats.items.variance_components import variance_components
from gnomon.stats.metrics import Metrics

#: How the interval of a share of right items is made; ``auto`` for all other scores.
ItemMethod = Literal["auto", "wilson", "beta", "clopper_pearson"]


@dataclass(frozen=True, slots=True)
class ItemEstimate(Estimate):
    """One number about one model on items.

    Parameters
    ----------
    algorithm, metric, value, low, high, level, n_runs, n_tasks, n_resamples, mc_error
        As in :class:`~gnomon.stats.Estimate`: tasks are items, and runs are epochs.
    method : str
        ``wilson``, ``beta`` or ``clopper_pearson`` of right or wrong; ``effective_wilson`` of other
        scores between 0 and 1, ``t`` of scores without bounds; of clusters ``cluster_wilson`` and
        ``cluster_t``.
    task : str, optional
        The group of items, of estimates by groups.
    standard_error : float
        Of the mean: the spread of items, or of clusters, over the root of their number.
    n_clusters : int or None
    df : float
        Degrees of freedom of the standard error.
    design_effect : float
        Variance of the mean over that of independent items; 1 without clusters.
    from_clusters, from_items, from_epochs : float
        Shares of the variance of the mean; that of epochs is NaN, and in that of items, where no
        item has two. All NaN for ``pass@K`` and ``pass^K``.

    Examples
    --------
    >>> from gnomon.stats import estimate
    >>> table = ScoreTable.from_arrays({"a": [[1, 1, 0, 1] * 8]}, units="items")
    >>> (one,) = estimate(table)
    >>> one.method, round(one.low, 3), round(one.high, 3)
    ('wilson', 0.579, 0.867)
    """

    standard_error: float = math.nan
    n_clusters: int | None = None
    df: float = math.nan
    design_effect: float = math.nan
    from_clusters: float = math.nan
    from_items: float = math.nan
    from_epochs: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class ItemEstimates(Estimates):
    """Estimates of models on items; see :func:`~gnomon.stats.estimate`.

    Examples
    --------
    >>> from gnomon.stats import estimate
    >>> table = ScoreTable.from_arrays({"a": [[1, 1, 0, 1] * 8, [1, 0, 0, 1] * 8]}, units="items")
    >>> [one.metric for one in estimate(table, ["mean", "pass@2", "pass^2"])]
    ['mean', 'pass@2', 'pass^2']
    """

    columns = (
        *("task", "algorithm", "metric", "value", "low", "high", "method", "n_tasks"),
        *("n_clusters", "from_clusters", "from_items", "from_epochs"),
    )

    @property
    def notes(self) -> tuple[str, ...]:
        """Of what population the intervals are, and what the variance is made of."""
        cluster = self.settings.get("cluster")
        what = f"clusters ({cluster})" if cluster else "items"
        told = [f"Intervals are of {what} like these: they are a sample."]
        if any(name.startswith("from_") for name in self._shown(self.rows())):
            told.append("from_...: shares of the variance of the mean; gnomon plan uses them.")
        return tuple(told)

    def rows(self) -> Sequence[Row]:
        """Return the records, of all items together without a group."""
        return [{"task": None, **record} for record in self.as_records()]

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        alone = all(row["from_epochs"] is None for row in rows) and not self.settings.get("cluster")
        hidden = {"from_clusters", "from_items", "from_epochs"} if alone else set()
        absent = {name for name in self.columns if all(row.get(name) is None for row in rows)}
        return [name for name in self.columns if name not in hidden | absent]


def item_method(name: str) -> ItemMethod:
    """Return the name of a method that items have.

    Raises
    ------
    UnknownNameError
        They have no such method.

    Examples
    --------
    >>> item_method("beta")
    'beta'
    """
    for known in get_args(ItemMethod):
        if name == known:
            found: ItemMethod = known
            return found
    raise UnknownNameError("method of items", name, get_args(ItemMethod))


def estimate_items(
    scores: ScoreTable,
    metrics: Metrics | None = None,
    *,
    by: str | None = None,
    level: float = 0.95,
    method: ItemMethod = "auto",
) -> ItemEstimates:
    """Estimate every model on the items that it has.

    Parameters
    ----------
    scores : ScoreTable
        Of items.
    metrics : str or sequence of str, optional
        ``mean`` if not given, ``pass@K``, ``pass^K``.
    by : str, optional
        A column whose groups of items are estimated each by itself too.
    level : float
    method : str
        ``auto``, or for a share of independent right items ``wilson`` (which is that), ``beta``
        (Jeffreys) or ``clopper_pearson`` (never below its level).

    Returns
    -------
    ItemEstimates
        For each model the metrics; with `by`, all of that again for each group.
    """
    pairs = ItemPairs(scores)
    with recorded() as notes:
        pairs.warn_of_unscored(pairs.scores.models)
        found = list(_of_models(pairs, metrics, level, method))
        for name, at in pairs.groups(by).items() if by is not None else ():
            found += _of_models(pairs.inside(by), metrics, level, method, name, at)
    direction = "higher" if scores.higher_is_better else "lower"
    settings = made_by(
        None,
        title=f"{scores.metric}, {direction} is better",
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        units="items",
        cluster=scores.cluster,
        by=by,
        level=level,
        method=method,
    )
    return ItemEstimates(tuple(found), settings, tuple(notes))


def _of_models(
    pairs: ItemPairs,
    metrics: Metrics | None,
    level: float,
    method: ItemMethod,
    task: str | None = None,
    among: Mask | None = None,
) -> Iterator[ItemEstimate]:
    """Yield the estimates of all models, over all items or a group of them."""
    for metric in item_metrics(metrics):
        if task is None:
            pairs.warn_of_lacking(pairs.scores.models, metric)
            known = [pairs.values(model, metric).known for model in pairs.scores.models]
            pairs.warn_of_few(np.logical_or.reduce(known), metric.name)
    for model in pairs.scores.models:
        for metric in item_metrics(metrics):
            if among is not None and not (pairs.values(model, metric).known & among).any():
                continue
            yield _estimated(pairs, model, metric, level, method, task, among)


def _estimated(
    pairs: ItemPairs,
    model: str,
    metric: ItemMetric,
    level: float,
    method: ItemMethod,
    task: str | None,
    among: Mask | None,
) -> ItemEstimate:
    found = pairs.mean(model, metric, among)
    m, own = found.moments, pairs.values(model, metric)
    if method != "auto" and found.method != "wilson":
        raise ScoreDataError(
            f"method {method} is for a share of independent items that are right or wrong; those "
            f"of {model} have {found.method}: take auto"
        )
    if task is None and found.scale == "binary" and m.value in (0.0, 1.0):
        what = "right" if m.value else "wrong"
        warn(
            f"{metric.name} of {model}: all of {counted(m.n, 'item')} are {what}; the interval "
            "says no more than how few the others may be"
        )
    there = own.known if among is None else own.known & among
    n_epochs = own.n_epochs[there]
    shares = (math.nan, math.nan, math.nan)
    if m.n > 1:
        of = own.values[there], own.noise[there], n_epochs, pairs.clusters(there)
        shares = variance_components(*of).shares
    low, high = found.interval(level, None if method == "auto" else method)
    least, most = int(n_epochs.min(initial=n_epochs.max(initial=0))), int(n_epochs.max(initial=0))
    if m.n == 0:
        warn(f"{metric.name} of {model}: not estimable, it has a score on no item")
    return ItemEstimate(
        algorithm=model,
        metric=metric.name,
        value=m.value,
        low=low,
        high=high,
        level=level,
        method=found.method if method == "auto" else method,
        n_runs=least if least == most else (least, most),
        n_tasks=m.n,
        n_resamples=0,
        mc_error=0.0,
        task=task,
        standard_error=math.sqrt(m.variance),
        n_clusters=m.n_clusters,
        df=m.df,
        design_effect=m.design_effect,
        from_clusters=shares[0],
        from_items=shares[1],
        from_epochs=shares[2],
    )
