"""Tables of records: as text for a terminal, as HTML for a notebook, as LaTeX for a paper."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from gnomon.errors import visible

Record = Mapping[str, Any]

#: Of longer tables the first rows are printed.
MOST_ROWS = 200
#: Blanks between columns, and letters that a column of texts keeps.
_GAP, _LEAST_TEXT = 3, 8
#: A smaller p-value is printed as a bound: tails so thin belong to the model, not to the data.
LEAST_P = 1e-4


def p_value(p: float, equal: str = "") -> str:
    """Return a p-value as sentences and figures print it, with a bound instead of needless digits.

    `equal` is written before a value that is not a bound.
    """
    if math.isnan(p):
        return "not estimable"
    if p < LEAST_P:
        return f"< {LEAST_P:.4f}"
    if p > 0.99:
        return "> 0.99"
    digits = 4 if p < 0.001 else 3 if p < 0.1 else 2
    return f"{equal}{p:.{digits}f}"


def number(value: float) -> str:
    """Return a number with about three digits and separated thousands, or words if it is infinite.

    Examples
    --------
    >>> [number(x) for x in (1234.5, 56.78, 0.1234, 0.0, float("inf"), float("nan"))]
    ['1,234', '56.8', '0.123', '0', 'not reached', 'not estimable']
    """
    if math.isnan(value):
        return "not estimable"
    if math.isinf(value):
        return "not reached"
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def four_digits(value: float) -> str:
    """Return a number as tables print it.

    Examples
    --------
    >>> [four_digits(x) for x in (12345.6, 0.123456, 3e-5)]
    ['12346', '0.1235', '3e-05']
    """
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def percent(share: float) -> str:
    """Return a share as sentences print it."""
    return f"{100.0 * share:.4g} %"


def text_table(
    records: Sequence[Record], columns: Sequence[str], *, title: str | None = None, width: int = 200
) -> str:
    """Return records as a table in plain text, with numbers right-aligned and never truncated.

    Of more than 200 records, the first 200 and the number of the others are shown.

    Parameters
    ----------
    records : sequence of mappings
        One a row.
    columns : sequence of str
        Which of their keys are shown, in this order; one that no record has is an error.
    title : str, optional
        A line above the table.
    width : int
        Columns of the terminal; longer texts are wrapped, numbers are not.

    Examples
    --------
    >>> print(text_table([{"name": "dqn", "value": 0.25}, {"name": "ppo", "value": None}],
    ...                  ["name", "value"]))
     name   value
     ────────────
     dqn     0.25
     ppo        -
    """
    for name in columns if records else ():
        if not any(name in record for record in records):
            raise KeyError(f"no record has a column {name!r}")
    shown = records[:MOST_ROWS]
    cells = [[_text_cell(record.get(name), name) for name in columns] for record in shown]
    right = [all(isinstance(r.get(name), int | float | None) for r in shown) for name in columns]
    heads = [visible(name) for name in columns]
    widths = [max(map(_width, column)) for column in zip(heads, *cells, strict=True)]
    # A number is never broken: the widest text gives way, a word at a time.
    texts = [i for i, is_number in enumerate(right) if not is_number]
    while texts and _total(widths) > width:
        widest = max(texts, key=lambda i: widths[i])
        if widths[widest] <= _LEAST_TEXT:
            break
        widths[widest] -= 1
    lines = [] if title is None else [*_broken(visible(title), max(width, 20)), ""]
    lines += _row(heads, widths, right)
    lines.append(" " + "─" * (_total(widths) - 1))
    for row in cells:
        lines += _row(row, widths, right)
    n_more = len(records) - len(shown)
    lines += [f" … and {n_more:,} more rows"] if n_more else []
    return "\n".join(map(str.rstrip, lines))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1) + 1


def _row(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a row: a text that is too long is broken."""
    broken = [
        [cell] if is_number else _broken(cell, width)
        for cell, width, is_number in zip(cells, widths, right, strict=True)
    ]
    for parts in zip_longest(*broken, fillvalue=""):
        padded = []
        for part, width, is_number in zip(parts, widths, right, strict=True):
            room = " " * max(width - _width(part), 0)
            padded.append(room + part if is_number else part + room)
        yield " " + (" " * _GAP).join(padded)


def _broken(text: str, width: int) -> list[str]:
    """Return a text in lines of a width, broken at blanks, or where it must be."""
    lines = []
    for line in text.split("\n"):
        while _width(line) > width:
            fits = next(n for n in range(len(line), 0, -1) if _width(line[:n]) <= width or n == 1)
            blank = line.rfind(" ", 1, fits + 1)
            at = blank if blank > 0 else fits
            lines.append(line[:at])
            line = line[at:].lstrip(" ")
        lines.append(line)
    return lines


