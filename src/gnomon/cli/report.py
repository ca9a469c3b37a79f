"""``gnomon report``: a run as a page to open in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering

__all__ = ["report"]


def report(
    folder: Annotated[Path, typer.Argument(help="A run folder.", readable=False)],
    out: Annotated[
        Path | None, typer.Option(help="Where to write; the folder's report/ by default.")
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(help="png or pdf: write each figure as that too; repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the report of a run: one HTML file, and each figure with its numbers beside it."""
    from gnomon.report.page import build_report

    for kind in also or ():
        if kind not in ("png", "pdf"):
            raise typer.BadParameter(f"expected png or pdf, found {kind!r}", param_hint="--also")
    with answering("report", as_json=as_json) as answer:
        page = build_report(folder, out or folder / "report", also=also or ())
        answer.results([{"path": str(page)}])
        answer.say(str(page))
