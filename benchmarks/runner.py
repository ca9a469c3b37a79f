"""What the runner adds to the bare loop: shards, journal, and reading them back."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.record import Measurement, best_seconds
from gohr.experiments import ExperimentConfig, RunFolder, run, score, trials_of
from gohr.game.environments.registration import SAMPLE_RULES

N_TRIALS = 100  # of each of the four rules, as in the paper
N_ROUNDS = 5


def measure() -> Iterator[Measurement]:
    """Measure DQN trials in a loop and in a run, and what is done with a run folder."""
    learners = [{"kind": "linear_dqn", "learning_rate": 0.03}]
    config = ExperimentConfig("runner", list(SAMPLE_RULES.values()), learners, trials=N_TRIALS)
    for trial in list(trials_of(config))[: len(config.rules)]:
        trial.play()  # compiles, where need be
    with tempfile.TemporaryDirectory() as out:
        rounds = [_side_by_side(config, Path(out) / str(k)) for k in range(N_ROUNDS)]
    note = f"{config.n_trials} DQN trials of {config.episodes} episodes, one process"
    yield Measurement("bare loop", median(bare[0] for bare, _ in rounds), "s", note=note)
    yield Measurement("runner", median(full[0] for _, full in rounds), "s", note=note)
    for which, name in enumerate(("", ", processor time")):
        yield Measurement(
            f"runner over bare loop{name}",
            median(100 * (full[which] / bare[which] - 1) for bare, full in rounds),
            "%",
            10.0,
            higher_is_better=False,
            note=f"median of {N_ROUNDS} runs; every attempt on the disk, with its p0",
        )
    yield from _of_a_folder(config)


def _side_by_side(
    config: ExperimentConfig, out: Path
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the times of a bare loop and of a run: the time that passed, the processors' time.

    After each trial of the run the same trial is played with nothing kept, so that whatever else
    the machine does meets both: its speed may change by a third between one second and the next.
    No run is removed before the last has been played: for some minutes ext4 passes over the places
    of files that were removed, one by one, and half a millisecond a new file went there.
    """
    trials = list(trials_of(config))
    wall = cpu = 0.0

    def play_bare(n_played: int, n_to_play: int) -> None:
        nonlocal wall, cpu
        if n_played:
            began, busy = time.perf_counter(), time.process_time()
            trials[n_played - 1].play()
            wall += time.perf_counter() - began
            cpu += time.process_time() - busy

    began, busy = time.perf_counter(), time.process_time()
    summary = run(config, out, progress=play_bare)
    whole = time.perf_counter() - began, time.process_time() - busy
    if summary.failed:
        raise RuntimeError(f"expected to play every trial, found {summary.errors[0]}")
    return (wall, cpu), (whole[0] - wall, whole[1] - cpu)


def _of_a_folder(config: ExperimentConfig) -> Iterator[Measurement]:
    """Time resuming, and scoring, where everything has been played."""
    with tempfile.TemporaryDirectory() as out:
        folder = Path(out) / "run"
        run(config, folder)
        resumed = best_seconds(lambda: run(config, folder), 3)
        scored = best_seconds(lambda: score(RunFolder.open(folder)), 3)
        n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    note = f"{config.n_trials} trials"
    yield Measurement("resuming a finished run", 1e3 * resumed, "ms", note=note)
    yield Measurement("scoring a run folder", 1e3 * scored, "ms", note=note)
    yield Measurement("run folder", n_bytes / config.n_trials / 1024, "KiB/trial")
