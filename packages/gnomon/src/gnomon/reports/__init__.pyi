from .page import Answer as Answer
from .page import Report as Report
from .page import Section as Section
from .page import Table as Table
from .page import try_place as try_place
from .scores_page import report as report
from .scores_page import scores_report as scores_report

__all__ = [
    "Answer",
    "Report",
    "Section",
    "Table",
    "report",
    "scores_report",
    "try_place",
]
