"""Coverage of intervals and error of families of tests, on populations of known truth.

Sets of populations on which no constant of the package was tuned. `smooth` has tasks whose
runs are gamma, lognormal, logit-normal or Laplace, with levels and spreads that differ between
tasks; `rough` has mixtures: runs that collapse, two humps, shares of 20 episodes, Student's t with
three degrees of freedom; in `shared` the runs share an effect over tasks. Each cell draws tables of
six algorithms that are equal in truth, so that any separated pair is a false one. True values come
from 20,000 runs. P(X > Y) of two algorithms over few tasks is measured for true values from 0.5 to
0.95, on tasks whose differences are between half and one and a half times the mean one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.record import Measurement
from gnomon.scores import ScoreTable
from gnomon.stats import Strata, compare, estimate, metric_named
from gnomon.stats.all_pairs import pairwise_improvement

Array = npt.NDArray[np.float64]
#: From a generator and a number of runs to scores (runs, tasks).
Draw = Callable[[np.random.Generator, int], Array]

N_TASKS, N_ALGORITHMS, LEVEL = 20, 6, 0.95
RUNS, N_TABLES = (2, 3, 5, 10), 100
#: Coverage by number of runs that the rule had where it was designed, on eleven populations.
METRICS = {
    "mean": (97.1, 96.3, 95.7, 95.3),
    "iqm": (97.9, 97.1, 96.2, 95.6),
    "optimality_gap": (95.8, 94.9, 94.6, 93.9),
    "median": (92.9, 91.7, 89.2, 90.0),
}
#: Families of tests, and the share of tables with a false pair that is allowed.
FAMILIES = {"mean": 5.5, "iqm": 6.5, "probability_of_improvement": 5.5}
#: Tables of each population of a set and a number of runs whose error is near the target: the
#: standard error of the share of two populations is then 0.7 points.
MORE_TABLES = {("shared effects", 3): 500}


def _levels(seed: int) -> tuple[Array, Array]:
    """Return levels and spreads of tasks."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 1.2, N_TASKS), 0.25 * rng.lognormal(0.0, 0.6, N_TASKS)


def smooth() -> dict[str, Draw]:
    """Return the populations of continuous runs."""
    level, spread = _levels(101)

    def gamma(rng: np.random.Generator, n: int) -> Array:
        shape = np.square(level / spread)
        return rng.gamma(shape, level / shape, (n, N_TASKS))

    def lognormal(rng: np.random.Generator, n: int) -> Array:
        return level + spread * (np.exp(0.7 * rng.normal(size=(n, N_TASKS))) - np.exp(0.245))

    def logit(rng: np.random.Generator, n: int) -> Array:
        return 1.0 / (
            1.0 + np.exp(-(4.0 * level - 2.5 + 4.0 * spread * rng.normal(size=(n, N_TASKS))))
        )

    def laplace(rng: np.random.Generator, n: int) -> Array:
        return level + spread * rng.laplace(size=(n, N_TASKS))

    return {"gamma": gamma, "lognormal": lognormal, "logit-normal": logit, "laplace": laplace}


def rough() -> dict[str, Draw]:
    """Return the populations of mixtures and of counted successes."""
    level, spread = _levels(202)

    def collapses(rng: np.random.Generator, n: int) -> Array:
        runs = level + spread * rng.normal(size=(n, N_TASKS))
        return np.where(rng.random((n, N_TASKS)) < 0.1, 0.1 * runs, runs)

    def humps(rng: np.random.Generator, n: int) -> Array:
        high = (rng.random((n, N_TASKS)) < 0.5) & (np.arange(N_TASKS) % 2 == 0)
        return level + 0.5 * high + spread * rng.normal(size=(n, N_TASKS))

    def episodes(rng: np.random.Generator, n: int) -> Array:
        share = np.clip(level / 1.3 + spread * rng.normal(size=(n, N_TASKS)), 0.0, 1.0)
        return rng.binomial(20, share) / 20.0

    def heavy(rng: np.random.Generator, n: int) -> Array:
        return level + spread * rng.standard_t(3.0, (n, N_TASKS))

    return {"collapses": collapses, "two humps": humps, "episodes": episodes, "t3": heavy}


def shared() -> dict[str, Draw]:
    """Return populations of runs that share an effect over tasks, by the correlation of tasks."""
    level, spread = _levels(303)

    def correlated(correlation: float, rng: np.random.Generator, n: int) -> Array:
        common = np.sqrt(correlation) * rng.normal(size=(n, 1))
        own = np.sqrt((1.0 - correlation) / 1.5) * rng.standard_t(6.0, (n, N_TASKS))
        return level + spread * (common + own)

    return {f"correlation {r}": partial(correlated, r) for r in (0.1, 0.3)}


