"""Bootstrap and permutation of tournament graphs, compiled. Importing this loads Numba.

Runs are sorted once. A resample is a vector of multiplicities over the sorted runs (how often each
was drawn), so counting who wins needs no sorting again: walk upwards, and let every run win against
all that lie below. Draws follow from a counter, as in :mod:`gnomon.stats.bootstrap.kernels`, so any
block of resamples can be computed alone. The compiler makes vectors of what each run adds: over
contestants, or where these are few over resamples, which then walk side by side.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.ranking.tournament import EVEN
from gnomon.stats.bootstrap.kernels import STRIDE, mix

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
#: Numbers of pairs won, in bytes where so many do.
Count: TypeAlias = npt.NDArray[Any]

_S32 = np.uint64(32)
#: What a number of won pairs is worth is looked up if no more such numbers than these can occur.
_MOST_WON = 1024
#: Up to here they are counted in bytes: of a thousand contestants more would not stay in the cache.
_MOST_NARROW = 255
#: Rows of whole vectors of 32 bytes, which the compiler adds without a remainder.
_LANES = 32
#: So few contestants' counts stay in the nearest cache for `_LANES` resamples at a time.
_FEW = 12


@njit(cache=True, nogil=True)
def resample_edges(
    key: np.uint64,
    first: int,
    permute: bool,
    draw_grounds: bool,
    owner: I32,
    tie_end: I64,
    places: I64,
    cell_starts: I64,
    ground_starts: I64,
    weights: F64,
    logs: F64,
    cap: float,
    odds: F64,
    chances: F64,
    total: F64,
) -> None:
    """Resample or permute edges: fill `odds`, `chances` and `total`, (replicates, n, n).

    From replicate `first` on. They are the weighted means over grounds of the log-odds and of P(i
    better than j), and the sums of the weights. Chances are left out if there is no place for them;
    of weights that no drawn ground changes there is one sum for all replicates. `permute` deals the
    runs of a ground out to its contestants at random instead of drawing each one's own with
    replacement; `draw_grounds` draws the grounds too. `weights` is (grounds, n, n), or (grounds, 1,
    1) of all pairs that met; ``logs[k]`` is that of k/2 won pairs, smoothed.
    """
    n_grounds, n = weights.shape[0], odds.shape[1]
    n_runs_most = np.diff(ground_starts).max()
    worth = np.empty((n_grounds, 2, _MOST_WON))
    # How many numbers of won pairs the pairs of a ground have in common; 0: they are not alike.
    numbers = np.empty(n_grounds, np.int64)
    for ground in range(n_grounds):
        cells = cell_starts[ground * n : ground * n + n + 1]
        numbers[ground] = _look_up(weights[ground], cells, logs, cap, worth[ground])
    if n <= _FEW and not permute and not draw_grounds:
        order = np.empty(places.size, np.uint32)
        for ground in range(n_grounds):
            begin = ground_starts[ground]
            for k in range(ground_starts[ground + 1] - begin):
                order[places[begin + k]] = k
        _resample_abreast(
            key, first, owner, tie_end, order, cell_starts, ground_starts, weights, logs, cap,
            numbers, worth, odds, chances, total[0],
        )  # fmt: skip
        return
    times = np.empty(n_runs_most, np.int32)
    who = np.empty(n_runs_most, np.int32)
    # Places that cannot be negative are not tested for it: hence the unsigned ones.
    drawn = np.empty(n_runs_most + 1, np.uint64)
    untied = np.ones(n_grounds, np.bool_)
    for ground in range(n_grounds):
        for run in range(ground_starts[ground], ground_starts[ground + 1]):
            untied[ground] &= tie_end[run] == run + 1
    width = (n + _LANES - 1) // _LANES * _LANES
    below = np.zeros((2, width), np.int32)
    wins = np.zeros((n, width), np.int32)
    narrow_below = np.zeros((2, width), np.uint8)
    narrow_wins = np.zeros((n, width), np.uint8)
    n_of = np.zeros(n, np.int64)
    for b in range(odds.shape[0]):
        state = mix(key + np.uint64(first + b + 1) * STRIDE)
        odds[b, :, :] = 0.0
        chance = chances[b : b + 1]
        chance[:, :, :] = 0.0
        sums = total[b : b + 1] if draw_grounds else total[:1]
        weigh = draw_grounds or b == 0
        if weigh:
            sums[:, :, :] = 0.0
        for slot in range(n_grounds):
            g = np.int64(slot)
            if draw_grounds:
                state += STRIDE
                g = np.int64(((mix(state) >> _S32) * np.uint64(n_grounds)) >> _S32)
            begin = ground_starts[g]
            size = ground_starts[g + 1] - begin
            for p in range(size):
                who[p] = owner[begin + p]
                times[p] = 1 if permute else 0
            if permute:
                state = _deal(state, who[:size])
            else:
                cells = cell_starts[g * n : g * n + n + 1]
                state = _draw(state, cells, places, begin, times)
            # More than a third of the runs are not drawn, and nobody could foretell which: they are
            # left out here without a branch, which saves a fifth of the whole time.
            n_drawn = 0
            for p in range(size):
                drawn[n_drawn] = p
                n_drawn += int(times[p] > 0)
            runs, ties = drawn[:n_drawn], tie_end[begin:]
            if 0 < numbers[g] <= _MOST_NARROW:
                _count(untied[g], runs, who, times, ties, narrow_below, narrow_wins)
                _add_worth(narrow_wins, worth[g], odds[b], chance)
            else:
                _count(untied[g], runs, who, times, ties, below, wins)
                if numbers[g] > 0:
                    _add_worth(wins, worth[g], odds[b], chance)
                else:
                    for i in range(n):
                        n_of[i] = cell_starts[g * n + i + 1] - cell_starts[g * n + i]
                    _add_edges(wins, n_of, weights[g], logs, cap, odds[b], chance, sums[0], weigh)
            if weigh and numbers[g] > 0:
                _add_weight(weights[g, 0, -1], sums[0])
        _finish(odds[b], chance, sums[0])


@njit(cache=True, nogil=True)
def _deal(state: np.uint64, who: I32) -> np.uint64:
    """Shuffle the owners of a ground's runs; return the state of the draws after it."""
    for p in range(who.size - 1, 0, -1):
        state += STRIDE
        q = np.int64(((mix(state) >> _S32) * np.uint64(p + 1)) >> _S32)
        who[p], who[q] = who[q], who[p]
    return state


