"""Probability of improvement: how often a run of one algorithm beats a run of another.

On each task P(X > Y) is the share of pairs of runs in which the run of X is better, ties counting
one half (Mann and Whitney's U over the number of pairs); over tasks it is averaged (Agarwal et al.
2021). Infinite scores (censored runs) take part. :mod:`gnomon.stats.all_pairs` has the tests and
intervals of all pairs of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gnomon.scores.columns import IntArray
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import draw_counts
from gnomon.stats.strata import Strata

#: Largest number of runs for which comparing all pairs is faster than sorting.
FEW_RUNS = 64


def placements(a: Strata, b: Strata, *, higher_is_better: bool = True) -> tuple[Strata, Strata]:
    """Return for each run of two algorithms the share of the other's runs that it beats."""
    shares: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for x, y in _runs_by_task(a, b, higher_is_better):
        won = won_twice([x, y]) / (2.0 * np.array([x.size, y.size]))
        shares[0].append(won[: x.size, 1])
        shares[1].append(won[x.size :, 0])
    return replace(a, values=np.concatenate(shares[0])), replace(
        b, values=np.concatenate(shares[1])
    )


def _runs_by_task(a: Strata, b: Strata, higher_is_better: bool) -> list[list[FloatArray]]:
    """Return the runs of two algorithms, higher being better."""
    sign = 1.0 if higher_is_better else -1.0
    return [[sign * x, sign * y] for x, y in zip(a.per_task(), b.per_task(), strict=True)]


def resampled_improvement(
    a: Strata,
    b: Strata,
    *,
    n_resamples: int,
    keys: tuple[np.uint64, np.uint64],
    higher_is_better: bool = True,
) -> FloatArray:
    """Return P(X > Y) in every resample of both algorithms, drawn with a seed for each."""
    pairs = _runs_by_task(a, b, higher_is_better)
    draws, found = [np.random.default_rng(int(key)) for key in keys], np.zeros(n_resamples)
    for x, y in pairs:
        # How often each run is drawn.
        of_x, of_y = (
            draw_counts(rng, [one.size], n_resamples)
            for rng, one in zip(draws, (x, y), strict=True)
        )
        won = np.where(x[:, None] == y, 0.5, x[:, None] > y) / (x.size * y.size)
        found += np.einsum("jb,jb->b", won.T @ of_x, of_y)
    return found / len(pairs)


def wins_on_task(runs: Sequence[FloatArray]) -> FloatArray:
    """Return in how many pairs of runs on a task i is better than j, ties counting one half."""
    sizes = np.array([x.size for x in runs])
    here = np.flatnonzero(sizes)
    if here.size == sizes.size:
        return sums_of(won_twice(runs), sizes) / 2.0
    out = np.zeros((sizes.size, sizes.size))
    if here.size:
        out[np.ix_(here, here)] = wins_on_task([runs[i] for i in here.tolist()])
    return out


def won_twice(runs: Sequence[FloatArray]) -> npt.NDArray[np.integer]:
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


def sums_of(rows: npt.NDArray[np.number], sizes: IntArray) -> FloatArray:
    """Return the sums of the rows of each algorithm, all of which have some."""
    if (sizes == sizes[0]).all():
        return np.asarray(rows.reshape(sizes.size, sizes[0], -1).sum(axis=1, dtype=np.float64))
    return np.add.reduceat(rows, np.cumsum(sizes) - sizes, axis=0, dtype=np.float64)


def newcombe_interval(
    value: FloatArray, parts: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return Newcombe's (2006, method 5) interval of P(X > Y), from the parts of its variance.

    It holds those probabilities from which the value is not too far, in their own standard errors.
    """
    from scipy import special

    z = float(special.ndtri((1.0 + level) / 2.0))
    # The lower end of the share won is one minus the upper end of the share lost.
    seen = np.stack([1.0 - value, value])
    low, high = seen, np.ones(seen.shape)
    for _ in range(54):
        middle = (low + high) / 2.0
        inside = np.square(middle - seen) <= z * z * share_variance(middle, parts)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return 1.0 - high[0], high[1]


def variance_parts(m: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """Return, of a task with m runs against n, the two parts that :func:`share_variance` takes.

    Those of a mean over tasks are the sums over tasks, times the squared weights.
    """
    pairs = np.multiply(m, n)
    return np.stack([1.0 / pairs, (np.add(m, n) / 2.0 - 1.0) / pairs])


def share_variance(theta: npt.ArrayLike, parts: FloatArray) -> FloatArray:
    """Return the variance of the share of pairs won at a true probability, the same on all tasks.

    That of exponential distributions (Hanley and McNeil 1982), the sizes of both samples taken for
    their mean.
    """
    one = np.multiply(theta, np.subtract(1.0, theta))  # of one pair
    # Hanley and McNeil's two fractions on their common denominator.
    return np.asarray(one * (parts[0] + parts[1] * (1.0 + 2.0 * one) / (2.0 + one)))
