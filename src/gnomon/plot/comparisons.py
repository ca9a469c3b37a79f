"""Comparisons drawn: differences, probabilities of improvement, and tables of pairwise tests."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gnomon.plot.intervals import METRIC_NAMES
from gnomon.plot.labels import in_lines
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
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
from gnomon.stats.comparisons.rank_tests import PairwiseTest

__all__ = [
    "MOST_AT_HALF_WIDTH",
    "comparison_rows",
    "difference_bars",
    "evidence_level",
    "improvement_bars",
    "improvement_heat_map",
    "pairwise_rows",
    "pairwise_table",
    "separated",
]

#: Bounds below which a p-value counts as some, good and strong evidence.
BOUNDS = (0.05, 0.01, 0.001)
#: Names whose cells are still wide enough for a p-value in a drawing of half the width of a page.
MOST_AT_HALF_WIDTH = 6


def evidence_level(p: float) -> int:
    """Return how many of the bounds 0.05, 0.01 and 0.001 a p-value is below; 0 for NaN.

    Examples
    --------
    >>> [evidence_level(p) for p in (0.2, 0.03, 0.005, 1e-6)]
    [0, 1, 2, 3]
    """
    return sum(p < bound for bound in BOUNDS)


def pairwise_table(
    tests: Sequence[PairwiseTest],
    order: Sequence[str],
    *,
    decided: Collection[frozenset[str]] = (),
    verb: str = "harder than",
    ax: Axes | None = None,
) -> Axes:
    """Draw a table of one-sided p-values, that the row's rule is harder than the column's.

    Cells are the darker the smaller the p-value, which is that of the test alone. If the tests
    agree on an order, all dark cells lie above the diagonal.

    Parameters
    ----------
    tests : sequence of PairwiseTest
        From :func:`gnomon.stats.comparisons.rank_tests.mann_whitney_table`, one-sided.
    order : sequence of str
        The names from top to bottom and from left to right, hardest first.
    decided : collection of frozensets of two names
        Pairs that are still separated after correction for the number of tests: in bold.
    verb : str
        What a row is said to be, for the title.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from gnomon.stats import difficulty_order, mann_whitney_table
    >>> samples = {"hard": [9, 8, 7, 9], "easy": [1, 2, 3, 2]}
    >>> ax = pairwise_table(mann_whitney_table(samples), difficulty_order(samples).names)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['hard', 'easy']
    """
    n = max(len(order), 1)
    if ax is None:
        width = HALF_WIDTH if n <= MOST_AT_HALF_WIDTH else FULL_WIDTH
        ax = new_drawing(width, max(HEIGHT, 1.15 + 0.46 * n)).subplots()
    dress(ax)
    p_of = {(t.a, t.b): t.p_value for t in tests}
    for row, a in enumerate(order):
        for column, b in enumerate(order):
            bold = column > row and frozenset((a, b)) in decided
            _cell(ax, row, column, p_of.get((a, b)), bold=bold)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_yticks(range(len(order)), [in_lines(name) for name in order], parse_math=False)
    ax.tick_params(labelcolor=INK, labelsize=SIZE, length=0)
    ax.tick_params(axis="x", labeltop=True, labelbottom=False, labelsize=SIZE - 1)
    if len(order) <= MOST_AT_HALF_WIDTH:
        ax.set_xticks(range(len(order)), [in_lines(name, 11) for name in order], parse_math=False)
    else:
        ax.set_xticks(
            range(len(order)), [in_lines(name, most=2) for name in order], parse_math=False
        )
        for label in ax.get_xticklabels():
            label.set(rotation=40, ha="left", rotation_mode="anchor")
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel(f"one-sided p-value: row {verb} column")
    return ax


def _cell(ax: Axes, row: int, column: int, p: float | None, *, bold: bool) -> None:
    """Draw one cell; the diagonal has no test."""
    if p is None:
        if row == column:
            ax.text(column, row, "–", ha="center", va="center", color=MUTED, fontsize=SIZE)
        return
    level = evidence_level(p)
    ax.add_patch(
        Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=LEVELS[level], linewidth=0)
    )
    words = "not\nestimable" if math.isnan(p) else p_value(p)
    # The darkest level is dark on light paper and light on dark paper: paper is its contrast.
    color = PAPER if level == 3 else INK if level else MUTED
    ax.text(
        column,
        row,
        words,
        ha="center",
        va="center",
        color=color,
        fontsize=SIZE - 0.5,
        fontweight="bold" if bold else "normal",
    )


def pairwise_rows(tests: Sequence[PairwiseTest]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`pairwise_table`: a row a test.

    Examples
    --------
    >>> from gnomon.stats import mann_whitney_table
    >>> len(pairwise_rows(mann_whitney_table({"hard": [9, 8, 7], "easy": [1, 2, 3]})))
    2
    """
    return tuple(
        {"a": t.a, "b": t.b, "u": t.u, "p_value": t.p_value, "p_adjusted": t.p_adjusted}
        for t in tests
    )


#: P(better) from which a cell is darker.
CHANCES = (0.55, 0.75, 0.9)
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

    Returns
    -------
    matplotlib.axes.Axes

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

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import compare_all
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> [label.get_text() for label in improvement_heat_map(compare_all(scores)).get_yticklabels()]
    ['b', 'a']
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
    level = sum(p >= bound for bound in CHANCES)
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
