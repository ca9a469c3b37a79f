"""Intervals drawn: estimates, differences and probabilities of improvement, dots with bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from gnomon.plot.labels import better_end, in_lines, name_panel, name_rows, name_scale, write_in_row
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    INK,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    SeriesStyle,
    axes_for,
    drawing_of,
    dress,
    mark_numbers,
    new_drawing,
    number,
    series_style,
    short_number,
)
from gnomon.stats.comparisons.comparison_records import Comparison
from gnomon.stats.estimate_records import Estimate
from gnomon.tables import p_value

#: Room for one comparison, in inches.
LINE = 0.34
#: More panels than this do not fit on a page.
MOST_PANELS = 30
#: Nor do more comparisons.
MOST_ROWS = 60
#: What to call a metric in front of a reader.
METRIC_NAMES: Mapping[str, str] = {
    "mean": "mean",
    "median": "median of task means",
    "iqm": "interquartile mean",
    "optimality_gap": "optimality gap",
}


def interval_panels(
    estimates: Sequence[Estimate],
    *,
    xlabel: str = "",
    higher_is_better: bool | None = None,
    order: Sequence[str] | None = None,
    series: Mapping[str, int] | None = None,
    fig: Drawing | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw estimates as dots and their intervals as bars, one panel a metric, one row an algorithm.

    Estimates of several tasks have a panel each; beyond 30 panels, only the first are drawn. A
    value that does not exist is written out as "not estimable", unless its interval does, which
    then has no dot; an interval without ends is left out, and an infinite end runs off the panel.

    Parameters
    ----------
    estimates : sequence of Estimate
        The panels stand in the order of their first metric.
    xlabel : str
        What is measured, below each panel.
    higher_is_better : bool, optional
        Where the better scores are; an arrow says so.
    order : sequence of str, optional
        The algorithms from top to bottom; if not given, best first by the first metric, or as they
        come where nobody says what is better.
    series : mapping from algorithm to int, optional
        Number of each one's style; its place among the estimates if not given.
    fig : matplotlib.figure.Figure, optional
        An empty one to draw on.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on instead, for estimates of one metric (and task).

    Raises
    ------
    ValueError
        Axes are given for several metrics or tasks.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import estimate
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> [ax.get_title("left") for ax in interval_panels(estimate(scores, ["mean", "iqm"])).axes]
    ['mean', 'interquartile mean']
    """
    rows = list(order or _best_first(estimates, higher_is_better))
    styles = series or {name: i for i, name in enumerate(_names(estimates))}
    panels = list(dict.fromkeys((e.task, e.metric) for e in estimates))
    n_tasks, n_metrics = (len({panel[i] for panel in panels}) for i in (0, 1))
    if ax is not None and len(panels) > 1:
        what = f"{n_metrics} metrics" if n_metrics > 1 else f"{n_tasks} tasks"
        raise ValueError(f"expected estimates of one metric for given axes, found {what}")
    n_columns = max(n_metrics if n_metrics > 1 else min(n_tasks, 3), 1)
    del panels[MOST_PANELS - MOST_PANELS % n_columns :]
    axes = [ax] if ax is not None else _grid(fig, len(panels), n_columns, len(rows))
    for i, (panel, (task, metric)) in enumerate(zip(axes, panels, strict=False)):
        own = [e for e in estimates if (e.task, e.metric) == (task, metric)]
        _metric_panel(panel, own, rows, styles)
        name = METRIC_NAMES.get(metric, metric)
        if n_tasks > 1:
            name = f"{task}, {name}" if n_metrics > 1 else str(task)
        name_panel(panel, name)
        better = higher_is_better
        if better is not None and metric == "optimality_gap":
            better = False
        if i >= len(panels) - n_columns:
            name_scale(panel, better_end(xlabel, better), n_columns)
    for panel in axes[::n_columns]:
        name_rows(panel, [in_lines(name) for name in rows], top=0.7)
    return drawing_of(axes[0])


def _names(estimates: Sequence[Estimate]) -> list[str]:
    return list(dict.fromkeys(e.algorithm for e in estimates))


def _best_first(estimates: Sequence[Estimate], higher_is_better: bool | None) -> list[str]:
    """Return the algorithms by the mean of their first metric over its panels."""
    if higher_is_better is None:
        return _names(estimates)
    metric = estimates[0].metric if estimates else ""
    sign = -1.0 if higher_is_better and metric != "optimality_gap" else 1.0

    def place(name: str) -> float:
        own = [e.value for e in estimates if e.algorithm == name and e.metric == metric]
        mean = sign * sum(own) / len(own) if own else math.nan
        return math.inf if math.isnan(mean) else mean

    return sorted(_names(estimates), key=place)


