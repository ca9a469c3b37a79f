"""Planning drawn: power and widths of intervals by runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from gnomon.plot.labels import MOST_INSIDE, name_series
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    MOST_STYLES,
    MUTED,
    axes_for,
    series_style,
)
from gnomon.stats.planning.power import IntervalWidth, PowerPoint


def power_curves(
    points: Sequence[PowerPoint], *, wanted: float | None = 0.8, ax: Axes | None = None
) -> Axes:
    """Draw how often studies of each size tell two algorithms apart, a curve a pair.

    Parameters
    ----------
    points : sequence of PowerPoint
        From :func:`~gnomon.stats.planning.power.power_curve`. Of more than twenty pairs, those that
        are hardest to tell apart are drawn.
    wanted : float, optional
        A power to mark with a line.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import plan
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> power_curves(plan(scores, runs=[3, 5], n_simulations=10)).get_ylabel()
    'studies that tell them apart'
    """
    curves: dict[str, list[tuple[int, float]]] = {}
    for p in points:
        curves.setdefault(f"{p.a}, {p.b}", []).append((p.runs, p.power))
    hardest = sorted(curves, key=lambda name: sum(power for _, power in curves[name]))[:MOST_STYLES]
    drawn = {name: sorted(own) for name, own in curves.items() if name in hardest}
    ax = _curves_by_runs(drawn, wanted, ax)
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel("studies that tell them apart")
    return ax


def _curves_by_runs(
    curves: Mapping[str, Sequence[tuple[int, float]]], mark: float | None, ax: Axes | None
) -> Axes:
    """Draw shares by the number of runs, a curve a name, and a line at a share to be marked."""
    wide = len(curves) > MOST_INSIDE
    ax = axes_for(ax, FULL_WIDTH if wide else HALF_WIDTH * 1.2, HEIGHT * 1.25, grid="both")
    for i, (name, points) in enumerate(curves.items()):
        style = series_style(i)
        ax.plot(
            *zip(*points, strict=True), color=style.color, linestyle=style.dash, linewidth=1.6,
            marker=style.marker, markersize=4.5, label=style.named(name),
        )  # fmt: skip
    if mark is not None:
        ax.axhline(mark, color=MUTED, linewidth=1.0, linestyle=":")
    ax.set_xscale("log")
    runs = {n for points in curves.values() for n, _ in points}
    ax.xaxis.set_major_locator(FixedLocator(sorted(runs)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    ax.set_xlabel("runs per task (log scale)")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    name_series(ax, "lower right" if mark is not None and mark > 0.5 else "upper right")
    return ax


def width_curves(widths: Sequence[IntervalWidth], *, ax: Axes | None = None) -> Axes:
    """Draw how wide intervals are by the number of runs, a curve an algorithm and metric.

    Widths are shares of that with the runs at hand; the line is one half of it.

    Parameters
    ----------
    widths : sequence of IntervalWidth
        From :func:`~gnomon.stats.planning.plans.plan`.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import plan
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> len(width_curves(plan(scores, way="widths", n_simulations=10)).get_lines())
    3
    """
    several = len({one.metric for one in widths}) > 1
    curves: dict[str, list[tuple[int, float]]] = {}
    for one in widths:
        name = f"{one.algorithm}, {one.metric}" if several else one.algorithm
        curves.setdefault(name, []).append((one.runs, one.relative_width))
    ax = _curves_by_runs(curves, 0.5, ax)
    ax.set_ylim(bottom=0.0)
    ax.set_ylabel("width of the interval, of today's")
    return ax
