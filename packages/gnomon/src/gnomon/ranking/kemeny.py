"""Kemeny's order: the least weight of pairs that stand the wrong way round, as an integer program.

A variable for each pair is 1 if the first is above the second. Constraints that forbid cycles of
three are added as they are violated (Groetschel, Juenger and Reinelt 1984), first to the linear
program, then to the integer program, both solved by HiGHS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

#: Cycles that are added at once, for each name.
CUTS_PER_NAME = 20
TIME_LIMIT_S = 600


def kemeny_order(margins: npt.ArrayLike) -> tuple[int, ...]:
    """Return an order that disagrees with the pairwise margins as little as possible.

    The disagreement is the sum of the margins of the pairs that stand the wrong way round. Several
    orders may be equally good; one of them is returned, always the same.

    Parameters
    ----------
    margins : array_like of float, shape (n, n)
        Antisymmetric: by how much i should stand before j; 0 or NaN for no preference.

    Returns
    -------
    tuple of int
        Best first.

    Raises
    ------
    ScoreDataError
        The margins are infinite or not antisymmetric, or the solver needs more than ten minutes.

    References
    ----------
    Kemeny (1959), Daedalus 88; Groetschel, Juenger and Reinelt (1984), A cutting plane algorithm
    for the linear ordering problem, Operations Research 32.

    Examples
    --------
    >>> kemeny_order([[0, 3, -1], [-3, 0, 2], [1, -2, 0]])
    (0, 1, 2)
    """
    from scipy.optimize import Bounds, milp  # 0.2 s that other orders do not need

    m = np.nan_to_num(np.asarray(margins, dtype=np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    n = len(m)
    if m.shape != (n, n) or not np.isfinite(m).all() or not np.allclose(m, -m.T):
        raise ScoreDataError(
            f"expected finite antisymmetric margins for Kemeny's order, found shape {m.shape}"
        )
    i, j = np.triu_indices(n, 1)
    cost = -m[i, j] / max(float(np.abs(m).max(initial=0.0)), 1e-300)
    first = (cost < 0.0).astype(np.float64)
    cycles, integer = np.empty((0, 3), np.int64), False
    while True:
        before = np.zeros((n, n))
        before[i, j], before[j, i] = first, 1.0 - first
        violated = _cycles(before)
        if len(violated):
            cycles = np.unique(np.vstack([cycles, violated]), axis=0)
        elif integer or np.abs(first - np.round(first)).max(initial=0.0) < 1e-6:
            return tuple(np.argsort(-np.round(before).sum(axis=1), kind="stable").tolist())
        else:
            integer = True
        found = milp(
            cost,
            integrality=np.full(cost.size, int(integer)),
            bounds=Bounds(0, 1),
            constraints=_no_cycles(cycles, n),
            options={"time_limit": TIME_LIMIT_S, "mip_rel_gap": 0.0},
        )
        if found.status != 0:
            raise ScoreDataError(
                f"Kemeny's order of {n} was not found within {TIME_LIMIT_S} s; rank by another "
                "method"
            )
        first = found.x


def _cycles(before: FloatArray) -> npt.NDArray[np.int64]:
    """Return the cycles i, j, k of a solution, i the smallest of the three, the worst first."""
    around = before[:, :, None] + before[None] + before.T[:, None, :]
    i, j, k = np.nonzero(around > 2.0 + 1e-6)
    found = np.column_stack([i, j, k])[(i < j) & (i < k)]
    worst = np.argsort(-around[tuple(found.T)], kind="stable")
    return np.asarray(found[worst[: CUTS_PER_NAME * len(before)]])


def _no_cycles(cycles: npt.NDArray[np.int64], n: int) -> list[LinearConstraint]:
    """Return that at most two arrows of each cycle go that way round."""
    from scipy import sparse
    from scipy.optimize import LinearConstraint

    if not len(cycles):
        return []
    number = np.zeros((n, n), np.int64)
    i, j = np.triu_indices(n, 1)
    number[i, j] = number[j, i] = np.arange(i.size)
    a, b = cycles, np.roll(cycles, -1, axis=1)
    sign = np.where(a < b, 1.0, -1.0)
    rows = np.repeat(np.arange(len(cycles)), 3)
    matrix = sparse.csr_array(
        (sign.ravel(), (rows, number[a, b].ravel())), shape=(len(cycles), i.size)
    )
    return [LinearConstraint(matrix, -np.inf, 2.0 - (sign < 0.0).sum(axis=1))]
