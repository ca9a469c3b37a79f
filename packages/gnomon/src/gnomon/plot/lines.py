"""Lines with bands: profiles, learning curves, power by runs or items, looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from gnomon.plot.figure import Figure, Panel, frame
from gnomon.plot.labels import MOST_INSIDE, better_end, in_lines, metric_name, name_series
from gnomon.plot.style import (
    FULL_WIDTH,
    GRID,
    HALF_WIDTH,
    HEIGHT,
    MOST_STYLES,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    FloatArray,
    SeriesStyle,
    dress,
    mark_numbers,
    series_style,
)
from gnomon.tables import percent

if TYPE_CHECKING:
    from gnomon.plot.labels import Corner
    from gnomon.results import Results

#: Lines with at most this number of points have a marker at each.
MOST_MARKED = 25
#: Panels of a grid of tasks.
MOST_PANELS = 24
#: Turns of the golden ratio keep neighbours apart.
_GOLDEN = 0.6180339887


@dataclass(frozen=True, eq=False)
class Line:
    """A line, with its band where there is one.

    Parameters
    ----------
    label : str
    x, y : ndarray of float, shape (points,)
    low, high : ndarray of float, optional
        Ends of the band; NaN where it does not exist.
    style : SeriesStyle, optional
        That of its place among the lines, if not given.
    """

    label: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    style: SeriesStyle | None = None


def draw_lines(
    ax: Axes,
    lines: Sequence[Line],
    *,
    steps: Literal["steps-post", "steps-pre"] | None = None,
    marked: bool = False,
) -> None:
    """Draw lines with their bands; every series has a colour, a dash and, if many, a marker.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    lines : sequence of Line
    steps : str, optional
        Draw steps, where only the values at the points are known.
    marked : bool
        Put a marker at each point, unless there are many.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.plot import Line, draw_lines, new_drawing
    >>> ax = new_drawing(4, 3).subplots()
    >>> draw_lines(ax, [Line("dqn", np.array([0.0, 1.0]), np.array([2.0, 3.0]))])
    >>> ax.lines[0].get_label()
    'dqn'
    """
    dress(ax, grid="both")
    alpha = min(0.18, 1.08 / max(len(lines), 1))
    for i, line in enumerate(lines):
        style = line.style or series_style(i)
        look: dict[str, Any] = {"marker": style.marker, "markersize": 4.5}
        if not marked or line.x.size > MOST_MARKED or style.numeral:
            look = _sparse_markers(style, i, line.x.size, len(lines))
        ax.plot(
            line.x, line.y, color=style.color, linestyle=style.dash, linewidth=1.7,
            label=style.named(line.label), drawstyle=steps or "default", **look,
        )  # fmt: skip
        if line.low is not None and line.high is not None and np.isfinite(line.low).any():
            ax.fill_between(
                line.x, line.low, line.high, color=style.color, linewidth=0, alpha=alpha
            )
        if style.numeral:
            _number_line(ax, line, style)


def _sparse_markers(style: SeriesStyle, index: int, n_points: int, n: int) -> dict[str, Any]:
    """Return few markers for a line of many points, at places where its neighbours have none."""
    if n <= len(SERIES) or style.numeral:
        return {}
    every = max(n_points // 4, 1)
    first = int((index * _GOLDEN + 0.1) % 1.0 * every)
    return {"marker": style.marker, "markersize": 4.5, "markevery": (first, every)}


def _number_line(ax: Axes, line: Line, style: SeriesStyle) -> None:
    """Write the number of a series on its line, where it rises."""
    known = np.isfinite(line.y)
    inner = np.flatnonzero(known & (line.y > np.nanmin(line.y)) & (line.y < np.nanmax(line.y)))
    places = inner if inner.size else np.flatnonzero(known)
    if not places.size:
        return
    at = places[int(int(style.numeral) * _GOLDEN % 1.0 * places.size)]
    ax.text(
        float(line.x[at]), float(line.y[at]), style.numeral, ha="center", va="center",
        fontsize=SIZE - 2.5, color=style.color, zorder=4, clip_on=True,
        bbox={"boxstyle": "round,pad=0.15", "fc": PAPER, "ec": style.color, "lw": 0.7},
    )  # fmt: skip


def _room(n_lines: int) -> tuple[float, float]:
    """Return width and height of a panel, with room for the names of its lines."""
    width = FULL_WIDTH * (0.65 if n_lines <= MOST_INSIDE else 0.9)
    return width, max(HEIGHT * 1.25, 0.17 * min(n_lines, 40))


# Profiles

_EVIDENCE = ("p-value of not being the best", "share of tasks with a larger p-value (better →)")
#: Kind of profile -> labels of its axes, and how its steps run.
_PROFILES: Mapping[str, tuple[str, str, Literal["steps-post", "steps-pre"] | None]] = {
    "run_score": ("threshold", "share of runs", None),
    "average_score": ("threshold", "share of tasks with a mean", None),
    "ratio": ("factor to the best (log scale)", "share of tasks within this factor", "steps-post"),
    "likelihood": (*_EVIDENCE, "steps-pre"),
}


def profile_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of profiles: the higher curve is the better one."""
    kind, (width, height) = found[0].kind, _room(len(found))
    bands = f" Bands: {percent(found[0].level)}, pointwise." * kind.endswith("_score")
    return frame(
        [Panel(partial(_draw_profiles, found), height=height)],
        ax,
        name=f"profiles-{kind.replace('_', '-')}",
        title="Performance profiles",
        caption=" ".join([f"The higher curve is the better one.{bands}", *found.notes]),
        alt=f"Performance profiles of {len(found)} algorithms ({kind.replace('_', ' ')})",
        rows=found.as_records(),
        width=width,
    )


