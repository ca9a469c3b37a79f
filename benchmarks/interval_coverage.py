"""Coverage of the intervals: the small-sample default beside the percentile bootstrap.

Populations are made from published means and deviations (Dopamine on Atari) with stated shapes of
noise, and named synthetic ones; each cell repeats the experiment on many tables and counts how
often the interval holds the true value. The published scores are looked for in a folder ``shared``
beside the repository; without them the synthetic populations remain, and the note says so.

``INTERVAL_TABLES`` says how many tables a cell has: 100 for a look, 600 for the table of the docs.
Of 600 tables the share has a standard error of a point, so the least of many cells is partly luck:
a cell that comes out near the bar is measured again, with many new tables, and that figure counts.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.record import Measurement
from gnomon.errors import DegenerateScoresWarning
from gnomon.scores import normalize, read_scores
from gnomon.stats import (
    METRICS,
    Metric,
    Resamples,
    Strata,
    delta_interval,
    median_profile_interval,
    metric_named,
    percentile_interval,
)

SCORES = Path(__file__).parents[1] / ".." / "shared" / "data" / "scores"
N_TABLES = int(os.environ.get("INTERVAL_TABLES", "100"))
RUNS = (2, 3, 5, 10)
LEVEL = 0.95
#: Resamples of the percentile bootstrap; more would change its coverage by less than a point.
N_RESAMPLES = 400
#: Between these shares, in per cent, a cell is measured again, with so many tables.
FAR, NEAR, N_AGAIN = 85.0, 92.0, 4000
#: Part of every seed; the tables that the method was chosen on had others.
SEED = 4242
#: Populations in which the failures are documented: docs/statistics.md, Intervals.
DOCUMENTED = ("edge25", "zeros26", "IQN/negative skew")

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]


def measure() -> Iterator[Measurement]:
    """Give the mean and the least coverage over populations, for each metric and number of runs."""
    populations = _synthetic() | _published()
    metrics = {name: metric_named(name) for name in METRICS}
    cells = {
        (population, n_runs): _cell(name_seed(population), draw, n_runs, metrics)
        for population, draw in populations.items()
        for n_runs in RUNS
    }
    if N_TABLES >= 600:
        for (population, n_runs), cell in cells.items():
            _measure_again(cell, populations[population], n_runs, metrics)
    note = f"{len(populations)} populations, {N_TABLES} tables each"
    if not SCORES.is_dir():
        note += "; published scores not here"
    for metric in METRICS:
        for n_runs in RUNS:
            yield from _lines(metric, n_runs, list(populations), cells, note)


def _lines(
    metric: str,
    n_runs: int,
    populations: list[str],
    cells: Mapping[tuple[str, int], Mapping[tuple[str, str], tuple[float, float]]],
    note: str,
) -> Iterator[Measurement]:
    title = f"{metric}, {n_runs} runs"
    target = 93.0 if n_runs >= 3 else None
    found = {
        kind: np.array([cells[name, n_runs][metric, kind] for name in populations])
        for kind in ("default", "percentile")
    }
    widths = found["default"][:, 1] / found["percentile"][:, 1]
    own = f"{note}; {np.median(widths):.2f} times as wide as percentile"
    yield Measurement(f"{title}, default", found["default"][:, 0].mean(), "%", target, note=own)
    yield Measurement(f"{title}, percentile", found["percentile"][:, 0].mean(), "%")
    others = [i for i, name in enumerate(populations) if not name.endswith(DOCUMENTED)]
    worst = min(others, key=lambda i: found["default"][i, 0])
    least = found["default"][worst, 0]
    where = f"{populations[worst]}; without the documented failures"
    # Of few tables the least is luck.
    target = 90.0 if n_runs >= 3 and N_TABLES >= 600 else None
    yield Measurement(f"{title}, default, least", least, "%", target, note=where)


def name_seed(name: str) -> int:
    """Return a number that a population's name alone decides."""
    return SEED + sum(map(ord, name))


