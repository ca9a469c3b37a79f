"""Ranks: values with intervals, rank intervals and tiers; critical differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.transforms import (
    BboxTransformTo,
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)

from gnomon.plot.dots import MOST_ROWS, ROW, Dot, draw_dots
from gnomon.plot.figure import Figure, Panel, drawn, frame
from gnomon.plot.labels import all_in_lines
from gnomon.plot.style import FULL_WIDTH, INK, MUTED, SIZE, drawing_of
from gnomon.printing import percent
from gnomon.ranking.ranks import rank_range

#: Distances of ranks and of brackets from the panel, and between brackets, in inches.
RANKS, BRACKETS, LANE = 0.2, 0.9, 0.2


def ranking_figure(found: Any, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of a ranking: values and ranks with intervals, tiers as brackets."""
    shown, some = drawn(found, MOST_ROWS)
    name = str(found.title).partition(",")[0]
    dots = [Dot(one.name, one.value, one.low, one.high) for one in shown]
    texts = [rank_range(one.rank_low, one.rank_high) for one in shown]
    return _figure(
        found, dots, ("rank", texts), ("tiers", found.tiers), name, ax,
        name="rank-intervals",
        title="Ranks",
        caption=f"{name[0].upper()}{name[1:]} with {percent(found.level)} intervals, "
        f"and ranks with rank intervals. A bracket marks a tier. {found.notes[1]}{some}",
        alt=f"Ranks, best on top: {', '.join(one.name for one in shown)}.",
    )  # fmt: skip


def critical_difference_figure(found: Any, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of mean ranks, groups of algorithms that are not separated as brackets."""
    shown, some = drawn(found, MOST_ROWS)
    dots = [Dot(one.name, one.mean_rank, math.nan, math.nan) for one in shown]
    texts = [f"{one.mean_rank:.2f}" for one in shown]
    ranks = ", ".join(f"{one.name} {text}" for one, text in zip(shown, texts, strict=True))
    return _figure(
        found, dots, ("mean", texts), ("groups", found.groups), "(← better) mean rank", ax,
        name="critical-difference",
        title="Critical differences",
        caption=f"{found.title[0].upper()}{found.title[1:]}. A bracket joins algorithms that are "
        "not significantly different; where it passes over others, dots mark its members."
        f"{some}",
        alt=f"Mean ranks, best on top: {ranks}.",
    )  # fmt: skip


def _figure(
    found: Any,
    dots: Sequence[Dot],
    column: tuple[str, Sequence[str]],
    brackets: tuple[str, Sequence[Sequence[str]]],
    xlabel: str,
    ax: Axes | None,
    **texts: Any,
) -> Figure | Axes:
    """Return the figure of rows; names on two lines need more height."""
    names = [one.name for one in found]

    def draw(ax: Axes) -> None:
        _draw_rows(ax, names, dots, column, brackets)
        ax.set_xlabel(xlabel)

    height = 0.9 + (0.44 if max(map(len, names), default=0) > 26 else ROW) * max(len(dots), 3)
    rows, width = found.as_records(), FULL_WIDTH * 0.85
    return frame([Panel(draw, "", height)], ax, rows=rows, width=width, wide=True, **texts)


def _draw_rows(
    ax: Axes,
    names: Sequence[str],
    dots: Sequence[Dot],
    column: tuple[str, Sequence[str]],
    brackets: tuple[str, Sequence[Sequence[str]]],
) -> None:
    """Draw dots with their names, a column of texts beside them, and groups as brackets."""
    n = len(dots)
    labels = all_in_lines(names[:n], 40, 2)
    draw_dots(ax, [replace(dot, label=x) for dot, x in zip(dots, labels, strict=True)], top=1.2)
    side = _beside(ax)
    head: dict[str, Any] = {"transform": side, "va": "center", "color": MUTED, "fontsize": SIZE - 1}
    line: dict[str, Any] = {"transform": side, "color": INK, "clip_on": False}
    ax.text(RANKS, -0.9, column[0], **head)
    for row, text in enumerate(column[1]):
        ax.text(RANKS, row, text, transform=side, va="center", color=INK, fontsize=SIZE)
    start = BRACKETS if len(names) < 10 else BRACKETS + 0.2
    place, ends = {name: i for i, name in enumerate(names)}, list[int]()
    for group in brackets[1]:
        rows = [place[name] for name in group]
        top, bottom = rows[0], rows[-1]
        if len(group) < 2 or top >= n:
            continue
        # Side by side only where they overlap.
        lane = next((i for i, end in enumerate(ends) if end < top), len(ends))
        ends[lane : lane + 1] = [bottom]
        x = start + LANE * lane
        # A group that continues below the last row stays open.
        foot = [bottom + 0.25] * 2 if bottom < n else [n - 0.5]
        xs, ys = [x - 0.055, x, x, x - 0.055][: 2 + len(foot)], [top - 0.25, top - 0.25, *foot]
        ax.plot(xs, ys, linewidth=1.6, solid_joinstyle="miter", **line)
        if len(rows) <= bottom - top:  # It leaves out a row between its ends.
            members = [row for row in rows if row < n]
            ax.plot([x] * len(members), members, "o", markersize=4, **line)
    if ends:
        ax.text(start - 0.07, -0.9, brackets[0], **head)


def _beside(ax: Axes) -> Transform:
    """Return the transform from inches right of the panel, and rows, to the drawing.

    Shares of the panel's width would change while the layout makes room for the names.
    """
    edge = ScaledTranslation(1.0, 0.0, BboxTransformTo(ax.bbox))
    return blended_transform_factory(drawing_of(ax).dpi_scale_trans + edge, ax.transData)
