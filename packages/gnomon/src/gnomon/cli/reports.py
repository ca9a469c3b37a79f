"""The verb ``report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import Level, ScoreOptions, Seed, with_groups
from gnomon.cli.sources import SourcesAndPair, places_of, sources_and_pair


@with_groups
def report(
    sources: SourcesAndPair,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder, a .html file (the page only) or a .md file (a short page for a pull "
            "request); by default NAME-report in the current folder."
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Items: a column whose groups are compared; repeatable."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    *,
    scores: ScoreOptions,
    as_json: JsonOption = False,
) -> None:
    """Write a report: a page, figures and their numbers.

    Example:
      gnomon report scores.csv --out report.html
    """
    from gnomon.reports.scores_page import name_of, write_report

    alone = [out] if out is not None and out.suffix.lower() in (".html", ".md") else []
    reads = (*sources, scores.normalize)
    with answering("report", as_json=as_json, reads=reads, writes=alone) as answer:
        source, two = sources_and_pair(sources, scores.table)
        written = write_report(
            lambda: scores.normalized(scores.table(source)),
            title or name_of(places_of(source)),
            out,
            pair=two,
            by=by or (),
            level=level,
            seed=seed,
        )
        answer.results([{"path": str(written)}])
        answer.say(str(written))
