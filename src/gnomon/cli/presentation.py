"""How the statistics verbs show what they found: a table, LaTeX for a paper, a figure in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli.answer import Answer
from gnomon.excerpt import visible

if TYPE_CHECKING:
    from gnomon.plot.record import Figure

__all__ = ["latex_table", "present"]

Record = Mapping[str, Any]


def present(
    answer: Answer,
    records: Sequence[Record],
    shown: Sequence[Record] | None = None,
    columns: Sequence[str] = (),
    *,
    title: str | None = None,
    latex: bool = False,
    figure: Path | None = None,
    draw: Callable[[], Figure] | None = None,
) -> None:
    """Give records to programs, a shorter table to people, and write a figure if one is wanted."""
    is_drawn = False
    if figure is not None and draw is not None and records:
        draw().write(figure)
        is_drawn = True
    answer.results(records)
    rows = records if shown is None else shown
    names = columns or (list(rows[0]) if rows else [])
    if latex:
        answer.say(latex_table(rows, names))
    else:
        answer.table(rows, names, title=title)
    if figure is not None:
        answer.say(f"written to {figure}" if is_drawn else f"nothing to draw: no {figure} written")


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
        " & ".join(_interval(r) if n == "interval" else _cell(r[n]) for n in names) + r" \\"
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


def _cell(value: Any) -> str:
    if value is None:
        return "--"
    if isinstance(value, int | float):
        return f"${_digits(value)}$"
    return _escaped("--".join(map(str, value)) if isinstance(value, list) else str(value))


def _escaped(text: str) -> str:
    """Return a text as LaTeX prints it, on one line; what does not print, as an escape."""
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    words |= {letter: "\\" + letter for letter in "&%$#_{}"}
    return "".join(words.get(letter, letter) for letter in visible(text, kept="\xa0"))
