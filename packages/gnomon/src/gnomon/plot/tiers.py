"""Ranks: values with intervals, rank intervals and tiers; critical differences."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import (
    BboxTransformTo,
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)

from gnomon.plot.dots import MOST_ROWS, ROW, Dot, draw_dots
from gnomon.plot.figure import Figure, Panel, drawn, frame
from gnomon.plot.labels import all_in_lines, in_lines
from gnomon.plot.style import FULL_WIDTH, INK, MUTED, SERIES, SIZE, drawing_of
from gnomon.ranking.ranks import rank_range
from gnomon.tables import percent

#: Where ranks and brackets stand beside the panel, and how far apart brackets are, in inches.
RANKS, BRACKETS, LANE = 0.2, 0.9, 0.2


def ranking_figure(found: Any, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of a ranking: values and ranks with intervals, tiers as brackets."""
    n, some = len(found[:MOST_ROWS]), drawn(found, MOST_ROWS)[1]
    name = _value_name(found)
    long = max(map(len, found.names), default=0) > 26
    return frame(
        [Panel(partial(_draw_ranking, found, n), "", 0.9 + (0.44 if long else ROW) * max(n, 3))],
        ax,
        name="rank-intervals",
        title="Ranks",
        caption=f"{name[0].upper()}{name[1:]} with {percent(found.level)} intervals, "
        "and ranks with rank intervals. A bracket marks a tier: its members are not significantly "
        f"different.{some}",
        alt=f"Ranks, best on top: {', '.join(found.names[:n])}.",
        rows=[
            record | {"tiers": " ".join(map(str, record["tiers"]))} for record in found.as_records()
        ],
        width=FULL_WIDTH * 0.85,
        wide=True,
    )


def _value_name(found: Any) -> str:
    """Return what the values are, with which the title of a ranking begins."""
    return str(found.title).partition(",")[0]


def _draw_ranking(found: Any, n: int, ax: Axes) -> None:
    names = all_in_lines([one.name for one in found[:n]], 40, 2)
    dots = [Dot(names[i], one.value, one.low, one.high) for i, one in enumerate(found[:n])]
    draw_dots(ax, dots, top=1.2)
    ax.set_xlabel(_value_name(found))
    side = _beside(ax)
    ax.text(RANKS, -0.9, "rank", transform=side, color=MUTED, fontsize=SIZE - 1, va="center")
    for i, one in enumerate(found[:n]):
        text = rank_range(one.rank_low, one.rank_high)
        ax.text(RANKS, i, text, transform=side, color=INK, fontsize=SIZE, va="center")
    _brackets(ax, found, n)


def _beside(ax: Axes) -> Transform:
    """Return what places things at inches to the right of the panel, and at its rows.

    Shares of the panel's width would move with it, while the drawing makes room for the words.
    """
    edge = ScaledTranslation(1.0, 0.0, BboxTransformTo(ax.bbox))
    return blended_transform_factory(drawing_of(ax).dpi_scale_trans + edge, ax.transData)


def _brackets(ax: Axes, found: Any, n: int) -> None:
    """Draw tiers of two or more, side by side only where they overlap."""
    side = _beside(ax)
    start = BRACKETS if len(found.names) < 10 else BRACKETS + 0.2
    ends: list[int] = []
    for group in found.tiers:
        top, bottom = found.names.index(group[0]), found.names.index(group[-1])
        if len(group) < 2 or top >= n:
            continue
        lane = next((i for i, end in enumerate(ends) if end < top), len(ends))
        ends[lane : lane + 1] = [bottom]
        x = start + LANE * lane
        # A tier that continues below the last row stays open.
        foot = [bottom + 0.25] * 2 if bottom < n else [n - 0.5]
        ax.plot(
            [x - 0.055, x, x, x - 0.055][: 2 + len(foot)],
            [top - 0.25, top - 0.25, *foot],
            transform=side, color=INK, linewidth=1.6, clip_on=False, solid_joinstyle="miter",
        )  # fmt: skip
    if ends:
        ax.text(
            start - 0.07, -0.9, "tiers", transform=side, color=MUTED, fontsize=SIZE - 1,
            va="center",
        )  # fmt: skip


def critical_difference_figure(found: Any, ax: Axes | None = None) -> Figure | Axes:
    """Return the diagram of mean ranks, with a bar over each group that is not separated."""
    half, k = (len(found) + 1) // 2, len(found)
    height = 1.6 + 0.3 * (half + 0.35 * len(found.groups) / 0.3 * 0.3)
    return frame(
        [Panel(partial(_draw_critical_difference, found), "", height)],
        ax,
        name="critical-difference",
        title="Critical differences",
        caption=f"Mean ranks over {found.over}. A bar joins algorithms that are not significantly "
        f"different by {found.compared}; dots on a bar mark its members.",
        alt=f"Mean ranks: {', '.join(f'{one.name} {one.mean_rank:.2f}' for one in found[:k])}.",
        rows=found.as_records(),
        width=FULL_WIDTH,
        wide=True,
    )


def _draw_critical_difference(found: Any, ax: Axes) -> None:
    k, half = len(found.names), (len(found.names) + 1) // 2
    top = 0.7 + 0.35 * len(found.groups)
    low, high = math.floor(found.mean_ranks.min()), math.ceil(found.mean_ranks.max())
    high = max(high, low + 1)
    ax.set_axis_off()
    # A third of the width on each side is for names.
    air = (high - low) * 0.9
    ax.set_xlim(low - air, high + air)
    ax.set_ylim(-half - 0.6, top + 1.6)
    ax.plot([low, high], [top, top], color=INK, linewidth=1.2)
    step = next((step for step in (1, 2, 5, 10, 20) if (high - low) / step <= 8), 50)
    for tick in range(-(-low // step) * step, high + 1, step):
        ax.plot([tick, tick], [top, top + 0.15], color=INK, linewidth=1.2)
        ax.text(tick, top + 0.25, str(tick), ha="center", color=MUTED, fontsize=SIZE - 1)
    for i, (name, rank) in enumerate(zip(found.names, found.mean_ranks, strict=True)):
        left = i < half
        y, x = -(i if left else k - 1 - i) - 0.5, low if left else high
        ax.plot([rank, rank, x], [top, y, y], color=MUTED, linewidth=0.9)
        shown = in_lines(name, 36, 2)
        text = f"{shown}  {rank:.2f}" if left else f"{rank:.2f}  {shown}"
        ax.text(
            x + 0.02 * (high - low) * (-1 if left else 1), y, text, ha="right" if left else "left",
            va="center", color=INK, fontsize=SIZE - 0.5, parse_math=False,
        )  # fmt: skip
    place = dict(zip(found.names, found.mean_ranks, strict=True))
    for g, group in enumerate(found.groups):
        y, at = top - 0.3 - 0.35 * g, np.array([place[name] for name in group])
        ax.plot([at.min(), at.max()], [y, y], color=SERIES[0], linewidth=3, alpha=0.6)
        ax.plot(at, np.full(at.size, y), "o", color=SERIES[0], markersize=4)
    for height, note in ((1.4, f"mean rank over {found.over}"), (0.8, f"by {found.compared}")):
        ax.text(
            (low + high) / 2.0, top + height, note, ha="center", color=MUTED, fontsize=SIZE - 1
        )  # fmt: skip
