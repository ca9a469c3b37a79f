"""What the coverage benchmark counts: one part for each kind of interval or test.

A part draws tables from a population and tallies, for each line of the benchmark, a share of hits
for each independent piece: an algorithm, a pair or a table, whatever was drawn by itself. Several
thresholds, tasks or pairs of one piece are one share, so that standard errors are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

import gnomon as gn
from benchmarks.populations import Population
from gnomon.stats import (
    Influences,
    Metric,
    Strata,
    delta_error,
    delta_interval,
    holm,
    metric_named,
    sequential_compare,
    sequential_levels,
)
from gnomon.stats.small_samples.median_profile import MedianProfile
from gnomon.stats.small_samples.moderated_variances import moderated_variances, prior_dfs
from gnomon.stats.small_samples.small_sample import task_variances

__all__ = ["AT_WORST", "PARTS", "Part", "Tally"]

LEVEL = 0.95
METRICS = ("mean", "median", "iqm", "optimality_gap")
#: Algorithms of a table whose intervals do not depend on each other.
N_ALGORITHMS = 8
#: One table in so many has the slow intervals beside it too.
SELDOM = 4
#: In a line's name: what follows is one of several, of which the worst counts.
AT_WORST = "#"

Summary = Literal["area", "final", "best"]
Array = npt.NDArray[np.float64]


@dataclass
class Tally:
    """Hits of each line: pieces, their sum of shares and of squares, and two sums of widths.

    Parameters
    ----------
    lines : dict
        From the name of a line to these five numbers.
    """

    lines: dict[str, list[float]] = field(default_factory=dict)

    def add(self, line: str, share: float, width: float = 0.0, peer: float = 0.0) -> None:
        """Count a piece: its share of hits, and a width beside that of the peer."""
        known = self.lines.setdefault(line, [0.0] * 5)
        for i, x in enumerate((1.0, share, share**2, width, peer)):
            known[i] += float(x)


@dataclass(frozen=True)
class Part:
    """One kind of interval or test.

    Parameters
    ----------
    count : function
        Of a population, a number of runs and of tables, a generator of random numbers and a tally.
    n_tables : int
        Tables of one round.
    runs : sequence of int
        Numbers of runs per task.
    """

    count: Callable[[Population, int, int, np.random.Generator, Tally], None]
    n_tables: int
    runs: Sequence[int] = (2, 3, 5, 10)


def _table(
    population: Population, n_runs: int, rng: np.random.Generator, n_algorithms: int = N_ALGORITHMS
) -> gn.ScoreTable:
    """Return a table of algorithms that are all alike."""
    drawn = {f"a{k}": population.draw(rng, n_runs) for k in range(n_algorithms)}
    return gn.ScoreTable.from_arrays(drawn)


def _held(low: float | None, high: float | None, truth: float) -> bool:
    """Say whether an interval holds the truth; one that does not exist holds nothing."""
    return low is not None and high is not None and low <= truth <= high


# Aggregates of one algorithm.


@cache
def _true_aggregates(population: Population) -> Mapping[str, float]:
    whole = Strata.from_matrix(population.truth())
    return {name: metric_named(name).value(whole) for name in METRICS}


def _aggregates(
    population: Population, n_runs: int, n_tables: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Count coverage of each aggregate's default interval, seldom of the percentile's beside it."""
    truth = _true_aggregates(population)
    for i in range(n_tables):
        table = _table(population, n_runs, rng)
        ours = gn.estimate(table, METRICS, rng=0)
        for e in ours:
            tally.add(f"{e.metric}, {n_runs} runs", _held(e.low, e.high, truth[e.metric]))
        if i % SELDOM:
            continue
        plain = gn.estimate(table, METRICS, method="percentile", n_resamples=400, rng=i)
        for e, peer in zip(ours, plain, strict=True):
            held = _held(peer.low, peer.high, truth[e.metric])
            widths = (e.high - e.low, peer.high - peer.low)
            if np.isfinite(widths).all():
                tally.add(f"{e.metric} by percentile, {n_runs} runs", held, *widths)
        for e in ours:
            if e.metric == "median":
                low, high = _median_before(table, e.algorithm)
                held = _held(low, high, truth["median"])
                tally.add(
                    f"median without density term, {n_runs} runs", held, e.high - e.low, high - low
                )


