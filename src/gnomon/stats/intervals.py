"""Intervals from resamples: percentile, basic, bias-corrected, BCa, studentized, scaled.

Each takes the replicates of a metric and its value, so that all come from one set of resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.metrics import Metric
from gnomon.stats.quantiles import quantile_ends
from gnomon.stats.small_sample import delta_error
from gnomon.stats.strata import Strata

__all__ = [
    "Interval",
    "acceleration",
    "basic",
    "bias_corrected",
    "bias_corrected_accelerated",
    "influence_of",
    "percentile",
    "scaled",
    "studentized",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, and how far they depend on the draws.

    Parameters
    ----------
    low, high : float
        The ends.
    method : str
        How they were made.
    n_resamples : int
        0 for a closed form.
    mc_error : float
        Monte Carlo error of the worse end, about one standard deviation.
    """

    low: float
    high: float
    method: str
    n_resamples: int = 0
    mc_error: float = 0.0


def percentile(replicates: FloatArray, level: float, *, method: str = "percentile") -> Interval:
    """Return the interval between the quantiles of the replicates."""
    tail = (1.0 - level) / 2.0
    return _between(replicates, tail, 1.0 - tail, method)


def _between(replicates: FloatArray, lower: float, upper: float, method: str) -> Interval:
    """Return the interval between two quantiles, with the Monte Carlo error of its ends."""
    low, high, mc_error = (float(x) for x in quantile_ends(replicates, lower, upper))
    return Interval(low, high, method, replicates.size, mc_error)


def basic(replicates: FloatArray, value: float, level: float) -> Interval:
    """Return the percentile interval reflected in the estimate (Davison and Hinkley 1997, 5.2)."""
    inner = percentile(replicates, level)
    low, high = 2.0 * value - inner.high, 2.0 * value - inner.low
    return Interval(low, high, "basic", inner.n_resamples, inner.mc_error)


def bias_corrected(replicates: FloatArray, value: float, level: float) -> Interval:
    """Return the percentile interval shifted by the median bias (Efron 1981)."""
    return _shifted(replicates, value, level, 0.0, "bc")


def bias_corrected_accelerated(
    replicates: FloatArray, value: float, level: float, acceleration: float
) -> Interval:
    """Return Efron's BCa interval (1987), with the acceleration of :func:`acceleration`."""
    return _shifted(replicates, value, level, acceleration, "bca")


def _shifted(
    replicates: FloatArray, value: float, level: float, acceleration: float, method: str
) -> Interval:
    from scipy import special

    # Ties with the estimate count one half, as the median of a discrete distribution needs.
    below = np.mean(replicates < value) + np.mean(replicates == value) / 2.0
    n = replicates.size
    bias = float(special.ndtri(min(max(below, 0.5 / n), 1.0 - 0.5 / n)))
    ends = []
    for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        z = bias + float(special.ndtri(tail))
        ends.append(float(special.ndtr(bias + z / (1.0 - acceleration * z))))
    return _between(replicates, ends[0], ends[1], method)


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


def studentized(
    replicates: FloatArray, errors: FloatArray, value: float, error: float, level: float
) -> Interval:
    """Return the bootstrap-t interval.

    Parameters
    ----------
    replicates, errors : ndarray of float, shape (n_resamples,)
        The metric and its standard error in each resample; an error of 0 is left out.
    value, error : float
        The same of the data.
    level : float
        Confidence level.
    """
    usable = errors > 0.0
    deviations = (replicates[usable] - value) / errors[usable]
    if not deviations.size:
        return Interval(math.nan, math.nan, "studentized", replicates.size, math.nan)
    inner = percentile(deviations, level)
    return Interval(
        value - error * inner.high,
        value - error * inner.low,
        "studentized",
        replicates.size,
        error * inner.mc_error,
    )


def scaled(replicates: FloatArray, value: float, strata: Strata, level: float) -> Interval:
    """Return the percentile interval stretched for few runs: what a metric without influence gets.

    The distance of the ends from the estimate is multiplied by sqrt(R/(R - 1)), R the harmonic
    mean of the runs, and by the ratio of Student's to the normal quantile, with the degrees of
    freedom of the scores' variances.
    """
    from scipy import special

    inner = percentile(replicates, level)
    runs = strata.n_tasks / float(np.sum(1.0 / strata.counts))
    df = delta_error((strata, strata.values)).df
    upper = (1.0 + level) / 2.0
    ratio = float(special.stdtrit(df, upper) / special.ndtri(upper))
    factor = math.sqrt(runs / (runs - 1.0)) * ratio
    return Interval(
        value + (inner.low - value) * factor,
        value + (inner.high - value) * factor,
        "scaled_bootstrap",
        replicates.size,
        inner.mc_error * factor,
    )
