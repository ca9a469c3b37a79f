"""Rankings drawn: rank intervals, ease, the tournament, critical differences, a ladder."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyArrowPatch, Rectangle

from gnomon.ranking.critical_difference import CriticalDifference
from gnomon.ranking.hodge import HodgeDecomposition
from gnomon.ranking.rank_intervals import Ranking
from gnomon.ranking.tournament import Tournament
from gnomon.report.figures.labels import spread
from gnomon.report.figures.style import (
    FULL_WIDTH,
    GRID,
    HALF_WIDTH,
    HEIGHT,
    INK,
    LEVELS,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    drawing_of,
    dress,
    new_drawing,
)

__all__ = [
    "critical_difference_diagram",
    "critical_difference_rows",
    "difficulty_ladder",
    "ease_heat_map",
    "ease_rows",
    "rank_interval_plot",
    "ranking_rows",
    "tournament_graph",
    "tournament_rows",
]

#: P(better) from which a cell is darker.
EASE_BOUNDS = (0.55, 0.75, 0.9)
#: More contestants than this do not fit around a circle.
MOST_IN_CIRCLE = 12
#: Room for one line of text, in inches.
LINE = 0.3


def rank_interval_plot(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw ratings with intervals, ranks with theirs, and tie groups as brackets.

    Contestants that share a bracket are not separated by the data.

    Parameters
    ----------
    ranking : Ranking
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    n = len(ranking.names)
    if ax is None:
        ax = new_drawing(FULL_WIDTH * 0.7, 0.9 + LINE * max(n, 3)).subplots()
    dress(ax, grid="x")
    ax.set_yticks(range(n), list(ranking.names))
    ax.tick_params(axis="y", labelcolor=INK, labelsize=SIZE)
    ax.set_ylim(n - 0.4, -1.2)
    for i in range(n):
        _dot_with_bar(ax, i, ranking.ratings[i], ranking.low[i], ranking.high[i])
    ax.set_xlabel(
        "rating (log-odds)" if ranking.method == "hodge" else f"rating ({ranking.method})"
    )
    # To the right of the panel, in its own units: ranks, then a bracket for each tie group.
    side = ax.get_yaxis_transform()
    ax.text(1.03, -0.9, "rank", transform=side, color=MUTED, fontsize=SIZE - 1, va="center")
    for i, (low, high) in enumerate(zip(ranking.rank_low, ranking.rank_high, strict=True)):
        text = f"{low}" if low == high else f"{low} to {high}"
        ax.text(1.03, i, text, transform=side, color=INK, fontsize=SIZE, va="center")
    _brackets(ax, ranking)
    return ax


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


def _brackets(ax: Axes, ranking: Ranking) -> None:
    """Draw tie groups of two or more, side by side only where they overlap."""
    side = ax.get_yaxis_transform()
    start = 1.17 if len(ranking.names) < 10 else 1.21
    ends: list[int] = []
    for group in ranking.groups:
        if len(group) < 2:
            continue
        top, bottom = ranking.names.index(group[0]), ranking.names.index(group[-1])
        lane = next((i for i, end in enumerate(ends) if end < top), len(ends))
        ends[lane : lane + 1] = [bottom]
        x = start + 0.03 * lane
        ax.plot(
            [x - 0.008, x, x, x - 0.008],
            [top - 0.25, top - 0.25, bottom + 0.25, bottom + 0.25],
            transform=side, color=INK, linewidth=1.6, clip_on=False, solid_joinstyle="miter",
        )  # fmt: skip
    if ends:
        ax.text(
            start - 0.01, -0.9, "not separated", transform=side, color=MUTED, fontsize=SIZE - 1,
            va="center",
        )  # fmt: skip


def ranking_rows(ranking: Ranking) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`rank_interval_plot` and :func:`difficulty_ladder`."""
    return tuple(
        record | {"groups": " ".join(map(str, record["groups"]))} for record in ranking.as_records()
    )


