"""The verbs ``rank`` and ``audit``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gnomon.cli.answer import JsonOption, answering, bar_of
from gnomon.cli.options import (
    MOST,
    Level,
    Resamples,
    Resampling,
    ScoreOptions,
    Seed,
    ShowOptions,
    with_groups,
)
from gnomon.cli.sources import Sources

By = Annotated[
    Literal["algorithm", "task"], typer.Option(help="Rank algorithms, or tasks by difficulty.")
]


@with_groups
def rank(
    source: Sources,
    method: Annotated[
        str | None,
        typer.Option(help="Order: win-probability, mean-rank, gohr-ev or kemeny; for items mean."),
    ] = None,
    by: By = "algorithm",
    resampling: Annotated[
        Resampling | None,
        typer.Option(help="Treat the tasks as fixed or as a sample (the default for single runs)."),
    ] = None,
    level: Level = 0.95,
    *,
    scores: ScoreOptions,
    showing: ShowOptions,
) -> None:
    """Rank algorithms or tasks, with intervals of ranks.

    Example:
      gnomon rank scores.csv
      gnomon rank scores.csv --by task --figure ranks.svg
    """
    from gnomon.ranking import rank as ranked

    reads = (*source, scores.normalize)
    with answering("rank", reads=reads, **vars(showing)) as answer:
        table = scores.last(source)
        if by == "algorithm" and table.normalization is not None:
            answer.warn(
                "normalization does not change the ranks of algorithms, which depend only on the "
                "order of scores on each task"
            )
        found = ranked(
            table,
            method,
            by=by,
            level=level,
            resampling=resampling,
        )
        answer.show(found)


@with_groups
def audit(
    source: Sources,
    level: Level = 0.95,
    resamples: Resamples = 2000,
    simulate: Annotated[
        int | None,
        typer.Option(
            max=1000,
            metavar="N_RUNS",
            help="Draw studies of this number of runs from the table, and report the coverage of "
            "intervals and ranks and the power of tests.",
        ),
    ] = None,
    studies: Annotated[
        int | None, typer.Option(max=MOST, help="Number of simulated studies; 200 by default.")
    ] = None,
    seed: Seed = 0,
    *,
    scores: ScoreOptions,
    as_json: JsonOption = False,
) -> None:
    """Audit a table: contents and reliability of its ranks.

    Example:
      gnomon audit scores.csv
      gnomon audit scores.csv --simulate 5
    """
    from dataclasses import replace

    from gnomon.ranking import audit as audited
    from gnomon.results import noted

    with answering("audit", as_json=as_json) as answer:
        with noted() as of_reading:
            table = scores.last(source)
        with bar_of("simulate") as progress:
            found = audited(
                table,
                level=level,
                n_resamples=resamples,
                simulate=simulate,
                n_studies=studies,
                rng=seed,
                progress=progress,
            )
        found = replace(found, warnings=tuple(dict.fromkeys([*of_reading, *found.warnings])))
        answer.results(found.as_records())
        answer.say(str(found))
        # The text already contains them.
        for note in found.warnings if as_json else ():
            answer.warn(note)
