"""Comparisons of two algorithms: differences of any metric, with interval, test and correction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import Resamples, draw_key
from gnomon.stats.estimate import finite_or_none, shared_tasks, warn
from gnomon.stats.improvement import placements, resampled_improvement
from gnomon.stats.intervals import FEW_RUNS, Interval, percentile
from gnomon.stats.metrics import METRICS, Metric, metric_named, metrics_for
from gnomon.stats.small_sample import Influences, delta_error, median_profile_interval
from gnomon.stats.strata import Strata
from gnomon.stats.tests import holm

__all__ = ["Comparison", "compare", "compare_all"]

#: The metric that is no difference: see :mod:`gnomon.stats.improvement`.
IMPROVEMENT = "probability_of_improvement"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much better (or higher) one algorithm is than another in one metric.

    Parameters
    ----------
    a, b : str
        The algorithms.
    metric : str
        What is compared. The value is that of `a` minus that of `b`, except for
        ``probability_of_improvement``, where it is P(a better than b) and 0.5 means no difference.
    task : str or None
        The task, or None for all together.
    value, low, high : float
        The difference with its interval; NaN where not estimable.
    p_value : float
        Two-sided, that there is no difference.
    p_adjusted : float
        Corrected for the comparisons made together.
    level : float
        Confidence level of the interval.
    method : str
        How interval and p-value were made.
    n_resamples : int
        0 for a closed form.
    mc_error : float
        Monte Carlo error of the worse end.
    """

    a: str
    b: str
    metric: str
    task: str | None
    value: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    level: float
    method: str
    n_resamples: int
    mc_error: float

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, None for what is not a finite number."""
        return {name: finite_or_none(value) for name, value in asdict(self).items()}


def compare(
    table: ScoreTable,
    a: str,
    b: str,
    metrics: Sequence[str | Metric] = (*METRICS[:3], IMPROVEMENT),
    *,
    per_task: bool = False,
    paired: bool = False,
    level: float = 0.95,
    method: Literal["auto", "small_sample", "percentile"] = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Compare two algorithms on the tasks that both have.

    Parameters
    ----------
    table : ScoreTable
        One score for each run.
    a, b : str
        The algorithms.
    metrics : sequence of str or Metric
        As in :func:`~gnomon.stats.estimate.estimate_aggregates`, and
        ``probability_of_improvement``.
    per_task : bool
        Whether to compare on each task too; p-values are then corrected over tasks (Holm).
    paired : bool
        Whether runs with the same label are pairs (the same seed): pairs are kept together.
    level : float
        Confidence level.
    method : str
        ``small_sample``: delta-t (for means on one task this is Welch's test) and, for medians,
        the profile intervals of both combined (Zou and Donner 2008); ``percentile``: bootstrap;
        ``auto``: the first below 20 runs.
    n_resamples : int
        Number of resamples, for ``percentile`` and metrics without closed form.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator
        Source of all draws.

    Returns
    -------
    list of Comparison
        For each metric the whole and then, if wanted, the tasks.

    Raises
    ------
    UnknownNameError
        There is no such algorithm or metric.
    ScoreDataError
        No task is shared, or runs to be paired have no common labels.

    Warns
    -----
    DegenerateScoresWarning
        Something is left out or not estimable.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1, 4], [2, 6], [3, 5]], "sac": [[5, 7], [6, 9]]})
    >>> for c in compare(table, "sac", "dqn", ["mean"], rng=np.random.default_rng(0)):
    ...     print(f"{c.metric}: {c.value:.2f} [{c.low:.2f}, {c.high:.2f}], p = {c.p_value:.3f}")
    mean: 3.25 [1.10, 5.40], p = 0.017
    """
    tasks = shared_tasks(table, (a, b))
    x, y = _strata_pair(table, a, b, tasks, paired)
    keys = (draw_key(rng), draw_key(rng))
    options = _Options(table.higher_is_better, paired, level, method, n_resamples, keys)
    comparisons = []
    for metric in _metrics(metrics, gamma, table.higher_is_better):
        comparisons.append(_compared(x, y, metric, options, a, b, None))
        if per_task:
            parts = zip(tasks, x.per_task(), y.per_task(), strict=True)
            singles = [
                _compared(Strata.from_runs([p]), Strata.from_runs([q]), metric, options, a, b, task)
                for task, p, q in parts
            ]
            comparisons += _corrected(singles)
    return comparisons


