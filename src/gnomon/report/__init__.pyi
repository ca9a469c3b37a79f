from .audit_page import audit_report as audit_report
from .board_drawing import draw_board as draw_board
from .distillation_page import distillation_report as distillation_report
from .evaluation_page import evaluation_report as evaluation_report
from .findings import Findings as Findings
from .findings import findings_of as findings_of
from .markdown import report_markdown as report_markdown
from .page import Answer as Answer
from .page import Report as Report
from .page import Section as Section
from .page import Table as Table
from .page import report_html as report_html
from .reports import report as report
from .reports import write_report as write_report
from .scores_page import scores_report as scores_report

__all__ = [
    "Answer",
    "Findings",
    "Report",
    "Section",
    "Table",
    "audit_report",
    "distillation_report",
    "draw_board",
    "evaluation_report",
    "findings_of",
    "report",
    "report_html",
    "report_markdown",
    "scores_report",
    "write_report",
]
