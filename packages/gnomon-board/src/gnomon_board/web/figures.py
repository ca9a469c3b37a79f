"""Figures of pages as SVG in the address of an image.

A figure is part of its page, and is cached with the page. It is drawn in another process, which
computes the medians beside it too.
"""

from __future__ import annotations

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
    from gnomon.stats import median_interval
    from gohr.run_page import median_curves

    lines = []
    for rule, of_rule in curves.items():
        middle, low, high = median_interval(of_rule, level=LEVEL)
        if np.isnan(low).any():
            low = high = middle
        lines.append(Line(rule, np.arange(1.0, 1 + middle.size), middle, low, high))
    lines.sort(key=lambda line: -line.y[-1])
    shown, alt = lines[:_MOST_CURVES], "Errors so far, episode by episode, on each rule"
    figure = _figure(lambda: median_curves(shown), alt, len(lines) - len(shown)) if shown else None
    return [Number.median(each) for each in errors.values()], figure


def rule_figure(errors: Mapping[str, Sequence[float]]) -> tuple[list[Number], PageFigure | None]:
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
