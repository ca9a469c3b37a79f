"""The probe for contamination: how often its interval holds 0, the player having read nothing.

Trials are drawn with replacement from those of a learner that came with Gnomon, each about the mean
of its rule and widened by what ten trials lack. In the first rows variants are as hard as the
published rules; in the others each variant is easier or harder in itself, by what those of the seed
1 differ by for ``tabular_q`` and ``linear_dqn``, which can have read nothing: by normal numbers of
that spread, or by one of the 24 differences themselves, about their mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl

import gnomon as gn
from benchmarks.record import Measurement
from gnomon.experiments import contamination
from gnomon.scores import ScoreTable

N_TABLES = 1000
N_TRIALS = (2, 3, 5, 10)
#: Numbers of rules and of seeds of variants.
DRAWN = ((24, 1), (24, 2), (24, 5), (20, 1), (6, 5))
LEARNERS = ("uniform", "frugal", "ideal", "tabular_q", "linear_dqn", "reinforce")
Array = npt.NDArray[np.float64]


def measure() -> Iterator[Measurement]:
    """Draw tables of nobody who has read a rule; each has one player of the probe."""
    recorded = {name: _recorded(name) for name in LEARNERS}
    for n in N_TRIALS:
        for name in LEARNERS:
            held = _held(recorded[name], n, seeds=1, shifts=np.zeros(1))
            yield _line(f"{name}, {n} trials", held)
    for name in ("tabular_q", "linear_dqn"):
        shifts = _shifts(name)
        normal = np.random.default_rng(0).normal(0, shifts.std(ddof=1), 10_000)
        kinds = {f"normal by {shifts.std(ddof=1):.3f}": normal, "as those of seed 1": shifts}
        for (kind, of), (n_rules, seeds) in product(kinds.items(), DRAWN):
            held = _held(recorded[name][:n_rules], 10, seeds=seeds, shifts=of)
            yield _line(f"{name}, unlike: {kind}, {n_rules} rules, seeds: {seeds}", held)


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


def _shifts(name: str) -> Array:
    """Return what each rule's variant is easier by than the mean of all variants."""
    means = _scores(name).group_by("task").agg(pl.col("score").mean())
    at = pl.col("task").str.split("@")
    wide = means.with_columns(rule=at.list.first(), new=at.list.len() > 1).sort("rule")
    new, old = (wide.filter(pl.col("new") == which)["score"].to_numpy() for which in (True, False))
    return np.asarray(new - old - (new - old).mean())


def _held(recorded: list[Array], n: int, *, seeds: int, shifts: Array) -> Array:
    """Return whether each interval held 0, what reading is worth to who reads nothing."""
    rng = np.random.default_rng([0, n, seeds])
    held = []
    for _ in range(N_TABLES):
        [found] = contamination(_table(recorded, n, seeds, shifts, rng))
        held.append(found.low <= 0 <= found.high)
    return np.array(held, dtype=np.float64)


def _table(
    recorded: list[Array], n: int, seeds: int, shifts: Array, rng: np.random.Generator
) -> ScoreTable:
    parts = []
    for k, residuals in enumerate(recorded):
        for seed in range(seeds + 1):
            shift = rng.choice(shifts) if seed else 0.0
            task = f"rule-{k:02}@{seed}" if seed else f"rule-{k:02}"
            scores = shift + rng.choice(residuals, n)
            parts.append(pl.DataFrame({"task": task, "run": np.arange(n), "score": scores}))
    frame = pl.concat(parts).with_columns(algorithm=pl.lit("player"))
    return ScoreTable.from_frame(frame, metric="skill", higher_is_better=True)
