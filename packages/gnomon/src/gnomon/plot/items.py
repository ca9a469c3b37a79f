"""Models on the same items, drawn: paired beside unpaired, groups of items, looks, plans."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator, PercentFormatter

from gnomon.plot.intervals import MOST_ROWS, difference_bars
from gnomon.plot.labels import better_end, in_lines, name_panel, name_rows, name_series
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    axes_for,
    default_settings,
    drawing_of,
    dress,
    mark_numbers,
    new_drawing,
    series_style,
    short_number,
)
from gnomon.stats.items.cost_front import COSTS, CostFront, ModelCost
from gnomon.stats.items.item_comparisons import ItemComparison, ItemComparisons
from gnomon.stats.items.item_looks import ItemLook, ItemLooks
from gnomon.stats.items.item_plans import ItemPlan

#: Room for a row, in inches.
LINE = 0.42


def item_bars(
    comparisons: Sequence[ItemComparison], *, xlabel: str = "", ax: Axes | None = None
) -> Axes:
    """Draw paired differences with their intervals, and below each the unpaired interval, thin.

    Parameters
    ----------
    comparisons : sequence of ItemComparison
        From :func:`gnomon.stats.compare` of a table of items; the first sixty.
    xlabel : str
        What the axis measures; the first model minus the second, if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> import gnomon as gn
    >>> right = {"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}
    >>> found = gn.compare(gn.ScoreTable.from_arrays(right, units="items"), "a", "b")
    >>> item_bars(found).get_xlabel()
    'difference, first minus second'
    """
    ax = axes_for(ax, FULL_WIDTH * 0.65, 1.0 + LINE * max(len(comparisons), 1), grid="x")
    difference_bars(comparisons, xlabel=xlabel or "difference, first minus second", ax=ax)
    for row, one in enumerate(comparisons[:MOST_ROWS]):
        if math.isfinite(one.unpaired_low + one.unpaired_high):
            ends = one.unpaired_low, one.unpaired_high
            ax.plot(ends, (row + 0.27, row + 0.27), color=MUTED, linewidth=1.2, marker="|")
    return ax


def share_bars(comparisons: Sequence[ItemComparison], *, ax: Axes | None = None) -> Axes:
    """Draw what each group of items adds to the whole difference, with its share of that.

    Parameters
    ----------
    comparisons : sequence of ItemComparison
        Of groups, top to bottom; the first sixty.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> import gnomon as gn
    >>> right = {"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}
    >>> found = gn.compare(gn.ScoreTable.from_arrays(right, units="items"), "a", "b")
    >>> share_bars(found).get_xlabel()
    'part of the difference'
    """
    shown = comparisons[:MOST_ROWS]
    ax = axes_for(ax, HALF_WIDTH, 1.0 + LINE * max(len(shown), 1), grid="x")
    name_rows(ax, [in_lines(one.task or "all items", 30, 1) for one in shown])
    ax.axvline(0.0, color=MUTED, linewidth=1.2)
    for row, one in enumerate(shown):
        if math.isfinite(one.contribution):
            color = SERIES[0] if one.value >= 0.0 else SERIES[1]
            ax.barh(row, one.contribution, height=0.55, color=color, alpha=0.75)
            share = f"{one.share:.0%}, " if math.isfinite(one.share) else ""
            ax.text(
                1.02, row, f"{share}{one.n_items:,} items", va="center", color=MUTED,
                fontsize=SIZE - 1, transform=ax.get_yaxis_transform(),
            )  # fmt: skip
    mark_numbers(ax.xaxis, most=4)
    ax.set_xlabel("part of the difference")
    return ax


def draw_item_comparisons(found: ItemComparisons, ax: Axes | None = None) -> Figure | Axes:
    """Draw comparisons on items: paired beside unpaired, and below it the groups, if there are."""
    rows = [one for one in found if isinstance(one, ItemComparison)]
    xlabel = _xlabel(found, rows)
    if ax is not None:
        return item_bars(rows, xlabel=xlabel, ax=ax)
    whole, groups = ([one for one in rows if (one.task is None) is w] for w in (True, False))
    with default_settings():
        heights = [LINE * min(len(part), MOST_ROWS) + 0.9 for part in (whole, groups) if part]
        drawing = new_drawing(FULL_WIDTH * (1.0 if groups else 0.7), sum(heights) + 0.3)
        if groups:
            panels = drawing.subplot_mosaic(
                [["whole", "whole"], ["groups", "shares"]] if whole else [["groups", "shares"]],
                width_ratios=[1.5, 1.0],
                height_ratios=heights,
            )
            for panel in panels.values():
                dress(panel, grid="x")
            if whole:
                item_bars(whole, xlabel="", ax=panels["whole"])
                panels["whole"].set_xlabel("")
                name_panel(panels["whole"], "all items")
            item_bars(groups, xlabel=xlabel, ax=panels["groups"])
            share_bars(groups, ax=panels["shares"])
        else:
            item_bars(whole, xlabel=xlabel, ax=dress(drawing.subplots(), grid="x"))
    most = max(len(whole), len(groups))
    some = f" The first {MOST_ROWS} of {most} are drawn." if most > MOST_ROWS else ""
    shares = " Bars are what each group adds to the whole difference." if groups else ""
    return Figure(
        "item-comparison",
        "The same items",
        f"Dots with {rows[0].level:.0%} intervals of the paired difference; filled: separated by "
        f"the test. Thin lines: as if each model had had items of its own.{shares} p-values: "
        f"{found.settings['family']}.{some}",
        f"{len(rows)} comparisons of models on the same items",
        drawing,
        tuple(one.as_record() for one in rows),
        wide=bool(groups),
    )


def _xlabel(found: ItemComparisons | ItemLooks, rows: Sequence[ItemComparison | ItemLook]) -> str:
    """Return what is subtracted from what, and which side is good for whom."""
    pairs = {(one.a, one.b) for one in rows}
    a, b = pairs.pop() if len(pairs) == 1 else ("first", "second")
    a, b = in_lines(a, 30, 1), in_lines(b, 30, 1)
    side = f"{a} better →" if found.settings["higher_is_better"] else f"← {a} better"
    return f"{a} minus {b} ({found.settings['scale']})\n{side}"


def look_bands(looks: Sequence[ItemLook], *, ylabel: str = "", ax: Axes | None = None) -> Axes:
    """Draw a confidence sequence: the difference with its interval after more and more items.

    Parameters
    ----------
    looks : sequence of ItemLook
        Of one metric.
    ylabel : str
        What is subtracted from what.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> import gnomon as gn
    >>> right = {"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}
    >>> table = gn.ScoreTable.from_arrays(right, units="items")
    >>> look_bands(gn.compare(table, "a", "b", sequential="e")).get_xlabel()
    'items seen (log scale)'
    """
    ax = axes_for(ax, HALF_WIDTH * 1.3, HEIGHT * 1.2, grid="both")
    n = np.array([one.n_items for one in looks])
    low, value, high = (np.array([getattr(one, end) for one in looks]) for end in _ENDS)
    ax.axhline(0.0, color=MUTED, linewidth=1.2)
    ax.fill_between(n, low, high, color=SERIES[0], alpha=0.18, linewidth=0)
    ax.plot(n, value, color=SERIES[0], marker="o", markersize=4.5)
    stopped = looks[-1].n_stopped
    if stopped is not None:
        ax.axvline(stopped, color=SERIES[1], linewidth=1.2, linestyle="--")
        ax.text(
            stopped, 1.01, f"refuted after {stopped:,}", transform=ax.get_xaxis_transform(),
            ha="center", va="bottom", color=MUTED, fontsize=SIZE - 1,
        )  # fmt: skip
    ax.set_xscale("log")
    _mark_counts(ax, n.tolist())
    mark_numbers(ax.yaxis, most=6)
    ax.set_xlabel("items seen (log scale)")
    ax.set_ylabel(ylabel)
    return ax


_ENDS = ("low", "value", "high")


def _mark_counts(ax: Axes, counts: Sequence[int]) -> None:
    """Mark a logarithmic axis of counts where there are any."""
    ax.xaxis.set_major_locator(FixedLocator(sorted({*counts})))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.tick_params(axis="x", labelrotation=45 if len(set(counts)) > 6 else 0)


def draw_item_looks(found: ItemLooks, ax: Axes | None = None) -> Figure | Axes:
    """Draw looks at two models, a panel a metric, or, of one metric, into given axes."""
    rows = [one for one in found if isinstance(one, ItemLook)]
    metrics = list(dict.fromkeys(one.metric for one in rows))
    ylabel = _xlabel(found, rows).partition("\n")[0].replace(" minus ", " minus\n")
    if ax is not None:
        if len(metrics) > 1:
            raise ValueError(
                f"expected one metric for given axes, found {', '.join(metrics)}; where(metric=...)"
            )
        return look_bands(rows, ylabel=ylabel, ax=ax)
    with default_settings():
        width = FULL_WIDTH if len(metrics) > 1 else HALF_WIDTH * 1.4
        drawing = new_drawing(width, HEIGHT * 1.3)
        axes = drawing.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for panel, metric in zip(axes, metrics, strict=True):
            own = [one for one in rows if one.metric == metric]
            look_bands(own, ylabel=ylabel, ax=dress(panel, grid="both"))
            if len(metrics) > 1:
                name_panel(panel, metric)
    return Figure(
        "item-looks",
        "As items arrive",
        f"The difference after each number of items, with its {rows[0].level:.0%} confidence "
        "sequence, which holds at all looks together.",
        f"Confidence sequence of {', '.join(metrics)} over {rows[-1].n_items} items",
        drawing,
        tuple(one.as_record() for one in rows),
        wide=len(metrics) > 1,
    )


def cost_points(
    costs: Sequence[ModelCost],
    *,
    ylabel: str = "score",
    higher_is_better: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw what models cost against what they score, filled on the Pareto front and hollow off it.

    Parameters
    ----------
    costs : sequence of ModelCost
        From :func:`gnomon.stats.cost_front`.
    ylabel : str
        What a score is.
    higher_is_better : bool
        Which scores are good.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> one = ModelCost("a", "total_tokens", 120.5, 40, 0.5, 0.4, 0.6, True, None)
    >>> cost_points([one]).get_xlabel()
    'tokens a sample (← cheaper)'
    """
    ax = axes_for(ax, HALF_WIDTH * (1.1 if len(costs) <= 7 else 1.6), HEIGHT * 1.3, grid="both")
    best_first = sorted(costs, key=lambda one: -one.score if higher_is_better else one.score)
    for i, one in enumerate(best_first):
        style = series_style(i)
        ends = [[one.score - one.low], [one.high - one.score]] if one.low <= one.high else None
        ax.errorbar(
            one.cost, one.score, yerr=ends, color=style.color, marker=style.marker, linestyle="",
            markersize=6.5, elinewidth=1.0, markerfacecolor=style.color if one.on_front else PAPER,
        )  # fmt: skip
        ax.plot(
            one.cost, one.score, color=style.color, marker=style.marker, linestyle="",
            markersize=6.5, markerfacecolor=style.color if one.on_front else PAPER,
            label=style.named(one.algorithm),
        )  # fmt: skip
        if style.numeral:
            ax.annotate(
                style.numeral, (one.cost, one.score), xytext=(4, 3), textcoords="offset points",
                color=INK, fontsize=SIZE - 2,
            )  # fmt: skip
    front = [one for one in costs if one.on_front]
    corners = [one.cost for one in front], [one.score for one in front]
    ax.step(*corners, where="post", color=MUTED, linewidth=1.0, zorder=0)
    prices = [one.cost for one in costs]
    if min(prices) > 0 and max(prices) > 20 * min(prices):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    else:
        mark_numbers(ax.xaxis, most=5)
    mark_numbers(ax.yaxis, most=6)
    ax.set_xlabel(f"{COSTS.get(costs[0].column, costs[0].column)} a sample (← cheaper)")
    ax.set_ylabel(better_end(ylabel, higher_is_better))
    name_series(ax, "lower right")
    return ax


def draw_cost_front(found: CostFront, ax: Axes | None = None) -> Figure | Axes:
    """Draw cost against score with the Pareto front, or into given axes."""
    scale, higher = found.settings["scale"], found.settings["higher_is_better"]
    if ax is not None:
        return cost_points(found.records, ylabel=scale, higher_is_better=higher, ax=ax)
    column = str(found.settings["cost"])
    with default_settings():
        points = cost_points(found.records, ylabel=scale, higher_is_better=higher)
        drawing = drawing_of(points)
    return Figure(
        f"cost-{column.replace('_', '-')}",
        f"Score by {COSTS.get(column, column)}",
        f"Means of a sample, and scores with {found.settings['level']:.0%} intervals. Filled and "
        "joined: the Pareto front, beaten by none that costs no more.",
        f"{column} and score of {len(found)} models; on the front: {', '.join(found.front)}",
        drawing,
        tuple(one.as_record() for one in found),
        wide=len(found) > 7,
    )


def item_plan_curves(
    plans: Sequence[ItemPlan], *, wanted: float | None = 0.8, ax: Axes | None = None
) -> Axes:
    """Draw the power to tell one pair apart by the number of items, a curve a number of epochs.

    Parameters
    ----------
    plans : sequence of ItemPlan
        Of one pair and metric; of others only the first is drawn.
    wanted : float, optional
        A power to mark with a line.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> plans = [ItemPlan("a", "b", "mean", n, 1, 0, 0, p, 0.5) for n, p in [(50, 0.6), (99, 0.9)]]
    >>> item_plan_curves(plans).get_title("left")
    'a, b (mean)'
    """
    a, b, metric = plans[0].a, plans[0].b, plans[0].metric
    own = [one for one in plans if (one.a, one.b, one.metric) == (a, b, metric)]
    ax = axes_for(ax, HALF_WIDTH * 1.2, HEIGHT * 1.25, grid="both")
    for i, epochs in enumerate(dict.fromkeys(one.epochs for one in own)):
        style = series_style(i)
        points = [(one.items, one.power) for one in own if one.epochs == epochs]
        ax.plot(
            *zip(*points, strict=True), color=style.color, linestyle=style.dash,
            marker=style.marker, markersize=4.5, label=f"{epochs} epoch" + "s" * (epochs > 1),
        )  # fmt: skip
    if wanted is not None:
        ax.axhline(wanted, color=MUTED, linewidth=1.0, linestyle=":")
    ax.set_xscale("log")
    _mark_counts(ax, [one.items for one in own])
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("items (log scale)")
    ax.set_ylabel("power")
    name_panel(ax, f"{in_lines(a, 24, 1)}, {in_lines(b, 24, 1)} ({metric})")
    name_series(ax, "upper left")
    return ax


def item_plan_figure(plans: Sequence[ItemPlan], wanted: float) -> Figure:
    """Return the power of other studies, by items and epochs."""
    with default_settings():
        drawing = drawing_of(item_plan_curves(plans, wanted=wanted))
    n_pairs = len({(one.a, one.b, one.metric) for one in plans})
    some = f" The first of {n_pairs} pairs is drawn." if n_pairs > 1 else ""
    return Figure(
        "item-plan",
        "More items or more epochs",
        f"How often a study with so many items and epochs tells two models apart.{some}",
        f"Power by items and epochs of {n_pairs} pairs",
        drawing,
        tuple(one.as_record() for one in plans),
    )
