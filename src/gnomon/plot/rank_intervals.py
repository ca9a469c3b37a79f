"""Plots of rank intervals: ratings and ranks with theirs, and brackets around tie groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.transforms import (
    BboxTransformTo,
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)

from gnomon.errors import shortened
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    INK,
    LONGEST,
    MUTED,
    SERIES,
    SIZE,
    drawing_of,
    dress,
    new_drawing,
)
from gnomon.ranking.ranks.ranking import Ranking, rank_range

__all__ = ["draw_ranking", "rank_interval_plot", "ranking_rows"]

#: Room for one line of text, in inches.
LINE = 0.3
#: Where ranks and brackets stand beside the panel, and how far apart brackets are, in inches.
RANKS, BRACKETS, LANE = 0.2, 0.9, 0.2
#: More than this do not fit on a page.
MOST_ROWS = 60


def draw_ranking(ranking: Ranking, ax: Axes | None = None) -> Figure | Axes:
    """Draw the rank intervals of a ranking, with their words and numbers, or into given axes."""
    if ax is not None:
        return rank_interval_plot(ranking, ax=ax)
    names = ranking.names[:MOST_ROWS]
    more = len(ranking) > len(names)
    first = f" The first {len(names)} of {len(ranking)} are drawn." if more else ""
    how = "one by one" if ranking.settings["marginal"] else "together"
    return Figure(
        "rank-intervals",
        "Rank intervals",
        f"Ratings with {100.0 * ranking.level:.4g}\xa0% intervals, ranks that hold {how}, and "
        "brackets around those that the data do not separate; whoever shares none may be separated "
        f"or not: the ranks tell.{first}",
        f"Ratings, best on top: {', '.join(names)}.",
        drawing_of(rank_interval_plot(ranking)),
        ranking_rows(ranking),
        wide=True,
    )


def rank_interval_plot(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw ratings with intervals, ranks with theirs, and tie groups as brackets.

    Contestants that share a bracket are not separated by the data. Beyond sixty, only the best are
    drawn.

    Parameters
    ----------
    ranking : Ranking
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[x] for x in range(3, 11)], "b": [[x] for x in range(8)]}
    >>> ax = rank_interval_plot(gn.rank(gn.ScoreTable.from_arrays(scores), n_resamples=50))
    >>> len(ax.get_yticks())
    2
    """
    n = min(len(ranking.names), MOST_ROWS)
    if ax is None:
        ax = new_drawing(FULL_WIDTH, 0.9 + LINE * max(n, 3)).subplots()
    dress(ax, grid="x")
    ax.set_yticks(
        range(n), [shortened(name, LONGEST) for name in ranking.names[:n]], parse_math=False
    )
    ax.tick_params(axis="y", labelcolor=INK, labelsize=SIZE)
    ax.set_ylim(n - 0.4, -1.2)
    for i in range(n):
        _dot_with_bar(ax, i, ranking.ratings[i], ranking.low[i], ranking.high[i])
    ax.set_xlabel(
        "rating (log-odds)" if ranking.method == "hodge" else f"rating ({ranking.method})"
    )
    # To the right of the panel, in inches: ranks, then a bracket for each tie group.
    side = _beside(ax)
    ax.text(RANKS, -0.9, "rank", transform=side, color=MUTED, fontsize=SIZE - 1, va="center")
    for i in range(n):
        text = rank_range(int(ranking.rank_low[i]), int(ranking.rank_high[i]))
        ax.text(RANKS, i, text, transform=side, color=INK, fontsize=SIZE, va="center")
    _brackets(ax, ranking, n)
    return ax


def _beside(ax: Axes) -> Transform:
    """Return what places things at inches to the right of the panel, and at its rows.

    Shares of the panel's width would move with it, while the drawing makes room for the words.
    """
    edge = ScaledTranslation(1.0, 0.0, BboxTransformTo(ax.bbox))
    inches = drawing_of(ax).dpi_scale_trans + edge
    return blended_transform_factory(inches, ax.transData)


def _dot_with_bar(ax: Axes, row: float, value: float, low: float, high: float) -> None:
    if math.isnan(value):
        ax.text(
            0.5, row, "not estimable", transform=ax.get_yaxis_transform(), ha="center",
            va="center", style="italic", color=MUTED, fontsize=SIZE - 1,
        )  # fmt: skip
        return
    if not math.isnan(low):
        ax.hlines(row, low, high, color=SERIES[0], linewidth=6, alpha=0.35)
    ax.plot([value], [row], marker="o", markersize=5.5, color=SERIES[0], linestyle="none")


def _brackets(ax: Axes, ranking: Ranking, n: int) -> None:
    """Draw tie groups of two or more of the first n, side by side only where they overlap."""
    side = _beside(ax)
    start = BRACKETS if len(ranking.names) < 10 else BRACKETS + 0.2
    ends: list[int] = []
    for group in ranking.groups:
        top, bottom = ranking.names.index(group[0]), ranking.names.index(group[-1])
        if len(group) < 2 or top >= n:
            continue
        lane = next((i for i, end in enumerate(ends) if end < top), len(ends))
        ends[lane : lane + 1] = [bottom]
        x = start + LANE * lane
        # A group that goes on below the last row stays open.
        foot = [bottom + 0.25] * 2 if bottom < n else [n - 0.5]
        ax.plot(
            [x - 0.055, x, x, x - 0.055][: 2 + len(foot)],
            [top - 0.25, top - 0.25, *foot],
            transform=side, color=INK, linewidth=1.6, clip_on=False, solid_joinstyle="miter",
        )  # fmt: skip
    if ends:
        ax.text(
            start - 0.07, -0.9, "not separated", transform=side, color=MUTED, fontsize=SIZE - 1,
            va="center",
        )  # fmt: skip


def ranking_rows(ranking: Ranking) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`rank_interval_plot` and :func:`difficulty_ladder`."""
    return tuple(
        record | {"groups": " ".join(map(str, record["groups"]))} for record in ranking.as_records()
    )
