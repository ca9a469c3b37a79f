"""``gnomon score`` and ``gnomon estimate``: from attempts to numbers, and how sure they are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.presentation import present
from gnomon.errors import DegenerateScoresWarning, ScoreDataError

if TYPE_CHECKING:
    import numpy as np

    from gnomon.report.figures.record import Figure
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.estimate import Estimate

__all__ = ["estimate", "normalized", "score", "task_estimates"]


def _checked_level(level: float) -> float:
    if not 0 < level < 1:
        raise typer.BadParameter(f"expected a number between 0 and 1, found {level}")
    return level


Source = Annotated[Path, typer.Argument(help="A run folder, or a file of scores (CSV, Parquet).")]
Where = Annotated[
    list[str] | None, typer.Option(help="COLUMN=VALUE: only such rows of a score file.")
]
StepColumn = Annotated[
    str | None, typer.Option(help="The column of a score file to read as the step.")
]
LowerIsBetter = Annotated[
    bool, typer.Option("--lower-is-better", help="Low scores of a score file are good.")
]
LeaveEmpty = Annotated[
    bool, typer.Option("--leave-out-empty-cells", help="Attempts on empty cells are no errors.")
]
Score = Annotated[str, typer.Option(help="Which score of a run folder.")]
Level = Annotated[float, typer.Option(help="Confidence level.", callback=_checked_level)]
Resamples = Annotated[int, typer.Option(min=1, help="Bootstrap resamples.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all draws.")]
Gamma = Annotated[float | None, typer.Option(help="Target of the optimality gap.")]
Normalize = Annotated[
    str | None,
    typer.Option(help="min-max, random-human (Atari), percentile or reference:ALGORITHM."),
]
Latex = Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")]
FigureFile = Annotated[Path | None, typer.Option(help="Draw to this file: .svg, .png or .pdf.")]
# As in gnomon.stats, whose import would load what the help does not need.
Method = Literal["auto", "small_sample", "percentile", "basic", "bc", "bca", "studentized"]
Resampling = Literal["runs", "runs_and_tasks"]


def score(
    source: Source,
    metric: Annotated[str, typer.Option(help="Which score of a run folder.")] = "tce",
    out: Annotated[Path | None, typer.Option(help="Write the scores to this file.")] = None,
    leave_out_empty_cells: LeaveEmpty = False,
    where: Where = None,
    step_column: StepColumn = None,
    lower_is_better: LowerIsBetter = False,
    as_json: JsonOption = False,
) -> None:
    """Turn the attempts of a run into scores, one for each trial."""
    with answering("score", as_json=as_json) as answer:
        table = _table(source, metric, leave_out_empty_cells, where, step_column, lower_is_better)
        if out is not None:
            from gnomon.scores.formats import write_scores

            if not out.parent.is_dir():
                raise ScoreDataError(f"{out.parent}: expected a folder to write to; there is none")
            write_scores(table, out)
            answer.results(table.to_records())
            answer.say(f"{table.describe()}\nwritten to {out}")
        else:
            answer.records(table.to_records())


def estimate(
    source: Source,
    metric: Annotated[
        list[str] | None, typer.Option(help="mean, median, iqm or optimality_gap; repeatable.")
    ] = None,
    score: Score = "tce",
    per_task: Annotated[bool, typer.Option("--per-task", help="For each task by itself.")] = False,
    method: Annotated[Method, typer.Option(help="How intervals are made.")] = "auto",
    resampling: Annotated[
        Resampling, typer.Option(help="Whether tasks are drawn too, as a sample of their kind.")
    ] = "runs",
    level: Level = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
    gamma: Gamma = None,
    normalize: Normalize = None,
    latex: Latex = False,
    figure: FigureFile = None,
    leave_out_empty_cells: LeaveEmpty = False,
    where: Where = None,
    step_column: StepColumn = None,
    lower_is_better: LowerIsBetter = False,
    as_json: JsonOption = False,
) -> None:
    """Estimate summaries of every algorithm, with intervals."""
    import numpy as np

    if per_task and (figure is not None or method != "auto" or resampling != "runs"):
        raise typer.BadParameter("--per-task goes without --figure, --method and --resampling")
    with answering("estimate", as_json=as_json) as answer:
        table = _table(source, score, leave_out_empty_cells, where, step_column, lower_is_better)
        table = normalized(table.last_step(), normalize)
        options: dict[str, Any] = {"level": level, "n_resamples": resamples, "gamma": gamma}
        rng = np.random.default_rng(seed)
        columns = ["algorithm", "metric", "value", "low", "high", "n_runs", "n_tasks"]
        show: dict[str, Any] = {"title": _title(table), "latex": latex, "figure": figure}
        if per_task:
            records = task_estimates(table, metric or ["median"], rng=rng, **options)
            present(answer, records, None, ["task", *columns[:-1]], **show)
            return
        from gnomon.stats.estimate import estimate_aggregates

        options |= {"method": method, "resampling": resampling}
        estimates = estimate_aggregates(table, metric, rng=rng, **options)

        def draw() -> Figure:
            from gnomon.report.statistics import estimate_figure

            return estimate_figure(estimates, table.scale)

        present(answer, [e.as_record() for e in estimates], None, columns, draw=draw, **show)


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
    from gnomon.stats.bootstrap import median_interval
    from gnomon.stats.estimate import Estimate

    runs = cells.runs(algorithm, cells.tasks[0])
    level = options.get("level", 0.95)
    n_resamples = options.get("n_resamples", 2000)
    value, low, high = median_interval(runs, level=level, n_resamples=n_resamples, rng=rng)
    if not math.isfinite(value):
        why = "there are no runs" if runs.size == 0 else "half of the runs never got there"
        text = f"median of {algorithm} on {cells.tasks[0]}: not estimable, {why}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
    ends = (value, low, high, level, "percentile", runs.size, 1, n_resamples, math.nan)
    return Estimate(algorithm, "median", *ends)


def normalized(table: ScoreTable, name: str | None) -> ScoreTable:
    """Return the table on the scale that was asked for, or as it is."""
    if name is None:
        return table
    from gnomon.scores.normalization import normalize

    return normalize(table, name)


def _title(table: ScoreTable) -> str:
    direction = "higher" if table.higher_is_better else "lower"
    return f"{table.metric}, {direction} is better"


def _table(
    source: Path,
    metric: str,
    leave_out_empty_cells: bool,
    where: list[str] | None,
    step_column: str | None,
    lower_is_better: bool,
) -> ScoreTable:
    """Return the scores of a run folder, or of a file."""
    if source.is_dir():
        from gnomon.experiments.run_folder import RunFolder
        from gnomon.experiments.scoring import score_table

        return score_table(RunFolder.open(source), metric, count_empty=not leave_out_empty_cells)
    from gnomon.experiments.game_logs import is_game_log, read_game_log
    from gnomon.scores.formats import read_scores

    if is_game_log(source):
        return read_game_log(source, metric)
    return read_scores(
        source,
        step_column=step_column,
        where=dict(_condition(text) for text in where or []),
        higher_is_better=False if lower_is_better else None,
    )


def _condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not (column and equals):
        raise typer.BadParameter(f"expected COLUMN=VALUE, found {text!r}", param_hint="--where")
    return column, value
