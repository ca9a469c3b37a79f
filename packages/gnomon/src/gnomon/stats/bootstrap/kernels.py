"""The compiled loops of the bootstrap. Importing this module loads Numba.

Draws come from a counter, not from a state that is carried along: replicate ``b`` starts a
splitmix64 sequence at ``mix(key + (b + 1) * STRIDE)``, and its i-th draw, i = 0, 1, ... over the
scores in their order, is the run ``floor(n * h / 2**32)`` of the n runs of that task, with h the
upper 32 bits of ``mix(start + (i + 1) * STRIDE)``. So any block of replicates can be computed
alone, by any thread. Such a draw is biased by less than n/2**32. Where tasks are drawn too, the
task of a slot takes one draw before those of its runs.

A replicate is a vector of weights over the sorted scores (Agarwal et al. need a sort and a gather
for each), and no array of replicates x runs x tasks ever exists.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The constants of splitmix64 (Steele, Lea and Flood 2014).
STRIDE = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)

#: A weight below this is what rounding leaves of none.
NO_WEIGHT = 1e-9

_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(cache=True, inline="always")
def mix(z: np.uint64) -> np.uint64:
    """Scramble 64 bits: the output function of splitmix64 (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> _S30)) * FIRST
    z = (z ^ (z >> _S27)) * SECOND
    return z ^ (z >> _S31)


@njit(cache=True, nogil=True)
def draw_scores(key: np.uint64, first: int, starts: I64, draw_tasks: bool, out: I64) -> None:
    """Fill `out`, (replicates, tasks, most runs), with the places of the scores that are drawn.

    What lies beyond the runs of a task is left as it is.
    """
    n_tasks = starts.size - 1
    for b in range(out.shape[0]):
        state = mix(key + np.uint64(first + b + 1) * STRIDE)
        for slot in range(n_tasks):
            t = np.int64(slot)
            if draw_tasks:
                state += STRIDE
                t = np.int64(((mix(state) >> _S32) * np.uint64(n_tasks)) >> _S32)
            begin = starts[t]
            n_runs = np.uint64(starts[t + 1] - begin)
            for run in range(n_runs):
                state += STRIDE
                out[b, slot, run] = begin + np.int64(((mix(state) >> _S32) * n_runs) >> _S32)


@njit(cache=True, nogil=True)
def resample_aggregates(
    key: np.uint64,
    first: int,
    values: F64,
    extras: F64,
    starts: I64,
    places: I64,
    ordered: F64,
    units: F64,
    cut: float,
    draw_tasks: bool,
    out: F64,
) -> None:
    """Fill `out`, (replicates, 4): mean, median, trimmed mean, mean of `extras`, from `first` on.

    `places` says where each score stands among the `ordered` ones, `units` what a score of each
    task weighs (N in all), `cut` how much weight is cut from each end.
    """
    n, n_tasks = values.size, starts.size - 1
    mass = np.empty(n)
    means = np.empty(n_tasks)
    middle = n_tasks // 2
    end = n - cut
    finite = np.isfinite(ordered[0]) and np.isfinite(ordered[n - 1])
    for b in range(out.shape[0]):
        state = mix(key + np.uint64(first + b + 1) * STRIDE)
        mass[:] = 0.0
        extra_mean = 0.0
        mean = 0.0
        for slot in range(n_tasks):
            t = np.int64(slot)
            if draw_tasks:
                state += STRIDE
                t = np.int64(((mix(state) >> _S32) * np.uint64(n_tasks)) >> _S32)
            begin = starts[t]
            n_runs = np.uint64(starts[t + 1] - begin)
            total = 0.0
            extra = 0.0
            for _ in range(n_runs):
                state += STRIDE
                pick = begin + np.int64(((mix(state) >> _S32) * n_runs) >> _S32)
                total += values[pick]
                extra += extras[pick]
                mass[places[pick]] += units[t]
            means[slot] = total / n_runs
            mean += means[slot]
            extra_mean += extra / n_runs
        out[b, 0] = mean / n_tasks
        out[b, 3] = extra_mean / n_tasks
        # Median: Hoare's FIND puts the middle mean in its place, smaller ones before it.
        lo, hi = 0, n_tasks - 1
        while lo < hi:
            pivot = means[middle]
            i, j = lo, hi
            while i <= j:
                while means[i] < pivot:
                    i += 1
                while pivot < means[j]:
                    j -= 1
                if i <= j:
                    means[i], means[j] = means[j], means[i]
                    i += 1
                    j -= 1
            if j < middle:
                lo = i
            if middle < i:
                hi = j
        center = means[middle]
        if n_tasks % 2 == 0:
            below = means[0]
            for i in range(1, middle):
                below = max(below, means[i])
            center = below + (center - below) / 2.0 if below < center else center
        out[b, 1] = center
        # Trimmed mean: pass what is cut at the low end, add up to where the high end is cut.
        i, below = 0, 0.0
        while below + mass[i] - cut <= NO_WEIGHT:
            below += mass[i]
            i += 1
        above = below + mass[i]
        kept = mass[i] if below >= cut and above < end else min(above, end) - max(below, cut)
        inside = kept * ordered[i]
        while above < end:
            i += 1
            below = above
            above += mass[i]
            if above < end:
                # Between infinite scores lie others of no weight, and that is none of infinity.
                inside += mass[i] * ordered[i] if finite or mass[i] > 0.0 else 0.0
            elif end - below > NO_WEIGHT:
                inside += (end - below) * ordered[i]
        out[b, 2] = inside / (n - 2.0 * cut)


