"""Ranks drawn: rank intervals, the difficulty ladder, the critical-difference diagram."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import (
    BboxTransformTo,
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)

from gnomon.errors import shortened
from gnomon.plot.labels import name_rows, spread, write_in_row
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    GRID,
    HEIGHT,
    INK,
    LONGEST,
    MUTED,
    SERIES,
    SIZE,
    axes_for,
    drawing_of,
    dress,
    mark_numbers,
    new_drawing,
)
from gnomon.ranking.critical_differences import CriticalDifference
from gnomon.ranking.ranks import ITEM_MEAN, WINS, Ranking, rank_range

#: Where ranks and brackets stand beside the panel, and how far apart brackets are, in inches.
RANKS, BRACKETS, LANE = 0.2, 0.9, 0.2
#: Width of a lane, as a share of the drawing, and how many there are at most.
RUNG_LANE, MOST_LANES = 0.05, 9
#: Length of the line of ranks at least, in inches.
LEAST_LINE = 4.5
#: Distances of its ticks; of all but the last there are at most eight.
STEPS = (1, 2, 5, 10, 20, 50)
#: Room for one line of text, in inches.
LINE = 0.3
#: More than this do not fit on a page.
MOST_ROWS = 60
#: Share of a bar that has room for the number of a rank.
ROOM_FOR_A_RANK = 0.045


def draw_ranking(ranking: Ranking, ax: Axes | None = None) -> Figure | Axes:
    """Draw the rank intervals of a ranking, with their words and numbers, or into given axes."""
    if ax is not None:
        return rank_interval_plot(ranking, ax=ax)
    names = ranking.names[:MOST_ROWS]
    more = len(ranking) > len(names)
    first = f" The first {len(names)} of {len(ranking)} are drawn." if more else ""
    return Figure(
        "rank-intervals",
        "Rank intervals",
        f"{_value_name(ranking).capitalize()} with {100.0 * ranking.level:.4g}\xa0% intervals, and "
        f"ranks with theirs. A bracket joins a tier: its members are not significantly different."
        f"{first}",
        f"Ranks, best on top: {', '.join(names)}.",
        drawing_of(rank_interval_plot(ranking)),
        ranking_rows(ranking),
        wide=True,
    )


def rank_interval_plot(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw values with intervals, ranks with theirs, and tiers as brackets.

    Algorithms that share a bracket are not significantly different. Beyond sixty, only the best are
    drawn.

    Parameters
    ----------
    ranking : Ranking
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[x] for x in range(3, 11)], "b": [[x] for x in range(8)]}
    >>> ax = rank_interval_plot(gn.rank(gn.ScoreTable.from_arrays(scores)))
    >>> len(ax.get_yticks())
    2
    """
    n = min(len(ranking.names), MOST_ROWS)
    ax = axes_for(ax, FULL_WIDTH, 0.9 + LINE * max(n, 3), grid="x")
    name_rows(ax, [shortened(name, LONGEST) for name in ranking.names[:n]], top=1.2)
    for i in range(n):
        _dot_with_bar(ax, i, ranking[i].value, ranking[i].low, ranking[i].high)
    mark_numbers(ax.xaxis, most=6)
    ax.set_xlabel(_value_name(ranking))
    # To the right of the panel, in inches: ranks, then a bracket for each tier.
    side = _beside(ax)
    ax.text(RANKS, -0.9, "rank", transform=side, color=MUTED, fontsize=SIZE - 1, va="center")
    for i in range(n):
        text = rank_range(ranking[i].rank_low, ranking[i].rank_high)
        ax.text(RANKS, i, text, transform=side, color=INK, fontsize=SIZE, va="center")
    _brackets(ax, ranking, n)
    return ax


def _value_name(ranking: Ranking) -> str:
    """Return what the values of a ranking are."""
    if ranking.method == WINS:
        return "mean win probability" if ranking.by == "algorithm" else "mean P(harder)"
    return "mean over items" if ranking.method == ITEM_MEAN else ranking.method


def _beside(ax: Axes) -> Transform:
    """Return what places things at inches to the right of the panel, and at its rows.

    Shares of the panel's width would move with it, while the drawing makes room for the words.
    """
    edge = ScaledTranslation(1.0, 0.0, BboxTransformTo(ax.bbox))
    inches = drawing_of(ax).dpi_scale_trans + edge
    return blended_transform_factory(inches, ax.transData)


