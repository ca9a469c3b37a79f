from .evaluation_page import evaluation_report as evaluation_report
from .markdown import report_markdown as report_markdown
from .page import Answer as Answer
from .page import Report as Report
from .page import Section as Section
from .page import Table as Table
from .page import report_html as report_html
from .reports import report as report
from .reports import try_place as try_place
from .reports import write_page as write_page
from .scores_page import scores_report as scores_report

__all__ = [
    "Answer",
    "Report",
    "Section",
    "Table",
    "evaluation_report",
    "report",
    "report_html",
    "report_markdown",
    "scores_report",
    "try_place",
    "write_page",
]
