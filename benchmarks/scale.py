"""Large runs: trials a second with one and two workers, ten thousand trials, 100 M attempts."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.record import Measurement
from gohr.experiments import ExperimentConfig, Run, run, score, status

DQN = {"kind": "linear_dqn", "learning_rate": 0.03}
#: What can be had of two cores: less than 2 where others are at work.
COUNT = "for _ in range(60_000_000): pass"
COUNTED = "what the machine gave to two at that time: no more can be hoped for below"
#: Scores a folder in a process of its own, and tells its attempts, seconds and most megabytes.
SCORE = """
import resource, sys, time
from gohr.experiments.runs import Run
from gohr.experiments.scores import score
folder = Run.open(sys.argv[1])
began = time.perf_counter()
table = score(folder)
seconds = time.perf_counter() - began
n_attempts = sum(record.n_attempts for record in folder.trials())
print(n_attempts, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measure() -> Iterator[Measurement]:
    """Measure workers, a folder of many trials, and a folder of many attempts."""
    yield from _workers()
    yield from _many_trials()
    yield from _many_attempts()


def _workers() -> Iterator[Measurement]:
    """Time the same trials on one process and on two, with Dask and without."""
    config = ExperimentConfig("workers", ["gohr-paper"], [DQN], trials=200)
    note = f"the second half of {config.n_trials} DQN trials"
    _rate(ExperimentConfig("warm", ["gohr-paper"], [DQN], trials=1), 1)  # compiles, where need be
    one = _rate(config, 1)
    yield Measurement("1 worker", one, "trials/s", note=note)
    yield Measurement("2 processes of mere counting, over 1", _counted(), "x", note=COUNTED)
    for scheduler, name in ((None, "processes"), ("local", "a local Dask cluster")):
        two = _rate(config, 2, scheduler)
        yield Measurement(f"2 workers, {name}", two, "trials/s", note=note)
        yield Measurement(f"2 workers, {name}, over 1", two / one, "x", note="of two cores")


def _counted() -> float:
    """Return how many times the work of one process two do together, with nothing in common."""
    seconds = []
    for n in (1, 2):
        began = time.perf_counter()
        processes = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(n)]
        for process in processes:
            process.wait()
        seconds.append(time.perf_counter() - began)
    return 2.0 * seconds[0] / seconds[1]


def _rate(config: ExperimentConfig, workers: int, scheduler: str | None = None) -> float:
    """Return trials a second over the second half, when all workers have begun."""
    marks: list[float] = []
    with tempfile.TemporaryDirectory() as out:
        run(
            config,
            Path(out) / "run",
            workers=workers,
            scheduler=scheduler,
            progress=lambda n_played, n_to_play: marks.append(time.perf_counter()),
        )
    middle = len(marks) // 2
    return (len(marks) - 1 - middle) / (marks[-1] - marks[middle])


def _many_trials() -> Iterator[Measurement]:
    """Play ten thousand short trials into one folder, then look at it."""
    config = ExperimentConfig("many", ["clockwise"], ["uniform"], trials=10_000, episodes=5)
    with tempfile.TemporaryDirectory() as out:
        folder = Path(out) / "run"
        yield _timed("10,000 trials of 5 boards, played", lambda: run(config, folder))
        yield _timed("10,000 trials, status", lambda: status(Run.open(folder)))
        yield _timed("10,000 trials, going on with nothing to do", lambda: run(config, folder))
        yield _timed("10,000 trials, scored", lambda: score(Run.open(folder)))


def _many_attempts() -> Iterator[Measurement]:
    """Play a hundred million attempts, and score them in a process of its own."""
    config = ExperimentConfig("long", ["color-match"], ["uniform"], trials=560, episodes=5000)
    with tempfile.TemporaryDirectory() as out:
        folder = Path(out) / "run"
        began = time.perf_counter()
        run(config, folder, workers=2)
        played = time.perf_counter() - began
        n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        command = [sys.executable, "-c", SCORE, str(folder)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    n_attempts, seconds, megabytes = map(float, said.split())
    note = f"{n_attempts / 1e6:.0f} M attempts in {config.n_trials} trials"
    yield Measurement("100 M attempts, played by two workers", played, "s", note=note)
    yield Measurement("100 M attempts, on the disk", n_bytes / n_attempts, "bytes/attempt")
    yield Measurement("100 M attempts, scored", seconds, "s", note="tce, one process")
    yield Measurement(
        "100 M attempts, most memory while scoring",
        megabytes,
        "MB",
        2000.0,
        higher_is_better=False,
    )


def _timed(name: str, work: Callable[[], object]) -> Measurement:
    began = time.perf_counter()
    work()
    return Measurement(name, time.perf_counter() - began, "s")
