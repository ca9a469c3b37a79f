"""The ranking verbs: ``gnomon rank``, ``compare-pairs``, ``orders-by-method`` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.options import (
    Latex,
    Level,
    NormalizedScores,
    ReadOptions,
    Seed,
    ShowOptions,
    with_groups,
)
from gnomon.cli.progress import announce_seconds, waiting
from gnomon.cli.sources import Sources, places_of, single_place
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

# One resample has no spread.
Resamples = Annotated[int, typer.Option(min=2, help="Bootstrap resamples.")]
By = Annotated[
    Literal["algorithm", "task"], typer.Option(help="Rank algorithms, or tasks by difficulty.")
]

#: Options of earlier versions of `gnomon rank`, and the verbs that do the same.
_NOW_VERBS = {
    "--pairs": "compare-pairs",
    "--methods": "orders-by-method",
    "--classes": "difficulty-classes",
    "--critical-difference": "critical-difference --test",
}
#: Kemeny's order of forty may take as long.
_WAITING = "ranking by every method; Kemeny's may take 10 minutes"


class RankCommand(TyperCommand):
    """`gnomon rank`, which names the verb for an option that it no longer has."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse what has become a verb of its own."""
        for option in [arg.partition("=")[0] for arg in args]:
            if option in _NOW_VERBS:
                verb = _NOW_VERBS[option]
                raise GnomonError(f"rank has no option {option}: gnomon {verb} does that")
        return super().parse_args(ctx, args)


@with_groups
def rank(
    source: Sources,
    method: Annotated[
        str | None,
        typer.Option(help="hodge (of tasks), item_mean (of items), gohr-ev, bradley-terry, ..."),
    ] = None,
    by: By = "algorithm",
    marginal: Annotated[
        bool, typer.Option("--marginal", help="Rank intervals that hold one by one.")
    ] = False,
    resample_tasks: Annotated[
        bool, typer.Option("--resample-tasks", help="For a statement about tasks not tried.")
    ] = False,
    best_of: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Of how many candidates each is the best: corrected."),
    ] = None,
    level: Level = 0.95,
    resamples: Resamples = 1000,
    threads: Annotated[int, typer.Option(min=1, help="Threads that resample.")] = 1,
    seed: Seed = 0,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Rank algorithms (or tasks), with intervals of ranks and groups that are not separated."""
    from gnomon.ranking import rank as ranked

    with answering("rank", as_json=as_json) as answer:
        table = _table(answer, source, scores, reading, by)
        _announce(table, resamples, by)
        found = ranked(
            table,
            method,
            by=by,
            level=level,
            resampling="runs_and_tasks" if resample_tasks else None,
            n_resamples=resamples,
            marginal=marginal,
            best_of=best_of,
            n_threads=threads,
            rng=seed,
        )
        answer.show(found, **vars(showing))


def _announce(table: ScoreTable, n_resamples: int, by: str) -> None:
    """Say about how long a ranking takes, if that is long."""
    from gnomon.ranking.ranks.resampled_ratings import expected_seconds

    if table.units == "items" and by == "algorithm":
        return  # In closed form.
    cells = len(table.algorithms), len(table.tasks)
    n, n_grounds = cells if by == "algorithm" else cells[::-1]
    seconds = expected_seconds(n, n_grounds, len(table) / (n * n_grounds), n_resamples)
    announce_seconds(f"{n:,} {by}s, {n_resamples:,} resamples", seconds)


@with_groups
def rank_distribution(
    source: Sources,
    by: By = "algorithm",
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Say how often one run of each algorithm has each rank, averaged over tasks."""
    from gnomon.ranking import rank_distribution as distributed

    with answering("rank-distribution", as_json=as_json) as answer:
        found = distributed(_table(answer, source, scores, reading, by), by=by)
        answer.show(found, **vars(showing))


