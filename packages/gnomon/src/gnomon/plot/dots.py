"""Dots with intervals: estimates, comparisons, items, looks, costs against scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from gnomon.plot.bars import Bar, draw_bars
from gnomon.plot.figure import Figure, Panel, frame
from gnomon.plot.labels import (
    better_end,
    in_lines,
    metric_name,
    name_rows,
    name_series,
    write_in_row,
)
from gnomon.plot.maps import improvement_figure, task_map_figure
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    SeriesStyle,
    dress,
    mark_numbers,
    number,
    series_style,
    short_number,
)
from gnomon.tables import p_value, percent

if TYPE_CHECKING:
    from gnomon.results import Results

#: Height of a row in inches, with its number above the dot or without.
ROW, TALL_ROW = 0.34, 0.46
#: More rows do not fit on a page.
MOST_ROWS = 60
#: More panels or rows of panels than this become a map.
MOST_PANELS, MOST_IN_PANELS = 12, 120
IMPROVEMENT = "probability_of_improvement"


_FIRST = series_style(0)


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval in a row.

    Parameters
    ----------
    label : str
        Name of the row.
    value, low, high : float
        NaN where not estimable.
    style : SeriesStyle
    filled : bool
        Whether the dot is filled, or hollow.
    above : str
        Text above the dot.
    beside : str
        Text at the right of the row.
    """

    label: str
    value: float
    low: float
    high: float
    style: SeriesStyle = _FIRST
    filled: bool = True
    above: str = ""
    beside: str = ""


def draw_dots(
    ax: Axes, dots: Sequence[Dot], *, neutral: float | None = None, top: float = 0.6
) -> None:
    """Draw values as dots and their intervals as bars, one row each, the first on top.

    A value that does not exist is written out as "not estimable"; an infinite end of an interval
    runs off the panel.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    dots : sequence of Dot
    neutral : float, optional
        Where a vertical line marks no difference.
    top : float
        Room above the first row, in rows.

    Examples
    --------
    >>> from gnomon.plot import Dot, draw_dots, new_drawing
    >>> ax = new_drawing(4, 2).subplots()
    >>> draw_dots(ax, [Dot("dqn", 0.5, 0.4, 0.6), Dot("ppo", 0.7, 0.6, 0.8)])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['dqn', 'ppo']
    """
    dress(ax, grid="x")
    low, high = _limits(dots, neutral)
    ax.set_xlim(low, high)
    if neutral is not None:
        ax.axvline(neutral, color=MUTED, linewidth=1.2)
    name_rows(ax, [dot.label for dot in dots], top=top)
    mark_numbers(ax.xaxis, most=5)
    for row, dot in enumerate(dots):
        _draw_dot(ax, row, dot, (low, high))


def _limits(dots: Sequence[Dot], neutral: float | None) -> tuple[float, float]:
    """Return limits that show all finite numbers, with air."""
    ends = [x for d in dots for x in (d.value, d.low, d.high) if math.isfinite(x)]
    ends += [neutral] if neutral is not None else []
    if not ends:
        return 0.0, 1.0
    air = 0.08 * (max(ends) - min(ends)) or 0.1 * abs(max(ends)) or 1.0
    return min(ends) - air, max(ends) + air


def _draw_dot(ax: Axes, row: int, dot: Dot, limits: tuple[float, float]) -> None:
    color = dot.style.color
    if dot.beside:
        ax.text(
            1.02, row, dot.beside, transform=ax.get_yaxis_transform(), va="center", color=MUTED,
            fontsize=SIZE - 1,
        )  # fmt: skip
    bounded = not (math.isnan(dot.low) or math.isnan(dot.high))
    if not (math.isfinite(dot.value) or (math.isnan(dot.value) and bounded)):
        write_in_row(ax, row, number(dot.value))
        return
    if bounded:
        ax.hlines(row, *np.clip([dot.low, dot.high], *limits), color=color, linewidth=6, alpha=0.35)
    if math.isnan(dot.value):
        return
    ax.plot(
        [dot.value], [row], linestyle="none", marker=dot.style.marker, markersize=6, color=color,
        markerfacecolor=color if dot.filled else PAPER,
    )  # fmt: skip
    if dot.above:
        ax.annotate(
            dot.above, (dot.value, row), xytext=(0, 7), textcoords="offset points", ha="center",
            va="bottom", color=INK, fontsize=SIZE - 1,
        )  # fmt: skip


# Estimates


