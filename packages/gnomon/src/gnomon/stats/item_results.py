"""Estimates and comparisons of models on items, as ``estimate`` and ``compare`` return them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gnomon.errors import ScoreDataError, counted, note
from gnomon.results import Row, recorded
from gnomon.scores.table import ScoreTable
from gnomon.stats.comparison import Comparison, Comparisons, corrected
from gnomon.stats.estimates import Estimate, Estimates
from gnomon.stats.items import Items, Mask, item_metrics, item_settings
from gnomon.stats.metrics import Metrics

#: Power of the smallest detectable difference.
POWER = 0.8
#: The test behind the p-value of each method.
TESTS = {
    "tango": "McNemar's mid-p test",
    "paired_t": "Student's t test",
    "cluster_tango": "a score test with cluster-robust errors",
    "cluster_t": "Student's t test with cluster-robust errors",
    "sign_flips": "random sign flips of items or clusters",
    "sandwich": "Student's t test with robust errors",
    "sign_bound": "Hoeffding's bound for sums of symmetric terms",
}


@dataclass(frozen=True, eq=False, repr=False)
class ItemEstimates(Estimates):
    """Estimates of models on items."""

    columns = (
        *("task", "algorithm", "metric", "value", "low", "high", "method", "n_tasks"),
        "n_clusters",
    )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the sample is."""
        cluster = self.settings["cluster"]
        sample = f"clusters ({cluster})" if cluster else "items"
        return (f"Intervals treat the {sample} as a random sample.",)


def estimate_items(
    scores: ScoreTable,
    metrics: Metrics | None = None,
    *,
    by: str | None = None,
    level: float = 0.95,
) -> ItemEstimates:
    """Estimate every model on the items that it has; with `by`, on each group of items too."""
    with recorded() as notes:
        every = [Items(scores, metric) for metric in item_metrics(metrics)]
        every[0].warn_of_unscored(scores.algorithms)
        for items in every:
            items.warn_of_missing(items.models)
            items.warn_of_few(np.asarray(items.known.any(axis=0)), items.metric)
        found = [_estimate(items, m, level) for m in scores.algorithms for items in every]
        for name, at in every[0].groups(by).items() if by is not None else ():
            inside = [items.inside(str(by)) for items in every]
            found += (
                _estimate(items, model, level, name, at)
                for model in scores.algorithms
                for items in inside
                if items.shared([model], at).any()
            )
    direction = "higher" if scores.higher_is_better else "lower"
    settings = item_settings(scores, level, title=f"{scores.metric}, {direction} is better", by=by)
    return ItemEstimates(tuple(found), settings, tuple(notes))


def _estimate(
    items: Items, model: str, level: float, task: str | None = None, among: Mask | None = None
) -> Estimate:
    mean, where = items.mean(model, among), f"{items.metric} of {model}"
    low, high = mean.interval(level)
    if mean.n == 0:
        note(f"{where}: not estimable, it has no item with a score")
    elif task is None and mean.scale == "binary" and mean.value in (0.0, 1.0):
        note(f"{where}: all {counted(mean.n, 'item')} are {'right' if mean.value else 'wrong'}")
    elif task is None and math.isnan(low) and not math.isnan(mean.variance):
        note(f"{where}: interval not estimable, the scores do not vary")
    n_epochs = items.n_epochs(model)[items.shared([model], among)]
    most = int(n_epochs.max(initial=0))
    least = int(n_epochs.min(initial=most))
    return Estimate(
        algorithm=model,
        metric=items.metric,
        task=task,
        value=mean.value,
        low=low,
        high=high,
        level=level,
        method=mean.method,
        n_runs=least if least == most else (least, most),
        n_tasks=mean.n,
        standard_error=math.sqrt(mean.variance),
        n_clusters=None if mean.clusters is None else len(mean.clusters),
    )


