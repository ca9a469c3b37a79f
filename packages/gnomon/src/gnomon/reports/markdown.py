"""A report as Markdown: a short page fit for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gnomon.reports.page import Report, Table

#: Rows of a table, and letters of a cell, that a short page shows.
_MOST_ROWS = 20
_LONGEST = 160
#: What Markdown reads as its own anywhere in a line.
_SPECIAL = re.compile(r"([\\`*_\[\]|~])")
#: What it reads as its own at the start of one.
_FIRST = re.compile(r"^(\d*)([-+=#:]|[.)](?=\s|$))")
#: What a code host makes a link or calls a person by; a space of no width stands behind it.
_CALLS = re.compile(r"(@|#|://|\bwww\.)", re.IGNORECASE)


def report_markdown(report: Report) -> str:
    """Return answers, warnings and tables of a report as Markdown.

    Texts come from logs: whatever Markdown, HTML or a code host would take for its own is escaped.
    """
    parts = [f"### {escaped(report.title)}"]
    parts += [
        f"**{escaped(answer.question)}** {' '.join(map(escaped, answer.sentences))}"
        for answer in report.answers
        if answer.sentences
    ]
    if report.notices:
        parts.append("**Warnings**")
        parts.append("\n".join(f"- {escaped(notice)}" for notice in report.notices))
    for section in report.sections:
        for table in section.tables:
            parts += _table(table)
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> Iterator[str]:
    """Yield heading, rows and caption of a table."""
    shown = table.rows[:_MOST_ROWS]
    rows = [table.columns, ("---",) * len(table.columns), *shown]
    yield f"#### {escaped(table.title)}"
    yield "\n".join(_row(row, is_rule=i == 1) for i, row in enumerate(rows))
    more = len(table.rows) - len(shown)
    caption = " ".join([table.caption, *([f"{more} more rows."] if more else [])]).strip()
    if caption:
        yield f"<sub>{escaped(caption)}</sub>"


def _row(cells: Sequence[str], *, is_rule: bool) -> str:
    short = (c if len(c) <= _LONGEST else f"{c[: _LONGEST - 3]}..." for c in cells)
    return f"| {' | '.join(cells if is_rule else map(escaped, short))} |"


def escaped(text: str) -> str:
    """Return a text of one line that Markdown and a code host show as it is."""
    line = " ".join(text.split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _FIRST.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", line))
    return _CALLS.sub("\\1\N{ZERO WIDTH SPACE}", line)
