"""``gnomon suite``: how a suite of tasks could be smaller, and what is like what in it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gnomon.cli import suite_model, suite_structure
from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.long_search import SearchOptions, announce, progress_bar
from gnomon.cli.named_numbers import named_numbers
from gnomon.cli.option_groups import with_groups
from gnomon.cli.presentation import present
from gnomon.cli.suite_figures import Picture, drawn
from gnomon.cli.suite_scores import SuiteScores
from gnomon.errors import ScoreDataError

__all__ = ["app", "optimal", "pareto", "sizes", "stability"]

app = typer.Typer(no_args_is_help=True, help="How a suite could be smaller, and what is in it.")

Procedure = Annotated[
    str, typer.Option(help="factor, paper, paper-code, complete, auto, irt-1, irt-2.")
]
Most = Annotated[int, typer.Option(min=1, help="The greatest number of tasks.")]
Folds = Annotated[int, typer.Option(min=2, help="Folds of the validations.")]


@with_groups
def sizes(
    most: Most = 5,
    procedure: Procedure = "factor",
    folds: Folds = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Of the nested validation.")] = 1,
    figure: Picture = None,
    *,
    search: SearchOptions,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Say how the error falls with the number of tasks, the honest error beside the plain one."""
    from gnomon.distill.distillation import error_by_size
    from gnomon.distill.procedures.registry import procedure_of

    with answering("suite sizes", as_json=as_json) as answer:
        chooser, data = procedure_of(procedure, n_folds=folds), scores.prepared()
        with search.begun("sizes") as options:
            for size in range(1, most + 1):
                announce(data, size, [procedure], 1 + folds * repeats)
            options |= {"n_folds": folds, "n_repeats": repeats, "rng": search.rng()}
            found = error_by_size(data, range(1, most + 1), chooser, **options)
        records = [{"size": len(one.model.tasks)} | one.as_record() for one in found]
        columns = ["size", "tasks", "r2", "relative_error", "nested_relative_error", "n_rows"]
        draw = drawn("size_figure", found)
        present(answer, records, None, columns, figure=figure, draw=draw)


@with_groups
def pareto(
    costs: Annotated[Path, typer.Option(help="CSV of task, cost: of one run of each task.")],
    most: Most = 5,
    budget: Annotated[float, typer.Option(min=0, help="The greatest total cost.")] = float("inf"),
    folds: Folds = 10,
    figure: Picture = None,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """List the subsets that no other beats in both cost and cross-validated error."""
    from gnomon.distill.search.folds import Folds as FoldsOf
    from gnomon.distill.search.pareto import pareto_front

    with answering("suite pareto", as_json=as_json) as answer:
        data = scores.prepared()
        prices = {task: cost for task, (cost,) in named_numbers(costs, "task", ["cost"]).items()}
        options: dict[str, Any] = {"budget": budget, "folds": FoldsOf(folds)}
        with progress_bar("subsets") as progress:
            for size in range(1, min(most, len(data.candidates)) + 1):
                announce(data, size, ["paper"], 1)
            front = pareto_front(data, prices, range(1, most + 1), progress=progress, **options)

        records = [asdict(point) for point in front]
        present(answer, records, figure=figure, draw=drawn("pareto_figure", front))
        answer.say("cv_mse: with the tasks given, chosen on the same rows; too good")


@with_groups
def stability(
    size: Annotated[int, typer.Option(min=1, help="Number of tasks.")] = 5,
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
    from gnomon.distill.procedures.least_squares import PaperProcedure
    from gnomon.distill.procedures.registry import procedure_of
    from gnomon.distill.stability import (
        committee_of,
        fold_seed_stability,
        left_out_stability,
        selection_stability,
    )

    with answering("suite stability", as_json=as_json) as answer:
        chooser, data = procedure_of(procedure), scores.prepared()
        if by.endswith("groups") and data.groups == data.algorithms:
            raise ScoreDataError(f"--by {by} needs --group-by: no algorithm has a group")
        with search.begun("draws") as options:
            n_searches = len(set(data.groups)) if by == "left-out-groups" else samples
            announce(data, size, ["paper" if by == "fold-seeds" else procedure], n_searches)
            if by == "fold-seeds":
                chooser = PaperProcedure()
                found = fold_seed_stability(data, size, n_seeds=samples, **options)
            elif by == "left-out-groups":
                found = left_out_stability(data, chooser, size, **options)
            else:
                options |= {"n_samples": samples, "by_group": by == "groups", "rng": search.rng()}
                found = selection_stability(data, chooser, size, **options)

        tasks = [{"kind": "task", "tasks": [task], "share": share} for task, share in found.tasks]
        sets = [{"kind": "subset", "tasks": list(s), "share": share} for s, share in found.sets]
        shown = [*tasks[: 3 * size], *sets[:5]]
        draw = drawn("stability_figure", found)
        present(answer, [*tasks, *sets], shown, figure=figure, draw=draw)
        word = "one subset stands out" if found.stands_out else "no single subset stands out"
        answer.say(f"{len(found.sets)} different subsets in {found.n_models} draws: {word}")
        if committee:
            votes = committee_of(data, chooser, found, n_models=committee)
            answer.records([
                {
                    "kind": "member",
                    "tasks": list(model.tasks),
                    "share": share,
                    "weights": list(model.weights),
                    "intercept": model.intercept,
                }
                for model, share in zip(votes.models, votes.shares, strict=True)
            ])  # fmt: skip


@with_groups
def optimal(
    size: Annotated[int, typer.Option(min=1, help="Number of tasks.")] = 5,
    any_sign: Annotated[bool, typer.Option("--any-sign", help="Allow negative weights.")] = False,
    time_limit_s: Annotated[float, typer.Option(min=0, help="Seconds until it stops.")] = 60.0,
    *,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Find the subset with the least in-sample error, with a proof or the gap that remains."""
    from gnomon.distill.search.proof import optimal_subset

    with answering("suite optimal", as_json=as_json) as answer:
        data = scores.prepared()
        options: dict[str, Any] = {"non_negative": not any_sign, "time_limit_s": time_limit_s}
        with progress_bar("branches") as progress:
            found = optimal_subset(data, size, progress=progress, **options)
        record = asdict(found) | {"gap": found.gap, "certified": found.certified}
        answer.records([record | {"tasks": list(found.tasks)}])
        n = len(data.complete_tasks())
        proof = "the best" if found.certified else f"at most {found.gap:.1%} from the best"
        answer.say(f"{proof} {size} of the {n} tasks without gaps, in-sample")


for verb in (sizes, pareto, stability, optimal, suite_model.predict):
    app.command()(verb)
suite_structure.add_to(app)
