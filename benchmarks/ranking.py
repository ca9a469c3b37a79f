"""How fast ranks are computed, and whether rank intervals keep their level.

Times are processor times with BLAS on one thread (``OPENBLAS_NUM_THREADS=1``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
from scipy.special import gammaincinv, ndtr

from benchmarks.record import Measurement, processor_seconds
from gnomon.ranking import Ranking, audit, rank
from gnomon.results import noted
from gnomon.scores import ScoreTable
from gnomon.stats.all_pairs import PairwiseImprovement, pairwise_improvement

N_TABLES = 400
#: Algorithms, tasks and runs; seconds that ranking them may take.
SIZES = {(6, 26, 5): 0.02, (100, 57, 10): 0.15, (332, 41, 1): 0.3, (1_000, 20, 3): 3.0}
#: Algorithms, tasks, runs and share of empty cells of simulated tables.
SETUPS = (
    (6, 1, 5, 0.0), (6, 1, 20, 0.0), (6, 5, 3, 0.0), (6, 10, 5, 0.0), (6, 26, 2, 0.0),
    (20, 26, 5, 0.0), (20, 41, 1, 0.2), (100, 20, 1, 0.2), (332, 41, 1, 0.2),
)  # fmt: skip

Samples = list[list[np.ndarray]]


def measure() -> Iterator[Measurement]:
    """Measure speed, false separations, coverage, and what decoys do."""
    _quiet(_table(2, 3, 3))  # loads SciPy
    for size, target in SIZES.items():
        name = "rank, {} algorithms x {} tasks x {} runs".format(*size)
        table = _table(*size)
        yield Measurement(name, processor_seconds(partial(_quiet, table)), "s", target, False)
    rng = np.random.default_rng(0)
    table = ScoreTable.from_arrays({f"{i}": rng.normal(i / 4, 1, (5, 60)) for i in range(10)})
    begin = time.process_time()
    audit(table, rng=rng)
    yield Measurement("audit of 10 algorithms, 60 tasks, 5 runs", time.process_time() - begin, "s")
    for setup in SETUPS:
        yield from _coverage(*setup)
    for n_runs in (2, 3, 5, 10):
        for correlation in (0.0, 0.1, 0.3):
            yield from _shared_effects(n_runs, correlation)
    yield from _decoys()
    yield from _orders()
    for units, n in (("tasks", 40), ("items", 300)):
        yield from _needed(units, n)


def _quiet(table: ScoreTable) -> None:
    with noted():
        rank(table)


def _table(n: int, n_tasks: int, n_runs: int) -> ScoreTable:
    rng = np.random.default_rng(0)
    return ScoreTable.from_arrays(
        {f"a{i}": rng.normal(2.0 * i / n, 1.0, (n_runs, n_tasks)) for i in range(n)}
    )


def simulated(
    rng: np.random.Generator,
    means: Sequence[float],
    n_tasks: int,
    n_runs: int,
    empty: float = 0.0,
) -> Samples:
    """Return runs of algorithms with these means on tasks of different scale and skewness.

    A share of the cells is empty.
    """
    samples = []
    for t in range(n_tasks):
        runs = [rng.normal(m, 1.0, n_runs if rng.random() >= empty else 0) for m in means]
        samples.append([np.exp(x) if t % 2 else x for x in runs])
    return samples


def _better(found: PairwiseImprovement) -> np.ndarray:
    return np.asarray((found.p_adjusted <= 0.05) & (found.value > 0.5))


def _coverage(n: int, n_tasks: int, n_runs: int, empty: float) -> Iterator[Measurement]:
    """Count tables of equals in which a pair is separated, and of unequals with all ranks right."""
    rng, n_tables = np.random.default_rng(1), N_TABLES // 4 if n > 100 else N_TABLES
    means = np.repeat(np.linspace(0.0, 1.5, n // 2), 2)
    best = 1 + (means[None, :] > means[:, None]).sum(axis=1)
    worst = n - (means[None, :] < means[:, None]).sum(axis=1)
    false, covered = 0, 0
    for _ in range(n_tables):
        equal = pairwise_improvement(simulated(rng, np.zeros(n), n_tasks, n_runs, empty))
        false += bool(_better(equal).any())
        better = _better(pairwise_improvement(simulated(rng, means, n_tasks, n_runs, empty)))
        low, high = 1 + better.sum(axis=0), n - better.sum(axis=1)
        covered += bool(((low <= best) & (worst <= high)).all())
    where, note = f"{n} algorithms x {n_tasks} tasks x {n_runs} runs", f"{n_tables} tables"
    where += ", a fifth empty" if empty else ""
    share = 100.0 * false / n_tables
    yield Measurement(f"equals separated, {where}", share, "%", 5.0, False, note)
    yield Measurement(
        f"all true ranks covered, {where}", 100.0 * covered / n_tables, "%", 95.0, True, note
    )


def _shared_effects(n_runs: int, correlation: float) -> Iterator[Measurement]:
    """Count tables of equals in which a pair is separated, runs having one label on all tasks."""
    rng, n, n_tasks = np.random.default_rng(5), 5, 27
    common, own = math.sqrt(correlation), math.sqrt(1.0 - correlation)
    for name, quantile in (
        ("gamma", lambda p: gammaincinv(0.7, p)),
        ("counted", lambda p: np.floor(21.0 * p) / 20.0),
    ):
        false = 0
        for _ in range(N_TABLES):
            effect, rest = rng.normal(size=(n, n_runs, 1)), rng.normal(size=(n, n_runs, n_tasks))
            runs = quantile(ndtr(common * effect + own * rest))
            with noted():
                table = ScoreTable.from_arrays({f"{i}": x for i, x in enumerate(runs)})
                false += bool(rank(table).separated.any())
        where = f"{n} algorithms x {n_tasks} tasks x {n_runs} runs, correlation {correlation:g}"
        share, note = 100.0 * false / N_TABLES, f"{N_TABLES} tables"
        name = f"equals separated, {where}, {name} runs"
        yield Measurement(name, share, "%", 5.0, False, note)


def _decoys() -> Iterator[Measurement]:
    """Count pairs that are separated beside decoys and are not alone."""
    rng = np.random.default_rng(2)
    newly = dict.fromkeys((1, 5, 20, 50), 0)
    for _ in range(200):
        two = simulated(rng, (0.0, 0.35), 10, 5)
        alone = bool(_better(pairwise_improvement(two)).any())
        more = simulated(rng, rng.uniform(-1.0, 2.0, 50), 10, 5)
        for n in newly:
            found = pairwise_improvement([a + b[:n] for a, b in zip(two, more, strict=True)])
            newly[n] += bool(_better(found)[:2, :2].any()) and not alone
    for n, count in newly.items():
        yield Measurement(
            f"newly separated beside {n} decoys", count, "pairs", 0.0, False, "of 200 pairs"
        )


def _needed(units: Literal["tasks", "items"], n: int) -> Iterator[Measurement]:
    """Draw as many tasks or items of a table as would separate its first two; count how many are.

    The table is the population, so the true difference is the observed one.
    """
    rng, found = np.random.default_rng(4), []

    def ranked(scores: np.ndarray) -> Ranking:
        of = {f"m{i}": row[None] for i, row in enumerate(scores)}
        return rank(ScoreTable.from_arrays(of, units=units))

    for _ in range(N_TABLES):
        x = rng.normal(np.linspace(0.4, -0.5, 4)[:, None], 1.0, (4, n))
        x = x if units == "tasks" else (x > 0.0).astype(float)
        with noted():
            first = ranked(x)
            if first.separated[0, 1] or not first.needed < 100 * n:
                continue
            again = ranked(x[:, rng.integers(0, n, math.ceil(first.needed))])
        a, b = (again.names.index(name) for name in first.names[:2])
        found.append(bool(again.separated[a, b]))
    what = f"the first two separated by the number needed of {units}"
    share, note = 100.0 * float(np.mean(found)), f"{len(found)} tables of 4 x {n}"
    yield Measurement(what, share, "%", 80.0, True, note)


def _orders() -> Iterator[Measurement]:
    """Count pairs that 3 and 100 runs separate in opposite directions.

    On 3 of 20 tasks the first wins every run; on 17 the second wins with probability 0.75.
    """
    rng, opposite, wrong = np.random.default_rng(3), 0, 0
    lead = np.array([9.0] * 3 + [-0.954] * 17)  # P(X > Y) = 0.75 at 0.954 standard deviations
    for _ in range(N_TABLES):
        orders = []
        for n_runs in (3, 100):
            samples = [[rng.normal(x, 1.0, n_runs), rng.normal(0.0, 1.0, n_runs)] for x in lead]
            better = _better(pairwise_improvement(samples))
            orders.append(int(better[0, 1]) - int(better[1, 0]))
        opposite += orders[0] * orders[1] < 0
        wrong += orders[0] > 0
    for n, how in (
        (opposite, "opposite directions at 3 and at 100"),
        (wrong, "the wrong direction at 3"),
    ):
        share, note = 100.0 * n / N_TABLES, f"{N_TABLES} pairs of studies"
        yield Measurement(f"separated in {how} runs", share, "%", 5.0, False, note)
