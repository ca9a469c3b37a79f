"""``gnomon report``: a run or a table of scores as a page to open in a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.score_options import Normalize

__all__ = ["report"]


def report(
    source: Annotated[
        Path,
        typer.Argument(help="A run folder, a file of scores or a game log.", readable=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder; or a .html file, for the page alone. "
            "Else report/ in the run folder, or NAME-report here."
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--score", help="Which score, where there are several.")
    ] = None,
    normalize: Normalize = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    also: Annotated[
        list[str] | None,
        typer.Option(help="png or pdf: write each figure as that too; repeatable."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, help="Processes; all cores by default.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report: one page, and each figure with its numbers beside it."""
    from gnomon.report.reports import report as write

    for kind in also or ():
        if kind not in ("png", "pdf"):
            raise typer.BadParameter(f"expected png or pdf, found {kind!r}", param_hint="--also")
    with answering("report", as_json=as_json) as answer:
        page = write(
            source,
            out,
            metric=metric,
            normalize=normalize,
            seed=seed,
            also=also or (),
            workers=workers or len(os.sched_getaffinity(0)),
        )
        answer.results([{"path": str(page)}])
        answer.say(str(page))
