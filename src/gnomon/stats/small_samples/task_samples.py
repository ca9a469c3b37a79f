"""Intervals where the tasks are a sample too: for a statement about tasks like these.

The noise of runs is inside the spread of the tasks' values, so numbers of runs do not enter.

* The median of task means: order statistics, interpolated (Hettmansperger and Sheather 1986), for
  any distribution.
* The interquartile mean: the spread over tasks of its influences, with the degrees of freedom of
  what trimming leaves (Tukey and McLaughlin 1963).
* A mean over tasks, of scores or of what is made of each (a gap, a share): Student's interval
  transformed for skewness (Hall 1992).

No interval of a mean holds for all distributions (Bahadur and Savage 1956): a table that lacks the
rare task with a giant score does not show that it lacks it. Where scores are bounded or moderate
the mean's covers 92 to 97 %, where a few tasks score giants 75 to 88 %.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray
from gnomon.stats.metrics import Metric
from gnomon.stats.strata import Strata

#: With fewer tasks the range of their values holds the median less often than in 95 %.
LEAST_TASKS = 6
#: A task so many interquartile ranges away from the median makes means doubtful.
FAR = 3.0


def check_tasks(n_tasks: int) -> None:
    """Refuse a statement about tasks not tried if too few were.

    Raises
    ------
    ScoreDataError
        There are fewer than :data:`LEAST_TASKS`.
    """
    if n_tasks < LEAST_TASKS:
        raise ScoreDataError(
            f"runs_and_tasks: expected {LEAST_TASKS} tasks or more, to speak of tasks not tried; "
            f"found {n_tasks}; resampling runs speaks of these tasks alone"
        )


def task_sample_interval(
    metric: Metric, value: float, strata: Strata, level: float
) -> tuple[float, float, str] | None:
    """Return a metric's interval over tasks like these and its method, None without closed form.

    Parameters
    ----------
    metric : Metric
    value : float
        Its value.
    strata : Strata
        The scores of :data:`LEAST_TASKS` tasks or more, finite but for those that are cut off.
    level : float
        Confidence level.

    Examples
    --------
    >>> from gnomon.stats import metric_named
    >>> strata = Strata.from_matrix([[1.0, 2.0, 3.0, 4.0, 5.0, 9.0]])
    >>> task_sample_interval(metric_named("median"), 3.5, strata, 0.95)[2]
    'order_statistics'
    """
    if metric.name == "median":
        return *order_statistics_interval(strata.task_means, level), "order_statistics"
    if metric.influence is None:
        return None
    influences = metric.influence(strata)
    values = np.add.reduceat(influences, strata.starts[:-1]) / strata.counts
    if metric.name == "iqm":
        return *trimmed_interval(value, values, level), "trimmed_t"
    if not metric.additive:
        return None
    low, high = hall_interval(values, level)
    least, most = metric.bounds
    return max(low, least), min(high, most), "hall_t"


def order_statistics_interval(values: FloatArray, level: float) -> tuple[float, float]:
    """Return the interval of a median between interpolated order statistics.

    The pair of order statistics whose probability of holding the median is next above the level,
    moved towards the next inner pair (Hettmansperger and Sheather 1986).

    Parameters
    ----------
    values : ndarray of float, shape (tasks,)
        Independent draws of one distribution.
    level : float
        Confidence level.

    Returns
    -------
    low, high : float
        NaN where even the extremes hold the median less often.

    Examples
    --------
    >>> low, high = order_statistics_interval(np.arange(1.0, 10.0), 0.95)
    >>> round(low, 2), round(high, 2)
    (2.23, 7.77)
    """
    from scipy import special

    n = values.size
    ordered = np.sort(values)
    places = np.arange(1, n // 2 + 1)
    # Of k-th from both ends; past the middle nothing is held.
    held = 1.0 - 2.0 * special.bdtr(places - 1.0, n, 0.5)
    n_enough = int(np.sum(held >= level))
    if n_enough == 0:
        return math.nan, math.nan
    k = n_enough
    enough = float(held[k - 1])
    inner = float(held[k]) if k < held.size else 0.0
    part = (enough - level) / (enough - inner)
    weight = (n - k) * part / (k + (n - 2.0 * k) * part)
    last = n - k
    return (
        float((1.0 - weight) * ordered[k - 1] + weight * ordered[k]),
        float((1.0 - weight) * ordered[last] + weight * ordered[last - 1]),
    )


def trimmed_interval(value: float, influences: FloatArray, level: float) -> tuple[float, float]:
    """Return the interval of an interquartile mean over tasks (Tukey and McLaughlin 1963).

    Parameters
    ----------
    value : float
        The interquartile mean.
    influences : ndarray of float, shape (tasks,)
        Mean over runs of the influence of each task's scores.
    level : float
        Confidence level.

    Examples
    --------
    >>> low, high = trimmed_interval(2.5, np.array([0.0, 2, 2, 4, 4, 4, 4, 4]), 0.95)
    >>> round(low, 2), round(high, 2)
    (0.8, 4.2)
    """
    from scipy import special

    n = influences.size
    df = n - 2 * (n // 4) - 1
    half = special.stdtrit(df, (1.0 + level) / 2.0) * influences.std(ddof=1) / math.sqrt(n)
    return float(value - half), float(value + half)


def hall_interval(values: FloatArray, level: float) -> tuple[float, float]:
    """Return Student's interval of a mean, transformed for skewness (Hall 1992).

    The statistic is bent by a cubic that takes out the first effect of skewness and has an inverse
    everywhere; without skewness it is Student's interval.

    Parameters
    ----------
    values : ndarray of float, shape (tasks,)
        Independent draws of one distribution, at least three.
    level : float
        Confidence level.

    Examples
    --------
    >>> low, high = hall_interval(np.array([1.0, 2.0, 2.0, 3.0, 3.0, 12.0]), 0.95)
    >>> round(low, 2), round(high, 2)
    (1.25, 15.43)
    """
    from scipy import special

    n = values.size
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    if deviation == 0.0:
        return mean, mean
    third = n / ((n - 1.0) * (n - 2.0)) * float(np.sum(((values - mean) / deviation) ** 3))
    t = float(special.stdtrit(n - 1, (1.0 + level) / 2.0))
    high = mean - deviation * _bent(-t, third, n)
    return mean - deviation * _bent(t, third, n), high


def _bent(t: float, skewness: float, n: int) -> float:
    """Return the distance, in standard deviations, at which Hall's statistic is t."""
    u = t / math.sqrt(n)
    if abs(skewness) < 1e-6:
        return u
    bent = np.cbrt(1.0 + skewness * (u - skewness / (6.0 * n)))
    return float(3.0 / skewness * (bent - 1.0))


def farthest_task(means: FloatArray) -> tuple[int, float]:
    """Return the task farthest from the median of all, and how many interquartile ranges away.

    Infinite where the middle half of the tasks are equal and this one is not.

    Examples
    --------
    >>> farthest_task(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 40.0]))
    (5, 14.6)
    """
    low, middle, high = np.quantile(means, [0.25, 0.5, 0.75])
    distances = np.abs(means - middle)
    place = int(np.argmax(distances))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.nan_to_num(distances[place] / (high - low), nan=0.0, posinf=np.inf)
    return place, float(far)
