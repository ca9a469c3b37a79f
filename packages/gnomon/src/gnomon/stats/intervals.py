"""Intervals by name: those from resamples, and the choice between them and the closed forms.

The resampling ones take the replicates of a metric and its value, so that all come from one set of
resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.quantiles import quantile_ends
from gnomon.stats.bootstrap.resamples import Resamples
from gnomon.stats.metrics import Metric, metric_named
from gnomon.stats.small_samples.median_profile import median_profile_interval
from gnomon.stats.small_samples.small_sample import (
    Influences,
    delta_error,
    delta_interval,
    has_many_scores,
)
from gnomon.stats.strata import Number, Strata

Method = Literal["auto", "small_sample", "percentile", "bca"]

#: A width that is none, as a share of the numbers it comes from: what sums of a million terms lose.
ROUNDING = 1e-12

#: Below this number of runs ``auto`` takes the small-sample interval.
FEW_RUNS = 20


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, and how far they depend on the draws.

    Parameters
    ----------
    low, high : float
        The ends; arrays, of a batch of tables.
    method : str
        How they were made.
    n_resamples : int
        0 for a closed form.
    mc_error : float
        Monte Carlo error of the worse end, about one standard deviation.

    Examples
    --------
    >>> Interval(0.4, 0.6, "percentile", 2000, 0.01).high
    0.6
    """

    low: Number
    high: Number
    method: str
    n_resamples: int = 0
    mc_error: float = 0.0


def checked(interval: Interval, scale: float = 0.0) -> tuple[Interval, str | None]:
    """Return an interval, with NaN for ends that say nothing, and what is wrong with it in words.

    Parameters
    ----------
    interval : Interval
    scale : float
        Size of the numbers that were subtracted, which rounding goes by; that of the ends if 0.

    Examples
    --------
    >>> checked(Interval(0.5, math.inf, "percentile"))[1]
    'interval without an upper end, some resamples are infinite (censored)'
    >>> checked(Interval(0.5, 0.5, "percentile"))[0].low
    nan
    """
    low, high = interval.low, interval.high
    if math.isnan(low) or math.isnan(high):
        return interval, "interval not estimable, some resamples have no value"
    if low == high or high - low <= ROUNDING * max(_size(low), _size(high), scale):
        empty = replace(interval, low=math.nan, high=math.nan, mc_error=math.nan)
        return empty, "interval not estimable, the scores that decide it do not vary"
    ends = [name for name, end in (("a lower", low), ("an upper", high)) if math.isinf(end)]
    if ends:
        which = " and ".join(ends)
        return interval, f"interval without {which} end, some resamples are infinite (censored)"
    return interval, None


def _size(end: float) -> float:
    return abs(end) if math.isfinite(end) else 0.0


def percentile(replicates: FloatArray, level: float, *, method: str = "percentile") -> Interval:
    """Return the interval between the quantiles of the replicates.

    Examples
    --------
    >>> found = percentile(np.arange(101.0), 0.9)
    >>> round(found.low), round(found.high)
    (5, 95)
    """
    tail = (1.0 - level) / 2.0
    return _between(replicates, tail, 1.0 - tail, method)


def _between(replicates: FloatArray, lower: float, upper: float, method: str) -> Interval:
    """Return the interval between two quantiles, with the Monte Carlo error of its ends."""
    low, high, mc_error = (float(x) for x in quantile_ends(replicates, lower, upper))
    return Interval(low, high, method, replicates.size, mc_error)


def bias_corrected_accelerated(
    replicates: FloatArray, value: float, level: float, acceleration: float
) -> Interval:
    """Return Efron's BCa interval (1987), with the acceleration of :func:`acceleration`.

    Examples
    --------
    >>> found = bias_corrected_accelerated(np.arange(101.0), 50.0, 0.9, 0.0)
    >>> round(found.low), round(found.high)
    (5, 95)
    """
    from scipy import special

    # Ties with the estimate count one half, as the median of a discrete distribution needs.
    below = np.mean(replicates < value) + np.mean(replicates == value) / 2.0
    n = replicates.size
    bias = float(special.ndtri(min(max(below, 0.5 / n), 1.0 - 0.5 / n)))
    ends = []
    for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        z = bias + float(special.ndtri(tail))
        ends.append(float(special.ndtr(bias + z / (1.0 - acceleration * z))))
    return _between(replicates, ends[0], ends[1], "bca")


def influence_of(metric: Metric, strata: Strata) -> FloatArray:
    """Return how a metric moves with each score: by its formula, else by the jackknife.

    The jackknife leaves out one run of one task at a time (``T (R_t - 1) (mean of these values -
    value)``), not a run index of all tasks: tasks are independent strata.
    """
    if metric.influence is not None:
        return metric.influence(strata)
    parts = strata.per_task()
    influence = []
    for t, runs in enumerate(parts):
        if runs.size == 1:
            influence.append(np.zeros(1))
            continue
        without = [
            metric.value(Strata.from_runs([*parts[:t], np.delete(runs, r), *parts[t + 1 :]]))
            for r in range(runs.size)
        ]
        influence.append(strata.n_tasks * (runs.size - 1) * (np.mean(without) - np.array(without)))
    return np.concatenate(influence)


def acceleration(strata: Strata, influence: FloatArray) -> float:
    """Return the acceleration of BCa for stratified data (Davison and Hinkley 1997, eq. 5.24).

    A sixth of the skewness of the linearised estimate: the third moment of each task's influences
    over R_t squared, summed, over the summed variance to the power 3/2.
    """
    begins = strata.starts[:-1]
    means = np.add.reduceat(influence, begins) / strata.counts
    centred = influence - np.repeat(means, strata.counts)
    weight = 1.0 / (np.repeat(strata.counts, strata.counts) * strata.n_tasks)
    second = float(np.sum(np.square(centred * weight)))
    third = float(np.sum((centred * weight) ** 3))
    return third / (6.0 * second**1.5) if second > 0.0 else 0.0


