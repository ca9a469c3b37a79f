"""Speed of the statistics: against rliable in the same run, scaling, memory.

rliable is installed into an environment of its own, with pandas below 3; where that cannot be done,
its lines say so. It is timed with fewer resamples, and the time scaled, since its cost is linear.
Both have one thread, and the least processor time of five counts.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.record import Measurement, processor_seconds
from gnomon.scores import ScoreTable
from gnomon.stats import Strata, estimate, metric_named
from gnomon.stats import profile as profiles_of
from gnomon.stats.bootstrap import draw_key, replicates
from gnomon.stats.improvement import resampled_improvement

N_ALGORITHMS, N_TASKS, N_RUNS = 5, 26, 10
#: Resamples that rliable is timed with, and that are asked of it.
TIMED = {"estimates": (2_000, 50_000), "profile": (400, 2_000), "improvement": (100, 2_000)}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

_PEER = """
import json, sys, time
import numpy as np
from rliable import library as rly, metrics
timed = json.loads(sys.argv[1])
draws = np.random.default_rng(0)
scores = {str(i): draws.gamma(1.0, 1.0, (10, 26)) for i in range(5)}

def four(x):
    return np.array([metrics.aggregate_mean(x), metrics.aggregate_median(x),
                     metrics.aggregate_iqm(x), metrics.aggregate_optimality_gap(x)])

def seconds(work):
    found = []
    for _ in range(5):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)

one = {"0": scores["0"]}
pair = {"0,1": tuple(draws.gamma(1.0, 1.0, (100, 26)) for _ in range(2))}
chance = metrics.probability_of_improvement
print(json.dumps({
    "estimates": seconds(lambda: rly.get_interval_estimates(scores, four, reps=timed["estimates"])),
    "profile": seconds(lambda: rly.create_performance_profile(
        one, np.linspace(0.0, 8.0, 81), reps=timed["profile"])),
    "improvement": seconds(lambda: rly.get_interval_estimates(
        pair, chance, reps=timed["improvement"])),
}))
"""

_LARGE = """
import resource, sys, time
import numpy as np
from gnomon.scores.table import ScoreTable
from gnomon.stats.estimates import estimate
draws = np.random.default_rng(0)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
table = ScoreTable.from_arrays({str(i): draws.gamma(1.0, 1.0, (1000, 1000)) for i in range(10)})
built, start = peak(), time.process_time()
estimate(table, method="percentile", n_resamples=int(sys.argv[1]), rng=draws)
print(time.process_time() - start, built, peak())
"""


def measure() -> Iterator[Measurement]:
    """Time estimates, profile band, improvement, and growth."""
    yield from _against(_ours_alone(), _peer())
    yield from _growth()
    yield from _large()


def _scores(n_runs: int, n_tasks: int) -> np.ndarray:
    return np.random.default_rng(0).gamma(1.0, 1.0, (n_runs, n_tasks))


def _table() -> ScoreTable:
    draws = np.random.default_rng(0)
    shape = (N_RUNS, N_TASKS)
    return ScoreTable.from_arrays({f"a{i}": draws.gamma(1, 1, shape) for i in range(N_ALGORITHMS)})


def _ours_alone() -> dict[str, float]:
    """Return the seconds of a process that has one thread, as rliable's has."""
    start = "import json; from benchmarks.statistics import ours; print(json.dumps(ours()))"
    command = [sys.executable, "-c", start]
    environment = os.environ | ONE_THREAD
    said = subprocess.run(command, check=True, capture_output=True, env=environment)
    found: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return found


