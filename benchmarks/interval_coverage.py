"""Coverage of intervals and error of tests, on populations of known truth (benchmarks/populations).

Each cell repeats the experiment on many tables and counts how often the interval holds the true
value, or how often a test finds a difference where there is none. Lines give the mean over the
populations of each generator, and the least with its name: of many cells the least is partly luck
(600 tables: a standard error of a point).

``INTERVAL_TABLES`` says how many tables a cell has: 40 for a look, 600 for the table of the docs.
``INTERVAL_PARTS`` names parts, separated by commas: aggregates, profiles, pairs, curves, tasks,
looks, improvement. Two processes share the cells; each cell has its own seed.
"""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from typing import Literal

import numpy as np
import numpy.typing as npt

import gnomon as gn
from benchmarks.populations import Population, made, published
from benchmarks.record import Measurement
from gnomon.errors import DegenerateScoresWarning
from gnomon.stats import Strata, metric_named, sequential_compare

N_TABLES = int(os.environ.get("INTERVAL_TABLES", "40"))
PARTS = tuple(filter(None, os.environ.get("INTERVAL_PARTS", "").split(",")))
RUNS = (2, 3, 5, 10)
LEVEL = 0.95
METRICS = ("mean", "median", "iqm", "optimality_gap")
SEED = 4242

Summary = Literal["area", "final", "best"]
SUMMARIES: tuple[Summary, ...] = ("area", "final", "best")

METHODS: dict[str, Literal["auto", "percentile"]] = {"": "auto", "percentile": "percentile"}

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """What was counted in one population with one number of runs.

    Parameters
    ----------
    what : str
        The line of the table to which it belongs.
    generator : str
        "published" or "made".
    population : str
        Its name.
    share : float
        Per cent: coverage, error or power.
    width : float, optional
        Mean width, over that of the percentile interval where there is one.
    """

    what: str
    generator: str
    population: str
    share: float
    width: float = float("nan")


Part = Callable[[Population, int, np.random.Generator], Iterator[tuple[str, float, float]]]


def measure() -> Iterator[Measurement]:
    """Give, for each interval and number of runs, the mean and the least over the populations."""
    work = list(_work())
    with get_context("spawn").Pool(2) as pool:
        cells = [cell for found in pool.imap(_cells, work) for cell in found]
    cells.sort(key=lambda cell: (_order(cell.what), cell.generator))
    for what, alike in groupby(cells, key=lambda cell: cell.what):
        yield from _lines(what, list(alike))


def _work() -> Iterator[tuple[str, str, str, int]]:
    """Give the name of each cell: part, generator, population, runs."""
    for part in PARTS or BY_NAME:
        for generator, populations in _populations().items():
            for name in populations:
                for n_runs in RUNS if part != "tasks" else (5,):
                    yield part, generator, name, n_runs


def _populations() -> dict[str, dict[str, Population]]:
    return {
        "published": {p.name: p for p in published()},
        "made": {p.name: p for p in made()},
    }


