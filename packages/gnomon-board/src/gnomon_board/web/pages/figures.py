"""Figures of pages as SVG in the address of an image.

A figure is part of its page, and is cached with the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from gnomon.stats import Profiles
    from gohr.run_page import MedianCurve

#: Matplotlib's settings are global in the process.
_DRAWING = Lock()


@dataclass(frozen=True, slots=True)
class PageFigure:
    """The address of an image, and what it shows in words."""

    address: str
    alt: str


def curve_figure(
    curves: Sequence[MedianCurve], alt: str, *, xlabel: str = "", ylabel: str = ""
) -> PageFigure | None:
    """Draw median curves of the errors so far; None if there are none."""
    from gnomon.plot import drawing_of
    from gohr.run_page import median_curves

    def draw() -> Drawing:
        axes = median_curves(curves)
        axes.set_xlabel(xlabel or axes.get_xlabel())
        axes.set_ylabel(ylabel or axes.get_ylabel())
        return drawing_of(axes)

    return _figure(draw, alt) if curves else None


def profile_figure(profiles: Profiles | None, alt: str) -> PageFigure | None:
    """Draw profiles of learners; None if there are none."""
    if not profiles:
        return None

    def draw() -> Drawing:
        drawing: Drawing = profiles.plot()
        axes = drawing.axes[0]
        axes.set_xlabel("errors of a trial")
        axes.set_ylabel("share of trials with at most this many")
        return drawing

    return _figure(draw, alt)


def box_figure(runs: Mapping[str, Sequence[float]], alt: str) -> PageFigure | None:
    """Draw the errors of each learner's trials as a box with dots; None if there are none."""
    from gnomon.plot import drawing_of
    from gohr.run_page import box_plots

    return _figure(lambda: drawing_of(box_plots(runs)), alt) if runs else None


def _figure(draw: Callable[[], Drawing], alt: str) -> PageFigure:
    from gnomon.plot import Figure

    with _DRAWING:
        svg = Figure("figure", "", "", alt, draw, ()).as_bytes("svg")
    return PageFigure(f"data:image/svg+xml,{quote(svg)}", alt)
