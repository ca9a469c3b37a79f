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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.resamples import Resamples
from gnomon.stats.comparisons.improvement import (
    Improvement,
    placements,
    probability_of_improvement,
    resampled_improvement,
)
from gnomon.stats.intervals import Interval, percentile, prefers_closed_form
from gnomon.stats.metrics import Metric, metric_named
from gnomon.stats.small_samples.median_profile import MedianProfile
from gnomon.stats.small_samples.small_sample import DeltaError, Influences, delta_error
from gnomon.stats.strata import Number, Strata, number

#: The metric that is no difference: see :mod:`gnomon.stats.comparisons.improvement`.
IMPROVEMENT = "probability_of_improvement"

#: The normal probability of lying below one standard deviation.
NORMAL_TAIL = 0.8413447460685429

#: Steps in which the logarithm of the p-value of two medians is known, and which of them are tried
#: around a guess.
N_LEVELS = 16**5
NEAR = np.array([-4096, -512, -64, -8, -2, -1, 0, 1, 2, 8, 64, 512, 4096])


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
        unasked = self.method == "auto" and (prefers_closed_form(x) or prefers_closed_form(y))
        return self.method == "small_sample" or unasked

    def closed(self, x: Strata, y: Strata) -> bool:
        """Return whether the probability of improvement has a closed form."""
        return self.small(x, y) or (self.method == "auto" and not self.paired)

    def paired_keys(self) -> tuple[np.uint64, np.uint64]:
        """Return the keys of both algorithms' draws: one and the same for pairs."""
        return (self.keys[0], self.keys[0]) if self.paired else self.keys


def neutral_value(metric: Metric) -> float:
    """Return the value that says that there is no difference."""
    return 0.5 if metric.name == IMPROVEMENT else 0.0


def has_closed_form(metric: Metric) -> bool:
    """Return whether intervals of the metric's difference take no resamples, with finite scores."""
    return metric.name in (IMPROVEMENT, "median") or metric.influence is not None


def _in_closed_form(x: Strata, y: Strata, metric: Metric, options: DifferenceOptions) -> bool:
    """Return whether these scores are judged without resamples, and so may be batches."""
    if metric.name == IMPROVEMENT:
        return False
    finite = bool(np.isfinite(x.values).all() and np.isfinite(y.values).all())
    return finite and has_closed_form(metric) and options.small(x, y)


def difference_of(x: Strata, y: Strata, metric: Metric, options: DifferenceOptions) -> Number:
    """Return the metric of the first minus that of the second, or P(first better than second)."""
    if metric.name == IMPROVEMENT:
        return probability_of_improvement(x, y, higher_is_better=options.higher_is_better)
    return metric.values(x) - metric.values(y)


class Difference(Protocol):
    """A difference that was seen, with what a judgement of it takes, whatever the level."""

    @property
    def value(self) -> Number:
        """As it was seen."""

    @property
    def p_value(self) -> Number:
        """Two-sided, that there is none."""

    def interval(self, level: float) -> Interval:
        """Return its interval at a level."""