def _median_before(table: gn.ScoreTable, algorithm: str) -> tuple[float, float]:
    """Return the interval of the median with the plain chi-square quantile, whatever the crowd."""
    profile = replace(MedianProfile.of(Strata.from_table(table, algorithm)), dense=1.0)
    return float(-profile.mirrored().upper(LEVEL)), float(profile.upper(LEVEL))


# Profiles.


@cache
def _true_profile(population: Population) -> tuple[Array, Array]:
    """Return 41 thresholds from the 5th to the 95th percentile, and the share of runs above."""
    truth = population.truth()
    tau = np.unique(np.quantile(truth, np.linspace(0.05, 0.95, 41)))
    return tau, np.array([(truth > t).mean() for t in tau])


def _profiles(
    population: Population, n_runs: int, n_tables: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Count coverage of the bands of the performance profile, pointwise and whole."""
    tau, share = _true_profile(population)
    for i in range(n_tables):
        table = _table(population, n_runs, rng)
        for p in gn.profile(table, tau=tau, band="pointwise", rng=i):
            inside = (p.low <= share + 1e-12) & (share - 1e-12 <= p.high)
            tally.add(f"profile, pointwise, {n_runs} runs", inside.mean())
            for k, held in enumerate(inside):
                tally.add(f"profile, worst threshold, {n_runs} runs{AT_WORST}{k}", held)
        for p in gn.profile(table, tau=tau, band="simultaneous", rng=i):
            inside = (p.low <= share + 1e-12) & (share - 1e-12 <= p.high)
            tally.add(f"profile, whole curve, {n_runs} runs", inside.all())


# All pairs, and variances of the table.

#: Factors on the spread of six algorithms around the same task means.
SPREADS = {"alike": np.ones(6), "unlike": np.geomspace(0.5, 2.0, 6)}
#: True standard errors by which algorithms differ where power is measured.
DISTANCE = 3.5


@cache
def _true_moments(population: Population) -> tuple[Array, Array, Mapping[str, float]]:
    truth = population.truth()
    return truth.mean(axis=0), truth.var(axis=0), _true_aggregates(population)


def _pairs(
    population: Population, n_runs: int, n_tables: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Count false and true differences among six algorithms, and intervals by table's variances.

    The formulas of ``compare_all`` and ``estimate(variances="table")`` are computed here without
    tables, which is ten times faster, and compared with both on the first table of each cell.
    """
    mean, variance, truth = _true_moments(population)
    for kind, factors in SPREADS.items():
        for i in range(n_tables):
            scores = [_unlike(population.draw(rng, n_runs), mean, f) for f in factors]
            strata = [Strata.from_matrix(x) for x in scores]
            # With unlike spreads only the means stay equal.
            for name in ("mean", "iqm") if kind == "alike" else ("mean",):
                metric = metric_named(name)
                own, moderated = _influences(metric, strata)
                values = [metric.value(one) for one in strata]
                where = f"{kind}, {name}"
                _count_false(tally, where, n_runs, values, own, moderated)
                alone = _judged_alone(moderated)
                _count_own(tally, where, n_runs, values, own, alone, truth[name])
                if name == "mean":
                    sizes = np.array([np.sum(f**2 * variance / strata[0].counts) for f in factors])
                    errors = np.sqrt(sizes[:, None] + sizes) / mean.size
                    _count_found(tally, kind, n_runs, values, own, moderated, errors)
                if i == 0:
                    _expect_same(name, scores, values, moderated)


def _unlike(x: Array, mean: Array, spread: float) -> Array:
    """Return the scores with another spread around the same task means."""
    return mean + spread * (x - mean)


def _influences(
    metric: Metric, strata: Sequence[Strata]
) -> tuple[list[Influences], list[Influences]]:
    """Return each algorithm's influences with its own variances, and with the table's."""
    own = [part for one in strata if (part := metric.influences(one)) is not None]
    dfs = np.stack([one.counts - 1.0 for one in strata])
    drawn = moderated_variances(np.stack([part.spreads() for part in own]), dfs)
    raw = moderated_variances(np.stack([task_variances(s, s.values) for s in strata]), dfs)
    both = zip(own, drawn, raw, strict=True)
    return own, [replace(part, moderated=(a, b)) for part, a, b in both]


def _judged_alone(moderated: Sequence[Influences]) -> list[Influences]:
    """Return the influences with the degrees of freedom of an algorithm's own interval."""
    more = prior_dfs(np.stack([part.strata.counts - 1.0 for part in moderated]))
    return [replace(part, prior_dfs=own) for part, own in zip(moderated, more, strict=True)]


def _p_values(
    values: Sequence[float], parts: Sequence[Influences], beyond: Array | float = 0.0
) -> Array:
    """Return p-values of all pairs.

    With `beyond` (algorithms, algorithms) the first of a pair is better by so much.
    """
    found = []
    shifted = [value + part.shift for value, part in zip(values, parts, strict=True)]
    more = np.broadcast_to(beyond, (len(values), len(values)))
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            error = delta_error(parts[i], parts[j])
            distance = shifted[i] - shifted[j] + more[i, j]
            found.append(error.p_value(distance))
    return np.array(found)


def _count_false(
    tally: Tally,
    where: str,
    n_runs: int,
    values: Sequence[float],
    own: Sequence[Influences],
    moderated: Sequence[Influences],
) -> None:
    """Count whether any pair is found by Holm."""
    p = _p_values(values, moderated)
    alpha = 1.0 - LEVEL
    tally.add(f"all pairs of six, {where}, false, {n_runs} runs", bool((holm(p) <= alpha).any()))
    plain = holm(_p_values(values, own))
    tally.add(
        f"all pairs of six by own variances, {where}, false, {n_runs} runs",
        bool((plain <= alpha).any()),
    )


def _count_own(
    tally: Tally,
    where: str,
    n_runs: int,
    values: Sequence[float],
    own: Sequence[Influences],
    moderated: Sequence[Influences],
    truth: float,
) -> None:
    """Count coverage of each algorithm's interval by the table's variances; one share a table."""
    held, widths = [], [0.0, 0.0]
    for value, plain, part in zip(values, own, moderated, strict=True):
        low, high = delta_interval(value, part, LEVEL)
        held.append(_held(low, high, truth))
        widths[0] += high - low
        widths[1] += float(np.subtract(*delta_interval(value, plain, LEVEL)[::-1]))
    tally.add(f"moderated over the table, {where}, {n_runs} runs", float(np.mean(held)), *widths)


def _count_found(
    tally: Tally,
    kind: str,
    n_runs: int,
    values: Sequence[float],
    own: Sequence[Influences],
    moderated: Sequence[Influences],
    errors: Array,
) -> None:
    """Count found differences between the first three and the last three algorithms, by Holm."""
    first = np.arange(len(values)) < len(values) // 2
    apart = first[:, None] & ~first
    pairs = apart[np.triu_indices(len(values), 1)]
    for name, parts in (("moderated", moderated), ("own variances", own)):
        p = holm(_p_values(values, parts, np.where(apart, DISTANCE * errors, 0.0)))
        share = float(np.mean(p[pairs] <= 1.0 - LEVEL))
        tally.add(f"power over all pairs, {kind}, mean, {name}, {n_runs} runs", share)


def _expect_same(
    metric: str, scores: Sequence[Array], values: Sequence[float], moderated: Sequence[Influences]
) -> None:
    """Raise unless the verbs give the same numbers."""
    table = gn.ScoreTable.from_arrays({f"a{k}": x for k, x in enumerate(scores)})
    theirs = np.array([c.p_value for c in gn.compare_all(table, metric, rng=0)])
    small = theirs <= 0.5  # where a value and its shift differ in sign the verb's p is 1
    np.testing.assert_allclose(_p_values(values, moderated)[small], theirs[small], rtol=1e-6)
    for part, value, e in zip(
        _judged_alone(moderated), values, gn.estimate(table, metric, variances="table"), strict=True
    ):
        np.testing.assert_allclose(delta_interval(value, part, LEVEL), (e.low, e.high), rtol=1e-9)


# Summaries of curves.


def _curve(population: Population, mean: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Return scores of shape (runs, tasks, 10): a rise of five steps and a plateau of five.

    The noise of steps is correlated by 0.7.
    """
    noise = [population.draw(rng, n_runs) - mean for _ in range(10)]
    for s in range(1, 10):
        noise[s] = 0.7 * noise[s - 1] + np.sqrt(1 - 0.49) * noise[s]
    growth = np.minimum(np.arange(1, 11) / 5.0, 1.0)
    return np.stack([g * mean + x for g, x in zip(growth, noise, strict=True)], axis=2)


@cache
def _true_curves(population: Population) -> Mapping[tuple[Summary, str], float]:
    """Return area, final and best of the aggregate curves of eight thousand runs."""
    drawn = _curve(population, _true_moments(population)[0], np.random.default_rng(1), 8000)
    found: dict[tuple[Summary, str], float] = {}
    for name in ("mean", "iqm"):
        metric = metric_named(name)
        curve = np.array([metric.value(Strata.from_matrix(drawn[:, :, s])) for s in range(10)])
        # On the plateau the true mean is one number, and what draws make best is not. Where scores
        # are negative the curve falls, and its first step is the best.
        best = max(curve[5:].mean(), curve[:4].max()) if name == "mean" else curve.max()
        found["area", name] = float(np.trapezoid(curve) / 9.0)
        found["final", name], found["best", name] = float(curve[-1]), float(best)
    return found


def _curves(
    population: Population, n_runs: int, n_tables: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Count coverage of area, final and best of aggregate curves."""
    mean, truth = _true_moments(population)[0], _true_curves(population)
    for i in range(n_tables):
        drawn = {f"a{k}": _curve(population, mean, rng, n_runs) for k in range(N_ALGORITHMS)}
        table = gn.ScoreTable.from_arrays(drawn)
        for summary in get_args(Summary):
            for e in gn.curves(table, ["mean", "iqm"], summary=summary, rng=i):
                name = e.metric.removeprefix(f"{summary}(").removesuffix(")")
                held = _held(e.low, e.high, truth[summary, name])
                tally.add(f"curves, {summary} of {name}, {n_runs} runs", held)


# Tasks as a sample.


def _tasks(
    population: Population, n_runs: int, n_tables: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Count coverage where tasks are a sample too, drawn from the population's as a pool."""
    means = _true_moments(population)[0]
    if means.size < 20:
        return
    iqm = _true_aggregates(population)["iqm"]
    truth = {"median": float(np.median(means)), "iqm": iqm, "mean": float(means.mean())}
    for n_tasks in (6, 16, 26):
        for _ in range(n_tables):
            drawn = {f"a{k}": _of_pool(population, n_runs, n_tasks, rng) for k in range(8)}
            table = gn.ScoreTable.from_arrays(drawn)
            for e in gn.estimate(table, list(truth), resampling="runs_and_tasks", rng=0):
                held = _held(e.low, e.high, truth[e.metric])
                tally.add(f"tasks drawn, {e.metric}, {n_tasks} tasks", held)


def _of_pool(population: Population, n_runs: int, n_tasks: int, rng: np.random.Generator) -> Array:
    """Return runs of tasks drawn from the population's; one drawn twice has new runs."""
    drawn = population.draw(rng, n_runs * n_tasks).reshape(n_tasks, n_runs, -1)
    picked = rng.integers(drawn.shape[2], size=n_tasks)
    return np.asarray(drawn[np.arange(n_tasks), :, picked].T)


# Looks one after another.

LOOKS = {2: (2, 4, 8), 3: (3, 5, 8), 5: (5, 10, 15)}
#: Spreads of the two algorithms.
APART = {"alike": (1.0, 1.0), "spreads 6-fold apart": (0.4, 2.4)}


def _looks(
    population: Population, n_runs: int, n_tables: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Count false decisions of a comparison that is looked at after each few runs.

    Computed from the looks' formulas, without tables; the first two tables are compared with
    ``sequential_compare``.
    """
    looks, (mean, variance, _) = LOOKS[n_runs], _true_moments(population)
    for kind, factors in APART.items():
        for i in range(n_tables):
            x, y = (_unlike(population.draw(rng, looks[-1]), mean, f) for f in factors)
            line = f"sequential looks, {kind}, mean, false, first at {n_runs} runs"
            tally.add(line, _decided(x, y, looks) > 0)
            if i < 2:
                error = math.sqrt(np.sum(variance) * np.square(factors).sum() / looks[-1])
                for beyond in (0.0, 4.0 * error / mean.size):
                    _expect_same_looks(x + beyond, y, looks)


def _decided(x: Array, y: Array, looks: Sequence[int]) -> int:
    """Return at which look a difference between two means is found, 0 if at none."""
    made = min(int(np.sum(~np.isnan(scores), axis=0).min()) for scores in (x, y))
    for n, level in zip(looks, sequential_levels(looks, level=LEVEL), strict=True):
        if n > made:
            return 0
        if not _differ(x[:n], y[:n], level):
            continue
        # Without each one of the tasks too, where two clusters of runs cannot be seen.
        tasks = range(x.shape[1] if n < 5 else 0)
        rests = ([np.delete(z[:n], t, axis=1) for z in (x, y)] for t in tasks)
        if n >= 5 or (x.shape[1] > 1 and all(_differ(p, q, level) for p, q in rests)):
            return n
    return 0


def _differ(x: Array, y: Array, level: float) -> bool:
    """Return whether the means of two algorithms differ at a level."""
    parts = [Influences(s, s.values) for s in (Strata.from_matrix(x), Strata.from_matrix(y))]
    return delta_error(*parts).p_value(float(x.mean() - y.mean())) <= 1.0 - level


def _expect_same_looks(x: Array, y: Array, looks: Sequence[int]) -> None:
    """Raise unless the verb decides as the formulas do."""
    table, g = gn.ScoreTable.from_arrays({"a": x, "b": y}), np.random.default_rng(0)
    theirs = sequential_compare(table, "a", "b", "mean", looks=looks, rng=g)
    np.testing.assert_equal(theirs.runs if theirs.decided else 0, _decided(x, y, looks))


# Probability of improvement.


@cache
def _true_improvement(population: Population) -> tuple[Array, Array]:
    """Return P(a > b) of each task and the shift of b, 0.7 standard deviations upwards."""
    truth = population.truth()
    shift = 0.7 * truth.std(axis=0)
    half = len(truth) // 2
    x, y = truth[:half], truth[half:] + shift
    return np.array([_probability(x[:, t], y[:, t]) for t in range(x.shape[1])]), shift


def _probability(x: Array, y: Array) -> float:
    """Return P(x > y) + P(x = y) / 2."""
    ordered = np.sort(y)
    below = np.searchsorted(ordered, x, "left") + np.searchsorted(ordered, x, "right")
    return float(below.mean() / (2 * y.size))


def _improvement(
    population: Population, n_runs: int, n_tables: int, rng: np.random.Generator, tally: Tally
) -> None:
    """Count coverage of P(a > b) and false positives of its exact test, of tasks and over them."""
    above, shift = _true_improvement(population)
    metric = "probability_of_improvement"
    for i in range(n_tables):
        a, b, alike = (population.draw(rng, n_runs) for _ in range(3))
        table = gn.ScoreTable.from_arrays({"a": a, "b": b + shift, "alike": alike})
        (whole, *tasks) = gn.compare(table, "a", "b", metric, per_task=True, rng=i)
        tally.add(
            f"P(a > b), over tasks, {n_runs} runs", _held(whole.low, whole.high, above.mean())
        )
        held = [_held(c.low, c.high, p) for c, p in zip(tasks, above, strict=True)]
        tally.add(f"P(a > b), one task, {n_runs} runs", float(np.mean(held)))
        null = [c for c in gn.compare(table, "a", "alike", metric, per_task=True, rng=i) if c.task]
        for alpha in (0.05, 0.01):
            share = float(np.mean([c.p_value <= alpha for c in null]))
            tally.add(f"P(a > b), one task, false at {alpha}, {n_runs} runs", share)


PARTS: dict[str, Part] = {
    "aggregates": Part(_aggregates, 12),
    "profiles": Part(_profiles, 12),
    "pairs": Part(_pairs, 40),
    "curves": Part(_curves, 5),
    "tasks": Part(_tasks, 12, (5,)),
    "looks": Part(_looks, 100, tuple(LOOKS)),
    "improvement": Part(_improvement, 20, (3, 5, 10)),
}