def _width(text: str) -> int:
    """Return the columns of a terminal that a text takes: two for a wide letter."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def html_table(
    records: Sequence[Record],
    columns: Sequence[str],
    *,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return records as an HTML table, every text escaped; what a notebook shows."""
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    rows = "\n".join(
        "<tr>" + "".join(_html_cell(record.get(name), name) for name in columns) + "</tr>"
        for record in records
    )
    table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"
    return "\n".join([table, *(f"<p>{html.escape(note)}</p>" for note in notes)])


def latex_table(records: Sequence[Record], columns: Sequence[str]) -> str:
    r"""Return a table for a paper (booktabs): an interval stands in brackets after its value.

    Examples
    --------
    >>> print(latex_table([{"name": "a_b", "value": 0.5, "low": 0.25, "high": None}],
    ...                   ["name", "value", "low", "high"]))
    \begin{tabular}{lrl}
    \toprule
    name & value & interval \\
    \midrule
    a\_b & $0.5$ & -- \\
    \bottomrule
    \end{tabular}
    """
    with_interval = {"low", "high"} <= set(columns)
    names = [
        "interval" if n == "low" else n for n in columns if not (with_interval and n == "high")
    ]
    rows = [
        " & ".join(_interval(r) if n == "interval" else _latex_cell(r.get(n), n) for n in names)
        for r in records
    ]
    numbers = [n for n in columns if all(isinstance(r.get(n), int | float | None) for r in records)]
    letters = "".join("r" if name in numbers else "l" for name in names)
    return _booktabs(letters, names, rows)


def latex_rows(
    columns: Sequence[str],
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    bold: Sequence[Sequence[bool]],
) -> str:
    """Return a LaTeX table (booktabs) of texts, with the names of its rows in the first column."""

    def shown(cell: str, is_bold: bool) -> str:
        text = re.sub(r"-(?=\d)", "$-$", _escaped(cell))
        return rf"\textbf{{{text}}}" if is_bold else text

    rows = [
        " & ".join([_escaped(str(head)), *map(shown, row, marks)])
        for head, row, marks in zip(heads, cells, bold, strict=True)
    ]
    return _booktabs("l" + "r" * (len(columns) - 1), columns, rows)


def _booktabs(letters: str, columns: Sequence[str], rows: Sequence[str]) -> str:
    head = " & ".join(map(_escaped, columns))
    lines = [rf"\begin{{tabular}}{{{letters}}}", r"\toprule", rf"{head} \\", r"\midrule"]
    return "\n".join([*lines, *(rf"{row} \\" for row in rows), r"\bottomrule", r"\end{tabular}"])


def value_in_brackets(
    value: float, low: float, high: float, missing: str = "(interval not estimable)"
) -> str:
    """Return a value with its interval in brackets, as far as they exist."""
    if not math.isfinite(value):
        return "not estimable"
    if math.isnan(low) or math.isnan(high):
        return f"{_digits(value)} {missing}"
    return f"{_digits(value)} [{_digits(low)}, {_digits(high)}]"


def _interval(record: Record) -> str:
    if record["low"] is None or record["high"] is None:
        return "--"
    return f"$[{_digits(record['low'])}, {_digits(record['high'])}]$"


def _digits(value: float) -> str:
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def _latex_cell(value: Any, name: str) -> str:
    if value is None:
        return "--"
    if _is_bound(value, name):
        return f"${p_value(value)}$"
    if isinstance(value, int | float):
        return f"${_digits(value)}$"
    return _escaped("--".join(map(str, value)) if isinstance(value, list) else str(value))


def _escaped(text: str) -> str:
    """Return a text as LaTeX prints it, on one line; what does not print, as an escape."""
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    words |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    words |= {letter: "\\" + letter for letter in "&%$#_{}"}
    found = "".join(words.get(letter, letter) for letter in visible(text, kept="\xa0"))
    # The end of a row would take these as its options.
    return f"{{{found[0]}}}{found[1:]}" if found.startswith(("[", "*")) else found


def _is_bound(value: Any, name: str) -> bool:
    """Return whether a p-value, which a column named `p_...` holds, is too small for a number."""
    return name.startswith("p_") and isinstance(value, float) and value < LEAST_P


def _html_cell(value: Any, name: str) -> str:
    right = ' style="text-align: right"' if isinstance(value, int | float | None) else ""
    return f"<td{right}>{html.escape(_text_cell(value, name))}</td>"


def _text_cell(value: Any, name: str) -> str:
    """Return a value as people read it: four digits at least, a dash for nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if _is_bound(value, name):
        return p_value(value)
    if isinstance(value, float):
        return four_digits(value)
    if isinstance(value, list | tuple):
        return ", ".join(_text_cell(one, name) for one in value)
    return visible(str(value), kept="\xa0")
