"""The difference of two algorithms in one metric: its value, its test and its intervals.

The squared standard errors of the two algorithms, by the rule of :mod:`gnomon.stats.intervals`,
add; they are computed once for each algorithm of a table. Runs that are pairs have the standard
error of their differences. P(X > Y) is in :mod:`gnomon.stats.improvement`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.normalization import with_left_out
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import Resamples
from gnomon.stats.cautions import name_dependent_runs, name_uneven_runs, shared_tasks, warn
from gnomon.stats.improvement import (
    SIGN_FLIPS,
    paired_samples,
    pairwise_improvement,
    placements,
    resampled_improvement,
)
from gnomon.stats.intervals import (
    Interval,
    Method,
    StandardError,
    Variances,
    percentile,
    runs_are_sorted,
    standard_error,
    table_variances,
)
from gnomon.stats.medians import MedianProfile, paired_correlation
from gnomon.stats.metrics import Metric, metric_named
from gnomon.stats.samples import Strata

#: The metric that is no difference: see :mod:`gnomon.stats.improvement`.
IMPROVEMENT = "probability_of_improvement"
#: On one task the median is that of its runs.
MEDIAN_OF_RUNS = Metric("median", lambda s: np.median(s.values, axis=-1), of_batch=True)


def on_tasks(metric: Metric, n_tasks: int) -> Metric:
    """Return what a median is on few tasks: on one that of its runs, on two the mean."""
    if metric.name != "median" or n_tasks > 2:
        return metric
    return MEDIAN_OF_RUNS if n_tasks == 1 else metric_named("mean")


@dataclass(frozen=True)
class ComparisonOptions:
    """What all comparisons of one call share."""

    paired: bool
    level: float
    method: Method
    variances: Variances
    n_resamples: int
    key: np.uint64
    other_key: np.uint64


@dataclass(frozen=True, eq=False)
class Difference:
    """A difference of two algorithms: its value, its p-value and its interval at any level.

    `size` is that of the two numbers that were subtracted, relative to which rounding is judged;
    `at` returns the interval at a level, and is None if there is none.
    """

    value: float
    p_value: float
    size: float
    at: Callable[[float], Interval] | None = None

    def interval(self, level: float) -> Interval:
        """Return the interval at a level."""
        return Interval(math.nan, math.nan, "none") if self.at is None else self.at(level)


class Differences:
    """The differences of the algorithms of a table; errors are computed once per algorithm.

    Parameters
    ----------
    scores : ScoreTable
    how : ComparisonOptions
    """

    def __init__(self, scores: ScoreTable, how: ComparisonOptions) -> None:
        self.scores, self.how = scores, how
        self._variances = table_variances(scores, how.variances)
        self._whole = with_left_out(scores)
        self._has_gaps = bool((scores.run_counts == 0).any())
        # Of each algorithm once, and not for every pair.
        self._runs = cache(self._read)
        self._value = cache(
            lambda name, tasks, metric: float(metric.value(self._runs(name, tasks)))
        )
        self._error = cache(self._error_of)
        self._profile = cache(lambda name, tasks: MedianProfile.of(self._runs(name, tasks)))
        self._doubted: set[tuple[str, tuple[str, ...]]] = set()
        #: Algorithms whose runs share an effect over tasks.
        self.shared: dict[str, None] = {}

    def of(self, a: str, b: str, metric: Metric, task: str | None = None) -> Difference:
        """Return the difference of two algorithms, over the tasks that both have or on one."""
        if metric.name == IMPROVEMENT:
            return self._improvement(a, b, task)
        tasks = (task,) if task else self._shared_tasks(a, b)
        metric = on_tasks(metric, len(tasks))
        if self.how.paired:
            x, y = _pairs(self.scores, a, b, tasks)
            of_x, of_y = float(metric.value(x)), float(metric.value(y))
        else:
            x, y = self._runs(a, tasks), self._runs(b, tasks)
            of_x, of_y = self._value(a, tasks, metric), self._value(b, tasks, metric)
        if task is None:
            self._name_doubts(((a, x), (b, y)), tasks)
        value, size = of_x - of_y, max(abs(of_x), abs(of_y))
        if min(x.counts.max(), y.counts.max()) == 1 or not math.isfinite(value):
            return Difference(value, math.nan, size)
        of_tasks = metric.name == "median" and len(tasks) > 2
        if self.how.method == "auto" and of_tasks and _finite(x) and _finite(y):
            profile = self._median_difference((a, x), (b, y), tasks)
            return Difference(value, profile.p_value(), size, profile.interval)
        if self.how.method == "auto":
            if self.how.paired:
                error = _paired_error(x, y, metric, self.how)
            else:
                error = self._error(a, tasks, metric).minus(self._error(b, tasks, metric))
            at = partial(error.interval, value)
            if error.error <= 1e-12 * size:
                return Difference(value, self._p_without_variance(x, y, value), size, at)
            if math.isfinite(error.error):
                return Difference(value, error.p_value(value), size, at)
        drawn = [
            Resamples(strata, n_resamples=self.how.n_resamples, key=key).of(metric)
            for strata, key in ((x, self.how.key), (y, self._second_key))
        ]
        with np.errstate(invalid="ignore"):
            moved = drawn[0] - drawn[1]  # NaN where both are infinite
        return Difference(value, _resampled_p_value(moved, 0.0), size, partial(percentile, moved))

    @property
    def _second_key(self) -> np.uint64:
        """The key of the second algorithm's draws: the same for pairs."""
        return self.how.key if self.how.paired else self.how.other_key

    def _shared_tasks(self, a: str, b: str) -> tuple[str, ...]:
        return shared_tasks(self.scores, (a, b)) if self._has_gaps else self.scores.tasks

    def _read(self, name: str, tasks: tuple[str, ...]) -> Strata:
        return Strata.from_table(self.scores, name, tasks)

    def _error_of(self, name: str, tasks: tuple[str, ...], metric: Metric) -> StandardError:
        """Return the standard error of one algorithm."""
        variances = np.array([self._variances[name][task] for task in tasks])
        options: dict[str, Any] = {"n_resamples": self.how.n_resamples, "key": self.how.key}
        return standard_error(self._runs(name, tasks), metric, variances, **options)

    def _median_difference(
        self, a: tuple[str, Strata], b: tuple[str, Strata], tasks: tuple[str, ...]
    ) -> MedianProfile:
        if not self.how.paired:
            return self._profile(a[0], tasks).minus(self._profile(b[0], tasks))
        options: dict[str, Any] = {"n_resamples": self.how.n_resamples, "key": self.how.key}
        correlation = paired_correlation(a[1], b[1], **options)
        of_a, of_b = MedianProfile.of(a[1]), MedianProfile.of(b[1])
        return of_a.minus(of_b, correlation)

    def _improvement(self, a: str, b: str, task: str | None) -> Difference:
        """Return P(X > Y) of two algorithms, on tasks that normalising left out too."""
        tasks = (task,) if task else shared_tasks(self._whole, (a, b))
        if self.how.paired:
            x, y = _pairs(self._whole, a, b, tasks)
        else:
            x, y = (Strata.from_table(self._whole, name, tasks) for name in (a, b))
        higher = self.scores.higher_is_better
        if not self.how.paired and self.how.method == "auto":
            if min(x.counts.max(), y.counts.max()) == 1 and x.n_tasks == 1:
                won, _ = placements(x, y, higher_is_better=higher)
                return Difference(float(won.task_means.mean()), math.nan, 1.0)
            found = pairwise_improvement(paired_samples(x, y, higher))
            of_runs = "newcombe" if x.n_tasks == 1 else "delong"
            method = SIGN_FLIPS if found.sample == "tasks" else of_runs

            def at(level: float) -> Interval:
                low, high = found.interval(level)
                return Interval(float(low[0, 1]), float(high[0, 1]), method)

            return Difference(float(found.value[0, 1]), float(found.p_value[0, 1]), 1.0, at)
        won, lost = placements(x, y, higher_is_better=higher)
        value = float(won.task_means.mean())
        if min(x.counts.max(), y.counts.max()) == 1:
            return Difference(value, math.nan, 1.0)
        if self.how.paired and self.how.method == "auto":
            error = _paired_error(won, lost, metric_named("mean"), self.how)
            if error.error == 0.0:
                p_value = self._p_without_variance(x, y, value - 0.5)
            else:
                p_value = error.p_value(value - 0.5)
            return Difference(value, p_value, 1.0, partial(error.interval, value))
        options: dict[str, Any] = {
            "n_resamples": self.how.n_resamples,
            "keys": (self.how.key, self._second_key),
        }
        drawn = resampled_improvement(x, y, higher_is_better=higher, **options)
        return Difference(value, _resampled_p_value(drawn, 0.5), 1.0, partial(percentile, drawn))

    def _p_without_variance(self, x: Strata, y: Strata, value: float) -> float:
        """Return the p-value of a permutation test where no run varies.

        Of n pairs it is that of n equal signs, of independent runs that of complete separation.
        """
        if value == 0.0:
            return 1.0
        n_x, n_y = int(x.counts.min()), int(y.counts.min())
        if self.how.paired:
            return 2.0 ** (1 - n_x)
        return min(1.0, 2.0 / math.comb(n_x + n_y, n_x))

    def _name_doubts(self, both: Sequence[tuple[str, Strata]], tasks: Sequence[str]) -> None:
        """Warn once about each algorithm's runs on these tasks."""
        for name, strata in both:
            key = name, tuple(tasks)
            if key in self._doubted:
                continue
            self._doubted.add(key)
            name_uneven_runs(strata, tasks, name)
            if self.how.method == "auto" and name_dependent_runs(strata, name):
                self.shared[name] = None


