"""P(X > Y) of every two algorithms at once, with tests and intervals.

One function, :func:`pairwise_improvement`, gives value, interval and test of every pair to
`compare`, `rank`, `audit` and `report`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.improvement import (
    newcombe_interval,
    share_variance,
    sums_of,
    wins_on_task,
    won_twice,
)
from gnomon.stats.rank_tests import holm, mann_whitney_rows
from gnomon.stats.samples import IntArray

Sample = Literal["runs", "tasks"]
#: ``samples[t][i]``: scores of the runs of algorithm i on task t, higher is better.
Samples = Sequence[Sequence[FloatArray]]

#: The method of a comparison in which tasks are the sample.
SIGN_FLIPS = "sign_flips"
#: Random sign vectors of a test over tasks.
N_FLIPS = 2000
#: Index of all pairs.
ALL = (slice(None), slice(None))
#: Pairs whose statistics are computed at once: their numbers stay in the processor's cache.
PAIRS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class PairwiseImprovement:
    """P(X > Y) of every two algorithms, with tests and intervals.

    Arrays of pairs have the shape (n, n), arrays of single algorithms (n,). Row i and column j is
    the probability that a run of i is better than a run of j, averaged over the `n_shared` tasks
    that both have; NaN where there are none. `p_adjusted` is corrected for all pairs. `mean` is the
    mean of `value` over the others, with its interval.
    """

    value: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    error: FloatArray
    n_shared: IntArray
    mean: FloatArray
    mean_low: FloatArray
    mean_high: FloatArray
    sample: Sample
    level: float
    #: Centre, variance and degrees of freedom of each interval, and its variance near 0 and 1.
    spread: FloatArray
    #: Of pairs that share a single task, the runs of both there; 0 for others.
    alone: IntArray

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The intervals of pairs, at the level of those of the means."""
        return self.interval(self.level)

    def interval(self, level: float, at: Any = ALL) -> tuple[FloatArray, FloatArray]:
        """Return intervals of the pairs at two indices, with 1/2 unless the test rejects."""
        value, (m, n) = self.value[at], self.alone[:, *at]
        centre, variance, df, edge = self.spread[:, *at]
        half = _half_width(variance, df, edge, level)
        low = np.clip(np.minimum(centre - half, value), 0.0, 1.0)
        high = np.clip(np.maximum(centre + half, value), 0.0, 1.0)
        one = m > 0
        if one.any():
            low[one], high[one] = newcombe_interval(value[one], m[one], n[one], level)
        unsure = self.p_value[at] > 1.0 - level
        low = np.where(unsure, np.fmin(low, 0.5), low)
        return low, np.where(unsure, np.fmax(high, 0.5), high)


def _half_width(
    variance: FloatArray, df: FloatArray, edge: FloatArray | float, level: float
) -> FloatArray:
    """Return Student's half width, at least that by the variance near 0 and 1; NaN if unknown."""
    from scipy import special

    tail = (1.0 + level) / 2.0
    by_runs = np.sqrt(variance) * np.nan_to_num(special.stdtrit(df, tail))
    return np.asarray(np.maximum(by_runs, special.ndtri(tail) * np.sqrt(edge)))


