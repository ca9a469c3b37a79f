"""Dots with intervals, and bars: estimates, comparisons and predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from gnomon.errors import counted
from gnomon.plot.figure import Figure, Panel, drawn, frame
from gnomon.plot.labels import (
    all_in_lines,
    better_end,
    in_lines,
    metric_name,
    name_rows,
    write_in_row,
)
from gnomon.plot.maps import improvement_figure
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    INK,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    FloatArray,
    SeriesStyle,
    dress,
    mark_numbers,
    series_style,
    short_number,
)
from gnomon.printing import number, p_value, percent

if TYPE_CHECKING:
    from gnomon.distillation.distilled import Distillation
    from gnomon.distillation.preparation import Transform
    from gnomon.results import Results

#: Height of a row in inches, with its number above the dot or without.
ROW, TALL_ROW = 0.34, 0.46
#: More rows do not fit on a page.
MOST_ROWS = 60
#: Most rows in a column of panels.
MOST_IN_PANELS = 200
#: Level of the intervals of predictions, and height of their panel in inches.
LEVEL, SIDE = 0.9, HALF_WIDTH * 0.95
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
    >>> from gnomon.plot import Dot, draw_dots, style
    >>> ax = style.new_drawing(4, 2).subplots()
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
    """Return limits that show all finite numbers, with a margin."""
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


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar in a row: its name, its length, its colour, and a text beside it."""

    label: str
    value: float
    color: str = SERIES[0]
    beside: str = ""


def draw_bars(ax: Axes, bars: Sequence[Bar]) -> None:
    """Draw horizontal bars from zero, one row each, the first on top.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    bars : sequence of Bar
        A value that is NaN is written out as "not estimable".

    Examples
    --------
    >>> from gnomon.plot import Bar, draw_bars, style
    >>> ax = style.new_drawing(4, 2).subplots()
    >>> draw_bars(ax, [Bar("algebra", 0.04), Bar("logic", -0.01)])
    >>> [float(patch.get_width()) for patch in ax.patches]
    [0.04, -0.01]
    """
    dress(ax, grid="x")
    name_rows(ax, all_in_lines([bar.label for bar in bars], 30, 2))
    ax.axvline(0.0, color=MUTED, linewidth=1.2)
    for row, bar in enumerate(bars):
        if not math.isfinite(bar.value):
            write_in_row(ax, row)
            continue
        ax.barh(row, bar.value, height=0.5, color=bar.color, alpha=0.75, linewidth=0)
        side = 4 if bar.value >= 0 else -4
        ax.annotate(
            bar.beside, (bar.value, row), xytext=(side, 0), textcoords="offset points",
            ha="left" if side > 0 else "right", va="center", color=MUTED, fontsize=SIZE - 1,
        )  # fmt: skip
    ax.margins(x=0.18)
    mark_numbers(ax.xaxis, most=5)


# Estimates


