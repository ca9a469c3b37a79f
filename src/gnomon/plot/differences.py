"""Two algorithms against each other: differences and probabilities of improvement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gnomon.plot.intervals import METRIC_NAMES
from gnomon.plot.style import (
    FULL_WIDTH,
    HEIGHT,
    INK,
    LEVELS,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    dress,
    new_drawing,
    number,
    p_value,
)
from gnomon.stats.comparisons.comparison import Comparison

__all__ = [
    "comparison_rows",
    "difference_bars",
    "improvement_bars",
    "improvement_heat_map",
    "separated",
]

#: P(better) from which a cell is darker.
BOUNDS = (0.55, 0.75, 0.9)
#: Room for one row, in inches.
LINE = 0.34


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
    that the corrected test finds; its p-value stands at the right.

    Parameters
    ----------
    comparisons : sequence of Comparison
        From :func:`~gnomon.stats.comparisons.comparison.compare` or
        :func:`~gnomon.stats.comparisons.comparison.compare_all`, top to bottom.
    xlabel : str
        What the axis measures.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
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

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _bars(comparisons, ">", 0.5, xlabel, ax)
    ax.set_xlim(-0.02, 1.02)
    return ax


def _bars(
    comparisons: Sequence[Comparison], sign: str, neutral: float, xlabel: str, ax: Axes | None
) -> Axes:
    n = max(len(comparisons), 1)
    ax = new_drawing(FULL_WIDTH * 0.65, 1.0 + LINE * n).subplots() if ax is None else ax
    dress(ax, grid="x")
    ax.axvline(neutral, color=MUTED, linewidth=1.2)
    ax.set_ylim(n - 0.4, -0.6)
    ax.set_yticks(range(len(comparisons)), _labels(comparisons, sign))
    ax.tick_params(axis="y", labelcolor=INK, labelsize=SIZE)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 9))))
    ax.set_xlabel(xlabel)
    for row, one in enumerate(comparisons):
        _bar(ax, row, one, neutral)
    return ax


def _bar(ax: Axes, row: int, one: Comparison, neutral: float) -> None:
    side = ax.get_yaxis_transform()
    if not math.isfinite(one.value):
        ax.text(
            0.5, row, "not estimable", transform=side, ha="center", va="center", style="italic",
            color=MUTED, fontsize=SIZE - 1,
        )  # fmt: skip
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


def improvement_heat_map(
    comparisons: Sequence[Comparison],
    order: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw P(row better than column) for all pairs, the darker the larger.

    A bold number is one that the corrected test tells from one half. If there is an order of all
    algorithms, dark cells lie above the diagonal.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Of the metric ``probability_of_improvement``; each pair once, in any direction.
    order : sequence of str, optional
        Names from top to bottom; by their mean probability, best first, if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    chances = {(c.a, c.b): (c.value, separated(c)) for c in comparisons}
    chances |= {(c.b, c.a): (1.0 - c.value, separated(c)) for c in comparisons}
    names = list(order or _best_first(chances))
    n = len(names)
    size = max(HEIGHT, 1.5 + 0.5 * n)
    ax = new_drawing(size + 1.6, size).subplots() if ax is None else ax
    dress(ax)
    for row, a in enumerate(names):
        for column, b in enumerate(names):
            if (a, b) in chances:
                _heat_cell(ax, row, column, *chances[a, b])
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_yticks(range(n), names)
    ax.set_xticks(range(n), names, rotation=40, ha="left", rotation_mode="anchor")
    ax.tick_params(labelcolor=INK, labelsize=SIZE, length=0)
    ax.tick_params(axis="x", labeltop=True, labelbottom=False)
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("probability that the row is better than the column")
    return ax


def _best_first(chances: Mapping[tuple[str, str], tuple[float, bool]]) -> list[str]:
    names = dict.fromkeys(a for a, _ in chances)

    def mean(name: str) -> float:
        own = [p for (a, _), (p, _) in chances.items() if a == name and not math.isnan(p)]
        return sum(own) / len(own) if own else 0.0

    return sorted(names, key=mean, reverse=True)


def _heat_cell(ax: Axes, row: int, column: int, p: float, decided: bool) -> None:
    level = sum(p >= bound for bound in BOUNDS)
    ax.add_patch(
        Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=LEVELS[level], linewidth=0)
    )
    ax.text(
        column, row, "–" if math.isnan(p) else f"{p:.2f}", ha="center", va="center",
        color=PAPER if level == 3 else INK if level else MUTED, fontsize=SIZE - 0.5,
        fontweight="bold" if decided else "normal",
    )  # fmt: skip


def comparison_rows(comparisons: Sequence[Comparison]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of the figures of this file: the records of the comparisons."""
    return tuple(comparison.as_record() for comparison in comparisons)
