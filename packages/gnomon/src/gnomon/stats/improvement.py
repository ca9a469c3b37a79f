"""Probability of improvement: how often a run of one algorithm beats a run of another.

On each task P(X > Y) is the share of pairs of runs in which the run of X is better, ties counting
one half (Mann and Whitney's U over the number of pairs); over tasks it is averaged (Agarwal et al.
2021). Infinite scores (censored runs) take part. One function, :func:`pairwise_improvement`, gives
value, interval and test of every pair to `compare`, `rank`, `audit` and `report`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.scores.normalization import with_left_out
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.rank_tests import holm, mann_whitney_rows
from gnomon.stats.samples import IntArray, Strata, as_strata

BoolArray = npt.NDArray[np.bool_]
Sample = Literal["runs", "tasks"]
#: ``samples[t][i]``: scores of the runs of algorithm i on task t, higher is better.
Samples = Sequence[Sequence[FloatArray]]
#: A value, and the ends of its interval.
Ends = tuple[FloatArray, FloatArray, FloatArray]

#: The method of a comparison in which tasks are the sample.
SIGN_FLIPS = "sign_flips"
#: Random sign vectors of a test over tasks.
N_FLIPS = 2000
#: Pairs whose statistics are computed at once: their numbers stay in the processor's cache.
PAIRS_AT_ONCE = 512
#: Largest number of runs for which comparing all pairs is faster than sorting.
FEW_RUNS = 64


@dataclass(frozen=True, eq=False)
class PairwiseImprovement:
    """P(X > Y) of every two algorithms at once, with tests and intervals.

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
    spread: Spread

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The intervals of pairs, at the level of those of the means."""
        return self.interval(self.level)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals of all pairs; they include 1/2 if the test does not reject."""
        low, high = self.spread.around(self.value, level)
        for (_, m, k), (i, j) in self.spread.alone.items():
            low[i, j], high[i, j] = newcombe_interval(self.value[i, j], m, k, level)
            low[j, i], high[j, i] = 1.0 - high[i, j], 1.0 - low[i, j]
        unsure = self.p_value > 1.0 - level
        return (
            np.where(unsure, np.fmin(low, 0.5), low),
            np.where(unsure, np.fmax(high, 0.5), high),
        )


