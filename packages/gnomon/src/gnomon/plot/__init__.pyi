from . import labels as labels
from . import style as style
from .dots import Bar as Bar
from .dots import Dot as Dot
from .dots import draw_bars as draw_bars
from .dots import draw_dots as draw_dots
from .figure import Figure as Figure
from .figure import Panel as Panel
from .figure import frame as frame
from .lines import Line as Line
from .lines import draw_lines as draw_lines
from .maps import draw_map as draw_map

__all__ = [
    "Bar",
    "Dot",
    "Figure",
    "Line",
    "Panel",
    "draw_bars",
    "draw_dots",
    "draw_lines",
    "draw_map",
    "frame",
    "labels",
    "style",
]