def pairwise_improvement(
    samples: Samples, *, level: float = 0.95, sample: Sample | None = None
) -> PairwiseImprovement:
    r"""Compare every two algorithms by P(X > Y).

    On each task, :math:`\theta_{ij}` is the share of pairs of runs in which the run of i is better,
    ties counting one half; it is averaged over the tasks that both have.

    * *Runs are the sample.* The variance is that of the placements within tasks (DeLong 1988), with
      Satterthwaite's degrees of freedom. Placements do not vary where one algorithm wins all pairs,
      so the p-value is never less than by the Mann-Whitney variance at one half, nor than by Hanley
      and McNeil's (1982) variance of probabilities half a pair off the edge, and intervals are as
      wide as the latter gives. Pairs that share one task have the exact Mann-Whitney test and
      Newcombe's (2006, method 5) interval. Holm's correction over all pairs.
    * *Tasks are the sample.* The statistic of a pair is the self-normalised sum
      :math:`\sum_t d_t / \sqrt{\sum_t d_t^2}` with :math:`d_t = \theta_t - 1/2`. Its distribution
      is that under random signs of the tasks (all of them where there are few), and p-values are
      corrected by that of the largest statistic of all pairs (max-t). With one run per task this is
      a sign test. The signs are drawn from a fixed seed, so that every call gives the same p-value.
      Intervals are Student's, with a won and a lost task added.

    Parameters
    ----------
    samples : sequence of sequences of ndarray
        ``samples[t][i]``: scores of the runs of algorithm i on task t, higher is better; empty if
        there are none. Infinite scores take part.
    level : float
        Confidence level.
    sample : str, optional
        ``runs`` or ``tasks``; by default tasks where no algorithm has several runs on a task.

    Returns
    -------
    PairwiseImprovement
        Where runs are the sample, two algorithms with single runs only are compared over tasks; one
        with single runs and one with several are not comparable (NaN).

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44; Newcombe (2006), Statistics in Medicine
    25; Holm (1979); Westfall and Young (1993); de la Pena, Lai and Shao (2009), Self-Normalized
    Processes.

    Examples
    --------
    >>> better, worse = np.array([4.0, 5.0, 6.0, 7.0]), np.array([0.0, 1.0, 2.0, 3.0])
    >>> found = pairwise_improvement([[better, worse]])
    >>> float(found.value[0, 1]), round(float(found.p_value[0, 1]), 3)
    (1.0, 0.029)
    """
    sizes = np.array([[x.size for x in row] for row in samples], dtype=np.int64)
    if sample is None:
        sample = "runs" if sizes.max(initial=0) > 1 else "tasks"
    return (_over_tasks if sample == "tasks" else _over_runs)(samples, sizes, level)


def table_samples(scores: ScoreTable) -> list[list[FloatArray]]:
    """Return the runs of a table, task by task: as :func:`pairwise_improvement` takes them."""
    sign = 1.0 if scores.higher_is_better else -1.0
    columns = []
    for name in scores.algorithms:
        values, counts = scores.strata(name, scores.tasks)
        ends, values = np.cumsum(counts).tolist(), sign * values
        columns.append([values[i:j] for i, j in zip([0, *ends], ends, strict=False)])
    return [list(row) for row in zip(*columns, strict=True)]