def _cells(work: tuple[str, str, str, int]) -> list[Cell]:
    """Count one population's cells."""
    part, generator, name, n_runs = work
    population = _populations()[generator][name]
    rng = np.random.default_rng([SEED, zlib.crc32(repr(work).encode())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        found = BY_NAME[part](population, n_runs, rng)
        return [Cell(what, generator, name, share, width) for what, share, width in found]


def _order(what: str) -> tuple[str, int]:
    """Return the place of a line: by its words, then by the number of runs."""
    words, _, runs = what.rpartition(", ")
    digits = "".join(filter(str.isdigit, runs))
    return words, int(digits or 0)


def _lines(what: str, cells: Sequence[Cell]) -> Iterator[Measurement]:
    """Give a line for each generator, and one for the worst cell."""
    is_error = "false" in what
    for generator, alike in groupby(cells, key=lambda cell: cell.generator):
        own = list(alike)
        shares = np.array([cell.share for cell in own])
        widths = np.array([cell.width for cell in own])
        note = f"{len(own)} populations, {N_TABLES} tables each"
        if np.isfinite(widths).any():
            ratios = f"{np.nanmedian(widths):.2f} (at most {np.nanmax(widths):.2f})"
            note += f"; width over the percentile's {ratios}"
        yield Measurement(f"{what}, {generator}", float(shares.mean()), "%", note=note)
    pick = max if is_error else min
    worst = pick(cells, key=lambda cell: cell.share)
    word = "most" if is_error else "least"
    yield Measurement(f"{what}, {word}", worst.share, "%", note=worst.population)


def _tables(
    population: Population, n_runs: int, rng: np.random.Generator, names: Sequence[str] = ("a",)
) -> Iterator[gn.ScoreTable]:
    """Give the tables of a cell, with so many algorithms that are all alike."""
    for _ in range(N_TABLES):
        yield gn.ScoreTable.from_arrays({name: population.draw(rng, n_runs) for name in names})


def _held(low: float | None, high: float | None, truth: float) -> bool:
    """Say whether an interval holds the truth; one that does not exist holds nothing."""
    return low is not None and high is not None and low <= truth <= high


def _aggregates(
    population: Population, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Count coverage of the default interval of each aggregate, and of the percentile."""
    whole = Strata.from_matrix(population.truth())
    truth = {name: metric_named(name).value(whole) for name in METRICS}
    seen: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    for i, table in enumerate(_tables(population, n_runs, rng)):
        for kind, method in METHODS.items():
            for e in gn.estimate(table, METRICS, method=method, n_resamples=400, rng=i):
                held = _held(e.low, e.high, truth[e.metric])
                seen.setdefault((e.metric, kind), []).append((held, e.high - e.low))
    for metric in METRICS:
        ours, plain = (np.array(seen[metric, kind], dtype=float) for kind in ("", "percentile"))
        ratio = ours[:, 1].mean() / plain[:, 1].mean()
        yield f"{metric}, {n_runs} runs", 100 * ours[:, 0].mean(), ratio
        yield f"{metric} by percentile, {n_runs} runs", 100 * plain[:, 0].mean(), np.nan


def _profiles(
    population: Population, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Count coverage of the bands of the performance profile, at 41 thresholds and whole."""
    truth = population.truth()
    tau = np.unique(np.quantile(truth, np.linspace(0.05, 0.95, 41)))
    share = np.array([(truth > t).mean() for t in tau])
    for band in ("pointwise", "simultaneous"):
        inside = np.zeros((N_TABLES, tau.size), bool)
        for i, table in enumerate(_tables(population, n_runs, rng)):
            found = gn.profile(table, tau=tau, band=band, rng=i)
            low, high = (np.array([getattr(p, end) for p in found]) for end in ("low", "high"))
            inside[i] = (low <= share + 1e-12) & (share - 1e-12 <= high)
        if band == "pointwise":
            by_tau = 100 * inside.mean(axis=0)
            yield f"profile, pointwise, {n_runs} runs", float(by_tau.mean()), np.nan
            yield f"profile, worst threshold, {n_runs} runs", float(by_tau.min()), np.nan
        else:
            whole = 100 * inside.all(axis=1).mean()
            yield f"profile, whole curve, {n_runs} runs", float(whole), np.nan


def _unlike(x: Array, mean: Array, spread: float) -> Array:
    """Return the scores with another spread around the same task means."""
    return mean + spread * (x - mean)


def _pairs(
    population: Population, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Count false differences among six algorithms of equal means, alike and unlike in spread."""
    mean = population.truth().mean(axis=0)
    spreads = {"alike": np.ones(6), "unlike": np.geomspace(0.5, 2.0, 6)}
    for kind, factors in spreads.items():
        # With unlike spreads only the means stay equal.
        metrics = ["mean", "iqm"] if kind == "alike" else ["mean"]
        false = dict.fromkeys(metrics, 0)
        for i in range(N_TABLES):
            table = gn.ScoreTable.from_arrays(
                {
                    f"a{k}": _unlike(population.draw(rng, n_runs), mean, f)
                    for k, f in enumerate(factors)
                }
            )
            found = gn.compare_all(table, metrics, rng=i)
            for metric in metrics:
                p = [c.p_adjusted for c in found if c.metric == metric]
                false[metric] += any(x is not None and x <= 1 - LEVEL for x in p)
        for metric, n in false.items():
            title = f"all pairs of six, {kind}, {metric}, false, {n_runs} runs"
            yield title, 100 * n / N_TABLES, np.nan


def _curves(
    population: Population, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Count coverage of area, final and best of curves that rise for five of ten steps."""
    mean = population.truth().mean(axis=0)
    draw = partial(_curve, population, mean)
    truth: dict[tuple[Summary, str], float] = {}
    large = gn.ScoreTable.from_arrays({"a": draw(np.random.default_rng(1), 1001)})
    for summary in SUMMARIES:
        for metric in ("mean", "iqm"):
            (e,) = gn.curves(large, metric, summary=summary, n_resamples=2)
            truth[summary, metric] = e.value
    seen: dict[tuple[Summary, str], list[bool]] = {key: [] for key in truth}
    for i in range(N_TABLES):
        table = gn.ScoreTable.from_arrays({"a": draw(rng, n_runs)})
        for (summary, metric), true in truth.items():
            (e,) = gn.curves(table, metric, summary=summary, rng=i)
            seen[summary, metric].append(_held(e.low, e.high, true))
    for (summary, metric), held in seen.items():
        yield f"curves, {summary} of {metric}, {n_runs} runs", 100 * float(np.mean(held)), np.nan


def _curve(population: Population, mean: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Return scores of shape (runs, tasks, 10), the noise of steps correlated by 0.7."""
    noise = [population.draw(rng, n_runs) - mean for _ in range(10)]
    for s in range(1, 10):
        noise[s] = 0.7 * noise[s - 1] + np.sqrt(1 - 0.49) * noise[s]
    growth = np.minimum(np.arange(1, 11) / 5.0, 1.0)
    return np.stack([g * mean + x for g, x in zip(growth, noise, strict=True)], axis=2)


def _tasks(
    population: Population, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Count coverage where tasks are a sample too, drawn from the population's as a pool."""
    means = population.truth().mean(axis=0)
    if means.size < 20:
        return
    truth = {"median": float(np.median(means)), "mean": float(means.mean())}
    for n_tasks in (6, 16, 26):
        held: dict[str, list[bool]] = {metric: [] for metric in truth}
        for i in range(N_TABLES):
            picked = rng.integers(means.size, size=n_tasks)
            drawn = population.draw(rng, n_runs * n_tasks).reshape(n_tasks, n_runs, -1)
            scores = drawn[np.arange(n_tasks), :, picked].T
            table = gn.ScoreTable.from_arrays({"a": scores})
            for e in gn.estimate(table, list(truth), resampling="runs_and_tasks", rng=i):
                held[e.metric].append(_held(e.low, e.high, truth[e.metric]))
        for metric, hits in held.items():
            yield f"tasks drawn, {metric}, {n_tasks} tasks", 100 * float(np.mean(hits)), np.nan


def _looks(
    population: Population, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Count false decisions of a comparison that is looked at after each few runs."""
    looks = {3: [3, 5, 8], 5: [5, 10, 15]}.get(n_runs)
    if looks is None:
        return
    false = 0
    for i in range(N_TABLES):
        table = gn.ScoreTable.from_arrays({k: population.draw(rng, looks[-1]) for k in "ab"})
        result = sequential_compare(
            table, "a", "b", "mean", looks=looks, rng=np.random.default_rng(i)
        )
        false += result.decided
    yield f"sequential, mean, false, first look at {n_runs} runs", 100 * false / N_TABLES, np.nan


def _improvement(
    population: Population, n_runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Count coverage of P(a > b) of one task and of the mean over tasks, b shifted upwards."""
    if n_runs < 3:
        return
    shift = 0.7 * population.truth().std(axis=0)
    x, y = population.truth(), population.truth()[::-1] + shift
    n = min(len(x), 4000)
    above = np.array([_probability(x[:n, t], y[:n, t]) for t in range(x.shape[1])])
    one, whole = [], []
    for i in range(N_TABLES):
        table = gn.ScoreTable.from_arrays(
            {"a": population.draw(rng, n_runs), "b": population.draw(rng, n_runs) + shift}
        )
        for c in gn.compare(table, "a", "b", "probability_of_improvement", per_task=True, rng=i):
            if c.task is not None:
                one.append(_held(c.low, c.high, above[int(c.task.removeprefix("task_"))]))
        (c,) = gn.compare(table, "a", "b", "probability_of_improvement", rng=i)
        whole.append(_held(c.low, c.high, above.mean()))
    yield f"P(a > b), one task, {n_runs} runs", 100 * float(np.mean(one)), np.nan
    yield f"P(a > b), over tasks, {n_runs} runs", 100 * float(np.mean(whole)), np.nan


def _probability(x: Array, y: Array) -> float:
    """Return P(x > y) + P(x = y) / 2."""
    ordered = np.sort(y)
    below = np.searchsorted(ordered, x, "left") + np.searchsorted(ordered, x, "right")
    return float(below.mean() / (2 * y.size))


BY_NAME: dict[str, Part] = {
    "aggregates": _aggregates,
    "profiles": _profiles,
    "pairs": _pairs,
    "curves": _curves,
    "tasks": _tasks,
    "looks": _looks,
    "improvement": _improvement,
}
