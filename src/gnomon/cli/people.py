"""The verbs of people's series: ``gnomon mastery`` and ``gnomon series-curves``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import Level, ReadOptions, Seed, ShowOptions, scores_of, with_groups
from gnomon.cli.sources import Sources
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.experiments.series.measured_series import MeasuredSeries
    from gnomon.scores.table import ScoreTable

NaiveOption = Annotated[
    Literal["random", "mcp1"],
    typer.Option("--p0", help="Of people: who sets the chances: any attempt, or no known failure."),
]


@dataclass(frozen=True)
class SeriesOptions:
    """How series of people are read, and what counts as mastery."""

    target_streak: Annotated[
        int | None, typer.Option(min=1, help="Of people: mastery is so many successes in a row.")
    ] = None
    target_r: Annotated[
        float | None, typer.Option("--target-r", help="Of people: or a likelihood ratio so high.")
    ] = None
    prec_mode: Annotated[
        Literal["naive", "every", "every-cond", "ignore"],
        typer.Option(help="Of people: which series compare, by the rules met before."),
    ] = "naive"
    rule: Annotated[str | None, typer.Option(help="Of people: only series on this rule.")] = None
    rules: Annotated[
        Path | None, typer.Option(help="Of people: the folder of the rules, NAME.txt.")
    ] = None
    trial_lists: Annotated[
        Path | None, typer.Option(help="Of people: the folder of trial lists, PLAN/LIST.csv.")
    ] = None
    as_reference: Annotated[
        bool, typer.Option("--as-reference", help="Of people: as the reference system counts.")
    ] = False

    def measured(
        self, places: Sequence[Path], *, with_chances: bool = False
    ) -> tuple[MeasuredSeries, ...]:
        """Return what the attempts in transcripts say."""
        from gnomon.experiments.series.measured_series import measure_series
        from gnomon.experiments.series.played_series import read_series

        return measure_series(
            read_series(places, trial_lists=self.trial_lists, as_reference=self.as_reference),
            rules=self.rules,
            target_streak=self.target_streak,
            target_r=self.target_r,
            precedence=self.prec_mode,
            rule=self.rule,
            with_chances=with_chances,
            as_reference=self.as_reference,
        )


@with_groups
def mastery(
    source: Sources,
    metric: Annotated[
        Literal["m_star", "m_dagger"],
        typer.Option(
            help="Attempts before mastery; or that less the mean of the player's mastered series."
        ),
    ] = "m_star",
    level: Level = 0.95,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Test every two tasks, corrected by Holm.")
    ] = False,
    tables: Annotated[
        Path | None, typer.Option(help="Write the reference system's three tables to this folder.")
    ] = None,
    *,
    people: SeriesOptions,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Say how many learn each task, how soon, how hard it is, and how much easier after others."""
    from gnomon.ranking.reference_tables import write_ranking_tables
    from gnomon.ranking.task_mastery import mastery as mastered
    from gnomon.results import Results

    with answering("mastery", as_json=as_json) as answer:
        table = _mastery_scores(source, metric, people, reading)
        of_people = {"rule", "preceding"} <= set(table.attributes)
        mode = people.prec_mode
        found = mastered(
            table,
            grouping=mode if of_people and mode in ("naive", "ignore") else "task",
            each=not of_people,
            level=level,
            as_reference=people.as_reference,
        )
        if pairs:
            answer.noted.extend(found.warnings)
            answer.show(Results(found.pairs), latex=showing.latex)
            if showing.figure is not None:
                found.figure().write(showing.figure)
        else:
            answer.show(found, **vars(showing))
        if tables is not None:
            write_ranking_tables(found, tables)
            answer.say(f"written to {tables}")


def _mastery_scores(
    source: Sequence[str], metric: str, people: SeriesOptions, reading: ReadOptions
) -> ScoreTable:
    from gnomon.experiments.series.series_scores import score_series
    from gnomon.experiments.series.transcript_files import hold_attempts

    places = [Path(word) for word in source]
    if hold_attempts(places):
        return score_series(people.measured(places), metric, as_reference=people.as_reference)
    # A tidy file holds one score, which need not be named.
    return scores_of(source, None if metric == "m_star" else metric, reading, default_metric=metric)


@with_groups
def series_curves(
    source: Annotated[
        list[Path], typer.Argument(metavar="SOURCE", help="Transcripts of people, or folders.")
    ],
    curve: Annotated[
        str, typer.Option(help="errors; or aai to aaih, or omega: errors against chance.")
    ] = "aaic",
    axis: Annotated[
        Literal["attempts", "removals"], typer.Option(help="By attempts, or by pieces removed.")
    ] = "removals",
    p0: NaiveOption = "random",
    as_they_are: Annotated[
        bool,
        typer.Option("--as-they-are", help="Do not prolong the curves of those who learned."),
    ] = False,
    random_players: Annotated[
        int,
        typer.Option(min=0, help="So many simulated random players on the boards of each series."),
    ] = 0,
    level: Level = 0.95,
    seed: Seed = 0,
    *,
    people: SeriesOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Follow the errors of people on each rule: median curves with intervals."""
    import numpy as np

    from gnomon.experiments.series.random_players import random_players as simulated
    from gnomon.experiments.series.series_curves import series_curves as drawn
    from gnomon.experiments.series.transcript_files import hold_attempts

    with answering("series-curves", as_json=as_json) as answer:
        if not hold_attempts(source):
            raise ScoreDataError(f"{source[0]}: expected transcripts of people; found none")
        measured = people.measured(source, with_chances=curve != "errors")
        if random_players:
            rng = np.random.default_rng(seed)
            measured += simulated(measured, n=random_players, rules=people.rules, rng=rng)
        found = drawn(
            measured,
            curve,
            axis=axis,
            p0=p0,
            prolonged=not as_they_are,
            level=level,
            as_reference=people.as_reference,
        )
        answer.show(found, **vars(showing))
