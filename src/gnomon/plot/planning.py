"""Planning drawn: power and widths of intervals by runs, and distributions of subsamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from gnomon.errors import counted
from gnomon.plot.labels import MOST_INSIDE, name_rows, name_series
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    MOST_STYLES,
    MUTED,
    SIZE,
    axes_for,
    band_alpha,
    draw_series,
    drawing_of,
    mark_numbers,
    series_style,
    size_for,
)
from gnomon.scores.table import FloatArray
from gnomon.stats.planning.participants import StudyPowers
from gnomon.stats.planning.power import IntervalWidth, PowerPoint
from gnomon.stats.planning.subsampling import Subsamples

#: Height of a distribution, in rows.
FULL = 0.86
N_BINS = 48


def subsample_distributions(
    subsamples: Sequence[Subsamples],
    *,
    xlabel: str | None = None,
    series: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what a metric would have been with fewer runs, as one distribution a row.

    Each algorithm has a row for every number of runs; the line through them is the metric of all
    its runs. Where a distribution lies beside that line, few runs are biased; where distributions
    of two algorithms overlap, reports from few runs may order them either way. After figure 2 of
    Agarwal et al. (2021).

    Parameters
    ----------
    subsamples : sequence of Subsamples
        Of one metric; from :func:`~gnomon.stats.planning.subsampling.subsample_table`.
    xlabel : str, optional
        What the axis measures; the metric if not given.
    series : mapping from algorithm to int, optional
        Number of each one's style; its place among the subsamples if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import plan
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> found = plan(scores, metrics="mean", way="subsample", runs=[2], n_simulations=50)
    >>> subsample_distributions(found).get_xlabel()
    'mean'
    """
    n = max(len(subsamples), 1)
    ax = axes_for(ax, FULL_WIDTH * 0.65, 1.0 + 0.36 * n, grid="x")
    name_rows(ax, [f"{s.algorithm}, {s.runs} runs" for s in subsamples], size=SIZE - 0.5)
    names = list(dict.fromkeys(one.algorithm for one in subsamples))
    values = np.concatenate([one.draws for one in subsamples])
    values = values[np.isfinite(values)]
    bins = np.linspace(values.min(), values.max(), N_BINS + 1) if values.size else np.arange(2.0)
    for row, one in enumerate(subsamples):
        style = series_style((series or {}).get(one.algorithm, names.index(one.algorithm)))
        _hill(ax, row, one.draws, bins, style.color)
        ax.vlines(one.value, row - FULL, row, color=INK, linewidth=1.3)
    ax.set_ylim(n - 0.7, -1.0)
    mark_numbers(ax.xaxis, most=6)
    ax.set_xlabel(subsamples[0].metric if xlabel is None else xlabel)
    return ax


def _hill(ax: Axes, row: int, draws: FloatArray, bins: FloatArray, color: str) -> None:
    """Draw a histogram that stands on its row; all are as high as their fullest bin allows."""
    counts, _ = np.histogram(draws[np.isfinite(draws)], bins)
    heights = FULL * counts / max(int(counts.max()), 1)
    edges = np.repeat(bins, 2)
    tops = np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])
    ax.fill_between(edges, row, row - tops, color=color, alpha=0.45, linewidth=0)
    ax.plot(edges, np.where(tops > 0.0, row - tops, np.nan), color=color, linewidth=0.9)


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


def draw_study_powers(powers: StudyPowers, ax: Axes | None = None) -> Figure | Axes:
    """Draw the power of studies of several sizes, a curve for each number of rules."""
    if ax is not None:
        return study_power_curves(powers, ax=ax)
    return Figure(
        "study-power",
        "Power of a study",
        "Share of simulated studies that find the effect, with its interval; the line is the power "
        "that is wanted.",
        "Power by number of participants, for each number of rules.",
        drawing_of(study_power_curves(powers)),
        tuple(powers.as_records()),
    )


def study_power_curves(powers: StudyPowers, *, ax: Axes | None = None) -> Axes:
    """Draw them into axes: participants to the right, power upwards."""
    rules = list(dict.fromkeys(one.rules for one in powers))
    ax = axes_for(ax, *size_for(len(rules)), grid="both")
    for i, m in enumerate(rules):
        own = [one for one in powers if one.rules == m]
        x = np.array([one.participants for one in own], dtype=np.float64)
        y, low, high = np.array([(one.power, one.low, one.high) for one in own]).T
        draw_series(
            ax, x, y, series_style(i), (low, high),
            alpha=band_alpha(len(rules)), label=counted(m, "rule"), linewidth=1.8, marker="o",
            markersize=4,
        )  # fmt: skip
    ax.axhline(powers.settings["goal"], color=MUTED, linewidth=0.8, zorder=0)
    ax.set_ylim(0, 1.02)
    mark_numbers(ax.xaxis, ax.yaxis)
    ax.set_xlabel("participants")
    ax.set_ylabel("power")
    name_series(ax, "lower right")
    return ax
