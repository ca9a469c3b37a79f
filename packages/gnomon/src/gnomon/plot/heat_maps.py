"""Heat maps of all pairs: p-values and probabilities of improvement."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from gnomon.errors import shortened
from gnomon.plot.intervals import separated
from gnomon.plot.labels import in_lines
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    LEVELS,
    LONGEST,
    MUTED,
    PAPER,
    SIZE,
    axes_for,
    drawing_of,
)
from gnomon.ranking.ranks import Ranking
from gnomon.stats.comparisons.comparison_records import Comparison
from gnomon.stats.comparisons.rank_tests import PairwiseTest
from gnomon.tables import p_value

#: Bounds below which a p-value counts as some, good and strong evidence.
BOUNDS = (0.05, 0.01, 0.001)
#: P(better) from which a cell is darker.
CHANCES = (0.55, 0.75, 0.9)
#: Names whose cells are still wide enough for a p-value in a drawing of half the width of a page.
MOST_AT_HALF_WIDTH = 6
#: More than this do not fit on a page; with more than that, there is no room for numbers.
MOST_ROWS, MOST_WITH_WORDS = 40, 16


def _frame(ax: Axes, names: Sequence[str], size: float) -> None:
    """Give a map one row and one column a name, with the rows named at the left."""
    ax.set_xlim(-0.5, max(len(names), 1) - 0.5)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.tick_params(labelcolor=INK, labelsize=size, length=0)
    ax.tick_params(axis="x", labeltop=True, labelbottom=False)
    ax.spines["bottom"].set_visible(False)


def _name_columns(ax: Axes, names: Sequence[str], angle: float) -> None:
    ax.set_xticks(
        range(len(names)), names, rotation=angle, ha="left", rotation_mode="anchor",
        parse_math=False,
    )  # fmt: skip


def _cell(
    ax: Axes,
    row: int,
    column: int,
    level: int,
    text: str,
    *,
    size: float = SIZE - 0.5,
    bold: bool = False,
    half: tuple[float, float] = (0.47, 0.47),
) -> None:
    """Draw one cell of a level of darkness, half as wide and high as given."""
    x, y = half
    ax.add_patch(
        Rectangle((column - x, row - y), 2 * x, 2 * y, facecolor=LEVELS[level], linewidth=0)
    )
    if not text:
        return
    # The darkest level is dark on light paper and light on dark paper: paper is its contrast.
    color = PAPER if level == 3 else INK if level else MUTED
    ax.text(
        column, row, text, ha="center", va="center", color=color, fontsize=size,
        fontweight="bold" if bold else "normal",
    )  # fmt: skip


def evidence_level(p: float) -> int:
    """Return how many of the bounds 0.05, 0.01 and 0.001 a p-value is below; 0 for NaN."""
    return sum(p < bound for bound in BOUNDS)


def _chance_level(p: float) -> int:
    return sum(p >= bound for bound in CHANCES)


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

    Examples
    --------
    >>> from gnomon.stats import difficulty_order, mann_whitney_table
    >>> samples = {"hard": [9, 8, 7, 9], "easy": [1, 2, 3, 2]}
    >>> ax = pairwise_table(mann_whitney_table(samples), difficulty_order(samples).names)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['hard', 'easy']
    """
    n = max(len(order), 1)
    width = HALF_WIDTH if n <= MOST_AT_HALF_WIDTH else FULL_WIDTH
    ax = axes_for(ax, width, max(HEIGHT, 1.15 + 0.46 * n))
    p_of = {(t.a, t.b): t.p_value for t in tests}
    for row, a in enumerate(order):
        for column, b in enumerate(order):
            p = p_of.get((a, b))
            if p is not None:
                text = "not\nestimable" if math.isnan(p) else p_value(p)
                bold = column > row and frozenset((a, b)) in decided
                _cell(ax, row, column, evidence_level(p), text, bold=bold, half=(0.48, 0.46))
            elif row == column:  # no test
                ax.text(column, row, "–", ha="center", va="center", color=MUTED, fontsize=SIZE)
    _frame(ax, [in_lines(name) for name in order], SIZE)
    ax.tick_params(axis="x", labelsize=SIZE - 1)
    if len(order) <= MOST_AT_HALF_WIDTH:
        ax.set_xticks(range(len(order)), [in_lines(name, 11) for name in order], parse_math=False)
    else:
        _name_columns(ax, [in_lines(name, most=2) for name in order], 40)
    ax.set_xlabel(f"one-sided p-value: row {verb} column")
    return ax


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
    size = max(HEIGHT, 1.5 + 0.5 * len(names))
    ax = axes_for(ax, size + 1.6, size)
    for row, a in enumerate(names):
        for column, b in enumerate(names):
            if (a, b) in chances:
                p, decided = chances[a, b]
                text = "–" if math.isnan(p) else f"{p:.2f}"
                _cell(ax, row, column, _chance_level(p), text, bold=decided)
    _frame(ax, names, SIZE)
    _name_columns(ax, names, 40)
    ax.set_xlabel("probability that the row is better than the column")
    return ax


