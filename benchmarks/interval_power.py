"""Power of the interval rule, beside each algorithm's own variances, on the same tables.

The populations are those of `interval_coverage`. In each table one algorithm of six is better by
three standard errors of the difference of two means, and is compared with another one. With own
variances the comparison of means is Welch's test.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.interval_coverage import LEVEL, METRICS, N_ALGORITHMS, RUNS, Draw, rough, smooth
from benchmarks.record import Measurement
from gnomon.scores import ScoreTable
from gnomon.stats import compare

RULES, N_TABLES, DISTANCE = ("moderated", "own"), 100, 3.0


def found(draw: Draw, n_runs: int, seed: int) -> dict[tuple[str, str], float]:
    """Return in which share of tables each rule finds the difference in each metric."""
    rng = np.random.default_rng(seed)
    spread = draw(np.random.default_rng(7), 2_000).var(axis=0).mean()
    shift = DISTANCE * np.sqrt(2.0 * spread / n_runs / draw(rng, 1).size)
    hits = {(rule, metric): 0 for rule in RULES for metric in METRICS}
    for _ in range(N_TABLES):
        arrays = {f"a{i}": draw(rng, n_runs) for i in range(N_ALGORITHMS)}
        arrays["a0"] = arrays["a0"] + shift
        table = ScoreTable.from_arrays(arrays)
        for rule in RULES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pair = compare(table, "a0", "a1", METRICS, variances=rule, n_resamples=300)
            for one in pair:
                hits[rule, one.metric] += one.p_value <= 1.0 - LEVEL and one.better == "a0"
    return {key: n / N_TABLES for key, n in hits.items()}


def measure() -> Iterator[Measurement]:
    """Yield the mean power of each metric and set, with that of own variances as the target."""
    for set_name, populations in (("smooth", smooth()), ("rough", rough())):
        for n_runs in RUNS:
            cells = [
                found(draw, n_runs, seed=1000 * n_runs + place)
                for place, draw in enumerate(populations.values())
            ]
            for metric in METRICS:
                power, own = (
                    np.array([100.0 * cell[rule, metric] for cell in cells]) for rule in RULES
                )
                yield Measurement(
                    f"{set_name}, {n_runs} runs, {metric}: power",
                    float(power.mean()),
                    "%",
                    float(own.mean()),
                    note=f"target: own variances; lowest {power.min():.0f} against {own.min():.0f}",
                )