def _shared(sizes: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return who is on which task, how many tasks two share, and weights of a mean over others.

    The weight of a pair is that of each of its tasks in the mean of the first.
    """
    there = (sizes > 0).astype(np.float64)
    n_shared = (there.T @ there).astype(np.int64)
    np.fill_diagonal(n_shared, 0)
    n_others = np.count_nonzero(n_shared, axis=1)[:, None]
    with np.errstate(divide="ignore"):
        weight = np.where(n_shared > 0, 1.0 / n_shared / np.maximum(n_others, 1), 0.0)
    return there, n_shared, weight


def _mean_of_tasks(totals: FloatArray, n_shared: IntArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(n_shared > 0, totals / n_shared, np.nan)
    np.fill_diagonal(value, 0.5)
    # Rounding must not make an order of what is won and lost alike.
    return np.where(np.abs(value - 0.5) < 1e-12, 0.5, value)


def _over_runs(samples: Samples, sizes: IntArray, level: float) -> PairwiseImprovement:
    there, n_shared, weight = _shared(sizes)
    n = len(n_shared)
    total, variance, fourth, deviations, edge = np.zeros((5, n, n))
    of_mean, least_df = np.zeros((5, n)), np.full((n, n), np.inf)
    for runs, n_runs in zip(samples, sizes, strict=True):
        here = np.flatnonzero(n_runs)
        if here.size < 2:
            continue
        at: Any = ALL if here.size == n else np.ix_(here, here)
        m = n_runs[here]
        won = won_twice([runs[i] for i in here.tolist()]).astype(np.float64)
        sums, df = sums_of(won, m), np.maximum(m - 1.0, 1.0)
        squares = sums_of(np.square(won), m) - np.square(sums) / m[:, None]
        squares /= np.square(2.0 * m)
        part = squares / (df * m)[:, None]
        product = np.outer(m, m)
        total[at] += sums / (2.0 * product)
        variance[at] += part
        fourth[at] += np.square(part) / df[:, None]
        deviations[at] += squares
        edge[at] += share_variance((sums / 2.0 + 0.5) / (product + 1.0), m[:, None], m)
        least_df[at] = np.minimum(least_df[at], df[:, None])
        of_mean[:, here] += _own_moments(won, m, weight[at])
    mean, low, high = _means_over_others(
        (total, variance, fourth), weight, of_mean, least_df.min(axis=1), sizes, level
    )
    # A single run takes the mean variance of the algorithm's other tasks.
    pooled = deviations / np.maximum(np.maximum(sizes - 1.0, 0.0).T @ there, 1.0)
    singles = (sizes == 1).T @ there
    variance, fourth = variance + singles * pooled, fourth + singles * np.square(pooled)
    inverse = np.divide(1.0, sizes, out=np.zeros(sizes.shape), where=sizes > 0)
    even = (inverse.T @ there + there.T @ inverse + inverse.T @ inverse) / 12.0
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.square(n_shared.astype(np.float64))
        variance = (variance + variance.T) / squared
        df = np.square(variance) / ((fourth + fourth.T) / squared**2)
        df = np.fmax(np.minimum(least_df, least_df.T), np.where(variance > 0.0, df, 0.0))
        edge, even = edge / squared, even / squared
        error = np.sqrt(np.maximum(variance, np.maximum(edge, even)))
    value = _mean_of_tasks(total, n_shared)
    p_value = _p_value_of_runs(value, variance, df, edge, even, sizes.T @ sizes)
    # Single runs show no variance.
    several = (sizes > 1).T @ there > 0
    for x in (variance, p_value):
        x[~(several & several.T)] = np.nan
    alone, groups = np.zeros((2, n, n), np.int64), defaultdict(list)
    for pair in np.argwhere(np.triu(n_shared == 1, 1)):
        t = int(np.argmax(sizes[:, pair].min(axis=1)))
        if sizes[t, pair].min() > 1:
            groups[t, *sizes[t, pair].tolist()].append(pair)
    for (t, *both), found in groups.items():
        i, j = np.array(found).T
        alone[:, i, j], alone[:, j, i] = np.array([both, both[::-1]])[..., None]
        x, y = (np.array([samples[t][one] for one in places]) for places in (i, j))
        p_value[i, j] = p_value[j, i] = mann_whitney_rows(x, y)
    spread = np.stack([value, variance, df, edge])
    i, j = np.nonzero(np.triu(~(several | several.T) & (n_shared > 1), 1))
    if i.size:
        away = _differences(samples, sizes, i, j)
        p_value[i, j] = p_value[j, i] = sign_flip_p_values(away)[0]
        _take_tasks(spread, i, j, n_shared[i, j], away)
    error[np.isnan(p_value)] = np.nan
    p_adjusted, (i, j) = np.full((n, n), np.nan), np.triu_indices(n, 1)
    p_adjusted[i, j] = p_adjusted[j, i] = holm(p_value[i, j])
    pairs = value, p_value, p_adjusted, error, n_shared
    return PairwiseImprovement(*pairs, mean, low, high, "runs", level, spread, alone)


def _own_moments(won: FloatArray, m: IntArray, weight: FloatArray) -> FloatArray:
    """Return a task's part in the variance of each algorithm's mean over the others.

    From twice the runs that each run beats: the variance, its square over the degrees of freedom,
    the sum of squares, the degrees of freedom, and the variance near 0 and 1.
    """
    owner, df, rivals = np.repeat(np.arange(m.size), m), m - 1.0, m.sum() - m
    own = np.einsum("rk,rk->r", won, (weight / (2.0 * m))[owner])
    mean, share = sums_of(own[:, None], m)[:, 0] / m, weight.sum(axis=1)
    squares = sums_of(np.square(own - mean[owner])[:, None], m)[:, 0]
    variance, games = squares / (np.maximum(df, 1.0) * m), m * rivals
    near = (mean / share * games + 0.5) / (games + 1.0)
    edge = np.square(share) * share_variance(near, m, rivals)
    return np.stack([variance, np.square(variance) / np.maximum(df, 1.0), squares, df, edge])


def _means_over_others(
    pairs: tuple[FloatArray, FloatArray, FloatArray],
    weight: FloatArray,
    own: FloatArray,
    least_df: FloatArray,
    sizes: IntArray,
    level: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each algorithm's mean probability over the others, with the ends of its interval.

    The variance is that of its own runs and that of the runs of the others. Single runs have none.
    """
    (total, variance, fourth), squared = pairs, np.square(weight)
    own_variance, own_fourth, squares, own_df, edge = own
    pooled = squares / np.maximum(own_df, 1.0)
    n_single = np.count_nonzero(
        (sizes == 1) & (np.count_nonzero(sizes, axis=1) > 1)[:, None], axis=0
    )
    whole = own_variance + n_single * pooled + (squared * variance.T).sum(axis=1)
    of_fourth = (np.square(squared) * fourth.T).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.square(whole) / (own_fourth + n_single * np.square(pooled) + of_fourth)
        df = np.fmax(df, np.minimum(least_df, 1e6))
    mean = np.where((weight > 0.0).any(axis=1), (weight * total).sum(axis=1), np.nan)
    half = _half_width(whole, df, edge, level)
    half[~np.any(sizes > 1, axis=0)] = np.nan
    return mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)


