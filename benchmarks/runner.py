"""What the runner adds to the bare loop: shards, journal, and reading them back."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.record import Measurement, best_seconds
from gnomon.experiments.config import ExperimentConfig
from gnomon.experiments.run_folder import RunFolder
from gnomon.experiments.runner import run
from gnomon.experiments.scoring import score_table
from gnomon.experiments.trial import trials_of
from gnomon.game.registration import SAMPLE_RULES

N_TRIALS = 20  # of each of the four rules
N_ROUNDS = 7


def measure() -> Iterator[Measurement]:
    """Measure 80 DQN trials in a loop and in a run, and what is done with a run folder."""
    learners = [{"kind": "linear_dqn", "learning_rate": 0.03}]
    config = ExperimentConfig("runner", list(SAMPLE_RULES.values()), learners, trials=N_TRIALS)
    _bare_seconds(config)
    # In turns, so that whatever else the machine does meets both.
    rounds = [(_bare_seconds(config), _run_seconds(config)) for _ in range(N_ROUNDS)]
    bare, run_ = (median(seconds) for seconds in zip(*rounds, strict=True))
    overhead = median(100 * (b / a - 1) for a, b in rounds)
    note = f"{config.n_trials} DQN trials of {config.episodes} episodes, one process"
    yield Measurement("bare loop", bare, "s", note=note)
    yield Measurement("runner", run_, "s", note=note)
    yield Measurement(
        "runner over bare loop",
        overhead,
        "%",
        10.0,
        higher_is_better=False,
        note=f"median of {N_ROUNDS} pairs; every attempt on the disk",
    )
    yield from _of_a_folder(config)


def _bare_seconds(config: ExperimentConfig) -> float:
    """Time the trials with nothing kept."""
    start = time.perf_counter()
    for trial in trials_of(config):
        trial.play()
    return time.perf_counter() - start


def _run_seconds(config: ExperimentConfig) -> float:
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        run(config, Path(out) / "run")
        return time.perf_counter() - start


def _of_a_folder(config: ExperimentConfig) -> Iterator[Measurement]:
    """Time resuming, and scoring, where everything has been played."""
    with tempfile.TemporaryDirectory() as out:
        folder = Path(out) / "run"
        run(config, folder)
        resumed = best_seconds(lambda: run(config, folder), 3)
        scored = best_seconds(lambda: score_table(RunFolder.open(folder)), 3)
        n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    note = f"{config.n_trials} trials"
    yield Measurement("resuming a finished run", 1e3 * resumed, "ms", note=note)
    yield Measurement("scoring a run folder", 1e3 * scored, "ms", note=note)
    yield Measurement("run folder", n_bytes / config.n_trials / 1024, "KiB/trial")