def compare_all(
    table: ScoreTable,
    metric: str | Metric = "iqm",
    *,
    correction: Literal["holm", "max_t"] = "holm",
    paired: bool = False,
    level: float = 0.95,
    method: Literal["auto", "small_sample", "percentile"] = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Compare every two algorithms in one metric, corrected for the number of pairs.

    Parameters
    ----------
    table, paired, level, method, n_resamples, gamma, rng
        As in :func:`compare`.
    metric : str or Metric
        One metric.
    correction : str
        ``holm``: p-values by Holm's steps, each interval at `level` by itself; ``max_t``: intervals
        that hold together at `level`, and their p-values, from the distribution of the largest
        studentized difference in common resamples (Westfall and Young 1993).

    Returns
    -------
    list of Comparison
        Pairs in the table's order.

    Examples
    --------
    >>> scores = {"a": [[1, 4], [2, 6]], "b": [[5, 7], [6, 9]], "c": [[5, 6], [7, 9]]}
    >>> table = ScoreTable.from_arrays(scores)
    >>> pairs = compare_all(table, "mean", rng=np.random.default_rng(0))
    >>> [(c.a, c.b, round(c.p_adjusted, 2)) for c in pairs]
    [('a', 'b', 0.07), ('a', 'c', 0.1), ('b', 'c', 1.0)]
    """
    pairs = list(combinations(table.algorithms, 2))
    if correction == "max_t":
        return _max_t(table, metric, pairs, level, n_resamples, gamma, paired, rng)
    found = []
    for a, b in pairs:
        found += compare(
            table,
            a,
            b,
            [metric],
            paired=paired,
            level=level,
            method=method,
            n_resamples=n_resamples,
            gamma=gamma,
            rng=rng,
        )
    return _corrected(found)


@dataclass(frozen=True)
class _Options:
    """What all comparisons of one call share."""

    higher_is_better: bool
    paired: bool
    level: float
    method: str
    n_resamples: int
    keys: tuple[np.uint64, np.uint64]

    def small(self, x: Strata, y: Strata) -> bool:
        """Return whether the small-sample method is to be used."""
        few = min(x.counts.min(), y.counts.min()) < FEW_RUNS
        return self.method == "small_sample" or (self.method == "auto" and bool(few))

    def paired_keys(self) -> tuple[np.uint64, np.uint64]:
        """Return the keys of both algorithms' draws: one and the same for pairs."""
        return (self.keys[0], self.keys[0]) if self.paired else self.keys


def _metrics(
    wanted: Sequence[str | Metric], gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics, with a stand-in for the probability of improvement."""
    metrics = []
    for one in wanted:
        if one == IMPROVEMENT:
            metrics.append(Metric(IMPROVEMENT, lambda s: math.nan))
            continue
        try:
            metrics += metrics_for([one], gamma=gamma, higher_is_better=higher_is_better)
        except UnknownNameError:
            raise UnknownNameError("metric", str(one), (*METRICS, IMPROVEMENT)) from None
    return metrics


def _strata_pair(
    table: ScoreTable, a: str, b: str, tasks: Sequence[str], paired: bool
) -> tuple[Strata, Strata]:
    """Return both algorithms' scores; if paired, only runs that both have, in the same order."""
    if not paired:
        return Strata.from_table(table, a, tasks), Strata.from_table(table, b, tasks)
    parts: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    left_out = 0
    for task in tasks:
        of_a = dict(zip(table.run_labels(a, task), table.runs(a, task), strict=True))
        of_b = dict(zip(table.run_labels(b, task), table.runs(b, task), strict=True))
        common = [label for label in of_a if label in of_b]
        if not common:
            raise ScoreDataError(f"task {task}: {a} and {b} have no run label in common to pair")
        left_out += len(of_a) + len(of_b) - 2 * len(common)
        parts[0].append(np.array([of_a[label] for label in common]))
        parts[1].append(np.array([of_b[label] for label in common]))
    if left_out:
        warn(f"{a} and {b}: {left_out} runs left out that have no partner")
    return Strata.from_runs(parts[0]), Strata.from_runs(parts[1])


def _compared(
    x: Strata, y: Strata, metric: Metric, options: _Options, a: str, b: str, task: str | None
) -> Comparison:
    """Return one comparison, NaN with a warning where it is not estimable."""
    if metric.name == IMPROVEMENT:
        value = placements(x, y, higher_is_better=options.higher_is_better).value
        neutral = 0.5
    else:
        value, neutral = metric.value(x) - metric.value(y), 0.0
    interval, p_value = Interval(math.nan, math.nan, "none", 0, math.nan), math.nan
    where = f"{metric.name} of {a} and {b}" + (f" on {task}" if task else "")
    if not math.isfinite(value):
        warn(f"{where}: not estimable, some runs are infinite (censored)")
        value = math.nan
    elif min(x.counts.max(), y.counts.max()) == 1:
        single = a if x.counts.max() == 1 else b
        warn(f"{where}: interval not estimable from one run per task of {single}")
    else:
        interval, p_value = _interval_and_test(x, y, metric, options, value, neutral)
        if interval.low == interval.high:
            warn(f"{where}: interval not estimable, the scores that decide it do not vary")
            interval, p_value = replace(interval, low=math.nan, high=math.nan), math.nan
    return Comparison(
        a,
        b,
        metric.name,
        task,
        value,
        interval.low,
        interval.high,
        p_value,
        p_value,
        options.level,
        interval.method,
        interval.n_resamples,
        interval.mc_error,
    )


def _interval_and_test(
    x: Strata, y: Strata, metric: Metric, options: _Options, value: float, neutral: float
) -> tuple[Interval, float]:
    """Return the interval and the two-sided p-value of `value` being `neutral`."""
    if options.small(x, y):
        finite = bool(np.isfinite(x.values).all() and np.isfinite(y.values).all())
        if metric.name == "median" and finite and not options.paired and x.n_tasks > 2:
            return _median_difference(x, y, value, options.level)
        found = _delta_difference(x, y, metric, options, value, neutral)
        if found is not None:
            return found
    replicates = _difference_replicates(x, y, metric, options)
    name = "percentile"
    if options.small(x, y):
        # The variance of resamples is (R - 1)/R of the unbiased one.
        runs = 1.0 / max(float(np.mean(1.0 / s.counts)) for s in (x, y))
        replicates = value + (replicates - value) * math.sqrt(runs / max(runs - 1.0, 1.0))
        name = "scaled_bootstrap"
    n = replicates.size
    beyond = min(int(np.sum(replicates <= neutral)), int(np.sum(replicates >= neutral)))
    p_value = min(1.0, 2.0 * (beyond + 1) / (n + 1))
    return percentile(replicates, options.level, method=name), p_value


def _delta_difference(
    x: Strata, y: Strata, metric: Metric, options: _Options, value: float, neutral: float
) -> tuple[Interval, float] | None:
    """Return the delta-t interval and test, if the metric has finite influences."""
    parts = _influences(x, y, metric, options.higher_is_better)
    if parts is None:
        return None
    if options.paired:
        pairs = parts[0].values - parts[1].values
        error = delta_error(Influences(Strata(pairs, x.starts), pairs))
    else:
        error = delta_error(*parts)
    half = error.half_width(options.level)
    low, high = value - half, value + half
    if metric.name == IMPROVEMENT and half > 0.0:
        low, high = max(low, 0.0), min(high, 1.0)
    return Interval(low, high, "delta_t"), error.p_value(value - neutral)


def _influences(
    x: Strata, y: Strata, metric: Metric, higher_is_better: bool
) -> list[Influences] | None:
    """Return how the difference moves with both algorithms' scores, if a formula says."""
    if metric.name == IMPROVEMENT:
        won = placements(x, y, higher_is_better=higher_is_better)
        return [Influences(won.a, won.a.values), Influences(won.b, won.b.values)]
    if metric.name == "median" and x.n_tasks <= 2:
        metric = metric_named("mean")  # the same number, and known better
    found = [metric.influences(x), metric.influences(y)]
    return [one for one in found if one is not None] if None not in found else None


def _median_difference(x: Strata, y: Strata, value: float, level: float) -> tuple[Interval, float]:
    """Return the interval from those of both medians, and the p-value by inverting it."""
    medians = float(np.median(x.task_means)), float(np.median(y.task_means))

    def ends(at: float) -> tuple[float, float]:
        (low_x, high_x), (low_y, high_y) = (median_profile_interval(s, at) for s in (x, y))
        return (
            value - math.hypot(medians[0] - low_x, high_y - medians[1]),
            value + math.hypot(high_x - medians[0], medians[1] - low_y),
        )

    return Interval(*ends(level), "profile_likelihood"), _inverted(ends)


def _inverted(ends: Callable[[float], tuple[float, float]]) -> float:
    """Return the p-value: 1 minus the highest level at which the interval excludes zero."""
    low, high = 0.0, 40.0  # the level as minus the logarithm of its complement
    for _ in range(20):
        middle = (low + high) / 2.0
        below, above = ends(-math.expm1(-middle))
        low, high = (middle, high) if below > 0.0 or above < 0.0 else (low, middle)
    return math.exp(-low)


def _difference_replicates(x: Strata, y: Strata, metric: Metric, options: _Options) -> FloatArray:
    """Return the difference in every resample of both algorithms."""
    keys = options.paired_keys()
    if metric.name == IMPROVEMENT:
        return resampled_improvement(
            x,
            y,
            n_resamples=options.n_resamples,
            keys=keys,
            higher_is_better=options.higher_is_better,
        )
    drawn = [
        Resamples(strata, n_resamples=options.n_resamples, key=key).of(metric)
        for strata, key in zip((x, y), keys, strict=True)
    ]
    return drawn[0] - drawn[1]


def _corrected(comparisons: list[Comparison]) -> list[Comparison]:
    """Return the comparisons with Holm's correction over all of them."""
    adjusted = holm([c.p_value for c in comparisons])
    return [replace(c, p_adjusted=float(p)) for c, p in zip(comparisons, adjusted, strict=True)]


def _max_t(
    table: ScoreTable,
    metric: str | Metric,
    pairs: Sequence[tuple[str, str]],
    level: float,
    n_resamples: int,
    gamma: float | None,
    paired: bool,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Return simultaneous intervals and p-values from the largest studentized difference."""
    (one,) = metrics_for([metric], gamma=gamma, higher_is_better=table.higher_is_better)
    tasks = shared_tasks(table)
    common = draw_key(rng)
    values, replicates, stretch = {}, {}, {}
    for algorithm in table.algorithms:
        strata = Strata.from_table(table, algorithm, tasks)
        key = common if paired else draw_key(rng)
        values[algorithm] = one.value(strata)
        replicates[algorithm] = Resamples(strata, n_resamples=n_resamples, key=key).of(one)
        runs = 1.0 / float(np.mean(1.0 / strata.counts))
        stretch[algorithm] = math.sqrt(runs / (runs - 1.0)) if runs > 1.0 else math.nan
    differences = np.array([values[a] - values[b] for a, b in pairs])
    centred = {name: (drawn - drawn.mean()) * stretch[name] for name, drawn in replicates.items()}
    noise = np.stack([centred[a] - centred[b] for a, b in pairs], axis=1)
    errors = noise.std(axis=0, ddof=1)
    if not (errors > 0.0).all():
        raise ScoreDataError(f"{one.name}: max_t needs scores that vary in every algorithm")
    largest = np.abs(noise / errors).max(axis=1)
    critical = percentile(largest, 2.0 * level - 1.0).high
    found = []
    for (a, b), value, error, own in zip(pairs, differences, errors, noise.T, strict=True):
        t = abs(value) / error
        p_value = (1 + int(np.sum(np.abs(own) / error >= t))) / (n_resamples + 1)
        p_adjusted = (1 + int(np.sum(largest >= t))) / (n_resamples + 1)
        ends = (float(value - critical * error), float(value + critical * error))
        found.append(
            Comparison(
                a, b, one.name, None, float(value), *ends, p_value, p_adjusted, level,
                "max_t", n_resamples, math.nan,
            )
        )  # fmt: skip
    return found
