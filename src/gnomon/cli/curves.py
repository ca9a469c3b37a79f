"""``gnomon curves``: metrics along the steps of training, and numbers about whole curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    DrawOptions,
    Method,
    Normalize,
    Only,
    ReadOptions,
    ShowOptions,
    Source,
    normalized,
    scores_of,
)

if TYPE_CHECKING:
    from gnomon.plot.record import Figure
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.estimates import Estimate

__all__ = ["curves"]

Summary = Literal["area", "best", "final", "time_to_threshold"]

#: Steps that people see of a curve; programs get all.
MOST_STEPS = 12


@with_groups
def curves(
    source: Source,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    summary: Annotated[
        Summary | None, typer.Option(help="One number about each curve instead of the curve.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="For time_to_threshold.")] = None,
    method: Annotated[Method, typer.Option(help="How bands are made.")] = "auto",
    algorithm: Only = None,
    score: Annotated[
        str | None,
        typer.Option(
            help="Which score of a run folder, one an episode; cumulated_errors, if none is named."
        ),
    ] = None,
    normalize: Normalize = None,
    *,
    draws: DrawOptions,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Show metrics along the steps of training, with bands, or numbers about whole curves."""
    if summary is not None and method not in ("auto", "percentile"):
        raise typer.BadParameter(f"--summary has percentile intervals, found --method {method}")
    if threshold is not None and summary != "time_to_threshold":
        raise typer.BadParameter("--threshold is for --summary time_to_threshold")
    with answering("curves", as_json=as_json) as answer:
        table = scores_of(source, score, reading, default_metric="cumulated_errors")
        table = table.select(algorithms=algorithm)
        table, options = normalized(table, normalize), draws.arguments()
        if summary is not None:
            found = _summaries(table, summary, metric or ["iqm"], threshold, options)
            _show_summaries(answer, found, table.scale, showing)
            return
        from gnomon.stats.learning_curves import aggregate_curves

        drawn = aggregate_curves(table, metric or ["iqm"], method=method, **options)
        step = reading.step_column or ("episode" if source.is_dir() else "step")

        def draw() -> Figure:
            from gnomon.plot.statistics import curve_figure

            return curve_figure(drawn, table.scale, step.replace("_", " "))

        records = [record for one in drawn for record in one.as_records()]
        shown = [record for one in drawn for record in _some(one.as_records())]
        showing.show(answer, records, shown, title=f"level {draws.level:.0%}", draw=draw)


def _some(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return first, last and evenly chosen records between, as many as a reader takes in."""
    n = len(records)
    count = min(n, MOST_STEPS)
    return [records[round(i * (n - 1) / max(count - 1, 1))] for i in range(count)]


def _summaries(
    table: ScoreTable,
    summary: Summary,
    metrics: Sequence[str],
    threshold: float | None,
    options: Mapping[str, Any],
) -> list[Estimate]:
    """Return one number about each aggregate curve."""
    from gnomon.stats.learning_curves import estimate_of_curves

    return [
        one
        for metric in metrics
        for one in estimate_of_curves(table, summary, metric, threshold=threshold, **options)
    ]


def _show_summaries(
    answer: Answer, found: Sequence[Estimate], scale: str, showing: ShowOptions
) -> None:
    def draw() -> Figure:
        from gnomon.plot.statistics import estimate_figure

        return estimate_figure(found, scale)

    columns = ["algorithm", "metric", "value", "low", "high", "n_runs", "n_tasks"]
    showing.show(answer, [one.as_record() for one in found], None, columns, draw=draw)