def estimate_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of estimates: one panel per metric or task, the best algorithm on top.

    Many tasks are shown as a map of tasks and algorithms.
    """
    keys = list(dict.fromkeys((one.task, one.metric) for one in found))
    tasks, metrics = (list(dict.fromkeys(key[i] for key in keys)) for i in (0, 1))
    rows = _best_first(found)
    many = len(keys) > MOST_PANELS or len(keys) * len(rows) > MOST_IN_PANELS
    if ax is None and len(tasks) > 1 and many:
        return task_map_figure(found, rows)
    styles = {name: series_style(i) for i, name in enumerate(_algorithms(found))}
    columns = max(len(metrics) if len(metrics) > 1 else min(len(tasks), 3), 1)
    row = TALL_ROW if max(map(len, rows)) <= 50 else TALL_ROW + 0.14
    height = 0.95 + row * min(len(rows), MOST_ROWS)
    panels = []
    for i, (task, metric) in enumerate(keys):
        own = {e.algorithm: e for e in found if (e.task, e.metric) == (task, metric)}
        last = i >= len(keys) - columns
        title = metric_name(metric) if len(tasks) == 1 else in_lines(str(task), 100 // columns, 1)
        if len(tasks) > 1 and len(metrics) > 1:
            title += f", {metric_name(metric)}"
        scale = _scale(found, metric) if last else ""
        if scale and len(tasks) > 1 and len(metrics) == 1:
            scale = f"{metric_name(metric)}: {scale}"
        draw = partial(
            _draw_estimates, own, rows[:MOST_ROWS], styles, in_lines(scale, 105 // columns)
        )
        panels.append(Panel(draw, title, height))
    part = f" The first {MOST_ROWS} of {len(rows)} are drawn." * (len(rows) > MOST_ROWS)
    what = "metric" if len(tasks) == 1 else "task"
    return frame(
        panels,
        ax,
        name="estimates",
        title="Estimates",
        caption=f"Estimates with {percent(found[0].level)} intervals, one panel per {what}.{part}",
        alt=f"{len(found)} estimates with intervals. Best first: {', '.join(rows[:8])}",
        rows=found.as_records(),
        columns=columns,
        width=FULL_WIDTH if columns > 1 else FULL_WIDTH * 0.6,
        share_y=True,
        wide=columns > 1,
    )


def _draw_estimates(
    own: dict[str, Any], rows: Sequence[str], styles: dict[str, SeriesStyle], xlabel: str, ax: Axes
) -> None:
    nan = math.nan
    dots = []
    for name in rows:
        one, style = own.get(name), styles[name]
        if one is None:
            dots.append(Dot(in_lines(name), nan, nan, nan, style))
        else:
            above = short_number(one.value) if math.isfinite(one.value) else ""
            dots.append(Dot(in_lines(name), one.value, one.low, one.high, style, above=above))
    draw_dots(ax, dots, top=0.7)
    ax.set_xlabel(xlabel)


def _scale(found: Results[Any], metric: str) -> str:
    higher = found.settings.get("higher_is_better", True) and metric != "optimality_gap"
    return better_end(found.settings.get("scale", ""), higher)


def _algorithms(found: Results[Any]) -> list[str]:
    return list(dict.fromkeys(one.algorithm for one in found))


def _best_first(found: Results[Any]) -> list[str]:
    """Return the algorithms in the order of their first metric, averaged over its panels."""
    metric = found[0].metric
    higher = found.settings.get("higher_is_better", True) and metric != "optimality_gap"

    def place(name: str) -> float:
        own = [e.value for e in found if e.algorithm == name and e.metric == metric]
        mean = (-1.0 if higher else 1.0) * sum(own) / len(own) if own else math.nan
        return math.inf if math.isnan(mean) else mean

    return sorted(_algorithms(found), key=place)


# Comparisons


def comparison_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of comparisons: a map of P(better) of all pairs, or differences as dots.

    P(better) has a panel below, and what each group of items adds one at the right.
    """
    shown = [getattr(one, "comparison", one) for one in found]
    pairs = list(dict.fromkeys((c.a, c.b) for c in shown))
    names = {name for pair in pairs for name in pair}
    chances = [c for c in shown if c.metric == IMPROVEMENT]
    whole = 2 * len(pairs) == len(names) * (len(names) - 1) > 2
    if len(chances) == len(shown) and whole:
        return improvement_figure(found, ax)
    parts = [part for part in ([c for c in shown if c.metric != IMPROVEMENT], chances) if part]
    first = parts[0][:MOST_ROWS]
    groups = any(getattr(c, "contribution", None) is not None for c in first)
    panels = []
    for part in parts:
        rows = part[:MOST_ROWS]
        draw = partial(_draw_comparisons, found, rows, pairs)
        row = TALL_ROW if any("\n" in label for label in _row_labels(rows)) else ROW
        panels.append(Panel(draw, "", 1.1 + row * len(rows)))
    if groups and ax is None:
        panels.insert(1, Panel(partial(_draw_contributions, first), "", panels[0].height))
    most, family = max(map(len, parts)), found.settings.get("family")
    caption = f"Differences with {percent(shown[0].level)} intervals; filled: significant."
    caption += f" p-values: {family}." if family else ""
    caption += " At the right: the part of the difference that each group adds." if groups else ""
    caption += f" The first {MOST_ROWS} of {most} are drawn." if most > MOST_ROWS else ""
    return frame(
        panels,
        ax,
        name="comparison",
        title="Comparison",
        caption=caption,
        alt=f"{len(shown)} comparisons of {len(pairs)} pairs of algorithms",
        rows=found.as_records(),
        columns=2 if groups else 1,
        width=FULL_WIDTH * (1.0 if groups else 0.75),
        wide=groups,
    )


