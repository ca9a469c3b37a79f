"""Figures of pages as SVG in the address of an image, and intervals in the column of a table.

A figure is part of its page, and is cached with the page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import quote

from gnomon_board.standings import Number

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from gnomon.plot import Line

#: Matplotlib's settings are global in the process.
_DRAWING = Lock()


@dataclass(frozen=True, slots=True)
class PageFigure:
    """The address of an image, and what it shows in words."""

    address: str
    alt: str


def curve_figure(curves: Sequence[Line], alt: str) -> PageFigure | None:
    """Draw median curves of the errors so far; None if there are none."""
    from gnomon.plot.style import drawing_of
    from gohr.run_page import median_curves

    return _figure(lambda: drawing_of(median_curves(curves)), alt) if curves else None


def box_figure(runs: Mapping[str, Sequence[float]], alt: str) -> PageFigure | None:
    """Draw the errors of each learner's trials as a box with dots; None if there are none."""
    from gnomon.plot.style import drawing_of
    from gohr.run_page import box_plots

    return _figure(lambda: drawing_of(box_plots(runs)), alt) if runs else None


def _figure(draw: Callable[[], Drawing], alt: str) -> PageFigure:
    from gnomon.plot import Figure

    with _DRAWING:
        svg = Figure("figure", "", "", alt, draw, ()).as_bytes("svg")
    return PageFigure(f"data:image/svg+xml,{quote(svg)}", alt)


# -- intervals in a column -------------------------------------------------------------------------

#: Width of the column, and the margin on each side of its scale.
_WIDTH, _MARGIN = 160.0, 6.0


@dataclass(frozen=True, slots=True)
class IntervalColumn:
    """Places of estimates with their intervals on one scale, and ticks with their labels.

    A row is value, low and high, each None where there is none.
    """

    rows: tuple[tuple[float | None, ...], ...]
    ticks: tuple[tuple[float, str], ...]
    width: float = _WIDTH


def intervals(estimates: Sequence[Number | None]) -> IntervalColumn:
    """Lay estimates out on a common scale from 0, or on a logarithmic one if they spread far.

    Examples
    --------
    >>> found = intervals([Number(10.0, 5.0, 20.0), None])
    >>> found.rows[0], found.ticks
    ((80.0, 43.0, 154.0), ((6.0, '0'), (43.0, '5'), (80.0, '10'), (117.0, '15'), (154.0, '20')))
    """
    ends = [(e.value, e.low, e.high) if e else (None, None, None) for e in estimates]
    numbers = [x for each in ends for x in each if x is not None]
    most = max([*numbers, 1.0])
    least = max(min([*numbers, most]), 0.0)
    scale: Callable[[float], float] = float
    if most > 15 * max(least, 1.0):
        scale = math.log1p
        values = [0.0, *(m * 10.0**e for e in range(7) for m in (1, 3))]
        if sum(least <= x <= most for x in values) > 4:
            values = [0.0, *(10.0**e for e in range(7))]
    else:
        least, step = 0.0, 10.0 ** math.floor(math.log10(most / 4))
        step *= next(m for m in (1, 2, 5, 10) if m * step >= most / 4 * (1 - 1e-9))
        values = [i * step for i in range(5)]
    low, unit = scale(least), (_WIDTH - 2 * _MARGIN) / ((scale(most) - scale(least)) or 1.0)

    def place(x: float) -> float:
        return round(_MARGIN + (scale(max(x, least)) - low) * unit, 2)

    return IntervalColumn(
        tuple(tuple(None if x is None else place(x) for x in each) for each in ends),
        tuple((place(x), f"{x:,.10g}") for x in values if least <= x <= most * (1 + 1e-9)),
    )
