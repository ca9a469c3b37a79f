"""Lines with bands: profiles, learning curves, power by runs, gains of a loop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from gnomon.errors import shortened
from gnomon.plot.figure import Figure, Panel, drawn, frame
from gnomon.plot.labels import all_in_lines, better_end, in_lines, metric_name, name_series
from gnomon.plot.style import (
    FULL_WIDTH,
    GRID,
    HEIGHT,
    INK,
    MOST_STYLES,
    MUTED,
    SERIES,
    SIZE,
    FloatArray,
    SeriesStyle,
    dress,
    mark_numbers,
    series_style,
    short_number,
)
from gnomon.printing import percent

if TYPE_CHECKING:
    from gnomon.results import Results

#: Lines with at most this number of points have a marker at each.
MOST_MARKED = 25
#: Panels of a grid of tasks.
MOST_PANELS = 24
#: Names of the first kept candidates of a loop; more would overlap.
MOST_KEPT = 12
#: Multiples of the golden ratio keep the markers of neighbouring lines apart.
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
    >>> from gnomon.plot import Line, draw_lines, style
    >>> ax = style.new_drawing(4, 3).subplots()
    >>> draw_lines(ax, [Line("dqn", np.array([0.0, 1.0]), np.array([2.0, 3.0]))])
    >>> ax.lines[0].get_label()
    'dqn'
    """
    dress(ax, grid="both")
    alpha = min(0.18, 1.08 / max(len(lines), 1))
    for i, line in enumerate(lines):
        style = line.style or series_style(i)
        look: dict[str, Any] = {"marker": style.marker, "markersize": 4.5}
        if not marked or line.x.size > MOST_MARKED:
            look = look | _sparse(i, line.x.size) if len(lines) > len(SERIES) else {}
        ax.plot(
            line.x, line.y, color=style.color, linestyle=style.dash, linewidth=1.7,
            label=line.label, drawstyle=steps or "default", **look,
        )  # fmt: skip
        if line.low is not None and line.high is not None and np.isfinite(line.low).any():
            ax.fill_between(
                line.x, line.low, line.high, color=style.color, linewidth=0, alpha=alpha
            )