def difference(x: Strata, y: Strata, metric: Metric, options: DifferenceOptions) -> Difference:
    """Return the difference of two algorithms, or of each two tables of two batches.

    Batches take a method in closed form.
    """
    several = min(x.counts.max(), y.counts.max()) > 1
    single = max(x.counts.max(), y.counts.max()) == 1 and x.n_tasks > 1
    independent = several and not options.paired and options.closed(x, y)
    if metric.name == IMPROVEMENT and (single or independent):
        return Improvement.of(x, y, higher_is_better=options.higher_is_better)
    value = difference_of(x, y, metric, options)
    if not several or not np.isfinite(value).all():
        return _Unjudged(value)
    if options.small(x, y):
        if _has_profile(x, y, metric):
            n, correlation = options.n_resamples if options.paired else 0, 0.0
            if options.paired:
                correlation = paired_correlation(x, y, n_resamples=n, key=options.keys[0])
            return MedianDifference(value, MedianProfile.of(x), MedianProfile.of(y), correlation, n)
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
    return _Resampled(value, replicates, neutral_value(metric), name)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A difference, the size of the two numbers that it is of, its interval and its test."""

    value: float
    size: float
    interval: Interval
    p_value: float
    #: Of each algorithm on the task where it has most.
    n_runs: tuple[int, int]


def judged(x: Strata, y: Strata, metric: Metric, options: DifferenceOptions) -> list[Judgement]:
    """Return the judgement of two tables, or of each two tables of two batches."""
    found, n_runs = difference(x, y, metric, options), (x.counts.max(), y.counts.max())
    size, interval = size_of(x, y, metric), found.interval(options.level)
    made = interval.method, interval.n_resamples, interval.mc_error
    columns = np.broadcast_arrays(found.value, size, interval.low, interval.high, found.p_value)
    return [
        Judgement(value, size, Interval(low, high, *made), p_value, n_runs)
        for value, size, low, high, p_value in np.stack(columns, axis=-1).reshape(-1, 5).tolist()
    ]


def size_of(x: Strata, y: Strata, metric: Metric) -> Number:
    """Return the size of the two numbers whose difference is taken."""
    if metric.name == IMPROVEMENT:
        return 1.0
    return np.maximum(abs(metric.values(x)), abs(metric.values(y)))


def judged_tasks(
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions
) -> list[Judgement]:
    """Return the judgement of each task by itself, those with equally many runs together."""
    parts = x.per_task(), y.per_task()
    sizes = list(zip(x.counts.tolist(), y.counts.tolist(), strict=True))
    found: dict[int, Judgement] = {}
    for size in dict.fromkeys(sizes):
        places = [place for place, one in enumerate(sizes) if one == size]
        a, b = (
            Strata(np.array([runs[place] for place in places]), np.array([0, n_runs]))
            for runs, n_runs in zip(parts, size, strict=True)
        )
        closed = _in_closed_form(a, b, metric, options)
        pairs = [(a, b)] if closed else zip(a.tables(), b.tables(), strict=True)
        of_pairs = [one for pair in pairs for one in judged(*pair, metric, options)]
        found |= zip(places, of_pairs, strict=True)
    return [found[place] for place in range(len(sizes))]


@dataclass(frozen=True, eq=False)
class _Unjudged:
    """A difference of infinite scores, or of single runs, which say nothing of its error."""

    value: Number
    p_value = math.nan

    def interval(self, level: float) -> Interval:
        return Interval(math.nan, math.nan, "none", 0, math.nan)


@dataclass(frozen=True, eq=False)
class _Resampled:
    """A difference in every resample of both algorithms."""

    value: float
    replicates: FloatArray
    neutral: float
    method: str

    @property
    def p_value(self) -> float:
        n = self.replicates.size
        beyond = min(
            int(np.sum(self.replicates <= self.neutral)),
            int(np.sum(self.replicates >= self.neutral)),
        )
        return min(1.0, 2.0 * (beyond + 1) / (n + 1))

    def interval(self, level: float) -> Interval:
        return percentile(self.replicates, level, method=self.method)


@dataclass(frozen=True, eq=False)
class _DeltaDifference:
    """A difference with a standard error, and around what its intervals lie."""

    value: Number
    center: Number
    error: DeltaError
    neutral: float
    bounds: tuple[float, float]
    method: str

    @property
    def p_value(self) -> Number:
        # Where center and value lie on different sides, not even the sign is known.
        unsure = (self.center - self.neutral) * (self.value - self.neutral) <= 0.0
        p_value = self.error.p_value(self.center - self.neutral)
        return number(np.where(unsure & (np.asarray(self.error.variance) > 0.0), 1.0, p_value))

    def interval(self, level: float) -> Interval:
        half = self.error.half_width(level)
        low = np.minimum(self.center - half, self.value)
        high = np.maximum(self.center + half, self.value)
        low, high = np.clip([low, high], *self.bounds)
        return Interval(number(low), number(high), self.method)


def _delta_difference(
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions, value: Number
) -> _DeltaDifference | None:
    """Return the difference for a delta-t interval, if the metric has finite influences."""
    parts = options.moderated or _influences(x, y, metric, options.higher_is_better)
    if parts is None:
        return None
    name = "delta_t" if options.moderated is None else "moderated_t"
    if options.paired:
        pairs = parts[0].values - parts[1].values
        error = delta_error(Influences(Strata(pairs, x.starts), pairs))
    else:
        error = delta_error(*parts)
    shift = np.where(np.asarray(error.variance) > 0.0, parts[0].shift - parts[1].shift, 0.0)
    bounds = (0.0, 1.0) if metric.name == IMPROVEMENT else (-math.inf, math.inf)
    center = number(value + shift)
    return _DeltaDifference(value, center, error, neutral_value(metric), bounds, name)


def _influences(
    x: Strata, y: Strata, metric: Metric, higher_is_better: bool
) -> Sequence[Influences] | None:
    """Return how the difference moves with both algorithms' scores, if a formula says."""
    if metric.name == IMPROVEMENT:
        won = placements(x, y, higher_is_better=higher_is_better)
        return [Influences(one, one.values) for one in won]
    if metric.name == "median" and x.n_tasks <= 2:
        metric = metric_named("mean")  # the same number, and known better
    found = [metric.influences(x), metric.influences(y)]
    return [one for one in found if one is not None] if None not in found else None