def estimate_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of estimates: one panel per metric or task, the best algorithm on top."""
    keys = list(dict.fromkeys((one.task, one.metric) for one in found))
    tasks, metrics = (list(dict.fromkeys(key[i] for key in keys)) for i in (0, 1))
    names = list(dict.fromkeys(one.algorithm for one in found))
    rows, part = drawn(_best_first(found, names), MOST_ROWS)
    styles = {name: series_style(i) for i, name in enumerate(names)}
    columns = len(metrics) if len(metrics) > 1 else min(len(tasks), 3)
    height = 0.95 + (TALL_ROW if max(map(len, rows)) <= 50 else TALL_ROW + 0.14) * len(rows)
    shown, some = drawn(keys, columns * max(1, MOST_IN_PANELS // max(len(rows), 10)))
    heads = all_in_lines([str(task) for task, _ in shown], 72 // columns, 2)
    panels = []
    for i, (task, metric) in enumerate(shown):
        own = {e.algorithm: e for e in found if (e.task, e.metric) == (task, metric)}
        titles = [heads[i]] if len(tasks) > 1 else []
        titles += [metric_name(metric)] if len(metrics) > 1 or not titles else []
        scale = found.settings.get("scale", "") if i >= len(shown) - columns else ""
        if scale and len(tasks) > 1 and len(metrics) == 1:
            scale = f"{metric_name(metric)}: {scale}"
        xlabel = in_lines(better_end(scale, _is_higher_better(found, metric)), 105 // columns)
        draw = partial(_draw_estimates, own, rows, styles, xlabel)
        panels.append(Panel(draw, ", ".join(titles), height))
    what = f"one panel per {'metric' if len(tasks) == 1 else 'task'}"
    return frame(
        panels,
        ax,
        name="estimates",
        title="Estimates",
        caption=f"Estimates with {percent(found[0].level)} intervals, {what}.{part}{some}",
        alt=f"{len(found)} estimates with intervals. Best first: {', '.join(rows[:8])}",
        rows=found.as_records(),
        columns=columns,
        width=FULL_WIDTH if columns > 1 else FULL_WIDTH * 0.6,
        share_y=True,
        wide=columns > 1,
    )


def _draw_estimates(
    own: Mapping[str, Any],
    rows: Sequence[str],
    styles: Mapping[str, SeriesStyle],
    xlabel: str,
    ax: Axes,
) -> None:
    dots = []
    for name, shown in zip(rows, all_in_lines(rows), strict=True):
        value, low, high = (getattr(own.get(name), x, math.nan) for x in ("value", "low", "high"))
        above = short_number(value) if math.isfinite(value) else ""
        dots.append(Dot(shown, value, low, high, styles[name], above=above))
    draw_dots(ax, dots, top=0.7)
    ax.set_xlabel(xlabel)


def _is_higher_better(found: Results[Any], metric: str) -> bool:
    return bool(found.settings.get("higher_is_better", True)) and metric != "optimality_gap"


def _best_first(found: Results[Any], names: Sequence[str]) -> list[str]:
    """Return the algorithms in the order of their first metric, averaged over its panels."""
    metric = found[0].metric
    sign = -1.0 if _is_higher_better(found, metric) else 1.0

    def place(name: str) -> float:
        own = [e.value for e in found if e.algorithm == name and e.metric == metric]
        mean = sign * sum(own) / len(own) if own else math.nan
        return math.inf if math.isnan(mean) else mean

    return sorted(names, key=place)


# Comparisons


def comparison_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of comparisons: a map of P(better) of all pairs, or differences as dots.

    P(better) is in a panel below, the contribution of each group of items in one at the right.
    """
    pairs = list(dict.fromkeys((c.a, c.b) for c in found))
    names = {name for pair in pairs for name in pair}
    chances = [c for c in found if c.metric == IMPROVEMENT]
    whole = 2 * len(pairs) == len(names) * (len(names) - 1) > 2
    if len(chances) == len(found) and whole:
        return improvement_figure(found, ax)
    parts = [p for p in ([c for c in found if c.metric != IMPROVEMENT], chances) if p]
    panels, some = [], ""
    for part in parts:
        shown, left_out = drawn(part, MOST_ROWS)
        labels = _row_labels(shown)
        row = TALL_ROW if any("\n" in label for label in labels) else ROW
        draw = partial(_draw_comparisons, found, shown, labels, pairs)
        panels.append(Panel(draw, "", 1.1 + row * len(shown)))
        some = some or left_out
    groups = any(getattr(c, "contribution", None) is not None for c in found)
    if groups and ax is None:
        shown, _ = drawn(parts[0], MOST_ROWS)
        panels.insert(1, Panel(partial(_draw_contributions, shown), "", panels[0].height))
    family = found.settings.get("family")
    caption = f"Differences with {percent(found[0].level)} intervals; filled: significant."
    caption += f" p-values: {family}." if family else ""
    caption += " At the right: the part of the difference that each group adds." if groups else ""
    return frame(
        panels,
        ax,
        name="comparison",
        title="Comparison",
        caption=f"{caption}{some}",
        alt=f"{len(found)} comparisons of {len(pairs)} pairs of algorithms",
        rows=found.as_records(),
        columns=2 if groups else 1,
        width=FULL_WIDTH * (1.0 if groups else 0.75),
        wide=groups,
    )


def _draw_comparisons(
    found: Results[Any],
    part: Sequence[Any],
    labels: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    ax: Axes,
) -> None:
    """Draw comparisons of one kind; a single pair is named by the axis."""
    chances = part[0].metric == IMPROVEMENT
    neutral = 0.5 if chances else 0.0
    dots = []
    for one, label in zip(part, labels, strict=True):
        p = "not tested" if math.isnan(one.p_adjusted) else f"p {p_value(one.p_adjusted, '= ')}"
        style = SeriesStyle(SERIES[0 if one.value >= neutral else 1], "-", "o")
        separated = one.p_adjusted <= 1.0 - one.level
        dots.append(Dot(label, one.value, one.low, one.high, style, separated, beside=p))
    draw_dots(ax, dots, neutral=neutral)
    a, b = (in_lines(name, 40, 1) for name in (pairs[0] if len(pairs) == 1 else ("A", "B")))
    if chances:
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel(f"probability that a run of {a} is better")
        return
    # A smaller gap to a target is better.
    better = {_is_higher_better(found, one.metric) for one in part}
    label = f"{a} minus {b} ({found.settings.get('scale', 'score')})"
    if len(better) == 1:
        label += f"\n{a} better →" if better == {True} else f"\n← {a} better"
    ax.set_xlabel(label)


