"""Orders of a few things, from two sides: by moving one at a time, and by linear programs.

The margin of i over j is what it is worth that i stands before j.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.ranking.order_patterns import PATTERNS
from gnomon.scores.table import FloatArray

__all__ = ["OrderProgram", "improved", "order_search", "worth"]

#: How often a search is kicked, for each of those to be ordered.
KICKS = 250
#: From how many places patterns are looked for, and how many are asked for at once.
STARTS, MOST_ASKED = 15_000, 300
#: Bounds of patterns are asked for as long as a round takes this share of the gap away.
LEAST_GAIN = 0.01


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

    Of forty whose margins have nothing in common it is, as far as proofs go, the best of all.
    """
    from gnomon.ranking.order_kernels import search_orders

    found = np.array(order, dtype=np.int64)
    search_orders(found, np.ascontiguousarray(margins, dtype=np.float64), KICKS * len(found), 5)
    return [int(one) for one in found]


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
    #: For each pattern, who stand in it.
    patterns: list[npt.NDArray[np.int64]] = field(
        default_factory=lambda: [np.empty((0, len(p.signs)), dtype=np.int64) for p in PATTERNS]
    )
    before: FloatArray | None = None

    def relaxed(self) -> tuple[FloatArray, float]:
        """Solve it with fractions; return who stands before whom, and what no order exceeds."""
        while True:
            found = self._run()
            self.before = self._before(found.x)
            if not self._ask(self.before):
                return self.before, self._worth(-found.fun)

    def tightened(self, known: float, limit: float, deadline: float) -> float:
        """Bound it by patterns of six besides threes; return what no order exceeds.

        Parameters
        ----------
        known : float
            What some order is worth: a limit that reaches it is not lowered further.
        limit : float
            From :meth:`relaxed`, which goes before.
        deadline : float
            By the clock of :func:`time.monotonic`.
        """
        while time.monotonic() < deadline and self._ask_patterns():
            gap, limit = limit - known, min(limit, self.relaxed()[1])
            if limit <= known + 1e-9 or gap - (limit - known) < LEAST_GAIN * gap:
                break
        return limit

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
        for pattern, who in zip(PATTERNS, self.patterns, strict=True):
            if len(who):
                first, second = np.nonzero(np.triu(pattern.signs))
                a, b = who[:, first], who[:, second]
                signs = pattern.signs[first, second] * np.where(a < b, 1.0, -1.0)
                columns = number[np.minimum(a, b), np.maximum(a, b)]
                rows = np.repeat(np.arange(len(who)), first.size)
                matrix = sparse.csr_matrix(
                    (signs.ravel(), (rows, columns.ravel())), shape=(len(who), i.size)
                )
                most = pattern.bound + signs.sum(axis=1) / 2.0
                constraints.append(LinearConstraint(matrix, -np.inf, most))
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

    def _ask_patterns(self) -> bool:
        """Ask for the bounds of those patterns that a solution exceeds; return whether any."""
        from gnomon.ranking.order_kernels import search_violations

        assert self.before is not None, "relaxed() goes before"
        ahead = self.before - 0.5
        np.fill_diagonal(ahead, 0.0)
        asked = False
        for p, (pattern, known) in enumerate(zip(PATTERNS, self.patterns, strict=True)):
            k = len(pattern.signs)
            found = np.empty((MOST_ASKED, k), dtype=np.int64)
            n_found = 0
            if len(ahead) >= k:
                n_found = search_violations(
                    ahead, pattern.signs, pattern.bound, STARTS, len(known), found
                )
            self.patterns[p] = np.unique(np.vstack([known, found[:n_found]]), axis=0)
            asked |= n_found > 0
        return asked

    def _worth(self, objective: float) -> float:
        """Return the worth of an order from the objective, which counts pairs i < j alone."""
        return 2.0 * objective - float(np.triu(self.margins, 1).sum())
