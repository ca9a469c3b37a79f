"""The verb ``report``: the page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli import JsonOption, Level, Seed, answering


def report(
    run: Annotated[Path, typer.Argument(help="A run folder, finished or not.", readable=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder; or a .html file, for the page alone, or .md, for a short one. "
            "By default report/ in the run folder."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline rule, if not that of the experiment."),
    ] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    also: Annotated[
        list[str] | None,
        typer.Option(help="Also write each figure as png or pdf; repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the report of a run: a page, figures and their numbers."""
    for kind in also or ():
        if kind not in ("png", "pdf"):
            raise typer.BadParameter(f"expected png or pdf, found {kind!r}", param_hint="--also")
    from gohr.run_page import report as write

    with answering("report", as_json=as_json) as answer:
        page = write(run, out, level=level, seed=seed, baseline=baseline, also=also or ())
        answer.results([{"path": str(page)}])
        answer.say(str(page))
