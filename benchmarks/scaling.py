"""What more threads help on the cores there are: wall time of one over that of several, in turns.

Every piece of work must give the same bits for any number of threads: if one does not, it stops. It
takes a second on one thread: of shorter ones the clock tells rather what else the machine does.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from pathlib import Path

from benchmarks.record import Measurement
from gohr.experiments import ExperimentConfig, run

#: Turns of each number of threads; the quickest counts.
N_ROUNDS = 5
#: As many threads as this must give the same bits wherever it runs, whether or not it is timed.
MANY = 4
#: Does something on some threads, and returns what must be the same for any number.
Work = Callable[[int], object]


def measure() -> Iterator[Measurement]:
    """Measure on two threads, and on twice as many as long as there are cores for them."""
    most = os.cpu_count() or 1
    counts = [n for n in (2, 4, 8, 16, 32) if n <= most]
    bits = f"the same bits from 1 to {max(most, MANY)} threads"
    busy = f"load {os.getloadavg()[0]:.1f} of others before"
    yield Measurement(
        "cores", most, "", note=f"{bits}; {busy}: what is above 0 takes from the gain"
    )
    for name, work, note in [
        ("mere hashing", _hashing, "no more can be hoped for below"),
        ("20 trials of the engine and a learner", _trials, "`run` with threads of one process"),
    ]:
        for n, ratio in _ratios(name, work, counts):
            yield Measurement(f"{name}, {n} threads over 1", ratio, "x", note=note)


def _ratios(name: str, work: Work, counts: Sequence[int]) -> Iterator[tuple[int, float]]:
    """Yield how many times as fast the work is on so many threads as on one."""
    expected = repr(work(1))  # compiles, too
    best = dict.fromkeys([1, *counts], float("inf"))
    for n in [*best] * N_ROUNDS + [MANY] * (MANY not in best):
        began = time.perf_counter()
        found = work(n)
        best[n] = min(best.get(n, float("inf")), time.perf_counter() - began)
        if repr(found) != expected:
            raise SystemExit(f"{name}: {n} threads found something else than one")
    yield from ((n, best[1] / best[n]) for n in counts)


def _hashing(n_threads: int) -> object:
    pieces = [bytes([i]) * 20_000_000 for i in range(40)]
    with futures.ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(lambda piece: hashlib.sha256(piece).hexdigest(), pieces))


def _trials(n_threads: int) -> object:
    learner = {"kind": "linear_dqn", "learning_rate": 0.03}
    config = ExperimentConfig("threads", ["gohr-paper"], [learner], trials=5, episodes=1000)
    with tempfile.TemporaryDirectory() as out:
        with futures.ThreadPoolExecutor(n_threads) as threads:
            summary = run(config, Path(out) / "run", workers=n_threads, executor=threads)
        return sorted((trial.key, trial.attempts_hash) for trial in summary.folder.trials())
