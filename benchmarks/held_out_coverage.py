"""Coverage of what the best of many settings is worth, on runs that did not choose it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.record import Measurement
from gnomon.scores import ScoreTable, normalize_by
from gnomon.stats import sensitivity

SEED = 0
TABLES = 200
DRAWS = 60
TASKS = [f"task_{i}" for i in range(5)]


def measure() -> Iterator[Measurement]:
    """Yield the share of intervals that hold the true worth, for each kind of population."""
    for equal in (True, False):
        for n_settings in (6, 30):
            for n_runs in (2, 3, 5, 10, 20):
                held = np.mean([*_held(equal, n_settings, n_runs)], axis=0)
                kind = "equally good" if equal else "unlike"
                where = f"{n_settings} {kind} settings, {n_runs} runs"
                for name, share in zip(("per task", "across tasks"), held, strict=True):
                    yield Measurement(f"tuned {name}: {where}", 100.0 * share, "%")


def _held(equal: bool, n_settings: int, n_runs: int) -> Iterator[tuple[bool, bool]]:
    """Yield of each table whether the two intervals hold what the choice is truly worth."""
    draws = np.random.default_rng([SEED, equal, n_settings, n_runs])
    for _ in range(TABLES):
        own = draws.normal(size=(n_settings, 1)) + 0.7 * draws.normal(size=(n_settings, len(TASKS)))
        truth = 10.0 + (0.0 if equal else 1.0) * own
        runs = truth[:, None, :] + draws.normal(size=(n_settings, n_runs, len(TASKS)))
        scores = {f"a, x={i}": x for i, x in enumerate(runs)}
        table = ScoreTable.from_arrays(scores, tasks=TASKS)
        # Already on its scale, which is that of the truth.
        table = normalize_by(table, dict.fromkeys(TASKS, (0.0, 1.0)))
        found = sensitivity(table, n_resamples=DRAWS, rng=draws)
        means = runs.mean(axis=1)
        worth = (
            float(np.take_along_axis(truth, means.argmax(axis=0)[None], axis=0).mean()),
            float(truth[means.mean(axis=1).argmax()].mean()),
        )
        task, across = found[0], found[1]
        yield task.low <= worth[0] <= task.high, across.low <= worth[1] <= across.high
