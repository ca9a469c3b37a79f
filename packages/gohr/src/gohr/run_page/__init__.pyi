from .board_drawing import draw_board as draw_board
from .error_plots import MedianCurve as MedianCurve
from .error_plots import box_plots as box_plots
from .error_plots import median_curves as median_curves
from .findings import Duel as Duel
from .findings import Findings as Findings
from .findings import findings_of as findings_of
from .page import report as report

__all__ = [
    "Duel",
    "Findings",
    "MedianCurve",
    "box_plots",
    "draw_board",
    "findings_of",
    "median_curves",
    "report",
]
