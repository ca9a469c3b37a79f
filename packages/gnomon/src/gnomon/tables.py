"""Tables of records: as text for a terminal, as HTML for a notebook, as LaTeX for a paper."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gnomon.errors import visible

Record = Mapping[str, Any]

#: Columns of p-values, which no table gives more digits of than they bear.
P_VALUES = ("p_value", "p_adjusted", "p_equivalence")
#: Of longer tables the first rows are printed: Rich takes milliseconds for each.
MOST_ROWS = 200
#: Below this a p-value is a bound: tails so thin are those of the model rather than of the data.
LEAST_P = 1e-4


def p_value(p: float, equal: str = "") -> str:
    """Return a p-value as sentences and figures print it, with a bound instead of needless digits.

    `equal` stands before what is no bound.

    Examples
    --------
    >>> f"p {p_value(0.0042, '= ')}"
    'p = 0.004'
    >>> [p_value(p) for p in (1e-9, 0.00042, 0.0042, 0.3, 0.9999, float("nan"))]
    ['< 0.0001', '0.0004', '0.004', '0.30', '> 0.99', 'not estimable']
    """
    if math.isnan(p):
        return "not estimable"
    if p < LEAST_P:
        return f"< {LEAST_P:.4f}"
    if p > 0.99:
        return "> 0.99"
    digits = 4 if p < 0.001 else 3 if p < 0.1 else 2
    return f"{equal}{p:.{digits}f}"


def text_table(
    records: Sequence[Record], columns: Sequence[str], *, title: str | None = None, width: int = 200
) -> str:
    """Return records as a table in plain text, numbers to the right; no number is ever cut.

    Of more than 200 records the first 200 are shown, and a line with the number of the others.

    Parameters
    ----------
    records : sequence of mappings
        One a row.
    columns : sequence of str
        Which of their keys are shown, in this order.
    title : str, optional
        What stands above.
    width : int
        Columns of the terminal; longer text is broken, longer numbers are not.

    Examples
    --------
    >>> print(text_table([{"name": "dqn", "value": 0.25}, {"name": "ppo", "value": None}],
    ...                  ["name", "value"]))
     name   value
     ────────────
     dqn     0.25
     ppo        -
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    shown = records[:MOST_ROWS]
    head = None if title is None else visible(title)
    table = Table(title=head, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        is_number = all(isinstance(record[name], int | float | None) for record in shown)
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(visible(name), justify=justify, no_wrap=is_number)
    for record in shown:
        table.add_row(*(_text_cell(record[name], name) for name in columns))
    out = io.StringIO()
    # In a notebook Rich would also display the table itself; force_jupyter=False prevents that.
    console = Console(
        file=out,
        width=width,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
    )
    # Rather a line that the terminal breaks than a number that is cut.
    console.width = max(console.width, console.measure(table).maximum)
    console.print(table)
    text = "\n".join(map(str.rstrip, out.getvalue().splitlines())).strip("\n")
    n_more = len(records) - len(shown)
    return f"{text}\n … and {n_more:,} more rows" if n_more else text


def html_table(
    records: Sequence[Record],
    columns: Sequence[str],
    *,
    title: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return records as an HTML table, every text escaped; what a notebook shows.

    Examples
    --------
    >>> print(html_table([{"name": "a<b", "value": 0.5}], ["name", "value"]))
    <table><thead><tr><th>name</th><th>value</th></tr></thead><tbody>
    <tr><td>a&lt;b</td><td style="text-align: right">0.5</td></tr>
    </tbody></table>
    """
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    rows = "\n".join(
        "<tr>" + "".join(_html_cell(record[name], name) for name in columns) + "</tr>"
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
        " & ".join(_interval(r) if n == "interval" else _latex_cell(r[n], n) for n in names)
        + r" \\"
        for r in records
    ]
    letters = "".join("l" if n == "interval" or _is_text(records, n) else "r" for n in names)
    head = " & ".join(_escaped(name) for name in names) + r" \\"
    begin = rf"\begin{{tabular}}{{{letters}}}"
    return "\n".join(
        [begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    )


def _is_text(records: Sequence[Record], name: str) -> bool:
    return any(not isinstance(record[name], int | float | None) for record in records)


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
    words |= {letter: "\\" + letter for letter in "&%$#_{}"}
    return "".join(words.get(letter, letter) for letter in visible(text, kept="\xa0"))


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
        return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(_text_cell(one, name) for one in value)
    return visible(str(value), kept="\xa0")
