"""How the statistics verbs show what they found: a table, LaTeX for a paper, a figure in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._io.tables import latex_table
from gnomon.cli.answer import Answer

if TYPE_CHECKING:
    from gnomon.plot.record import Figure

__all__ = ["present"]

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
