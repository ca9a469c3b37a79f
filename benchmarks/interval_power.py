"""Power of the interval rule, beside that of the second edition on the same tables.

The populations are those of `interval_coverage`. In each table one algorithm of six is better by
three standard errors of the difference of two means, and is compared with another one. Runs have
labels of their own. The notes give the power with each algorithm's own variances, as the second
edition took them, and where the runs of all tasks share their labels: an effect that they may share
is then allowed for, without which intervals cover 63 to 84 % (docs/gnomon/statistics.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.interval_coverage import LEVEL, N_ALGORITHMS, RUNS, Draw, rough, smooth
from benchmarks.record import Measurement
from gnomon.scores import ScoreTable
from gnomon.stats import compare
from gnomon.stats.intervals import Variances

N_TABLES, DISTANCE = 100, 3.0
METRICS = ("mean", "iqm")
KINDS = ("by default", "own variances", "shared labels")
VARIANCES: tuple[Variances, ...] = ("moderated", "own", "moderated")
#: Per cent, by metric: measured on these tables at the commit before the interval rule
#: (02c24628^), by its closed forms.
SECOND_EDITION = {
    "smooth": {2: (72.5, 71.25), 3: (82.5, 83.5), 5: (86.5, 83.25), 10: (83.5, 81.25)},
    "rough": {2: (69.5, 76.25), 3: (82.0, 86.0), 5: (81.25, 89.0), 10: (85.5, 88.75)},
}


def found(draw: Draw, n_runs: int, seed: int) -> dict[tuple[str, str], float]:
    """Return the per cent of tables with the difference found, by metric and kind of comparison."""
    rng = np.random.default_rng(seed)
    spread = draw(np.random.default_rng(7), 2_000).var(axis=0).mean()
    shift = DISTANCE * np.sqrt(2.0 * spread / n_runs / draw(rng, 1).size)
    hits = {(metric, kind): 0 for metric in METRICS for kind in KINDS}
    for _ in range(N_TABLES):
        arrays = {f"a{i}": draw(rng, n_runs) for i in range(N_ALGORITHMS)}
        arrays["a0"] = arrays["a0"] + shift
        shared = ScoreTable.from_arrays(arrays)
        rows = shared.to_records()
        own = ScoreTable([r | {"run": f"{r['task']} {r['run']}"} for r in rows])
        for kind, table, variances in zip(KINDS, (own, own, shared), VARIANCES, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pair = compare(table, "a0", "a1", METRICS, variances=variances)
            for one in pair:
                is_found = one.p_value <= 1.0 - LEVEL and one.better == "a0"
                hits[one.metric, kind] += is_found
    return {key: 100.0 * n / N_TABLES for key, n in hits.items()}


def measure() -> Iterator[Measurement]:
    """Yield the mean power of each metric and set, the target being the second edition's."""
    for set_name, populations in (("smooth", smooth()), ("rough", rough())):
        for n_runs in RUNS:
            cells = [
                found(draw, n_runs, seed=1000 * n_runs + place)
                for place, draw in enumerate(populations.values())
            ]
            for metric, before in zip(METRICS, SECOND_EDITION[set_name][n_runs], strict=True):
                power, *others = (
                    np.array([cell[metric, kind] for cell in cells]) for kind in KINDS
                )
                also = (
                    f"{x.mean():.1f} with {kind}" for x, kind in zip(others, KINDS[1:], strict=True)
                )
                yield Measurement(
                    f"{set_name}, {n_runs} runs, {metric}: power",
                    float(power.mean()),
                    "%",
                    before,
                    note=f"lowest {power.min():.0f}; {', '.join(also)}",
                )
