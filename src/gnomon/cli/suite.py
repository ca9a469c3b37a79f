"""``gnomon suite``: how a suite of tasks could be smaller, and what is like what in it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.distill import Names, Picture, SuiteScores, costs_of, published_set, say_items
from gnomon.cli.options import ReadOptions, Score, Seed, Source, scores_of, with_groups
from gnomon.cli.progress import SearchOptions, announce, progress_bar
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.distill import PreparedScores
    from gnomon.results import Results

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="How a suite could be smaller, and what is in it.",
)

Procedure = Annotated[
    str, typer.Option(help="factor, paper, paper-code, complete, auto, irt-1, irt-2.")
]
Most = Annotated[int, typer.Option(min=1, help="The greatest number of tasks.")]
Folds = Annotated[int, typer.Option(min=2, help="Folds of the validations.")]
Nested = Annotated[
    Literal["folds", "algorithms", "groups", "group-folds", "time"],
    typer.Option(help="What is left out at a time."),
]
Size = Annotated[int, typer.Option(min=1, help="Number of tasks.")]
Categories = Annotated[
    Path | None, typer.Option(help="CSV of task, category: colours of the figure.")
]


@dataclass(frozen=True)
class Subset:
    """A subset of tasks: named, or chosen."""

    task: Annotated[
        Names, typer.Option("--task", help="A task of the subset, else it is chosen; repeatable.")
    ] = None
    size: Annotated[int, typer.Option(min=1, help="Number of tasks, if they are chosen.")] = 5
    procedure: Annotated[str, typer.Option(help="How they are chosen; see gnomon distill.")] = (
        "factor"
    )

    def asked(self, verb: Callable[..., Results[Any]], data: PreparedScores) -> Results[Any]:
        """Return what a function of gnomon.distill says of the subset."""
        with progress_bar("subsets") as progress:
            if not self.task:
                announce(data, self.size, [self.procedure], 1)
            options = {"size": self.size, "procedure": self.procedure, "progress": progress}
            return verb(data, self.task or (), **options)


@app.command()
@with_groups
def sizes(
    most: Most = 5,
    procedure: Procedure = "factor",
    folds: Folds = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Of the nested validation.")] = 1,
    gap: Annotated[float, typer.Option(help="Of items: the difference of two models.")] = 0.05,
    power: Annotated[float, typer.Option(help="Of items: the power to tell it.")] = 0.8,
    others: Annotated[
        bool, typer.Option("--others", help="Beside it tasks chosen for each, and random ones.")
    ] = False,
    figure: Picture = None,
    *,
    search: SearchOptions,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say how the error falls with the number of tasks; of items, which gap so many tell."""
    from gnomon.distill import item_sizes
    from gnomon.distill import sizes as best_of_sizes

    with answering("suite sizes", as_json=as_json) as answer:
        if (table := scores.items()) is not None:
            answer.show(item_sizes(table, gap, power=power, rng=search.seed), figure=figure)
            return
        data = scores.prepared()
        with search.begun("sizes") as doing:
            for size in range(1, most + 1):
                announce(data, size, [procedure], 1 + folds * repeats)
            options = {"folds": folds, "repeats": repeats, "others": others, **doing}
            found = best_of_sizes(data, most=most, procedure=procedure, **options)
        answer.show(found, figure=figure)