@dataclass(frozen=True, eq=False, repr=False)
class ItemComparisons(Comparisons):
    """Comparisons of models on the same items."""

    columns = (
        *("a", "b", "metric", "task", "value", "low", "high", "p_value", "p_adjusted", "n_items"),
        *("n_clusters", "detectable", "share", "ahead"),
    )

    @property
    def title(self) -> str:
        """How to read the values."""
        cluster = self.settings["cluster"]
        what = self.settings.get("title", "a minus b on the same items")
        return f"{what}, in clusters by {cluster}" if cluster else what

    @property
    def notes(self) -> tuple[str, ...]:
        """Items that one model alone solves, the tests, and their correction."""
        whole = [one for one in self if one.task is None]
        notes = [
            f"Only {one.a} solves {counted(one.only_a, 'item')}, only {one.b} {one.only_b:,}."
            for one in whole
            if len(whole) == 1 and one.only_a is not None and one.only_b is not None
        ]
        shown = self._shown(self.rows())
        tests = dict.fromkeys(TESTS[one.method] for one in self if not math.isnan(one.p_value))
        explained = {
            "detectable": f"the smallest difference that these items detect with power {POWER:g}",
            "p_value": ", ".join(tests),
            "p_adjusted": self.settings["family"],
        }
        notes += [f"{name}: {text}." for name, text in explained.items() if name in shown]
        return tuple(notes)

    def rows(self) -> Sequence[Row]:
        """Return the records, the share of the difference in per cent."""
        return [
            {**row, "share": f"{100 * row['share']:.0f} %"} if row.get("share") is not None else row
            for row in super().rows()
        ]

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        same = all(row["p_adjusted"] == row["p_value"] for row in rows)
        return [name for name in super()._shown(rows) if not (same and name == "p_adjusted")]


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
    models, wanted = pair or scores.algorithms, item_metrics(metrics)
    found: list[Comparison] = []
    with recorded() as notes:
        for metric in wanted:
            items = Items(scores, metric)
            if metric == wanted[0]:
                items.warn_of_unscored(models)
            items.warn_of_missing(models)
            own = _compared(items, pairs, level)
            if pair is not None and own[0].n_items == 0:
                raise ScoreDataError(f"{pair[0]} and {pair[1]} share no item with a score")
            _warn_of_few(items, models, own)
            found += own if pair is not None else corrected(own)
            if by is not None and pair is not None:
                found += _by_groups(items, own[0], by, level)
    each = "" if len(wanted) == 1 else f", for each of {len(wanted)} metrics separately"
    family = "not corrected, one test" + (" for each metric" if len(wanted) > 1 else "")
    if pair is None:
        family = f"Holm's correction over {counted(len(pairs), 'pair')}{each}"
    elif by is not None:
        n = len({one.task for one in found} - {None})
        family = f"Holm's correction over {counted(n, 'group')}{each}; all items: not corrected"
    settings = item_settings(scores, level, by=by, correction="holm", family=family)
    return ItemComparisons(tuple(found), settings, tuple(notes))


def _warn_of_few(items: Items, models: Sequence[str], found: Sequence[Comparison]) -> None:
    """Warn of few items or clusters, and of pairs without an interval."""
    for one in found:
        names = f"{one.a} and {one.b}"
        if one.n_items == 0:
            note(f"{names} share no item with a score: not estimable")
        elif math.isnan(one.low) and not math.isnan(one.p_value):
            n = counted(one.n_clusters or one.n_items or 0, "cluster" if one.n_clusters else "item")
            note(
                f"{items.metric} of {names}: interval not estimable, the differences of {n} do not "
                "vary"
            )
    rows = [items.models.index(name) for name in models]
    named = " and ".join(models) if len(models) == 2 else f"{len(models)} models"
    items.warn_of_few(items.known[rows].sum(axis=0) > 1, f"{items.metric} of {named}")


def _compared(
    items: Items,
    pairs: Sequence[tuple[str, str]],
    level: float,
    task: str | None = None,
    among: Mask | None = None,
) -> list[Comparison]:
    """Return comparisons, not corrected; NaN where there is no interval."""
    of = items.differences(pairs, among)
    low, high = of.interval(level)
    p_value, detectable, methods = of.p_values, of.detectable(level, POWER), of.methods
    return [
        Comparison(
            a=a,
            b=b,
            metric=items.metric,
            task=task,
            value=float(of.value[i]),
            low=float(low[i]),
            high=float(high[i]),
            p_value=float(p_value[i]),
            p_adjusted=float(p_value[i]),
            level=level,
            method=methods[i],
            n_items=int(of.n[i]),
            n_clusters=int(of.units[i]) if of.clustered[i] else None,
            only_a=None if math.isnan(of.only_a[i]) else int(of.only_a[i]),
            only_b=None if math.isnan(of.only_b[i]) else int(of.only_b[i]),
            detectable=float(detectable[i]),
        )
        for i, (a, b) in enumerate(pairs)
    ]


def _by_groups(items: Items, whole: Comparison, by: str, level: float) -> list[Comparison]:
    """Return a comparison for each group of items, with its share of the difference."""
    pair, clear = (whole.a, whole.b), whole.low > 0.0 or whole.high < 0.0
    there = items.shared(pair)
    groups = {name: at for name, at in items.groups(by).items() if (there & at).any()}
    if len(groups) < 2:
        raise ScoreDataError(
            f"by {by}: expected two groups of items or more, found {', '.join(groups)} alone"
        )
    found, inside = [], items.inside(by)
    for name, at in groups.items():
        (one,) = _compared(inside, [pair], level, name, at)
        own = one.value * int((there & at).sum()) / int(there.sum())
        share = own / whole.value if clear else math.nan
        found.append(replace(one, contribution=own, share=share))
    alone = [str(one.task) for one in found if math.isnan(one.low)]
    if alone:
        note(f"by {by}: interval not estimable for {', '.join(alone)}")
    return corrected(found)
