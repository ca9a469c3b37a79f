"""The verb ``score``: scores of runs and score files, and of series that people played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from gnomon._io.tables import MOST_ROWS
from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import Normalize, ReadOptions, normalized, scores_of, with_groups
from gnomon.cli.people import NaiveOption, SeriesOptions
from gnomon.cli.sources import Sources
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable


@with_groups
def score(
    source: Sources,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "--score",
            help="Which score, if not tce of a run or m_star of people.",
        ),
    ] = None,
    normalize: Normalize = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores to this file.")] = None,
    p0: NaiveOption = "random",
    by: Annotated[
        Literal["player", "people"],
        typer.Option(help="Of people: each is an algorithm, or all are runs of one, people."),
    ] = "player",
    series_table: Annotated[
        Path | None, typer.Option(help="Of people: write the reference system's table of series.")
    ] = None,
    *,
    people: SeriesOptions,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Turn the attempts of a run, or of people, into scores, one for each trial or series."""
    with answering("score", as_json=as_json) as answer:
        table = normalized(
            _table(source, metric, _OfPeople(people, p0, by, series_table), reading), normalize
        )
        # Whether attempts on empty cells are errors stands here, for a table of errors.
        origin = "; ".join(table.provenance)
        if out is not None:
            from gnomon.scores.readers.tidy_files import write_scores

            if not out.parent.is_dir():
                raise ScoreDataError(f"{out.parent}: expected a folder to write to; there is none")
            write_scores(table, out)
            if as_json:  # Ten million rows would be three gigabytes that nobody asked for.
                answer.results(table.to_records())
            answer.say(f"{table.describe()}\n{origin}\nwritten to {out}")
        else:
            answer.say(f"{table.scale}; {origin}")
            if as_json or len(table.frame) <= MOST_ROWS:
                answer.records(table.to_records())
            else:
                answer.long_table(table.iter_records, table.frame.columns)


class _OfPeople(NamedTuple):
    """What only series of people are asked for."""

    series: SeriesOptions = SeriesOptions()
    p0: Literal["random", "mcp1"] = "random"
    by: Literal["player", "people"] = "player"
    table: Path | None = None


def _table(
    source: Sequence[str], metric: str | None, people: _OfPeople, reading: ReadOptions
) -> ScoreTable:
    places = [Path(word) for word in source]
    asked = people != _OfPeople()
    if not _is_of_people(places, metric, asked=asked):
        if asked:
            for place in places:
                if not place.exists():
                    raise ScoreDataError(f"{place}: expected transcripts of people; there is none")
        table = scores_of(source, metric, reading)
        if not asked:
            return table
        if people == _OfPeople(by="people") and "player" in table.attributes:
            from gnomon.experiments.series.series_scores import of_all_people

            return of_all_people(table)
        raise ScoreDataError(
            f"{source[0]}: expected transcripts of people, whose series such options as "
            "--target-streak are for; found none"
        )
    if reading != ReadOptions():
        raise ScoreDataError(
            f"{source[0]}: transcripts of people have no options of score files, such as --where"
        )
    from gnomon.experiments.series.series_scores import needs_chances, score_series
    from gnomon.experiments.series.series_tables import write_series_table

    how, metric = people.series, metric or "m_star"
    replayed = needs_chances(metric) or (people.table is not None and how.rules is not None)
    measured = how.measured(places, with_chances=replayed)
    if people.table is not None:
        write_series_table(measured, people.table, p0=people.p0, with_moves=replayed)
    return score_series(measured, metric, p0=people.p0, by=people.by, as_reference=how.as_reference)


def _is_of_people(places: Sequence[Path], metric: str | None, *, asked: bool) -> bool:
    """Tell whether series of people are meant; detailed transcripts are game logs as well."""
    from gnomon.experiments.scoring.trial_scores import METRICS
    from gnomon.experiments.series.transcript_files import hold_attempts
    from gnomon.game.captive_log import is_game_log

    if not hold_attempts(places):
        return False
    return asked or not (metric is None or metric in METRICS) or not all(map(is_game_log, places))