def ours() -> dict[str, float]:
    """Return the processor seconds that this package takes, one thread, warm."""
    table, rng, tau = _table(), np.random.default_rng(0), np.linspace(0.0, 8.0, 81)
    x = _scores(100, N_TASKS)
    x, y = Strata.from_matrix(x), Strata.from_matrix(x[::-1])
    keys, one = (draw_key(rng), draw_key(rng)), table.select(algorithms=["a0"])

    def estimates() -> None:
        estimate(table, method="percentile", n_resamples=50_000, rng=rng)

    def profile() -> None:
        profiles_of(one, tau=tau)

    def improvement() -> None:
        resampled_improvement(x, y, n_resamples=2_000, keys=keys)

    works = {"estimates": estimates, "profile": profile, "improvement": improvement}
    for work in works.values():
        work()
    return {name: min(processor_seconds(work) for _ in range(5)) for name, work in works.items()}


def _peer() -> dict[str, float] | str:
    """Return the seconds that rliable takes, or why it could not be asked."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            venv.create(folder, with_pip=True)
            python = str(Path(folder) / "bin" / "python")
            install = [python, "-m", "pip", "install", "--quiet", "rliable", "pandas<3"]
            subprocess.run(install, check=True, capture_output=True, timeout=600)
            counts = json.dumps({name: timed for name, (timed, _) in TIMED.items()})
            command = [python, "-W", "ignore", "-c", _PEER, counts]
            said = subprocess.run(
                command, check=True, capture_output=True, timeout=600, env=os.environ | ONE_THREAD
            )
        except (subprocess.SubprocessError, OSError) as error:
            return f"rliable could not be installed and run here ({type(error).__name__})"
    found: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return {name: found[name] * wanted / timed for name, (timed, wanted) in TIMED.items()}


def _against(ours: dict[str, float], peer: dict[str, float] | str) -> Iterator[Measurement]:
    names = {
        "estimates": ("5 x 26 x 10, four metrics, 50,000 resamples", 100.0),
        "profile": ("profile band, 81 thresholds, 2,000 resamples", 100.0),
        "improvement": ("P(X>Y), 26 x 100, 2,000 resamples", 100.0),
    }
    for name, (title, target) in names.items():
        limit = 0.6 if name == "estimates" else None
        yield Measurement(title, ours[name], "s", limit, higher_is_better=False)
        if isinstance(peer, str):
            yield Measurement(f"peer: rliable, {name}", math.nan, "s", note=peer)
            continue
        timed, wanted = TIMED[name]
        note = f"from {timed:,} of {wanted:,} resamples"
        yield Measurement(f"peer: rliable, {name}", peer[name], "s", note=note)
        yield Measurement(f"{name}: times as fast", peer[name] / ours[name], "x", target)


def _growth() -> Iterator[Measurement]:
    """Time one drawn score as resamples, runs and tasks grow: linear cost is a constant.

    From some hundred thousand scores on they leave the processor's cache, and a draw waits for
    memory.
    """
    for n_runs, n_tasks, n_resamples in (
        (10, 26, 2_000),
        (10, 26, 20_000),
        (100, 26, 2_000),
        (10, 260, 2_000),
        (100, 260, 400),
        (1000, 1000, 20),
    ):
        scores = _scores(n_runs, n_tasks)
        strata, key = Strata.from_matrix(scores), draw_key(np.random.default_rng(0))

        def work(strata: Strata = strata, n: int = n_resamples, key: np.uint64 = key) -> None:
            replicates([strata], [metric_named("iqm")], n_resamples=n, key=key)

        work()
        seconds = min(processor_seconds(work) for _ in range(3))
        cost = seconds / (n_runs * n_tasks * n_resamples) * 1e9
        title = f"cost of a drawn score, {n_runs} runs x {n_tasks} tasks x {n_resamples:,}"
        yield Measurement(title, cost, "ns", note="all four metrics at once")


def _large() -> Iterator[Measurement]:
    """Take the large table with two numbers of resamples: memory must not grow with them."""
    for n_resamples in (25, 50):
        command = [sys.executable, "-c", _LARGE, str(n_resamples)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, built, peak = map(float, said.split())
        name = f"1,000 tasks x 1,000 runs x 10 algorithms, {n_resamples} resamples"
        note = f"peak memory {peak:.1f} GB, of which {built:.1f} GB when the table was built"
        yield Measurement(name, seconds, "s", note=note)