@njit(cache=True, nogil=True)
def resample_profiles(
    key: np.uint64,
    first: int,
    values: F64,
    passed: I64,
    starts: I64,
    tau: F64,
    of_means: bool,
    draw_tasks: bool,
    out: F64,
) -> None:
    """Fill `out`, (replicates, thresholds), with the share of runs, or task means, above each.

    `passed` says how many thresholds each score is above.
    """
    n_tasks, n_tau = starts.size - 1, tau.size
    share = np.empty(n_tau + 1)
    for b in range(out.shape[0]):
        state = mix(key + np.uint64(first + b + 1) * STRIDE)
        share[:] = 0.0
        for slot in range(n_tasks):
            t = np.int64(slot)
            if draw_tasks:
                state += STRIDE
                t = np.int64(((mix(state) >> _S32) * np.uint64(n_tasks)) >> _S32)
            begin = starts[t]
            n_runs = np.uint64(starts[t + 1] - begin)
            total = 0.0
            for _ in range(n_runs):
                state += STRIDE
                pick = begin + np.int64(((mix(state) >> _S32) * n_runs) >> _S32)
                if of_means:
                    total += values[pick]
                else:
                    share[passed[pick]] += 1.0 / (n_tasks * n_runs)
            if of_means:
                low, high = 0, n_tau
                while low < high:
                    middle = (low + high) // 2
                    if tau[middle] < total / n_runs:
                        low = middle + 1
                    else:
                        high = middle
                share[low] += 1.0 / n_tasks
        above = 0.0
        for i in range(n_tau - 1, -1, -1):
            above += share[i + 1]
            out[b, i] = above


@njit(cache=True, nogil=True)
def resample_improvement(
    key_x: np.uint64,
    key_y: np.uint64,
    first: int,
    ranks_x: I64,
    starts_x: I64,
    ranks_y: I64,
    starts_y: I64,
    n_ranks: I64,
    out: F64,
) -> None:
    """Fill `out`, (replicates,), with P(X > Y) averaged over tasks, from dense ranks in each."""
    n_tasks = n_ranks.size
    most = n_ranks.max()
    counts_x = np.empty(most, np.int64)
    counts_y = np.empty(most, np.int64)
    for b in range(out.shape[0]):
        state_x = mix(key_x + np.uint64(first + b + 1) * STRIDE)
        state_y = mix(key_y + np.uint64(first + b + 1) * STRIDE)
        total = 0.0
        for t in range(n_tasks):
            n_x, n_y = starts_x[t + 1] - starts_x[t], starts_y[t + 1] - starts_y[t]
            for rank in range(n_ranks[t]):
                counts_x[rank] = 0
                counts_y[rank] = 0
            for _ in range(n_x):
                state_x += STRIDE
                draw = ((mix(state_x) >> _S32) * np.uint64(n_x)) >> _S32
                counts_x[ranks_x[starts_x[t] + np.int64(draw)]] += 1
            for _ in range(n_y):
                state_y += STRIDE
                draw = ((mix(state_y) >> _S32) * np.uint64(n_y)) >> _S32
                counts_y[ranks_y[starts_y[t] + np.int64(draw)]] += 1
            # Twice the pairs won, in whole numbers: a tie counts one, a win two.
            won, below = 0, 0
            for rank in range(n_ranks[t]):
                won += counts_x[rank] * (2 * below + counts_y[rank])
                below += counts_y[rank]
            total += won / (2.0 * n_x * n_y)
        out[b] = total / n_tasks
