"""``gnomon suite``, second half: what single tasks tell of the others, and of whom they tell it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.long_search import announce, progress_bar
from gnomon.cli.option_groups import with_groups
from gnomon.cli.presentation import present
from gnomon.cli.suite_figures import Picture, drawn
from gnomon.cli.suite_scores import Names, SuiteScores
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.distill.prepared import PreparedScores

__all__ = ["add_to", "components", "correlations", "explained", "fairness", "single"]

Task = Annotated[
    Names, typer.Option("--task", help="A task of the subset, else it is chosen; repeatable.")
]
Size = Annotated[int, typer.Option(min=1, help="Number of tasks, if they are chosen.")]
Procedure = Annotated[str, typer.Option(help="How they are chosen; see gnomon distill.")]


@with_groups
def single(
    categories: Annotated[
        Path | None, typer.Option(help="CSV of task, category: colours of the figure.")
    ] = None,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say how well each task alone predicts the summary."""
    from gnomon.distill.structure import single_tasks

    with answering("suite single", as_json=as_json) as answer:
        data = scores.prepared()
        groups = _categories(scores.source, data, categories)
        found = single_tasks(data)
        draw = drawn("single_task_figure", found, groups)
        present(answer, [asdict(one) for one in found], figure=figure, draw=draw)


@with_groups
def correlations(
    strongest: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 24,
    negative: Annotated[int, typer.Option(min=0, help="And so many most negative ones.")] = 0,
    categories: Annotated[
        Path | None, typer.Option(help="CSV of task, category: colours of the graph.")
    ] = None,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """List the pairs of tasks that go together most, and draw them as a graph."""
    from gnomon.distill.structure import edges

    with answering("suite correlations", as_json=as_json) as answer:
        data = scores.prepared()
        groups = _categories(scores.source, data, categories)
        pairs = edges(data, n_strongest=strongest, n_weakest=negative)
        found = pairs[:strongest]
        if not found:
            raise ScoreDataError("expected two tasks that several algorithms have; there are none")
        draw = drawn("correlation_figure", found, groups)
        present(answer, [asdict(edge) for edge in pairs], figure=figure, draw=draw)


@with_groups
def explained(
    task: Task = None,
    size: Size = 5,
    procedure: Procedure = "factor",
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Predict every task from a subset, and say how much of each that explains."""
    from gnomon.distill.structure import task_models

    with answering("suite explained", as_json=as_json) as answer:
        data = scores.prepared()
        subset = _subset(data, task, size, procedure)
        found = task_models(data, subset)
        records = [
            {
                "task": name,
                "r2": found.r2[name],
                "intercept": model.intercept,
                "weights": list(model.weights),
                "n_rows": model.n_rows,
            }
            for name, model in sorted(found.models.items(), key=lambda item: -found.r2[item[0]])
        ]
        draw = drawn("explained_figure", found, subset)
        present(answer, records, figure=figure, draw=draw)
        if len(subset) < len(data.tasks):
            answer.say(
                f"from {', '.join(subset)}: {found.explained:.1%} of the variance of all tasks, "
                f"{found.explained_others:.1%} of the others; in-sample"
            )


@with_groups
def fairness(
    task: Task = None,
    size: Size = 5,
    procedure: Procedure = "factor",
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say whether low, middle and high algorithms are estimated equally well."""
    from gnomon.distill.procedures.registry import procedure_of
    from gnomon.distill.structure import fairness as compared
    from gnomon.distill.validation import cross_validate

    with answering("suite fairness", as_json=as_json) as answer:
        data = scores.prepared()
        subset = _subset(data, task, size, procedure)
        held = cross_validate(data, procedure_of(procedure), subset)
        predicted, relative = data.target + held.residuals[0], held.relative[0]
        found = compared(predicted, data.target, relative)
        draw = drawn("fairness_figure", data, held)
        present(answer, [asdict(test) for test in found], figure=figure, draw=draw)
        answer.say(f"from {', '.join(subset)}; each algorithm predicted without its fold")


@with_groups
def components(
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """List the principal components of the tasks without gaps."""
    from gnomon.distill.structure import principal_components

    with answering("suite components", as_json=as_json) as answer:
        data = scores.prepared()
        found = principal_components(data)
        pairs = zip(found.explained.tolist(), found.target_correlation.tolist(), strict=True)
        answer.records([
            {"component": i, "explained": share, "target_correlation": r}
            for i, (share, r) in enumerate(pairs, start=1)
        ])  # fmt: skip
        answer.say(
            f"of {len(found.tasks)} tasks without gaps whose scores differ, "
            f"{len(data.algorithms)} algorithms"
        )


def _subset(data: PreparedScores, tasks: Names, size: int, procedure: str) -> tuple[str, ...]:
    """Return the tasks that were named, or those that a procedure chooses."""
    from gnomon.distill.procedures.registry import procedure_of

    if not tasks:
        chooser = procedure_of(procedure)
        with progress_bar("subsets") as progress:
            announce(data, size, [procedure], 1)
            return chooser.choose(data, size, progress=progress)[0]
    data.columns(tasks)
    if len(set(tasks)) < len(tasks):
        raise ScoreDataError(f"expected different tasks, found {', '.join(tasks)}")
    return tuple(tasks)


def _categories(source: str, data: PreparedScores, path: Path | None) -> Mapping[str, str]:
    """Return the category of each task, if it is known: of a file, or of the Atari games."""
    if path is None:
        if source != "atari5":
            return {}
        from gnomon.distill.atari.facts import GENRES

        return {game: genre for genre, games in GENRES.items() for game in games}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            found = {row["task"]: row["category"] for row in csv.DictReader(file)}
    except (KeyError, UnicodeDecodeError, csv.Error):
        raise ScoreDataError(f"{path}: expected a CSV file of task, category") from None
    data.columns(list(found))
    return found


def add_to(app: typer.Typer) -> None:
    """Give an app these verbs."""
    for verb in (single, correlations, explained, fairness, components):
        app.command()(verb)
