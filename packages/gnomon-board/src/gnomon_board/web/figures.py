"""Figures of pages as SVG in the address of an image, and intervals in the column of a table.

A figure is part of its page, and is cached with the page. It is drawn in another process, which
computes the medians beside it too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from gnomon_board.standings import LEVEL, Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Most curves in a figure, and learners with a box.
_MOST_CURVES, _MOST_BOXES = 6, 20


@dataclass(frozen=True, slots=True)
class PageFigure:
    """The address of an image, what it shows in words, and how many series had no room."""

    address: str
    alt: str
    n_left_out: int


def learner_figure(
    errors: Mapping[str, Sequence[float]], curves: Mapping[str, Sequence[Sequence[float]]]
) -> tuple[list[Number], PageFigure | None]:
    """Return the median errors on each rule, and median curves of those with the most errors."""
    from gnomon.plot import Line
    from gnomon.stats import median_curve
    from gohr.run_page import median_curves

    lines = []
    for rule, of_rule in curves.items():
        middle, low, high = median_curve(of_rule, level=LEVEL)
        if np.isnan(low).any():
            low = high = middle
        lines.append(Line(rule, np.arange(1.0, 1 + middle.size), middle, low, high))
    lines.sort(key=lambda line: -line.y[-1])
    shown, alt = lines[:_MOST_CURVES], "Errors so far, episode by episode, on each rule"
    figure = _figure(lambda: median_curves(shown), alt, len(lines) - len(shown)) if shown else None
    return [Number.median(each) for each in errors.values()], figure


def rule_figure(
    errors: Mapping[str, Sequence[float]],
) -> tuple[list[Number], PageFigure | None]:
    """Return the median errors of each learner, and a box with dots of the first ones."""
    from gohr.run_page import box_plots

    shown, alt = dict(list(errors.items())[:_MOST_BOXES]), "Errors of every trial of each learner"
    figure = _figure(lambda: box_plots(shown), alt, len(errors) - len(shown)) if shown else None
    return [Number.median(each) for each in errors.values()], figure


def _figure(draw: Callable[[], Axes], alt: str, n_left_out: int) -> PageFigure:
    from gnomon.plot import Figure
    from gnomon.plot.style import drawing_of

    figure = Figure("figure", "", "", alt, lambda: drawing_of(draw()), ())
    return PageFigure(f"data:image/svg+xml,{quote(figure.svg)}", alt, n_left_out)


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

    ticks: list[tuple[float, str]] = []
    for x in values:
        at, label = place(x), f"{x:,.10g}"
        has_room = not ticks or at - ticks[-1][0] > 7 * len(label) + 14
        if has_room and least <= x <= most * (1 + 1e-9):
            ticks.append((at, label))
    rows = (tuple(None if x is None else place(x) for x in each) for each in ends)
    return IntervalColumn(tuple(rows), tuple(ticks))
