"""Style of figures: few colours, distinct also without colour, and no global settings.

Every colour has a name that a page turns into a CSS variable, so that the same drawing is readable
on a light and on a dark background (see :mod:`gnomon.plot.figure`). A file
by itself keeps the light colours.
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
from matplotlib.ticker import Formatter, MaxNLocator
from matplotlib.typing import LineStyleType

FloatArray = npt.NDArray[np.float64]

#: Colours of text, of lesser text, of grids and of the paper.
INK = "#1f2933"
MUTED = "#5c6773"
GRID = "#e3e7ec"
PAPER = "#ffffff"

#: Okabe and Ito's colours without black and yellow, which vanish on one of the two papers.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
#: Four steps of one hue, from "no evidence" to "strong evidence".
LEVELS = ("#eff2f6", "#c3d9ec", "#6ea6d3", "#155a92")

_DARK_SERIES = ("#58abe0", "#ff8b4d", "#2fc598", "#e69cc4", "#f2b632", "#9ad6f7")
_DARK_LEVELS = ("#222a35", "#1f4564", "#2a6a98", "#9ccbf0")
#: Colour on light paper -> name of its CSS variable and colour on dark paper.
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
#: Names in one column of a legend.
MOST_IN_COLUMN = 40
#: A longer name, in letters, is cut where it would take the room of a drawing.
LONGEST = 44

_DASHES: tuple[LineStyleType, ...] = ("-", (0, (5, 1.6)), (0, (6, 1.5, 1.2, 1.5)), (0, (1.4, 1.4)))
_MARKERS = ("o", "s", "^", "D", "v", "P")


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """What distinguishes a series: a colour, a dash and a marker.

    Where styles repeat, ``numeral`` is the number of the series, to stand on its line and before
    its name, and else empty.
    """

    color: str
    dash: LineStyleType
    marker: str
    numeral: str = ""

    def named(self, name: str) -> str:
        """Return a name as a legend has it."""
        return f"{self.numeral}: {name}" if self.numeral else name


#: The number of series that colour, dash and marker distinguish.
MOST_STYLES = 20


def series_style(index: int) -> SeriesStyle:
    """Return the style of the series of that number, from 0.

    To the twentieth no pair of colour and dash, nor of colour and marker, is used twice; later ones
    bear their number, from 1.

    Examples
    --------
    >>> series_style(0).marker, series_style(1).marker
    ('o', 's')
    """
    # Each round of colours begins one dash and one marker later than the one before.
    turn, place = divmod(index, len(SERIES))
    dash = _DASHES[(place + turn) % len(_DASHES)]
    marker = _MARKERS[(place + turn) % len(_MARKERS)]
    return SeriesStyle(SERIES[place], dash, marker, str(index + 1) if index >= MOST_STYLES else "")


#: A dollar sign in a name is a dollar sign, and no formula.
_PLAIN = {"font.family": "DejaVu Sans", "text.parse_math": False}


@contextmanager
def default_settings() -> Iterator[None]:
    """Set the user's Matplotlib settings aside for a while, so that they change no report.

    Examples
    --------
    >>> with default_settings():
    ...     drawing = new_drawing(6, 4)
    """
    with matplotlib.style.context(["default", _PLAIN]), warnings.catch_warnings():
        # In an SVG letters stay letters, and the reader's fonts have those that ours lacks.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        yield


_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"

#: Characters that no XML file may hold; a name in a file of scores may.
_NO_XML = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def svg_text(drawing: Drawing, name: str) -> str:
    """Return a drawing as the text of an SVG file.

    The text depends on the drawing and the name alone: no date and no random ids. Letters stay
    letters, so that they can be searched, copied and read aloud.

    ``name`` is the salt of the ids.
    """
    out = io.StringIO()
    with default_settings(), mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(_NO_XML, "\ufffd", out.getvalue())
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # Sizes were reckoned with DejaVu Sans, which is wider than all of these: nothing will overlap.
    text = text.replace("font-family: 'DejaVu Sans'; ", "")
    return text.replace("</style>", f"text{{font-family: {_FONTS}}}</style>", 1)


class _Shown(Drawing):
    """A Matplotlib figure that a notebook shows without pyplot, which would keep it."""

    def _repr_svg_(self) -> str:
        return svg_text(self, "drawing")


def new_drawing(width: float, height: float) -> Drawing:
    """Return an empty drawing of that size in inches, known to no window and no global state.

    Examples
    --------
    >>> new_drawing(6, 4).get_size_inches().tolist()
    [6.0, 4.0]
    """
    return _Shown(figsize=(width, height), facecolor=PAPER, layout="constrained")


def drawing_of(ax: Axes) -> Drawing:
    """Return the whole drawing that axes belong to.

    Examples
    --------
    >>> drawing = new_drawing(6, 4)
    >>> drawing_of(drawing.subplots()) is drawing
    True
    """
    drawing = ax.get_figure(root=True)
    if drawing is None:
        raise ValueError("these axes have been removed from their figure")
    return drawing


def dress(ax: Axes, *, grid: Literal["x", "y", "both"] | None = None) -> Axes:
    """Give axes one look: no frame, muted ticks, and a grid if wanted.

    Examples
    --------
    >>> dress(new_drawing(3, 2).subplots(), grid="y").spines["left"].get_visible()
    False
    """
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
    """Mark an axis with round numbers, about `most` of them if given.

    Examples
    --------
    >>> ax = new_drawing(3, 2).subplots()
    >>> mark_numbers(ax.xaxis, most=2)
    >>> ax.xaxis.get_major_formatter().format_ticks([0, 0.5, 1])
    ['0', '0.5', '1']
    """
    for axis in axes:
        if most is not None:
            axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole))
        axis.set_major_formatter(_TickLabels())


class _TickLabels(Formatter):
    """The labels of an axis, made together, with no more digits than distinguish them."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return tick_labels([x])[0]

    def format_ticks(self, values: Iterable[float]) -> list[str]:
        return tick_labels(values)