def _p_value_of_runs(
    value: FloatArray,
    variance: FloatArray,
    df: FloatArray,
    edge: FloatArray,
    even: FloatArray,
    n_pairs: IntArray,
) -> FloatArray:
    """Return the largest of the p-values by the three variances."""
    from scipy import special

    p_value = np.full(value.shape, np.nan)
    at = np.nonzero(np.triu(np.isfinite(value), 1))
    distance = np.abs(value[at] - 0.5)
    lead = np.maximum(distance - 0.5 / n_pairs[at], 0.0)  # corrected for continuity
    with np.errstate(divide="ignore", invalid="ignore"):
        by_runs = 2.0 * special.stdtr(df[at], -distance / np.sqrt(variance[at]))
    by_runs = np.where(variance[at] > 0.0, by_runs, 0.0)
    by_edge = 2.0 * special.ndtr(-distance / np.sqrt(edge[at]))
    by_ranks = 2.0 * special.ndtr(-lead / np.sqrt(even[at]))
    p_value[at] = p_value.T[at] = np.maximum(np.maximum(by_runs, by_edge), by_ranks)
    return p_value


def _over_tasks(samples: Samples, sizes: IntArray, level: float) -> PairwiseImprovement:
    there, n_shared, weight = _shared(sizes)
    n = len(n_shared)
    i, j = np.triu_indices(n, 1)
    away = _differences(samples, sizes, i, j)
    total = np.zeros((n, n))
    total[i, j] = away.sum(axis=0)
    value = _mean_of_tasks(total - total.T + n_shared / 2.0, n_shared)
    spread, alone = np.zeros((4, n, n)), np.zeros((2, n, n), np.int64)
    _take_tasks(spread, i, j, n_shared[i, j], away)
    p_value, p_adjusted = np.full((2, n, n), np.nan)
    for x, p in zip((p_value, p_adjusted), sign_flip_p_values(away), strict=True):
        x[i, j] = x[j, i] = np.where(n_shared[i, j] > 1, p, np.nan)
    # The mean over the others, on each task where there are others.
    of_task = np.zeros((len(samples), n))
    for t, of_pairs in enumerate(away):
        lead = np.zeros((n, n))
        lead[i, j] = of_pairs
        of_task[t] = (weight * (lead - lead.T)).sum(axis=1)
    share = there * (there @ weight.T)
    met = np.count_nonzero(share > 0.0, axis=0)
    each = np.divide(of_task, share, out=np.full(share.shape, -0.5), where=share > 0.0) + 0.5
    mean = np.where(met > 0, of_task.sum(axis=0) + 0.5, np.nan)
    centre, variance, df = _task_moments(met, each.sum(axis=0), np.square(each).sum(axis=0))
    half = _half_width(variance, df, 0.0, level)
    low = np.clip(np.minimum(centre - half, mean), 0.0, 1.0)
    high = np.clip(np.maximum(centre + half, mean), 0.0, 1.0)
    pairs = value, p_value, p_adjusted, np.sqrt(spread[1]), n_shared
    return PairwiseImprovement(*pairs, mean, low, high, "tasks", level, spread, alone)


