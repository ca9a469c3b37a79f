"""Planning of items and epochs: power and smallest differences of other studies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gnomon.errors import ScoreDataError, counted
from gnomon.results import FieldRecord
from gnomon.scores.table import ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.items.item_comparisons import item_metrics
from gnomon.stats.items.item_pairs import ItemPairs
from gnomon.stats.items.item_values import ItemMetric
from gnomon.stats.items.proportions import student_quantile
from gnomon.stats.items.variance_components import VarianceComponents, variance_components
from gnomon.stats.metrics import Metrics

#: Items to try, over those there are, and epochs of each.
FACTORS, EPOCHS = (0.5, 1.0, 2.0, 4.0, 8.0), (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class ItemPlan(FieldRecord):
    """What a comparison with so many items and epochs would tell.

    Parameters
    ----------
    a, b, metric : str
    items, epochs : int
        Of the study; epochs of each item and either model.
    standard_error : float
        Of the paired difference.
    detectable : float
        The smallest difference that it tells with the power wanted.
    power : float
        To tell the difference that these data show.
    from_epochs : float
        Share of its variance that is of epochs: what still more of them would take away.

    Examples
    --------
    >>> ItemPlan("a", "b", "mean", 200, 2, 0.03, 0.084, 0.65, 0.4).as_record()["items"]
    200
    """

    a: str
    b: str
    metric: str
    items: int
    epochs: int
    standard_error: float
    detectable: float
    power: float
    from_epochs: float


def plan_items(
    scores: ScoreTable,
    pair: tuple[str, str] | None,
    metrics: Metrics | None = None,
    *,
    items: Sequence[int] | None = None,
    epochs: Sequence[int] | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Iterator[ItemPlan]:
    """Yield plans of each pair, for every number of items and of epochs.

    Raises
    ------
    ScoreDataError
        There is one model, the metric is not the mean, or a pair has one item or one cluster.

    Warns
    -----
    DegenerateScoresWarning
        Items have one epoch each, so that what others would do is not known.
    """
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    pairs = ItemPairs(scores)
    for metric in item_metrics(metrics):
        if metric.of_samples:
            raise ScoreDataError(
                f"{metric.name}: items and epochs are planned for the mean, whose noise of epochs "
                "falls as one over their number"
            )
        pairs.warn_of_lacking(pair or scores.algorithms, metric)
        for a, b in [pair] if pair is not None else combinations(scores.algorithms, 2):
            yield from _plans(pairs, a, b, metric, items, epochs, power, level)


def _plans(
    pairs: ItemPairs,
    a: str,
    b: str,
    metric: ItemMetric,
    items: Sequence[int] | None,
    epochs: Sequence[int] | None,
    power: float,
    level: float,
) -> Iterator[ItemPlan]:
    """Yield the plans of one pair."""
    pairs.expect_shared(a, b, metric)
    found = pairs.difference(a, b, metric).moments
    if math.isnan(found.variance):
        raise ScoreDataError(
            f"{a} and {b}: expected two items or more"
            + ("" if found.n_clusters is None else " in two clusters or more")
            + f", found {counted(found.n, 'item')}"
        )
    parts = _components(pairs, a, b, metric)
    one_epoch = math.isnan(parts.epochs)
    if one_epoch:
        warn(
            f"{a} and {b}: no item has two epochs of both, so that what more epochs would do is "
            "not known; run some items twice"
        )
    tried = [1] if one_epoch else sorted({*(epochs or (*EPOCHS, round(parts.n_epochs)))})
    for n in sorted({*(items or (max(round(f * found.n), 2) for f in FACTORS))}):
        more = n / found.n
        # Clusters grow in number with items, and degrees of freedom with clusters.
        df = max(found.df * more, 1.0)
        steps = student_quantile(level, df), student_quantile(2.0 * power - 1.0, df)
        for each in tried:
            of = parts.parts(items=more, n_epochs=float(each))
            error = math.sqrt(sum(of))
            yield ItemPlan(
                a=a,
                b=b,
                metric=metric.name,
                items=n,
                epochs=each,
                standard_error=error,
                detectable=sum(steps) * error,
                power=_power(found.value, error, steps[0]),
                from_epochs=math.nan if one_epoch else of[2] / sum(of) if sum(of) else math.nan,
            )


def _components(pairs: ItemPairs, a: str, b: str, metric: ItemMetric) -> VarianceComponents:
    """Return the components of the variance of a difference."""
    x, y, there = pairs.values(a, metric), pairs.values(b, metric), pairs.shared(a, b, metric)
    n_epochs = np.minimum(x.n_epochs, y.n_epochs)[there]
    values, noise = (x.values - y.values)[there], (x.noise + y.noise)[there]
    return variance_components(values, noise, n_epochs, pairs.clusters(there))


def _power(difference: float, error: float, steps: float) -> float:
    """Return the probability that a difference is more than some standard errors from 0."""
    from scipy.special import ndtr

    if error == 0.0:
        return float(difference != 0.0)
    distance = abs(difference) / error
    return float(ndtr(distance - steps) + ndtr(-distance - steps))


def told_of_items(plans: Sequence[ItemPlan], power: float) -> list[str]:
    """Say for each pair with how many items it has the power, and whether epochs would help.

    Examples
    --------
    >>> plans = [ItemPlan("a", "b", "mean", n, 1, 0, 0, p, 0.5) for n, p in [(50, 0.6), (99, 0.9)]]
    >>> print(told_of_items(plans, 0.8)[0])
    a, b (mean): power 0.8 takes 99 items of 1 epoch; more epochs would shorten its standard error \
by 29 % at most, twice the items by 29 %
    """
    found: dict[tuple[str, str, str], list[ItemPlan]] = {}
    for one in plans:
        found.setdefault((one.a, one.b, one.metric), []).append(one)
    texts = []
    for (a, b, metric), own in found.items():
        least, most = min(one.epochs for one in own), max(one.epochs for one in own)
        text = f"{a}, {b} ({metric}): power {power:g} takes {_needed(own, least, power)} items of "
        text += counted(least, "epoch")
        if most > least:
            text += f", or {_needed(own, most, power)} of {most}"
        from_epochs = next(one.from_epochs for one in own if one.epochs == least)
        if math.isfinite(from_epochs):
            shorter = 100.0 * (1.0 - math.sqrt(1.0 - from_epochs))
            text += (
                f"; more epochs would shorten its standard error by {shorter:.0f} % at most, twice "
                "the items by 29 %"
            )
        texts.append(text)
    return texts


def _needed(plans: Sequence[ItemPlan], epochs: int, power: float) -> str:
    """Return how many items of so many epochs have the power, of the numbers that were tried."""
    of_each = [one for one in plans if one.epochs == epochs]
    enough = [one.items for one in of_each if one.power >= power]
    return f"{enough[0]:,}" if enough else f"more than {of_each[-1].items:,}"
