"""The interval rule: one standard error for every metric, with Student's t.

1. The variance of each algorithm's runs on each task is moderated over the algorithms of the table
   (:func:`moderated_variances`), and the residuals of the runs are rescaled to it.
2. The standard error is the standard deviation of the metric over bootstrap resamples of the
   residuals within tasks, times sqrt(R/(R - 1)). Of a metric that is a mean of some function of the
   scores it is known without drawing: for the mean this is Welch's standard error.
3. The degrees of freedom are Satterthwaite's over tasks, with R - 1 each; for a difference of two
   algorithms the squared errors add.
4. Where the runs share an effect over tasks (:func:`shared_effect`), the error is that of whole
   runs, if this gives the wider interval.

The median of task means has the profile of its likelihood (:mod:`gnomon.stats.medians`), and where
tasks are a sample the percentile interval is expanded (:func:`expanded`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import percentile_interval, replicates
from gnomon.stats.metrics import Metric
from gnomon.stats.samples import Strata

Method = Literal["auto", "percentile"]
#: Whose variances: moderated over those of the table, or an algorithm's own.
Variances = Literal["moderated", "own"]

#: A width that is none, as a share of the numbers it comes from: what sums of a million terms lose.
ROUNDING = 1e-12
#: Weight of the prior in degrees of freedom (Smyth 2004 estimates it; one-digit choice).
PRIOR_DF = 2.0
#: Level of the test for effects that runs share over tasks.
SHARED_LEVEL = 0.2
#: Tasks from which on runs in order of their scores were sorted, and not so by chance.
SORTED_TASKS = 5
#: Scores times resamples at most, for one metric of one algorithm; and the fewest resamples.
MOST_DRAWS, LEAST_RESAMPLES = 20_000_000, 200


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, and how far they depend on the draws.

    Parameters
    ----------
    low, high : float
        The ends.
    method : str
        ``student``, ``profile`` (of medians), ``percentile`` or ``expanded``.

    Examples
    --------
    >>> Interval(0.4, 0.6, "percentile").high
    0.6
    """

    low: float
    high: float
    method: str


