"""``gnomon demo``: the first road through the house."""

from __future__ import annotations

import dataclasses
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.experiments import play

if TYPE_CHECKING:
    from gnomon.report.findings import Findings, Performance
    from gnomon.stats.comparisons.rank_tests import DifficultyOrder

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
    from gnomon.experiments.config.experiment_library import load_experiment
    from gnomon.report.findings import findings_of
    from gnomon.report.reports import write_report

    with answering("demo", as_json=as_json) as answer:
        cores = len(os.sched_getaffinity(0))
        summary = play(load_experiment("demo"), out, workers or cores, answer)
        # What is printed here are the very numbers of the report.
        findings = findings_of(summary.folder)
        estimates = [_record(p, findings) for p in findings.performances.values()]
        answer.records(estimates, _COLUMNS, title="Terminal cumulated errors")
        for learner, order in findings.orders.items():
            answer.say(f"hardest first, for {learner}: {_in_words(order)}")
            groups = [list(group) for group in order.groups]
            answer.results(
                [{"algorithm": learner, "hardest_first": list(order.names), "groups": groups}]
            )
        page = write_report(findings, out / "report")
        answer.results([{"path": str(page)}])
        answer.say(f"report: {page}")
    raise typer.Exit(1 if summary.failed else 0)


def _record(performance: Performance, findings: Findings) -> dict[str, Any]:
    """Return the median terminal cumulated error of a learner on a rule, as `estimate` tells it."""
    return {
        "task": performance.rule,
        "algorithm": performance.learner,
        "metric": "median",
        **dataclasses.asdict(performance.tce),
        "level": findings.level,
        "method": "percentile",
        "n_runs": performance.n_trials,
        "n_tasks": 1,
        "n_resamples": findings.n_resamples,
    }


def _in_words(order: DifficultyOrder) -> str:
    """Return the tasks, ``=`` between neighbours that nothing separates, else ``>``."""
    text = order.names[0]
    for a, b in itertools.pairwise(order.names):
        tied = any(a in group and b in group for group in order.groups)
        text += f" {'=' if tied else '>'} {b}"
    return text
