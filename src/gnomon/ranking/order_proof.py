"""Which order is the best: settled from both ends, with a limit on what stays open in the middle.

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

from gnomon.ranking.linear_ordering import OrderProgram, improved, worth
from gnomon.scores.table import FloatArray

__all__ = ["best_order"]

#: From how many places patterns are looked for, among all, and among those in the middle.
STARTS, STARTS_INSIDE = 5000, 500
#: What is lost by less is rounding.
SLIGHT = 1e-9


@dataclass(frozen=True)
class _Middle:
    """Those that are not yet in order, with all others around them.

    Parameters
    ----------
    who : ndarray of int
        Those in the middle.
    front, back : tuple of int
        Those before and behind them.
    outside : float
        What all pairs are worth of which one is not in the middle.
    limit : float
        No order with these in the middle is worth more.
    wider : OrderProgram
        Of these and one more.
    gone : int
        Where that one is in it; -1 if the program is that of the middle itself.
    """

    who: npt.NDArray[np.int64]
    front: tuple[int, ...]
    back: tuple[int, ...]
    outside: float
    limit: float
    wider: OrderProgram
    gone: int

    def program(self) -> OrderProgram:
        return self.wider if self.gone < 0 else self.wider.without(self.gone)


def best_order(
    program: OrderProgram, order: list[int], least: float, deadline: float
) -> tuple[list[int], float]:
    """Return the best order, and what no order exceeds.

    Parameters
    ----------
    program : OrderProgram
        Of all that are to be ordered, relaxed.
    order : list of int
        A good one: only what may be better is looked at.
    least : float
        By what a better one is better at least; what gains less is not looked for.
    deadline : float
        By the clock of :func:`time.monotonic`; then the best order so far is returned.

    Notes
    -----
    Layer by layer, each of middles with one fewer: so the best way to arrange the others around a
    middle is known before it is looked at.
    """
    margins = program.margins
    everyone = np.arange(len(margins))
    layer = {everyone.tobytes(): _Middle(everyone, (), (), 0.0, program.limit, program, -1)}
    while layer:
        narrower: dict[bytes, _Middle] = {}
        waiting = list(layer.values())
        for at, middle in enumerate(waiting):
            if time.monotonic() >= deadline:
                still = [*waiting[at:], *narrower.values()]
                return order, max(worth(order, margins), *(one.limit for one in still))
            inside = _bounded(middle, worth(order, margins) + least, deadline)
            order = max(order, _rounded(middle, inside, margins), key=lambda o: worth(o, margins))
            known = worth(order, margins) + least
            if middle.outside + inside.limit > known:
                for child in _children(middle, inside, margins, known):
                    _follow(narrower, child)
        layer = narrower
    return order, worth(order, margins)


def _follow(layer: dict[bytes, _Middle], middle: _Middle) -> None:
    """Add a middle to a layer, unless the same ones stand there, better arranged around."""
    same = layer.get(middle.who.tobytes())
    if same is None or same.outside < middle.outside:
        layer[middle.who.tobytes()] = middle


def _bounded(middle: _Middle, known: float, deadline: float) -> OrderProgram:
    """Return the program of a middle, its limit as low as it gets, or as it need be."""
    program = middle.program()
    enough = known - middle.outside
    program.relaxed(enough, deadline)
    program.tightened(enough, deadline, STARTS if middle.gone < 0 else STARTS_INSIDE)
    return program


def _rounded(middle: _Middle, program: OrderProgram, margins: FloatArray) -> list[int]:
    """Return the order that a solution comes next to."""
    inside = middle.who[np.argsort(-program.ahead.sum(axis=1), kind="stable")]
    return improved([*middle.front, *inside, *middle.back], margins)


def _children(
    middle: _Middle, program: OrderProgram, margins: FloatArray, known: float
) -> Iterator[_Middle]:
    """Yield the middles with one fewer that an order better than what is known may have.

    One goes to the front, or one goes to the back: that side on which fewer can.
    """
    sides = []
    for side in (1.0, -1.0):
        limits = middle.outside + program.limit + np.minimum(side * program.price, 0.0).sum(axis=1)
        can = np.flatnonzero((limits > known) & _stays(middle, margins, side))
        # How many places it takes, in the solution, to bring one to the end.
        far = 0.5 * (len(middle.who) - 1) - side * program.ahead.sum(axis=1)
        sides.append((float(np.exp(-far[can] / 4.0).sum()), side, can, limits))
    _, side, can, limits = min(sides, key=lambda s: s[0])
    for k in can.tolist():
        one, who = int(middle.who[k]), np.delete(middle.who, k)
        outside = middle.outside + side * float(margins[one, who].sum())
        front, back = middle.front, middle.back
        front, back = ((*front, one), back) if side > 0 else (front, (one, *back))
        yield _Middle(who, front, back, outside, float(limits[k]), program, k)


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
