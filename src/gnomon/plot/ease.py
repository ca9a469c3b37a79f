"""Heat maps of P(better) between all pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from gnomon.errors import shortened
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    HEIGHT,
    INK,
    LEVELS,
    LONGEST,
    MUTED,
    PAPER,
    SIZE,
    drawing_of,
    dress,
    new_drawing,
)
from gnomon.ranking.pair_tests import PairComparisons
from gnomon.ranking.ratings.hodge import hodge_ratings
from gnomon.ranking.tournament import Tournament

__all__ = ["draw_pairs", "ease_figure", "ease_heat_map", "ease_rows"]

#: P(better) from which a cell is darker.
EASE_BOUNDS = (0.55, 0.75, 0.9)
#: More than this do not fit on a page; with more than that, there is no room for numbers.
MOST_ROWS, MOST_WITH_WORDS = 40, 16


def draw_pairs(found: PairComparisons, ax: Axes | None = None) -> Figure | Axes:
    """Draw comparisons of all pairs as a heat map, best on top, or into given axes."""
    graph = found.tournament
    order = np.argsort(-hodge_ratings(graph.log_odds, graph.weights), kind="stable")
    names = [graph.names[i] for i in order]
    return ease_figure(graph, names) if ax is None else ease_heat_map(graph, names, ax=ax)


def ease_figure(tournament: Tournament, order: Sequence[str]) -> Figure:
    """Return the heat map of a tournament with its words and numbers."""
    more = len(order) > MOST_ROWS
    return Figure(
        "ease",
        "Who is better than whom",
        "The probability that a run of the row is better than one of the column on the same task, "
        "averaged over the tasks that both have."
        + (f" The first {MOST_ROWS} of {len(order)} are drawn." if more else ""),
        "Heat map of the probability of improvement between all pairs.",
        drawing_of(ease_heat_map(tournament, order)),
        ease_rows(tournament),
        wide=len(order) > 8,
    )


def ease_heat_map(
    tournament: Tournament, order: Sequence[str] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw P(row better than column) for every pair that met, the darker the larger.

    Parameters
    ----------
    tournament : Tournament
    order : sequence of str, optional
        Names from top to bottom, best first; the tournament's order if not given. Only the first
        forty are drawn.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import Contest, Tournament
    >>> scores = gn.ScoreTable.from_arrays({"a": [[1], [2], [4]], "b": [[2], [3], [5]]})
    >>> ax = ease_heat_map(Tournament.of(Contest.from_table(scores)))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b']
    """
    names = list(order or tournament.names)[:MOST_ROWS]
    n, at = len(names), [tournament.names.index(name) for name in names]
    shown = [shortened(name, LONGEST) for name in names]
    # Rows with words need more room than the names beside them alone.
    size = max(HEIGHT, 1.6 + (0.44 if n <= MOST_WITH_WORDS else 0.22) * n)
    if ax is None:
        ax = new_drawing(size + 1.2, size).subplots()
    dress(ax)
    chance = tournament.probability[np.ix_(at, at)]
    for row in range(n):
        for column in range(n):
            if row != column and not math.isnan(chance[row, column]):
                _ease_cell(ax, row, column, float(chance[row, column]), words=n <= MOST_WITH_WORDS)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.set_yticks(range(n), shown, parse_math=False)
    ax.set_xticks(range(n), shown, rotation=55, ha="left", rotation_mode="anchor", parse_math=False)
    ax.tick_params(labelcolor=INK, labelsize=SIZE - 1, length=0)
    ax.tick_params(axis="x", labeltop=True, labelbottom=False)
    ax.spines["bottom"].set_visible(False)
    verb = "better" if tournament.by == "algorithm" else "harder"
    _name_levels(ax, f"P(row {verb} than column)")
    return ax


def _name_levels(ax: Axes, title: str) -> None:
    """Say below the map what its colours mean."""
    ends = [f"{bound:.2f}".strip("0") for bound in EASE_BOUNDS]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    names = [f"below {ends[0]}", *between, f"from {ends[-1]}"]
    handles = [Patch(color=c, label=name) for c, name in zip(LEVELS, names, strict=True)]
    legend = ax.legend(
        handles=handles, title=title, loc="upper center", bbox_to_anchor=(0.5, -0.01),
        ncols=len(handles), frameon=False, fontsize=SIZE - 1.5, title_fontsize=SIZE - 0.5,
        labelcolor=INK, handlelength=1.2, columnspacing=1.1,
    )  # fmt: skip
    legend.get_title().set_color(MUTED)


def _ease_cell(ax: Axes, row: int, column: int, p: float, *, words: bool) -> None:
    level = sum(p >= bound for bound in EASE_BOUNDS)
    ax.add_patch(
        Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=LEVELS[level], linewidth=0)
    )
    if words:
        color = PAPER if level == 3 else INK if level else MUTED
        text = "1" if p == 1.0 else "0" if p == 0.0 else f"{p:.2f}"[1:] if p < 0.995 else "> .99"
        text = "< .01" if 0.0 < p < 0.005 else text
        ax.text(
            column, row, text, ha="center", va="center", color=color, fontsize=SIZE - 1.5
        )  # fmt: skip


def ease_rows(tournament: Tournament) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`ease_heat_map`: a row for each pair that met.

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import Contest, Tournament
    >>> scores = gn.ScoreTable.from_arrays({"a": [[1], [2], [4]], "b": [[2], [3], [5]]})
    >>> len(ease_rows(Tournament.of(Contest.from_table(scores))))
    2
    """
    return tuple(
        {
            "a": tournament.names[i],
            "b": tournament.names[j],
            "probability": float(tournament.probability[i, j]),
            "ease_ratio": math.exp(float(tournament.log_odds[i, j])),
        }
        for i, j in zip(*np.nonzero(tournament.weights), strict=True)
    )