@njit(cache=True, nogil=True)
def _draw(state: np.uint64, cells: I64, places: I64, begin: int, times: I32) -> np.uint64:
    """Count how often each run is drawn from its own cell; return the state of the draws after."""
    for i in range(cells.size - 1):
        cell = np.uint64(cells[i])
        n_runs = np.uint64(cells[i + 1]) - cell
        for _ in range(np.int64(n_runs)):
            state += STRIDE
            draw = ((mix(state) >> _S32) * n_runs) >> _S32
            times[np.uint64(places[cell + draw]) - np.uint64(begin)] += 1
    return state


@njit(cache=True, nogil=True)
def _look_up(weights: F64, cells: I64, logs: F64, cap: float, worth: F64) -> int:
    """Return how many pairs may be won, in halves, if all have one weight and as many runs.

    If so, `worth` gets the weighted log-odds and chance of each number of won pairs; else, or if
    they are too many, 0 is returned.
    """
    n_runs, weight = cells[1] - cells[0], weights[0, -1]
    both = 2 * n_runs * n_runs
    if not 0 < both < worth.shape[1] or not weight > 0.0 or np.any(np.diff(cells) != n_runs):
        return 0
    for i in range(len(weights)):
        for j in range(i):
            if weights[i, j] != weight:
                return 0
    for won in range(both + 1):
        edge = min(max(logs[won] - logs[both - won], -cap), cap)
        worth[0, won] = weight * edge
        worth[1, won] = weight * won / both
    return int(both)


@njit(cache=True, nogil=True)
def _add_worth(wins: Count, worth: F64, odds: F64, chance: F64) -> None:
    """Do what :func:`_add_edges` does, to the bit, where all pairs are alike; thrice as fast."""
    for i in range(1, len(odds)):
        for j in range(i):
            odds[i, j] += worth[0, np.uint64(wins[i, j])]
        for one in chance:
            for j in range(i):
                one[i, j] += worth[1, np.uint64(wins[i, j])]


@njit(cache=True, nogil=True)
def _add_weight(weight: float, total: F64) -> None:
    for i in range(1, len(total)):
        for j in range(i):
            total[i, j] += weight


