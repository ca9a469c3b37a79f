"""``gnomon compare``, ``profile``, ``curves``, ``plan``: statistics of any table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.presentation import present
from gnomon.cli.scores import (
    FigureFile,
    Gamma,
    Latex,
    LeaveEmpty,
    Level,
    LowerIsBetter,
    Method,
    Normalize,
    Resamples,
    Score,
    Seed,
    Source,
    StepColumn,
    Where,
    _condition,
    _table,
    normalized,
)
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    import numpy as np

    from gnomon.report.figures.record import Figure
    from gnomon.scores.foreign import SummaryTable
    from gnomon.scores.table import ScoreTable
    from gnomon.stats.comparison import Comparison
    from gnomon.stats.planning import PowerPoint
    from gnomon.stats.profiles import Profile

__all__ = ["compare", "curves", "plan", "profile"]

First = Annotated[str | None, typer.Argument(help="An algorithm; without it, all pairs.")]
Second = Annotated[str | None, typer.Argument(help="The one to compare it with.")]
Only = Annotated[
    list[str] | None, typer.Option("--algorithm", help="Only these algorithms; repeatable.")
]
SmallMethod = Literal["auto", "small_sample", "percentile"]
Kind = Literal["run_score", "average_score", "ratio", "likelihood", "permutation"]
Band = Literal["pointwise", "simultaneous", "none"]
Summary = Literal["area", "best", "final", "time_to_threshold"]

#: Steps that people see of a curve; programs get all.
MOST_STEPS = 12


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
    level: Level = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
    gamma: Gamma = None,
    normalize: Normalize = None,
    score: Score = "tce",
    latex: Latex = False,
    figure: FigureFile = None,
    leave_out_empty_cells: LeaveEmpty = False,
    where: Where = None,
    step_column: StepColumn = None,
    lower_is_better: LowerIsBetter = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two algorithms, or all pairs: differences with intervals and tests."""
    import numpy as np

    with answering("compare", as_json=as_json) as answer:
        table = _table(source, score, leave_out_empty_cells, where, step_column, lower_is_better)
        table = normalized(table.last_step(), normalize)
        options: dict[str, Any] = {
            "paired": paired,
            "method": method,
            "level": level,
            "n_resamples": resamples,
        }
        options |= {"gamma": gamma, "rng": np.random.default_rng(seed)}
        pair = _pair(table, a, b)
        found = (
            _all_pairs(table, metric, correction, per_task, options)
            if pair is None
            else _one_pair(table, pair, metric, per_task, options)
        )

        def draw() -> Figure:
            from gnomon.report.statistics import comparison_figure

            return comparison_figure(found, table.scale)

        columns = ["a", "b", "metric", "task", "value", "low", "high", "p_value", "p_adjusted"]
        if not per_task:
            columns.remove("task")
        records = [one.as_record() for one in found]
        title = "a minus b, or the probability that a is better"
        present(answer, records, None, columns, title=title, latex=latex, figure=figure, draw=draw)


