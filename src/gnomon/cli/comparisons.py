"""``gnomon compare``: differences of two algorithms, or of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    DrawOptions,
    NormalizedScores,
    ReadOptions,
    ShowOptions,
    Source,
    scores_or_summaries,
)
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.plot.record import Figure
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.comparisons.comparison import Comparison

__all__ = ["First", "Second", "SmallMethod", "chosen_pair", "compare"]

First = Annotated[str | None, typer.Argument(help="An algorithm; without it, all pairs.")]
Second = Annotated[str | None, typer.Argument(help="The one to compare it with.")]
SmallMethod = Literal["auto", "small_sample", "percentile"]


@with_groups
def compare(
    source: Source,
    a: First = None,
    b: Second = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A metric, or probability_of_improvement; repeatable."),
    ] = None,
    per_task: Annotated[bool, typer.Option("--per-task", help="On each task too.")] = False,
    paired: Annotated[
        bool, typer.Option("--paired", help="Runs with the same label share a seed.")
    ] = False,
    correction: Annotated[Literal["holm", "max_t"], typer.Option(help="Over all pairs.")] = "holm",
    method: Annotated[SmallMethod, typer.Option(help="How intervals are made.")] = "auto",
    *,
    scores: NormalizedScores,
    draws: DrawOptions,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Compare two algorithms, or all pairs: differences with intervals and tests."""
    with answering("compare", as_json=as_json) as answer:
        runs_only = {"--paired": paired, "--correction max_t": correction == "max_t"}
        table, wanted, by = scores_or_summaries(source, scores, reading, metric, method, runs_only)
        options = {"paired": paired, "method": by, **draws.arguments()}
        pair = chosen_pair(table, a, b)
        if pair is not None and correction == "max_t":
            raise typer.BadParameter("--correction max_t is for all pairs, found two algorithms")
        found = (
            _all_pairs(table, wanted, correction, per_task, options)
            if pair is None
            else _one_pair(table, pair, wanted, per_task, options)
        )

        def draw() -> Figure:
            from gnomon.plot.statistics import comparison_figure

            return comparison_figure(found, table.scale)

        columns = ["a", "b", "metric", "task", "value", "low", "high", "p_value", "p_adjusted"]
        if not per_task:
            columns.remove("task")
        records = [one.as_record() for one in found]
        title = "a minus b, or the probability that a is better"
        showing.show(answer, records, None, columns, title=title, draw=draw)


def chosen_pair(table: ScoreTable, a: str | None, b: str | None) -> tuple[str, str] | None:
    """Return the two algorithms, or None for all pairs; a name that is not there is refused."""
    if a is None:
        return None
    if b is None:
        raise ScoreDataError(f"expected two algorithms to compare, or none; found {a!r} alone")
    table.select(algorithms=[a, b])
    if a == b:
        raise ScoreDataError(f"expected two different algorithms, found {a!r} twice")
    return a, b


def _one_pair(
    table: ScoreTable,
    pair: tuple[str, str],
    metrics: Sequence[str] | None,
    per_task: bool,
    options: Mapping[str, Any],
) -> list[Comparison]:
    from gnomon.stats.comparisons.comparison import compare as compared

    if not metrics:
        return compared(table, *pair, per_task=per_task, **options)
    return compared(table, *pair, metrics, per_task=per_task, **options)


def _all_pairs(
    table: ScoreTable,
    metrics: Sequence[str] | None,
    correction: Literal["holm", "max_t"],
    per_task: bool,
    options: Mapping[str, Any],
) -> list[Comparison]:
    from gnomon.stats.comparisons.comparison import compare_all

    if per_task:
        raise typer.BadParameter("--per-task needs two algorithms, A and B")
    if len(table.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {table.algorithms[0]} alone")
    found = []
    for metric in metrics or ["probability_of_improvement"]:
        found += compare_all(table, metric, correction=correction, **options)
    return found
