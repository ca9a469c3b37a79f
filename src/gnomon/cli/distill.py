"""``gnomon distill``: the few tasks that predict a suite, and how well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.long_search import (
    PICTURES,
    Scheduler,
    Workers,
    announce,
    check_writable,
    progress_bar,
    search_workers,
)
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import FigureFile, ReadOptions
from gnomon.cli.suite_scores import Names, SuiteScores, SuiteSource
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.distill.distillation import Distilled
    from gnomon.distill.prepared import PreparedScores

__all__ = ["distill"]

#: A summary that is a smaller share of the largest one makes a relative error meaningless.
_NEARLY = 0.01
Outer = Literal["folds", "algorithms", "groups", "group-folds", "none"]


@with_groups
def distill(
    source: SuiteSource,
    size: Annotated[int, typer.Option(min=1, help="Number of tasks.")] = 5,
    procedure: Annotated[
        Names, typer.Option(help="factor, paper, paper-code, complete, auto, irt-1, irt-2; repeat.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many subsets to show.")] = 1,
    nested: Annotated[
        Outer, typer.Option(help="What the nested validation leaves out at a time.")
    ] = "folds",
    repeats: Annotated[int, typer.Option(min=1, help="Of the nested validation.")] = 1,
    folds: Annotated[int, typer.Option(min=2, help="Of both validations.")] = 10,
    force: Annotated[Names, typer.Option(help="A task that every subset has; repeatable.")] = None,
    model: Annotated[Path | None, typer.Option(help="Write the best model to this file.")] = None,
    figure: FigureFile = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the outer folds.")] = 0,
    *,
    scores: SuiteScores,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Find the few tasks that predict a suite's summary score, with the honest error beside it."""
    import numpy as np

    from gnomon.distill.distillation import distill as distil
    from gnomon.distill.procedures import procedure_of

    with answering("distill", as_json=as_json) as answer:
        check_writable(model)
        check_writable(figure, kinds=PICTURES)
        names, forced = procedure or ["factor"], tuple(force or ())
        chosen = [procedure_of(name, n_folds=folds) for name in names]
        data = scores.prepared(source, reading)
        _check(data, scores, nested, forced)
        n_searches = 1 + _n_outer(data, nested, folds, repeats)
        results: list[Distilled] = []
        with progress_bar("distil") as progress, search_workers(workers, scheduler) as executor:
            announce(data, size, names, n_searches, forced=forced)
            for one in chosen:
                results += distil(
                    data,
                    size,
                    one,
                    n_best=top,
                    forced=forced,
                    outer=None if nested == "none" else nested,
                    n_folds=folds,
                    n_repeats=repeats,
                    rng=np.random.default_rng(seed),
                    executor=executor,
                    progress=progress,
                )
        _show(answer, results, data, top)
        if model is not None:
            results[0].model.save(model)
            answer.say(f"written to {model}")
        if figure is not None:
            from gnomon.report.distillation import prediction_figure

            prediction_figure(data, results[0]).write(figure)
            answer.say(f"written to {figure}")


def _check(
    data: PreparedScores, scores: SuiteScores, nested: Outer, forced: tuple[str, ...]
) -> None:
    """Refuse options that contradict one another."""
    both = sorted(set(forced) & set(scores.exclude or ()))
    if both:
        raise ScoreDataError(f"{both[0]} is both forced and excluded")
    if nested.startswith("group") and data.groups == data.algorithms:
        raise ScoreDataError(f"--nested {nested} needs --group-by: no algorithm has a group")


def _n_outer(data: PreparedScores, nested: Outer, folds: int, repeats: int) -> int:
    """Return how often a nested validation chooses."""
    counts = {
        "none": 0,
        "algorithms": len(data.algorithms),
        "groups": len(set(data.groups)),
    }
    return counts.get(nested, folds * repeats)


def _show(answer: Answer, results: list[Distilled], data: PreparedScores, top: int) -> None:
    """Print the subsets, and what the two errors mean."""
    import numpy as np

    records = [r.as_record() for r in results]
    columns = ["procedure", "rank", "tasks", "cv_mse", "r2", "relative_error"]
    answer.records(records, [*columns, "nested_relative_error", "n_rows"])
    if any(r.nested is None for r in results):
        answer.warn("nested_relative_error: of the first subset of a nested validation alone")
    summaries = np.abs(data.transform.inverse(data.target))
    if data.transform.log_base is None and summaries.min() < _NEARLY * summaries.max():
        answer.warn("some summaries are near 0: relative errors say little there, r2 says more")
    if len(results) < top:
        answer.warn(f"{len(results)} subsets found, {top} asked for")
    for result in (r for r in results if r.nested is not None):
        assert result.nested is not None
        n_missing = len(data.algorithms) - result.nested.n_predicted
        lacking = f"; {n_missing} algorithms lack a score that was needed" if n_missing else ""
        answer.say(
            f"{result.procedure}: {100 * result.relative_error:.1f} % with these tasks given, "
            f"{100 * result.nested_relative_error:.1f} % (standard error "
            f"{100 * result.nested.standard_error:.1f}) for algorithms that the choice of tasks "
            f"had not seen{lacking}"
        )
        weights = zip(result.model.tasks, result.model.weights, strict=True)
        terms = "".join(f" {'-' if w < 0 else '+'} {abs(w):.4g} {task}" for task, w in weights)
        answer.say(f"  {data.transform.name} summary = {result.model.intercept:.4g}{terms}")
