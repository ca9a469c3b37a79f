"""Subsets by their number, so that a part of them can be named by two numbers."""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

__all__ = ["subsets_between"]


def subsets_between(n: int, size: int, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the subsets of 0 ... n - 1 with these numbers, in lexicographic order.

    Parameters
    ----------
    n, size : int
    start, stop : int
        From 0 to the number of subsets; less than 2 ** 63.

    Returns
    -------
    ndarray of int, shape (stop - start, size)

    Examples
    --------
    >>> subsets_between(4, 2, 2, 5).tolist()
    [[0, 3], [1, 2], [1, 3]]
    """
    number = np.arange(start, stop)
    subsets = np.empty((stop - start, size), dtype=np.int64)
    least = np.zeros(stop - start, dtype=np.int64)
    for i in range(size):
        # Of the subsets of what is missing, so many begin before each element.
        before = np.array([comb(n, size - i) - comb(n - c, size - i) for c in range(n + 1)])
        number = number + before[least]
        subsets[:, i] = np.searchsorted(before[: n - size + i + 1], number, side="right") - 1
        number = number - before[subsets[:, i]]
        least = subsets[:, i] + 1
    return subsets