def checked(interval: Interval, scale: float = 0.0) -> tuple[Interval, str | None]:
    """Return an interval, with NaN for ends that mean nothing, and what is wrong with it in words.

    Parameters
    ----------
    interval : Interval
    scale : float
        Size of the numbers that were subtracted, relative to which rounding is judged.

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
    sizes = [abs(end) for end in (low, high) if math.isfinite(end)]
    if low == high or high - low <= ROUNDING * max(*sizes, scale, 0.0):
        empty = replace(interval, low=math.nan, high=math.nan)
        return empty, "interval not estimable, the scores that decide it do not vary"
    ends = [name for name, end in (("a lower", low), ("an upper", high)) if math.isinf(end)]
    if ends:
        which = " and ".join(ends)
        return interval, f"interval without {which} end, some resamples are infinite (censored)"
    return interval, None


def percentile(values: FloatArray, level: float) -> Interval:
    """Return the interval between the quantiles of a metric's values in resamples.

    Examples
    --------
    >>> found = percentile(np.arange(101.0), 0.9)
    >>> round(found.low), round(found.high)
    (5, 95)
    """
    low, high = map(float, percentile_interval(values, level))
    return Interval(low, high, "percentile")


def expanded(
    values: FloatArray,
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
    values : ndarray of float, shape (n_resamples,)
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
    from scipy import special

    inner, upper = percentile(values, level), (1.0 + level) / 2.0
    ratio = float(special.stdtrit(n_tasks - 1.0, upper) / special.ndtri(upper))
    factor = math.sqrt(n_tasks / (n_tasks - 1.0)) * ratio
    low, high = (value + (end - value) * factor for end in (inner.low, inner.high))
    low, high = max(low, bounds[0]), min(high, bounds[1])
    return Interval(low, high, "expanded")


def moderated_variances(variances: FloatArray, dfs: FloatArray) -> FloatArray:
    """Return variances shrunk towards those of the other algorithms on the same task.

    Few runs show little about a variance; the other algorithms on the same task add information
    (Smyth 2004). With s_t the mean variance of task t over algorithms, r_a the mean over tasks
    of an algorithm's variance over s_t, and d = R - 1, the result is
    ``(2 r_a s_t + d v_at) / (2 + d)``.

    Parameters
    ----------
    variances : ndarray of float, shape (algorithms, tasks)
        Each algorithm's own.
    dfs : ndarray of float, shape (algorithms, tasks)
        Their degrees of freedom d; 0 where a variance is not known, for want of a second run.

    Returns
    -------
    ndarray of float, shape (algorithms, tasks)
        The own variance where no other algorithm's is known; NaN where none is.

    Examples
    --------
    >>> own = np.array([[1.0, 3.0], [3.0, 1.0]])
    >>> moderated_variances(own, np.full((2, 2), 2.0))
    array([[1.5, 2.5],
           [2.5, 1.5]])
    """
    known = dfs > 0.0
    own = np.where(known, variances, np.nan)
    n_known = known.sum(axis=0)
    common = np.where(known, variances, 0.0).sum(axis=0) / np.where(n_known > 0, n_known, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(known & (common > 0.0), own / common, 0.0)
        counted = (known & (common > 0.0)).sum(axis=1)
        prior = (ratios.sum(axis=1) / np.maximum(counted, 1))[:, None] * common
        shrunk = (PRIOR_DF * prior + dfs * np.where(known, variances, 0.0)) / (PRIOR_DF + dfs)
    return np.where(n_known - known < 1, own, shrunk)


def table_variances(scores: ScoreTable, variances: Variances) -> Mapping[str, Mapping[str, float]]:
    """Return for each algorithm and task the variance to use for its runs.

    A single run takes the mean variance of the algorithm's other tasks if nothing else is known.
    """
    names, place = scores.algorithms, {task: t for t, task in enumerate(scores.tasks)}
    own, dfs = np.zeros((2, len(names), len(scores.tasks)))
    for i, name in enumerate(names):
        tasks = scores.tasks_of(name)
        if tasks:
            strata, places = Strata.from_table(scores, name, tasks), [place[t] for t in tasks]
            own[i, places], dfs[i, places] = strata.task_variances, strata.counts - 1
    found = variances_to_use(own, dfs, variances)
    return {
        name: dict(zip(scores.tasks, row.tolist(), strict=True))
        for name, row in zip(names, found, strict=True)
    }


def variances_to_use(own: FloatArray, dfs: FloatArray, variances: Variances) -> FloatArray:
    """Return the variances to use, (algorithms, tasks), from own ones with degrees of freedom."""
    dfs = np.where(np.isfinite(own), dfs, 0.0)  # censored runs have no variance
    found = moderated_variances(own, dfs) if variances == "moderated" else own
    found = np.where((found == 0.0) & (dfs == 0.0), np.nan, found)
    with np.errstate(invalid="ignore"):
        squares = np.sum(np.where(dfs > 0.0, own * dfs, 0.0), axis=1)
    pooled = squares / np.maximum(dfs.sum(axis=1), 1.0)
    return np.where(np.isnan(found), pooled[:, None], found)


def satterthwaite(variances: FloatArray, dfs: FloatArray) -> FloatArray:
    """Return the degrees of freedom of a sum, along the last axis, of variance estimates."""
    total = variances.sum(axis=-1, keepdims=True)
    shares = variances / np.where(total == 0.0, 1.0, total)  # tiny ones vanish when squared
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 1.0 / np.sum(np.square(shares) / dfs, axis=-1)
    return np.asarray(np.fmax(dfs.min(), np.where(total[..., 0] == 0.0, 0.0, df)))


@dataclass(frozen=True, slots=True)
class StandardError:
    """The standard error of an estimate or of a difference, with its degrees of freedom.

    Parameters
    ----------
    error : float
    df : float
        Satterthwaite's degrees of freedom.
    shared : bool
        Whether it allows for an effect that runs share over tasks.

    Examples
    --------
    >>> round(StandardError(0.5, 4.0).half_width(0.95), 3)
    1.388
    """

    error: float
    df: float
    shared: bool = False

    def half_width(self, level: float) -> float:
        """Return half of the width of the interval."""
        from scipy import special

        return float(special.stdtrit(self.df, (1.0 + level) / 2.0)) * self.error

    def interval(
        self, value: float, level: float, bounds: tuple[float, float] = (-math.inf, math.inf)
    ) -> Interval:
        """Return the interval around an estimate, within its bounds."""
        half = self.half_width(level)
        low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
        return Interval(low, high, "student")

    def p_value(self, distance: float) -> float:
        """Return the two-sided p-value of an estimate at a distance from the hypothesis."""
        from scipy import special

        if not self.error > 0.0:
            return math.nan
        return float(2.0 * special.stdtr(self.df, -abs(distance) / self.error))

    def minus(self, other: StandardError) -> Self:
        """Return the error of the difference of two independent estimates."""
        squares = np.square([self.error, other.error])
        return type(self)(
            float(np.sqrt(squares.sum())),
            float(satterthwaite(squares, np.array([self.df, other.df]))),
            self.shared or other.shared,
        )


def standard_error(
    strata: Strata,
    metric: Metric,
    variances: FloatArray,
    *,
    n_resamples: int,
    key: np.uint64,
) -> StandardError:
    """Return the standard error of a metric of one algorithm by the rule of this module.

    Parameters
    ----------
    strata : Strata
        The scores, at least one task with two runs.
    metric : Metric
    variances : ndarray of float, shape (tasks,)
        The variance to use for the runs of each task; see :func:`table_variances`.
    n_resamples : int
        At most; fewer of many scores. None are drawn where the error is known without.
    key : uint64
        From :func:`~gnomon.stats.draw_key`.

    Returns
    -------
    StandardError
        NaN where some resamples are infinite.

    Examples
    --------
    >>> from gnomon.stats import metric_named
    >>> x, of_mean = Strata.from_runs([[1.0, 2.0, 3.0], [4.0, 4.0, 7.0]]), metric_named("mean")
    >>> key = np.uint64(0)
    >>> found = standard_error(x, of_mean, x.task_variances, n_resamples=200, key=key)
    >>> round(found.error**2, 3), round(found.df, 2)
    (0.333, 3.2)
    """
    drawn = _residual_sample(strata, variances)
    n = 0
    if metric.each is not None:
        spread = _known_spread(drawn, metric.each(drawn.values))
    else:
        n = min(n_resamples, max(LEAST_RESAMPLES, MOST_DRAWS // drawn.n_scores))
        spread = _deviation(replicates([drawn], [metric], n_resamples=n, key=key)[0, 0])
    with np.errstate(invalid="ignore"):
        df = float(satterthwaite(variances / strata.counts, np.maximum(strata.counts - 1, 1)))
    found = StandardError(spread * math.sqrt(_inflation(drawn)), df)
    if shared_effect(strata) < SHARED_LEVEL:
        whole = _error_of_whole_runs(strata, metric, n, key)
        if whole.half_width(0.95) > found.half_width(0.95):
            return whole
    return found


def _known_spread(drawn: Strata, values: FloatArray) -> float:
    """Return the standard deviation over resamples of the mean of these values."""
    counts = drawn.counts
    variances = drawn.variances_of(values) * (counts - 1) / counts
    return math.sqrt(float(np.sum(variances / counts))) / drawn.n_tasks


def _deviation(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if np.isfinite(values).all() else math.nan


def _inflation(drawn: Strata) -> float:
    """Return R/(R - 1), R the harmonic mean of the numbers of runs."""
    runs = drawn.n_tasks / float(np.sum(1.0 / drawn.counts))
    return runs / (runs - 1.0)


def _residual_sample(strata: Strata, variances: FloatArray) -> Strata:
    """Return the task means plus residuals that have these variances, to draw resamples from.

    Runs that are all equal, and single runs, are replaced by evenly spaced ones, since other
    algorithms show that they could vary. Infinite scores stay as they are.
    """
    parts = [runs if runs.size > 1 else np.repeat(runs, 2) for runs in strata.per_task()]
    drawn = Strata.from_runs(parts)
    inflation, found = _inflation(drawn), []
    for runs, n, variance in zip(parts, strata.counts.tolist(), variances.tolist(), strict=True):
        if not (np.isfinite(runs).all() and math.isfinite(variance)):
            found.append(runs)
            continue
        own = float(runs.var())
        residuals = runs - runs.mean()
        if own <= (1e-14 * float(np.abs(runs).max())) ** 2:
            residuals = np.linspace(-1.0, 1.0, runs.size)
            own = float(residuals.var())
        # So that the error of a mean is sqrt(variance / n) after the inflation of all tasks.
        scale = math.sqrt(variance * runs.size / (n * own * inflation))
        found.append(runs.mean() + scale * residuals)
    return Strata(np.concatenate(found), drawn.starts)


def shared_effect(strata: Strata) -> float:
    """Return the p-value that runs with one label vary over tasks no more than independent ones.

    A run label often stands for one agent, checkpoint or person on all tasks. The standardised
    means of the runs are then more spread than those of independent tasks (chi-squared test).

    Examples
    --------
    >>> x = Strata.from_matrix([[1.0, 11.0, 5.0], [2.0, 13.0, 9.0], [4.0, 14.0, 9.5]])
    >>> round(shared_effect(x), 2)
    0.06
    """
    from scipy import special

    if not strata.same_runs or runs_are_sorted(strata):
        return 1.0
    x = strata.values.reshape(strata.n_tasks, -1)
    spread = np.sqrt(strata.task_variances)
    varied = np.isfinite(x).all(axis=1) & (spread > 0.0)
    if varied.sum() < 2:
        return 1.0
    means = np.mean((x[varied] - x[varied].mean(axis=1, keepdims=True)) / spread[varied, None], 0)
    statistic = float(varied.sum() * np.sum(np.square(means)))
    return float(special.chdtrc(x.shape[1] - 1.0, statistic))


def _error_of_whole_runs(
    strata: Strata, metric: Metric, n_resamples: int, key: np.uint64
) -> StandardError:
    """Return the standard error where runs are drawn for all tasks together."""
    x = strata.values.reshape(strata.n_tasks, -1)
    n = x.shape[1]
    if metric.each is not None:
        error = float(metric.each(x).mean(axis=0).std(ddof=1)) / math.sqrt(n)
        return StandardError(error, n - 1.0, True)
    rng, values, first = np.random.default_rng(key), [], 0
    block = max(1, (1 << 19) // x.size)
    while first < n_resamples:
        rows = rng.integers(0, n, (min(block, n_resamples - first), n))
        batch = np.moveaxis(x[:, rows], 0, 1).reshape(len(rows), -1)
        values.append(metric.values(Strata(batch, strata.starts)))
        first += len(rows)
    spread = _deviation(np.concatenate(values))
    return StandardError(spread * math.sqrt(n / (n - 1.0)), n - 1.0, True)


def runs_are_sorted(strata: Strata) -> bool:
    """Return whether the runs of every task are in order of their scores, so that labels lie.

    Examples
    --------
    >>> runs = np.sort(np.random.default_rng(0).normal(size=(3, 9)), axis=0)
    >>> runs_are_sorted(Strata.from_matrix(runs))
    True
    """
    if not strata.same_runs or strata.counts[0] < 3 or not np.isfinite(strata.values).all():
        return False
    steps = np.diff(strata.values.reshape(strata.n_tasks, -1), axis=1)
    varied = np.any(steps != 0.0, axis=1)
    up, down = (np.all(sign * steps >= 0.0) for sign in (1.0, -1.0))
    return bool(varied.sum() >= SORTED_TASKS and (up or down))
