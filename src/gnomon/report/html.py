"""From a report to one page of HTML that needs nothing else."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from gnomon.plot.svg import theme_css
from gnomon.report.page import Report

__all__ = ["report_html"]


def report_html(report: Report) -> str:
    """Return a report as the text of a page, with style and drawings inside it.

    All texts are escaped, so that a rule or a learner may bear any name.

    Parameters
    ----------
    report : Report

    Examples
    --------
    >>> page = report_html(Report("a < b", "nothing yet", (), ()))
    >>> "<h1>a &lt; b</h1>" in page, "<script" in page
    (True, False)
    """
    drawings = {figure.name: Markup(figure.html()) for figure in report.figures}
    return _template().render(report=report, drawings=drawings, theme=Markup(theme_css()))


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("gnomon.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2")
