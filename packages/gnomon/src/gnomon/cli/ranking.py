"""The verbs ``rank`` and ``audit``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.options import Level, NormalizedScores, ReadOptions, Seed, ShowOptions, with_groups
from gnomon.cli.sources import Sources, single_place

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

# One resample has no spread.
Resamples = Annotated[int, typer.Option(min=2, help="Bootstrap resamples.")]
By = Annotated[
    Literal["algorithm", "task"], typer.Option(help="Rank algorithms, or tasks by difficulty.")
]


@with_groups
def rank(
    source: Sources,
    method: Annotated[
        str | None,
        typer.Option(
            help="Order: win-probability, mean-rank, bradley-terry, gohr-ev, kemeny; items: mean."
        ),
    ] = None,
    by: By = "algorithm",
    resample_tasks: Annotated[
        bool, typer.Option("--resample-tasks", help="Treat the tasks as a sample.")
    ] = False,
    level: Level = 0.95,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Rank algorithms (or tasks), with intervals of ranks and tiers.

    Example:
      gnomon rank scores.csv
      gnomon rank scores.csv --by task --figure ranks.svg
    """
    from gnomon.ranking import rank as ranked

    with answering("rank", as_json=as_json) as answer:
        table = _table(answer, source, scores, reading, by)
        found = ranked(
            table,
            method,
            by=by,
            level=level,
            resampling="runs_and_tasks" if resample_tasks else None,
        )
        answer.show(found, **vars(showing))


@with_groups
def audit(
    source: Sources,
    level: Level = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Audit a table of scores: what it contains, and how reliable its ranks are.

    Example:
      gnomon audit scores.csv
    """
    from dataclasses import replace

    from gnomon.ranking import audit as audited
    from gnomon.results import noted

    with answering("audit", as_json=as_json) as answer:
        with noted() as of_reading:
            table = scores.last(source, reading)
        found = audited(table, level=level, n_resamples=resamples, rng=seed)
        found = replace(found, warnings=tuple(dict.fromkeys([*of_reading, *found.warnings])))
        answer.results(found.as_records())
        answer.say(str(found))
        # The text already contains them.
        for note in found.warnings if as_json else ():
            answer.warn(note)


def _table(
    answer: Answer,
    source: Sequence[str],
    scores: NormalizedScores,
    reading: ReadOptions,
    by: Literal["algorithm", "task"],
) -> ScoreTable:
    """Read scores; warn where tasks are compared on scales of their own, or a scale is idle."""
    table = scores.last(source, reading)
    if by == "algorithm":
        _warn_of_scale(answer, table)
    if by == "task" and table.normalization is None:
        _warn_of_own_scales(answer, source, table)
    return table


def _warn_of_scale(answer: Answer, table: ScoreTable) -> None:
    if table.normalization is not None:
        answer.warn("--normalize changes nothing here: only the order of scores on one task counts")


def _warn_of_own_scales(answer: Answer, source: Sequence[str], table: ScoreTable) -> None:
    """Warn where tasks seem to have scales of their own."""
    from gnomon.scores.plausibility import own_scales
    from gnomon.scores.readers.registry import reader_of

    place = single_place(source)
    reader = reader_of(place) if place is not None else None
    found = None if reader and reader.common_scale else own_scales(table)
    if found is not None:
        answer.warn(found)