def _draw_profiles(found: Results[Any], ax: Axes) -> None:
    kind, tau = found[0].kind, found[0].tau
    xlabel, ylabel, steps = _PROFILES[kind]
    draw_lines(ax, [Line(p.algorithm, p.tau, p.value, p.low, p.high) for p in found], steps=steps)
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlim(float(tau[0]), float(tau[-1]))
    scaled = kind.endswith("_score")
    if kind == "ratio":
        _ratio_axis(ax, tau)
    elif not scaled:
        ax.xaxis.set_major_locator(FixedLocator([0.0, 1.301, 2.0, 3.0, 4.0, 5.0]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{10.0**-t:.2g}"))
        ax.axvline(2.0, color=MUTED, linewidth=0.8, linestyle=":")
    elif found[0].spacing == "log":
        _stretch(ax, tau)
        xlabel += f", {'symmetric ' if tau[0] <= 0.0 else ''}log scale"
    else:
        mark_numbers(ax.xaxis, most=8)
    if scaled:
        scale, higher = found.settings.get("scale"), found.settings.get("higher_is_better", True)
        xlabel = xlabel if not scale else xlabel.replace("threshold", f"threshold ({scale})")
        ylabel += f" {'above' if higher else 'below'} it (better →)"
    ax.axhline(0.5, color=GRID, linewidth=1.2, zorder=0.5)
    ax.set_xlabel(in_lines(xlabel, 70, 2))
    ax.set_ylabel(ylabel)
    by_height = _labels_by_height(ax, [float(p.value.mean()) for p in found])
    name_series(ax, "upper right" if scaled else "lower right", by_height)


def _labels_by_height(ax: Axes, heights: Sequence[float]) -> list[str]:
    """Return the labels of the lines from top to bottom, so that a legend has their order."""
    names = ax.get_legend_handles_labels()[1]
    return [name for _, name in sorted(zip(heights, names, strict=True), key=lambda x: -x[0])]


def _ratio_axis(ax: Axes, tau: FloatArray) -> None:
    # Beyond nine tenths of the ratios, profiles only show which tasks are never solved.
    most = max(float(np.quantile(tau, 0.9)), 1.5)
    ax.set_xscale("log")
    ax.set_xlim(1.0, min(most, float(tau[-1]) * 1.02))
    spread = math.log10(ax.get_xlim()[1])
    marks: tuple[float, ...] = (1, 3) if spread < 3 else (1,)
    if spread < 1.2:
        marks = (1, 1.1, 1.2, 1.4, 1.6, 1.8, 2) if spread < 0.35 else (1, 1.5, 2, 3, 5, 7)
    ax.xaxis.set_major_locator(FixedLocator([s * 10.0**k for k in range(12) for s in marks]))
    ax.xaxis.set_minor_locator(NullLocator())
    mark_numbers(ax.xaxis)


def _stretch(ax: Axes, tau: FloatArray) -> None:
    """Space the thresholds evenly, and mark those round values that do not crowd."""
    top = math.floor(math.log10(max(abs(float(tau[0])), abs(float(tau[-1])))))
    steps = [10.0**k * m for m in (1, 3, 2, 5) for k in range(top, top - 12, -1)]
    marks = [0.0, *(sign * step for step in steps for sign in (1.0, -1.0))]
    places = np.arange(tau.size, dtype=np.float64)
    ax.set_xscale(
        "function",
        functions=(lambda x: np.interp(x, tau, places), lambda x: np.interp(x, places, tau)),
    )
    ax.set_xlim(float(tau[0]), float(tau[-1]))
    ticks: list[float] = []
    for value in (mark for mark in marks if tau[0] <= mark <= tau[-1]):
        near = [abs(np.interp(value, tau, places) - np.interp(t, tau, places)) for t in ticks]
        if min(near, default=tau.size) > 0.06 * tau.size:
            ticks.append(value)
    ax.xaxis.set_major_locator(FixedLocator(sorted(ticks)))
    ax.xaxis.set_minor_locator(NullLocator())
    mark_numbers(ax.xaxis)


# Learning curves


def curve_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of learning curves: one panel per metric, or per task as a grid."""
    keys = list(dict.fromkeys((c.task, c.metric) for c in found))
    names = list(dict.fromkeys(c.algorithm for c in found))
    style = {name: series_style(i) for i, name in enumerate(names)}
    tasks = {task for task, _ in keys}
    metrics = list(dict.fromkeys(metric for _, metric in keys))
    shown = keys[:MOST_PANELS] if len(tasks) > 1 else keys
    panels = []
    for i, (task, metric) in enumerate(shown):
        own = [c for c in found if (c.task, c.metric) == (task, metric)]
        title = metric_name(metric) if task is None else in_lines(str(task), 34, 1)
        if task is not None and len(metrics) > 1:
            title += f", {metric_name(metric)}"
        draw = partial(
            _draw_curves, own, style, found.settings, legend=i == len(shown) - 1,
            ylabel=i == 0 or len(tasks) > 1, step=found.settings.get("step", "step"),
        )  # fmt: skip
        panels.append(Panel(draw, title, 2.6 if len(tasks) > 1 else _room(len(names))[1]))
    some = f" The first {len(shown)} of {len(keys)} panels are drawn." * (len(shown) < len(keys))
    several = len(panels) > 1
    return frame(
        panels,
        ax,
        name="curves" if len(tasks) == 1 else "curves-per-task",
        title="Learning curves",
        caption=f"{', '.join(map(metric_name, metrics)).capitalize()}, with pointwise "
        f"{percent(found[0].level)} bands.{some}",
        alt=f"Learning curves of {len(names)} algorithms",
        rows=found.as_records(),
        columns=min(3, len(panels)) if len(tasks) > 1 else max(len(panels), 1),
        width=FULL_WIDTH if several else _room(len(names))[0],
        share_y=len(tasks) == 1,
        wide=several,
    )


def _draw_curves(
    curves: Sequence[Any],
    style: Mapping[str, SeriesStyle],
    settings: Mapping[str, Any],
    ax: Axes,
    *,
    step: str,
    legend: bool,
    ylabel: bool,
) -> None:
    lines = [Line(c.algorithm, c.step, c.value, c.low, c.high, style[c.algorithm]) for c in curves]
    draw_lines(ax, lines, marked=True)
    ax.set_xlim(min(float(c.step[0]) for c in curves), max(float(c.step[-1]) for c in curves))
    whole = all(float(x).is_integer() for c in curves for x in (c.step[0], c.step[-1]))
    mark_numbers(ax.xaxis, most=5, whole=whole)
    mark_numbers(ax.yaxis, most=6)
    ax.set_xlabel(step)
    if ylabel:
        higher = settings.get("higher_is_better", True) and curves[0].metric != "optimality_gap"
        ax.set_ylabel(better_end(settings.get("scale", ""), higher))
    if legend:
        ends = [float(np.nan_to_num(c.value[-1], nan=-np.inf)) for c in curves]
        name_series(ax, "lower right", _labels_by_height(ax, ends))


# Numbers of runs and of items


def plan_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of a plan: power against runs or items."""
    first = found[0]
    power = float(found.settings.get("power", 0.8))
    if hasattr(first, "epochs"):
        own = [p for p in found if (p.a, p.b, p.metric) == (first.a, first.b, first.metric)]
        points = [(f"{p.epochs} epoch{'s' * (p.epochs > 1)}", p.items, p.power) for p in own]
        pair = f"{in_lines(first.a, 40, 1)} and {in_lines(first.b, 40, 1)}"
        caption = f"{pair}, {metric_name(first.metric)}: power for the present difference"
        words = ("item-plan", "Power by items and epochs", caption)
        return _by_number(found, points, "items (log scale)", words, power, ax)
    points = [(f"{p.a}, {p.b}", p.runs, p.power) for p in found]
    caption = (
        f"Power to separate a pair ({first.metric}) if the true difference is the lower limit "
        "of its one-sided 80 % interval"
    )
    words = ("power", "Power by runs", caption)
    return _by_number(found, points, "runs per task (log scale)", words, power, ax)


def _by_number(
    found: Results[Any],
    points: Sequence[tuple[str, int, float]],
    xlabel: str,
    words: tuple[str, str, str],
    mark: float,
    ax: Axes | None,
) -> Figure | Axes:
    """Return power against a number of runs or items, one line per name."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for label, n, share in points:
        lines.setdefault(label, []).append((n, share))
    hardest = sorted(lines, key=lambda label: sum(y for _, y in lines[label]))[:MOST_STYLES]
    drawn = [
        Line(name, *np.array(sorted(own), dtype=float).T)
        for name, own in lines.items()
        if name in hardest
    ]

    def draw(ax: Axes) -> None:
        draw_lines(ax, drawn, marked=True)
        ax.axhline(mark, color=MUTED, linewidth=1.0, linestyle=":")
        _count_axis(ax, sorted({n for _, n, _ in points}))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlabel(xlabel)
        ax.set_ylabel("power")
        corner: Corner = "lower right" if mark > 0.5 else "upper right"
        name_series(ax, corner)

    name, title, caption = words
    left_out = len(lines) - len(drawn)
    some = f" The {len(drawn)} lowest of {len(lines)} lines are drawn." * (left_out > 0)
    width = FULL_WIDTH if len(drawn) > MOST_INSIDE else HALF_WIDTH * 1.2
    return frame(
        [Panel(draw)],
        ax,
        name=name,
        title=title,
        caption=f"{caption}.{some}",
        alt=f"{title}: {len(drawn)} lines",
        rows=found.as_records(),
        width=width,
    )


def _count_axis(ax: Axes, counts: Sequence[int]) -> None:
    """Mark the counts on a logarithmic axis."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([*counts]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.tick_params(axis="x", labelrotation=45 if len(counts) > 6 else 0)


def item_look_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of a confidence sequence: the difference after more and more items."""
    metrics = list(dict.fromkeys(one.metric for one in found))

    def panel(metric: str) -> Callable[[Axes], None]:
        own = [one for one in found if one.metric == metric]

        def draw(ax: Axes) -> None:
            n, value, low, high = (
                np.array([getattr(one, name) for one in own], dtype=float)
                for name in ("n_items", "value", "low", "high")
            )
            label = f"{in_lines(own[0].a, 30, 1)} minus\n{in_lines(own[0].b, 30, 1)}"
            draw_lines(ax, [Line(label, n, value, low, high)], marked=True)
            ax.axhline(0.0, color=MUTED, linewidth=1.2)
            stopped = found.settings["n_stopped"][metric]
            if stopped is not None:
                ax.axvline(stopped, color=SERIES[1], linewidth=1.2, linestyle="--")
            _count_axis(ax, sorted({int(x) for x in n}))
            mark_numbers(ax.yaxis, most=6)
            ax.set_xlabel("items seen (log scale)")
            ax.set_ylabel(label)

        return draw

    return frame(
        [Panel(panel(metric), metric if len(metrics) > 1 else "") for metric in metrics],
        ax,
        name="item-looks",
        title="Difference as items arrive",
        caption="The difference after each number of items, with its "
        f"{percent(found[0].level)} confidence sequence, which is valid at all looks together. "
        "Dashed line: the difference is established.",
        alt=f"Confidence sequence of {', '.join(metrics)}",
        rows=found.as_records(),
        columns=len(metrics),
        width=FULL_WIDTH if len(metrics) > 1 else HALF_WIDTH * 1.4,
        wide=len(metrics) > 1,
    )
