from .board_drawing import draw_board as draw_board
from .findings import Duel as Duel
from .findings import Findings as Findings
from .findings import findings_of as findings_of
from .run_report import report as report
from .run_report import write_report as write_report

__all__ = [
    "Duel",
    "Findings",
    "draw_board",
    "findings_of",
    "report",
    "write_report",
]
