"""The compiled loop of branch and bound. Importing this module loads Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.distill.kernels import TOLERANCE

__all__ = ["branch_and_bound"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
#: A bound is worth its cube of tasks only where many subsets hang on it.
_LEAST_MISSING = 3


@njit(**_OPTIONS)
def branch_and_bound(
    gram: F64, roots: I64, size: int, positive: bool, best: float, chosen_out: I64
) -> float:
    """Improve on `best` among the subsets that hold `roots` and tasks after the last of them.

    gram is (tasks + 1, tasks + 1), the target last, columns of length one. A node is left out if
    even all tasks that may still join leave no less than `best`. With `positive`, only subsets
    whose weights are all positive count. Returns the least residual sum of squares; the tasks go
    to `chosen_out`, which stays as it is if nothing is better.
    """
    n = gram.shape[0] - 1
    w = n + 1
    a = np.empty((size + 1, w, w))
    scratch = np.empty((w, w))
    chosen = np.empty(size, np.int64)
    at = np.empty(size + 1, np.int64)
    inside = np.empty((size + 1, size + 1))
    slope = np.empty(size)
    n_roots = roots.size
    a[0] = gram
    level = 0
    # A level's matrix holds the products of residuals of all columns; only later ones are used.
    while level >= 0:
        if level < n_roots:
            p = roots[level]
        elif level == n_roots and at[level] < 0:
            p = roots[n_roots - 1] + 1 if n_roots > 0 else 0
            at[level] = p
        else:
            at[level] += 1
            p = at[level]
        missing = size - level
        if level < n_roots:
            at[level + 1] = -1
        elif p > n - missing:
            level -= 1
            if level < n_roots:
                return best
            continue
        chosen[level] = p
        pivot = max(a[level, p, p], TOLERANCE)
        if missing == 1:
            # All later columns as the last task.
            start = p
            for d in range(start, n):
                value = a[level, n, n] - a[level, d, n] ** 2 / max(a[level, d, d], TOLERANCE)
                if value >= best:
                    continue
                chosen[level] = d
                ok = True
                if positive:
                    # Weights by Cholesky of the chosen columns.
                    for i in range(size):
                        for j in range(i + 1):
                            s = gram[min(chosen[i], chosen[j]), max(chosen[i], chosen[j])]
                            for m in range(j):
                                s -= inside[i, m] * inside[j, m]
                            if i == j:
                                inside[i, i] = np.sqrt(max(s, TOLERANCE))
                            else:
                                inside[i, j] = s / inside[j, j]
                    for i in range(size):
                        s = gram[chosen[i], n]
                        for m in range(i):
                            s -= inside[i, m] * slope[m]
                        slope[i] = s / inside[i, i]
                    for i in range(size - 1, -1, -1):
                        s = slope[i]
                        for m in range(i + 1, size):
                            s -= inside[m, i] * slope[m]
                        slope[i] = s / inside[i, i]
                        ok = ok and slope[i] > 0.0
                if ok:
                    best = value
                    for i in range(size):
                        chosen_out[i] = chosen[i]
            level -= 1
            if level < n_roots:
                return best
            continue
        for i in range(p + 1, w):
            li = a[level, p, i] / pivot
            for j in range(i, w):
                a[level + 1, i, j] = a[level, i, j] - li * a[level, p, j]
        if missing > _LEAST_MISSING:
            # What all later tasks together would leave.
            for i in range(p + 1, w):
                for j in range(i, w):
                    scratch[i, j] = a[level + 1, i, j]
            for i in range(p + 1, n):
                inverse = 1.0 / max(scratch[i, i], TOLERANCE)
                for j in range(i + 1, w):
                    lj = scratch[i, j] * inverse
                    for m in range(j, w):
                        scratch[j, m] -= lj * scratch[i, m]
            if scratch[n, n] >= best:
                if level < n_roots:
                    return best
                continue
        level += 1
        if level >= n_roots:
            at[level] = p
            if level == n_roots:
                at[level] = -1
    return best