def _grid(fig: Drawing | None, n: int, n_columns: int, n_rows: int) -> list[Axes]:
    """Return axes for n panels of so many rows each, on an empty drawing if one is given."""
    lines = max(-(-n // n_columns), 1)
    width = FULL_WIDTH if n_columns > 1 else HALF_WIDTH
    fig = new_drawing(width, (0.95 + 0.46 * max(n_rows, 1)) * lines) if fig is None else fig
    axes = list(fig.subplots(lines, n_columns, sharey=True, squeeze=False).ravel())
    for left_over in axes[max(n, 1) :]:
        left_over.remove()
    return axes[: max(n, 1)]


def _metric_panel(
    ax: Axes, estimates: Sequence[Estimate], rows: Sequence[str], series: Mapping[str, int]
) -> None:
    """Draw the rows of one metric."""
    dress(ax, grid="x")
    low, high = _limits(estimates)
    ax.set_xlim(low, high)
    mark_numbers(ax.xaxis, most=5)
    for estimate in estimates:
        if estimate.algorithm in rows:
            row = rows.index(estimate.algorithm)
            style = series_style(series.get(estimate.algorithm, row))
            _row(ax, row, estimate, style, low, high)


def _limits(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return limits that show all finite numbers, with air."""
    numbers = [x for e in estimates for x in (e.value, e.low, e.high) if math.isfinite(x)]
    if not numbers:
        return 0.0, 1.0
    air = 0.08 * (max(numbers) - min(numbers)) or 0.1 * abs(max(numbers)) or 1.0
    return min(numbers) - air, max(numbers) + air


def _row(
    ax: Axes, row: int, estimate: Estimate, style: SeriesStyle, low: float, high: float
) -> None:
    """Draw one estimate, with its number above the dot."""
    bounded = not (math.isnan(estimate.low) or math.isnan(estimate.high))
    if not (math.isfinite(estimate.value) or (math.isnan(estimate.value) and bounded)):
        write_in_row(ax, row, number(estimate.value))
        return
    if bounded:
        ends = np.clip([estimate.low, estimate.high], low, high)
        ax.hlines(row, ends[0], ends[1], color=style.color, linewidth=6, alpha=0.35)
        caps = [end for end in (estimate.low, estimate.high) if math.isfinite(end)]
        ax.vlines(caps, row - 0.17, row + 0.17, color=style.color, linewidth=1.2)
    if math.isnan(estimate.value):
        return
    ax.plot(
        [estimate.value], [row], linestyle="none", marker=style.marker,
        markersize=5.5, color=style.color,
    )  # fmt: skip
    ax.annotate(
        short_number(estimate.value), (estimate.value, row), xytext=(0, 7),
        textcoords="offset points", ha="center", va="bottom", color=INK, fontsize=SIZE - 1,
    )  # fmt: skip


def interval_rows(estimates: Sequence[Estimate]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`interval_panels`: the records of the estimates.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import estimate
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> interval_rows(estimate(scores, "mean"))[0]["value"]
    2.5
    """
    return tuple(estimate.as_record() for estimate in estimates)


def separated(comparison: Comparison) -> bool:
    """Return whether the corrected test finds a difference at the comparison's level."""
    return comparison.p_adjusted <= 1.0 - comparison.level


def difference_bars(
    comparisons: Sequence[Comparison],
    *,
    xlabel: str = "difference, first minus second",
    ax: Axes | None = None,
) -> Axes:
    """Draw differences as dots and their intervals as bars, beside a line where there is none.

    Rows bear what tells them apart: the pair, the metric, the task. A filled dot is a difference
    that the corrected test finds; its p-value stands at the right. Of more than sixty, only the
    first are drawn.

    Parameters
    ----------
    comparisons : sequence of Comparison
        From :func:`~gnomon.stats.comparisons.comparison.compare` or
        :func:`~gnomon.stats.comparisons.comparison.compare_all`, top to bottom.
    xlabel : str
        What the axis measures.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import compare
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> difference_bars(compare(scores, "a", "b", "mean")).get_xlabel()
    'difference, first minus second'
    """
    return _bars(comparisons, "−", 0.0, xlabel, ax)


def improvement_bars(
    comparisons: Sequence[Comparison],
    *,
    xlabel: str = "probability that a run of the first is better",
    ax: Axes | None = None,
) -> Axes:
    """Draw probabilities of improvement with their intervals, beside a line at one half.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Of the metric ``probability_of_improvement``, top to bottom.
    xlabel : str
        What the axis measures.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import compare_all
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> improvement_bars(compare_all(scores)).get_yticklabels()[0].get_text()
    'a > b'
    """
    ax = _bars(comparisons, ">", 0.5, xlabel, ax)
    ax.set_xlim(-0.02, 1.02)
    return ax


def _bars(
    comparisons: Sequence[Comparison], sign: str, neutral: float, xlabel: str, ax: Axes | None
) -> Axes:
    comparisons = comparisons[:MOST_ROWS]
    ax = axes_for(ax, FULL_WIDTH * 0.65, 1.0 + LINE * max(len(comparisons), 1), grid="x")
    ax.axvline(neutral, color=MUTED, linewidth=1.2)
    name_rows(ax, [in_lines(label, 44, 2) for label in _labels(comparisons, sign)])
    mark_numbers(ax.xaxis, most=5)
    ax.set_xlabel(xlabel)
    for row, one in enumerate(comparisons):
        _bar(ax, row, one, neutral)
    return ax


def _bar(ax: Axes, row: int, one: Comparison, neutral: float) -> None:
    side = ax.get_yaxis_transform()
    if not math.isfinite(one.value):
        write_in_row(ax, row)
        return
    color = SERIES[0] if one.value >= neutral else SERIES[1]
    if math.isfinite(one.low + one.high):
        ax.hlines(row, one.low, one.high, color=color, linewidth=6, alpha=0.35)
    face = color if separated(one) else PAPER
    ax.plot([one.value], [row], "o", markersize=6, color=color, markerfacecolor=face)
    text = "p " + p_value(one.p_adjusted) if not math.isnan(one.p_adjusted) else "not tested"
    ax.text(1.02, row, text, transform=side, va="center", color=MUTED, fontsize=SIZE - 1)


def _labels(comparisons: Sequence[Comparison], sign: str) -> list[str]:
    """Return for each row what tells it from the others; the pair where nothing does."""
    pairs = [f"{c.a} {sign} {c.b}" for c in comparisons]
    metrics = [METRIC_NAMES.get(c.metric, c.metric) for c in comparisons]
    tasks = ["all tasks" if c.task is None else c.task for c in comparisons]
    varying = [column for column in (pairs, metrics, tasks) if len(set(column)) > 1]
    return [", ".join(parts) for parts in zip(*(varying or [pairs]), strict=True)]