def counted(
    draw: Draw, n_runs: int, seed: int, n_tables: int = N_TABLES
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of intervals that hold the truth and of tables with a false pair."""
    rng = np.random.default_rng(seed)
    many = Strata.from_matrix(draw(np.random.default_rng(7), 20_000))
    truth = {metric: float(metric_named(metric).value(many)) for metric in METRICS}
    held, false = dict.fromkeys(METRICS, 0), dict.fromkeys(FAMILIES, 0)
    for _ in range(n_tables):
        arrays = {f"a{i}": draw(rng, n_runs) for i in range(N_ALGORITHMS)}
        table, options = ScoreTable.from_arrays(arrays), {"n_resamples": 300, "level": LEVEL}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimates = estimate(table, [*METRICS], **options)
            pairs = compare(table, metrics=[*FAMILIES], **options)
        for one in estimates:
            held[one.metric] += one.low <= truth[one.metric] <= one.high
        for metric in FAMILIES:
            false[metric] += any(c.p_adjusted <= 1 - LEVEL for c in pairs.where(metric=metric))
    n = n_tables * N_ALGORITHMS
    return {m: held[m] / n for m in METRICS}, {m: false[m] / n_tables for m in FAMILIES}


def normal(rng: np.random.Generator, n: tuple[int, ...], shift: Array) -> tuple[Array, Array]:
    """Return runs (..., tasks) of two algorithms, of which the first is better by a shift."""
    return rng.normal(size=n) + shift, rng.normal(size=n)


def lognormal(rng: np.random.Generator, n: tuple[int, ...], shift: Array) -> tuple[Array, Array]:
    """Return skewed runs."""
    return np.exp(rng.normal(size=n)) + shift, np.exp(rng.normal(size=n))


def rounded(rng: np.random.Generator, n: tuple[int, ...], shift: Array) -> tuple[Array, Array]:
    """Return runs with ties."""
    x, y = normal(rng, n, shift)
    return np.round(2.0 * x) / 2.0, np.round(2.0 * y) / 2.0


def unequal(rng: np.random.Generator, n: tuple[int, ...], shift: Array) -> tuple[Array, Array]:
    """Return runs of unequal spread."""
    return rng.normal(size=n) + shift, 2.5 * rng.normal(size=n)


def improvement() -> Iterator[Measurement]:
    """Yield the coverage of P(X > Y) by numbers of tasks and runs, and the error of its test."""
    errors = []
    for n_tasks in (2, 3, 5):
        for n_runs in (2, 3, 5):
            rng, cells = np.random.default_rng(100 * n_tasks + n_runs), []
            for draw in (normal, lognormal, rounded, unequal):
                for mean_shift in (0.0, 0.5, 1.0, 1.7, 2.5):
                    shift = mean_shift * np.linspace(0.5, 1.5, n_tasks)
                    x, y = draw(rng, (100_000, n_tasks), shift)
                    truth = float(np.mean((x > y) + 0.5 * (x == y)))
                    held = 0
                    for _ in range(2 * N_TABLES):
                        x, y = draw(rng, (n_runs, n_tasks), shift)
                        found = pairwise_improvement([*zip(x.T, y.T, strict=True)])
                        low, high = (end[0, 1] for end in found.ends)
                        held += low <= truth <= high
                        if mean_shift == 0.0:
                            errors.append(found.p_value[0, 1] <= 1.0 - LEVEL)
                    cells.append((50.0 * held / N_TABLES, f"{draw.__name__} runs, {truth:.2f}"))
            least, where = min(cells)
            yield Measurement(
                f"P(X > Y), {n_tasks} tasks, {n_runs} runs: coverage",
                float(np.mean([share for share, _ in cells])),
                "%",
                note=f"lowest {least:.0f} ({where})",
            )
    yield Measurement(
        "P(X > Y): equal algorithms separated",
        100.0 * float(np.mean(errors)),
        "%",
        5.5,
        higher_is_better=False,
        note=f"{len(errors):,} tables",
    )


def measure() -> Iterator[Measurement]:
    """Yield mean and lowest coverage, and the familywise error, of each metric and set."""
    yield from improvement()
    sets = {"smooth": smooth(), "rough": rough(), "shared effects": shared()}
    for set_name, populations in sets.items():
        for n_runs in RUNS:
            n_tables = MORE_TABLES.get((set_name, n_runs), N_TABLES)
            found = [
                counted(draw, n_runs, 1000 * n_runs + place, n_tables)
                for place, draw in enumerate(populations.values())
            ]
            more = f"; {n_tables} tables each" if n_tables != N_TABLES else ""
            for metric, designed in METRICS.items():
                held = 100.0 * np.array([one[metric] for one, _ in found])
                before = f", {designed[RUNS.index(n_runs)]} where the rule was designed"
                yield Measurement(
                    f"{set_name}, {n_runs} runs, {metric}: coverage",
                    float(held.mean()),
                    "%",
                    note=f"lowest {held.min():.1f}{before}{more}",
                )
            for metric, most in FAMILIES.items():
                false = 100.0 * np.array([one[metric] for _, one in found])
                yield Measurement(
                    f"{set_name}, {n_runs} runs, {metric}: any false pair of 15",
                    float(false.mean()),
                    "%",
                    most,
                    higher_is_better=False,
                    note=f"highest {false.max():.0f}{more}",
                )
