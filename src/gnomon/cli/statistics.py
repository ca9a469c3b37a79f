"""The statistics verbs: ``gnomon estimate``, ``compare``, ``profile``, ``plan`` and their like."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.options import (
    DrawOptions,
    Gamma,
    Level,
    Method,
    Normalize,
    NormalizedScores,
    Only,
    ReadOptions,
    Resamples,
    Resampling,
    Seed,
    ShowOptions,
    Source,
    normalized,
    scores_of,
    scores_or_summaries,
    summaries_of,
    with_groups,
)

__all__ = ["compare", "curves", "estimate", "histograms", "plan", "profile"]

First = Annotated[str | None, typer.Argument(help="An algorithm; without it, all pairs.")]
Second = Annotated[str | None, typer.Argument(help="The one to compare it with.")]


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
    if per_task and (method != "auto" or resampling != "runs"):
        raise typer.BadParameter("--per-task goes without --method and --resampling")
    from gnomon.stats import estimate as estimated

    with answering("estimate", as_json=as_json) as answer:
        runs_only = {"--per-task": per_task, "--resampling": resampling != "runs"}
        table, wanted, by = scores_or_summaries(source, scores, reading, metric, method, runs_only)
        options = draws.arguments() | {"method": by, "resampling": resampling}
        answer.show(estimated(table, wanted, per_task=per_task, **options), **vars(showing))


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
    method: Annotated[
        Literal["auto", "small_sample", "percentile"], typer.Option(help="How intervals are made.")
    ] = "auto",
    *,
    scores: NormalizedScores,
    draws: DrawOptions,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Compare two algorithms, or all pairs: differences with intervals and tests."""
    if a is not None and correction == "max_t":
        raise typer.BadParameter("--correction max_t is for all pairs, found two algorithms")
    if a is None and per_task:
        raise typer.BadParameter("--per-task needs two algorithms, A and B")
    from gnomon import stats
    from gnomon.stats.comparisons.comparison import chosen_pair

    with answering("compare", as_json=as_json) as answer:
        runs_only = {"--paired": paired, "--correction max_t": correction == "max_t"}
        table, wanted, by = scores_or_summaries(source, scores, reading, metric, method, runs_only)
        options = draws.arguments() | {"paired": paired, "method": by}
        if wanted:
            options["metrics"] = wanted
        pair = chosen_pair(table, a, b)
        found = (
            stats.compare_all(table, correction=correction, **options)
            if pair is None
            else stats.compare(table, *pair, per_task=per_task, **options)
        )
        answer.show(found, **vars(showing))


@with_groups
def profile(
    source: Source,
    kind: Annotated[
        Literal["run_score", "average_score", "ratio", "likelihood", "permutation"],
        typer.Option("--kind", "--metric", help="Which share is shown."),
    ] = "run_score",
    tau: Annotated[list[float] | None, typer.Option(help="A threshold; repeatable.")] = None,
    spacing: Annotated[
        Literal["auto", "linear", "log", "data"],
        typer.Option(help="Thresholds, if none is given."),
    ] = "auto",
    band: Annotated[
        Literal["pointwise", "simultaneous", "none"],
        typer.Option("--band", "--method", help="At each threshold, or for the whole curve."),
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
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Show what share of runs, or of tasks, gets past each threshold."""
    from gnomon.stats import profile as profiles_of

    with answering("profile", as_json=as_json) as answer:
        summaries = kind in ("ratio", "likelihood") and summaries_of(
            source, reading, keep_apart, algorithm
        )
        found = profiles_of(
            summaries or scores.last(source, reading, algorithm),
            kind,
            tau,
            spacing=spacing,
            band=band,
            df=df,
            higher_is_better=not reading.lower_is_better,
            level=level,
            n_resamples=resamples,
            rng=seed,
        )
        if kind not in ("run_score", "average_score") and (as_json or tau):
            answer.warn(f"profiles of kind {kind} have no band: low and high are empty")
        answer.show(found, **vars(showing))


@with_groups
def histograms(
    source: Source,
    algorithm: Only = None,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Count the scores of every algorithm on each task: how runs spread, before any summary."""
    from gnomon.stats import score_histograms

    with answering("histograms", as_json=as_json) as answer:
        answer.show(score_histograms(scores.last(source, reading, algorithm)), **vars(showing))


@with_groups
def curves(
    source: Source,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    summary: Annotated[
        Literal["area", "best", "final", "time_to_threshold"] | None,
        typer.Option(help="One number about each curve instead of the curve."),
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
    from gnomon.stats import curves as curves_of

    with answering("curves", as_json=as_json) as answer:
        table = scores_of(source, score, reading, default_metric="cumulated_errors")
        table = normalized(table.select(algorithms=algorithm), normalize)
        wanted, options = metric or "iqm", draws.arguments()
        step = reading.step_column or ("episode" if source.is_dir() else "step")
        found = (
            curves_of(table, wanted, method=method, step=step.replace("_", " "), **options)
            if summary is None
            else curves_of(table, wanted, summary=summary, threshold=threshold, **options)
        )
        answer.show(found, **vars(showing))


@with_groups
def plan(
    source: Source,
    a: First = None,
    b: Second = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    runs: Annotated[
        list[int] | None, typer.Option(min=1, help="Runs per task to try; repeatable.")
    ] = None,
    power: Annotated[float, typer.Option(min=0, max=1, help="Power to reach.")] = 0.8,
    way: Annotated[
        Literal["power", "widths", "subsample", "sequential"],
        typer.Option(
            help="Power of studies, widths of intervals, what fewer of these runs would have said, "
            "or a look after each number of runs."
        ),
    ] = "power",
    simulations: Annotated[int, typer.Option(min=2, help="Simulated studies, or draws.")] = 400,
    level: Level = 0.95,
    seed: Seed = 0,
    gamma: Gamma = None,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    showing: ShowOptions,
    as_json: JsonOption = False,
) -> None:
    """Say how many runs are needed to tell algorithms apart, or what fewer would have said."""
    from gnomon.stats import plan as planned

    with answering("plan", as_json=as_json) as answer:
        found = planned(
            scores.last(source, reading),
            a,
            b,
            metric,
            way=way,
            runs=runs,
            power=power,
            n_simulations=simulations,
            level=level,
            gamma=gamma,
            rng=seed,
        )
        answer.show(found, **vars(showing))
