"""Plans of items and epochs: power and detectable differences of other studies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from gnomon.errors import ScoreDataError, counted
from gnomon.results import FieldRecord
from gnomon.scores.table import ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.distributions import student_quantile
from gnomon.stats.items import Items, item_metrics
from gnomon.stats.metrics import Metrics
from gnomon.stats.power import power_of_t

#: Numbers of items to try, as multiples of the present one, and epochs of each.
FACTORS, EPOCHS = (0.5, 1.0, 2.0, 4.0, 8.0), (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class ItemPlan(FieldRecord):
    """What a comparison with this many items and epochs would find.

    Parameters
    ----------
    a, b, metric : str
        What is compared.
    items, epochs : int
        Items of the study, and epochs of each item for both models.
    standard_error : float
        Of the paired difference; with the present items and epochs that of its interval.
    detectable : float
        The smallest difference found with the power wanted; for power 0.8 with the present items
        and epochs that of :func:`gnomon.stats.compare`.
    power : float
        For the present difference, as if it were the true one.
    from_epochs : float
        Share of the variance that epochs add, which more of them would remove.
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
    """Yield plans of each pair for every number of items and of epochs."""
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    for metric in item_metrics(metrics):
        if metric != "mean":
            raise ScoreDataError(
                f"{metric}: items and epochs are planned for the mean only, whose noise of epochs "
                "falls as one over their number"
            )
        values = Items(scores, metric)
        values.warn_of_missing(pair or scores.algorithms)
        for a, b in [pair] if pair is not None else combinations(scores.algorithms, 2):
            yield from _plans(values, a, b, items, epochs, power, level)


def _plans(
    values: Items,
    a: str,
    b: str,
    items: Sequence[int] | None,
    epochs: Sequence[int] | None,
    power: float,
    level: float,
) -> Iterator[ItemPlan]:
    found = values.differences([(a, b)])
    n = int(found.n[0])
    if math.isnan(found.variance[0]):
        where = " in two clusters or more" if found.clustered[0] else ""
        raise ScoreDataError(
            f"{a} and {b}: expected two shared items or more{where}, found {counted(n, 'item')}"
        )
    parts = values.components((a, b))
    one_epoch = math.isnan(parts.epochs)
    if one_epoch:
        warn(
            f"{a} and {b}: no item has two epochs of both models, so the effect of more epochs is "
            "unknown; run some items twice"
        )
    # The components show how the error changes, and the comparison what it is.
    now, present = sum(parts.parts()), float(found.error[0])
    detectable = float(found.detectable(level, power)[0])
    steps_now = sum(student_quantile(p, float(found.df[0])) for p in (level, 2.0 * power - 1.0))
    tried = [1] if one_epoch else sorted({*(epochs or (*EPOCHS, round(parts.n_epochs)))})
    for n_items in sorted({*(items or (max(round(f * n), 2) for f in FACTORS))}):
        more = n_items / n
        # Clusters grow in number with items, and degrees of freedom with clusters.
        df = max(float(found.df[0]) * more, 1.0)
        steps = sum(student_quantile(p, df) for p in (level, 2.0 * power - 1.0))
        for each in tried:
            variances = parts.parts(more, float(each))
            total = sum(variances)
            factor = math.sqrt(total / now) if now else 0.0
            error = present * factor
            smallest = detectable * (factor * steps / steps_now)
            found_with = power_of_t(found.value / error, df, level)[0] if error else math.nan
            yield ItemPlan(
                a=a,
                b=b,
                metric=values.metric,
                items=n_items,
                epochs=each,
                standard_error=error,
                detectable=min(smallest, 1.0) if found.bounded[0] else smallest,
                power=float(found_with),
                from_epochs=math.nan if one_epoch or not total else variances[2] / total,
            )


def item_plan_notes(plans: Sequence[ItemPlan], power: float) -> list[str]:
    """Return for each pair the number of items that gives the power, and the effect of epochs.

    Examples
    --------
    >>> plans = [ItemPlan("a", "b", "mean", n, 1, 0, 0, p, 0.5) for n, p in [(50, 0.6), (99, 0.9)]]
    >>> print(item_plan_notes(plans, 0.8)[0])
    a, b (mean): 99 items of 1 epoch give power 0.8; more epochs shorten the standard error by at \
most 29 %, twice as many items by 29 %.
    """
    texts = []
    for a, b, metric in dict.fromkeys((one.a, one.b, one.metric) for one in plans):
        own = [one for one in plans if (one.a, one.b, one.metric) == (a, b, metric)]
        least, most = min(one.epochs for one in own), max(one.epochs for one in own)
        text = f"{a}, {b} ({metric}): {_needed(own, least, power)} items of "
        text += counted(least, "epoch")
        text += f" (or {_needed(own, most, power)} of {most})" if most > least else ""
        text += f" give power {power:g}"
        share = next(one.from_epochs for one in own if one.epochs == least)
        if math.isfinite(share):
            text += (
                f"; more epochs shorten the standard error by at most "
                f"{100.0 * (1.0 - math.sqrt(1.0 - share)):.0f} %, twice as many items by 29 %"
            )
        texts.append(f"{text}.")
    if texts:
        texts.append("power: for the present difference, as if it were the true one.")
    return texts


def _needed(plans: Sequence[ItemPlan], epochs: int, power: float) -> str:
    """Return how many items of this many epochs have the power, among the numbers tried."""
    tried = [one for one in plans if one.epochs == epochs]
    enough = [one.items for one in tried if one.power >= power]
    if not enough:
        return f"more than {tried[-1].items:,}"
    smallest = "at most " if enough[0] == tried[0].items else ""
    return f"{smallest}{enough[0]:,}"
