"""``gnomon run``: playing an experiment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.answer import Answer, JsonOption, answering

if TYPE_CHECKING:
    from gnomon.experiments.config import ExperimentConfig
    from gnomon.experiments.runner import RunSummary

__all__ = ["play", "run"]

_MOST_ERRORS_SHOWN = 10


def run(
    config: Annotated[str, typer.Argument(help="An experiment of the library, or a TOML file.")],
    out: Annotated[Path, typer.Option(help="The run folder: new, or of the same experiment.")],
    workers: Annotated[int, typer.Option("--workers", "-j", min=1, help="Processes.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Play an experiment, or go on with it where it stopped."""
    from gnomon.experiments.catalogue import load_experiment

    with answering("run", as_json=as_json) as answer:
        summary = play(load_experiment(config), out, workers, answer)
        answer.results(_status(summary))
    raise typer.Exit(1 if summary.failed else 0)


def play(config: ExperimentConfig, out: Path, workers: int, answer: Answer) -> RunSummary:
    """Run with a bar, and say what came of it; Ctrl-C keeps what has been played."""
    from gnomon.cli.progress import progress_bar
    from gnomon.experiments.runner import run

    try:
        with progress_bar() as progress:
            summary = run(config, out, workers=workers, progress=progress)
    except KeyboardInterrupt:
        answer.warn(f"stopped; what was played is in {out}, and the same command goes on")
        raise typer.Exit(130) from None
    counts = f"{summary.done} done, {summary.skipped} skipped, {summary.failed} failed"
    answer.say(f"{config.name}: {config.n_trials} trials ({counts}) in {out}")
    for error in summary.errors[:_MOST_ERRORS_SHOWN]:
        answer.warn(f"failed: {error}")
    if len(summary.errors) > _MOST_ERRORS_SHOWN:
        answer.warn(f"failed: {len(summary.errors) - _MOST_ERRORS_SHOWN} more")
    return summary


def _status(summary: RunSummary) -> list[dict[str, Any]]:
    """Return how many trials of each learner on each rule are done, failed and missing."""
    config = summary.folder.config
    counts = Counter((r.learner, r.rule, r.status) for r in summary.folder.trials())
    rows = []
    for learner in config.learners:
        for rule in config.rules:
            done, failed = (counts[learner.name, rule.name, s] for s in ("done", "failed"))
            row = {"learner": learner.name, "rule": rule.name, "done": done, "failed": failed}
            rows.append(row | {"missing": config.trials - done - failed})
    return rows