def ease_heat_map(
    tournament: Tournament, order: Sequence[str] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw P(row better than column) for every pair that met, the darker the larger.

    Parameters
    ----------
    tournament : Tournament
    order : sequence of str, optional
        Names from top to bottom, best first; the tournament's order if not given.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    names = list(order or tournament.names)
    n, at = len(names), [tournament.names.index(name) for name in names]
    size = max(HEIGHT, 1.6 + 0.44 * min(n, 30))
    if ax is None:
        ax = new_drawing(size + 1.2, size).subplots()
    dress(ax)
    chance = tournament.probability[np.ix_(at, at)]
    for row in range(n):
        for column in range(n):
            if row != column and not math.isnan(chance[row, column]):
                _ease_cell(ax, row, column, float(chance[row, column]), words=n <= 16)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.set_yticks(range(n), names)
    ax.set_xticks(range(n), names, rotation=55, ha="left", rotation_mode="anchor")
    ax.tick_params(labelcolor=INK, labelsize=SIZE - (1 if n <= 16 else 3), length=0)
    ax.tick_params(axis="x", labeltop=True, labelbottom=False)
    ax.spines["bottom"].set_visible(False)
    verb = "better" if tournament.by == "algorithm" else "harder"
    ax.set_xlabel(f"P(row {verb} than column)")
    return ax


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
    """Return the numbers of :func:`ease_heat_map`: a row for each pair that met."""
    return tuple(
        {
            "a": tournament.names[i],
            "b": tournament.names[j],
            "probability": float(tournament.probability[i, j]),
            "ease_ratio": math.exp(float(tournament.log_odds[i, j])),
        }
        for i, j in zip(*np.nonzero(tournament.weights), strict=True)
    )


def tournament_graph(
    tournament: Tournament, decomposition: HodgeDecomposition, *, fig: Drawing | None = None
) -> Drawing:
    """Draw who beats whom as arrows around a circle, and how much of it ratings explain as a bar.

    An arrow goes from the better to the worse, the wider the longer its edge; one that goes against
    the ratings is dashed and in another colour. The contestants stand clockwise, best on top;
    beyond twelve only the best are drawn.

    Parameters
    ----------
    tournament : Tournament
    decomposition : HodgeDecomposition
        Of that tournament.
    fig : matplotlib.figure.Figure, optional
        An empty one to draw on.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig = new_drawing(HALF_WIDTH + 1.2, HALF_WIDTH + 0.5) if fig is None else fig
    circle, bar = fig.subplots(2, 1, height_ratios=[14, 1])
    order = np.argsort(-decomposition.ratings, kind="stable")[:MOST_IN_CIRCLE]
    _arrows(circle, tournament, decomposition, [int(i) for i in order])
    _share_bar(bar, decomposition.shares)
    return fig


def _arrows(
    ax: Axes, tournament: Tournament, decomposition: HodgeDecomposition, order: Sequence[int]
) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(-1.75, 1.75)
    ax.set_ylim(-1.2, 1.2)
    angles = np.pi / 2.0 - 2.0 * np.pi * np.arange(len(order)) / max(len(order), 1)
    place = {i: (float(np.cos(a)), float(np.sin(a))) for i, a in zip(order, angles, strict=True)}
    longest = float(np.abs(tournament.log_odds).max()) or 1.0
    for i in order:
        for j in order:
            edge = float(tournament.log_odds[i, j])
            if edge > 0.0:
                against = decomposition.ratings[i] < decomposition.ratings[j]
                ax.add_patch(
                    FancyArrowPatch(
                        place[i], place[j],
                        arrowstyle="-|>", mutation_scale=9, shrinkA=6, shrinkB=6,
                        linewidth=0.5 + 2.2 * edge / longest,
                        linestyle="--" if against else "-",
                        color=SERIES[1] if against else SERIES[0],
                        alpha=1.0 if against else 0.25 + 0.6 * edge / longest,
                        zorder=2 if against else 1,
                    )
                )  # fmt: skip
    for i, (x, y) in place.items():
        ax.plot([x], [y], "o", markersize=6, color=INK, zorder=3)
        ax.text(
            1.09 * x, 1.09 * y, tournament.names[i], fontsize=SIZE - 1, color=INK,
            ha="left" if x > 0.2 else "right" if x < -0.2 else "center",
            va="bottom" if y > 0.3 else "top" if y < -0.3 else "center",
        )  # fmt: skip


def _share_bar(ax: Axes, shares: Sequence[float]) -> None:
    """Draw the squared shares of gradient, curl and harmonic part, side by side."""
    dress(ax)
    ax.set_yticks([])
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(-0.5, 0.5)
    ax.set_xticks([0.0, 0.5, 1.0], ["0", "50 %", "100 %"])
    left, words = 0.0, []
    names = ("ratings", "cycles of three", "longer cycles")
    for share, name, color in zip(shares, names, (SERIES[0], SERIES[1], SERIES[3]), strict=True):
        if not math.isnan(share) and share >= 5e-4:
            ax.barh(0.0, share, left=left, height=0.8, color=color)
            left += share
            words.append(f"{name} {100.0 * share:.1f} %")
    ax.set_xlabel("explained by: " + (", ".join(words) or "nothing, all edges are 0"))


def tournament_rows(
    tournament: Tournament, decomposition: HodgeDecomposition
) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`tournament_graph`: a row for each edge, from the better one."""
    f = tournament.log_odds
    return tuple(
        {
            "better": tournament.names[i],
            "worse": tournament.names[j],
            "log_odds": float(f[i, j]),
            "gradient": float(decomposition.gradient[i, j]),
            "curl": float(decomposition.curl[i, j]),
            "harmonic": float(decomposition.harmonic[i, j]),
        }
        for i, j in zip(*np.nonzero(f > 0.0), strict=True)
    )


def critical_difference_diagram(found: CriticalDifference, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks on a line, the best on the left, and a bar over those that tests do not part.

    Parameters
    ----------
    found : CriticalDifference
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    k = len(found.names)
    half = (k + 1) // 2
    top = 0.7 + 0.35 * len(found.groups)
    if ax is None:
        ax = new_drawing(FULL_WIDTH * 0.85, 0.6 + LINE * (half + top)).subplots()
    ax.set_axis_off()
    ax.set_facecolor("none")
    low, high = math.floor(found.mean_ranks.min()), math.ceil(found.mean_ranks.max())
    high = max(high, low + 1)
    # Room for the names on both sides, at about 0.08 inches a letter.
    width = ax.get_position().width * drawing_of(ax).get_size_inches()[0]
    share = min(0.08 * (max(map(len, found.names)) + 6) / width, 0.42)
    air = (high - low) * share / (1.0 - 2.0 * share)
    ax.set_xlim(low - air, high + air)
    ax.set_ylim(-half - 0.6, top + 0.9)
    ax.plot([low, high], [top, top], color=INK, linewidth=1.2)
    step = max(1, (high - low) // 8)
    for tick in range(low, high + 1, step):
        ax.plot([tick, tick], [top, top + 0.15], color=INK, linewidth=1.2)
        ax.text(tick, top + 0.25, str(tick), ha="center", color=MUTED, fontsize=SIZE - 1)
    for i, (name, rank) in enumerate(zip(found.names, found.mean_ranks, strict=True)):
        left = i < half
        y, x = -(i if left else k - 1 - i) - 0.5, low if left else high
        ax.plot([rank, rank, x], [top, y, y], color=MUTED, linewidth=0.9)
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        shift = -0.02 * (high - low) if left else 0.02 * (high - low)
        ax.text(
            x + shift, y, text, ha="right" if left else "left", va="center", color=INK,
            fontsize=SIZE,
        )  # fmt: skip
    place = dict(zip(found.names, found.mean_ranks, strict=True))
    for g, group in enumerate(found.groups):
        ends = [place[group[0]], place[group[-1]]]
        pad = 0.01 * (high - low)
        y = top - 0.3 - 0.35 * g
        ax.plot(
            [ends[0] - pad, ends[1] + pad], [y, y], color=SERIES[0], linewidth=4,
            solid_capstyle="round",
        )  # fmt: skip
    note = f"mean rank over {found.n_tasks} tasks; bars: not separated ({found.test})"
    ax.text(
        (low + high) / 2.0, top + 0.75, note, ha="center", color=MUTED, fontsize=SIZE - 1
    )  # fmt: skip
    return ax


def critical_difference_rows(found: CriticalDifference) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`critical_difference_diagram`."""
    return tuple(
        {
            "name": name,
            "mean_rank": float(rank),
            "groups": " ".join(str(g) for g, group in enumerate(found.groups, 1) if name in group),
        }
        for name, rank in zip(found.names, found.mean_ranks, strict=True)
    )


def difficulty_ladder(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw contestants as rungs at the height of their rating, with intervals: hardest on top.

    Parameters
    ----------
    ranking : Ranking
        Of tasks, by difficulty; one of algorithms gives a ladder of strength.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    n = len(ranking.names)
    height = max(HEIGHT, 0.8 + 0.24 * n)
    if ax is None:
        ax = new_drawing(HALF_WIDTH, height).subplots()
    dress(ax)
    known = ~np.isnan(ranking.ratings)
    ends = np.concatenate([ranking.ratings[known], ranking.low[known], ranking.high[known]])
    ends = ends[np.isfinite(ends)]
    low, high = (float(ends.min()), float(ends.max())) if ends.size else (0.0, 1.0)
    air = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - air, high + air)
    ax.set_xlim(0.0, 1.0)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    gap = (high - low + 2 * air) / (height * 0.82) * 0.19
    labels = spread(ranking.ratings[known], gap=gap)
    for row, at in zip(np.flatnonzero(known), labels, strict=True):
        rating = float(ranking.ratings[row])
        if np.isfinite(ranking.low[row]):
            ax.vlines(
                0.12, ranking.low[row], ranking.high[row], color=SERIES[0], linewidth=5, alpha=0.3
            )
        ax.plot([0.07, 0.17], [rating, rating], color=SERIES[0], linewidth=2.2)
        ax.plot([0.18, 0.27], [rating, at], color=GRID, linewidth=1.0)
        ax.text(
            0.29, at, f"{ranking.names[row]}  {rating:.2f}", va="center", color=INK,
            fontsize=SIZE - (0.5 if n <= 24 else 2.0),
        )  # fmt: skip
    ax.set_ylabel("difficulty" if ranking.by == "task" else "rating")
    return ax
