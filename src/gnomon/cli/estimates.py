"""``gnomon estimate``: summaries of every algorithm, and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    DrawOptions,
    Method,
    NormalizedScores,
    ReadOptions,
    Resampling,
    ShowOptions,
    Source,
    scores_or_summaries,
)

if TYPE_CHECKING:
    from gnomon.plot.record import Figure
    from gnomon.scores.table import ScoreTable

__all__ = ["estimate"]


@with_groups
def estimate(
    source: Source,
    metric: Annotated[
        list[str] | None, typer.Option(help="mean, median, iqm or optimality_gap; repeatable.")
    ] = None,
    per_task: Annotated[bool, typer.Option("--per-task", help="For each task by itself.")] = False,
    method: Annotated[Method, typer.Option(help="How intervals are made.")] = "auto",
    resampling: Annotated[
        Resampling, typer.Option(help="Whether tasks are drawn too, as a sample of their kind.")
    ] = "runs",
    *,
    scores: NormalizedScores,
    draws: DrawOptions,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Estimate summaries of every algorithm, with intervals."""
    if per_task and (showing.figure is not None or method != "auto" or resampling != "runs"):
        raise typer.BadParameter("--per-task goes without --figure, --method and --resampling")
    with answering("estimate", as_json=as_json) as answer:
        runs_only = {"--per-task": per_task, "--resampling": resampling != "runs"}
        table, wanted, by = scores_or_summaries(source, scores, reading, metric, method, runs_only)
        options = draws.arguments()
        columns = ["algorithm", "metric", "value", "low", "high", "n_runs", "n_tasks"]
        if per_task:
            from gnomon.stats.estimates import estimate_tasks

            of_tasks = estimate_tasks(table, wanted or ["median"], **options)
            records = [{"task": task} | estimate.as_record() for task, estimate in of_tasks]
            columns = ["task", *columns[:-1]]
            showing.show(answer, records, None, columns, title=_title(table))
            return
        from gnomon.stats.estimates import estimate_aggregates

        found = estimate_aggregates(table, wanted, method=by, resampling=resampling, **options)

        def draw() -> Figure:
            from gnomon.plot.statistics import estimate_figure

            return estimate_figure(found, table.scale)

        records = [e.as_record() for e in found]
        showing.show(answer, records, None, columns, title=_title(table), draw=draw)


def _title(table: ScoreTable) -> str:
    direction = "higher" if table.higher_is_better else "lower"
    return f"{table.metric}, {direction} is better"
