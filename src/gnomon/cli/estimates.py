"""``gnomon estimate``: summaries of every algorithm, and how sure they are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

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
from gnomon.errors import DegenerateScoresWarning

if TYPE_CHECKING:
    import numpy as np

    from gnomon.report.figures.record import Figure
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.estimate import Estimate

__all__ = ["estimate", "task_estimates"]


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
            records = task_estimates(table, wanted or ["median"], **options)
            columns = ["task", *columns[:-1]]
            showing.show(answer, records, None, columns, title=_title(table))
            return
        from gnomon.stats.estimate import estimate_aggregates

        found = estimate_aggregates(table, wanted, method=by, resampling=resampling, **options)

        def draw() -> Figure:
            from gnomon.report.statistics import estimate_figure

            return estimate_figure(found, table.scale)

        records = [e.as_record() for e in found]
        showing.show(answer, records, None, columns, title=_title(table), draw=draw)


def task_estimates(
    table: ScoreTable, metrics: Sequence[str], *, rng: np.random.Generator, **options: Any
) -> list[dict[str, Any]]:
    """Return the estimates of each task by itself, as records with a field ``task``.

    The median of several tasks is that of their means; of one task, it is that of its runs.
    """
    from gnomon.stats.estimate import estimate_aggregates

    records = []
    for task in table.tasks:
        cells = table.select(tasks=[task])
        for metric in metrics:
            if metric == "median":
                estimates = [_median_of_runs(cells, x, rng, options) for x in cells.algorithms]
            else:
                estimates = estimate_aggregates(cells, [metric], rng=rng, **options)
            records += [{"task": task} | estimate.as_record() for estimate in estimates]
    return records


def _median_of_runs(
    cells: ScoreTable, algorithm: str, rng: np.random.Generator, options: Mapping[str, Any]
) -> Estimate:
    """Estimate the median of the runs on the only task of a table."""
    from gnomon.stats.bootstrap import median_replicates
    from gnomon.stats.estimate import Estimate
    from gnomon.stats.intervals import Interval, checked, percentile
    from gnomon.stats.quantiles import quantiles

    runs = cells.runs(algorithm, cells.tasks[0])
    level = options.get("level", 0.95)
    n_resamples = options.get("n_resamples", 2000)
    value, fault = math.nan, None
    interval = Interval(math.nan, math.nan, "percentile", 0, math.nan)
    if runs.size:
        value = float(quantiles(runs, [0.5])[0])
    if runs.size > 1:
        drawn = median_replicates(runs, n_resamples=n_resamples, rng=rng)
        interval, fault = checked(percentile(drawn, level))
    else:
        fault = "interval not estimable from one run"
    if not math.isfinite(value):
        why = "there are no runs" if runs.size == 0 else "half of the runs never got there"
        fault = f"not estimable, {why}"
    if fault is not None:
        text = f"median of {algorithm} on {cells.tasks[0]}: {fault}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
    return Estimate(
        algorithm,
        "median",
        value,
        interval.low,
        interval.high,
        level,
        interval.method,
        runs.size,
        1,
        interval.n_resamples,
        interval.mc_error,
    )


def _title(table: ScoreTable) -> str:
    direction = "higher" if table.higher_is_better else "lower"
    return f"{table.metric}, {direction} is better"
