"""Orders of a few things, from two sides: by moving one at a time, and by linear programs.

The margin of i over j is what it is worth that i stands before j.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

__all__ = ["OrderProgram", "improved", "order_search", "worth"]


def worth(order: Sequence[int], margins: FloatArray) -> float:
    """Return the sum of the margins of all pairs as they stand in an order."""
    return float(np.triu(margins[np.ix_(order, order)], 1).sum())


def improved(order: Sequence[int], margins: FloatArray) -> list[int]:
    """Return an order that no move of a single one makes better, from the given one on."""
    order, moved = list(order), True
    while moved:
        moved = False
        for one in range(len(order)):
            at = order.index(one)
            others = order[:at] + order[at + 1 :]
            over = margins[one, others]
            # What each place is worth: margins over all behind it, less those over all before.
            places = over.sum() - 2.0 * np.concatenate([[0.0], np.cumsum(over)])
            best = int(np.argmax(places))
            if places[best] > places[at] + 1e-9:
                order, moved = [*others[:best], one, *others[best:]], True
    return order


def order_search(starts: Sequence[Sequence[int]], margins: FloatArray) -> list[int]:
    """Return the best order found from several ones, and from that one with each put first or last.

    Examples
    --------
    >>> order_search([[0, 1, 2]], np.array([[0.0, -1, 0], [1, 0, 2], [0, -2, 0]]))
    [1, 0, 2]
    """
    best = max((improved(start, margins) for start in starts), key=lambda o: worth(o, margins))
    found = True
    while found:
        found = False
        for start in _shaken(best):
            order = improved(start, margins)
            if worth(order, margins) > worth(best, margins) + 1e-9:
                best, found = order, True
                break
    return best


def _shaken(order: list[int]) -> Iterator[list[int]]:
    for one in order:
        others = [other for other in order if other != one]
        yield [one, *others]
        yield [*others, one]


@dataclass
class OrderProgram:
    """The best order as a program with one variable for each pair: how far i stands before j.

    That an order has no circles is asked of three only once a solution runs in a circle around
    them, which few do.

    Parameters
    ----------
    margins : ndarray of float, shape (n, n)
        Antisymmetric, the largest about 1.
    """

    margins: FloatArray
    triangles: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.empty((0, 3), dtype=np.int64)
    )

    def relaxed(self) -> tuple[FloatArray, float]:
        """Solve it with fractions; return who stands before whom, and what no order exceeds."""
        while True:
            found = self._run()
            before = self._before(found.x)
            if not self._ask(before):
                return before, self._worth(-found.fun)

    def solved(self, at_least: float, deadline: float) -> tuple[list[int], float]:
        """Solve it with whole numbers; return an order, and what no order exceeds.

        Parameters
        ----------
        at_least : float
            What some order is known to be worth.
        deadline : float
            By the clock of :func:`time.monotonic`; if it passes, the order is none in particular.
        """
        from scipy.optimize import LinearConstraint

        over = self.margins[np.triu_indices(len(self.margins), 1)]
        floor = (at_least - 1e-7 + over.sum()) / 2.0
        known = LinearConstraint(over[None, :], floor, np.inf)
        while True:
            left = deadline - time.monotonic()
            limit = {"time_limit": max(left, 0.01)} if math.isfinite(left) else {}
            found = self._run(known, whole=True, options={"mip_rel_gap": 0.0, **limit})
            late = found.status == 1
            bound = found.mip_dual_bound
            before = np.zeros_like(self.margins) if found.x is None else self._before(found.x)
            if late or not self._ask(np.round(before)):
                order = np.argsort(-before.sum(axis=1), kind="stable").tolist()
                return order, math.inf if bound is None else self._worth(-bound)

    def _run(self, *known: Any, whole: bool = False, options: Any = None) -> Any:
        """Run HiGHS on what is asked so far, and on what is known besides."""
        from scipy import sparse
        from scipy.optimize import Bounds, LinearConstraint, milp

        i, j = np.triu_indices(len(self.margins), 1)
        number = np.zeros(self.margins.shape, dtype=np.int64)
        number[i, j] = np.arange(i.size)
        constraints = list(known)
        if len(self.triangles):
            a, b, c = self.triangles.T  # a < b < c: 0 <= x_ab + x_bc - x_ac <= 1
            columns = np.stack([number[a, b], number[b, c], number[a, c]], axis=1).ravel()
            rows = np.repeat(np.arange(len(a)), 3)
            signs = np.tile([1.0, 1.0, -1.0], len(a))
            matrix = sparse.csr_matrix((signs, (rows, columns)), shape=(len(a), i.size))
            constraints.append(LinearConstraint(matrix, 0.0, 1.0))
        found = milp(
            -self.margins[i, j],
            integrality=np.full(i.size, int(whole)),
            bounds=Bounds(0, 1),
            constraints=constraints,
            options=options,
        )
        if found.x is None and found.status != 1:
            raise ScoreDataError(f"the best order was not found: {found.message}")
        return found

    def _before(self, x: FloatArray) -> FloatArray:
        """Return how far each stands before each, from 0 to 1."""
        i, j = np.triu_indices(len(self.margins), 1)
        before = np.zeros(self.margins.shape)
        before[i, j] = x
        before[j, i] = 1.0 - x
        return before

    def _ask(self, before: FloatArray) -> bool:
        """Ask for no circles around those threes where there are some; return whether any."""
        around = before[:, :, None] + before[None, :, :] - before[:, None, :]
        a, b, c = np.nonzero((around > 1.0 + 1e-7) | (around < -1e-7))
        keep = (a < b) & (b < c)
        found = np.stack([a[keep], b[keep], c[keep]], axis=1)
        self.triangles = np.unique(np.vstack([self.triangles, found]), axis=0)
        return len(found) > 0

    def _worth(self, objective: float) -> float:
        """Return the worth of an order from the objective, which counts pairs i < j alone."""
        return 2.0 * objective - float(np.triu(self.margins, 1).sum())
