"""All against all: a table of one-sided tests, in the order of difficulty that they give."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from gnomon.plot.labels import in_lines
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    LEVELS,
    MUTED,
    PAPER,
    SIZE,
    dress,
    new_drawing,
    p_value,
)
from gnomon.stats.comparisons.rank_tests import PairwiseTest

__all__ = ["MOST_AT_HALF_WIDTH", "evidence_level", "pairwise_rows", "pairwise_table"]

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
    """Return the numbers of :func:`pairwise_table`: a row a test."""
    return tuple(
        {"a": t.a, "b": t.b, "u": t.u, "p_value": t.p_value, "p_adjusted": t.p_adjusted}
        for t in tests
    )
