"""The difference of two algorithms in one metric: its value, its test and its intervals.

The squared standard errors of the two algorithms, by the rule of :mod:`gnomon.stats.intervals`,
add; they are computed once for each algorithm of a table. Runs that are pairs have the standard
error of their differences. P(X > Y) is in :mod:`gnomon.stats.all_pairs`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, listed, note
from gnomon.scores.normalization import with_left_out
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.all_pairs import (
    SIGN_FLIPS,
    PairwiseImprovement,
    pairwise_improvement,
    table_samples,
)
from gnomon.stats.cautions import (
    common_tasks,
    shared_tasks,
    warn_of_dependent_runs,
    warn_of_missing_tasks,
    warn_of_uneven_runs,
)
from gnomon.stats.estimates import drawn_of, on_tasks, shared_effect, spread_of
from gnomon.stats.improvement import placements, resampled_improvement
from gnomon.stats.intervals import (
    Drawn,
    Interval,
    Noise,
    Resampling,
    Rule,
    SharedEffect,
    Student,
    rank_effects,
    standard_error,
    table_noise,
)
from gnomon.stats.medians import MedianProfile, paired_correlation
from gnomon.stats.metrics import Metric, median, metric_named
from gnomon.stats.strata import Strata

#: The metric that is no difference: see :mod:`gnomon.stats.improvement`.
IMPROVEMENT = "probability_of_improvement"
#: Why tasks are the sample where no algorithm has several runs on a task.
TASK_SAMPLE = "one run per algorithm and task, so the tasks are treated as a sample"

Spread = Student | MedianProfile | Drawn


@dataclass(frozen=True, eq=False)
class Difference:
    """A difference of two algorithms with its p-value and its interval, None if there is none.

    `size` is that of the two numbers that were subtracted, relative to which rounding is judged;
    `p_adjusted` is known where all pairs are tested together.
    """

    value: float
    p_value: float = math.nan
    interval: Interval | None = None
    size: float = 1.0
    p_adjusted: float = math.nan


class Differences:
    """The differences of the algorithms of a table; errors are computed once per algorithm."""

    def __init__(
        self,
        scores: ScoreTable,
        rule: Rule,
        other_key: np.uint64,
        *,
        pair: tuple[str, str] | None = None,
        paired: bool = False,
        resampling: Resampling | None = None,
    ) -> None:
        self.scores, self.rule, self.paired = scores, rule, paired
        self.resampling = resampling
        self.pairs = [pair] if pair else list(combinations(scores.algorithms, 2))
        #: P(X > Y) of all pairs has tests of its own, in which all of them are corrected together.
        self.tests_all_pairs = not paired and rule.method == "auto"
        #: The second algorithm is drawn apart from the first, unless runs are pairs.
        self._second = rule if paired else replace(rule, key=other_key)
        self._noise = cache(table_noise(scores, rule.variances))
        self._whole = with_left_out(scores)
        chosen = [x.select(algorithms=pair) if pair else x for x in (scores, self._whole)]
        self._chosen, self._tested = chosen
        self._check = cache(self._check_gaps)
        # Of each algorithm once, and not for every pair.
        self._runs = cache(lambda name, tasks: Strata.from_table(scores, name, tasks))
        self._value = cache(lambda name, tasks, metric: metric.value(self._runs(name, tasks)))
        self._spread = cache(self._spread_of)
        self._improvement = cache(self._improvement_on)
        self._doubted: set[tuple[str, tuple[str, ...]]] = set()
        #: What runs share over tasks, and how it widens intervals.
        self.shared: dict[str, dict[str, float]] = {}

    def of(self, a: str, b: str, metric: Metric, task: str | None = None) -> Difference:
        """Return the difference of two algorithms, over the tasks that both have or on one."""
        if metric.name == IMPROVEMENT:
            return self._improvement_of(a, b, task)
        if task is None:
            self._check(self._chosen)
        tasks = (task,) if task else self.scores.shared_tasks((a, b))
        metric = on_tasks(metric, len(tasks))
        if self.paired:
            x, y = _pairs(self.scores, a, b, tasks)
            of_x, of_y = float(metric.value(x)), float(metric.value(y))
        else:
            x, y = self._runs(a, tasks), self._runs(b, tasks)
            of_x, of_y = (float(self._value(name, tasks, metric)) for name in (a, b))
        if task is None:
            self._warn_of_effects(((a, x), (b, y)), tasks)
        value, size = of_x - of_y, max(abs(of_x), abs(of_y))
        if min(x.counts.max(), y.counts.max()) == 1 or not math.isfinite(value):
            return Difference(value, size=size)
        spread: Spread | None = None
        if self.rule.method == "auto":
            spread = (
                _paired_spread(x, y, metric, self.rule)
                if self.paired
                else minus(self._spread(a, tasks, metric), self._spread(b, tasks, metric))
            )
        if spread is None:
            spread = drawn_of(x, metric, self.rule).minus(drawn_of(y, metric, self._second))
        p_value = spread.p_value()
        if isinstance(spread, Student) and spread.error <= 1e-12 * size:
            p_value = self._p_without_variance(x, y, value)
        return Difference(value, p_value, spread.interval(self.rule.level), size)

    def _check_gaps(self, table: ScoreTable) -> None:
        """Warn of missing and uneven runs; refuse pairs that share no task."""
        tasks = table.tasks
        if len(self.pairs) == 1:
            tasks = shared_tasks(table, self.pairs[0])
        elif (table.run_counts == 0).any():
            warn_of_missing_tasks(table)
            for two in self.pairs:
                common_tasks(table, two)
        warn_of_uneven_runs(table, tasks)

    def _spread_of(self, name: str, tasks: tuple[str, ...], metric: Metric) -> Spread:
        return spread_of(self._runs(name, tasks), metric, self._noise(name, tasks), self.rule)

    def _improvement_of(self, a: str, b: str, task: str | None) -> Difference:
        """Return P(X > Y) of two algorithms, on tasks that normalising left out too."""
        if self.tests_all_pairs:
            return self._tested_improvement(a, b, task)
        if task is None:
            self._check(self._tested)
        tasks = (task,) if task else self._whole.shared_tasks((a, b))
        x, y = (
            _pairs(self._whole, a, b, tasks)
            if self.paired
            else (Strata.from_table(self._whole, name, tasks) for name in (a, b))
        )
        higher, rule = self.scores.higher_is_better, self.rule
        won, lost = placements(x, y, higher_is_better=higher)
        value = float(won.task_means.mean())
        if min(x.counts.max(), y.counts.max()) == 1:
            return Difference(value)
        if rule.method == "percentile":
            keys = rule.key, self._second.key
            how: dict[str, Any] = {"n_resamples": rule.n_resamples, "higher_is_better": higher}
            drawn = Drawn(value, resampled_improvement(x, y, keys=keys, **how))
            return Difference(value, drawn.p_value(0.5), drawn.interval(rule.level))
        error = replace(_paired_error(won, lost, metric_named("mean"), rule), value=value)
        p_value = error.p_value(0.5)
        if error.error == 0.0:
            p_value = self._p_without_variance(x, y, value - 0.5)
        return Difference(value, p_value, error.interval(rule.level))

    def _tested_improvement(self, a: str, b: str, task: str | None) -> Difference:
        names, found = self._improvement(task)
        i, j = names.index(a), names.index(b)
        method = "newcombe" if found.n_shared[i, j] == 1 else "delong"
        if found.over_tasks[i, j]:
            method = SIGN_FLIPS
        value, p_value = float(found.value[i, j]), float(found.p_value[i, j])
        interval = None
        if task is None or not math.isnan(p_value):
            low, high = (float(end[i, j]) for end in found.ends)
            interval = Interval(low, high, method)
        return Difference(value, p_value, interval, p_adjusted=float(found.p_adjusted[i, j]))

    def _improvement_on(self, task: str | None) -> tuple[tuple[str, ...], PairwiseImprovement]:
        """Return P(X > Y) of all pairs on one task, or on all, with warnings about these."""
        table = self._tested
        if task is not None:
            table = table.select(tasks=[task])
            return table.algorithms, self._over_pairs(table)
        self._check(table)
        scores = self.scores.select(algorithms=table.algorithms)
        # Of the whole table, so that a pair has the same interval alone and among all pairs.
        effects = rank_effects(self._whole)
        for name in scores.algorithms:
            if scores.tasks_of(name):
                strata = Strata.from_table(scores, name)
                warn_of_dependent_runs(strata, effects.get(name), name)
        found = self._over_pairs(table, [effects.get(name) for name in table.algorithms])
        untested = (np.isnan(found.p_value) & (found.n_shared > 0)).any(axis=1)
        single = np.array(table.algorithms)[untested & (table.run_counts.max(axis=1) == 1)].tolist()
        if found.resampling == "runs_and_tasks":
            if self.resampling is None:
                note(f"{IMPROVEMENT}: {TASK_SAMPLE}")
        elif single:
            others = " and several of others" if found.over_tasks.any() else ""
            note(
                f"{IMPROVEMENT}: interval not estimable from one run per task of "
                f"{listed(single)}{others}"
            )
        return table.algorithms, found

    def _over_pairs(
        self, table: ScoreTable, effects: Sequence[SharedEffect | None] = ()
    ) -> PairwiseImprovement:
        how: dict[str, Any] = {"level": self.rule.level, "resampling": self.resampling}
        return pairwise_improvement(table_samples(table), effects=effects, **how)

    def _p_without_variance(self, x: Strata, y: Strata, value: float) -> float:
        """Return the p-value of a permutation test where no run varies.

        Of n pairs it is that of n equal signs, of independent runs that of complete separation.
        """
        if value == 0.0:
            return 1.0
        n_x, n_y = int(x.counts.min()), int(y.counts.min())
        return 2.0 ** (1 - n_x) if self.paired else min(1.0, 2.0 / math.comb(n_x + n_y, n_x))

    def _warn_of_effects(self, both: Sequence[tuple[str, Strata]], tasks: tuple[str, ...]) -> None:
        """Warn once of effects that an algorithm's runs share over these tasks."""
        for name, strata in both:
            key = name, tasks
            if key in self._doubted:
                continue
            self._doubted.add(key)
            if self.rule.method == "auto":
                noise = self._noise(name, tasks)
                warn_of_dependent_runs(strata, noise.effect, name)
                if not self.paired:  # whose differences have a noise of their own
                    self.shared |= shared_effect(name, noise, strata)