def _finite(strata: Strata) -> bool:
    return bool(np.isfinite(strata.values).all())


def _resampled_p_value(drawn: FloatArray, neutral: float) -> float:
    """Return the two-sided p-value of resampled differences."""
    beyond = min(int(np.sum(drawn <= neutral)), int(np.sum(drawn >= neutral)))
    return min(1.0, 2.0 * (beyond + 1) / (drawn.size + 1))


def _paired_error(x: Strata, y: Strata, metric: Metric, how: ComparisonOptions) -> StandardError:
    """Return the standard error of a difference whose runs are pairs, by their own variances."""
    pairs = Strata(x.values - y.values, x.starts, x.same_runs)
    options: dict[str, Any] = {"n_resamples": how.n_resamples, "key": how.key}
    plain = standard_error(pairs, metric_named("mean"), pairs.task_variances, **options)
    if metric.each is not None:
        differences = metric.each(x.values) - metric.each(y.values)
        pairs = Strata(differences, x.starts, x.same_runs)
        found = standard_error(pairs, metric_named("mean"), pairs.task_variances, **options)
        return replace(found, df=min(found.df, plain.df))
    drawn = [Resamples(one, **options).of(metric) for one in (x, y)]
    runs = 1.0 / float(np.mean(1.0 / x.counts))
    spread = float((drawn[0] - drawn[1]).std(ddof=1)) * math.sqrt(runs / max(runs - 1.0, 1.0))
    return StandardError(spread, plain.df)


def _pairs(table: ScoreTable, a: str, b: str, tasks: Sequence[str]) -> tuple[Strata, Strata]:
    """Return the runs of both algorithms that have the same label, in the same order."""
    for name in (a, b):
        if runs_are_sorted(Strata.from_table(table, name, tasks)):
            raise ScoreDataError(
                f"paired: the runs of {name} are in order of their scores on every task, so their "
                "labels do not identify pairs"
            )
    parts: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    left_out = 0
    for task in tasks:
        of_a, of_b = (
            dict(zip(table.run_labels(name, task), table.runs(name, task), strict=True))
            for name in (a, b)
        )
        common = [label for label in of_a if label in of_b]
        if not common:
            raise ScoreDataError(f"task {task}: {a} and {b} have no run label in common to pair")
        left_out += len(of_a) + len(of_b) - 2 * len(common)
        parts[0].append(np.array([of_a[label] for label in common]))
        parts[1].append(np.array([of_b[label] for label in common]))
    if left_out:
        warn(f"{a} and {b}: {left_out} runs left out that have no partner")
    return Strata.from_runs(parts[0]), Strata.from_runs(parts[1])
