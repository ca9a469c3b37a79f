"""Estimates and comparisons of models on items: the records and tables that verbs return."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gnomon.errors import ScoreDataError, counted
from gnomon.results import Row, recorded
from gnomon.scores.table import ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.comparison import Comparison, Comparisons
from gnomon.stats.estimates import Estimate, Estimates
from gnomon.stats.items import Items, Mask, item_metrics, item_settings
from gnomon.stats.metrics import Metrics
from gnomon.stats.rank_tests import holm

#: Power of the smallest detectable difference.
POWER = 0.8
#: The test behind the p-value of each method.
TESTS = {
    "tango": "McNemar's mid-p",
    "paired_t": "Student's t",
    "cluster_t": "Student's t with cluster-robust errors",
    "sign_flips": "random sign flips of items or clusters",
}


@dataclass(frozen=True, slots=True)
class ItemEstimate(Estimate):
    """One number about one model on items.

    Parameters
    ----------
    algorithm, metric, value, low, high, level, n_runs, n_tasks
        As in :class:`~gnomon.stats.Estimate`: tasks are items, and runs are epochs.
    method : str
        ``wilson`` for right or wrong, ``effective_wilson`` for other scores between 0 and 1, ``t``
        for unbounded scores; in clusters ``cluster_wilson`` and ``cluster_t``.
    task : str, optional
        The group of items, in estimates by groups.
    standard_error : float
        Of the mean: the spread of items, or of clusters, over the root of their number.
    n_clusters : int or None
        Number of clusters.
    df : float
        Degrees of freedom of the standard error.
    design_effect : float
        Variance of the mean over that of independent items; 1 without clusters.
    from_clusters, from_items, from_epochs : float
        Shares of the variance of the mean. That of epochs is NaN, and included in that of items,
        where no item has two.

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
    """Estimates of models on items; see :func:`~gnomon.stats.estimate`."""

    columns = (
        *("task", "algorithm", "metric", "value", "low", "high", "method", "n_tasks"),
        *("n_clusters", "from_clusters", "from_items", "from_epochs"),
    )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the intervals are about, and what the variance is made of."""
        cluster = self.settings.get("cluster")
        sample = f"clusters ({cluster})" if cluster else "items"
        notes = [f"Intervals treat the {sample} as a sample of more like them."]
        if any(name.startswith("from_") for name in self._shown(self.rows())):
            notes.append("from_...: shares of the variance of the mean, as used for plans.")
        return tuple(notes)

    def rows(self) -> Sequence[Row]:
        """Return the records, with an empty group for all items together."""
        return self.as_records()

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        alone = all(row["from_epochs"] is None for row in rows) and not self.settings.get("cluster")
        hidden = {"from_clusters", "from_items", "from_epochs"} if alone else set()
        absent = {name for name in self.columns if all(row.get(name) is None for row in rows)}
        return [name for name in self.columns if name not in hidden | absent]


def estimate_items(
    scores: ScoreTable,
    metrics: Metrics | None = None,
    *,
    by: str | None = None,
    level: float = 0.95,
) -> ItemEstimates:
    """Estimate every model on the items that it has; with `by`, on each group of items too."""
    found: list[ItemEstimate] = []
    with recorded() as notes:
        every = [Items(scores, metric) for metric in item_metrics(metrics)]
        every[0].warn_of_unscored(scores.algorithms)
        for items in every:
            items.warn_of_missing(items.models)
            items.warn_of_few(np.asarray(items.known.any(axis=0)), items.metric)
        found += (_estimate(items, m, level) for m in scores.algorithms for items in every)
        for name, at in every[0].groups(by).items() if by is not None else ():
            inside = [items.inside(str(by)) for items in every]
            found += (
                _estimate(items, model, level, name, at)
                for model in scores.algorithms
                for items in inside
                if (items.shared([model]) & at).any()
            )
    direction = "higher" if scores.higher_is_better else "lower"
    settings = item_settings(scores, level, title=f"{scores.metric}, {direction} is better", by=by)
    return ItemEstimates(tuple(found), settings, tuple(notes))


def _estimate(
    items: Items, model: str, level: float, task: str | None = None, among: Mask | None = None
) -> ItemEstimate:
    mean, where = items.mean(model, among), f"{items.metric} of {model}"
    low, high = mean.interval(level)
    if mean.n == 0:
        warn(f"{where}: not estimable, it has no item with a score")
    elif task is None and mean.scale == "binary" and mean.value in (0.0, 1.0):
        warn(f"{where}: all {counted(mean.n, 'item')} are {'right' if mean.value else 'wrong'}")
    elif task is None and math.isnan(low) and not math.isnan(mean.variance):
        warn(f"{where}: interval not estimable, the scores do not vary")
    shares = (math.nan,) * 3
    if mean.n > 1:
        shares = items.components([model], among).shares
    there = items.shared([model]) if among is None else items.shared([model]) & among
    n_epochs = items.n_epochs[items.models.index(model), there]
    most = int(n_epochs.max(initial=0))
    least = int(n_epochs.min(initial=most))
    return ItemEstimate(
        algorithm=model,
        metric=items.metric,
        value=mean.value,
        low=low,
        high=high,
        level=level,
        method=mean.method,
        n_runs=least if least == most else (least, most),
        n_tasks=mean.n,
        task=task,
        standard_error=math.sqrt(mean.variance),
        n_clusters=None if mean.clusters is None else len(mean.clusters),
        df=mean.df,
        design_effect=mean.design_effect,
        from_clusters=shares[0],
        from_items=shares[1],
        from_epochs=shares[2],
    )


@dataclass(frozen=True, slots=True)
class ItemComparison(Comparison):
    """How much better one model is than another on the items that both have.

    Parameters
    ----------
    a, b, metric, value, low, high, p_value, p_adjusted, level, method
        As in :class:`~gnomon.stats.Comparison`; the method is ``tango`` (right or wrong),
        ``paired_t``, ``cluster_t``, or ``sign_flips`` where differences do not vary: p-values are
        2 ** (1 - n) for n items or clusters, intervals the exact binomial bound for scores between
        0 and 1, and not estimable otherwise.
    task : str or None
        The group of items, in comparisons by groups.
    n_items : int
        Items that both have.
    n_clusters : int or None
        Clusters of these.
    df : float
        Degrees of freedom: of the clusters, or items minus 1.
    only_a, only_b : int or None
        Items that one of them alone solves, for scores 0 and 1.
    unpaired_low, unpaired_high : float
        The interval for models on different items.
    detectable : float
        The smallest difference that this many items find with power 0.8.
    contribution : float
        What the group adds to the whole difference, by its number of items; NaN for all together.
    share : float
        The contribution over the whole difference; NaN where that may be 0.

    Examples
    --------
    >>> from gnomon.stats import compare
    >>> scores = {"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}
    >>> (one,) = compare(ScoreTable.from_arrays(scores, units="items"), "a", "b")
    >>> one.value, one.only_a, one.only_b, one.method
    (0.25, 8, 0, 'tango')
    """

    n_items: int
    n_clusters: int | None
    df: float
    only_a: int | None
    only_b: int | None
    unpaired_low: float
    unpaired_high: float
    detectable: float
    contribution: float = math.nan
    share: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class ItemComparisons(Comparisons):
    """Comparisons of models on the same items; see :func:`~gnomon.stats.compare`."""

    columns = (
        *("a", "b", "metric", "task", "value", "low", "high", "p_value", "p_adjusted", "n_items"),
        *("n_clusters", "detectable", "share", "better"),
    )
    drawn_by = "gnomon.plot.dots:item_comparison_figure"

    @property
    def title(self) -> str:
        """How to read the values."""
        cluster = self.settings.get("cluster")
        of = f"clusters by {cluster}" if cluster else "independent items"
        return f"a minus b on the same items, {of}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The unpaired answer to the first question, the tests, and their correction."""
        whole = [one for one in self if one.task is None and isinstance(one, ItemComparison)]
        notes = [_unpaired(one) for one in whole[:1] if not math.isnan(one.unpaired_low)]
        notes += [
            f"{one.a} alone is right on {counted(one.only_a, 'item')}, {one.b} alone on "
            f"{one.only_b:,}."
            for one in whole
            if len(whole) == 1 and one.only_a is not None and one.only_b is not None
        ]
        tests = dict.fromkeys(TESTS[one.method] for one in self)
        notes.append(
            f"detectable: the smallest difference found with power {POWER:g}; "
            f"p_value: {', '.join(tests)}."
        )
        if any(one.p_adjusted != one.p_value for one in self):
            notes.append(f"p_adjusted: {self.settings['family']}.")
        return tuple(notes)

    def rows(self) -> Sequence[Row]:
        """Return the records, the share of the difference in per cent."""
        rows = self.as_records()
        for row in rows:
            row["share"] = None if row["share"] is None else f"{row['share']:.0%}"
        return rows

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        absent = [name for name in self.columns if all(row[name] is None for row in rows)]
        if all(row["p_adjusted"] == row["p_value"] for row in rows):
            absent.append("p_adjusted")
        return [name for name in self.columns if name not in absent]


def _unpaired(one: ItemComparison) -> str:
    """Return the unpaired interval, and the gain from pairing."""
    text = f"Unpaired interval of {one.a} and {one.b}: "
    text += f"[{one.unpaired_low:.4g}, {one.unpaired_high:.4g}]"
    ratio = (one.high - one.low) / (one.unpaired_high - one.unpaired_low)
    if not ratio > 0.0:
        return f"{text}."
    return (
        f"{text}; pairing makes the interval {ratio:.2f} times as wide, like {ratio**-2:.2g} times "
        "as many items would."
    )


def compare_items(
    scores: ScoreTable,
    pair: tuple[str, str] | None,
    metrics: Metrics | None = None,
    *,
    by: str | None = None,
    level: float = 0.95,
) -> ItemComparisons:
    """Compare two models, or all pairs with Holm's correction, on the items that both have.

    With `by` and a pair, each group of items is compared too, with Holm's correction over groups.
    """
    pairs = [pair] if pair is not None else list(combinations(scores.algorithms, 2))
    models = pair or scores.algorithms
    wanted = item_metrics(metrics)
    found: list[ItemComparison] = []
    with recorded() as notes:
        for metric in wanted:
            items = Items(scores, metric)
            if metric == wanted[0]:
                items.warn_of_unscored(models)
            items.warn_of_missing(models)
            own = _compared(items, pairs, level)
            _warn_of_few(items, pair, own)
            found += own if pair is not None else _corrected(own)
            if by is not None and pair is not None:
                found += _by_groups(items, own[0], by, level)
    each = "" if len(wanted) == 1 else f", for each of {len(wanted)} metrics by itself"
    family = "not corrected, one test" + (" for each metric" if len(wanted) > 1 else "")
    if pair is None:
        family = f"Holm's correction over {counted(len(pairs), 'pair')}{each}"
    elif by is not None:
        n = len({one.task for one in found} - {None})
        family = f"Holm's correction over {counted(n, 'group')}{each}; all items: not corrected"
    settings = item_settings(scores, level, by=by, correction="holm", family=family)
    return ItemComparisons(tuple(found), settings, tuple(notes))


def _warn_of_few(
    items: Items, pair: tuple[str, str] | None, found: Sequence[ItemComparison]
) -> None:
    """Warn of few items or clusters, and of pairs without an interval."""
    for one in found:
        names = f"{one.a} and {one.b}"
        if one.n_items == 0:
            if pair is not None:
                raise ScoreDataError(f"{names} share no item with a score")
            warn(f"{names} share no item with a score: not estimable")
        elif math.isnan(one.low) and not math.isnan(one.p_value):
            unit = "item" if one.n_clusters is None else "cluster"
            n = one.n_items if one.n_clusters is None else one.n_clusters
            warn(
                f"{items.metric} of {names}: interval not estimable, the differences of "
                f"{counted(n, unit)} do not vary"
            )
    if pair is not None:
        items.warn_of_few(items.shared(pair), f"{items.metric} of {pair[0]} and {pair[1]}")
        return
    there = items.known.sum(axis=0) > 1
    items.warn_of_few(there, f"{items.metric} of {len(items.models)} models")


def _compared(
    items: Items,
    pairs: Sequence[tuple[str, str]],
    level: float,
    task: str | None = None,
    among: Mask | None = None,
) -> list[ItemComparison]:
    """Return comparisons, not corrected; NaN where there is no interval."""
    of = items.differences(pairs, among)
    columns = (
        *(of.value, *of.interval(level), of.p_values, of.methods, of.n, of.units, of.clustered),
        *(of.df, of.only_a, of.only_b, *of.unpaired_interval(level), of.detectable(level, POWER)),
    )
    rows = zip(*(list(column) for column in columns), strict=True)
    found = []
    for (a, b), row in zip(pairs, rows, strict=True):
        value, low, high, p, method, n, units, clustered, df, only_a, only_b, *rest = row
        one = ItemComparison(
            a=a,
            b=b,
            metric=items.metric,
            task=task,
            value=float(value),
            low=float(low),
            high=float(high),
            p_value=float(p),
            p_adjusted=float(p),
            level=level,
            method=method,
            n_items=int(n),
            n_clusters=int(units) if clustered else None,
            df=float(df),
            only_a=None if math.isnan(only_a) else int(only_a),
            only_b=None if math.isnan(only_b) else int(only_b),
            unpaired_low=float(rest[0]),
            unpaired_high=float(rest[1]),
            detectable=float(rest[2]),
        )
        found.append(one)
    return found


def _by_groups(items: Items, whole: ItemComparison, by: str, level: float) -> list[ItemComparison]:
    """Return a comparison for each group of items, with its share of the difference."""
    a, b, clear = whole.a, whole.b, whole.low > 0.0 or whole.high < 0.0
    there = items.shared((a, b))
    groups = {name: at for name, at in items.groups(by).items() if (there & at).any()}
    if len(groups) < 2:
        raise ScoreDataError(
            f"by {by}: expected two groups of items or more, found {', '.join(groups)} alone"
        )
    found, inside = [], items.inside(by)
    for name, at in groups.items():
        (one,) = _compared(inside, [(a, b)], level, name, at)
        own = one.value * one.n_items / whole.n_items
        found.append(replace(one, contribution=own, share=own / whole.value if clear else math.nan))
    alone = [str(one.task) for one in found if math.isnan(one.low)]
    if alone:
        warn(f"by {by}: interval not estimable for {', '.join(alone)}")
    return _corrected(found)


def _corrected(found: Sequence[ItemComparison]) -> list[ItemComparison]:
    """Return the comparisons with p-values by Holm's correction over all of them."""
    adjusted = holm([one.p_value for one in found])
    return [replace(one, p_adjusted=float(p)) for one, p in zip(found, adjusted, strict=True)]
