"""Local search and dual bounds for linear orderings, compiled. Importing this module loads Numba.

Draws of the local search come from a counter, so the same margins give the same order each time.

The bound: take an amount d from each of three margins around a circle, m_ij, m_jk and m_ki. An
order has at least one of these pairs the wrong way round, so what was taken is worth d to it at
most. Hence no order is worth more than ``sum |d| + sum |what is left of the margins|``, whatever is
taken from whichever circles (the other way around where d is negative). The least of these limits
is that of the linear program in which no three run in a circle. A first-order method comes near it,
from what was taken in a similar case, in a hundredth of the time of a solver that begins anew.

Chambolle and Pock (2011), A first-order primal-dual algorithm for convex problems with applications
to imaging, Journal of Mathematical Imaging and Vision 40.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.stats.bootstrap.kernels import STRIDE, mix

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_S32 = np.uint64(32)
#: What gains less is rounding.
_LEAST = 1e-9


@njit(cache=True, nogil=True)
def _below(state: np.uint64, n: int) -> int:
    # An unsigned number would make a float of what it is added to.
    return int(np.int64(((mix(state) >> _S32) * np.uint64(n)) >> _S32))


@njit(cache=True, nogil=True)
def _moved(order: I64, at: int, to: int) -> None:
    """Take the one at a place to another, all between making room."""
    one = order[at]
    step = 1 if to > at else -1
    while at != to:
        order[at] = order[at + step]
        at += step
    order[to] = one


@njit(cache=True, nogil=True)
def climb(order: I64, margins: F64) -> float:
    """Move single ones to their best places until no move gains, in place; return the gain."""
    whole, moved = 0.0, True
    while moved:
        moved = False
        for at in range(order.size):
            one, best, to = order[at], _LEAST, at
            gain = 0.0
            for k in range(at - 1, -1, -1):
                gain += 2.0 * margins[one, order[k]]
                if gain > best:
                    best, to = gain, k
            gain = 0.0
            for k in range(at + 1, order.size):
                gain -= 2.0 * margins[one, order[k]]
                if gain > best:
                    best, to = gain, k
            if to != at:
                _moved(order, at, to)
                whole += best
                moved = True
    return whole


@njit(cache=True, nogil=True)
def search_orders(order: I64, margins: F64, n_kicks: int, n_moves: int) -> float:
    """Improve an order in place by iterated local search; return the gain.

    The search goes on from an order that is no worse, and starts anew after 2,000 kicks in vain.
    """
    gain = climb(order, margins)
    best, here, at = gain, order.copy(), gain
    state, stale, n = np.uint64(0), 0, order.size
    for _ in range(n_kicks):
        kicked, change = here.copy(), 0.0
        if stale == 2000:
            stale = 0
            for k in range(n - 1, 0, -1):
                state += STRIDE
                j = _below(state, k + 1)
                kicked[k], kicked[j] = kicked[j], kicked[k]
            at = -np.inf
        for _ in range(n_moves):
            state += STRIDE
            one = _below(state, n)
            state += STRIDE
            _moved(kicked, one, _below(state, n))
        climb(kicked, margins)
        change = _difference(kicked, order, margins)
        if best + change >= at - _LEAST:
            stale = 0 if best + change > at + _LEAST else stale + 1
            here, at = kicked, best + change
        else:
            stale += 1
        if change > _LEAST:
            order[:] = kicked
            best += change
    return best


@njit(cache=True, nogil=True)
def _difference(one: I64, other: I64, margins: F64) -> float:
    """Return what one order is worth more than another."""
    more = 0.0
    for i in range(one.size):
        for j in range(i):
            more += margins[one[j], one[i]] - margins[other[j], other[i]]
    return more


#: So many times longer are the steps of what is ahead than those of what is taken. Measured on
#: forty of mere noise: of 3 to 400 the least time.
_RATIO = 25.0
#: After so many steps is looked whether it goes on, and at most so many are made.
_ROUND, _MOST = 10, 1000
#: It goes on if so many more rounds like the last one would bring the limit low enough.
_PATIENCE = 30.0
#: Steps are made in single precision; the limit is computed in double from what they came to.
_SINGLE = 1e-4


@njit(cache=True, nogil=True)
def limit_of_middle(
    margins: F64, who: I64, taken: F32, ahead: F32, enough: float, without: F64
) -> float:
    """Return an upper bound on the worth of orderings of some, and fill in that without each.

    Parameters
    ----------
    margins : ndarray of float64, shape (n, n)
        Antisymmetric, the largest about 1.
    who : ndarray of int64, shape (k,)
        Those in the middle, ascending.
    taken : ndarray of float32, shape (n, n, n)
        What was taken from the circles i, j, k, for i < j < k, in a similar case; then in this one.
    ahead : ndarray of float32, shape (n, n)
        How far each was ahead of each, for i < j, likewise.
    enough : float
        A limit as low as that is not lowered further.
    without : ndarray of float64, shape (k,)
        Is filled, unless the limit is low enough.
    """
    k = who.size
    m, x = np.empty((k, k), dtype=np.float32), np.empty((k, k), dtype=np.float32)
    d = np.empty(k * (k - 1) * (k - 2) // 6, dtype=np.float32)
    at = 0
    for a in range(k):
        for b in range(a + 1, k):
            m[a, b], x[a, b] = margins[who[a], who[b]], ahead[who[a], who[b]]
            for c in range(b + 1, k):
                d[at] = taken[who[a], who[b], who[c]]
                at += 1
    _lower(m, x, d, np.float32(enough - _SINGLE))
    left = np.empty((k, k))
    at = 0
    for a in range(k):
        for b in range(a + 1, k):
            left[a, b], ahead[who[a], who[b]] = margins[who[a], who[b]], x[a, b]
    for a in range(k):
        for b in range(a + 1, k):
            for c in range(b + 1, k):
                taken[who[a], who[b], who[c]] = d[at]
                left[a, b] -= d[at]
                left[b, c] -= d[at]
                left[a, c] += d[at]
                at += 1
    limit = float(np.abs(d).astype(np.float64).sum())
    for a in range(k):
        for b in range(a + 1, k):
            limit += abs(left[a, b])
    if limit > enough:
        _leave_out(limit, d, left, without)
    return limit


@njit(cache=True, nogil=True)
def _lower(m: F32, x: F32, d: F32, enough: np.float32) -> None:
    """Lower the limit by steps in `d` and `x`, until it is low enough or that takes too long."""
    k = len(m)
    step = np.float32(_RATIO / math.sqrt(k))
    back = np.float32(1.0 / (_RATIO * math.sqrt(k)))  # k: the square of the norm of all circles
    y, left = x.copy(), np.empty((k, k), dtype=np.float32)
    before = np.float32(np.inf)
    for n_steps in range(1, _MOST + 1):
        limit = _step(m, x, y, d, left, step, back)
        if limit <= enough:
            break
        if n_steps % _ROUND == 0:
            if n_steps > _ROUND and _PATIENCE * (before - limit) < limit - enough:
                break
            before = min(before, limit)


@njit(cache=True, nogil=True, fastmath=True)
def _step(
    m: F32, x: F32, y: F32, d: F32, left: F32, step: np.float32, back: np.float32
) -> np.float32:
    """Take from circles along `y`, move `x` along what is left; return the limit."""
    k = len(m)
    one, limit, at = np.float32(1.0), np.float32(0.0), 0
    left[:] = m
    for a in range(k):
        for b in range(a + 1, k):
            along, whole = y[a, b], np.float32(0.0)
            for c in range(b + 1, k):
                v = d[at + c - b - 1] + back * (along + y[b, c] - y[a, c])
                v -= min(max(v, -back), back)
                d[at + c - b - 1] = v
                whole += v
                limit += abs(v)
                left[b, c] -= v
                left[a, c] += v
            at += k - 1 - b
            left[a, b] -= whole
    for a in range(k):
        for b in range(a + 1, k):
            limit += abs(left[a, b])
            moved = min(max(x[a, b] + step * left[a, b], -one), one)
            y[a, b] = np.float32(2.0) * moved - x[a, b]
            x[a, b] = moved
    return limit


@njit(cache=True, nogil=True)
def _leave_out(limit: float, d: F32, left: F64, without: F64) -> None:
    """Fill in the limit without each: its pairs are gone, and its circles no longer taken from."""
    k, at = without.size, 0
    without[:] = limit
    for a in range(k):
        for b in range(a + 1, k):
            without[a] -= abs(left[a, b])
            without[b] -= abs(left[a, b])
            for c in range(b + 1, k):
                v = np.float64(d[at])
                at += 1
                if v != 0.0:
                    without[a] += abs(left[b, c] + v) - abs(left[b, c]) - abs(v)
                    without[b] += abs(left[a, c] - v) - abs(left[a, c]) - abs(v)
                    without[c] += abs(left[a, b] + v) - abs(left[a, b]) - abs(v)