def _draw_comparisons(
    found: Results[Any], part: Sequence[Any], pairs: Sequence[tuple[str, str]], ax: Axes
) -> None:
    """Draw comparisons of one kind; a single pair is named by the axis."""
    chances = part[0].metric == IMPROVEMENT
    neutral = 0.5 if chances else 0.0
    dots = []
    for one, label in zip(part, _row_labels(part), strict=True):
        color = SERIES[0 if one.value >= neutral else 1]
        separated = one.p_adjusted <= 1.0 - one.level
        p = "not tested" if math.isnan(one.p_adjusted) else f"p {p_value(one.p_adjusted, '= ')}"
        style = SeriesStyle(color, "-", "o")
        dots.append(Dot(label, one.value, one.low, one.high, style, separated, beside=p))
    draw_dots(ax, dots, neutral=neutral)
    a, b = (in_lines(name, 40, 1) for name in (pairs[0] if len(pairs) == 1 else ("A", "B")))
    if chances:
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel(f"probability that a run of {a} is better")
        return
    higher = found.settings.get("higher_is_better", True)
    # The scale of a gap to a target runs the other way.
    gaps = {one.metric == "optimality_gap" for one in part}
    label = f"{a} minus {b} ({found.settings.get('scale', 'score')})"
    if len(gaps) == 1:
        label += f"\n{a} better →" if higher and gaps == {False} else f"\n← {a} better"
    ax.set_xlabel(label)


def _row_labels(part: Sequence[Any]) -> list[str]:
    """Return for each row what distinguishes it from the others: pair, metric, task."""
    pairs = [f"{in_lines(c.a, 44, 1)} − {in_lines(c.b, 44, 1)}" for c in part]
    metrics = [metric_name(c.metric) for c in part]
    tasks = ["all tasks" if c.task is None else in_lines(str(c.task), 40, 2) for c in part]
    varying = [column for column in (pairs, metrics, tasks) if len(set(column)) > 1] or [metrics]
    return [in_lines(", ".join(parts), 46, 2) for parts in zip(*varying, strict=True)]


def _draw_contributions(rows: Sequence[Any], ax: Axes) -> None:
    """Draw the part of a difference that each group of items adds, beside its row."""
    bars = []
    for one in rows:
        part = one.contribution if one.contribution is not None else 0.0
        share = f"{one.share:.0%}" if one.share is not None and math.isfinite(one.share) else ""
        bars.append(Bar("", part, SERIES[0] if part >= 0 else SERIES[1], share))
    draw_bars(ax, bars)
    ax.set_xlabel("part of the difference")


# Cost against score


def cost_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of cost against score, filled on the Pareto front and hollow off it."""
    column = str(found.settings["cost"])
    return frame(
        [Panel(partial(_draw_costs, found), "", HEIGHT * 1.3)],
        ax,
        name=f"cost-{column.replace('_', '-')}",
        title=f"Score by {column.replace('_', ' ')}",
        caption="Mean cost per sample, and scores with "
        f"{percent(found.settings['level'])} intervals. "
        "Filled and joined: the Pareto front (no model is both cheaper and better).",
        alt=f"Cost and score of {len(found)} models",
        rows=found.as_records(),
        width=HALF_WIDTH * (1.1 if len(found) <= 7 else 1.6),
        wide=len(found) > 7,
    )


def _draw_costs(found: Results[Any], ax: Axes) -> None:
    dress(ax, grid="both")
    higher = found.settings["higher_is_better"]
    for i, one in enumerate(sorted(found, key=lambda one: -one.score if higher else one.score)):
        style = series_style(i)
        if one.low <= one.high:
            ax.vlines(one.cost, one.low, one.high, color=style.color, linewidth=1.0)
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
    front = [one for one in found if one.on_front]
    corners = [one.cost for one in front], [one.score for one in front]
    ax.step(*corners, where="post", color=MUTED, linewidth=1.0, zorder=0)
    prices = [one.cost for one in found]
    if min(prices) > 0 and max(prices) > 20 * min(prices):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    else:
        mark_numbers(ax.xaxis, most=5)
    mark_numbers(ax.yaxis, most=6)
    ax.set_xlabel(f"{str(found.settings['cost']).replace('_', ' ')} per sample (← cheaper)")
    ax.set_ylabel(better_end(found.settings["scale"], higher))
    name_series(ax, "lower right")
