"""P(X > Y) of every two algorithms at once, with tests and intervals.

One function, :func:`pairwise_improvement`, gives value, interval and test of every pair to
`compare`, `rank`, `audit` and `report`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.scores.columns import Flags, IntArray
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.improvement import (
    newcombe_interval,
    share_variance,
    sums_of,
    variance_parts,
    wins_on_task,
    won_twice,
)
from gnomon.stats.intervals import Resampling, SharedEffect
from gnomon.stats.rank_tests import holm, mann_whitney_rows

#: ``samples[t][i]``: scores of the runs of algorithm i on task t, higher is better.
Samples = Sequence[Sequence[FloatArray]]

#: The method of a comparison in which tasks are the sample.
SIGN_FLIPS = "sign_flips"
#: Random sign vectors of a test over tasks; a p-value of 0.05 then has a standard error of 0.005.
N_FLIPS = 2000
#: Index of all pairs.
ALL = (slice(None), slice(None))
#: Multiplications in a product of matrices, up to which OpenBLAS takes one thread: a second one
#: would keep a processor busy between products.
ONE_THREAD = 2**18
#: Pairs whose signs are flipped at once.
PAIRS_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class PairwiseImprovement:
    """P(X > Y) of every two algorithms, with tests and intervals.

    Arrays of pairs have the shape (n, n), arrays of single algorithms (n,). Row i and column j is
    the probability that a run of i is better than a run of j, averaged over the `n_shared` tasks
    that both have; NaN where there are none. `p_adjusted` is corrected for all pairs. `resolvable`
    is the smallest distance from one half that would be significant among all pairs, more than one
    half where none would be. `over_tasks` are the pairs in whose comparison the tasks are the
    sample. `mean` is the mean of `value` over the others, with its interval.
    """

    value: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    resolvable: FloatArray
    n_shared: IntArray
    over_tasks: Flags
    mean: FloatArray
    mean_low: FloatArray
    mean_high: FloatArray
    resampling: Resampling
    level: float
    #: Centre, variance and degrees of freedom of Student's interval, and the parts of Newcombe's.
    spread: FloatArray

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The intervals of pairs, with 1/2 unless the test rejects."""
        low, high = _wider_interval(self.value, self.spread, self.level)
        unsure = self.p_value > 1.0 - self.level
        low = np.where(unsure, np.fmin(low, 0.5), low)
        return low, np.where(unsure, np.fmax(high, 0.5), high)