def _sparse(index: int, n_points: int) -> dict[str, tuple[int, int]]:
    """Return the places of a few markers on a line, away from those of its neighbours."""
    every = max(n_points // 4, 1)
    return {"markevery": (int((index * _GOLDEN + 0.1) % 1.0 * every), every)}


def _size(n_lines: int) -> tuple[float, float]:
    """Return the width and height of a panel, with room for the names of its lines beside it."""
    return FULL_WIDTH * 0.8, max(HEIGHT * 1.25, 0.21 * n_lines)


# Profiles

_EVIDENCE = ("p-value of not being the best", "share of tasks with a larger p-value (better →)")
#: Kind of profile -> labels of its axes, and the style of its steps.
_PROFILES: Mapping[str, tuple[str, str, Literal["steps-post", "steps-pre"] | None]] = {
    "run_score": ("threshold", "share of runs", None),
    "average_score": ("threshold", "share of tasks with a mean", None),
    "ratio": ("factor to the best (log scale)", "share of tasks within this factor", "steps-post"),
    "likelihood": (*_EVIDENCE, "steps-pre"),
}


def profile_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of profiles: the higher curve is the better one."""
    shown, some = drawn(found, MOST_STYLES)
    kind, size = found[0].kind, _size(len(shown))
    bands = f" Bands: {percent(found[0].level)}, pointwise." * kind.endswith("_score")
    return frame(
        [Panel(partial(_draw_profiles, shown, found.settings), height=size[1])],
        ax,
        name=f"profiles-{kind.replace('_', '-')}",
        title="Performance profiles",
        caption=" ".join([f"The higher curve is the better one.{bands}{some}", *found.notes]),
        alt=f"Performance profiles of {len(found)} algorithms ({kind.replace('_', ' ')})",
        rows=found.as_records(),
        width=size[0],
        wide=True,
    )


def _draw_profiles(found: Sequence[Any], settings: Mapping[str, Any], ax: Axes) -> None:
    kind, tau = found[0].kind, found[0].tau
    xlabel, ylabel, steps = _PROFILES[kind]
    draw_lines(ax, [Line(p.algorithm, p.tau, p.value, p.low, p.high) for p in found], steps=steps)
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    if tau[0] < tau[-1]:
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
        scale, higher = settings.get("scale"), settings.get("higher_is_better", True)
        xlabel = xlabel if not scale else xlabel.replace("threshold", f"threshold ({scale})")
        ylabel += f" {'above' if higher else 'below'} it (better →)"
    ax.axhline(0.5, color=GRID, linewidth=1.2, zorder=0.5)
    ax.set_xlabel(in_lines(xlabel, 70, 2))
    ax.set_ylabel(ylabel)
    _name_by_height(ax, [float(p.value.mean()) for p in found])


def _name_by_height(ax: Axes, heights: Sequence[float], *, beside_all: bool = False) -> None:
    """Name the lines in the order of their heights."""
    names = ax.get_legend_handles_labels()[1]
    by_height = [name for _, name in sorted(zip(heights, names, strict=True), reverse=True)]
    name_series(ax, by_height, beside_all=beside_all)


def _ratio_axis(ax: Axes, tau: FloatArray) -> None:
    # Beyond the 90 % quantile of the ratios, profiles only show which tasks are never solved.
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
    """Space the thresholds evenly, and mark round values that do not overlap."""
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
    ticks.sort()
    labels = [f"{x / 1e3:g}k" if 1e4 <= abs(x) < 1e6 else short_number(x) for x in ticks]
    ax.set_xticks(ticks, labels)
    ax.xaxis.set_minor_locator(NullLocator())


# Learning curves


def curve_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of learning curves: one panel per metric, or per task as a grid."""
    keys = list(dict.fromkeys((c.task, c.metric) for c in found))
    metrics = list(dict.fromkeys(metric for _, metric in keys))
    names, some = drawn(list(dict.fromkeys(c.algorithm for c in found)), MOST_STYLES)
    style = {name: series_style(i) for i, name in enumerate(names)}
    per_task = len({task for task, _ in keys}) > 1
    width, height = _size(len(names))
    shown, left_out = drawn(keys, MOST_PANELS) if per_task else (keys, "")
    columns = min(3, len(shown)) if per_task else len(shown)
    if per_task:
        height = max(2.6, height / math.ceil(len(shown) / columns))
    heads = all_in_lines([str(task) for task, _ in shown], 24, 2)
    panels = []
    for i, (task, metric) in enumerate(shown):
        own = [c for c in found if (c.task, c.metric) == (task, metric) and c.algorithm in style]
        titles = [] if task is None else [heads[i]]
        titles += [metric_name(metric)] if task is None or len(metrics) > 1 else []
        draw = partial(
            _draw_curves, own, style, found.settings, legend=i == len(shown) - 1,
            beside_all=ax is None, ylabel=i == 0 or per_task,
        )  # fmt: skip
        panels.append(Panel(draw, ", ".join(titles), height))
    return frame(
        panels,
        ax,
        name="curves-per-task" if per_task else "curves",
        title="Learning curves",
        caption=f"{', '.join(map(metric_name, metrics)).capitalize()}, with pointwise "
        f"{percent(found[0].level)} bands.{some}{left_out}",
        alt=f"Learning curves of {len(names)} algorithms",
        rows=found.as_records(),
        columns=columns,
        width=FULL_WIDTH if len(panels) > 1 else width,
        share_y=not per_task,
        wide=True,
    )


def _draw_curves(
    curves: Sequence[Any],
    style: Mapping[str, SeriesStyle],
    settings: Mapping[str, Any],
    ax: Axes,
    *,
    legend: bool,
    beside_all: bool,
    ylabel: bool,
) -> None:
    lines = [Line(c.algorithm, c.step, c.value, c.low, c.high, style[c.algorithm]) for c in curves]
    draw_lines(ax, lines, marked=True)
    ax.set_xlim(min(float(c.step[0]) for c in curves), max(float(c.step[-1]) for c in curves))
    whole = all(float(x).is_integer() for c in curves for x in (c.step[0], c.step[-1]))
    mark_numbers(ax.xaxis, most=5, whole=whole)
    mark_numbers(ax.yaxis, most=6)
    ax.set_xlabel(settings.get("step", "step"))
    if ylabel:
        higher = settings.get("higher_is_better", True) and curves[0].metric != "optimality_gap"
        ax.set_ylabel(better_end(settings.get("scale", ""), higher))
    if legend:
        ends = [float(np.nan_to_num(c.value[-1], nan=-np.inf)) for c in curves]
        _name_by_height(ax, ends, beside_all=beside_all)


# Numbers of runs and of items


def plan_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of a plan: power against runs, one line per pair."""
    power = float(found.settings.get("power", 0.8))
    lines: dict[str, list[tuple[int, float]]] = {}
    for p in found:
        lines.setdefault(f"{p.a}, {p.b}", []).append((p.runs, p.power))
    hardest, some = drawn(sorted(lines, key=lambda x: sum(y for _, y in lines[x])), MOST_STYLES)
    shown = [
        Line(label, *np.array(sorted(own), dtype=float).T)
        for label, own in lines.items()
        if label in hardest
    ]

    def draw(ax: Axes) -> None:
        draw_lines(ax, shown, marked=True)
        ax.axhline(power, color=MUTED, linewidth=1.0, linestyle=":")
        _count_axis(ax, sorted({p.runs for p in found}))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlabel("runs per task (log scale)")
        ax.set_ylabel("power")
        name_series(ax)

    return frame(
        [Panel(draw)],
        ax,
        name="power",
        title="Power by runs",
        caption=f"Power to separate a pair ({found[0].metric}) if the true difference is the lower "
        f"limit of its one-sided 80 % interval.{some}",
        alt=f"Power by runs: {len(shown)} lines",
        rows=found.as_records(),
        width=_size(len(shown))[0],
    )


def _count_axis(ax: Axes, counts: Sequence[int]) -> None:
    """Mark the counts on a logarithmic axis."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([*counts]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.tick_params(axis="x", labelrotation=45 if len(counts) > 6 else 0)


# Gains of a loop


def loop_figure(found: Any, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of a loop: first runs as dots, kept candidates with their gains."""
    n_kept, of = len(found.kept) - 1, found.settings
    bound = "probability of any" if of["familywise"] else "expected share of"
    return frame(
        [Panel(partial(_draw_loop, found), "", 4.2)],
        ax,
        name="loop-gains",
        title="Gain of a loop",
        caption="Small dots: the first run of each candidate, as the gain of the baseline plus "
        "its distance from recent runs of the baseline. Single runs often look better than they "
        f"are. Large dots: the {n_kept} that were kept ({bound} false keeps: at most "
        f"{percent(of['error'])}), with their gains over {found[0].candidate} on fresh runs and "
        f"{percent(of['level'])} intervals. Above 0 is better.",
        alt=f"Gain over {found[0].candidate} by candidate: {len(found) - 1} candidates, {n_kept} "
        "kept.",
        rows=found.as_records(),
        width=FULL_WIDTH,
        wide=True,
    )


def _draw_loop(found: Any, ax: Axes) -> None:
    dress(ax, grid="y")
    base = 0.0
    first: dict[str, list[tuple[int, float]]] = {"discard": [], "again": [], "keep": []}
    kept = []
    for i, one in enumerate(found):
        if not math.isnan(one.ahead):
            first[one.decision].append((i, base + one.ahead))
        if one.decision == "keep" and not math.isnan(one.value):
            base = one.value
            kept.append((i, one.value, one.value - one.low, one.high - one.value, one.candidate))
    for decision, label, marker, color in (
        ("discard", "discarded, first run", ".", MUTED),
        ("again", "undecided, first run", "D", SERIES[1]),
        ("keep", "kept, first run", "^", SERIES[2]),
    ):
        if first[decision]:
            places, values = zip(*first[decision], strict=True)
            ax.plot(places, values, marker, color=color, markersize=4, label=label)
    places, values, below, above, names = zip(*kept, strict=True)
    steps = [*places, len(found) - 1], [*values, base]
    ax.step(*steps, where="post", color=INK, linewidth=1.0, label="gain of the baseline")
    ax.errorbar(
        places, values, [below, above], fmt="o", color=SERIES[0], markersize=6, elinewidth=2.5,
        label="gain with interval",
    )  # fmt: skip
    tops = [y if math.isnan(up) else y + up for y, up in zip(values, above, strict=True)]
    for x, y, name in [*zip(places, tops, names, strict=True)][1 : MOST_KEPT + 1]:
        ax.annotate(
            shortened(name, 16), (x, y), (0, 3), textcoords="offset points", ha="center",
            color=INK, fontsize=SIZE - 2, parse_math=False,
        )  # fmt: skip
    mark_numbers(ax.yaxis, most=6)
    mark_numbers(ax.xaxis, most=8, whole=True)
    ax.set_xlabel("candidates in the order of their first runs")
    ax.set_ylabel(f"gain over {shortened(found[0].candidate, 24)}")
    ax.legend(frameon=False, fontsize=SIZE - 1, labelcolor=INK, loc="upper left")
