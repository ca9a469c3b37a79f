"""Local search for linear orderings, compiled. Importing this module loads Numba.

Draws come from a counter, so the same margins give the same order each time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.stats.bootstrap.kernels import STRIDE, mix

__all__ = ["climb", "search_orders"]

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
