"""``gnomon demo``: the first road through the house."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.experiments import play
from gnomon.cli.scores import task_estimates

if TYPE_CHECKING:
    from gnomon.stats.tests import DifficultyOrder

__all__ = ["demo"]

_COLUMNS = ("task", "algorithm", "metric", "value", "low", "high", "n_runs")


def demo(
    out: Annotated[Path, typer.Option(help="The run folder; the report goes into it.")] = Path(
        "gnomon-demo"
    ),
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, help="Processes; all cores by default.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play the four sample rules, estimate how hard each is, and write a report."""
    import numpy as np

    from gnomon.experiments.catalogue import load_experiment
    from gnomon.experiments.scoring import score_table
    from gnomon.report.page import build_report
    from gnomon.stats.tests import difficulty_order

    with answering("demo", as_json=as_json) as answer:
        cores = len(os.sched_getaffinity(0))
        summary = play(load_experiment("demo"), out, workers or cores, answer)
        table = score_table(summary.folder, "tce")
        estimates = task_estimates(table, ["median"], rng=np.random.default_rng(0))
        answer.records(estimates, _COLUMNS, title="Terminal cumulated errors")
        for learner in table.algorithms:
            order = difficulty_order({task: table.runs(learner, task) for task in table.tasks})
            answer.say(f"hardest first, for {learner}: {_in_words(order)}")
            groups = [list(group) for group in order.groups]
            answer.results(
                [{"algorithm": learner, "hardest_first": list(order.names), "groups": groups}]
            )
        page = build_report(out, out / "report")
        answer.results([{"path": str(page)}])
        answer.say(f"report: {page}")
    raise typer.Exit(1 if summary.failed else 0)


def _in_words(order: DifficultyOrder) -> str:
    """Return the tasks, ``=`` between neighbours that nothing separates, else ``>``."""
    text = order.names[0]
    for a, b in itertools.pairwise(order.names):
        tied = any(a in group and b in group for group in order.groups)
        text += f" {'=' if tied else '>'} {b}"
    return text