def _take_tasks(
    spread: FloatArray, i: IntArray, j: IntArray, n_tasks: IntArray, away: FloatArray
) -> None:
    """Make the intervals of some pairs Student's, from their differences on each task."""
    sums, squares = away.sum(axis=0), np.square(away).sum(axis=0)
    moments = _task_moments(n_tasks, sums + n_tasks / 2.0, squares + sums + n_tasks / 4.0)
    spread[:3, i, j] = spread[:3, j, i] = moments
    spread[0, j, i] = 1.0 - spread[0, i, j]
    spread[3, i, j] = spread[3, j, i] = 0.0


def _differences(samples: Samples, sizes: IntArray, i: IntArray, j: IntArray) -> FloatArray:
    """Return P(i better than j) - 1/2 on each task, 0 where one has no run, (tasks, pairs)."""
    away = np.zeros((len(samples), i.size))
    for t, (runs, m) in enumerate(zip(samples, sizes, strict=True)):
        pairs = np.outer(m, m)
        lead = np.divide(wins_on_task(runs), pairs, out=np.full(pairs.shape, 0.5), where=pairs > 0)
        away[t] = lead[i, j] - 0.5
    return away


def _task_moments(
    n: IntArray, sums: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, its variance and degrees of freedom, a won and a lost task added.

    So tasks that do not differ are not taken for certainty (Agresti and Coull 1998).
    """
    m = n + 2.0
    centre = (sums + 1.0) / m
    variance = np.maximum((squares + 1.0) / m - np.square(centre), 0.0) / (m - 1.0)
    return centre, np.where(n > 1, variance, np.nan), np.asarray(m - 1.0)


def sign_flip_p_values(away: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Test for each pair whether its differences have mean 0, by random signs of the tasks.

    `away`, (tasks, pairs), holds the differences on each task, 0 where a pair has none. With up to
    11 tasks all signs are taken, otherwise :data:`N_FLIPS` random ones from a fixed seed. For
    single runs the p-value of a pair is that of the sign test. The second p-values are corrected by
    the largest statistic of all pairs.
    """
    from scipy import special

    n_tasks, n_pairs = away.shape
    scale = np.sqrt(np.square(away).sum(axis=0))
    scaled = (away / np.where(scale > 0.0, scale, 1.0)).astype(np.float32)
    seen = np.abs(scaled.sum(axis=0, dtype=np.float64)) - 1e-4
    exact = 2 ** (n_tasks - 1) <= N_FLIPS
    if exact:
        # The sign of the first task is fixed: the test is two-sided.
        bits = np.arange(2 ** (n_tasks - 1))[:, None] >> np.arange(n_tasks) & 1
    else:
        bits = np.random.default_rng(0).integers(0, 2, (N_FLIPS, n_tasks))
    signs = (2 * bits - 1).astype(np.float32)
    single = bool(((away == 0.0) | (np.abs(away) == 0.5)).all())
    beyond, largest = np.zeros(n_pairs, np.int64), np.zeros(len(signs), np.float32)
    for first in range(0, n_pairs, PAIRS_AT_ONCE):
        some = slice(first, first + PAIRS_AT_ONCE)
        z = signs @ scaled[:, some]
        if not single:
            beyond[some] = np.count_nonzero(np.abs(z) >= seen[some], axis=0)
        np.maximum(largest, np.maximum(z.max(axis=1), -z.min(axis=1)), out=largest)
    extra = 0 if exact else 1
    p_value = (beyond + extra) / (len(signs) + extra)
    if single:
        won, lost = np.count_nonzero(away > 0.0, axis=0), np.count_nonzero(away < 0.0, axis=0)
        p_value = np.minimum(2.0 * special.bdtr(np.minimum(won, lost), won + lost, 0.5), 1.0)
    if n_pairs == 1:
        return p_value, p_value
    above = len(signs) - np.searchsorted(np.sort(largest), seen, side="left")
    return p_value, np.maximum((above + extra) / (len(signs) + extra), p_value)
