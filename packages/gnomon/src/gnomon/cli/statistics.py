"""The verbs ``estimate``, ``compare``, ``gate``, ``profile``, ``curves`` and ``plan``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import answering
from gnomon.cli.options import (
    MOST,
    DrawOptions,
    Gamma,
    Level,
    Method,
    Only,
    Resamples,
    Resampling,
    ScoreOptions,
    Seed,
    ShowOptions,
    Variances,
    checked_share,
    scores_or_summaries,
    with_groups,
)
from gnomon.cli.sources import Sources, SourcesAndPair, sources_and_pair
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.stats import Loop

By = Annotated[
    str | None, typer.Option("--by", help="Items: a column whose groups are shown separately too.")
]


@with_groups
def estimate(
    source: Sources,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="mean, median, iqm or optimality_gap; for items mean, pass@K, pass^K; repeatable."
        ),
    ] = None,
    per_task: Annotated[
        bool, typer.Option("--per-task", help="Estimate each task separately.")
    ] = False,
    method: Annotated[Method, typer.Option(help="How intervals are computed.")] = "auto",
    by: By = None,
    resampling: Annotated[
        Resampling, typer.Option(help="Whether the tasks are fixed, or a sample like the runs.")
    ] = "runs",
    variances: Variances = "moderated",
    *,
    scores: ScoreOptions,
    draws: DrawOptions,
    showing: ShowOptions,
) -> None:
    """Estimate summary scores of algorithms, with intervals.

    Example:
      gnomon estimate scores.csv
      gnomon estimate scores.csv --metric iqm --normalize atari --figure iqm.svg
    """
    from gnomon import stats

    reads = (*source, scores.normalize)
    with answering("estimate", reads=reads, **vars(showing)) as answer:
        runs_only = {
            "resampling": resampling != "runs" and resampling,
            "method": method != "auto" and method,
        }
        table, wanted = scores_or_summaries(source, scores, metric, runs_only, per_task)
        options = draws.arguments() | {"method": method}
        options |= {"per_task": per_task, "resampling": resampling, "variances": variances}
        found = stats.estimate(table, wanted, by=by, **options)
        answer.show(found)


@with_groups
def compare(
    sources: SourcesAndPair,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A metric of estimate, or probability_of_improvement; repeatable."),
    ] = None,
    per_task: Annotated[bool, typer.Option("--per-task", help="Compare on each task too.")] = False,
    paired: Annotated[
        bool, typer.Option("--paired", help="Pair the runs that have the same label.")
    ] = False,
    method: Annotated[Method, typer.Option(help="How intervals are computed.")] = "auto",
    resampling: Annotated[
        Resampling | None,
        typer.Option(help="probability_of_improvement: whether the tasks are fixed, or a sample."),
    ] = None,
    variances: Variances = "moderated",
    by: By = None,
    sequential: Annotated[
        Literal["e"] | None,
        typer.Option(help="Items: compare after more and more items, by e-values."),
    ] = None,
    *,
    scores: ScoreOptions,
    draws: DrawOptions,
    showing: ShowOptions,
) -> None:
    """Compare two algorithms, or all pairs.

    Prints differences with intervals and tests.

    Example:
      gnomon compare scores.csv
      gnomon compare scores.csv ppo dqn --per-task
    """
    from gnomon import stats

    reads = (*sources, scores.normalize)
    with answering("compare", reads=reads, **vars(showing)) as answer:
        source, two = sources_and_pair(sources, scores.table)
        runs_only = {"paired": paired, "method": method != "auto" and method}
        table, wanted = scores_or_summaries(source, scores, metric, runs_only)
        options = draws.arguments() | {"paired": paired, "method": method, "variances": variances}
        options |= {"per_task": per_task, "by": by, "sequential": sequential}
        a, b = two or (None, None)
        answer.show(stats.compare(table, a, b, wanted, resampling=resampling, **options))


@dataclass(frozen=True)
class Claims:
    """The claims of a gate, as :func:`gnomon.gate` takes them."""

    metric: Annotated[
        str | None,
        typer.Option(
            help="Tasks: mean, median, iqm or probability_of_improvement; items: mean, pass@K or "
            "pass^K."
        ),
    ] = None
    non_inferior: Annotated[
        str | None,
        typer.Option(
            metavar="MARGIN",
            help="Pass only if a larger loss is ruled out: 0.02 in points, 2% of the value of "
            "BASE.",
        ),
    ] = None
    regression: Annotated[
        bool, typer.Option("--regression", help="Fail only if NEW is significantly worse.")
    ] = False
    superior: Annotated[
        bool, typer.Option("--superior", help="Pass only if NEW is significantly better.")
    ] = False
    by: Annotated[
        str | None, typer.Option("--by", help="A column, or task: its groups must pass too.")
    ] = None
    missing: Annotated[
        Literal["refuse", "wrong", "drop"],
        typer.Option(help="How to treat scores of BASE that NEW lacks."),
    ] = "refuse"
    worst: Annotated[
        float | None,
        typer.Option(help="Worst score for --missing wrong, if scores are not from 0 to 1."),
    ] = None
    require: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Share of the tasks or items that NEW must have."),
    ] = None
    paired: Annotated[
        bool, typer.Option("--paired", help="Pair the runs that have the same label.")
    ] = False


@with_groups
def gate(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NEW BASE",
            show_default=False,
            help="Scores of the new version and of the base; or sources with both, followed by "
            "their names. With --loop: files of runs, or - for JSON lines.",
        ),
    ] = None,
    *,
    claims: Claims,
    loop: Annotated[
        Path | None,
        typer.Option(
            metavar="STATE",
            help="Decide on the candidates of the loop whose state this file holds.",
        ),
    ] = None,
    familywise: Annotated[
        bool,
        typer.Option("--familywise", help="With --loop: bound the probability of any false keep."),
    ] = False,
    error: Annotated[
        float | None,
        typer.Option(
            help="With --loop: the bound on the expected share of false keeps (0.1), or with "
            "--familywise on the probability of any (0.05).",
            callback=lambda error: None if error is None else checked_share(error),
        ),
    ] = None,
    level: Level = 0.95,
    scores: ScoreOptions,
    showing: ShowOptions,
) -> None:
    """Pass or fail a new version, or keep candidates of a loop.

    Exit status 0 if all claims hold (with --loop: if the latest candidate is kept), 1 if not, 2 if
    they cannot be decided.

    Example:
      gnomon gate new.csv base.csv --non-inferior 0.02 --regression
      gnomon gate scores.csv ppo dqn --metric iqm --superior
      gnomon gate --loop state.json results.tsv
    """
    unlike = {"familywise": familywise, "error": error}
    if loop is not None:
        unlike = vars(claims) | {"where": scores.where, "normalize": scores.normalize}
    for name, given in unlike.items():
        if given not in (None, False, "refuse"):
            verb = "needs" if loop is None else "does not apply to"
            raise typer.BadParameter(f"--{name.replace('_', '-')} {verb} --loop")
    if loop is not None:
        with answering("gate", reads=[loop, *(sources or [])], **vars(showing)) as answer:
            is_new = not loop.exists()
            state = _loop_of(loop, familywise, error, scores.lower_is_better)
            for place in sources or []:
                state.read(place, scores.score)
            decided = state.decisions(level)
            state.to_file(loop)
            if is_new:
                better = "higher" if state.higher_is_better else "lower"
                about = f"{state.first} is the baseline, {better} scores are better"
                print(f"{loop}: new loop; {about}", file=sys.stderr)
            answer.show(decided)
        if decided.latest.decision != "keep":
            raise typer.Exit(1)
        return
    if not sources:
        raise typer.BadParameter("expected NEW and BASE, found none")
    from gnomon import stats
    from gnomon.stats.comparison import chosen_pair

    reads = (*sources, scores.normalize)
    with answering("gate", reads=reads, **vars(showing)) as answer:
        source, two = sources_and_pair(sources, scores.table)
        if two is None and len(source) != 2:
            raise typer.BadParameter(f"expected NEW and BASE, found {' '.join(sources)}")
        own = (scores.normalize or "").startswith(("min-max", "reference:"))
        if two is None and own:
            raise typer.BadParameter(f"--normalize {scores.normalize} needs one table of both")
        named = None if claims.metric is None else [claims.metric]
        tables = [
            scores_or_summaries(part, scores, named, {"paired": claims.paired})[0]
            for part in ([source] if two else [[word] for word in source])
        ]
        if two:
            chosen_pair(tables[0], *two)
            tables = [tables[0].select(algorithms=[name]) for name in two]
        new, base = tables
        found = stats.gate(new, base, **vars(claims), level=level)
        answer.show(found)
    if not found.passed:
        raise typer.Exit(1)


def _loop_of(path: Path, familywise: bool, error: float | None, lower_is_better: bool) -> Loop:
    """Return the loop of a file, or a new one."""
    from gnomon.stats import Loop

    if not path.exists():
        return Loop(familywise=familywise, error=error, higher_is_better=not lower_is_better)
    loop = Loop.from_file(path)
    for given, known in (
        (familywise, loop.familywise),
        (error, loop.error),
        (lower_is_better, not loop.higher_is_better),
    ):
        if given and given != known:
            raise ScoreDataError(
                f"{path}: expected the options with which the loop began, or none; --familywise, "
                "--error and --lower-is-better cannot change within a loop"
            )
    return loop


@with_groups
def profile(
    source: Sources,
    kind: Annotated[
        Literal["run_score", "average_score", "ratio", "likelihood"],
        typer.Option(help="Which share to show."),
    ] = "run_score",
    tau: Annotated[list[float] | None, typer.Option(help="Threshold; repeatable.")] = None,
    algorithm: Only = None,
    level: Level = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
    *,
    scores: ScoreOptions,
    showing: ShowOptions,
) -> None:
    """Show the share of runs or tasks above a threshold.

    Example:
      gnomon profile scores.csv --figure profile.svg
      gnomon profile scores.csv --kind ratio
    """
    from gnomon.stats import profile as profiles_of

    reads = (*source, scores.normalize)
    with answering("profile", reads=reads, **vars(showing)) as answer:
        table = scores.last(source, algorithm)
        found = profiles_of(table, kind, tau, level=level, n_resamples=resamples, rng=seed)
        if kind not in ("run_score", "average_score") and (showing.as_json or tau):
            answer.warn(f"profiles of kind {kind} have no bands: low and high are empty")
        answer.show(found)


@with_groups
def curves(
    source: Sources,
    metric: Annotated[list[str] | None, typer.Option(help="A metric; repeatable.")] = None,
    summary: Annotated[
        Literal["area", "best", "final", "time_to_threshold"] | None,
        typer.Option(help="Estimate one number about each run's curve instead."),
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="Threshold of time_to_threshold.")] = None,
    method: Annotated[Method, typer.Option(help="How bands are computed.")] = "auto",
    algorithm: Only = None,
    at: Annotated[
        float | None, typer.Option(help="Last step of the curves; shorter runs are left out.")
    ] = None,
    grid: Annotated[int | None, typer.Option(min=2, help="Number of evenly spaced steps.")] = None,
    *,
    scores: ScoreOptions,
    draws: DrawOptions,
    showing: ShowOptions,
) -> None:
    """Show metrics over the steps of training.

    Prints values with bands, or estimates of one number about each run's curve.

    Example:
      gnomon curves curves.csv --figure curves.svg
      gnomon curves curves.csv --summary area
    """
    if threshold is not None and summary != "time_to_threshold":
        raise typer.BadParameter("--threshold applies to --summary time_to_threshold only")
    from gnomon.scores.steps import up_to
    from gnomon.stats import curves as curves_of
    from gnomon.stats import estimate as estimate_of
    from gnomon.stats import summarize_runs

    reads = (*source, scores.normalize)
    with answering("curves", reads=reads, **vars(showing)) as answer:
        table = scores.table(source, curves=True).select(algorithms=algorithm)
        table = scores.normalized(table if at is None else up_to(table, at))
        wanted, options = metric or "iqm", draws.arguments() | {"method": method}
        if summary is None:
            answer.show(curves_of(table, wanted, grid=grid, **options))
        else:
            runs = summarize_runs(table, summary, threshold=threshold)
            answer.show(estimate_of(runs, wanted, **options))


@with_groups
def plan(
    sources: SourcesAndPair,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A metric; repeatable. [default: probability_of_improvement]"),
    ] = None,
    runs: Annotated[
        list[int] | None,
        typer.Option(
            min=1, max=MOST, help="Runs per task to try; repeatable. [default: 3, 5, 10, 20, 40]"
        ),
    ] = None,
    power: Annotated[float, typer.Option(help="Power to reach.", callback=checked_share)] = 0.8,
    level: Level = 0.95,
    gamma: Gamma = None,
    *,
    scores: ScoreOptions,
    showing: ShowOptions,
) -> None:
    """Estimate how many runs are needed.

    Prints the power of each number of runs if the true difference is the lower limit of its
    one-sided 80 % interval, since the observed difference may be due to chance.

    Example:
      gnomon plan scores.csv ppo dqn
      gnomon plan scores.csv --runs 4 --runs 8 --power 0.9
    """
    from gnomon.stats import plan as planned

    reads = (*sources, scores.normalize)
    with answering("plan", reads=reads, **vars(showing)) as answer:
        source, named = sources_and_pair(sources, scores.table)
        a, b = named or (None, None)
        table = scores.last(source)
        options: dict[str, Any] = {"power": power, "level": level, "gamma": gamma}
        answer.show(planned(table, a, b, metric, runs=runs, **options))
