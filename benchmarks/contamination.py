"""The probe for contamination: how often its interval holds 0, the player having read nothing.

Trials are drawn with replacement from those of a learner that came with Gnomon, each about the mean
of its rule and widened by what ten trials lack. In the first rows variants are as hard as the
published rules; in the others each variant is easier or harder in itself, by as much as those of
the seed 1 are for ``tabular_q``, which can have read nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

import gnomon as gn
from benchmarks.record import Measurement
from gnomon.experiments import contamination
from gnomon.scores import ScoreTable

N_TABLES = 400
N_TRIALS = (2, 3, 5, 10)
LEARNERS = ("uniform", "frugal", "ideal", "tabular_q", "linear_dqn", "reinforce")
Array = npt.NDArray[np.float64]


def measure() -> Iterator[Measurement]:
    """Draw tables of nobody who has read a rule; each has one player of the probe."""
    recorded = {name: _recorded(name) for name in LEARNERS}
    for n in N_TRIALS:
        for name in LEARNERS:
            held = _held(recorded[name], n, seeds=1, spread=0.0)
            yield _line(f"{name}, {n} trials", held)
    spread = _spread("tabular_q")
    for seeds in (1, 2, 5, 20):
        held = _held(recorded["tabular_q"], 10, seeds=seeds, spread=spread)
        yield _line(f"tabular_q, 10 trials, variants unlike by {spread:.3f}, seeds: {seeds}", held)


def _line(name: str, held: Array) -> Measurement:
    share = float(held.mean())
    error = 100 * math.sqrt(share * (1 - share) / held.size)
    return Measurement(name, 100 * share, "%", note=f"s.e. {error:.1f}, {held.size} tables")


def _scores(name: str) -> pl.DataFrame:
    table = gn.load_scores("gohr-induction", "skill").select(algorithms=[name])
    return table.to_frame().select("task", "score").sort("task")


def _recorded(name: str) -> list[Array]:
    """Return what the trials of each published rule differ by from their mean."""
    published = _scores(name).filter(~pl.col("task").str.contains("@"))
    rows = [part["score"].to_numpy() for part in published.partition_by("task")]
    return [(x - x.mean()) * math.sqrt(x.size / (x.size - 1)) for x in rows]


def _spread(name: str) -> float:
    """Return the standard deviation, over rules, of what a variant is easier by."""
    means = _scores(name).group_by("task").agg(pl.col("score").mean())
    at = pl.col("task").str.split("@")
    wide = means.with_columns(rule=at.list.first(), new=at.list.len() > 1).sort("rule")
    new, old = (wide.filter(pl.col("new") == which)["score"].to_numpy() for which in (True, False))
    return float((new - old).std(ddof=1))


def _held(recorded: list[Array], n: int, *, seeds: int, spread: float) -> Array:
    """Return whether each interval held 0, what reading is worth to who reads nothing."""
    rng = np.random.default_rng([0, n, seeds])
    held = []
    for _ in range(N_TABLES):
        [found] = contamination(_table(recorded, n, seeds, spread, rng), rng=rng)
        held.append(found.low <= 0 <= found.high)
    return np.array(held, dtype=np.float64)


def _table(
    recorded: list[Array], n: int, seeds: int, spread: float, rng: np.random.Generator
) -> ScoreTable:
    parts = []
    for k, residuals in enumerate(recorded):
        for seed in range(seeds + 1):
            shift = rng.normal(0, spread) if seed else 0.0
            task = f"rule-{k:02}@{seed}" if seed else f"rule-{k:02}"
            scores = shift + rng.choice(residuals, n)
            parts.append(pl.DataFrame({"task": task, "run": np.arange(n), "score": scores}))
    frame = pl.concat(parts).with_columns(algorithm=pl.lit("player"))
    return ScoreTable.from_frame(frame, metric="skill", higher_is_better=True)
