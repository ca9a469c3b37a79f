"""Interval panels: estimates as dots with bars, one panel a metric, the same rows in each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gnomon.plot.labels import in_lines
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    INK,
    MUTED,
    SIZE,
    SeriesStyle,
    drawing_of,
    dress,
    new_drawing,
    number,
    series_style,
)
from gnomon.stats.estimates import Estimate

__all__ = ["METRIC_NAMES", "interval_panels", "interval_rows"]

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
    order: Sequence[str] | None = None,
    series: Mapping[str, int] | None = None,
    fig: Drawing | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw estimates as dots and their intervals as bars, one panel a metric, one row an algorithm.

    A value that does not exist is written out as "not estimable"; an interval without ends is left
    out, and an infinite end runs off the panel.

    Parameters
    ----------
    estimates : sequence of Estimate
        The panels stand in the order of their first metric.
    xlabel : str
        What is measured, below each panel.
    order : sequence of str, optional
        The algorithms from top to bottom; in the order of their first estimate if not given.
    series : mapping from algorithm to int, optional
        Number of each one's style; its row if not given.
    fig : matplotlib.figure.Figure, optional
        An empty one to draw on.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on instead, for estimates of one metric.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        Axes are given for several metrics.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import estimate
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> [ax.get_title("left") for ax in interval_panels(estimate(scores, ["mean", "iqm"])).axes]
    ['mean', 'interquartile mean']
    """
    rows = list(order or dict.fromkeys(e.algorithm for e in estimates))
    metrics = list(dict.fromkeys(e.metric for e in estimates))
    n = max(len(metrics), 1)
    if ax is not None and n > 1:
        raise ValueError(f"expected estimates of one metric for given axes, found {n} metrics")
    size = (FULL_WIDTH if n > 1 else HALF_WIDTH, 0.95 + 0.46 * max(len(rows), 1))
    if ax is not None:
        fig, axes = drawing_of(ax), [ax]
    else:
        fig = new_drawing(*size) if fig is None else fig
        axes = list(fig.subplots(1, n, sharey=True, squeeze=False)[0])
    for panel, metric in zip(axes, metrics, strict=False):
        _panel(panel, [e for e in estimates if e.metric == metric], rows, series or {})
        panel.set_title(METRIC_NAMES.get(metric, metric), loc="left", fontsize=SIZE + 1, color=INK)
        panel.set_xlabel(xlabel)
    axes[0].set_yticks(range(len(rows)), [in_lines(name) for name in rows], parse_math=False)
    axes[0].tick_params(axis="y", labelcolor=INK, labelsize=SIZE)
    axes[0].set_ylim(len(rows) - 0.4, -0.7)
    return fig


def _panel(
    ax: Axes, estimates: Sequence[Estimate], rows: Sequence[str], series: Mapping[str, int]
) -> None:
    """Draw the rows of one metric."""
    dress(ax, grid="x")
    low, high = _limits(estimates)
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 9))))
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
    if not math.isfinite(estimate.value):
        ax.text(
            (low + high) / 2,
            row,
            number(estimate.value),
            ha="center",
            va="center",
            style="italic",
            color=MUTED,
            fontsize=SIZE - 1,
        )
        return
    if not (math.isnan(estimate.low) or math.isnan(estimate.high)):
        ends = np.clip([estimate.low, estimate.high], low, high)
        ax.hlines(row, ends[0], ends[1], color=style.color, linewidth=6, alpha=0.35)
        caps = [end for end in (estimate.low, estimate.high) if math.isfinite(end)]
        ax.vlines(caps, row - 0.17, row + 0.17, color=style.color, linewidth=1.2)
    ax.plot(
        [estimate.value],
        [row],
        marker=style.marker,
        markersize=5.5,
        color=style.color,
        linestyle="none",
    )
    ax.annotate(
        number(estimate.value),
        (estimate.value, row),
        xytext=(0, 7),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color=INK,
        fontsize=SIZE - 1,
    )


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
