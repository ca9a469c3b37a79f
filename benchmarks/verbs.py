"""Processor time of whole processes: starts, tidy files with memory, and verbs on a large run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.record import Measurement
from gnomon.scores import ScoreTable, write_scores
from gohr.experiments import ExperimentConfig, run

#: Rows of tidy files, each with the most seconds and megabytes that reading may take.
ROWS = {10**5: (0.2, None), 10**6: (1.5, None), 10**7: (17.0, 550.0)}
#: Reads a file and prints the most kilobytes that the process had.
READ = """
import re, sys, gnomon
gnomon.read_scores(sys.argv[1])
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""
#: Six learners on fifteen rules, 100 trials of 200 boards each: 9,000 trials.
LEARNERS = [
    "uniform",
    "tabular_q",
    "reinforce",
    "linear_dqn",
    {"kind": "linear_dqn", "learning_rate": 0.01, "name": "dqn-fast"},
    {"kind": "tabular_q", "learning_rate": 0.3, "name": "q-fast"},
]


def measure() -> Iterator[Measurement]:
    """Measure starts, tidy files, and the verbs that read a run of 9,000 trials."""
    with tempfile.TemporaryDirectory() as out:
        folder = Path(out)
        small = _table(folder, 2, 3, 5)
        yield _verb("gnomon --help", 0.15, repeats=5)
        yield _verb("gohr --help", 0.3, repeats=5)
        yield _verb(f"gnomon estimate {small}", 0.35, repeats=5)
        for rows, (seconds, megabytes) in ROWS.items():
            path = _table(folder, 10, 100, rows // 1000)
            words, repeats = ["-c", READ, str(path)], max(10**6 // rows, 1)
            used, kilobytes = min(_processor_seconds(words) for _ in range(repeats))
            name = f"tidy CSV of {rows:,} rows"
            yield Measurement(name, used, "CPU s", seconds, higher_is_better=False)
            peak = int(kilobytes) / 1024
            yield Measurement("- peak memory", peak, "MB", megabytes, higher_is_better=False)
        config = ExperimentConfig("verbs", ["gohr-core"], LEARNERS, trials=100, episodes=200)
        run(config, folder / "run", workers=os.cpu_count() or 1)
        for verb, target in (("status", 0.3), ("score", 1.0), ("report", 12.0)):
            more = f" --out {folder / 'report'}" if verb == "report" else ""
            yield _verb(f"gohr {verb} {folder / 'run'}{more}", target, repeats=3)


def _table(folder: Path, n: int, n_tasks: int, n_runs: int) -> Path:
    """Write a tidy file of normal scores."""
    rng = np.random.default_rng(0)
    path = folder / f"{n}x{n_tasks}x{n_runs}.csv"
    scores = {f"a{i}": rng.normal(i, 1.0, (n_runs, n_tasks)).round(6) for i in range(n)}
    write_scores(ScoreTable.from_arrays(scores), path)
    return path


def _verb(command: str, seconds: float, repeats: int = 1) -> Measurement:
    """Measure a command; its name has the files without their folders."""
    name = " ".join(Path(word).name for word in command.split())
    used = min(_processor_seconds(["-m", *command.split()])[0] for _ in range(repeats))
    return Measurement(name, used, "CPU s", seconds, higher_is_better=False)


def _processor_seconds(words: list[str]) -> tuple[float, str]:
    """Return the processor seconds of a process and its workers, and what it prints.

    Modules are compiled by the first process alone, as after an installation.
    """
    env = {name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=env,
    ) as child:
        printed = child.stdout.read() if child.stdout else ""
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(words)}: exit status {child.returncode}")
    return used.ru_utime + used.ru_stime, printed