@dataclass(frozen=True, eq=False)
class Spread:
    """Centres, variances and degrees of freedom of intervals, and their variance near 0 and 1.

    `alone` holds the pairs that share a single task, by that task and their runs there.
    """

    centre: FloatArray
    variance: FloatArray
    df: FloatArray
    edge: FloatArray
    alone: dict[tuple[int, int, int], IntArray]

    def take_tasks(self, i: IntArray, j: IntArray, n_tasks: IntArray, away: FloatArray) -> None:
        """Make the intervals of some pairs Student's, from their differences on each task."""
        sums, squares = away.sum(axis=0), np.square(away).sum(axis=0)
        found = _task_moments(n_tasks, sums + n_tasks / 2.0, squares + sums + n_tasks / 4.0)
        for array, of_tasks in zip((self.centre, self.variance, self.df), found, strict=True):
            array[i, j] = array[j, i] = of_tasks
        self.centre[j, i] = 1.0 - self.centre[i, j]
        self.edge[i, j] = self.edge[j, i] = 0.0

    def around(self, value: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals that include the values, between 0 and 1."""
        half = _half_width(self.variance, self.df, self.edge, level)
        low = np.clip(np.minimum(self.centre - half, value), 0.0, 1.0)
        return low, np.clip(np.maximum(self.centre + half, value), 0.0, 1.0)


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


def table_improvement(
    scores: ScoreTable, *, level: float = 0.95, sample: Sample | None = None
) -> PairwiseImprovement:
    """Compare every two algorithms of a table by P(X > Y), in the table's order.

    Tasks that normalising left out take part, since wins need no scale.
    """
    return pairwise_improvement(table_samples(with_left_out(scores)), level=level, sample=sample)


def table_samples(scores: ScoreTable) -> list[list[FloatArray]]:
    """Return the runs of a table, task by task: as :func:`pairwise_improvement` takes them."""
    sign = 1.0 if scores.higher_is_better else -1.0
    columns = []
    for name in scores.algorithms:
        values, counts = scores.strata(name, scores.tasks)
        ends, values = np.cumsum(counts).tolist(), sign * values
        columns.append([values[i:j] for i, j in zip([0, *ends], ends, strict=False)])
    return [list(row) for row in zip(*columns, strict=True)]


def probability_of_improvement(
    a: Strata | npt.ArrayLike, b: Strata | npt.ArrayLike, *, higher_is_better: bool = True
) -> float:
    """Return the probability that a run of `a` is better than one of `b`, averaged over tasks.

    Parameters
    ----------
    a, b : array_like of shape (runs, tasks), or Strata
        The same tasks; numbers of runs may differ.
    higher_is_better : bool
        Direction of the scores.

    Examples
    --------
    >>> probability_of_improvement([[1.0, 5.0], [2.0, 5.0]], [[0.0, 5.0], [3.0, 5.0]])
    0.5
    """
    won, _ = placements(as_strata(a), as_strata(b), higher_is_better=higher_is_better)
    return float(won.task_means.mean())


def placements(a: Strata, b: Strata, *, higher_is_better: bool = True) -> tuple[Strata, Strata]:
    """Return for each run of two algorithms the share of the other's runs that it beats."""
    shares: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for x, y in paired_samples(a, b, higher_is_better):
        won = _won_twice([x, y]) / (2.0 * np.array([x.size, y.size]))
        shares[0].append(won[: x.size, 1])
        shares[1].append(won[x.size :, 0])
    return Strata(np.concatenate(shares[0]), a.starts), Strata(np.concatenate(shares[1]), b.starts)


def paired_samples(a: Strata, b: Strata, higher_is_better: bool) -> Samples:
    """Return the runs of two algorithms, higher being better."""
    if a.n_tasks != b.n_tasks:
        raise ValueError(f"expected the same tasks, found {a.n_tasks} and {b.n_tasks}")
    sign = 1.0 if higher_is_better else -1.0
    return [[sign * x, sign * y] for x, y in zip(a.per_task(), b.per_task(), strict=True)]


def newcombe_interval(
    value: npt.ArrayLike, m: int, n: int, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return Newcombe's (2006, method 5) interval of P(X > Y) from m runs against n.

    It holds those probabilities from which the value is not too far, in their own standard errors.
    """
    from scipy import special

    z = float(special.ndtri((1.0 + level) / 2.0))
    # The lower end of the share won is one minus the upper end of the share lost.
    seen = np.stack([1.0 - np.asarray(value), np.asarray(value)])
    low, high = seen, np.ones(seen.shape)
    for _ in range(54):
        middle = (low + high) / 2.0
        inside = np.square(middle - seen) <= z * z * share_variance(middle, m, n)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return 1.0 - high[0], high[1]


def share_variance(theta: FloatArray, m: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """Return the variance of the share of m times n pairs won at a true probability.

    That of exponential distributions (Hanley and McNeil 1982), the sizes of both samples taken for
    their mean.
    """
    one = theta * (1.0 - theta)  # of one pair
    pairs = np.multiply(m, n)
    # Hanley and McNeil's two fractions on their common denominator.
    excess = (np.add(m, n) / 2.0 - 1.0) * (1.0 + 2.0 * one) / (2.0 + one)
    return np.asarray(one * (1.0 + excess) / pairs)


def wins_on_task(runs: Sequence[FloatArray]) -> FloatArray:
    """Return in how many pairs of runs on a task i is better than j, ties counting one half."""
    sizes = np.array([x.size for x in runs])
    here = np.flatnonzero(sizes)
    if here.size == sizes.size:
        return _sums(_won_twice(runs), sizes) / 2.0
    out = np.zeros((sizes.size, sizes.size))
    if here.size:
        out[np.ix_(here, here)] = wins_on_task([runs[i] for i in here.tolist()])
    return out


def _won_twice(runs: Sequence[FloatArray]) -> npt.NDArray[np.integer]:
    """Return for each run how many runs of each algorithm it beats, times two; ties count one."""
    sizes = np.array([x.size for x in runs])
    n_runs, most = int(sizes.sum()), int(sizes.max())
    of_rank = np.int16 if n_runs < np.iinfo(np.int16).max else np.int64
    ranks = np.unique(np.concatenate(runs), return_inverse=True)[1].astype(of_rank)
    starts = np.cumsum(sizes) - sizes
    if most > FEW_RUNS:
        parts = [np.sort(part) for part in np.split(ranks, starts[1:])]
        columns = [
            np.searchsorted(x, ranks, "left") + np.searchsorted(x, ranks, "right") for x in parts
        ]
        return np.stack(columns, axis=1)
    # The place of a missing run is beyond all others.
    table = np.full((most, sizes.size), np.iinfo(of_rank).max, of_rank)
    owner = np.repeat(np.arange(sizes.size), sizes)
    table[np.arange(n_runs) - starts[owner], owner] = ranks
    won, rows = np.zeros((n_runs, sizes.size), np.uint8), ranks[:, None]
    for against in table:
        won += (rows > against).view(np.uint8)
        won += (rows >= against).view(np.uint8)
    return won


def _sums(rows: npt.NDArray[np.number], sizes: IntArray) -> FloatArray:
    """Return the sums of the rows of each algorithm, all of which have some."""
    if (sizes == sizes[0]).all():
        return np.asarray(rows.reshape(sizes.size, sizes[0], -1).sum(axis=1, dtype=np.float64))
    return np.add.reduceat(rows, np.cumsum(sizes) - sizes, axis=0, dtype=np.float64)


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


class _MeanOverOthers:
    """Each algorithm's mean probability over the others, and its variance, task by task."""

    def __init__(self, n: int) -> None:
        self.mean, self.variance, self.fourth, self.squares = np.zeros((4, n))
        self.df, self.n_single, self.others, self.others_fourth, self.edge = np.zeros((5, n))
        self.least_df = np.full(n, np.inf)

    def add(
        self, here: IntArray, m: IntArray, won: FloatArray, part: FloatArray, weight: FloatArray
    ) -> None:
        """Add a task: `won` twice the runs that each run beats, `part` the variances of pairs."""
        owner = np.repeat(np.arange(m.size), m)
        own = np.einsum("rk,rk->r", won, (weight / (2.0 * m))[owner])
        mean = _sums(own[:, None], m)[:, 0] / m
        df, rivals, share = np.maximum(m - 1.0, 1.0), m.sum() - m, weight.sum(axis=1)
        squares = _sums(np.square(own - mean[owner])[:, None], m)[:, 0]
        self.mean[here] += mean
        self.variance[here] += squares / (df * m)
        self.fourth[here] += np.square(squares / (df * m)) / df
        self.squares[here] += squares
        self.df[here] += m - 1.0
        self.n_single[here] += m == 1
        self.least_df[here] = np.minimum(self.least_df[here], df)
        of_others = np.square(weight) * part.T
        self.others[here] += of_others.sum(axis=1)
        self.others_fourth[here] += np.square(of_others) @ (1.0 / df)
        games = m * rivals
        near = (mean / share * games + 0.5) / (games + 1.0)
        self.edge[here] += np.square(share) * share_variance(near, m, rivals)

    def interval(
        self, level: float, alone: BoolArray, single: BoolArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the means and the ends of their intervals; none of single runs."""
        pooled = self.squares / np.maximum(self.df, 1.0)
        variance = self.variance + self.n_single * pooled + self.others
        fourth = self.fourth + self.n_single * np.square(pooled) + self.others_fourth
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.fmax(np.square(variance) / fourth, np.minimum(self.least_df, 1e6))
        half = _half_width(variance, df, self.edge, level)
        mean = np.where(alone, np.nan, self.mean)
        half[single] = np.nan
        return mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)


def _over_runs(samples: Samples, sizes: IntArray, level: float) -> PairwiseImprovement:
    there, n_shared, weight = _shared(sizes)
    n = len(n_shared)
    total, variance, fourth, deviations, edge = np.zeros((5, n, n))
    least_df, of_mean = np.full((n, n), np.inf), _MeanOverOthers(n)
    for runs, n_runs in zip(samples, sizes, strict=True):
        here = np.flatnonzero(n_runs)
        if here.size < 2:
            continue
        at = ... if here.size == n else np.ix_(here, here)
        m = n_runs[here]
        won = _won_twice([runs[i] for i in here.tolist()]).astype(np.float64)
        sums, df = _sums(won, m), np.maximum(m - 1.0, 1.0)[:, None]
        squares = _sums(np.square(won), m) - np.square(sums) / m[:, None]
        squares /= np.square(2.0 * m)
        part = squares / (df * m[:, None])
        product = np.outer(m, m)
        total[at] += sums / (2.0 * product)
        variance[at] += part
        fourth[at] += np.square(part) / df
        deviations[at] += squares
        least_df[at] = np.minimum(least_df[at], df)
        edge[at] += share_variance((sums / 2.0 + 0.5) / (product + 1.0), m[:, None], m)
        of_mean.add(here, m, won, part, weight[at])
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
    spread = Spread(value.copy(), variance, df, edge, _alone_on_task(sizes, n_shared))
    for (t, *_), (i, j) in spread.alone.items():
        x, y = (np.array([samples[t][one] for one in places]) for places in (i, j))
        p_value[i, j] = p_value[j, i] = mann_whitney_rows(x, y)
    i, j = np.nonzero(np.triu(~(several | several.T) & (n_shared > 1), 1))
    if i.size:
        away = _differences(samples, sizes, i, j)
        p_value[i, j] = p_value[j, i] = sign_flip_p_values(away)[0]
        spread.take_tasks(i, j, n_shared[i, j], away)
    error[np.isnan(p_value)] = np.nan
    never, single = np.all(n_shared == 0, axis=1), ~np.any(sizes > 1, axis=0)
    mean, low, high = of_mean.interval(level, never, single)
    return PairwiseImprovement(
        value, p_value, _by_holm(p_value), error, n_shared, mean, low, high, "runs", level, spread
    )


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


def _alone_on_task(sizes: IntArray, n_shared: IntArray) -> dict[tuple[int, int, int], IntArray]:
    """Return the pairs that share one task, grouped by it and by their several runs there."""
    groups: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for i, j in np.argwhere(np.triu(n_shared == 1, 1)).tolist():
        t = int(np.argmax(np.minimum(sizes[:, i], sizes[:, j])))
        if min(sizes[t, i], sizes[t, j]) > 1:
            groups.setdefault((t, int(sizes[t, i]), int(sizes[t, j])), []).append((i, j))
    return {group: np.array(pairs).T for group, pairs in groups.items()}


def _by_holm(p_value: FloatArray) -> FloatArray:
    """Return p-values of all pairs corrected by Holm's method."""
    adjusted = np.full(p_value.shape, np.nan)
    i, j = np.triu_indices(len(p_value), 1)
    adjusted[i, j] = adjusted[j, i] = holm(p_value[i, j])
    return adjusted


def _over_tasks(samples: Samples, sizes: IntArray, level: float) -> PairwiseImprovement:
    there, n_shared, weight = _shared(sizes)
    n = len(n_shared)
    i, j = np.triu_indices(n, 1)
    away = _differences(samples, sizes, i, j)
    total = np.zeros((n, n))
    total[i, j] = away.sum(axis=0)
    value = _mean_of_tasks(total - total.T + n_shared / 2.0, n_shared)
    centre, variance, df, edge = np.zeros((4, n, n))
    spread = Spread(centre, variance, df, edge, {})
    spread.take_tasks(i, j, n_shared[i, j], away)
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
    each = np.divide(of_task, share, out=np.zeros(share.shape), where=share > 0.0) + 0.5
    each = np.where(share > 0.0, each, 0.0)
    mean = np.where(met > 0, of_task.sum(axis=0) + 0.5, np.nan)
    centre, variance, df = _task_moments(met, each.sum(axis=0), np.square(each).sum(axis=0))
    half = _half_width(variance, df, 0.0, level)
    low, high = np.minimum(centre - half, mean), np.maximum(centre + half, mean)
    return PairwiseImprovement(
        value,
        p_value,
        p_adjusted,
        np.sqrt(spread.variance),
        n_shared,
        mean,
        np.clip(low, 0.0, 1.0),
        np.clip(high, 0.0, 1.0),
        "tasks",
        level,
        spread,
    )


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

    Parameters
    ----------
    away : ndarray of float, shape (tasks, pairs)
        Differences on each task; 0 where a pair has none. With up to 11 tasks all signs are taken,
        otherwise :data:`N_FLIPS` random ones from a fixed seed. Of single runs the p-value of a
        pair is that of the sign test.

    Returns
    -------
    p_value, p_adjusted : ndarray of float, shape (pairs,)
        Two-sided; `p_adjusted` by the largest statistic of all pairs.

    Examples
    --------
    >>> sign_flip_p_values(np.full((5, 1), 0.5))[0]
    array([0.0625])
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


def resampled_improvement(
    a: Strata | npt.ArrayLike,
    b: Strata | npt.ArrayLike,
    *,
    n_resamples: int,
    keys: tuple[np.uint64, np.uint64],
    higher_is_better: bool = True,
) -> FloatArray:
    """Return P(X > Y) in every resample of both algorithms, drawn with a seed for each."""
    pairs = paired_samples(as_strata(a), as_strata(b), higher_is_better)
    draws, found = [np.random.default_rng(int(key)) for key in keys], np.zeros(n_resamples)
    for x, y in pairs:
        # How often each run is drawn.
        times = [
            rng.multinomial(one.size, np.full(one.size, 1.0 / one.size), n_resamples)
            for rng, one in zip(draws, (x, y), strict=True)
        ]
        won = np.where(x[:, None] == y, 0.5, x[:, None] > y) / (x.size * y.size)
        found += np.einsum("bj,bj->b", times[0] @ won, times[1])
    return found / len(pairs)