def _best_first(chances: Mapping[tuple[str, str], tuple[float, bool]]) -> list[str]:
    names = dict.fromkeys(a for a, _ in chances)

    def mean(name: str) -> float:
        own = [p for (a, _), (p, _) in chances.items() if a == name and not math.isnan(p)]
        return sum(own) / len(own) if own else 0.0

    return sorted(names, key=mean, reverse=True)


def win_figure(ranking: Ranking) -> Figure:
    """Return the heat map of a ranking with its words and numbers."""
    more = len(ranking) > MOST_ROWS
    return Figure(
        "wins",
        "Win probabilities",
        "The probability that a run of the row is better than one of the column on the same task, "
        "averaged over the tasks that both have."
        + (f" The first {MOST_ROWS} of {len(ranking)} are drawn." if more else ""),
        "Heat map of the probability of improvement between all pairs.",
        drawing_of(win_heat_map(ranking)),
        win_rows(ranking),
        wide=len(ranking) > 8,
    )


def win_heat_map(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw P(row better than column) for every pair that shares a task, the darker the larger.

    Parameters
    ----------
    ranking : Ranking
        Its order is that of the rows; only the first forty are drawn.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[1], [2], [4]], "b": [[2], [3], [5]]})
    >>> ax = win_heat_map(gn.rank(scores))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['b', 'a']
    """
    names = ranking.names[:MOST_ROWS]
    n = len(names)
    shown = [shortened(name, LONGEST) for name in names]
    # Rows with words need more room than the names beside them alone.
    size = max(HEIGHT, 1.6 + (0.44 if n <= MOST_WITH_WORDS else 0.22) * n)
    ax = axes_for(ax, size + 1.2, size)
    for (row, column), p in np.ndenumerate(ranking.probability[:n, :n]):
        if row != column and not math.isnan(p):
            text = _two_digits(p) if n <= MOST_WITH_WORDS else ""
            _cell(ax, row, column, _chance_level(p), text, size=SIZE - 1.5)
    ax.set_aspect("equal")
    _frame(ax, shown, SIZE - 1)
    _name_columns(ax, shown, 55)
    verb = "better" if ranking.by == "algorithm" else "harder"
    _name_levels(ax, f"P(row {verb} than column)")
    return ax


def _name_levels(ax: Axes, title: str) -> None:
    """Say below the map what its colours mean."""
    ends = [f"{bound:.2f}".strip("0") for bound in CHANCES]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    names = [f"below {ends[0]}", *between, f"from {ends[-1]}"]
    handles = [Patch(color=c, label=name) for c, name in zip(LEVELS, names, strict=True)]
    legend = ax.legend(
        handles=handles, title=title, loc="upper center", bbox_to_anchor=(0.5, -0.01),
        ncols=len(handles), frameon=False, fontsize=SIZE - 1.5, title_fontsize=SIZE - 0.5,
        labelcolor=INK, handlelength=1.2, columnspacing=1.1,
    )  # fmt: skip
    legend.get_title().set_color(MUTED)


def _two_digits(p: float) -> str:
    """Return a probability in the least room: ``.73``, ``> .99``, and 0 and 1 if it is just that.

    Examples
    --------
    >>> [_two_digits(p) for p in (0.0, 0.001, 0.734, 0.999, 1.0)]
    ['0', '< .01', '.73', '> .99', '1']
    """
    if p in (0.0, 1.0):
        return f"{p:.0f}"
    return "< .01" if p < 0.005 else f"{p:.2f}"[1:] if p < 0.995 else "> .99"


def win_rows(ranking: Ranking) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`win_heat_map`: a row for each pair that shares a task."""
    return tuple(
        {"a": a, "b": b, "probability": float(ranking.probability[i, j])}
        for i, a in enumerate(ranking.names)
        for j, b in enumerate(ranking.names)
        if i != j and not math.isnan(ranking.probability[i, j])
    )
