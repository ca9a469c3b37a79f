"""Comparisons of models on the same items: paired, with what pairing gained and can tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gnomon.errors import ScoreDataError, counted
from gnomon.results import Row, made_by, recorded
from gnomon.scores.table import ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons
from gnomon.stats.comparisons.rank_tests import holm
from gnomon.stats.items.item_pairs import ItemPairs, Mask
from gnomon.stats.items.item_values import ItemMetric
from gnomon.stats.items.paired import mcnemar
from gnomon.stats.metrics import Metric, Metrics, metric_list
from gnomon.tables import p_value as p_in_words


@dataclass(frozen=True, slots=True)
class ItemComparison(Comparison):
    """How much better one model is than another on the items that both have.

    Parameters
    ----------
    a, b, metric, value, low, high, p_value, p_adjusted, level, method, n_resamples, mc_error
        As in :class:`~gnomon.stats.Comparison`; the method is ``tango`` (right or wrong),
        ``paired_t``, or ``cluster_t``; p-values are McNemar's mid-p, or Student's t.
    task : str or None
        The group of items, of a comparison by groups.
    n_items : int
        Items that both have.
    n_clusters : int or None
    df : float
        Degrees of freedom: of the clusters, or one less than items.
    only_a, only_b : int or None
        Items that one of them alone solves, of scores 0 and 1.
    p_exact : float
        McNemar's exact p-value, that counts what was seen in full; NaN if it is not binary.
    unpaired_low, unpaired_high : float
        The interval as if each model had had items of its own.
    width_ratio : float
        Width of the paired interval over that of the unpaired one.
    detectable : float
        The smallest difference that so many items tell with a power of 0.8.
    contribution : float
        What the group adds to the whole difference, by its number of items; NaN of all together.
    share : float
        That over the whole difference; NaN where the interval of that holds 0, too.

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
    p_exact: float
    unpaired_low: float
    unpaired_high: float
    width_ratio: float
    detectable: float
    contribution: float = math.nan
    share: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class ItemComparisons(Comparisons):
    """Comparisons of models on the same items; see :func:`~gnomon.stats.compare`.

    Examples
    --------
    >>> from gnomon.stats import compare
    >>> scores = {"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}
    >>> found = compare(ScoreTable.from_arrays(scores, units="items"), "a", "b")
    >>> found.settings["units"]
    'items'
    """

    columns = (
        *("a", "b", "metric", "task", "value", "low", "high", "p_value", "p_adjusted", "n_items"),
        *("n_clusters", "detectable", "share"),
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
        """What stands beside the difference, and which p-values were corrected together."""
        whole = [one for one in self if one.task is None and isinstance(one, ItemComparison)]
        notes = [_unpaired(one) for one in whole[:1]]
        notes += _counts(whole[0]) if len(whole) == 1 else []
        told = "detectable: the smallest difference that so many items tell with power 0.8"
        tests = {
            "tango": "p_value: McNemar's mid-p",
            "paired_t": "p_value: Student's t",
            "cluster_t": "p_value: Student's t of cluster-robust errors",
        }
        methods = dict.fromkeys(tests[one.method] for one in self if one.method in tests)
        family = self.settings.get("family")
        shown = any(one.p_adjusted != one.p_value for one in self)
        adjusted = [f"p_adjusted: {family}."] if family and shown else []
        return (*notes, f"{told}; {'; '.join(methods)}.", *adjusted)

    def rows(self) -> Sequence[Row]:
        """Return the records, the share of the difference in per cent."""
        rows = self.as_records()
        for row in rows:
            share = row["share"]
            row["share"] = None if share is None else f"{share:.0%}"
        return rows

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        absent = [name for name in self.columns if all(row[name] is None for row in rows)]
        if all(row["p_adjusted"] == row["p_value"] for row in rows):
            absent.append("p_adjusted")
        return [name for name in self.columns if name not in absent]


def _unpaired(one: ItemComparison) -> str:
    """Return the unpaired answer to the first question, and what pairing gained."""
    if math.isnan(one.low):
        return "unpaired: not estimable."
    ends = f"unpaired, {one.a} and {one.b}: [{one.unpaired_low:.4g}, {one.unpaired_high:.4g}]"
    if not one.width_ratio > 0.0:
        return f"{ends}."
    return (
        f"{ends}; pairing makes the interval {one.width_ratio:.2f} times as wide, as "
        f"{one.width_ratio**-2:.2g} times as many items would."
    )


def _counts(one: ItemComparison) -> list[str]:
    """Return the items that decide, and the exact test of them, of scores that are 0 and 1."""
    if one.method != "tango":
        return []
    return [
        f"{one.a} alone is right on {one.only_a} items, {one.b} alone on {one.only_b}: McNemar's "
        f"exact p {p_in_words(one.p_exact, '= ')}."
    ]


def item_metrics(metrics: Metrics | None) -> list[ItemMetric]:
    """Return metrics of items, the mean if none is named.

    Raises
    ------
    UnknownNameError
        Items have no such metric.
    """
    wanted = metric_list(metrics or "mean")
    return [ItemMetric.named(one.name if isinstance(one, Metric) else one) for one in wanted]


def compare_items(
    scores: ScoreTable,
    pair: tuple[str, str] | None,
    metrics: Metrics | None = None,
    *,
    by: str | None = None,
    level: float = 0.95,
) -> ItemComparisons:
    """Compare two models, or every two, on the items that both have.

    p-values of all pairs are corrected by Holm's steps.

    Right or wrong, without clusters: Tango's interval and McNemar's test; other scores, or several
    epochs: Student's t of the items' differences; items in clusters: cluster-robust
    (:mod:`gnomon.stats.items.cluster_errors`).

    Parameters
    ----------
    scores : ScoreTable
        Of items.
    pair : (str, str) or None
        None for all pairs.
    metrics : str or sequence of str, optional
        ``mean`` if not given, ``pass@K``, ``pass^K``.
    by : str, optional
        A column whose groups of items are compared each by itself too; for a pair.
    level : float

    Returns
    -------
    ItemComparisons
    """
    pairs = ItemPairs(scores)
    found: list[ItemComparison] = []
    wanted = item_metrics(metrics)
    with recorded() as notes:
        pairs.warn_of_unscored(pair or scores.algorithms)
        for metric in wanted:
            chosen = [pair] if pair is not None else list(combinations(scores.algorithms, 2))
            pairs.warn_of_lacking(pair or scores.algorithms, metric)
            _warn_of_few(pairs, pair, chosen, metric)
            own = [_compared(pairs, a, b, metric, level) for a, b in chosen]
            if pair is None:
                own = _corrected(own)
            found += own
            if by is not None and pair is not None:
                found += _by_groups(pairs, own[0], metric, by, level)
    settings = made_by(
        None,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        units="items",
        cluster=scores.cluster,
        by=by,
        correction="holm",
        family=_family(found, pair, by, len(wanted)),
        level=level,
        method="auto",
    )
    return ItemComparisons(tuple(found), settings, tuple(notes))


def _warn_of_few(
    pairs: ItemPairs,
    pair: tuple[str, str] | None,
    chosen: Sequence[tuple[str, str]],
    metric: ItemMetric,
) -> None:
    """Say that items or clusters are few; refuse a pair without items, name one among others."""
    if pair is not None:
        there = pairs.expect_shared(*pair, metric)
        pairs.warn_of_few(there, f"{metric.name} of {' and '.join(pair)}")
        return
    some = np.zeros(len(pairs.scores.items), dtype=bool)
    for a, b in chosen:
        both = pairs.shared(a, b, metric)
        some |= both
        if not both.any():
            warn(f"{a} and {b} share no item with a score: not estimable")
    pairs.warn_of_few(some, f"{metric.name} of {len(pairs.scores.models)} models")


def _family(
    found: Sequence[ItemComparison],
    pair: tuple[str, str] | None,
    by: str | None,
    n_metrics: int,
) -> str:
    """Say which p-values were corrected together, and by what."""
    each = "" if n_metrics == 1 else f", for each of {n_metrics} metrics by itself"
    if pair is None:
        return f"Holm's correction over {counted(len(found) // n_metrics, 'pair')}{each}"
    if by is not None:
        n = len({one.task for one in found} - {None})
        return f"Holm's correction over {counted(n, 'group')}{each}; of all items, not corrected"
    return "not corrected, " + ("one test" if n_metrics == 1 else "one test for each metric")


def _compared(
    pairs: ItemPairs, a: str, b: str, metric: ItemMetric, level: float, task: str | None = None,
    among: Mask | None = None,
) -> ItemComparison:  # fmt: skip
    """Return one comparison; NaN where there is no interval."""
    found = pairs.difference(a, b, metric, among)
    m, counts = found.moments, found.scored
    low = high = other_low = other_high = p_value = detectable = math.nan
    if not math.isnan(m.variance):
        low, high = found.interval(level)
        other_low, other_high = found.unpaired_interval(level)
        p_value, detectable = found.p_value, found.detectable(level)
    wide = other_high - other_low
    exact = mcnemar(counts.only_a, counts.only_b, mid=False) if counts and m.n else math.nan
    return ItemComparison(
        a=a,
        b=b,
        metric=metric.name,
        task=task,
        value=m.value,
        low=low,
        high=high,
        p_value=p_value,
        p_adjusted=p_value,
        level=level,
        method=found.method,
        n_resamples=0,
        mc_error=0.0,
        n_items=m.n,
        n_clusters=m.n_clusters,
        df=m.df,
        only_a=found.counts.only_a if found.counts else None,
        only_b=found.counts.only_b if found.counts else None,
        p_exact=exact,
        unpaired_low=other_low,
        unpaired_high=other_high,
        width_ratio=(high - low) / wide if wide > 0.0 else math.nan,
        detectable=detectable,
    )


def _by_groups(
    pairs: ItemPairs, whole: ItemComparison, metric: ItemMetric, by: str, level: float
) -> list[ItemComparison]:
    """Return a comparison for each group of items, with the share of the difference it carries."""
    a, b, told = whole.a, whole.b, whole.low > 0.0 or whole.high < 0.0
    both = pairs.shared(a, b, metric)
    groups = {name: at for name, at in pairs.groups(by).items() if (both & at).any()}
    if len(groups) < 2:
        raise ScoreDataError(
            f"by {by}: expected two groups of items or more, found {', '.join(groups)} alone"
        )
    found, alone, inside = [], [], pairs.inside(by)
    for name, at in groups.items():
        one = _compared(inside, a, b, metric, level, name, at)
        own = one.value * one.n_items / whole.n_items
        found.append(replace(one, contribution=own, share=own / whole.value if told else math.nan))
        alone += [name] if math.isnan(one.low) else []
    if alone:
        warn(f"by {by}: interval not estimable of {', '.join(alone)}, from one item or cluster")
    return _corrected(found)


def _corrected(found: Sequence[ItemComparison]) -> list[ItemComparison]:
    """Return the comparisons with p-values by Holm's correction over all of them."""
    adjusted = holm([one.p_value for one in found])
    return [replace(one, p_adjusted=float(p)) for one, p in zip(found, adjusted, strict=True)]
