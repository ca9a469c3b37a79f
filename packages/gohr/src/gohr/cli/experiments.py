"""The verbs of runs: ``demo, run, status, verify, report``."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli import Answer, JsonOption, Level, Seed, answering
from gnomon.errors import GnomonWarning

if TYPE_CHECKING:
    from gohr.experiments.config import ExperimentConfig
    from gohr.experiments.runs import Run

_MOST_SHOWN = 10


def run(
    config: Annotated[
        str, typer.Argument(help="An experiment of the library, a TOML file, a suite or a rule.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Run folder, new or to be resumed; by default NAME-run."),
    ] = None,
    learners: Annotated[
        str | None, typer.Option(help="Replace the learners: names separated by commas.")
    ] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Replace the number of trials.")] = None,
    episodes: Annotated[
        int | None, typer.Option(min=1, help="Replace the number of episodes.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Replace the seed.")] = None,
    workers: Annotated[int, typer.Option("--workers", "-j", min=1, help="Processes.")] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Play on a Dask cluster: tcp://..., or local for one on this machine."),
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="Write a report of the run.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Play an experiment, or resume it.

    Example:
      gohr run experiment.toml --out run --workers 4
      gohr run clockwise --learners tabular_q,frugal --out run
    """
    from gohr.experiments import load_experiment
    from gohr.experiments import status as status_of
    from gohr.rules.linter import lint

    given = {
        "learners": None if learners is None else [x.strip() for x in learners.split(",")],
        "trials": trials,
        "episodes": episodes,
        "seed": seed,
    }
    with answering("run", as_json=as_json) as answer:
        changes = {name: value for name, value in given.items() if value is not None}
        experiment = load_experiment(config, **changes)
        for rule in experiment.rules:
            for finding in lint(rule.rule_set):
                if finding.severity == "warning":
                    answer.warn(f"rule {rule.name}, {finding}")
        out = out or Path(f"{Path(experiment.name).name}-run")
        found = run_with_progress(experiment, out, workers, answer, scheduler=scheduler)
        answer.results(status_of(found).as_records())
        if report:
            from gohr.run_page import report as write

            answer.say(f"report: {write(found, out / 'report')}")
    raise typer.Exit(1 if any(trial.error for trial in found.trials()) else 0)


def run_with_progress(
    config: ExperimentConfig,
    out: Path,
    workers: int,
    answer: Answer,
    *,
    scheduler: str | None = None,
) -> Run:
    """Run with a progress bar, and print the status; Ctrl-C keeps the attempts so far."""
    from gnomon.cli import bar_of
    from gohr.experiments import run
    from gohr.experiments import status as status_of
    from gohr.experiments.progress import is_run_folder

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        answer.warn(str(message))

    try:
        with bar_of("trials") as progress, warnings.catch_warnings():
            # Before the first trial, and not after the last.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", GnomonWarning)
            warnings.showwarning = warn
            found = run(config, out, workers=workers, scheduler=scheduler, progress=progress)
    except KeyboardInterrupt:
        kept = f"the attempts so far are in {out}, and the same command resumes the run"
        if not is_run_folder(out):
            kept = "no trial was begun, and the same command starts the run"
        answer.warn(f"stopped; {kept}")
        raise typer.Exit(130) from None
    answer.say(" ".join(status_of(found).notes))
    failed = [trial for trial in found.trials() if trial.error]
    for trial in failed[:_MOST_SHOWN]:
        answer.warn(f"failed: {trial.learner} on {trial.rule}, {trial.trial}: {trial.error}")
    if len(failed) > _MOST_SHOWN:
        answer.warn(f"failed: {len(failed) - _MOST_SHOWN} more")
    return found


def status(
    folder: Annotated[Path, typer.Argument(help="A run folder.", readable=False)],
    as_json: JsonOption = False,
) -> None:
    """Show which trials of a run are done, failed or missing.

    Example:
      gohr status run
    """
    from gohr.experiments import status as status_of

    with answering("status", as_json=as_json) as answer:
        answer.show(status_of(folder))


def verify(
    run: Annotated[Path, typer.Argument(help="A run folder, or a log with --assignment.")],
    assignment: Annotated[
        Path | None,
        typer.Option(help="The config that a leaderboard assigned; the run must match it."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Replay every attempt of a run, and report differences.

    Example:
      gohr verify run
      gohr verify run --assignment assigned.toml
    """
    from gohr.experiments import verify as verified

    with answering("verify", as_json=as_json) as answer:
        answer.show(found := verified(run, assignment=assignment))
    raise typer.Exit(0 if found.ok else 1)


def demo(
    out: Annotated[Path, typer.Option(help="The run folder; the report goes into it.")] = Path(
        "gohr-demo"
    ),
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, help="Processes; all cores by default.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play the four sample rules and write a report.

    Example:
      gohr demo --out demo
    """
    from gnomon import estimate
    from gohr.experiments import load_experiment, score
    from gohr.run_page import report as write

    with answering("demo", as_json=as_json) as answer:
        cores = workers or len(os.sched_getaffinity(0))
        found = run_with_progress(load_experiment("demo"), out, cores, answer)
        # The same numbers as in the report.
        answer.show(estimate(score(found), per_task=True))
        page = write(found, out / "report")
        answer.results([{"path": str(page)}])
        answer.say(f"report: {page}")
    raise typer.Exit(1 if any(trial.error for trial in found.trials()) else 0)


def report(
    run: Annotated[Path, typer.Argument(help="A run folder, finished or not.", readable=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder, a .html file (the page only) or a .md file (a short page); "
            "by default report/ in the run folder."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline rule, if not that of the experiment."),
    ] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    conclude_after: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Also show how many test boards are lost by poor tests and by poor inference if "
            "learners conclude after this number of boards (up to half a second per trial).",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the report of a run: a page, figures and their numbers.

    Example:
      gohr report run --out report.html
    """
    from gohr.run_page import report as write

    with answering("report", as_json=as_json) as answer:
        page = write(
            run,
            out,
            level=level,
            seed=seed,
            baseline=baseline,
            conclude_after=conclude_after,
        )
        answer.results([{"path": str(page)}])
        answer.say(str(page))
