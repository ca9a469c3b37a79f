"""The difference of two algorithms in one metric: its interval, and the test that there is none.

Methods are those of the small-sample intervals of :mod:`gnomon.stats.small_samples.small_sample`,
for a difference: the delta-t interval of both algorithms' influences, or of their pairwise
differences if runs are pairs.

Each of two medians of tasks has its profile-likelihood interval. That of their difference reaches
on each side as far as the two ends in question, their squares added, less twice their product times
the correlation of the two estimates (Zou and Donner 2008; Zou 2007 for dependent ones). Independent
runs have none; that of runs in pairs is the correlation of the medians of resampled pairs, times
(R - 1)/R, since few pairs show correlation that is not there.

A bootstrap of the pairs would be half as wide, and covers 79 to 97 % of nominally 95 between agents
on Atari at 3 to 10 runs, where this covers 97 to 100 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.resamples import Resamples
from gnomon.stats.comparisons.improvement import (
    improvement_interval,
    placements,
    resampled_improvement,
)
from gnomon.stats.intervals import FEW_RUNS, Interval, percentile
from gnomon.stats.metrics import Metric, metric_named
from gnomon.stats.small_samples.small_sample import Influences, delta_error, median_profile_interval
from gnomon.stats.strata import Strata

__all__ = [
    "IMPROVEMENT",
    "DifferenceOptions",
    "difference_ends",
    "difference_error",
    "difference_of",
    "has_closed_form",
    "interval_and_test",
    "median_difference_ends",
    "median_difference_interval",
    "neutral_value",
    "paired_correlation",
]

#: The metric that is no difference: see :mod:`gnomon.stats.comparisons.improvement`.
IMPROVEMENT = "probability_of_improvement"

#: The normal probability of lying below one standard deviation.
NORMAL_TAIL = 0.8413447460685429


@dataclass(frozen=True)
class DifferenceOptions:
    """How a difference is judged: what all comparisons of one call share."""

    higher_is_better: bool
    paired: bool
    level: float
    method: str
    n_resamples: int
    keys: tuple[np.uint64, np.uint64]
    #: Influences with variances moderated over a table, to judge the difference by.
    moderated: tuple[Influences, Influences] | None = None

    def small(self, x: Strata, y: Strata) -> bool:
        """Return whether the small-sample method is to be used."""
        few = min(x.counts.min(), y.counts.min()) < FEW_RUNS
        return self.method == "small_sample" or (self.method == "auto" and bool(few))

    def closed(self, x: Strata, y: Strata) -> bool:
        """Return whether the probability of improvement has its closed form: always on one task."""
        return self.small(x, y) or (self.method == "auto" and x.n_tasks == 1)

    def paired_keys(self) -> tuple[np.uint64, np.uint64]:
        """Return the keys of both algorithms' draws: one and the same for pairs."""
        return (self.keys[0], self.keys[0]) if self.paired else self.keys


def neutral_value(metric: Metric) -> float:
    """Return the value that says that there is no difference."""
    return 0.5 if metric.name == IMPROVEMENT else 0.0


def has_closed_form(metric: Metric) -> bool:
    """Return whether intervals of the metric's difference take no resamples, with finite scores."""
    return metric.name in (IMPROVEMENT, "median") or metric.influence is not None


def difference_of(x: Strata, y: Strata, metric: Metric, options: DifferenceOptions) -> float:
    """Return the metric of the first minus that of the second, or P(first better than second)."""
    if metric.name == IMPROVEMENT:
        return placements(x, y, higher_is_better=options.higher_is_better).value
    return metric.value(x) - metric.value(y)


def interval_and_test(
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions, value: float
) -> tuple[Interval, float]:
    """Return the interval of a difference, and the two-sided p-value of there being none."""
    neutral = neutral_value(metric)
    if metric.name == IMPROVEMENT and not options.paired and options.closed(x, y):
        return improvement_interval(x, y, options.level, higher_is_better=options.higher_is_better)
    if options.small(x, y):
        if _has_profile(x, y, metric):
            return median_difference_interval(
                x,
                y,
                options.level,
                correlation=_correlation(x, y, options),
                n_resamples=options.n_resamples if options.paired else 0,
            )
        found = _delta_difference(x, y, metric, options, value)
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
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions, value: float
) -> tuple[Interval, float] | None:
    """Return the delta-t interval and test, if the metric has finite influences."""
    parts = options.moderated or _influences(x, y, metric, options.higher_is_better)
    if parts is None:
        return None
    name = "delta_t" if options.moderated is None else "moderated_t"
    if options.paired:
        pairs = parts[0].values - parts[1].values
        error = delta_error(Influences(Strata(pairs, x.starts), pairs))
    else:
        error = delta_error(*parts)
    half = error.half_width(options.level)
    center = value + (parts[0].shift - parts[1].shift if half > 0.0 else 0.0)
    low, high = min(center - half, value), max(center + half, value)
    neutral = neutral_value(metric)
    if metric.name == IMPROVEMENT and half > 0.0:
        low, high = max(low, 0.0), min(high, 1.0)
    if half > 0.0 and (center - neutral) * (value - neutral) <= 0.0:
        return Interval(low, high, name), 1.0  # not even the sign is known
    return Interval(low, high, name), error.p_value(center - neutral)


