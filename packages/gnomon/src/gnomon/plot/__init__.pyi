from .bars import Bar as Bar
from .bars import draw_bars as draw_bars
from .dots import Dot as Dot
from .dots import draw_dots as draw_dots
from .figure import Figure as Figure
from .figure import Panel as Panel
from .figure import frame as frame
from .labels import in_lines as in_lines
from .labels import name_rows as name_rows
from .lines import Line as Line
from .lines import draw_lines as draw_lines
from .maps import draw_map as draw_map
from .style import FULL_WIDTH as FULL_WIDTH
from .style import HALF_WIDTH as HALF_WIDTH
from .style import HEIGHT as HEIGHT
from .style import INK as INK
from .style import MUTED as MUTED
from .style import PAPER as PAPER
from .style import SIZE as SIZE
from .style import default_settings as default_settings
from .style import drawing_of as drawing_of
from .style import dress as dress
from .style import mark_numbers as mark_numbers
from .style import new_drawing as new_drawing
from .style import number as number
from .style import series_style as series_style

__all__ = [
    "FULL_WIDTH",
    "HALF_WIDTH",
    "HEIGHT",
    "INK",
    "MUTED",
    "PAPER",
    "SIZE",
    "Bar",
    "Dot",
    "Figure",
    "Line",
    "Panel",
    "default_settings",
    "draw_bars",
    "draw_dots",
    "draw_lines",
    "draw_map",
    "drawing_of",
    "dress",
    "frame",
    "in_lines",
    "mark_numbers",
    "name_rows",
    "new_drawing",
    "number",
    "series_style",
]
