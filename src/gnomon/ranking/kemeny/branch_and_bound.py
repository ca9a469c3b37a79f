"""Branch and bound for linear orderings: from both ends, with a bound on what is left between.

Whoever stands first (or last) of those in the middle is tried, one after another. That fixes all
pairs of that one at once, which lowers the limit far more than fixing one pair does. And what the
middle can still be worth depends only on who is in it, so of all ways to arrange the others around
the same middle only the best is followed: there are few middles, though there are many orders.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.ranking.kemeny.linear_ordering import improved, worth
from gnomon.scores.table import FloatArray

#: What is lost by less is rounding.
SLIGHT = 1e-9


@dataclass(frozen=True)
class _Middle:
    """Those that are not yet in order, with all others around them.

    Parameters
    ----------
    who : ndarray of int
        Those in the middle, ascending.
    front, back : tuple of int
        Those before and behind them.
    outside : float
        What all pairs are worth of which one is not in the middle.
    limit : float
        No order with these in the middle is worth more.
    """

    who: npt.NDArray[np.int64]
    front: tuple[int, ...]
    back: tuple[int, ...]
    outside: float
    limit: float


class _Limits:
    """What middles can be worth: each limit is found from that of the one before it."""

    def __init__(self, margins: FloatArray) -> None:
        n = len(margins)
        self._margins = np.ascontiguousarray(margins, dtype=np.float64)
        self._taken = np.zeros((n, n, n), dtype=np.float32)
        self._ahead = np.zeros((n, n), dtype=np.float32)

    def of(self, who: npt.NDArray[np.int64], enough: float) -> tuple[float, FloatArray]:
        """Return the limit of some, as low as it gets or as is enough, and those without each."""
        from gnomon.ranking.kemeny.linear_ordering_kernels import limit_of_middle

        without = np.empty(len(who))
        args = self._margins, who, self._taken, self._ahead, enough, without
        return float(limit_of_middle(*args)), without

    def in_line(self, who: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return some as they stand in the solution that was found with their limit."""
        above = self._ahead[np.ix_(who, who)]
        return who[np.argsort(above.sum(axis=0) - above.sum(axis=1), kind="stable")]


def best_order(
    margins: FloatArray, order: list[int], limit: float, least: float, deadline: float
) -> tuple[list[int], float]:
    """Find the best linear ordering by branch and bound, and the bound that no ordering exceeds.

    Parameters
    ----------
    margins : ndarray of float, shape (n, n)
        Antisymmetric, the largest about 1.
    order : list of int
        A good one: only what may be better is looked at.
    limit : float
        What no order exceeds, as far as is known.
    least : float
        By what a better one is better at least; what gains less is not looked for.
    deadline : float
        By the clock of :func:`time.monotonic`; then the best order so far is returned.

    Notes
    -----
    Layer by layer, each of middles with one fewer: so the best way to arrange the others around a
    middle is known before it is looked at.
    """
    limits = _Limits(margins)
    everyone, best = np.arange(len(margins)), worth(order, margins)
    layer = {everyone.tobytes(): _Middle(everyone, (), (), 0.0, limit)}
    while layer:
        narrower: dict[bytes, _Middle] = {}
        waiting = list(layer.values())
        for at, middle in enumerate(waiting):
            if time.monotonic() >= deadline:
                still = [*waiting[at:], *narrower.values()]
                return order, max(best, *(one.limit for one in still))
            inside, without = limits.of(middle.who, best + least - middle.outside)
            if middle.outside + inside <= best + least:
                continue
            other = improved([*middle.front, *limits.in_line(middle.who), *middle.back], margins)
            if worth(other, margins) > best:
                order, best = other, worth(other, margins)
            for child in _children(middle, without, margins, best + least):
                _follow(narrower, child)
        layer = narrower
    return order, best


def _follow(layer: dict[bytes, _Middle], middle: _Middle) -> None:
    """Add a middle to a layer, unless the same ones stand there, better arranged around."""
    same = layer.get(middle.who.tobytes())
    if same is None or same.outside < middle.outside:
        layer[middle.who.tobytes()] = middle


def _children(
    middle: _Middle, without: FloatArray, margins: FloatArray, known: float
) -> Iterator[_Middle]:
    """Yield the middles with one fewer that an order better than what is known may have.

    One goes to the front, or one goes to the back: that side on which fewer can.
    """
    over = margins[np.ix_(middle.who, middle.who)].sum(axis=1)
    sides = []
    for side in (1.0, -1.0):
        limits = middle.outside + side * over + without
        can = np.flatnonzero((limits > known) & _stays(middle, margins, side))
        sides.append((len(can), side, can, limits))
    _, side, can, limits = min(sides, key=lambda s: s[0])
    for k in can.tolist():
        one, who = int(middle.who[k]), np.delete(middle.who, k)
        outside = middle.outside + side * float(over[k])
        front, back = middle.front, middle.back
        front, back = ((*front, one), back) if side > 0 else (front, (one, *back))
        yield _Middle(who, front, back, outside, float(limits[k]))


def _stays(middle: _Middle, margins: FloatArray, side: float) -> npt.NDArray[np.bool_]:
    """Return who may stand at the front (side 1) or back (-1) of a middle, by single moves.

    In a best order it gains nothing to move that one past all others of the middle, nor further,
    nor past the last ones that came to the same end.
    """
    near, beyond = list(middle.front[::-1]), list(middle.back)
    if side < 0.0:
        near, beyond = beyond, near
    ahead = side * margins[middle.who]
    past = ahead[:, middle.who].sum(axis=1, keepdims=True)
    further = past + np.cumsum(ahead[:, beyond], axis=1)
    nearer = -np.cumsum(ahead[:, near], axis=1)
    gains_nothing = np.hstack([past, further, nearer]) >= -SLIGHT
    return np.asarray(gains_nothing.all(axis=1))