@with_groups
def compare_pairs(
    source: Sources,
    by: By = "algorithm",
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Compare every pair, run against run: P(better), ease ratio and Mann-Whitney test."""
    from gnomon.ranking import compare_pairs as compared

    with answering("compare-pairs", as_json=as_json) as answer:
        found = compared(_table(answer, source, scores, reading, by), by=by)
        answer.show(found, **vars(showing))


@with_groups
def orders_by_method(
    source: Sources,
    by: By = "algorithm",
    latex: Latex = False,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Rank by every method side by side, to see whether the order depends on it."""
    from gnomon.ranking import orders_by_method as ordered

    with answering("orders-by-method", as_json=as_json) as answer:
        table = _table(answer, source, scores, reading, by)
        with waiting(_WAITING):
            found = ordered(table, by=by)
        answer.show(found, latex=latex)


@with_groups
def difficulty_classes(
    source: Sources,
    seed: Seed = 0,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Sort tasks into classes of difficulty, and say how many of them each algorithm learns."""
    from gnomon import ranking

    with answering("difficulty-classes", as_json=as_json) as answer:
        table = _table(answer, source, scores, reading, "task")
        classes = ranking.difficulty_classes(table, rng=seed)
        answer.show(classes)
        answer.show(ranking.generality(table, classes))


@with_groups
def critical_difference(
    source: Sources,
    test: Annotated[
        Literal["wilcoxon-holm", "nemenyi"], typer.Option(help="What separates two.")
    ] = "wilcoxon-holm",
    by: By = "algorithm",
    level: Level = 0.95,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Compare mean ranks over common tasks, and say whom a test does not separate."""
    from gnomon.ranking import critical_difference as compared

    with answering("critical-difference", as_json=as_json) as answer:
        table = _table(answer, source, scores, reading, by, needs_scale=True)
        found = compared(table, by=by, test=test, level=level)
        if by == "algorithm" and found.settings["differences"] == "wins":
            _warn_of_scale(answer, table)
        answer.show(found, **vars(showing))


@with_groups
def audit(
    source: Sources,
    out: Annotated[
        Path | None, typer.Option(help="Write a page, its figures and the text to this folder.")
    ] = None,
    level: Level = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Audit anybody's table of scores: what it holds, and which of its ranks can be believed."""
    from dataclasses import replace

    from gnomon.ranking import audit as audited
    from gnomon.report.reports import name_of
    from gnomon.results import noted

    with answering("audit", as_json=as_json) as answer:
        with noted() as of_reading:
            table = scores.last(source, reading)
        with waiting(_WAITING):
            found = audited(table, level=level, n_resamples=resamples, rng=seed)
        found = replace(found, warnings=tuple(dict.fromkeys([*of_reading, *found.warnings])))
        answer.results(found.as_records())
        answer.say(str(found))
        # Whoever reads the text has read them there.
        for note in found.warnings if as_json else ():
            answer.warn(note)
        if out is not None:
            page = found.page(name_of(places_of(source))).save(
                out, beside={"audit.txt": f"{found}\n"}
            )
            answer.say(f"\nwritten to {page}")


def _table(
    answer: Answer,
    source: Sequence[str],
    scores: NormalizedScores,
    reading: ReadOptions,
    by: Literal["algorithm", "task"],
    *,
    needs_scale: bool = False,
) -> ScoreTable:
    """Read scores; warn where tasks are compared on scales of their own, or a scale is idle."""
    table = scores.last(source, reading)
    if by == "algorithm" and not needs_scale:
        _warn_of_scale(answer, table)
    if by == "task" and table.normalization is None:
        _warn_of_own_scales(answer, source, table)
    return table


def _warn_of_scale(answer: Answer, table: ScoreTable) -> None:
    if table.normalization is not None:
        answer.warn("--normalize changes nothing here: only the order of scores on one task counts")


def _warn_of_own_scales(answer: Answer, source: Sequence[str], table: ScoreTable) -> None:
    """Warn where tasks seem to have scales of their own; a score of the game has one for all."""
    from gnomon.experiments.folder.manifest import MANIFEST
    from gnomon.scores.plausibility import own_scales

    place = single_place(source)
    is_run = place is not None and (place / MANIFEST).exists()
    found = None if is_run else own_scales(table)
    if found is not None:
        answer.warn(found)
