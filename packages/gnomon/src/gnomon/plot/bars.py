"""Bars from zero: shares, errors, and parts of a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from gnomon.plot.labels import in_lines, name_rows, write_in_row
from gnomon.plot.style import MUTED, SERIES, SIZE, dress, mark_numbers


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar in a row: its name, its length, its colour, and a text beside it."""

    label: str
    value: float
    color: str = SERIES[0]
    beside: str = ""


def draw_bars(ax: Axes, bars: Sequence[Bar], *, height: float = 0.5, top: float = 0.6) -> None:
    """Draw horizontal bars from zero, one row each, the first on top.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    bars : sequence of Bar
        A value that is NaN is written out as "not estimable".
    height : float
        Of a bar, as a share of its row.
    top : float
        Room above the first row, in rows.

    Examples
    --------
    >>> from gnomon.plot import Bar, draw_bars, new_drawing
    >>> ax = new_drawing(4, 2).subplots()
    >>> draw_bars(ax, [Bar("algebra", 0.04), Bar("logic", -0.01)])
    >>> [float(patch.get_width()) for patch in ax.patches]
    [0.04, -0.01]
    """
    dress(ax, grid="x")
    name_rows(ax, [in_lines(bar.label, 30, 2) for bar in bars], top=top)
    ax.axvline(0.0, color=MUTED, linewidth=1.2)
    for row, bar in enumerate(bars):
        if not math.isfinite(bar.value):
            write_in_row(ax, row)
            continue
        ax.barh(row, bar.value, height=height, color=bar.color, alpha=0.75, linewidth=0)
        if bar.beside:
            side = 4 if bar.value >= 0 else -4
            ax.annotate(
                bar.beside, (bar.value, row), xytext=(side, 0), textcoords="offset points",
                ha="left" if side > 0 else "right", va="center", color=MUTED, fontsize=SIZE - 1,
            )  # fmt: skip
    ax.margins(x=0.18)
    mark_numbers(ax.xaxis, most=5)
