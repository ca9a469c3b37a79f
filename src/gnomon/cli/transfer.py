"""``gnomon transfer``: what an earlier task saves on a later one, of learners and of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import Level, ReadOptions, ShowOptions, scores_of, with_groups
from gnomon.cli.people import SeriesOptions
from gnomon.cli.progress import check_writable, progress_bar
from gnomon.cli.sources import Sources
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

Metric = Annotated[
    Literal["errors", "m_star"],
    typer.Option(help="errors, or attempts before mastery, which all must have reached."),
]


@with_groups
def transfer(
    source: Sources,
    metric: Metric = "errors",
    near: Annotated[
        list[str] | None,
        typer.Option(metavar="BEFORE:RULE", help="A pair that is near, all others are far."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores to this file.")] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Of phases that are played: keep every attempt in this run folder."),
    ] = None,
    level: Level = 0.95,
    *,
    people: SeriesOptions,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Estimate what a task saves on the next; an experiment with phases is played first."""
    from gnomon.scores.readers.tidy_files import write_scores
    from gnomon.stats.transfer import transfer_effects

    check_writable(out)
    with answering("transfer", as_json=as_json) as answer:
        table = _scores(source, metric, people, reading, run)
        if out is not None:
            write_scores(table, out)
        answer.show(
            transfer_effects(table, near=[_pair(text) for text in near or ()], level=level),
            **vars(showing),
        )


def _pair(text: str) -> tuple[str, str]:
    before, colon, rule = text.rpartition(":")
    if not (before and colon and rule):
        raise GnomonError(f"--near: expected BEFORE:RULE, found {text!r}")
    return before, rule


def _scores(
    source: Sequence[str],
    metric: Literal["errors", "m_star"],
    people: SeriesOptions,
    reading: ReadOptions,
    run: Path | None,
) -> ScoreTable:
    from gnomon.experiments.phases import PHASES, play_phases, read_phase_experiment, score_phases
    from gnomon.experiments.series.series_scores import score_series
    from gnomon.experiments.series.transcript_files import hold_attempts

    places = [Path(word) for word in source]
    if places[0].suffix == ".toml":
        if len(places) > 1:
            raise GnomonError(f"{places[1]}: expected one experiment with phases, found more")
        experiment = read_phase_experiment(places[0])
        with progress_bar("trials") as progress:
            return play_phases(experiment, metric, out=run, progress=progress)
    if run is not None:
        raise GnomonError(f"--run: {places[0]} is no experiment with phases that could be played")
    if (places[0] / PHASES).is_file():
        return score_phases(places[0], metric)
    if hold_attempts(places):
        told_apart = "every" if people.prec_mode in ("naive", "ignore") else people.prec_mode
        people = replace(people, prec_mode=told_apart)
        measured = people.measured(places)
        return score_series(measured, metric, by="people", as_reference=people.as_reference)
    return scores_of(source, None, reading)
