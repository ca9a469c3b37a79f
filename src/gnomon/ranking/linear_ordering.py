"""Orders of a few things, from two sides: by moving one at a time, and by linear programs.

The margin of i over j is what it is worth that i stands before j.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.ranking.order_patterns import CIRCLE, PATTERNS
from gnomon.scores.table import FloatArray

__all__ = ["OrderProgram", "improved", "order_search", "worth"]

IntArray = npt.NDArray[np.int64]

#: How often a search is kicked, for each of those to be ordered.
KICKS = 250
#: How many circles, and how many bounds of each pattern, are asked for at once.
MOST_CIRCLES, MOST_ASKED = 1000, 100
#: Bounds of patterns are asked for as long as a round takes this share of the gap away.
LEAST_GAIN = 0.05
#: What exceeds its bound by less is rounding.
SLIGHT = 1e-6


def worth(order: Sequence[int], margins: FloatArray) -> float:
    """Return the sum of the margins of all pairs as they stand in an order."""
    return float(np.triu(margins[np.ix_(order, order)], 1).sum())


def improved(order: Sequence[int], margins: FloatArray) -> list[int]:
    """Return an order that no move of a single one makes better, from the given one on.

    Examples
    --------
    >>> improved([0, 1, 2], np.array([[0.0, -1, 0], [1, 0, 2], [0, -2, 0]]))
    [1, 0, 2]
    """
    from gnomon.ranking.order_kernels import climb

    found = np.array(order, dtype=np.int64)
    climb(found, np.ascontiguousarray(margins, dtype=np.float64))
    return [int(one) for one in found]


def order_search(order: Sequence[int], margins: FloatArray) -> list[int]:
    """Return the best order found by kicking one again and again, a few moves at random each time.

    Of forty whose margins have nothing in common it was, as far as proofs went, the best of all.
    """
    from gnomon.ranking.order_kernels import search_orders

    found = np.array(order, dtype=np.int64)
    search_orders(found, np.ascontiguousarray(margins, dtype=np.float64), KICKS * len(found), 5)
    return [int(one) for one in found]


def _nothing_asked() -> list[IntArray]:
    return [np.empty((0, len(p.signs)), dtype=np.int64) for p in (CIRCLE, *PATTERNS)]


@dataclass
class OrderProgram:
    """The best order as a linear program with one variable for each pair: how far i is ahead of j.

    That is 1/2 where i stands before j and -1/2 where it stands behind. What holds of all orders
    (:mod:`gnomon.ranking.order_patterns`) is asked only of those of whom a solution violates it,
    which are few.

    Parameters
    ----------
    margins : ndarray of float, shape (n, n)
        Antisymmetric, the largest about 1.
    asked : list of ndarray of int, shape (., 3) or (., 6)
        For circles of three and each pattern of six, who stand in it.

    Attributes
    ----------
    limit : float
        No order is worth more.
    ahead : ndarray of float, shape (n, n)
        How far each is ahead of each in the last solution.
    price : ndarray of float, shape (n, n)
        An order in which i stands before j is worth at most ``limit + min(price[i, j], 0)``; over
        several pairs this adds up.
    """

    margins: FloatArray
    asked: list[IntArray] = field(default_factory=_nothing_asked)
    limit: float = field(init=False)
    ahead: FloatArray = field(init=False)
    price: FloatArray = field(init=False)
    _rounds: int = field(default=0, init=False)
    _binds: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.limit = float(np.abs(self.margins).sum()) / 2.0
        self.ahead, self.price = np.sign(self.margins) / 2.0, 2.0 * self.margins
        self._binds = np.empty(0, dtype=bool)

    def relaxed(self, known: float, deadline: float) -> None:
        """Solve what is asked, and ask more until no three run in a circle or the limit is low.

        Parameters
        ----------
        known : float
            A limit that reaches this is not lowered further.
        deadline : float
            By the clock of :func:`time.monotonic`; one program may still be solved after it.
        """
        if any(len(who) for who in self.asked):
            self._solve()
        while self.limit > known and self._ask_circles() and time.monotonic() < deadline:
            self._solve()

    def tightened(self, known: float, deadline: float, n_starts: int) -> None:
        """Lower the limit further by patterns of six, as long as that gains.

        Parameters
        ----------
        known, deadline : float
            As of :meth:`relaxed`, which goes before.
        n_starts : int
            From how many places each pattern is looked for.
        """
        while self.limit > known and time.monotonic() < deadline:
            before = self.limit
            self._drop()
            if not self._ask_patterns(n_starts):
                break
            self.relaxed(known, deadline)
            if before - self.limit < LEAST_GAIN * (before - known):
                break

    def without(self, one: int) -> OrderProgram:
        """Return the program of all others, which asks for what bounds this one."""
        self._drop()
        rest = np.delete(np.arange(len(self.margins)), one)
        number = np.full(len(self.margins), -1)
        number[rest] = np.arange(len(rest))
        asked = [number[who] for who in self.asked]
        return OrderProgram(
            self.margins[np.ix_(rest, rest)], [who[(who >= 0).all(axis=1)] for who in asked]
        )

    def _solve(self) -> None:
        """Run HiGHS on what is asked, by its interior point, which takes a third of the simplex.

        The limit is computed from the duals, and true whatever these are: so no tolerance of the
        solver enters.
        """
        from scipy.optimize import linprog

        i, j = np.triu_indices(len(self.margins), 1)
        matrix, most = self._rows()
        gain = 2.0 * self.margins[i, j]
        found = linprog(-gain, A_ub=matrix, b_ub=most, bounds=(-0.5, 0.5), method="highs-ipm")
        if found.x is None:
            return  # The limit so far is true, and what was asked is not asked again.
        duals = np.maximum(-found.ineqlin.marginals, 0.0)
        price = gain - matrix.T @ duals
        limit = float(duals @ most + np.abs(price).sum() / 2.0)
        self.ahead = _antisymmetric(found.x, self.margins.shape)
        if limit < self.limit:
            self.limit, self.price = limit, _antisymmetric(price, self.margins.shape)
        self._binds = (duals > 0.0) | (most - matrix @ found.x < SLIGHT)

    def _rows(self) -> tuple[Any, FloatArray]:
        """Return what is asked, a row each, and the most that each row may sum to."""
        from scipy import sparse

        n = len(self.margins)
        number = np.zeros((n, n), dtype=np.int64)
        number[np.triu_indices(n, 1)] = np.arange(n * (n - 1) // 2)
        blocks, most = [], []
        for pattern, who in zip((CIRCLE, *PATTERNS), self.asked, strict=True):
            first, second = np.nonzero(np.triu(pattern.signs))
            a, b = who[:, first], who[:, second]
            signs = pattern.signs[first, second] * np.where(a < b, 1.0, -1.0)
            columns = number[np.minimum(a, b), np.maximum(a, b)]
            ends = np.arange(len(who) + 1) * first.size
            shape = (len(who), n * (n - 1) // 2)
            blocks.append(sparse.csr_matrix((signs.ravel(), columns.ravel(), ends), shape=shape))
            most.append(np.full(len(who), pattern.bound))
        return sparse.vstack(blocks, format="csr"), np.concatenate(most)

    def _drop(self) -> None:
        """Ask only for what bound the last solution, unless more was asked since."""
        ends = np.cumsum([len(who) for who in self.asked])
        if ends[-1] == len(self._binds):
            binds = np.split(self._binds, ends[:-1])
            self.asked = [who[keep] for who, keep in zip(self.asked, binds, strict=True)]
            self._binds = self._binds[self._binds]

    def _ask_circles(self) -> bool:
        """Ask for no circles around those threes where there are some; return whether any."""
        ahead = self.ahead
        around = ahead[:, :, None] + ahead[None, :, :] + ahead.T[:, None, :]
        i, j, k = np.nonzero(around > CIRCLE.bound + SLIGHT)
        once = (i < j) & (i < k)
        found = np.stack([i[once], j[once], k[once]], axis=1)
        worst = np.argsort(-around[tuple(found.T)], kind="stable")[:MOST_CIRCLES]
        return self._ask(0, found[worst])

    def _ask_patterns(self, n_starts: int) -> bool:
        """Ask for the bounds of those patterns that a solution exceeds; return whether any."""
        from gnomon.ranking.order_kernels import search_violations

        if len(self.ahead) < 6:
            return False
        any_found = False
        for p, pattern in enumerate(PATTERNS, start=1):
            found = np.empty((MOST_ASKED, len(pattern.signs)), dtype=np.int64)
            n_found = search_violations(
                self.ahead, pattern.signs, pattern.bound, n_starts, self._rounds * n_starts, found
            )
            any_found |= self._ask(p, found[:n_found])
        self._rounds += 1
        return any_found

    def _ask(self, p: int, found: IntArray) -> bool:
        """Ask what is found besides; return whether any of it is new."""
        known = self.asked[p]
        self.asked[p] = np.unique(np.vstack([known, found]), axis=0)
        return len(self.asked[p]) > len(known)


def _antisymmetric(above: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return a matrix from what stands above its diagonal, row by row."""
    full = np.zeros(shape)
    full[np.triu_indices(len(full), 1)] = above
    return full - full.T
