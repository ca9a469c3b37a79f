"""How verbs grow: processor time and memory of whole processes on large runs and large tables."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.record import Measurement
from gnomon.experiments import ExperimentConfig, run

#: Six learners on fifteen rules, 100 trials of 200 boards each: 9,000 trials.
LEARNERS = [
    "uniform",
    "tabular_q",
    "reinforce",
    "linear_dqn",
    {"kind": "linear_dqn", "learning_rate": 0.01, "name": "dqn-fast"},
    {"kind": "tabular_q", "learning_rate": 0.3, "name": "q-fast"},
]
MEGABYTES = 2000.0


def measure() -> Iterator[Measurement]:
    """Measure a run of 9,000 trials, tables of many algorithms, and tables of many rows."""
    with tempfile.TemporaryDirectory() as out:
        folder = Path(out)
        config = ExperimentConfig("growth", ["gohr-core"], LEARNERS, trials=100, episodes=200)
        run(config, folder / "run", workers=os.cpu_count() or 1)
        yield from of_run(str(folder / "run"), folder)
        yield from _of_algorithms(folder)
        yield from _of_rows(folder)


def of_run(played: str, folder: Path) -> Iterator[Measurement]:
    """Measure the verbs that read a run."""
    for verb, target in [
        ("score", 3.0),
        ("estimate", 3.0),
        ("compare", 3.0),
        ("profile", 3.0),
        ("rank", 3.0),
        ("status", 0.35),
    ]:
        yield _seconds(f"`{verb}` of 9,000 trials", [verb, played], target, least_of=3)
    words = ["report", played, "-j1", "--out", str(folder / "report")]
    yield from _both("`report -j1` of 9,000 trials", words, 30.0, 500.0)
    page = folder / "report" / "report.html"
    yield _at_most("- its page, beside a folder of figures", page.stat().st_size / 1e6, "MB", 5.0)


def _of_algorithms(folder: Path) -> Iterator[Measurement]:
    for n, target in ((400, 20.0), (1000, 120.0)):
        path = _table(folder, n, 100, 3)
        words = ["rank", str(path)]
        yield from _both(f"`rank`, {n:,} algorithms x 100 tasks x 3 runs", words, target, MEGABYTES)


def _of_rows(folder: Path) -> Iterator[Measurement]:
    path = str(_table(folder, 10, 100, 1000))
    for verb, target in (("estimate", 8.0), ("compare", 25.0), ("rank", 10.0)):
        yield _seconds(f"CSV of 10^6 rows: `{verb}`", [verb, path], target)
    path = str(_table(folder, 10, 100, 10_000))
    for how in ([], ["--out", str(folder / "scores.csv")]):
        name = " ".join(["CSV of 10^7 rows: `score", *how[:1]]) + "`"
        yield from _both(name, ["score", path, *how], None, MEGABYTES)
    path = str(_table(folder, 3, 5, 2))
    yield _seconds("`estimate` of a CSV of 30 rows", ["estimate", path], 0.6, least_of=5)


def _table(folder: Path, n: int, n_tasks: int, n_runs: int) -> Path:
    """Write a tidy table of normal scores."""
    rng = np.random.default_rng(0)
    algorithm, task, replicate = (
        part.ravel() for part in np.indices((n, n_tasks, n_runs), dtype=np.int32)
    )
    scores = rng.normal(size=n)[algorithm] + rng.normal(size=algorithm.size)
    path = folder / f"{n}x{n_tasks}x{n_runs}.csv"
    pl.DataFrame(
        {"algorithm": algorithm, "task": task, "run": replicate, "score": scores.round(6)}
    ).with_columns(
        pl.format("a{}", "algorithm").alias("algorithm"), pl.format("t{}", "task").alias("task")
    ).write_csv(path)
    return path


def _seconds(
    name: str, words: Sequence[str], target: float | None, least_of: int = 1
) -> Measurement:
    return _at_most(name, min(_process(words)[0] for _ in range(least_of)), "s", target)


def _both(
    name: str, words: Sequence[str], target: float | None, most: float
) -> Iterator[Measurement]:
    seconds, megabytes = _process(words)
    yield _at_most(name, seconds, "s", target)
    yield _at_most("- memory of it", megabytes, "MB", most)


def _at_most(name: str, value: float, unit: str, target: float | None) -> Measurement:
    return Measurement(name, value, unit, target, higher_is_better=False)


def _process(words: Sequence[str]) -> tuple[float, float]:
    """Return the processor seconds and the most megabytes of a verb in a process of its own."""
    command = [sys.executable, "-m", "gnomon", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"gnomon {' '.join(words)}: exit status {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
