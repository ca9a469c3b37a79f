"""Speed of planning and comparing, beside the version that took each alone.

Up to the revision :data:`BEFORE` every simulated study, task and step of a search was computed by
itself. It is taken from the repository's history and timed in the same run, one thread each, in
processor time. Jobs are of four algorithms, six pairs: the time of all pairs grows with their
number.
"""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import gnomon
from benchmarks.record import Measurement

BEFORE = "a93583b"
#: Algorithms, tasks and runs of the tables that both versions are timed with.
SHAPES = ((4, 26, 5), (4, 57, 10))
#: Those that only this version is timed with.
LARGE = ((20, 26, 5), (20, 57, 10), (42, 26, 5), (42, 57, 10))
JOBS = {
    "plan": "plan of all pairs, iqm",
    "plan_mean": "plan of all pairs, mean",
    "plan_median": "plan of all pairs, median",
    "medians": "compare all pairs on medians",
    "tasks": "compare two on four metrics, per task",
    "mean": "compare two on the mean, per task",
    "median": "compare two on the median, per task",
    "iqm": "compare two on the interquartile mean, per task",
    "optimality_gap": "compare two on the optimality gap, per task",
    "probability_of_improvement": "compare two on the probability of improvement, per task",
}

_TIMED = """
import json, sys, time, warnings
import numpy as np
from gnomon.scores import ScoreTable
from gnomon.stats import compare, plan
warnings.simplefilter("ignore")
names, *shape = json.loads(sys.argv[1])
n, n_tasks, n_runs = shape
draws = np.random.default_rng(0)
true = draws.normal(0, 0.3, (n, 1, n_tasks)) + np.linspace(0, 1, n)[:, None, None]
true += draws.normal(0, 1, n_tasks)
noise = draws.normal(0, 0.5, (n, n_runs, n_tasks)) * np.exp(draws.normal(0, 0.5, n_tasks))
table = ScoreTable.from_arrays({f"a{i}": x for i, x in enumerate(true + noise)})
four = ["mean", "median", "iqm", "probability_of_improvement"]
jobs = {
    "plan": lambda: plan(table, metrics="iqm"),
    "plan_mean": lambda: plan(table, metrics="mean"),
    "plan_median": lambda: plan(table, metrics="median"),
    "medians": lambda: compare(table, metrics="median"),
    "tasks": lambda: compare(table, "a0", "a1", four, per_task=True),
}
for metric in [*four, "optimality_gap"]:
    jobs[metric] = lambda metric=metric: compare(table, "a0", "a1", metric, per_task=True)


def seconds(job):
    begin = time.process_time()
    job()
    return time.process_time() - begin


jobs["tasks"]()  # loads what a first call loads
plan(table, metrics="mean")
repeats = {name: 1 if name.startswith("plan") or n > 4 else 9 for name in names}
print(json.dumps({x: min(seconds(jobs[x]) for _ in range(repeats[x])) for x in names}))
"""


def measure() -> Iterator[Measurement]:
    """Time both versions, then all pairs of larger tables with this one."""
    now = Path(gnomon.__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        before = _before(Path(folder))
        for shape in SHAPES:
            yield from _beside(_seconds(now, JOBS, shape), before, shape)
    for shape in LARGE:
        seconds = _seconds(now, ["medians"], shape)["medians"]
        yield Measurement(f"{JOBS['medians']}, {_in_words(shape)}", seconds, "s")


def _before(folder: Path) -> Path | str:
    """Return where the older version is, or why it is not to be had."""
    root = Path(__file__).parents[1]
    try:
        archive = ["git", "-C", str(root), "archive", BEFORE, "src"]
        files = subprocess.run(archive, check=True, capture_output=True).stdout
    except (subprocess.SubprocessError, OSError) as error:
        return f"revision {BEFORE} is not in a repository here ({type(error).__name__})"
    with tarfile.open(fileobj=io.BytesIO(files)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "src"


def _seconds(source: Path, names: Iterable[str], shape: tuple[int, int, int]) -> dict[str, float]:
    """Return the processor time of jobs, in a process that has one thread and that version."""
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", _TIMED, json.dumps([list(names), *shape])]
    said = subprocess.run(command, check=True, capture_output=True, env=os.environ | one_thread)
    found: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return found


def _beside(
    now: dict[str, float], before: Path | str, shape: tuple[int, int, int]
) -> Iterator[Measurement]:
    then = _seconds(before, JOBS, shape) if isinstance(before, Path) else {}
    for name, title in JOBS.items():
        title = f"{title}, {_in_words(shape)}"
        yield Measurement(title, now[name], "s")
        if isinstance(before, str):
            yield Measurement("- times as fast as before", math.nan, "x", 5.0, note=before)
            continue
        note = f"{then[name]:.3g} s before"
        yield Measurement("- times as fast as before", then[name] / now[name], "x", 5.0, note=note)


def _in_words(shape: tuple[int, int, int]) -> str:
    return "{} x {} x {}".format(*shape)