@njit(cache=True, nogil=True)
def _add_edges(
    wins: I32,
    n_of: I64,
    weights: F64,
    logs: F64,
    cap: float,
    odds: F64,
    chance: F64,
    total: F64,
    weigh: bool,
) -> None:
    """Add a ground's weighted log-odds and chances of all pairs, below the diagonal."""
    each = len(weights) > 1
    for i in range(1, n_of.size):
        for j in range(i):
            both = 2 * n_of[i] * n_of[j]
            weight = weights[i, j] if each else weights[0, 0]
            if both > 0 and weight > 0.0:
                won = wins[i, j]
                edge = logs[np.uint64(won)] - logs[np.uint64(both - won)]
                edge = min(max(edge, -cap), cap)
                odds[i, j] += weight * edge
                for one in chance:
                    one[i, j] += weight * won / both
                if weigh:
                    total[i, j] += weight


@njit(cache=True, nogil=True)
def _finish(odds: F64, chance: F64, total: F64) -> None:
    """Make means of the sums over grounds, and fill in the other half."""
    for i in range(len(odds)):
        for j in range(i):
            weight = total[i, j]
            total[j, i] = weight
            # As in the graph of the data, what is even but for rounding is even.
            odds[i, j] = _mean(odds[i, j], weight, 0.0) if weight > 0.0 else 0.0
            odds[j, i] = -odds[i, j]
            for one in chance:
                one[i, j] = _mean(one[i, j], weight, 0.5) if weight > 0.0 else np.nan
                one[j, i] = 1.0 - one[i, j]
        for one in chance:
            one[i, i] = 0.5


@njit(cache=True, nogil=True)
def _mean(total: float, weight: float, even: float) -> float:
    mean = total / weight
    return even if abs(mean - even) <= EVEN else mean


@njit(cache=True, nogil=True)
def _count(
    untied: bool, drawn: U64, who: I32, times: I32, tie_end: I64, below: Count, wins: Count
) -> None:
    """Count twice the pairs that each won against each before it: the lower half of `wins`."""
    wins[:, :] = 0
    below[:, :] = 0
    if untied:
        _count_untied(drawn, who, times, below[0], below[1], wins)
    else:
        _count_tied(drawn, who, times, tie_end, below[0], wins)


@njit(cache=True, nogil=True)
def _count_untied(
    drawn: U64, who: I32, times: I32, lower: Count, upper: Count, wins: Count
) -> None:
    """Add twice the pairs won to `wins`, (n, width), where no two runs are equal.

    Two walks at once, from the bottom and from the middle: each waits for its own sums, which it
    wrote a moment ago one by one and reads as vectors, and the other fills the time (a fifth of the
    whole). What one wins against itself is not asked for.
    """
    middle = (drawn.size + 1) // 2
    for p in drawn[:middle]:
        upper[np.uint64(who[p])] += 2 * times[p]
    for k in range(middle):
        _win(drawn[k], who, times, lower, wins, 2)
        if middle + k < drawn.size:
            _win(drawn[middle + k], who, times, upper, wins, 2)


