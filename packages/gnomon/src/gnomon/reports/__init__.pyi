from .page import Answer as Answer
from .page import Report as Report
from .page import Section as Section
from .page import Table as Table
from .reports import report as report
from .reports import try_place as try_place
from .reports import write_page as write_page
from .scores_page import scores_report as scores_report

__all__ = [
    "Answer",
    "Report",
    "Section",
    "Table",
    "report",
    "scores_report",
    "try_place",
    "write_page",
]