def _wider_interval(
    value: FloatArray, spread: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return at each side the wider of Student's and Newcombe's interval; NaN if unknown."""
    from scipy import special

    centre, variance, df = spread[:3]
    half = np.sqrt(variance) * np.nan_to_num(special.stdtrit(df, (1.0 + level) / 2.0))
    low, high = newcombe_interval(value, spread[3:], level)
    return (
        np.clip(np.minimum(centre - half, low), 0.0, 1.0),
        np.clip(np.maximum(centre + half, high), 0.0, 1.0),
    )


def _scaled_parts(
    parts: FloatArray, value: FloatArray, by_task: FloatArray, n_tasks: IntArray, n_pairs: IntArray
) -> FloatArray:
    """Return the parts of a variance times the design effect of tasks that are won unequally.

    `by_task` is the variance at each task's own probability, with half a pair won and half a pair
    lost added. Two tasks won equally often are added, since few tasks hardly show the effect.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        near = (value * n_pairs + n_tasks / 2.0) / (n_pairs + n_tasks)
        effect = np.fmin(by_task / share_variance(near, parts), 1.0)
    return np.asarray(parts * (n_tasks * effect + 2.0) / (n_tasks + 2.0))


def pairwise_improvement(
    samples: Samples,
    *,
    level: float = 0.95,
    resampling: Resampling | None = None,
    effects: Sequence[SharedEffect | None] = (),
) -> PairwiseImprovement:
    r"""Compare every two algorithms by P(X > Y).

    On each task, :math:`\theta_{ij}` is the share of pairs of runs in which the run of i is better,
    ties counting one half; it is averaged over the tasks that both have.

    * *Runs are the sample.* The variance is that of the placements within tasks (DeLong 1988), with
      Satterthwaite's degrees of freedom. Placements do not vary where one algorithm wins all pairs,
      so the p-value is never less than by the Mann-Whitney variance at one half, and the interval
      holds that of Newcombe (2006, method 5): all probabilities from which the value is not too
      far by Hanley and McNeil's (1982) variance, which is Mann and Whitney's at one half. Over
      tasks it is multiplied by the design effect of strata (Korn and Graubard 1998), the mean over
      tasks of :math:`\theta_t (1 - \theta_t)` over :math:`\theta (1 - \theta)`. Pairs that share
      one task have Newcombe's interval alone, and the exact Mann-Whitney test. Where the runs of an
      algorithm share an effect over tasks (`effects`, one for each algorithm), both variances grow
      by its factor. The degrees of freedom of the sum of two are Satterthwaite's, of factors that
      are moderated by the same table. Holm's correction over all pairs.
    * *Tasks are the sample.* The statistic of a pair is the self-normalised sum
      :math:`\sum_t d_t / \sqrt{\sum_t d_t^2}` with :math:`d_t = \theta_t - 1/2`. Its distribution
      is that under random signs of the tasks (all of them where there are few), and p-values are
      corrected by that of the largest statistic of all pairs (max-t). With one run per task this is
      a sign test. The signs are drawn from a fixed seed, so that every call gives the same p-value.
      Intervals are Student's, with a won and a lost task added.

    By default tasks are the sample where no algorithm has several runs on a task. Where runs are,
    two algorithms with single runs only are compared over tasks, by the sign test with Holm's
    correction; one with single runs and one with several are not comparable (NaN).

    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44; Newcombe (2006), Statistics in Medicine
    25; Korn and Graubard (1998), Survey Methodology 24; Holm (1979); Westfall and Young (1993); de
    la Pena, Lai and Shao (2009), Self-Normalized Processes.
    """
    sizes = np.array([[x.size for x in row] for row in samples], dtype=np.int64)
    if resampling is None:
        resampling = "runs" if sizes.max(initial=0) > 1 else "runs_and_tasks"
    if resampling == "runs":
        found = _over_runs(samples, sizes, level, effects or [None] * sizes.shape[1])
    else:
        found = _over_tasks(samples, sizes, level)
    with_one = np.flatnonzero(np.count_nonzero(found.n_shared, axis=1) == 1)
    if with_one.size:  # the mean over one other algorithm is the value of the pair
        other = found.n_shared[with_one].argmax(axis=1)
        for end, of_pairs in zip((found.mean_low, found.mean_high), found.ends, strict=True):
            end[with_one] = of_pairs[with_one, other]
    return found


def table_samples(scores: ScoreTable) -> list[list[FloatArray]]:
    """Return the runs of a table, task by task: as :func:`pairwise_improvement` takes them."""
    sign = 1.0 if scores.higher_is_better else -1.0
    columns = []
    for name in scores.algorithms:
        values, counts = scores.strata(name, scores.tasks)
        ends, values = np.cumsum(counts).tolist(), sign * values
        columns.append([values[i:j] for i, j in zip([0, *ends], ends, strict=False)])
    return [list(row) for row in zip(*columns, strict=True)]


def _meetings(sizes: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return who is on which task, how many tasks two share, and weights of a mean over others.

    The weight of a pair is that of each of its tasks in the mean of the first.
    """
    there = (sizes > 0).astype(np.float64)
    n_shared = _column_products(there, there).astype(np.int64)
    np.fill_diagonal(n_shared, 0)
    n_others = np.count_nonzero(n_shared, axis=1)[:, None]
    with np.errstate(divide="ignore"):
        weight = np.where(n_shared > 0, 1.0 / n_shared / np.maximum(n_others, 1), 0.0)
    return there, n_shared, weight


def _column_products(x: npt.NDArray[Any], y: FloatArray) -> FloatArray:
    """Return ``x.T @ y``, computed without BLAS; see :data:`ONE_THREAD`."""
    return np.asarray(np.einsum("ti,tj->ij", x.astype(np.float64), y))


def _mean_of_tasks(totals: FloatArray, n_shared: IntArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(n_shared > 0, totals / n_shared, np.nan)
    np.fill_diagonal(value, 0.5)
    return _without_rounding(value)


def _without_rounding(share: FloatArray) -> FloatArray:
    """Return shares with those exact that are none, one half (no order) or all but for rounding."""
    for exact in (0.0, 0.5, 1.0):
        share = np.where(np.abs(share - exact) < 1e-12, exact, share)
    return share


def _over_runs(
    samples: Samples, sizes: IntArray, level: float, effects: Sequence[SharedEffect | None]
) -> PairwiseImprovement:
    there, n_shared, weight = _meetings(sizes)
    n = len(n_shared)
    total, variance, fourth, deviations, by_task = np.zeros((5, n, n))
    all_parts = np.zeros((2, n, n))
    of_mean, least_df = np.zeros((7, n)), np.full((n, n), np.inf)
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
        product, parts = np.outer(m, m), variance_parts(m[:, None], m)
        total[at] += sums / (2.0 * product)
        variance[at] += part
        fourth[at] += np.square(part) / df[:, None]
        deviations[at] += squares
        by_task[at] += share_variance((sums / 2.0 + 0.5) / (product + 1.0), parts)
        all_parts[:, *at] += parts
        least_df[at] = np.minimum(least_df[at], df[:, None])
        of_mean[:, here] += _own_moments(won, m, weight[at])
    factor = np.array([max(one.factor, 1.0) if one else 1.0 for one in effects])
    effect_df = np.array([one.df if one else np.inf for one in effects])
    own = np.array([one.own if one else 1.0 for one in effects])
    table_df = next((one.table_df for one in effects if one), np.inf)
    common = (1.0 - np.outer(own, own)) / table_df * np.outer(factor > 1.0, factor > 1.0)
    np.fill_diagonal(common, 0.0)
    variance, fourth = _widened(variance, fourth, factor[:, None], effect_df[:, None])
    of_pair = np.where(n_shared > 1, (factor[:, None] + factor) / 2.0, 1.0)
    all_parts, by_task = all_parts * of_pair, by_task * of_pair
    of_mean[:2] = _widened(of_mean[0], of_mean[1], factor, effect_df)
    of_mean[2] *= factor
    of_mean[4:] *= factor
    deviations *= factor[:, None]
    mean, low, high = _means_over_others(
        (total, variance, fourth), weight, of_mean, least_df.min(axis=1), sizes, level, common
    )
    # A single run takes the mean variance of the algorithm's other tasks.
    pooled = deviations / np.maximum(_column_products(np.maximum(sizes - 1, 0), there), 1.0)
    singles = _column_products(sizes == 1, there)
    variance, fourth = variance + singles * pooled, fourth + singles * np.square(pooled)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.square(np.maximum(n_shared, 1.0))
        fourth = fourth + fourth.T + 2.0 * variance * variance.T * common
        variance = (variance + variance.T) / squared
        df = np.square(variance) / (fourth / squared**2)
        df = np.fmax(np.minimum(least_df, least_df.T), np.where(variance > 0.0, df, 0.0))
        by_task, all_parts = by_task / squared, all_parts / squared
        even = share_variance(0.5, all_parts)
    value = _mean_of_tasks(total, n_shared)
    n_pairs = _column_products(sizes, sizes.astype(np.float64)).astype(np.int64)
    p_value = _p_value_of_runs(value, variance, df, even, n_pairs)
    # Single runs show no variance.
    several = _column_products(sizes > 1, there) > 0.0
    for x in (variance, p_value):
        x[~(several & several.T)] = np.nan
    scaled = _scaled_parts(all_parts, value, by_task, n_shared, n_pairs)
    spread, groups = np.stack([value, variance, df, *scaled]), defaultdict(list)
    for pair in np.argwhere(np.triu(n_shared == 1, 1)):
        t = int(np.argmax(sizes[:, pair].min(axis=1)))
        if sizes[t, pair].min() > 1:
            groups[t, *sizes[t, pair].tolist()].append(pair)
    for (t, *_), found in groups.items():
        i, j = np.array(found).T
        spread[1, i, j] = spread[1, j, i] = 0.0
        x, y = (np.array([samples[t][one] for one in places]) for places in (i, j))
        p_value[i, j] = p_value[j, i] = mann_whitney_rows(x, y)
    over_tasks = ~(several | several.T) & (n_shared > 1)
    a, b = np.nonzero(np.triu(over_tasks, 1))
    away = _differences(samples, sizes, a, b)
    p_value[a, b] = p_value[b, a] = _sign_test(away)
    _take_tasks(spread, a, b, n_shared[a, b], away)
    p_adjusted, (i, j) = np.full((n, n), np.nan), np.triu_indices(n, 1)
    p_adjusted[i, j] = p_adjusted[j, i] = holm(p_value[i, j])
    tail = (1.0 - level) / 2.0 / max(int(np.isfinite(p_value[i, j]).sum()), 1)
    resolvable = _resolved_by_runs(variance, df, even, n_pairs, tail)
    resolvable[a, b] = resolvable[b, a] = _resolved_by_signs(away, tail) / n_shared[a, b]
    pairs = value, p_value, p_adjusted, resolvable, n_shared, over_tasks
    return PairwiseImprovement(*pairs, mean, low, high, "runs", level, spread)


def _widened(
    variance: FloatArray, fourth: FloatArray, factor: FloatArray, df: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return variances times a factor, with their squares over their degrees of freedom.

    `fourth` is the sum of squared variances over their degrees of freedom, `df` are the degrees of
    freedom of the factor, which bound those of the product.
    """
    larger = variance * factor
    return larger, np.where(
        factor > 1.0, np.maximum(fourth * np.square(factor), np.square(larger) / df), fourth
    )


def _own_moments(won: FloatArray, m: IntArray, weight: FloatArray) -> FloatArray:
    """Return a task's part in the variance of each algorithm's mean over the others.

    From twice the runs that each run beats: the variance, its square over the degrees of freedom,
    the sum of squares, the degrees of freedom, and the variance of shares won with its parts.
    """
    owner, df, rivals = np.repeat(np.arange(m.size), m), m - 1.0, m.sum() - m
    own = np.einsum("rk,rk->r", won, (weight / (2.0 * m))[owner])
    mean, share = sums_of(own[:, None], m)[:, 0] / m, weight.sum(axis=1)
    squares = sums_of(np.square(own - mean[owner])[:, None], m)[:, 0]
    variance, games = squares / (np.maximum(df, 1.0) * m), m * rivals
    near = (mean / share * games + 0.5) / (games + 1.0)
    parts = np.square(share) * variance_parts(m, rivals)
    by_task = share_variance(near, parts)
    fourth = np.square(variance) / np.maximum(df, 1.0)
    return np.stack([variance, fourth, squares, df, by_task, *parts])


def _means_over_others(
    pairs: tuple[FloatArray, FloatArray, FloatArray],
    weight: FloatArray,
    own: FloatArray,
    least_df: FloatArray,
    sizes: IntArray,
    level: float,
    common: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each algorithm's mean probability over the others, with the ends of its interval.

    The variance is that of its own runs and that of the runs of the others. Single runs have none.
    """
    (total, variance, fourth), squared = pairs, np.square(weight)
    own_variance, own_fourth, squares, own_df, by_task, *parts = own
    pooled = squares / np.maximum(own_df, 1.0)
    n_single = np.count_nonzero(
        (sizes == 1) & (np.count_nonzero(sizes, axis=1) > 1)[:, None], axis=0
    )
    of_others = squared * variance.T
    whole = own_variance + n_single * pooled + of_others.sum(axis=1)
    of_fourth = (np.square(squared) * fourth.T).sum(axis=1)
    if common.any():
        parts_of_whole = of_others + np.diag(own_variance)
        of_fourth += ((parts_of_whole @ common) * parts_of_whole).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.square(whole) / (own_fourth + n_single * np.square(pooled) + of_fourth)
        df = np.fmax(df, np.minimum(least_df, 1e6))
    mean = _without_rounding((weight * total).sum(axis=1))
    mean[~(weight > 0.0).any(axis=1)] = np.nan
    whole[~np.any(sizes > 1, axis=0)] = np.nan
    games = sizes * (sizes.sum(axis=1)[:, None] - sizes)
    n_tasks, n_games = np.count_nonzero(games, axis=0), games.sum(axis=0)
    scaled = _scaled_parts(np.stack(parts), mean, by_task, n_tasks, n_games)
    return mean, *_wider_interval(mean, np.stack([mean, whole, df, *scaled]), level)


def _p_value_of_runs(
    value: FloatArray,
    variance: FloatArray,
    df: FloatArray,
    even: FloatArray,
    n_pairs: IntArray,
) -> FloatArray:
    """Return the larger of the p-values by the two variances."""
    from scipy import special

    p_value = np.full(value.shape, np.nan)
    at = np.nonzero(np.triu(np.isfinite(value), 1))
    distance = np.abs(value[at] - 0.5)
    lead = np.maximum(distance - 0.5 / n_pairs[at], 0.0)  # corrected for continuity
    with np.errstate(divide="ignore", invalid="ignore"):
        by_runs = 2.0 * special.stdtr(df[at], -distance / np.sqrt(variance[at]))
    by_runs = np.where(variance[at] > 0.0, by_runs, 0.0)
    by_ranks = 2.0 * special.ndtr(-lead / np.sqrt(even[at]))
    p_value[at] = p_value.T[at] = np.maximum(by_runs, by_ranks)
    return p_value


def _resolved_by_runs(
    variance: FloatArray, df: FloatArray, even: FloatArray, n_pairs: IntArray, tail: float
) -> FloatArray:
    """Return the distance from one half at which the p-value of :func:`_p_value_of_runs` is small.

    `tail` is half of that p-value. NaN where runs show no variance.
    """
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        by_runs = -special.stdtrit(df, tail) * np.sqrt(variance)
        by_ranks = -special.ndtri(tail) * np.sqrt(even) + 0.5 / n_pairs
    found = np.maximum(np.where(variance > 0.0, by_runs, variance), by_ranks)
    return np.where(found <= 0.5, found, np.where(np.isnan(found), np.nan, np.inf))


def _over_tasks(samples: Samples, sizes: IntArray, level: float) -> PairwiseImprovement:
    there, n_shared, weight = _meetings(sizes)
    n = len(n_shared)
    i, j = np.triu_indices(n, 1)
    away = _differences(samples, sizes, i, j)
    total = np.zeros((n, n))
    total[i, j] = away.sum(axis=0)
    value = _mean_of_tasks(total - total.T + n_shared / 2.0, n_shared)
    spread = np.zeros((5, n, n))
    _take_tasks(spread, i, j, n_shared[i, j], away)
    p_value, p_adjusted, resolvable = np.full((3, n, n), np.nan)
    of_pairs = sign_flip_p_values(away, level)
    for x, p in zip((p_value, p_adjusted, resolvable), of_pairs, strict=True):
        x[i, j] = x[j, i] = np.where(n_shared[i, j] > 1, p, np.nan)
    resolvable = resolvable / np.maximum(n_shared, 1)
    # The mean over the others, on each task where there are others.
    of_task = np.zeros((len(samples), n))
    for t, leads in enumerate(away):
        lead = np.zeros((n, n))
        lead[i, j] = leads
        of_task[t] = (weight * (lead - lead.T)).sum(axis=1)
    share = there * _column_products(there.T, weight.T)
    met = np.count_nonzero(share > 0.0, axis=0)
    each = np.divide(of_task, share, out=np.full(share.shape, -0.5), where=share > 0.0) + 0.5
    mean = _without_rounding(np.where(met > 0, of_task.sum(axis=0) + 0.5, np.nan))
    centre, variance, df = _task_moments(met, each.sum(axis=0), np.square(each).sum(axis=0))
    # Newcombe's interval is of runs: without its variance it is the mean alone.
    of_tasks = np.stack([centre, variance, df, *np.zeros((2, n))])
    low, high = _wider_interval(mean, of_tasks, level)
    pairs = value, p_value, p_adjusted, resolvable, n_shared, ~np.eye(n, dtype=np.bool_)
    return PairwiseImprovement(*pairs, mean, low, high, "runs_and_tasks", level, spread)


def _take_tasks(
    spread: FloatArray, i: IntArray, j: IntArray, n_tasks: IntArray, away: FloatArray
) -> None:
    """Make the intervals of some pairs Student's, from their differences on each task."""
    sums, squares = away.sum(axis=0), np.square(away).sum(axis=0)
    moments = _task_moments(n_tasks, sums + n_tasks / 2.0, squares + sums + n_tasks / 4.0)
    spread[:3, i, j] = spread[:3, j, i] = moments
    spread[0, j, i] = 1.0 - spread[0, i, j]
    spread[3:, i, j] = spread[3:, j, i] = 0.0


def _differences(samples: Samples, sizes: IntArray, i: IntArray, j: IntArray) -> FloatArray:
    """Return P(i better than j) - 1/2 on each task, 0 where one has no run, (tasks, pairs)."""
    if sizes.max() == 1:
        scores = np.full(sizes.shape, np.nan)
        scores[sizes > 0] = np.concatenate([x for row in samples for x in row])
        x, y = scores[:, i], scores[:, j]
        return np.subtract(x > y, x < y, dtype=np.float64) / 2.0
    away = np.zeros((len(samples), i.size))
    if not i.size:
        return away
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


def _sign_test(away: FloatArray) -> FloatArray:
    """Return the exact p-value of each pair, whose differences have the shape (tasks, pairs)."""
    from scipy import special

    won, lost = np.count_nonzero(away > 0.0, axis=0), np.count_nonzero(away < 0.0, axis=0)
    return np.asarray(np.minimum(2.0 * special.bdtr(np.minimum(won, lost), won + lost, 0.5), 1.0))


def _resolved_by_signs(away: FloatArray, tail: float) -> FloatArray:
    """Return the smallest sum of differences whose p-value by :func:`_sign_test` is small.

    `tail` is half of that p-value. Infinite where no sum has it.
    """
    from scipy import special

    n = np.count_nonzero(away, axis=0)
    enough = special.bdtr(np.arange(len(away))[:, None], n, 0.5) <= tail
    lost = np.count_nonzero(enough, axis=0) - 1
    return np.where(lost < 0, np.inf, n / 2.0 - lost)


def sign_flip_p_values(away: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Test for each pair whether its differences have mean 0, by random signs of the tasks.

    `away`, (tasks, pairs), holds the differences on each task, 0 where a pair has none. With up to
    11 tasks all signs are taken, otherwise :data:`N_FLIPS` random ones from a fixed seed. For
    single runs the p-value of a pair is that of the sign test. The second p-values are corrected by
    the largest statistic of all pairs. Last comes the smallest sum of differences that would be
    significant at this level, corrected so; infinite where none would be.
    """
    n_tasks, n_pairs = away.shape
    scale = np.sqrt(np.square(away).sum(axis=0))
    scaled = (away / np.where(scale > 0.0, scale, 1.0)).T.astype(np.float32, order="C")
    seen = np.abs(scaled.sum(axis=1, dtype=np.float64)) - 1e-4
    exact = 2 ** (n_tasks - 1) <= N_FLIPS
    if exact:
        # The sign of the first task is fixed: the test is two-sided.
        bits = np.arange(2 ** (n_tasks - 1))[:, None] >> np.arange(n_tasks) & 1
    else:
        bits = np.random.default_rng(0).integers(0, 2, (N_FLIPS, n_tasks))
    single = bool(((away == 0.0) | (np.abs(away) == 0.5)).all())
    n_flips, extra = len(bits), 0 if exact else 1
    # Products of parts, each of which takes one thread.
    width = max(1, min(n_flips, ONE_THREAD // n_tasks // PAIRS_AT_ONCE))
    width = next(n for n in range(width, 0, -1) if n_flips % n == 0)
    parts = (2 * bits - 1).reshape(-1, width, n_tasks).transpose(0, 2, 1)
    signs = parts.astype(np.float32, order="C")
    beyond, largest = np.zeros(n_pairs, np.int64), np.zeros(signs.shape[::2], np.float32)
    for first in range(0, n_pairs, PAIRS_AT_ONCE):
        some = slice(first, first + PAIRS_AT_ONCE)
        z = np.abs(scaled[some] @ signs)
        if not single:
            beyond[some] = np.count_nonzero(z >= seen[some, None], axis=(0, 2))
        np.maximum(largest, z.max(axis=1), out=largest)
    p_value = (beyond + extra) / (n_flips + extra)
    if single:
        p_value = _sign_test(away)
    largest = np.sort(largest, axis=None)
    # The largest statistic that is not significant, and the next one above it.
    n_above = int((1.0 - level) * (n_flips + extra) + 1e-9) - extra
    limit = largest[min(n_flips - 1 - n_above, n_flips - 1)]
    next_one = int(np.searchsorted(largest, limit + 1e-4, side="right"))
    critical = float(largest[next_one]) if next_one < n_flips else np.inf
    resolved = critical * np.where(scale > 0.0, scale, np.inf)
    # The largest sum that there can be is exact, lest rounding put what is needed above it.
    most = np.abs(away).sum(axis=0)
    resolved = np.where(np.abs(resolved - most) < 1e-5 * most, most, resolved)
    if n_pairs == 1:
        return p_value, p_value, resolved
    above = n_flips - np.searchsorted(largest, seen, side="left")
    return p_value, np.maximum((above + extra) / (n_flips + extra), p_value), resolved
