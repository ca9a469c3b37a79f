"""How fast ranks get their intervals, how that grows, and whether the intervals keep their word."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.record import Measurement
from gnomon.ranking import METHODS, Contest, Tournament, audit, rank
from gnomon.ranking.ranks.resampled_ratings import Edges, resampled_ratings
from gnomon.scores import ScoreTable

#: Learners, rules and runs of the target: 1,000 resamples within 5 s on one core.
TARGET = (50, 60, 100)
N_TABLES = 1_000


def measure() -> Iterator[Measurement]:
    """Measure speed, growth and memory, then coverage."""
    rank(contest(3, 2, 5), n_resamples=2, rng=np.random.default_rng(0))  # compile
    yield from _speed()
    yield from _growth()
    yield from _coverage()


def contest(n: int, n_rules: int, n_runs: int, spread: float = 2.0) -> Contest:
    """Return learners of graded strength."""
    rng = np.random.default_rng(0)
    means = np.linspace(0.0, spread, n)
    samples = tuple(tuple(rng.normal(m, 1.0, n_runs) for m in means) for _ in range(n_rules))
    return Contest(tuple(map(str, range(n))), tuple(map(str, range(n_rules))), samples)


def _chain_seconds(one: Contest, n_resamples: int) -> float:
    """Return the processor time of the whole chain: draws, won pairs, edges, ratings."""
    graph, rng = Tournament.of(one), np.random.default_rng(0)
    begin = time.process_time()
    resampled_ratings(Edges(one), graph, METHODS["hodge"], n_resamples, rng=rng)
    return time.process_time() - begin


def _speed() -> Iterator[Measurement]:
    whole = contest(*TARGET)
    name = "{} learners, {} rules, {} runs".format(*TARGET)
    before = _peak_mb()
    seconds = _chain_seconds(whole, 1000)
    yield Measurement(f"1,000 resamples of the chain, {name}", seconds, "s", 5.0, False)
    yield Measurement("memory it takes", _peak_mb() - before, "MB", 500.0, False)
    begin = time.process_time()
    rank(whole, rng=np.random.default_rng(0))
    seconds = time.process_time() - begin
    yield Measurement("the same, with ranks and the test of chance", seconds, "s", 5.0, False)
    rng = np.random.default_rng(0)
    table = ScoreTable.from_arrays({f"{i}": rng.normal(i / 4, 1, (5, 60)) for i in range(10)})
    begin = time.process_time()
    audit(table, rng=rng)
    yield Measurement("audit of 10 algorithms, 60 tasks, 5 runs", time.process_time() - begin, "s")


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _growth() -> Iterator[Measurement]:
    """Time one measure twice as large: 2 is linear; learners are pairs, so up to 4."""
    base = (24, 24, 48)
    start = _chain_seconds(contest(*base), 200)
    for which, name in enumerate(("learners", "rules", "runs")):
        larger = list(base)
        larger[which] *= 2
        ratio = _chain_seconds(contest(*larger), 200) / start
        yield Measurement(f"twice as many {name}", ratio, "times the time")


def _coverage() -> Iterator[Measurement]:
    """Simulate tables: how often rank intervals hold, and identical learners share a group."""
    for n_rules, n_runs in ((1, 5), (1, 20), (5, 3), (5, 10), (15, 5)):
        name = f"{n_rules} rules x {n_runs} runs" if n_rules > 1 else f"1 rule x {n_runs} runs"
        graded = _held((0.0, 0.0, 0.3, 0.6, 0.6, 1.5), n_rules, n_runs)
        note = f"{N_TABLES} tables, level 95 %"
        yield Measurement(f"rank intervals hold, {name}", graded, "%", 95.0, True, note)
        same = _held((0.0,) * 6, n_rules, n_runs)
        yield Measurement(f"identical share a group, {name}", same, "%", 95.0, True, note)
    # Five pairs of equals far from all others: of four runs against four, resamples hardly vary.
    twins = np.repeat(8.0 * np.arange(5), 2).tolist()
    for method in ("hodge", "borda", "bradley-terry", "gohr-ev"):
        held = _held(twins, 1, 4, method)
        name = f"rank intervals hold of pairs far apart, 1 rule x 4 runs, {method}"
        yield Measurement(name, held, "%", 95.0, True, note)


def _held(means: Sequence[float], n_rules: int, n_runs: int, method: str = "hodge") -> float:
    """Return the percentage of tables in which all rank intervals hold the true ranks."""
    rng = np.random.default_rng(1)
    names = tuple(map(str, range(len(means))))
    rules = tuple(map(str, range(n_rules)))
    truth = np.array(means)
    good = 0
    for _ in range(N_TABLES):
        samples = tuple(tuple(rng.normal(m, 1.0, n_runs) for m in means) for _ in rules)
        found = rank(Contest(names, rules, samples), method, n_resamples=200, rng=rng)
        true = truth[[int(name) for name in found.names]]
        best = 1 + (true[None, :] > true[:, None]).sum(axis=1)
        worst = len(true) - (true[None, :] < true[:, None]).sum(axis=1)
        good += bool(((found.rank_low <= best) & (worst <= found.rank_high)).all())
    return 100.0 * good / N_TABLES
