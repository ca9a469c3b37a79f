"""The search over all subsets, and the honest error, on the published Atari scores."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks import beyond_training, prototypes
from benchmarks.record import Measurement
from gnomon.distillation import (
    PROCEDURES,
    PreparedScores,
    atari,
    nested_error,
    search_subsets,
    transform_of,
)

_DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
_N_CHECKED = 2000


def measure() -> Iterator[Measurement]:
    """Measure the search, its agreement with scikit-learn, and the errors of the procedures."""
    if "GNOMON_DATA" not in os.environ and (_DATA / "atari5").is_dir():
        os.environ["GNOMON_DATA"] = str(_DATA.resolve())
    data = atari.paper_scores()
    yield from _search(data)
    yield from _agreement(data)
    yield from _whole_process()
    yield from _errors(data)
    yield from prototypes.beside(beyond_training.measure(data))
    yield from _large_tables()


def _processor_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the least processor time of several runs: other programs disturb it least."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def _search(data: PreparedScores) -> Iterator[Measurement]:
    for _ in range(2):
        search_subsets(data, 5, bounded=True)
        search_subsets(data, 5)
    seconds = _processor_seconds(lambda: search_subsets(data, 5))
    name = "10-fold error of all 3,819,816 five-game subsets"
    yield Measurement(
        name, seconds, "s", 0.5, False, "processor time, one core, warm, planning included"
    )
    seconds = _processor_seconds(lambda: search_subsets(data, 5, bounded=True))
    yield Measurement("the same best 20, by the bound", seconds, "s", None, False)
    sample = list(combinations(data.candidates[:12], 5))[:40]
    slow = _processor_seconds(lambda: [_by_scikit_learn(data, s) for s in sample], 1) / len(sample)
    note = f"extrapolated from {len(sample)} subsets"
    yield Measurement("the same by scikit-learn", slow * 3_819_816, "s", None, False, note)


def _agreement(data: PreparedScores) -> Iterator[Measurement]:
    found = search_subsets(data, 5, n_best=3_819_816)
    sample = np.random.default_rng(0).choice(found.n_subsets, _N_CHECKED, replace=False)
    ours = found.errors[sample]
    theirs = np.array([_by_scikit_learn(data, found.subsets[i]) for i in sample])
    worst = float(np.abs(ours / theirs - 1).max())
    note = f"{_N_CHECKED} random subsets of all"
    yield Measurement("largest relative difference", worst, "", 1e-10, False, note)
    top = [_by_scikit_learn(data, tasks) for tasks in found.subsets[:60]]
    same = np.argsort(top, kind="stable")[:20].tolist() == list(range(20))
    yield Measurement("best 20 in scikit-learn's order", float(same), "", 1.0)


def _by_scikit_learn(data: PreparedScores, tasks: tuple[str, ...]) -> float:
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold

    x = data.x[:, data.columns(tasks)]
    whole = ~np.isnan(x).any(axis=1)
    x, y = x[whole], data.target[whole]
    model = LinearRegression(fit_intercept=False)
    errors = []
    for kept, held in KFold(10, shuffle=True, random_state=1982).split(x):
        predicted = model.fit(x[kept], y[kept]).predict(x[held])
        errors.append(np.mean((y[held] - predicted) ** 2))
    return float(np.mean(errors))


def _whole_process() -> Iterator[Measurement]:
    command = [sys.executable, "-m", "gnomon", "distill", "atari5"]
    subprocess.run(command, check=True, capture_output=True)
    everything = [sys.executable, "-c", "import gnomon.distillation"]
    imported = min(_child_seconds(everything, EAGER_IMPORT="1") for _ in range(3))
    note = f"processor time, all validations; importing all of gnomon.distill alone {imported:.2f}"
    seconds = min(_child_seconds(command) for _ in range(3))
    most = 1.5 * imported
    yield Measurement("gnomon distill atari5, whole process", seconds, "s", most, False, note)
    both = [*command, "--procedure", "factor", "--procedure", "paper"]
    subprocess.run(both, check=True, capture_output=True)
    seconds = min(_child_seconds(both) for _ in range(2))
    yield Measurement("the same, and the paper's procedure", seconds, "s", None, False, note)


def _child_seconds(command: list[str], **environment: str) -> float:
    """Return the processor time of a program, with more in its environment."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    around = os.environ | environment
    subprocess.run(command, check=True, capture_output=True, env=around)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _errors(data: PreparedScores) -> Iterator[Measurement]:
    outers = (
        ("folds", 10, 10, 13.5),
        ("algorithms", 1, 1, 13.5),
        ("groups", 1, 1, 13.5),
        ("group-folds", 3, 10, 16.0),
    )
    for name in ("factor", "complete", "paper"):
        for outer, n_folds, n_repeats, target in outers:
            held = nested_error(
                data,
                PROCEDURES[name],
                5,
                outer=outer,
                n_folds=n_folds,
                n_repeats=n_repeats if name != "paper" else min(n_repeats, 3),
                rng=np.random.default_rng(0),
            )
            error, goal = 100 * held.relative_error, target if name == "factor" else None
            note = f"{held.n_predicted} algorithms predicted, tau {held.tau:.3f}"
            yield Measurement(f"nested error, {name}, {outer}", error, "%", goal, False, note)


def _large_tables() -> Iterator[Measurement]:
    for n, n_tasks, gaps in ((500, 120, 0.0), (500, 120, 0.1), (5000, 60, 0.0), (5000, 60, 0.1)):
        # A process of its own, whose memory is that of this search alone.
        call = f"from benchmarks.distill import search_large; search_large({n}, {n_tasks}, {gaps})"
        run = subprocess.run(
            [sys.executable, "-c", call], check=True, capture_output=True, text=True
        )
        seconds, megabytes, n_subsets = json.loads(run.stdout)
        name = f"{n} algorithms x {n_tasks} tasks, size 4, {gaps:.0%} missing"
        note = f"{n_subsets:,} subsets, {megabytes:.0f} MB at most"
        yield Measurement(name, seconds, "s", 60.0, False, note)


def search_large(n: int, n_tasks: int, gaps: float) -> None:
    """Search a made-up table; print processor seconds, the most megabytes held, and subsets."""
    search_subsets(made_up(60, 6, gaps), 4)
    data = made_up(n, n_tasks, gaps)
    began = time.process_time()
    found = search_subsets(data, 4)
    seconds = time.process_time() - began
    print(json.dumps([seconds, _most_megabytes(), found.n_subsets]))


def _most_megabytes() -> float:
    """Return the most memory that this process has held; getrusage would count its parent's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    return float("nan")


def made_up(n: int, n_tasks: int, gaps: float) -> PreparedScores:
    """Return a table of one skill and noise, a share of it missing."""
    rng = np.random.default_rng(0)
    skill = rng.normal(size=(n, 1))
    x = skill * rng.uniform(0.3, 1, n_tasks) + rng.normal(size=(n, n_tasks)) * 0.6
    y = np.median(x, axis=1)
    x[rng.random(x.shape) < gaps] = np.nan
    tasks = tuple(f"t{j:03}" for j in range(n_tasks))
    names = tuple(f"a{i:04}" for i in range(n))
    return PreparedScores(names, tasks, x, y, y, tasks, names, transform_of("identity"))
