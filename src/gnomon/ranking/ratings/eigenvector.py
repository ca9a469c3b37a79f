"""The score of the GOHR server: the Perron vector of the matrix of ease ratios."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

__all__ = ["difficulty", "perron_vector", "transfer"]


def perron_vector(ease_ratios: npt.ArrayLike) -> FloatArray:
    """Return the positive eigenvector of a matrix of ease ratios, of length 1.

    The server finds it by power iteration from (1, ..., 1); so does this. The largest entry is the
    best algorithm, or the easiest rule.

    Parameters
    ----------
    ease_ratios : array_like of float, shape (n, n)
        Smoothed ratios, above 0; 1 on the diagonal. NaN where two never met: as Harker (1987) has
        it, such an entry is 0 and one more is added to the diagonal of its row.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    ValueError
        An entry is not above 0.

    References
    ----------
    Saaty (1977), J. Math. Psychology 15; class MannWhitney of the GOHR server, as described in its
    documentation.

    Examples
    --------
    >>> perron_vector([[1.0, 4.0], [0.25, 1.0]]).round(4)
    array([0.9701, 0.2425])
    """
    e = np.array(ease_ratios, dtype=np.float64)
    np.fill_diagonal(e, 1.0)
    absent = np.isnan(e)
    if not (e[~absent] > 0.0).all():
        raise ValueError("expected ease ratios above 0; smooth the counts")
    e[absent] = 0.0
    e[np.diag_indices_from(e)] += absent.sum(axis=1)
    x = np.full(len(e), 1.0 / np.sqrt(len(e)))
    for _ in range(100_000):
        y = e @ x
        y /= np.linalg.norm(y)
        if np.sum((y - x) ** 2) < 1e-26:
            break
        x = y
    return np.asarray(y)


def difficulty(ease: npt.ArrayLike) -> FloatArray:
    """Return each rule's difficulty from the Perron vector: 1 for the hardest, less for easier.

    Examples
    --------
    >>> difficulty([0.8, 0.4, 0.2])
    array([0.25, 0.5 , 1.  ])
    """
    v = np.asarray(ease, dtype=np.float64)
    return np.asarray(v.min() / v)


def transfer(after: float, naive: float) -> float:
    """Return how much easier a rule is after other rules: 1 - difficulty after / difficulty naive.

    Examples
    --------
    >>> transfer(0.2, 0.8)
    0.75
    """
    return 1.0 - after / naive