def _pair(table: ScoreTable, a: str | None, b: str | None) -> tuple[str, str] | None:
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
    from gnomon.stats.comparison import compare as compared

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
    from gnomon.stats.comparison import compare_all

    if per_task:
        raise typer.BadParameter("--per-task needs two algorithms, A and B")
    if len(table.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {table.algorithms[0]} alone")
    found = []
    for metric in metrics or ["probability_of_improvement"]:
        found += compare_all(table, metric, correction=correction, **options)
    return found


def profile(
    source: Source,
    kind: Annotated[
        Kind, typer.Option("--kind", "--metric", help="Which share is shown.")
    ] = "run_score",
    tau: Annotated[list[float] | None, typer.Option(help="A threshold; repeatable.")] = None,
    spacing: Annotated[
        Literal["linear", "log", "data"], typer.Option(help="Thresholds, if none is given.")
    ] = "linear",
    band: Annotated[
        Band, typer.Option("--band", "--method", help="At each threshold, or for the whole curve.")
    ] = "pointwise",
    df: Annotated[
        Literal["welch", "as_published"],
        typer.Option(help="Degrees of freedom of a likelihood profile."),
    ] = "welch",
    algorithm: Only = None,
    keep_apart: Annotated[
        str | None, typer.Option(help="Column of a summary table that makes algorithms differ.")
    ] = None,
    level: Level = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
    normalize: Normalize = None,
    score: Score = "tce",
    latex: Latex = False,
    figure: FigureFile = None,
    leave_out_empty_cells: LeaveEmpty = False,
    where: Where = None,
    step_column: StepColumn = None,
    lower_is_better: LowerIsBetter = False,
    as_json: JsonOption = False,
) -> None:
    """Show what share of runs, or of tasks, gets past each threshold."""
    import numpy as np

    rng = np.random.default_rng(seed)
    with answering("profile", as_json=as_json) as answer:
        scores: ScoreTable | SummaryTable
        if kind in ("ratio", "likelihood") and _is_summary(source):
            scores = _summaries(source, where, keep_apart, algorithm)
            higher, scale = not lower_is_better, ""
        else:
            table = _table(
                source, score, leave_out_empty_cells, where, step_column, lower_is_better
            )
            scores = table = normalized(table.last_step().select(algorithms=algorithm), normalize)
            higher, scale = table.higher_is_better, table.scale
        options = {"band": band, "level": level, "n_resamples": resamples, "spacing": spacing}
        found = _profiles(scores, kind, sorted(tau) if tau else None, df, higher, options, rng)

        def draw() -> Figure:
            from gnomon.report.statistics import profile_figure

            return profile_figure(found, scale, higher_is_better=higher)

        records = [record for one in found for record in one.as_records()]
        shown = records if tau else [_readings(one) for one in found]
        title = None if tau else "area, and thresholds of shares"
        present(answer, records, shown, title=title, latex=latex, figure=figure, draw=draw)


def _readings(one: Profile) -> dict[str, Any]:
    """Return what people read off a profile."""
    from gnomon.stats.estimate import finite_or_none

    shares = {f"{share:.0%}": one.quantile(share) for share in (0.75, 0.5, 0.25)}
    if one.kind in ("ratio", "likelihood"):
        # These profiles rise: the first threshold within which a share of the tasks is.
        shares = {f"{s:.0%}": one.first_reaching(s) for s in (0.25, 0.5, 0.75)}
    numbers = {name: finite_or_none(value) for name, value in shares.items()}
    return {"algorithm": one.algorithm, "kind": one.kind, "area": one.area()} | numbers


def _is_summary(source: Path) -> bool:
    """Return whether a file has means and standard deviations instead of runs."""
    if not source.is_file() or source.suffix.lower() != ".csv":
        return False
    with source.open(encoding="utf-8") as file:
        columns = file.readline().strip().split(",")
    return {"mean", "std", "runs"} <= set(columns)


def _summaries(
    source: Path, where: list[str] | None, keep_apart: str | None, algorithms: list[str] | None
) -> SummaryTable:
    from gnomon.scores.foreign import read_summaries

    conditions = dict(_condition(text) for text in where or [])
    found = read_summaries(source, where=conditions, keep_apart=keep_apart)
    return found if algorithms is None else found.select(algorithms)


def _profiles(
    scores: ScoreTable | SummaryTable,
    kind: Kind,
    tau: Sequence[float] | None,
    df: Literal["welch", "as_published"],
    higher: bool,
    options: Mapping[str, Any],
    rng: np.random.Generator,
) -> list[Profile]:
    from gnomon.scores.table import ScoreTable

    if kind == "ratio" or kind == "likelihood" or kind == "permutation":
        from gnomon.stats.distance import distance_profiles

        return distance_profiles(scores, kind, tau, df=df, higher_is_better=higher, rng=rng)
    from gnomon.stats.profiles import performance_profiles

    assert isinstance(scores, ScoreTable), "summaries are read for distances alone"
    return performance_profiles(scores, tau, kind=kind, rng=rng, **options)


def curves(
    source: Source,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    summary: Annotated[
        Summary | None, typer.Option(help="One number about each curve instead of the curve.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="For time_to_threshold.")] = None,
    method: Annotated[Method, typer.Option(help="How bands are made.")] = "auto",
    algorithm: Only = None,
    level: Level = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
    gamma: Gamma = None,
    normalize: Normalize = None,
    latex: Latex = False,
    figure: FigureFile = None,
    where: Where = None,
    step_column: StepColumn = None,
    lower_is_better: LowerIsBetter = False,
    as_json: JsonOption = False,
) -> None:
    """Show metrics along the steps of training, with bands, or numbers about whole curves."""
    import numpy as np

    if summary is not None and method not in ("auto", "percentile"):
        raise typer.BadParameter(f"--summary has percentile intervals, found --method {method}")
    with answering("curves", as_json=as_json) as answer:
        table = _table(source, "tce", False, where, step_column, lower_is_better)
        table = normalized(table.select(algorithms=algorithm), normalize)
        options: dict[str, Any] = {"level": level, "n_resamples": resamples, "gamma": gamma}
        options["rng"] = np.random.default_rng(seed)
        show: dict[str, Any] = {"latex": latex, "figure": figure}
        if summary is not None:
            _answer_summary(answer, table, summary, metric, threshold, options, show)
            return
        from gnomon.stats.curves import aggregate_curves

        found = aggregate_curves(table, metric or ["iqm"], method=method, **options)

        def draw() -> Figure:
            from gnomon.report.statistics import curve_figure

            return curve_figure(found, table.scale, (step_column or "step").replace("_", " "))

        records = [record for one in found for record in one.as_records()]
        shown = [record for one in found for record in _some(one.as_records())]
        present(answer, records, shown, title=f"level {level:.0%}", draw=draw, **show)


def _some(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return first, last and evenly chosen records between, as many as a reader takes in."""
    n = len(records)
    count = min(n, MOST_STEPS)
    return [records[round(i * (n - 1) / max(count - 1, 1))] for i in range(count)]


def _answer_summary(
    answer: Answer,
    table: ScoreTable,
    summary: Summary,
    metrics: Sequence[str] | None,
    threshold: float | None,
    options: Mapping[str, Any],
    show: Mapping[str, Any],
) -> None:
    """Answer with one number about each aggregate curve."""
    from gnomon.stats.curves import estimate_of_curves

    found = [
        one
        for metric in metrics or ["iqm"]
        for one in estimate_of_curves(table, summary, metric, threshold=threshold, **options)
    ]

    def draw() -> Figure:
        from gnomon.report.statistics import estimate_figure

        return estimate_figure(found, table.scale)

    columns = ["algorithm", "metric", "value", "low", "high", "n_runs", "n_tasks"]
    present(answer, [one.as_record() for one in found], None, columns, draw=draw, **show)


def plan(
    source: Source,
    a: First = None,
    b: Second = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    runs: Annotated[
        list[int] | None, typer.Option(min=1, help="Runs per task to try; repeatable.")
    ] = None,
    power: Annotated[float, typer.Option(min=0, max=1, help="Power to reach.")] = 0.8,
    widths: Annotated[
        bool, typer.Option("--widths", help="How wide intervals would be, to halve one.")
    ] = False,
    subsample: Annotated[
        bool, typer.Option("--subsample", help="What fewer of these runs would have said.")
    ] = False,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Look after each number of runs; stop if decided.")
    ] = False,
    simulations: Annotated[int, typer.Option(min=2, help="Simulated studies, or draws.")] = 400,
    method: Annotated[
        Literal["auto", "small_sample"], typer.Option(help="How a study is tested.")
    ] = "auto",
    level: Level = 0.95,
    seed: Seed = 0,
    gamma: Gamma = None,
    normalize: Normalize = None,
    score: Score = "tce",
    latex: Latex = False,
    figure: FigureFile = None,
    leave_out_empty_cells: LeaveEmpty = False,
    where: Where = None,
    step_column: StepColumn = None,
    lower_is_better: LowerIsBetter = False,
    as_json: JsonOption = False,
) -> None:
    """Say how many runs are needed to tell algorithms apart, or what fewer would have said."""
    import numpy as np

    if widths + subsample + sequential > 1:
        raise typer.BadParameter("expected one of --widths, --subsample and --sequential")
    with answering("plan", as_json=as_json) as answer:
        table = _table(source, score, leave_out_empty_cells, where, step_column, lower_is_better)
        table = normalized(table.last_step(), normalize)
        pair = _pair(table, a, b)
        if pair is not None and not sequential:
            table = table.select(algorithms=pair)
        wanted = _Plan(metric, sorted(set(runs or ())), power, simulations, level, gamma)
        show: dict[str, Any] = {"latex": latex, "figure": figure}
        rng = np.random.default_rng(seed)
        if sequential:
            _answer_sequential(answer, table, pair, wanted, rng, show)
        elif subsample:
            _answer_subsamples(answer, table, wanted, rng, show)
        elif widths:
            _answer_widths(answer, table, wanted, rng, show)
        else:
            _answer_power(answer, table, wanted, rng, show)


@dataclass(frozen=True)
class _Plan:
    """What is to be simulated."""

    metrics: Sequence[str] | None
    runs: Sequence[int]
    power: float
    simulations: int
    level: float
    gamma: float | None


def _answer_power(
    answer: Answer,
    table: ScoreTable,
    plan: _Plan,
    rng: np.random.Generator,
    show: Mapping[str, Any],
) -> None:
    """Answer with the power to tell each pair apart, and the runs that reach the one wanted."""
    from gnomon.stats.planning import power_curve, runs_needed

    options: dict[str, Any] = {
        "level": plan.level,
        "n_simulations": plan.simulations,
        "gamma": plan.gamma,
    }
    points: list[PowerPoint] = []
    for metric in plan.metrics or ["iqm"]:
        for pair in combinations(table.algorithms, 2):
            runs = plan.runs or (3, 5, 10, 20, 40)
            own = power_curve(table, *pair, metric, runs=runs, rng=rng, **options)
            points += own
            needed = runs_needed(own, plan.power)
            many = f"{needed} runs" if needed else f"more than {runs[-1]} runs"
            answer.say(f"{pair[0]}, {pair[1]} ({metric}): power {plan.power:g} takes {many}")

    def draw() -> Figure:
        from gnomon.report.statistics import power_figure

        return power_figure(points, plan.power)

    present(answer, [one.as_record() for one in points], draw=draw, **show)


def _answer_subsamples(
    answer: Answer,
    table: ScoreTable,
    plan: _Plan,
    rng: np.random.Generator,
    show: Mapping[str, Any],
) -> None:
    """Answer with what metrics would have been with fewer runs."""
    from gnomon.stats.planning import subsample_table

    found = [
        one
        for metric in plan.metrics or ["median"]
        for one in subsample_table(
            table,
            metric,
            runs=plan.runs or None,
            n_draws=plan.simulations,
            gamma=plan.gamma,
            rng=rng,
        )
    ]

    def draw() -> Figure:
        from gnomon.report.statistics import subsample_figure

        return subsample_figure(found, table.scale)

    title = "value: of all runs; the rest: of draws with fewer"
    present(answer, [one.as_record() for one in found], title=title, draw=draw, **show)


def _answer_widths(
    answer: Answer,
    table: ScoreTable,
    plan: _Plan,
    rng: np.random.Generator,
    show: Mapping[str, Any],
) -> None:
    """Answer with the mean width of intervals, and the runs that halve the pilot's."""
    from gnomon.stats.planning import interval_widths
    from gnomon.stats.strata import Strata

    if show["figure"] is not None:
        raise typer.BadParameter("--widths has no figure")
    options: dict[str, Any] = {"level": plan.level, "gamma": plan.gamma}
    options["n_simulations"] = plan.simulations
    records = []
    for algorithm in table.algorithms:
        pilot = Strata.from_table(table, algorithm)
        now = int(pilot.counts.min())
        runs = sorted({now, *(plan.runs or (2 * now, 3 * now, 4 * now, 6 * now))})
        for metric in plan.metrics or ["iqm"]:
            found = interval_widths(pilot, metric, runs=runs, rng=rng, **options)
            records += [
                {
                    "algorithm": algorithm,
                    "metric": metric,
                    "runs": n,
                    "width": width,
                    "relative_width": width / found[now],
                }
                for n, width in found.items()
            ]
    present(answer, records, **show)


def _answer_sequential(
    answer: Answer,
    table: ScoreTable,
    pair: tuple[str, str] | None,
    plan: _Plan,
    rng: np.random.Generator,
    show: Mapping[str, Any],
) -> None:
    """Answer with the comparison at the look that decided, or at the last one."""
    from gnomon.stats.planning import sequential_compare

    if pair is None or len(plan.runs) < 2 or show["figure"] is not None:
        raise typer.BadParameter(
            "--sequential needs two algorithms and --runs at least twice, and has no figure"
        )
    records = []
    for metric in plan.metrics or ["iqm"]:
        found = sequential_compare(
            table, *pair, metric, looks=plan.runs, level=plan.level, gamma=plan.gamma, rng=rng
        )
        names = ("a", "b", "metric", "value", "low", "high", "p_value", "level")
        record = found.comparison.as_record()
        own = {name: record[name] for name in names}
        records.append(own | {"decided": found.decided, "runs": found.runs})
    present(answer, records, **show)