def _influences(
    x: Strata, y: Strata, metric: Metric, higher_is_better: bool
) -> Sequence[Influences] | None:
    """Return how the difference moves with both algorithms' scores, if a formula says."""
    if metric.name == IMPROVEMENT:
        won = placements(x, y, higher_is_better=higher_is_better)
        return [Influences(won.a, won.a.values), Influences(won.b, won.b.values)]
    if metric.name == "median" and x.n_tasks <= 2:
        metric = metric_named("mean")  # the same number, and known better
    found = [metric.influences(x), metric.influences(y)]
    return [one for one in found if one is not None] if None not in found else None


def difference_ends(
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions
) -> tuple[float, float]:
    """Return the ends of the interval of the difference alone."""
    value = difference_of(x, y, metric, options)
    if options.small(x, y) and _has_profile(x, y, metric):
        # The p-value of this one is found by many intervals, and is not wanted here.
        correlation = _correlation(x, y, options)
        return median_difference_ends(x, y, options.level, correlation)
    interval, _ = interval_and_test(x, y, metric, options, value)
    return interval.low, interval.high


def difference_error(
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions
) -> tuple[float, float]:
    """Return the standard error of a difference and its degrees of freedom.

    That of two medians is the half width of their normal interval, with those of their means.
    """
    if _has_profile(x, y, metric):
        low, high = median_difference_ends(x, y, 2.0 * NORMAL_TAIL - 1.0)
        parts: Sequence[Influences] = [Influences(s, s.values) for s in (x, y)]
        return (high - low) / 2.0, delta_error(*parts).df
    found = _influences(x, y, metric, options.higher_is_better)
    assert found is not None, "planning takes metrics with a closed form, of finite runs"
    error = delta_error(*found)
    return math.sqrt(error.variance), error.df


def _has_profile(x: Strata, y: Strata, metric: Metric) -> bool:
    """Return whether the interval is that of two medians of several tasks."""
    finite = bool(np.isfinite(x.values).all() and np.isfinite(y.values).all())
    return metric.name == "median" and finite and x.n_tasks > 2


def _correlation(x: Strata, y: Strata, options: DifferenceOptions) -> float:
    """Return the correlation of two medians: that of pairs, or none."""
    if not options.paired:
        return 0.0
    return paired_correlation(x, y, n_resamples=options.n_resamples, key=options.keys[0])


def _difference_replicates(
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions
) -> FloatArray:
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
    with np.errstate(invalid="ignore"):
        return np.asarray(drawn[0] - drawn[1])  # NaN where both are infinite


def median_difference_interval(
    x: Strata, y: Strata, level: float, *, correlation: float = 0.0, n_resamples: int = 0
) -> tuple[Interval, float]:
    """Return the interval of the first median minus the second, and the p-value of no difference.

    Parameters
    ----------
    x, y : Strata
        Finite scores of the same tasks, at least one of each with two runs.
    level : float
        Confidence level.
    correlation : float
        Of the two estimates, from 0 to 1; see :func:`paired_correlation`.
    n_resamples : int
        How many resamples the correlation is from; 0 if it is known.

    Examples
    --------
    >>> x = Strata.from_matrix([[5.0, 6.0, 7.0], [5.2, 6.3, 7.1]])
    >>> y = Strata.from_matrix([[1.0, 2.0, 2.0], [1.3, 2.2, 2.9]])
    >>> interval, p_value = median_difference_interval(x, y, 0.95)
    >>> interval.low > 0, p_value < 0.05
    (True, True)
    """
    low, high = median_difference_ends(x, y, level, correlation)
    # What a repetition of the resamples would change, by the standard error of a correlation.
    spread = (1.0 - correlation**2) / math.sqrt(n_resamples) if n_resamples else 0.0
    other = median_difference_ends(x, y, level, max(correlation - spread, 0.0))
    mc_error = max(abs(low - other[0]), abs(high - other[1]))
    interval = Interval(low, high, "profile_likelihood", n_resamples, mc_error)
    return interval, _p_value(x, y, correlation)


def median_difference_ends(
    x: Strata, y: Strata, level: float, correlation: float = 0.0
) -> tuple[float, float]:
    """Return the ends of the interval alone."""
    middle_x, middle_y = float(np.median(x.task_means)), float(np.median(y.task_means))
    (low_x, high_x), (low_y, high_y) = (median_profile_interval(s, level) for s in (x, y))
    value = middle_x - middle_y
    return (
        value - _combined(middle_x - low_x, high_y - middle_y, correlation),
        value + _combined(high_x - middle_x, middle_y - low_y, correlation),
    )


def _combined(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(a * a + b * b - 2.0 * correlation * a * b, 0.0))


def paired_correlation(x: Strata, y: Strata, *, n_resamples: int, key: np.uint64) -> float:
    """Return the correlation of two medians whose runs are pairs, 0 if it is negative."""
    drawn = [
        Resamples(strata, n_resamples=n_resamples, key=key).of(metric_named("median"))
        for strata in (x, y)
    ]
    if drawn[0].std() == 0.0 or drawn[1].std() == 0.0:
        return 0.0
    runs = 1.0 / float(np.mean(1.0 / x.counts))
    correlation = float(np.corrcoef(drawn[0], drawn[1])[0, 1])
    return max(correlation, 0.0) * (runs - 1.0) / runs


def _p_value(x: Strata, y: Strata, correlation: float) -> float:
    """Return 1 minus the highest level at which the interval excludes zero."""
    # The level as minus the logarithm of its complement; beyond 36 it would be rounded to 1.
    low, high = 0.0, 36.0
    for _ in range(20):
        middle = (low + high) / 2.0
        below, above = median_difference_ends(x, y, -math.expm1(-middle), correlation)
        low, high = (middle, high) if below > 0.0 or above < 0.0 else (low, middle)
    return math.exp(-low)
