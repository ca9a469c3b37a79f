"""``gnomon distill``: the few tasks that predict a suite, and how well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.long_search import SearchOptions, announce, check_writable
from gnomon.cli.option_groups import with_groups
from gnomon.cli.suite_figures import Picture, drawn
from gnomon.cli.suite_scores import Names, SuiteScores
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.distill.distillation import Distilled
    from gnomon.distill.prepared import PreparedScores
    from gnomon.distill.validation import HeldOut

__all__ = ["distill"]

#: A summary that is a smaller share of the largest one makes a relative error meaningless.
_NEARLY = 0.01
Outer = Literal["folds", "algorithms", "groups", "group-folds", "none"]


@with_groups
def distill(
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
    model: Annotated[
        Path | None,
        typer.Option(help="Write the best model to this file.", callback=check_writable),
    ] = None,
    figure: Picture = None,
    *,
    search: SearchOptions,
    scores: SuiteScores,
    as_json: JsonOption = False,
) -> None:
    """Find the few tasks that predict a suite's summary score, with the honest error beside it."""
    from gnomon.distill.distillation import distill as distil
    from gnomon.distill.procedures.registry import procedure_of

    with answering("distill", as_json=as_json) as answer:
        names, forced = procedure or ["factor"], tuple(force or ())
        chosen = [procedure_of(name, n_folds=folds) for name in names]
        data = scores.prepared()
        _check(data, scores, nested, forced)
        n_searches = 1 + _n_outer(data, nested, folds, repeats)
        results: list[Distilled] = []
        with search.begun("distil") as options:
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
                    rng=search.rng(),
                    **options,
                )
        _show(answer, results, data, top)
        if model is not None:
            results[0].model.save(model)
            answer.say(f"written to {model}")
        if figure is not None:
            drawn("prediction_figure", data, results[0])().write(figure)
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
    for result in results:
        if result.nested is not None:
            _explain(answer, result, result.nested, data)


def _explain(answer: Answer, result: Distilled, nested: HeldOut, data: PreparedScores) -> None:
    """Say in words what the errors are errors of, whether the order holds, and the model."""
    n, n_predicted = len(data.algorithms), nested.n_predicted
    lacking = "; the others lack a score that was needed" if n_predicted < n else ""
    answer.say(
        f"{result.procedure}: {100 * result.relative_error:.1f} % with these tasks given, "
        f"{100 * result.nested_relative_error:.1f} % (standard error "
        f"{100 * nested.standard_error:.1f}) for algorithms that the choice of tasks had not seen: "
        f"{n_predicted} of {n}{lacking}"
    )
    if result.order is not None and result.order.n_pairs:
        answer.say(
            f"  of these, {100 * result.order.concordance:.1f} % of the pairs are ordered rightly "
            f"(Kendall's tau {result.order.tau:.3f}), "
            f"{100 * result.order.clear_concordance:.1f} % of those that differ by a quarter"
        )
    weights = zip(result.model.tasks, result.model.weights, strict=True)
    terms = "".join(f" {'-' if w < 0 else '+'} {abs(w):.4g} {task}" for task, w in weights)
    answer.say(f"  {data.transform.name} summary = {result.model.intercept:.4g}{terms}")
