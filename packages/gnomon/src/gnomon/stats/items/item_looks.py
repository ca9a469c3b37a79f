"""Sequential comparison of two models, item by item: valid at every look, with what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import Row, generator, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons
from gnomon.stats.items.cluster_errors import Clusters
from gnomon.stats.items.confidence_sequences import ConfidenceSequence, expected_items
from gnomon.stats.items.item_comparisons import item_metrics
from gnomon.stats.items.item_pairs import ItemPairs
from gnomon.stats.items.item_values import ItemMetric
from gnomon.stats.items.proportions import normal_quantile
from gnomon.stats.metrics import Metrics

#: Looks that are shown, of items or of clusters; every other look is as valid.
LOOKS = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
#: Of a fixed-size test with more items the cost is not simulated.
MOST_ITEMS = 20_000
#: A simulated study ends at so many times the items of the fixed-size test.
HORIZON = 3
POWER = 0.8


@dataclass(frozen=True, slots=True)
class ItemLook(Comparison):
    """What is known of two models after some items, whenever one looks.

    Parameters
    ----------
    a, b, metric, task, value, low, high, p_value, p_adjusted, level, method, n_resamples, mc_error
        As in :class:`~gnomon.stats.Comparison`. The interval is a confidence sequence: at no look,
        of all there ever are, does it miss the truth in more than ``1 - level`` of the studies;
        the p-value likewise.
    n_items : int
        Items seen.
    e_value : float
        What was won by bets against no difference, from a stake of 1.
    n_stopped : int or None
        After how many items no difference was refuted, at the latest at this look.
    n_fixed : float
        Items of a test of fixed size with power 0.8 for the difference seen in the end.
    cost : float
        Mean number of items until the bets refute, over `n_fixed`, if items are like these; a study
        ends at three times as many. NaN where there are over 20,000.

    Examples
    --------
    >>> from gnomon.stats import compare
    >>> scores = {"a": [[1, 1, 0, 1] * 50], "b": [[1, 0, 0, 1] * 50]}
    >>> table = ScoreTable.from_arrays(scores, units="items")
    >>> compare(table, "a", "b", sequential="e")[-1].n_stopped
    34
    """

    n_items: int
    e_value: float
    n_stopped: int | None
    n_fixed: float
    cost: float


@dataclass(frozen=True, eq=False, repr=False)
class ItemLooks(Comparisons):
    """Looks at two models as items arrive; see :func:`~gnomon.stats.compare`.

    Examples
    --------
    >>> from gnomon.stats import compare
    >>> scores = {"a": [[1, 1, 0, 1] * 50], "b": [[1, 0, 0, 1] * 50]}
    >>> table = ScoreTable.from_arrays(scores, units="items")
    >>> [one.n_items for one in compare(table, "a", "b", sequential="e")]
    [5, 10, 20, 50, 100, 200]
    """

    columns = ("a", "b", "metric", "n_items", "value", "low", "high", "e_value", "p_value")
    drawn_by = "gnomon.plot.lines:item_look_figure"

    @property
    def title(self) -> str:
        """How to read the values."""
        return "a minus b on the same items, as they arrive; valid at every look"

    @property
    def notes(self) -> tuple[str, ...]:
        """When one could have stopped, and what that costs."""
        last = {one.metric: one for one in self if isinstance(one, ItemLook)}
        return tuple(_verdict(one) for one in last.values())

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return self.columns


def _verdict(one: ItemLook) -> str:
    """Return when the bets refuted no difference, in words, beside a test of fixed size."""
    refuted = (
        f"no difference of {one.metric}: refuted after {one.n_stopped:,} items"
        if one.n_stopped is not None
        else f"no difference of {one.metric}: not refuted by {one.n_items:,} items"
    )
    if not math.isfinite(one.n_fixed):
        return f"{refuted}."
    fixed = f"a test of fixed size has power {POWER:g} for what was seen with {one.n_fixed:,.0f}"
    if math.isnan(one.cost):
        return f"{refuted}; {fixed}."
    return f"{refuted}; {fixed}, and bets take {one.cost:.2f} times as many on average."


def compare_items_sequentially(
    scores: ScoreTable,
    a: str,
    b: str,
    metrics: Metrics | None = None,
    *,
    level: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> ItemLooks:
    """Compare two models item by item, in the order of the table.

    Parameters
    ----------
    scores : ScoreTable
        Of items, scores between 0 and 1; with clusters, one bets on clusters.
    a, b : str
    metrics : str or sequence of str, optional
        ``mean`` if not given, ``pass@K``, ``pass^K``.
    level : float
    rng : numpy.random.Generator or int, optional
        Of the simulated cost.

    Raises
    ------
    ScoreDataError
        Scores have no bounds, or models share no item.
    """
    pairs, draws = ItemPairs(scores), generator(rng)
    found: list[ItemLook] = []
    with recorded() as notes:
        for metric in item_metrics(metrics):
            pairs.warn_of_lacking((a, b), metric)
            found += _looks(pairs, a, b, metric, level, draws)
    settings = made_by(
        rng,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        units="items",
        cluster=scores.cluster,
        sequential="e",
        family="not corrected over metrics; each holds at all looks together",
        level=level,
        method="auto",
    )
    return ItemLooks(tuple(found), settings, tuple(notes))


def _looks(
    pairs: ItemPairs, a: str, b: str, metric: ItemMetric, level: float, rng: np.random.Generator
) -> Iterator[ItemLook]:
    """Yield the looks at one metric."""
    x, y = pairs.values(a, metric), pairs.values(b, metric)
    if "free" in (x.scale, y.scale):
        raise ScoreDataError(
            f"sequential: expected scores between 0 and 1, whose differences have bounds; those of "
            f"{a} and {b} reach from {min(np.nanmin(x.values), np.nanmin(y.values)):g} to "
            f"{max(np.nanmax(x.values), np.nanmax(y.values)):g}; normalize them"
        )
    there = pairs.expect_shared(a, b, metric)
    difference = (x.values - y.values)[there]
    clusters = pairs.clusters(there)
    if clusters is None:
        _warn_of_order(difference, a, b)
    totals, sizes = _arrivals(difference, clusters)
    bets = ConfidenceSequence(totals / sizes.max(), sizes / sizes.max())
    n_items, n_units = np.cumsum(sizes).astype(int), totals.size
    first = bets.first_beyond(1.0 / (1.0 - level))
    n_fixed, cost = _cost(pairs, a, b, metric, bets, level, rng)
    for n in [*(look for look in LOOKS if look < n_units), n_units]:
        low, high = bets.interval(level, n)
        p_value = bets.p_value(n)
        yield ItemLook(
            a=a,
            b=b,
            metric=metric.name,
            task=None,
            value=float(totals[:n].sum() / sizes[:n].sum()),
            low=low,
            high=high,
            p_value=p_value,
            p_adjusted=p_value,
            level=level,
            method="betting",
            n_resamples=0,
            mc_error=0.0,
            n_items=int(n_items[n - 1]),
            e_value=bets.e_value(n),
            n_stopped=int(n_items[first - 1]) if first is not None and first <= n else None,
            n_fixed=n_fixed,
            cost=cost,
        )


def _arrivals(difference: FloatArray, clusters: Clusters | None) -> tuple[FloatArray, FloatArray]:
    """Return the sums of what arrives together, items or clusters, and their sizes."""
    if clusters is None:
        return difference, np.ones(difference.size)
    _, first = np.unique(clusters.codes, return_index=True)
    order = np.argsort(first, kind="stable")
    return clusters.sums(difference)[order], clusters.sizes[order].astype(np.float64)


def _warn_of_order(difference: FloatArray, a: str, b: str) -> None:
    """Say that items which follow each other are alike, as if they were sorted."""
    residuals, n = difference - difference.mean(), difference.size
    squares = float(residuals @ residuals)
    if n < 2 or squares == 0.0:
        return
    alike = float(residuals[1:] @ residuals[:-1]) / squares
    if alike > 4.0 / math.sqrt(n):
        warn(
            f"sequential: items that follow each other are alike ({a} and {b}: correlation "
            f"{alike:.2f}), as if they were sorted; draw their order at random, or name their "
            "clusters"
        )


def _cost(
    pairs: ItemPairs,
    a: str,
    b: str,
    metric: ItemMetric,
    bets: ConfidenceSequence,
    level: float,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the items of a fixed-size test for the difference seen, and what bets take over it."""
    found = pairs.difference(a, b, metric)
    value, error = found.moments.value, math.sqrt(found.moments.variance)
    if value == 0.0 or math.isnan(error):
        return math.nan, math.nan
    steps = normal_quantile(level) + normal_quantile(2.0 * POWER - 1.0)
    share = (steps * error / value) ** 2
    units = math.ceil(share * bets.x.size)
    n_fixed = float(math.ceil(share * found.moments.n))
    if not 1 <= units <= MOST_ITEMS:
        return n_fixed, math.nan
    most = HORIZON * units
    n_draws = int(np.clip(4_000_000 / most, 50, 400))
    mean = expected_items(bets.x, bets.weight, level=level, most=most, n_draws=n_draws, rng=rng)
    return n_fixed, mean / units
