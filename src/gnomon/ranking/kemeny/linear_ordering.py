"""Linear orderings: local search, and the linear program without cycles of three.

The margin of i over j is what it is worth that i stands before j, and not behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

IntArray = npt.NDArray[np.int64]

#: How often a search is kicked, for each of those to be ordered.
KICKS = 250
#: How many circles are forbidden at once.
MOST_CIRCLES = 1000
#: What exceeds its bound by less is rounding.
SLIGHT = 1e-6


def worth(order: Sequence[int], margins: FloatArray) -> float:
    """Return the sum of the margins of all pairs as they stand in an order."""
    return float(np.triu(margins[np.ix_(order, order)], 1).sum())


def improved(order: Sequence[int], margins: FloatArray) -> list[int]:
    """Return a local optimum under single moves (insertions), from the given order on.

    Examples
    --------
    >>> improved([0, 1, 2], np.array([[0.0, -1, 0], [1, 0, 2], [0, -2, 0]]))
    [1, 0, 2]
    """
    from gnomon.ranking.kemeny.linear_ordering_kernels import climb

    found = np.array(order, dtype=np.int64)
    climb(found, np.ascontiguousarray(margins, dtype=np.float64))
    return [int(one) for one in found]


def order_search(order: Sequence[int], margins: FloatArray) -> list[int]:
    """Return the best order found by iterated local search, a few random moves a kick.

    Of forty whose margins have nothing in common it was, as far as proofs went, the best of all.
    """
    from gnomon.ranking.kemeny.linear_ordering_kernels import search_orders

    found = np.array(order, dtype=np.int64)
    search_orders(found, np.ascontiguousarray(margins, dtype=np.float64), KICKS * len(found), 5)
    return [int(one) for one in found]


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A solution of the linear relaxation, and its bound on all orders.

    Parameters
    ----------
    limit : float
        No order is worth more.
    ahead : ndarray of float, shape (n, n)
        How far each is ahead of each in the solution: 1 where it stands before it in every best
        order of the program, -1 where behind, something between where they do not agree.
    """

    limit: float
    ahead: FloatArray


def circle_relaxation(margins: FloatArray) -> Relaxation:
    """Solve the linear relaxation with cutting planes, the cycles of three (HiGHS).

    There is one variable for each pair. Circles are forbidden only to those threes that run in one
    in a solution, which are few.

    Parameters
    ----------
    margins : ndarray of float, shape (n, n)
        Antisymmetric, the largest about 1.

    Examples
    --------
    >>> round(circle_relaxation(np.array([[0.0, 3, -1], [-3, 0, 2], [1, -2, 0]])).limit, 6)
    4.0
    """
    found = Relaxation(float(np.abs(margins).sum()) / 2.0, np.sign(margins))
    forbidden = np.empty((0, 3), dtype=np.int64)
    while True:
        more = np.unique(np.vstack([forbidden, _circles(found.ahead)]), axis=0)
        if len(more) == len(forbidden):
            return found
        forbidden = more
        found = _solved(margins, forbidden, found)


def _circles(ahead: FloatArray) -> IntArray:
    """Return those threes that run in a circle, the worst of them if there are many."""
    around = ahead[:, :, None] + ahead[None, :, :] + ahead.T[:, None, :]
    i, j, k = np.nonzero(around > 1.0 + SLIGHT)
    once = (i < j) & (i < k)
    found = np.stack([i[once], j[once], k[once]], axis=1)
    worst = np.argsort(-around[tuple(found.T)], kind="stable")[:MOST_CIRCLES]
    return found[worst]


def _solved(margins: FloatArray, forbidden: IntArray, before: Relaxation) -> Relaxation:
    """Run HiGHS with these circles forbidden, by its interior point: a third of the simplex's time.

    The limit is computed from the duals, and true whatever these are: so no tolerance of the
    solver enters.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    n = len(margins)
    i, j = np.triu_indices(n, 1)
    number = np.zeros((n, n), dtype=np.int64)
    number[i, j] = np.arange(i.size)
    first, second = forbidden, np.roll(forbidden, -1, axis=1)
    columns = number[np.minimum(first, second), np.maximum(first, second)]
    signs = np.where(first < second, 1.0, -1.0)
    rows = np.arange(len(forbidden) + 1) * 3
    shape = (len(forbidden), i.size)
    around: Any = sparse.csr_matrix((signs.ravel(), columns.ravel(), rows), shape)
    gain = margins[i, j]
    found = linprog(
        -gain, A_ub=around, b_ub=np.ones(len(forbidden)), bounds=(-1.0, 1.0), method="highs-ipm"
    )
    if found.x is None:
        return before
    duals = np.maximum(-found.ineqlin.marginals, 0.0)
    limit = float(duals.sum() + np.abs(gain - around.T @ duals).sum())
    ahead = np.zeros((n, n))
    ahead[i, j] = found.x
    return Relaxation(min(limit, before.limit), ahead - ahead.T)
