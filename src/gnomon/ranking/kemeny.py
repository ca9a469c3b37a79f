"""The order that disagrees least with all comparisons, found exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

__all__ = ["disagreement", "kemeny_order"]

#: Beyond this the integer program may run for minutes.
MOST = 40


def kemeny_order(margins: npt.ArrayLike) -> list[int]:
    """Return the order with the least weight of pairs that stand the wrong way round.

    An integer program with one binary variable for each pair, solved by HiGHS. That an order has no
    circles is asked of three contestants only once a solution runs in a circle around them, which
    few do. Forty take well under a second where an order is there to be found, and up to minutes
    where margins are noise.

    Parameters
    ----------
    margins : array_like of float, shape (n, n)
        Antisymmetric: by how much i stands before j; 0 or NaN for no opinion. At most 40.

    Returns
    -------
    list of int
        Best first. Where several orders are best, one of them, the same each time.

    Raises
    ------
    ScoreDataError
        There are more than 40.

    References
    ----------
    Kemeny (1959), Daedalus 88; Young and Levenglick (1978).

    Examples
    --------
    >>> kemeny_order([[0, 3, -1], [-3, 0, 2], [1, -2, 0]])
    [0, 1, 2]
    """
    m = np.nan_to_num(np.asarray(margins, dtype=np.float64))
    n = len(m)
    if n > MOST:
        raise ScoreDataError(f"expected at most {MOST} to find Kemeny's order, found {n}")
    triangles = np.empty((0, 3), dtype=np.int64)
    # Without whole numbers the program is quick, and finds the triangles that matter.
    for whole in (False, True):
        broken = True
        while broken:
            before = _solved(m, triangles, whole=whole)
            found = _broken(before)
            triangles, broken = np.unique(np.vstack([triangles, found]), axis=0), len(found) > 0
        if not whole and np.abs(before - np.round(before)).max() < 1e-6:
            break
    return [int(k) for k in np.argsort(-np.round(before).sum(axis=1), kind="stable")]


def _solved(m: FloatArray, triangles: npt.NDArray[np.int64], *, whole: bool) -> FloatArray:
    """Return how far each stands before each, from 0 to 1, in the best solution."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    i, j = np.triu_indices(len(m), 1)
    number = np.zeros(m.shape, dtype=np.int64)
    number[i, j] = np.arange(i.size)
    constraints = []
    if len(triangles):
        a, b, c = triangles.T  # a < b < c: 0 <= x_ab + x_bc - x_ac <= 1
        columns = np.stack([number[a, b], number[b, c], number[a, c]], axis=1).ravel()
        rows = np.repeat(np.arange(len(triangles)), 3)
        signs = np.tile([1.0, 1.0, -1.0], len(triangles))
        matrix = sparse.csr_matrix((signs, (rows, columns)), shape=(len(triangles), i.size))
        constraints.append(LinearConstraint(matrix, 0.0, 1.0))
    kind = np.full(i.size, int(whole))
    found = milp(-m[i, j], integrality=kind, bounds=Bounds(0, 1), constraints=constraints)
    if found.x is None:
        raise ScoreDataError(f"Kemeny's order was not found: {found.message}")
    before = np.zeros(m.shape)
    before[i, j] = found.x
    before[j, i] = 1.0 - found.x
    return before


def _broken(before: FloatArray) -> npt.NDArray[np.int64]:
    """Return the threes a < b < c around which a solution runs in a circle, shape (k, 3)."""
    around = before[:, :, None] + before[None, :, :] - before[:, None, :]
    a, b, c = np.nonzero((around > 1.0 + 1e-7) | (around < -1e-7))
    keep = (a < b) & (b < c)
    return np.stack([a[keep], b[keep], c[keep]], axis=1)


def disagreement(order: list[int], margins: npt.ArrayLike) -> float:
    """Return the weight of the pairs that stand the wrong way round in an order.

    Examples
    --------
    >>> disagreement([0, 1, 2], [[0, 3, -1], [-3, 0, 2], [1, -2, 0]])
    1.0
    """
    m = np.nan_to_num(np.asarray(margins, dtype=np.float64))[np.ix_(order, order)]
    return float(np.maximum(-np.triu(m, 1), 0.0).sum())