_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
#: From here on thousands are written with a unit.
_LONG = 1e4
#: Ticks that span this factor have a unit each.
_WIDE = 1e2


def tick_labels(values: Iterable[float]) -> list[str]:
    """Return the labels of ticks: millions as M, and no more digits than distinguish them.

    Examples
    --------
    >>> tick_labels([0, 50e6, 100e6, 200e6]), tick_labels([0, 500_000, 1_000_000])
    (['0', '50M', '100M', '200M'], ['0', '0.5M', '1M'])
    >>> tick_labels([0.0, 0.25, 0.5]), tick_labels([-2000, 0, 2000])
    (['0', '0.25', '0.5'], ['-2,000', '0', '2,000'])
    >>> tick_labels([1, 100, 1e4, 1e6]), tick_labels([2e-7, 4e-7])
    (['1', '100', '10k', '1M'], ['2e-07', '4e-07'])
    """
    ticks = np.asarray([*values], dtype=np.float64)
    sizes = np.unique(np.abs(ticks[(ticks != 0.0) & np.isfinite(ticks)]))
    if not sizes.size:
        return ["0"] * ticks.size
    steps = np.diff(np.unique(ticks[np.isfinite(ticks)]))
    error = 0.01 * min(float(steps.min()) if steps.size else np.inf, float(sizes[-1]))
    if sizes[-1] < 1e-4 or sizes[-1] >= 1e15:
        return [f"{x:.4g}" for x in ticks]
    own = sizes[-1] >= _WIDE * sizes[0]
    return [_in_unit(x, *_unit(abs(x) if own else float(sizes[-1])), error) for x in ticks]


def _unit(size: float) -> tuple[float, str]:
    """Return the unit in which a number of that size is written, and its letter."""
    return next((pair for pair in _UNITS if size >= max(pair[0], _LONG)), (1.0, ""))


def _in_unit(value: float, unit: float, letter: str, error: float) -> str:
    """Return a number in a unit with as few digits as an error allows."""
    scaled = value / unit
    digits = next((d for d in range(9) if abs(round(scaled, d) - scaled) * unit <= error), 9)
    text = f"{round(scaled, digits) + 0.0:,.{digits}f}"
    return text if text == "0" else text + letter


def number(value: float) -> str:
    """Return a number as a reader wants it: three digits or so, thousands apart, or words.

    Examples
    --------
    >>> [number(x) for x in (1234.5, 56.78, 0.1234, 0.0, float("inf"), float("nan"))]
    ['1,234', '56.8', '0.123', '0', 'not reached', 'not estimable']
    """
    if math.isnan(value):
        return "not estimable"
    if math.isinf(value):
        return "not reached"
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def short_number(value: float) -> str:
    """Return :func:`number` for a drawing, where millions have no room.

    Examples
    --------
    >>> short_number(1234.5), short_number(-1_234_567), short_number(2.5e9)
    ('1,234', '-1.23M', '2.5B')
    """
    if not 1e6 <= abs(value) < 1e15:
        return f"{value:.3g}" if 1e15 <= abs(value) < math.inf else number(value)
    unit, letter = _unit(abs(value))
    return f"{float(f'{value:.3g}') / unit:g}{letter}"