def _cell(
    seed: int, draw: Draw, n_runs: int, metrics: Mapping[str, Metric]
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return coverage in per cent and mean width, by metric and kind of interval."""
    large = Strata.from_matrix(draw(np.random.default_rng(1), 20_000))
    truth = {name: metric.value(large) for name, metric in metrics.items()}
    rng = np.random.default_rng([seed, n_runs])
    seen: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    for i in range(N_TABLES):
        table = Strata.from_matrix(draw(rng, n_runs))
        resamples = Resamples(table, n_resamples=N_RESAMPLES, key=np.uint64(i + 1))
        resamples.of_all(metrics.values())
        for name, metric in metrics.items():
            low, high, _ = percentile_interval(resamples.of(metric), LEVEL)
            for kind, ends in (
                ("default", _default(table, metric)),
                ("percentile", (float(np.squeeze(low)), float(np.squeeze(high)))),
            ):
                held = ends[0] <= truth[name] <= ends[1]
                seen.setdefault((name, kind), []).append((held, ends[1] - ends[0]))
    return {
        key: (100.0 * float(np.mean([h for h, _ in rows])), float(np.mean([w for _, w in rows])))
        for key, rows in seen.items()
    }


def _measure_again(
    cell: dict[tuple[str, str], tuple[float, float]],
    draw: Draw,
    n_runs: int,
    metrics: Mapping[str, Metric],
) -> None:
    """Replace the coverage of intervals that came out near the bar by that of many new tables."""
    near = {n: m for n, m in metrics.items() if FAR < cell[n, "default"][0] < NEAR}
    if not near:
        return
    large = Strata.from_matrix(draw(np.random.default_rng(2), 20_000))
    truth = {name: metric.value(large) for name, metric in near.items()}
    rng = np.random.default_rng([SEED, n_runs])
    hits = dict.fromkeys(near, 0)
    for _ in range(N_AGAIN):
        table = Strata.from_matrix(draw(rng, n_runs))
        for name, metric in near.items():
            low, high = _default(table, metric)
            hits[name] += low <= truth[name] <= high
    for name, n_held in hits.items():
        cell[name, "default"] = (100.0 * n_held / N_AGAIN, cell[name, "default"][1])


def _default(table: Strata, metric: Metric) -> tuple[float, float]:
    """Return the interval that few runs get by default."""
    if metric.name == "median":
        return median_profile_interval(table, LEVEL)
    influences = metric.influences(table)
    assert influences is not None, "all of these scores are finite"
    return delta_interval(metric.value(table), influences, LEVEL)


def _noise(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> Array:
    """Return noise of mean 0 and variance 1."""
    if kind == "lognormal":
        x = np.exp(0.6 * rng.normal(size=shape))
        return (x - np.exp(0.18)) / np.sqrt((np.exp(0.36) - 1.0) * np.exp(0.36))
    if kind == "negative skew":
        return -_noise(rng, shape, "lognormal")
    if kind == "t5":
        return rng.standard_t(5, size=shape) / np.sqrt(5.0 / 3.0)
    if kind == "two humps":  # 30 % of the runs fail
        failed = rng.random(shape) < 0.3
        humps = np.where(failed, -np.sqrt(0.7 / 0.3), np.sqrt(0.3 / 0.7))
        return 0.9 * humps + np.sqrt(1.0 - 0.81) * rng.normal(size=shape)
    return rng.normal(size=shape)


def _published() -> dict[str, Draw]:
    """Return the populations with Dopamine's means and deviations, if its scores are here."""
    if not SCORES.is_dir():
        return {}
    files = {
        "legacy": (("DQN", "C51", "Rainbow", "IQN"), ("normal", "lognormal", "two humps")),
        "cnn": (("Rainbow", "IQN"), ("t5", "negative skew")),
    }
    found: dict[str, Draw] = {}
    for file, (algorithms, kinds) in files.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateScoresWarning)
            path = SCORES / f"dopamine_atari_{file}_last10.csv"
            table = normalize(read_scores(path), "random-human")
        for algorithm in algorithms:
            runs = [table.runs(algorithm, task) for task in table.tasks]
            runs = [x for x in runs if x.size >= 3]
            mean = np.array([x.mean() for x in runs])
            deviation = np.array([x.std(ddof=1) for x in runs])
            for kind in kinds:
                found[f"{file}: {algorithm}/{kind}"] = _around(mean, deviation, kind)
    return found


def _around(mean: Array, deviation: Array | float, kind: str) -> Draw:
    return lambda rng, n: mean + deviation * _noise(rng, (n, mean.size), kind)


def _synthetic() -> dict[str, Draw]:
    """Return the named populations; all have a finite variance."""
    g = np.random.default_rng(77)
    shares = g.uniform(0.05, 0.95, 20)
    solved = np.where(g.random(26) < 0.4, 0.02, g.gamma(1, 0.6, 26))
    few = g.normal(1, 0.8, 6)
    heavy = np.exp(g.normal(0, 1.2, 57))
    spread = np.exp(g.normal(0, 1, 30))

    def zeros(rng: np.random.Generator, n: int) -> Array:
        drawn = solved * (1.0 + 0.5 * rng.normal(size=(n, 26)))
        return np.maximum(0.0, drawn) * (rng.random((n, 26)) < 0.9)

    return {
        "beta20": lambda rng, n: rng.beta(8 * shares, 8 * (1 - shares), size=(n, 20)),
        "zeros26": zeros,
        "few6": _around(few, 0.4, "normal"),
        "heavy57": lambda rng, n: heavy * (1.0 + 0.3 * rng.standard_t(4, size=(n, 57))),
        "lognormal30": lambda rng, n: spread * np.exp(0.5 * rng.normal(size=(n, 30))),
        "equal26": _around(np.ones(26), 0.3, "normal"),
        "clusters26": _around(np.repeat([0.3, 1.2], 13), 0.2, "normal"),
        "edge25": _around(np.r_[np.full(12, 0.2), np.full(13, 1.0)], 0.2, "normal"),
    }