@app.command()
@with_groups
def pareto(
    costs: Annotated[Path, typer.Option(help="CSV of task, cost: of one run of each task.")],
    most: Most = 5,
    budget: Annotated[float, typer.Option(min=0, help="The greatest total cost.")] = float("inf"),
    folds: Folds = 10,
    nested: Annotated[
        bool, typer.Option(help="Repeat the choice without the algorithms predicted.")
    ] = True,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """List the subsets that no other beats in both cost and cross-validated error."""
    from gnomon.distill import pareto as front

    with answering("suite pareto", as_json=as_json) as answer:
        data = scores.prepared()
        prices = costs_of(costs) or {}
        with progress_bar("subsets") as progress:
            for size in range(1, min(most, len(data.candidates)) + 1):
                announce(data, size, ["paper"], 1)
            options: dict[str, Any] = {"most": most, "budget": budget, "folds": folds}
            found = front(data, prices, nested=nested, progress=progress, **options)
        answer.show(found, figure=figure)


@app.command()
@with_groups
def stability(
    size: Size = 5,
    procedure: Procedure = "factor",
    by: Annotated[
        Literal["algorithms", "groups", "left-out-groups", "fold-seeds"],
        typer.Option(help="What is drawn; left out, one by one; or the folds of the paper's."),
    ] = "algorithms",
    samples: Annotated[int, typer.Option(min=1, help="How many draws.")] = 100,
    committee: Annotated[
        int, typer.Option(min=0, help="Fit so many of the most frequent subsets, to vote.")
    ] = 0,
    figure: Picture = None,
    *,
    search: SearchOptions,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say how often each task would have been chosen from other algorithms, or with other folds."""
    from gnomon.distill import stability as counted

    with answering("suite stability", as_json=as_json) as answer:
        data = scores.prepared()
        with search.begun("draws") as doing:
            n_searches = len(set(data.groups)) if by == "left-out-groups" else samples
            announce(data, size, ["paper" if by == "fold-seeds" else procedure], n_searches)
            options = {"samples": samples, "committee": committee, **doing}
            found = counted(data, size=size, procedure=procedure, by=by, **options)
        answer.show(found, figure=figure)


@app.command()
@with_groups
def optimal(
    size: Size = 5,
    any_sign: Annotated[bool, typer.Option("--any-sign", help="Allow negative weights.")] = False,
    time_limit_s: Annotated[float, typer.Option(min=0, help="Seconds until it stops.")] = 60.0,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Find the subset with the least in-sample error, with a proof or the gap that remains."""
    from gnomon.distill import optimal as proved

    with answering("suite optimal", as_json=as_json) as answer:
        data = scores.prepared()
        with progress_bar("branches") as progress:
            found = proved(
                data, size=size, any_sign=any_sign, time_limit_s=time_limit_s, progress=progress
            )
        answer.show(found)


@app.command()
@with_groups
def items(
    source: Source,
    choose: Annotated[int, typer.Option(min=1, help="Number of items.")] = 100,
    method: Annotated[
        str, typer.Option(help="stratified, correlated, anchors, irt-anchors or random.")
    ] = "stratified",
    folds: Folds = 5,
    errors: Annotated[
        bool, typer.Option("--errors/--no-errors", help="Measure every method, too.")
    ] = True,
    seed: Seed = 0,
    score: Score = None,
    figure: Picture = None,
    *,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Choose the items of a large evaluation that predict the share of all that a model solves."""
    from gnomon.distill import choose_items

    with answering("suite items", as_json=as_json) as answer:
        table = scores_of(source, score, reading)
        found = choose_items(table, choose, method=method, folds=folds, compare=errors, rng=seed)
        answer.show(found, figure=figure)
        if not found:
            say_items(answer, found.items)


@app.command()
@with_groups
def baselines(
    size: Size = 5,
    subset: Annotated[
        Names, typer.Option("--set", help="NAME=u,v,w: a fixed set to judge beside; repeatable.")
    ] = None,
    nested: Nested = "folds",
    folds: Folds = 10,
    seed: Seed = 0,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Compare other ways to take a few tasks on the same folds: random ones, anchors, IRT, ..."""
    from gnomon.distill import baselines as judged

    with answering("suite baselines", as_json=as_json) as answer:
        sets = dict(map(_named_set, subset or ()))
        if scores.source == "atari5":
            sets |= published_set(size)
        data = scores.prepared()
        found = judged(data, size=size, sets=sets, nested=nested, folds=folds, rng=seed)
        answer.show(found, figure=figure)


def _named_set(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a name and its tasks, from ``NAME=u,v,w``."""
    name, equals, tasks = text.partition("=")
    names = tuple(task.strip() for task in tasks.split(",") if task.strip())
    if not (equals and name and names):
        raise typer.BadParameter(f"expected NAME=u,v,w, found {text!r}", param_hint="--set")
    return name, names


@app.command()
@with_groups
def single(
    categories: Categories = None,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say how well each task alone predicts the summary."""
    from gnomon.distill import single as fitted

    with answering("suite single", as_json=as_json) as answer:
        data = scores.prepared()
        of_tasks = _categories(scores.source, data, categories)
        answer.show(fitted(data, categories=of_tasks), figure=figure)


@app.command()
@with_groups
def correlations(
    strongest: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 24,
    negative: Annotated[int, typer.Option(min=0, help="And so many most negative ones.")] = 0,
    categories: Categories = None,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """List the pairs of tasks that go together most, and draw them as a graph."""
    from gnomon.distill import correlations as pairs

    with answering("suite correlations", as_json=as_json) as answer:
        data = scores.prepared()
        of_tasks = _categories(scores.source, data, categories)
        found = pairs(data, strongest=strongest, negative=negative, categories=of_tasks)
        answer.show(found, figure=figure)


@app.command()
@with_groups
def explained(
    figure: Picture = None,
    *,
    subset: Subset,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Predict every task from a subset, and say how much of each that explains."""
    from gnomon.distill import explained as every_task

    with answering("suite explained", as_json=as_json) as answer:
        answer.show(subset.asked(every_task, scores.prepared()), figure=figure)


@app.command()
@with_groups
def fairness(
    figure: Picture = None,
    *,
    subset: Subset,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say whether low, middle and high algorithms are estimated equally well."""
    from gnomon.distill import fairness as tested

    with answering("suite fairness", as_json=as_json) as answer:
        answer.show(subset.asked(tested, scores.prepared()), figure=figure)


@app.command()
@with_groups
def components(
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """List the principal components of the tasks without gaps."""
    from gnomon.distill import components as principal

    with answering("suite components", as_json=as_json) as answer:
        answer.show(principal(scores.prepared()))


def _categories(source: str, data: PreparedScores, path: Path | None) -> Mapping[str, str]:
    """Return the category of each task, if it is known: of a file, or of the Atari games."""
    if path is None:
        if source != "atari5":
            return {}
        from gnomon.distill.atari import GENRES

        return {game: genre for genre, games in GENRES.items() for game in games}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            found = {row["task"]: row["category"] for row in csv.DictReader(file)}
    except (KeyError, UnicodeDecodeError, csv.Error):
        raise ScoreDataError(f"{path}: expected a CSV file of task, category") from None
    data.columns(list(found))
    return found
