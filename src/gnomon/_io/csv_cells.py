"""CSV text without formula injection in spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: With these a spreadsheet takes a cell for a formula.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(value: Any) -> Any:
    """Return a value as a cell: text that looks like a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return "'" + text if text.lstrip(" ").startswith(_STARTS) else text


def plain_text(cell: str) -> str:
    """Return the text that :func:`safe_cell` made a cell of."""
    text = cell.removeprefix("'")
    return text if text.lstrip(" ").startswith(_STARTS) else cell


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return records as CSV, with safe cells."""
    out = io.StringIO()
    # All text in quotation marks: a lone carriage return would end a line.
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(row.get(name)) for name in columns])
    return out.getvalue()
