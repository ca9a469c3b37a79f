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
    few do.

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
    i, j = np.triu_indices(n, 1)
    circles: list[tuple[int, int, int]] = []
    while True:
        before = _solved(m[i, j], i, j, circles, n)
        broken = _circles(before)
        if not broken:
            return [int(k) for k in np.argsort(-before.sum(axis=1), kind="stable")]
        circles += broken


def _solved(
    margins: FloatArray,
    i: npt.NDArray[np.int64],
    j: npt.NDArray[np.int64],
    circles: list[tuple[int, int, int]],
    n: int,
) -> npt.NDArray[np.bool_]:
    """Return who stands before whom in the best solution without these circles."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    number = np.zeros((n, n), dtype=np.int64)
    number[i, j] = np.arange(i.size)
    constraints = []
    if circles:
        a, b, c = np.array(circles).T  # a < b < c: 0 <= x_ab + x_bc - x_ac <= 1
        columns = np.stack([number[a, b], number[b, c], number[a, c]], axis=1).ravel()
        rows = np.repeat(np.arange(len(circles)), 3)
        signs = np.tile([1.0, 1.0, -1.0], len(circles))
        matrix = sparse.csr_matrix((signs, (rows, columns)), shape=(len(circles), i.size))
        constraints.append(LinearConstraint(matrix, 0.0, 1.0))
    found = milp(
        -margins,
        integrality=np.ones(i.size, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=constraints,
    )
    if found.x is None:
        raise ScoreDataError(f"Kemeny's order was not found: {found.message}")
    before = np.zeros((n, n), dtype=bool)
    before[i, j] = found.x > 0.5
    before[j, i] = found.x <= 0.5
    return before


def _circles(before: npt.NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return the threes a < b < c that stand in a circle."""
    found = []
    for a in range(len(before)):
        # a before b, b before c, c before a; and the other way round
        for one in (before, before.T):
            b, c = np.nonzero(one[a][:, None] & one & one[:, a][None, :])
            keep = (b > a) & (c > a)
            found += [
                (a, *sorted(pair)) for pair in zip(b[keep].tolist(), c[keep].tolist(), strict=True)
            ]
    return [(a, b, c) for a, b, c in dict.fromkeys(found)]


def disagreement(order: list[int], margins: npt.ArrayLike) -> float:
    """Return the weight of the pairs that stand the wrong way round in an order.

    Examples
    --------
    >>> disagreement([0, 1, 2], [[0, 3, -1], [-3, 0, 2], [1, -2, 0]])
    1.0
    """
    m = np.nan_to_num(np.asarray(margins, dtype=np.float64))[np.ix_(order, order)]
    return float(np.maximum(-np.triu(m, 1), 0.0).sum())