def difference_error(
    x: Strata, y: Strata, metric: Metric, options: DifferenceOptions
) -> tuple[float, float]:
    """Return the standard error of a difference and its degrees of freedom.

    That of two medians is the half width of their normal interval, with those of their means.
    """
    if _has_profile(x, y, metric):
        found = MedianDifference(0.0, MedianProfile.of(x), MedianProfile.of(y))
        normal = found.interval(2.0 * NORMAL_TAIL - 1.0)
        means = delta_error(*(Influences(s, s.values) for s in (x, y)))
        return (normal.high - normal.low) / 2.0, means.df
    parts = _influences(x, y, metric, options.higher_is_better)
    assert parts is not None, "planning takes metrics with a closed form, of finite runs"
    error = delta_error(*parts)
    return math.sqrt(error.variance), error.df


def _has_profile(x: Strata, y: Strata, metric: Metric) -> bool:
    """Return whether the interval is that of two medians of several tasks."""
    finite = bool(np.isfinite(x.values).all() and np.isfinite(y.values).all())
    return metric.name == "median" and finite and x.n_tasks > 2


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


@dataclass(frozen=True, eq=False)
class MedianDifference:
    """The difference of two medians, with what its intervals are combined from.

    Parameters
    ----------
    value : float
        The first median minus the second.
    x, y : MedianProfile
        Of the scores of each: the same tasks, at least one of each with two runs.
    correlation : float
        Of the two estimates, from 0 to 1; see :func:`paired_correlation`.
    n_resamples : int
        How many resamples the correlation is from; 0 if it is known.

    Examples
    --------
    >>> x = Strata.from_matrix([[5.0, 6.0, 7.0], [5.2, 6.3, 7.1]])
    >>> y = Strata.from_matrix([[1.0, 2.0, 2.0], [1.3, 2.2, 2.9]])
    >>> found = MedianDifference(4.05, MedianProfile.of(x), MedianProfile.of(y))
    >>> found.interval(0.95).low > 0, found.p_value < 0.05
    (True, True)
    """

    value: Number
    x: MedianProfile
    y: MedianProfile
    correlation: float = 0.0
    n_resamples: int = 0

    @cached_property
    def _above(self) -> MedianProfile:
        return self.x.beside(self.y.mirrored())

    @cached_property
    def _below(self) -> MedianProfile:
        return self.x.mirrored().beside(self.y)

    def _reach(self, sides: MedianProfile, level: Number) -> Number:
        """Return how far the interval reaches from the value, on the side where these do."""
        a, b = np.moveaxis(sides.upper(level) - sides.median, -1, 0)
        squares = a * a + b * b - 2.0 * self.correlation * a * b
        return number(np.sqrt(np.maximum(squares, 0.0)))

    def _ends(self, level: float) -> tuple[Number, Number]:
        below, above = (self._reach(sides, level) for sides in (self._below, self._above))
        return self.value - below, self.value + above

    def interval(self, level: float) -> Interval:
        """Return the interval at a level."""
        low, high = self._ends(level)
        if not self.n_resamples:
            return Interval(low, high, "profile_likelihood")
        # What a repetition of the resamples would change, by the standard error of a correlation.
        spread = (1.0 - self.correlation**2) / math.sqrt(self.n_resamples)
        other = replace(self, correlation=max(self.correlation - spread, 0.0))._ends(level)
        mc_error = max(abs(low - other[0]), abs(high - other[1]))
        return Interval(low, high, "profile_likelihood", self.n_resamples, mc_error)

    @property
    def p_value(self) -> float:
        """1 minus the highest level at which the interval excludes zero."""
        from scipy import special

        sides, distance = self._below if self.value > 0.0 else self._above, abs(self.value)
        # The level as minus the logarithm of its complement; beyond 36 it would be rounded to 1.
        width = 36.0 / N_LEVELS
        tried = np.linspace(0, N_LEVELS, 17)
        while True:
            short = distance - self._reach(sides, -np.expm1(-width * tried)[:, None])
            n = np.count_nonzero(short[1:-1] > 0.0)
            least, most = tried[n : n + 2]
            if most - least <= 1.0:
                return math.exp(-width * least)
            # The reach is nearly straight in the root of the quantile.
            roots = np.sqrt(special.chdtri(1.0, np.exp(-width * tried[n : n + 2])))
            square = float(np.interp(0.0, -short[n : n + 2], roots)) ** 2
            guess = np.rint(-np.log(special.chdtrc(1.0, square)) / width)
            inside = np.clip(guess + NEAR, least + 1.0, most - 1.0)
            tried = np.unique(np.concatenate([[least], inside, [most]]))


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