def scaled(replicates: FloatArray, value: float, strata: Strata, level: float) -> Interval:
    """Return the percentile interval stretched for few runs: what a metric without influence gets.

    The distance of the ends from the estimate is multiplied by sqrt(R/(R - 1)), R the harmonic
    mean of the runs, and by the ratio of Student's to the normal quantile, with the degrees of
    freedom of the scores' variances.
    """
    runs = strata.n_tasks / float(np.sum(1.0 / strata.counts))
    df = delta_error(Influences(strata, strata.values)).df
    return _stretched(replicates, value, runs, df, level, "scaled_bootstrap")


def expanded(
    replicates: FloatArray,
    value: float,
    n_tasks: int,
    level: float,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Return the expanded percentile interval of a metric where tasks are a sample.

    The distance of the ends from the estimate is multiplied by sqrt(T/(T - 1)), T the number of
    tasks, and by the ratio of Student's to the normal quantile, with T - 1 degrees of freedom
    (after Hesterberg 2015).

    Parameters
    ----------
    replicates : ndarray of float, shape (n_resamples,)
        The metric in each resample of tasks and runs.
    value : float
        The metric of the data.
    n_tasks : int
        Number of tasks, at least 2.
    level : float
        Confidence level.
    bounds : (float, float)
        Limits of the metric, which no end exceeds.

    Examples
    --------
    >>> found = expanded(np.arange(101.0), 50.0, 6, 0.9)
    >>> round(found.low, 1), round(found.high, 1)
    (-10.4, 110.4)
    """
    found = _stretched(replicates, value, n_tasks, n_tasks - 1.0, level, "expanded_percentile")
    low, high = max(found.low, bounds[0]), min(found.high, bounds[1])
    return replace(found, low=low, high=high)


def _stretched(
    replicates: FloatArray, value: float, n: float, df: float, level: float, method: str
) -> Interval:
    """Return the percentile interval stretched for a sample of size n and Student's t."""
    from scipy import special

    inner = percentile(replicates, level)
    upper = (1.0 + level) / 2.0
    ratio = float(special.stdtrit(df, upper) / special.ndtri(upper))
    factor = math.sqrt(n / (n - 1.0)) * ratio
    return Interval(
        value + (inner.low - value) * factor,
        value + (inner.high - value) * factor,
        method,
        replicates.size,
        inner.mc_error * factor,
    )


def resolved_method(method: Method, strata: Strata, *, draw_tasks: bool = False) -> Method:
    """Return the method that ``auto`` stands for: see :func:`prefers_closed_form`.

    Where tasks are a sample too it is the small-sample one, whatever the number of runs.
    """
    if method != "auto":
        return method
    return "small_sample" if draw_tasks or prefers_closed_form(strata) else "percentile"


def prefers_closed_form(strata: Strata) -> bool:
    """Return whether a closed form is better than resamples, with few runs, or as good, with many.

    Examples
    --------
    >>> [prefers_closed_form(Strata.from_runs(np.ones((2, n)))) for n in (3, 1000, 50_000)]
    [True, False, True]
    """
    return bool(strata.counts.min() < FEW_RUNS or has_many_scores(strata))


def interval_of(
    metric: Metric, value: float, resamples: Resamples, *, method: Method, level: float
) -> Interval:
    """Return the interval of a metric by the method of that name.

    Parameters
    ----------
    metric : Metric
    value : float
        Its finite value.
    resamples : Resamples
        The scores, and the resamples that are drawn if the method needs them.
    method : str
        As in :func:`~gnomon.stats.estimates.estimate`.
    level : float
        Confidence level.
    """
    strata = resamples.strata
    method = resolved_method(method, strata, draw_tasks=resamples.draw_tasks)
    if method == "small_sample":
        return _small_sample(metric, value, resamples, level)
    replicates = resamples.of(metric)
    if method == "bca":
        bend = acceleration(strata, influence_of(metric, strata))
        return bias_corrected_accelerated(replicates, value, level, bend)
    return percentile(replicates, level)


def _small_sample(metric: Metric, value: float, resamples: Resamples, level: float) -> Interval:
    """Return the interval that holds its coverage with few runs, or over tasks like these."""
    strata = resamples.strata
    if resamples.draw_tasks:
        return expanded(resamples.of(metric), value, strata.n_tasks, level, metric.bounds)
    found = closed_interval(metric, value, strata, level)
    return found or scaled(resamples.of(metric), value, strata, level)


def closed_interval(metric: Metric, value: Number, strata: Strata, level: float) -> Interval | None:
    """Return the interval for few runs that takes no resamples, None where there is none.

    Parameters
    ----------
    metric : Metric
    value : float
        Its finite value; those of a batch of tables.
    strata : Strata
        The scores.
    level : float
        Confidence level.

    Examples
    --------
    >>> closed_interval(metric_named("mean"), 2.0, Strata.from_runs([[1.0, 2.0, 3.0]]), 0.9).method
    'delta_t'
    """
    if metric.name == "median" and strata.n_tasks <= 2:
        metric = metric_named("mean")  # the same number, and known better
    if metric.name == "median" and np.isfinite(strata.values).all():
        return Interval(*median_profile_interval(strata, level), "profile_likelihood")
    influences = metric.influences(strata)
    if influences is None:
        return None
    return Interval(*delta_interval(value, influences, level), "delta_t")