@njit(cache=True, nogil=True)
def _win(run: np.uint64, who: I32, times: I32, below: Count, wins: Count, counts: int) -> None:
    """Let a run win against all that lie below it, then lie below all that follow.

    Only those before its owner are asked for, and what fills up the last vector.
    """
    row, m = np.uint64(who[run]), times[run]
    for i in range(np.int64(row + np.uint64(_LANES - 1)) // _LANES * _LANES):
        wins[row, i] += m * below[i]
    below[row] += counts * m


@njit(cache=True, nogil=True)
def _count_tied(drawn: U64, who: I32, times: I32, tie_end: I64, below: Count, wins: Count) -> None:
    """Do the same where runs may be equal: what lies below counts twice, what is equal once."""
    start = 0
    while start < drawn.size:
        end = start + 1
        tied = tie_end[drawn[start]]
        while end < drawn.size and tie_end[drawn[end]] == tied:
            end += 1
        if end == start + 1:
            _win(drawn[start], who, times, below, wins, 2)
        else:
            for p in drawn[start:end]:
                below[np.uint64(who[p])] += times[p]
            for p in drawn[start:end]:
                _win(p, who, times, below, wins, 0)
            for p in drawn[start:end]:
                below[np.uint64(who[p])] += times[p]
        start = end


@njit(cache=True, nogil=True)
def _resample_abreast(
    key: np.uint64,
    first: int,
    owner: I32,
    tie_end: I64,
    order: U32,
    cell_starts: I64,
    ground_starts: I64,
    weights: F64,
    logs: F64,
    cap: float,
    numbers: I64,
    worth: F64,
    odds: F64,
    chances: F64,
    total: F64,
) -> None:
    """Resample the runs of few contestants to the same bits: many replicates walk side by side.

    All walk through the same runs and ties, so that the compiler makes vectors over replicates, the
    last axis of the counts. `order` tells where among its ground's runs, cell by cell, a run is.
    """
    n = odds.shape[1]
    n_runs_most = np.diff(ground_starts).max()
    draws = np.empty(n_runs_most, np.uint32)
    times = np.empty((n_runs_most, _LANES), np.uint16)
    below = np.empty((n, _LANES), np.int32)
    wins = np.empty((n, n, _LANES), np.int32)
    states = np.empty(_LANES, np.uint64)
    odds[:, :, :] = 0.0
    chances[:, :, :] = 0.0
    total[:, :] = 0.0
    for b in range(0, odds.shape[0], _LANES):
        lanes = min(_LANES, odds.shape[0] - b)
        for lane in range(lanes):
            states[lane] = mix(key + np.uint64(first + b + lane + 1) * STRIDE)
        for g in range(numbers.size):
            begin, end = ground_starts[g], ground_starts[g + 1]
            cells = cell_starts[g * n : g * n + n + 1] - begin
            times[: end - begin] = 0
            for i in range(n):
                cell = times[cells[i] : cells[i + 1]]
                for lane in range(lanes):
                    states[lane] = _draw_abreast(states[lane], draws, cell, lane)
            ties = tie_end[begin:end] - begin
            _count_abreast(owner[begin:end], ties, order[begin:end], times, below, wins)
            for lane in range(lanes):
                chance = chances[b + lane : b + lane + 1]
                won = wins[:, :, lane].copy()
                if numbers[g] > 0:
                    _add_worth(won, worth[g], odds[b + lane], chance)
                else:
                    weigh = b == 0 and lane == 0
                    sizes = np.diff(cells)
                    _add_edges(
                        won, sizes, weights[g], logs, cap, odds[b + lane], chance, total, weigh
                    )
            if b == 0 and numbers[g] > 0:
                _add_weight(weights[g, 0, -1], total)
        for lane in range(lanes):
            _finish(odds[b + lane], chances[b + lane : b + lane + 1], total)


@njit(cache=True, nogil=True)
def _draw_abreast(state: np.uint64, draws: U32, times: U16, lane: int) -> np.uint64:
    """Do what :func:`_draw` does, in one cell of one lane; the compiler makes vectors of draws."""
    n_runs = np.uint64(len(times))
    for k in range(len(times)):
        draws[k] = ((mix(state + np.uint64(k + 1) * STRIDE) >> _S32) * n_runs) >> _S32
    for k in range(len(times)):
        times[np.uint64(draws[k]), lane] += np.uint16(1)
    return state + n_runs * STRIDE


@njit(cache=True, nogil=True)
def _count_abreast(owner: I32, tie_end: I64, order: U32, times: U16, below: I32, wins: I32) -> None:
    """Do what :func:`_count_tied` does for each lane."""
    wins[:, :, :] = 0
    below[:, :] = 0
    start = 0
    while start < owner.size:
        end = tie_end[start]
        counts = 2 if end == start + 1 else 1
        if counts == 1:
            for p in range(start, end):
                _lie_abreast(np.uint64(owner[p]), times[order[p]], below, 1)
        for p in range(start, end):
            _win_abreast(np.uint64(owner[p]), times[order[p]], below, wins)
        for p in range(start, end):
            _lie_abreast(np.uint64(owner[p]), times[order[p]], below, counts)
        start = end


@njit(cache=True, nogil=True)
def _win_abreast(row: np.uint64, times: U16, below: I32, wins: I32) -> None:
    for j in range(row):
        for lane in range(_LANES):
            wins[row, j, lane] += np.int32(times[lane]) * below[j, lane]


@njit(cache=True, nogil=True)
def _lie_abreast(row: np.uint64, times: U16, below: I32, counts: int) -> None:
    for lane in range(_LANES):
        below[row, lane] += np.int32(counts) * np.int32(times[lane])
