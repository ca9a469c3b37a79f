"""How verbs start and grow: processor time and memory of whole processes on small and large data.

What is told as before was measured on two cores, too, before any of this was looked at.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.record import Measurement
from gohr.experiments import ExperimentConfig, run

#: Six learners on fifteen rules, 100 trials of 200 boards each: 9,000 trials.
LEARNERS = [
    "uniform",
    "tabular_q",
    "reinforce",
    "linear_dqn",
    {"kind": "linear_dqn", "learning_rate": 0.01, "name": "dqn-fast"},
    {"kind": "tabular_q", "learning_rate": 0.3, "name": "q-fast"},
]
#: Five learners that are built in, each with a kernel of its own.
FIVE = """
name = "five"
rules = ["clockwise", "color-match"]
learners = ["uniform", "frugal", "tabular_q", "reinforce", "linear_dqn"]
trials = 3
episodes = 20
"""
MEGABYTES = 2000.0
#: What a figure should be at most, if that was said, and what it was before.
Wanted = tuple[float | None, str]


def measure() -> Iterator[Measurement]:
    """Measure starts, a run of 9,000 trials, tables of many algorithms, and of many rows."""
    with tempfile.TemporaryDirectory() as out:
        folder = Path(out)
        yield from _of_starts(folder)
        config = ExperimentConfig("growth", ["gohr-core"], LEARNERS, trials=100, episodes=200)
        run(config, folder / "run", workers=os.cpu_count() or 1)
        yield from _of_run(str(folder / "run"), folder)
        yield from _of_algorithms(folder)
        yield from _of_rows(folder)


def _of_starts(folder: Path) -> Iterator[Measurement]:
    """Measure a run that finds no kernel compiled, and verbs that have little to do."""
    experiment = folder / "five.toml"
    experiment.write_text(FIVE)
    kernels = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
    for start, what, target, before in (
        ("cold", "no kernel compiled", 25.0, "45"),
        ("warm", "all compiled", None, ""),
    ):
        words = ["run", str(experiment), "--workers", "2", "--out", str(folder / start)]
        name = f"run of five learners by two workers, {what}"
        yield _at_most(name, _process(words, kernels)[0], "s", target, before)
    for name, words in (
        ("`status` of that", ["status", str(folder / "warm")]),
        ("`rules list`", ["rules", "list"]),
        ("`--help`", ["--help"]),
    ):
        yield _seconds(name, words, 0.35, least_of=5)


def _of_run(played: str, folder: Path) -> Iterator[Measurement]:
    """Measure the verbs that read a run."""
    for verb, target, before in [
        ("score", 3.0, "34"),
        ("estimate", 3.0, "25"),
        ("compare", 3.0, "24"),
        ("profile", 3.0, "23"),
        ("rank", 3.0, "28"),
        ("status", 0.35, "0.75"),
    ]:
        yield _seconds(f"`{verb}` of 9,000 trials", [verb, played], target, before, least_of=3)
    words = ["report", played, "-j1", "--out", str(folder / "report")]
    yield from _both("`report -j1` of 9,000 trials", words, (30.0, "353 to 469"), (500.0, "1,350"))
    page = folder / "report" / "report.html"
    name = "- its page, beside a folder of figures"
    yield _at_most(name, page.stat().st_size / 1e6, "MB", 5.0, "30")


def _of_algorithms(folder: Path) -> Iterator[Measurement]:
    for n, seconds, megabytes in (
        (400, (20.0, "88"), (MEGABYTES, "")),
        (1000, (120.0, "more than 500"), (MEGABYTES, "9,600")),
    ):
        words = ["rank", str(_table(folder, n, 100, 3))]
        name = f"`rank`, {n:,} algorithms x 100 tasks x 3 runs"
        yield from _both(name, words, seconds, megabytes)


def _of_rows(folder: Path) -> Iterator[Measurement]:
    path = str(_table(folder, 10, 100, 1000))
    for verb, target, before in (
        ("estimate", 8.0, "34"),
        ("compare", 25.0, "112"),
        ("rank", 10.0, "30"),
    ):
        of_what = ", 45 pairs" if verb == "compare" else ""
        yield _seconds(f"CSV of 10^6 rows: `{verb}`{of_what}", [verb, path], target, before)
    path = str(_table(folder, 10, 100, 10_000))
    for how, before in ((["--out", str(folder / "scores.csv")], "5,600"), ([], "")):
        name = " ".join(["CSV of 10^7 rows: `score", *how[:1]]) + "`"
        yield from _both(name, ["score", path, *how], (None, ""), (MEGABYTES, before))
    path = str(_table(folder, 10, 100, 3))
    yield _seconds("`score` prints a table of 3,000 rows", ["score", path], 1.0, "38", least_of=3)
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
    name: str, words: Sequence[str], target: float | None, before: str = "", least_of: int = 1
) -> Measurement:
    seconds = min(_process(words)[0] for _ in range(least_of))
    return _at_most(name, seconds, "s", target, before)


def _both(
    name: str, words: Sequence[str], seconds: Wanted, megabytes: Wanted
) -> Iterator[Measurement]:
    used, held = _process(words)
    yield _at_most(name, used, "s", *seconds)
    yield _at_most("- memory of it", held, "MB", *megabytes)


def _at_most(
    name: str, value: float, unit: str, target: float | None, before: str = ""
) -> Measurement:
    note = f"{before} before" if before else ""
    return Measurement(name, value, unit, target, higher_is_better=False, note=note)


def _process(
    words: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """Return the processor seconds of a verb and its workers, and the most megabytes of one."""
    command = [sys.executable, "-m", "gnomon", *words]
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | (environment or {}),
    ) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"gnomon {' '.join(words)}: exit status {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