def minus(one: Spread, other: Spread) -> Spread | None:
    """Return the spread of a difference; None if either has resamples, which are drawn anew."""
    if isinstance(one, Student) and isinstance(other, Student):
        return one.minus(other)
    if isinstance(one, MedianProfile) and isinstance(other, MedianProfile):
        return one.minus(other)
    return None


def _paired_spread(x: Strata, y: Strata, metric: Metric, rule: Rule) -> Spread | None:
    """Return the spread of a difference whose runs are pairs; None if some are infinite."""
    if metric.value is median and x.is_finite and y.is_finite:
        correlation = paired_correlation(x, y, n_resamples=rule.n_resamples, key=rule.key)
        return MedianProfile.of(x).minus(MedianProfile.of(y), correlation)
    found = _paired_error(x, y, metric, rule)
    return found if math.isfinite(found.error) else None


def _paired_error(x: Strata, y: Strata, metric: Metric, rule: Rule) -> Student:
    """Return a difference whose runs are pairs with its error, by their own variances."""

    def of_mean(values: FloatArray) -> Student:
        pairs = Strata(values, x.starts, x.same_runs)
        return standard_error(pairs, metric_named("mean"), Noise.of(pairs), rule)

    plain = of_mean(x.values - y.values)
    if metric.each is not None:
        found = of_mean(metric.each(x.values) - metric.each(y.values))
        return replace(found, df=min(found.df, plain.df))
    drawn = drawn_of(x, metric, rule).minus(drawn_of(y, metric, rule))
    # Resamples vary too little, and single pairs not at all: by as much as those of the mean do.
    within = x.variances_of(x.values - y.values) * (x.counts - 1) / np.square(x.counts)
    resampled = math.sqrt(float(np.sum(within))) / x.n_tasks
    inflation = plain.error / resampled if resampled > 0.0 else 0.0
    return Student(drawn.value, float(drawn.values.std(ddof=1)) * inflation, plain.df)


def _pairs(table: ScoreTable, a: str, b: str, tasks: Sequence[str]) -> tuple[Strata, Strata]:
    """Return the runs of both algorithms that have the same label, in the same order."""
    for name in (a, b):
        if Strata.from_table(table, name, tasks).sorted_runs:
            raise ScoreDataError(
                f"paired: the runs of {name} are in order of their scores on every task, so their "
                "labels do not identify pairs"
            )
    parts: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    labels: list[Any] = []
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
        labels += common
    if left_out:
        note(f"{a} and {b}: {left_out} runs left out that have no partner")
    x, y = (Strata.from_runs(part).labelled(labels) for part in parts)
    return x, y
