from .board_drawing import draw_board as draw_board
from .figures import box_plots as box_plots
from .figures import median_curves as median_curves
from .findings import findings_of as findings_of
from .page import report as report

__all__ = [
    "box_plots",
    "draw_board",
    "findings_of",
    "median_curves",
    "report",
]
