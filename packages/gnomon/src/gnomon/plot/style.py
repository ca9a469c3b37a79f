"""Style of figures: few colours, series that also differ without colour, no global settings.

Every colour has a name that a page turns into a CSS variable, so that the same drawing is readable
on a light and on a dark background (see :mod:`gnomon.plot.figure`). A separate file has the light
colours.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import matplotlib as mpl
import matplotlib.style
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from matplotlib.typing import LineStyleType

from gnomon.printing import number

FloatArray = npt.NDArray[np.float64]

#: Colours of text, of secondary text, of grids and of the background.
INK = "#1f2933"
MUTED = "#5c6773"
GRID = "#e3e7ec"
PAPER = "#ffffff"

#: Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
#: Four steps of one hue, from "no evidence" to "strong evidence".
LEVELS = ("#eff2f6", "#c3d9ec", "#6ea6d3", "#155a92")

_DARK_SERIES = ("#58abe0", "#ff8b4d", "#2fc598", "#e69cc4", "#f2b632", "#9ad6f7")
_DARK_LEVELS = ("#222a35", "#1f4564", "#2a6a98", "#9ccbf0")
#: Colour on a light background -> name of its CSS variable, and colour on a dark background.
THEME: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        INK: ("ink", "#e6e9ee"),
        MUTED: ("muted", "#9aa5b3"),
        GRID: ("grid", "#333c49"),
        PAPER: ("paper", "#171c24"),
        **{SERIES[i]: (f"series-{i}", dark) for i, dark in enumerate(_DARK_SERIES)},
        **{LEVELS[i]: (f"level-{i}", dark) for i, dark in enumerate(_DARK_LEVELS)},
    }
)

#: Size of text in points; a drawing of `HALF_WIDTH` inches is readable on a phone.
SIZE = 9.5
#: Width in inches of a drawing that takes half of a page.
HALF_WIDTH = 4.9
#: Width in inches of a drawing that takes a whole page.
FULL_WIDTH = 10.2
#: Height in inches of a drawing.
HEIGHT = 3.1
_DASHES: tuple[LineStyleType, ...] = ("-", (0, (5, 1.6)), (0, (6, 1.5, 1.2, 1.5)), (0, (1.4, 1.4)))
_MARKERS = ("o", "s", "^", "D", "v", "P")


#: The number of series that colour, dash and marker distinguish.
MOST_STYLES = 20


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """What distinguishes a series: a colour, a dash and a marker."""

    color: str
    dash: LineStyleType
    marker: str


def series_style(index: int) -> SeriesStyle:
    """Return the style of the series of that number, from 0.

    To the twentieth no pair of colour and dash, nor of colour and marker, is used twice.

    Examples
    --------
    >>> series_style(0).marker, series_style(1).marker
    ('o', 's')
    """
    # Each round of colours begins one dash and one marker later than the previous round.
    turn, place = divmod(index, len(SERIES))
    dash = _DASHES[(place + turn) % len(_DASHES)]
    return SeriesStyle(SERIES[place], dash, _MARKERS[(place + turn) % len(_MARKERS)])


#: A dollar sign in a name does not begin a formula.
_PLAIN = {"font.family": "DejaVu Sans", "text.parse_math": False}


@contextmanager
def default_settings() -> Iterator[None]:
    """Ignore the user's Matplotlib settings in this context."""
    with matplotlib.style.context(["default", _PLAIN]), warnings.catch_warnings():
        # Text in an SVG remains text, so that the reader's fonts can supply missing glyphs.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        yield


_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"

#: Characters that XML does not allow, but names in a file of scores may contain.
_NO_XML = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def svg_text(drawing: Drawing, name: str) -> str:
    """Return a drawing as the text of an SVG file.

    The text depends only on the drawing and on `name`, the salt of its ids: it has no date and no
    random ids. Text remains text, so that it can be searched, copied and read aloud.
    """
    out = io.StringIO()
    with default_settings(), mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(_NO_XML, "\ufffd", out.getvalue())
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # The layout was computed with DejaVu Sans, which is wider than all of these: nothing overlaps.
    text = text.replace("font-family: 'DejaVu Sans'; ", "")
    return text.replace("</style>", f"text{{font-family: {_FONTS}}}</style>", 1)


class _Shown(Drawing):
    """A Matplotlib figure that a notebook shows without pyplot, which would keep it in memory."""

    def _repr_svg_(self) -> str:
        return svg_text(self, "drawing")


def new_drawing(width: float, height: float) -> Drawing:
    """Return an empty drawing of that size in inches, without pyplot's global state."""
    return _Shown(figsize=(width, height), facecolor=PAPER, layout="constrained")


def drawing_of(ax: Axes) -> Drawing:
    """Return the whole drawing that axes belong to."""
    drawing = ax.get_figure(root=True)
    if drawing is None:
        raise ValueError("these axes have been removed from their figure")
    return drawing


def dress(ax: Axes, *, grid: Literal["x", "y", "both"] | None = None) -> Axes:
    """Style axes: no frame, muted ticks, and a grid if requested."""
    ax.set_facecolor("none")
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(MUTED)
        spine.set_linewidth(0.8)
    ax.tick_params(which="both", color=MUTED, labelcolor=MUTED, labelsize=SIZE - 1, length=3)
    ax.tick_params(axis="y", length=0)
    if grid:
        ax.grid(visible=True, axis=grid, color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
    for text in (ax.xaxis.label, ax.yaxis.label):
        text.set_color(MUTED)
        text.set_fontsize(SIZE)
    ax.title.set_color(INK)
    return ax


def mark_numbers(*axes: Axis, most: int | None = None, whole: bool = False) -> None:
    """Mark an axis with round numbers, about `most` of them if given; millions as M.

    Examples
    --------
    >>> ax = new_drawing(3, 2).subplots()
    >>> mark_numbers(ax.xaxis, most=2)
    >>> ax.xaxis.get_major_formatter().format_ticks([0, 5e5, 1e6])
    ['0', '500k', '1M']
    """
    for axis in axes:
        if most is not None:
            axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole))
        axis.set_major_formatter(_TickLabels(useOffset=False, useMathText=False))


_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


class _TickLabels(ScalarFormatter):
    """The labels of an axis, with a unit if one is ten thousand or more."""

    def format_ticks(self, values: Iterable[float]) -> list[str]:
        ticks = [float(x) for x in values]
        if not 1e4 <= max(map(abs, ticks), default=0.0) < 1e15:
            return super().format_ticks(ticks)
        return [f"{x / unit:.10g}{letter}" for x in ticks for unit, letter in [_unit(x)]]


def _unit(value: float) -> tuple[float, str]:
    """Return the largest unit that a number has, and its letter."""
    return next(((unit, letter) for unit, letter in _UNITS if abs(value) >= unit), (1.0, ""))


def short_number(value: float) -> str:
    """Return :func:`gnomon.printing.number` for a drawing, millions with a unit.

    Examples
    --------
    >>> short_number(1234.5), short_number(-1_234_567), short_number(2.5e9)
    ('1,234', '-1.23M', '2.5B')
    """
    if not 1e6 <= abs(value) < math.inf:
        return number(value)
    unit, letter = _unit(value)
    return f"{float(f'{value:.3g}') / unit:g}{letter}"
