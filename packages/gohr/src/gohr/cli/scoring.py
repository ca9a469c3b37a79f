"""The verbs ``score`` and ``elements``: scores of trials, and what makes a rule harder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli import JsonOption, Level, Seed, ShowOptions, answering, show_scores, with_groups
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon import ScoreTable


@dataclass(frozen=True)
class PeopleOptions:
    """How transcripts of people are scored."""

    target_streak: Annotated[
        int | None,
        typer.Option(min=1, help="Transcripts: successes in a row that count as mastery."),
    ] = None
    target_r: Annotated[
        float | None,
        typer.Option("--target-r", help="Transcripts: likelihood ratio that counts as mastery."),
    ] = None
    rules: Annotated[
        Path | None, typer.Option(help="Transcripts: folder of the rules (NAME.txt).")
    ] = None
    by: Annotated[
        Literal["player", "people"],
        typer.Option(help="Transcripts: each player is an algorithm, or all are runs of one."),
    ] = "player"


@with_groups
def score(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            help="Run folders, result files, or transcripts of people with their boards.",
        ),
    ],
    metric: Annotated[
        str | None, typer.Option("--metric", "--score", help="Score to compute; by default tce.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores to this file.")] = None,
    leave_out_empty_cells: Annotated[
        bool, typer.Option("--leave-out-empty-cells", help="Omit attempts on empty cells.")
    ] = False,
    *,
    people: PeopleOptions,
    as_json: JsonOption = False,
) -> None:
    """Score each trial of a run, or each series of a person.

    Example:
      gohr score run --out scores.csv
      gohr score transcript.csv --metric m_star
    """
    with answering("score", as_json=as_json, reads=source, writes=[out]) as answer:
        table = _table(source, metric, people, not leave_out_empty_cells)
        show_scores(answer, table, out)


@with_groups
def elements(
    run: Annotated[Path, typer.Argument(help="A run folder, finished or not.")],
    baseline: Annotated[
        str | None, typer.Option(help="Baseline rule, if not that of the experiment.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Estimate the effect of this tag; repeatable.")
    ] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    *,
    show: ShowOptions,
) -> None:
    """Compare the errors on each rule with those on a baseline.

    If the rules have tags, and there are more rules than tags, a second table shows the effect of
    each tag on each learner's errors.

    Example:
      gohr elements run --baseline color-match
      gohr elements run --tag memory --tag cell
    """
    from gohr.experiments import Run, tag_effects
    from gohr.experiments import elements as compared

    with answering("elements", reads=[run], **vars(show)) as answer:
        folder = Run.open(run)
        effects = tag_effects(folder, tag, level=level)
        if tag and baseline is None and folder.config.baseline is None:
            answer.show(effects)
            return
        found = compared(folder, baseline, level=level, rng=seed)
        answer.show(found)
        if tag:
            answer.results(effects.as_records())
        if tag or effects:
            answer.noted.extend(effects.warnings)
        if effects:
            answer.table(effects.rows(), effects.columns, title=effects.title)
            answer.say(" ".join(effects.notes))
        for sentence in found.sentences():
            answer.say(sentence)


def _table(
    source: Sequence[str],
    metric: str | None,
    people: PeopleOptions,
    count_empty: bool,
) -> ScoreTable:
    """Return the scores of runs and files, or of the series in transcripts of people."""
    from gnomon import read_scores
    from gohr.experiments import score as score_run
    from gohr.experiments.metrics import metric_named
    from gohr.people.transcripts import is_transcript, read_transcripts, score_series

    places = [Path(word) for word in source]
    found = any(
        is_transcript(path)
        for place in places
        for path in (place.rglob("*.csv") if place.is_dir() else [place])
    )
    if people != PeopleOptions() and not found:
        raise ScoreDataError(f"{places[0]}: expected a transcript of people; found none")
    of_episodes = not metric_named(metric or "tce").of_attempts
    if not count_empty:
        if len(places) > 1:
            given = f"{places[0]} and {len(places) - 1} more"
            raise ScoreDataError(f"--leave-out-empty-cells: expected one run, found {given}")
        return score_run(places[0], metric or "tce", count_empty=False)
    if not found or (people == PeopleOptions() and of_episodes):
        return read_scores(places, metric=metric)
    return score_series(read_transcripts(places), metric or "m_star", **vars(people))