def _row_labels(part: Sequence[Any]) -> list[str]:
    """Return for each row the parts of its name that vary: pair, metric, task."""
    pairs = [f"{in_lines(c.a, 44, 1)} − {in_lines(c.b, 44, 1)}" for c in part]
    metrics = [metric_name(c.metric) for c in part]
    whole = "all tasks" if part[0].n_items is None else "all items"
    tasks = [whole if c.task is None else in_lines(str(c.task), 40, 2) for c in part]
    if part[0].e_value is not None:  # looks at more and more items
        tasks = [counted(c.n_items, "item") for c in part]
    varying = [column for column in (pairs, metrics, tasks) if len(set(column)) > 1] or [metrics]
    return [in_lines(", ".join(parts), 46, 2) for parts in zip(*varying, strict=True)]


def _draw_contributions(rows: Sequence[Any], ax: Axes) -> None:
    """Draw the contribution of each group of items to the difference, beside its row."""
    bars = []
    for one in rows:
        part = one.contribution if one.contribution is not None else 0.0
        share = f"{one.share:.0%}" if one.share is not None and math.isfinite(one.share) else ""
        bars.append(Bar("", part, SERIES[0] if part >= 0 else SERIES[1], share))
    draw_bars(ax, bars)
    ax.set_xlabel("part of the difference")


# Predictions of a smaller suite


def prediction_figure(found: Distillation, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of predicted against true summaries, by the nested validation."""
    data, model, held = found.data, found.model, found[0].nested
    predicted, half = data.target + held.residuals, model.half_width(LEVEL)
    ends = [
        (p - half, p + half) if f is None else f.interval(LEVEL, model.scale)
        for p, f in zip(predicted, held.forecasts or [None] * len(predicted), strict=True)
    ]
    points = np.array([data.target, predicted, *np.transpose(ends)])
    true, _, low, high = points
    missed = (true < low) | (true > high)
    names = ("true", "predicted", "low", "high")
    values = data.transform.inverse(points).T.tolist()
    return frame(
        [Panel(partial(_draw_predictions, points, missed, data.transform), height=SIDE)],
        ax,
        name="predictions",
        title="Predicted against true",
        caption="Each algorithm is predicted by a model with tasks and weights chosen without it. "
        f"Vertical lines: {percent(LEVEL)} prediction intervals; those of {missed.sum()} of "
        f"{held.n_predicted} algorithms (diamonds) miss the diagonal, on which predictions are "
        "exact.",
        alt=f"{held.n_predicted} algorithms, predicted against true summary",
        rows=[
            {"algorithm": algorithm, **dict(zip(names, own, strict=True))}
            for algorithm, own in zip(data.algorithms, values, strict=True)
        ],
    )


def _draw_predictions(
    points: FloatArray, missed: npt.NDArray[np.bool_], transform: Transform, ax: Axes
) -> None:
    known = ~np.isnan(points[1])
    ends = np.array([points[:2, known].min(), points[:2, known].max()])
    line = ends + np.array([-0.05, 0.05]) * (np.ptp(ends) or 1.0)
    dress(ax, grid="both")
    ax.plot(line, line, color=MUTED, linewidth=1.0)
    kinds = (
        (~missed, "o", SERIES[0], "holds the true summary"),
        (missed, "D", SERIES[1], "misses it"),
    )
    for chosen, marker, color, word in kinds:
        t, p, low, high = points[:, known & chosen]
        ax.vlines(t, low, high, color=color, alpha=0.45, linewidth=1.0)
        if t.size:
            label = f"{percent(LEVEL)} interval {word}"
            ax.plot(t, p, marker, markersize=4, color=color, alpha=0.8, label=label)
    ax.legend(loc="upper left", fontsize=SIZE - 2, frameon=False, labelcolor=INK)
    ax.set_xlim(*line)
    ax.set_ylim(*line)
    ax.set_aspect("equal")
    _mark_scores(ax, transform, line)
    ax.set_xlabel("true summary")
    ax.set_ylabel("predicted without the algorithm")


def _mark_scores(ax: Axes, transform: Transform, ends: FloatArray) -> None:
    """Mark both axes, which are transformed, with round scores."""
    if transform.log_base is None:
        return
    low, high = (float(x) for x in transform.inverse(ends))
    marks = [0.0, *(m * 10.0**k for k in range(-3, 9) for m in (1, 3))]
    marks = [mark for mark in marks if low <= mark <= high and (mark == 0 or mark > 1e-3 * high)]
    if len(marks) < 3:
        marks = [float(m) for m in MaxNLocator(5).tick_values(low, high) if low <= m <= high]
    places, labels = transform.forward(np.array(marks)).tolist(), [*map(short_number, marks)]
    ax.set_xticks(places, labels)
    ax.set_yticks(places, labels)