def _dot_with_bar(ax: Axes, row: float, value: float, low: float, high: float) -> None:
    if math.isnan(value):
        write_in_row(ax, row)
        return
    if not math.isnan(low):
        ax.hlines(row, low, high, color=SERIES[0], linewidth=6, alpha=0.35)
    ax.plot([value], [row], marker="o", markersize=5.5, color=SERIES[0], linestyle="none")


def _brackets(ax: Axes, ranking: Ranking, n: int) -> None:
    """Draw tiers of two or more of the first n, side by side only where they overlap."""
    side = _beside(ax)
    start = BRACKETS if len(ranking.names) < 10 else BRACKETS + 0.2
    ends: list[int] = []
    for group in ranking.tiers:
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
        record | {"tiers": " ".join(map(str, record["tiers"]))} for record in ranking.as_records()
    )


def difficulty_ladder(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw names as rungs at the height of their value, with intervals: hardest on top.

    Rungs whose intervals overlap stand side by side.

    Parameters
    ----------
    ranking : Ranking
        Of tasks, by difficulty; one of algorithms gives a ladder of strength.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> import gnomon as gn
    >>> errors = {"dqn": [[9, 90], [12, 95], [11, 99]], "uniform": [[30, 80], [10, 85], [20, 88]]}
    >>> scores = gn.ScoreTable.from_arrays(errors, tasks=["easy", "hard"], higher_is_better=False)
    >>> difficulty_ladder(gn.rank(scores, by="task")).get_ylabel()
    'difficulty'
    """
    rows = np.flatnonzero(~np.isnan(ranking.values)).tolist()
    height = max(HEIGHT, 0.8 + 0.24 * len(rows))
    if ax is None:
        longest = min(max((len(ranking.names[row]) for row in rows), default=0), LONGEST)
        ax = new_drawing(2.8 + 0.08 * longest, height).subplots()
    dress(ax)
    shown = [ranking[row] for row in rows]
    ends = np.array([x for one in shown for x in (one.value, one.low, one.high)])
    ends = ends[np.isfinite(ends)]
    low, high = (float(ends.min()), float(ends.max())) if ends.size else (0.0, 1.0)
    air = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - air, high + air)
    ax.set_xlim(0.0, 1.0)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    gap = (high - low + 2 * air) / (height * 0.82) * 0.19
    labels = spread(ranking.values[rows], gap=gap)
    lanes = _lanes(ranking, rows, gap / 4.0)
    right = 0.1 + RUNG_LANE * max(lanes, default=0)
    for row, lane, at in zip(rows, lanes, labels, strict=True):
        x, rating = 0.05 + RUNG_LANE * lane, float(ranking.values[row])
        if np.isfinite(ranking[row].low):
            ax.vlines(
                x, ranking[row].low, ranking[row].high, color=SERIES[0], linewidth=5, alpha=0.3
            )
        ax.plot([x - 0.02, x + 0.02], [rating, rating], color=SERIES[0], linewidth=2.2)
        ax.plot([x + 0.025, right, right + 0.05], [rating, rating, at], color=GRID, linewidth=1.0)
        ax.text(
            right + 0.06, at, f"{shortened(ranking.names[row], LONGEST)}  {rating:.2f}",
            va="center", color=INK, fontsize=SIZE - (0.5 if len(rows) <= 24 else 2.0),
            parse_math=False,
        )  # fmt: skip
    ax.set_ylabel("difficulty" if ranking.by == "task" else _value_name(ranking))
    return ax


def _lanes(ranking: Ranking, rows: Sequence[int], gap: float) -> list[int]:
    """Return for each rung, from the top, the first lane in which its interval is free."""
    reached: list[float] = []
    lanes = []
    for row in rows:
        ends = [ranking.values[row] + gap, ranking.values[row] - gap]
        if np.isfinite(ranking[row].low):
            ends += [ranking[row].low, ranking[row].high]
        free = [lane for lane, low in enumerate(reached) if low > max(ends)]
        lane = free[0] if free else len(reached)
        if lane >= MOST_LANES:
            lane = int(np.argmax(reached))
        reached[lane : lane + 1] = [float(min(ends))]
        lanes.append(lane)
    return lanes


def draw_critical_difference(found: CriticalDifference, ax: Axes | None = None) -> Figure | Axes:
    """Draw critical differences, with their words and numbers, or into given axes."""
    if ax is not None:
        return critical_difference_diagram(found, ax=ax)
    test = "Wilcoxon's signed-rank test, with Holm's correction, does not tell apart."
    if found[0].test == "nemenyi":
        test = (
            f"Nemenyi's test (critical difference {found[0].critical_difference:.2f}) does not "
            "tell apart; it depends on who else is there."
        )
    return Figure(
        "critical-difference",
        "Critical differences",
        f"Mean ranks over {found.over}. A bar joins those that {test}",
        f"Mean ranks: {', '.join(f'{one.name} {one.mean_rank:.2f}' for one in found)}.",
        drawing_of(critical_difference_diagram(found)),
        critical_difference_rows(found),
        wide=True,
    )


def critical_difference_diagram(found: CriticalDifference, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks on a line, the best on the left, and a bar over those that tests do not part.

    Parameters
    ----------
    found : CriticalDifference
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import critical_difference
    >>> scores = {"a": [[1, 2, 1, 2]], "b": [[2, 1, 2, 1]], "c": [[9, 8, 9, 8]]}
    >>> ax = critical_difference_diagram(critical_difference(gn.ScoreTable.from_arrays(scores)))
    >>> any("c" in text.get_text() for text in ax.texts)
    True
    """
    k = len(found.names)
    names = [shortened(name, LONGEST) for name in found.names]
    half = (k + 1) // 2
    top = 0.7 + 0.35 * len(found.groups)
    # Room for the names on both sides, at about 0.08 inches a letter.
    side = 0.08 * (max(map(len, names)) + 6)
    if ax is None:
        width = max(FULL_WIDTH * 0.85, 2.0 * side + LEAST_LINE)
        ax = new_drawing(width, 0.8 + LINE * (half + top)).subplots()
    ax.set_axis_off()
    ax.set_facecolor("none")
    low, high = math.floor(found.mean_ranks.min()), math.ceil(found.mean_ranks.max())
    high = max(high, low + 1)
    width = ax.get_position().width * drawing_of(ax).get_size_inches()[0]
    share = min(side / width, 0.42)
    air = (high - low) * share / (1.0 - 2.0 * share)
    ax.set_xlim(low - air, high + air)
    ax.set_ylim(-half - 0.6, top + 1.6)
    ax.plot([low, high], [top, top], color=INK, linewidth=1.2)
    step = next(step for step in STEPS if (high - low) / step <= 8 or step == STEPS[-1])
    for tick in range(-(-low // step) * step, high + 1, step):
        ax.plot([tick, tick], [top, top + 0.15], color=INK, linewidth=1.2)
        ax.text(tick, top + 0.25, str(tick), ha="center", color=MUTED, fontsize=SIZE - 1)
    for i, (name, rank) in enumerate(zip(names, found.mean_ranks, strict=True)):
        left = i < half
        y, x = -(i if left else k - 1 - i) - 0.5, low if left else high
        ax.plot([rank, rank, x], [top, y, y], color=MUTED, linewidth=0.9)
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        shift = -0.02 * (high - low) if left else 0.02 * (high - low)
        ax.text(
            x + shift, y, text, ha="right" if left else "left", va="center", color=INK,
            fontsize=SIZE, parse_math=False,
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
    notes = (
        f"mean rank over {found.over}; bars: not separated ({found[0].test})",
        f"compared by {found.compared}",
    )
    for height, note in zip((1.4, 0.8), notes, strict=True):
        ax.text(
            (low + high) / 2.0, top + height, note, ha="center", color=MUTED, fontsize=SIZE - 1
        )  # fmt: skip
    return ax


def critical_difference_rows(found: CriticalDifference) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`critical_difference_diagram`."""
    return tuple(
        {"name": one.name, "mean_rank": one.mean_rank, "groups": " ".join(map(str, one.groups))}
        for one in found
    )
