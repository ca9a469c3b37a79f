"""The compiled loop of branch and bound. Importing this module loads Numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.distill.search.precision import KERNEL_OPTIONS, TOLERANCE

__all__ = ["branch_and_bound"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
#: A bound is worth its cube of tasks only where many subsets hang on it.
_LEAST_MISSING = 3


@njit(**KERNEL_OPTIONS)
def branch_and_bound(
    rest: F64, gram: F64, roots: I64, positive: bool, best: float, budget: int, picks: I64
) -> tuple[float, bool]:
    """Improve on `best` among the subsets that hold `roots` and tasks after the last of them.

    gram is (tasks + 1, tasks + 1), the target last, columns of length one; `rest` holds the
    products of the residuals of all columns on the roots. A node is left out if even all tasks that
    may still join leave no less than `best`. With `positive`, only subsets whose weights are all
    positive count. Returns the least residual sum of squares, and whether all were searched before
    the budget (of numbers touched) was spent; the tasks go to `picks`, which stays as it is if
    nothing is better.
    """
    n, size = gram.shape[0] - 1, picks.size
    w, n_roots = n + 1, roots.size
    depth = size - n_roots
    a = np.empty((depth, w, w))
    scratch = np.empty((w, w))
    chosen = np.empty(size, np.int64)
    inside = np.empty((size, size))
    slope = np.empty(size)
    at = np.empty(depth, np.int64)
    a[0] = rest
    for i in range(n_roots):
        chosen[i] = roots[i]
    level, spent = 0, 0
    at[0] = roots[n_roots - 1] if n_roots > 0 else -1
    while level >= 0:
        if spent > budget:
            return best, False
        missing = depth - level
        at[level] += 1
        p = at[level]
        if p > n - missing:
            level -= 1
            continue
        if missing > 1:
            chosen[n_roots + level] = p
            pivot = max(a[level, p, p], TOLERANCE)
            spent += (w - p) * (w - p)
            for i in range(p + 1, w):
                li = a[level, p, i] / pivot
                for j in range(i, w):
                    a[level + 1, i, j] = a[level, i, j] - li * a[level, p, j]
            if missing > _LEAST_MISSING:
                # What all later tasks together would leave.
                spent += (w - p) * (w - p) * (w - p)
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
                    continue
            level += 1
            at[level] = p
            continue
        # The last task: all that are left, at once.
        level -= 1
        for d in range(p, n):
            value = a[depth - 1, n, n] - a[depth - 1, d, n] ** 2 / max(
                a[depth - 1, d, d], TOLERANCE
            )
            if value >= best:
                continue
            chosen[size - 1] = d
            fits = True
            if positive:
                for i in range(size):
                    for j in range(i + 1):
                        s = gram[chosen[j], chosen[i]]
                        for m in range(j):
                            s -= inside[i, m] * inside[j, m]
                        inside[i, j] = s / inside[j, j] if i > j else np.sqrt(max(s, TOLERANCE))
                    s = gram[chosen[i], n]
                    for m in range(i):
                        s -= inside[i, m] * slope[m]
                    slope[i] = s / inside[i, i]
                for i in range(size - 1, -1, -1):
                    for m in range(i + 1, size):
                        slope[i] -= inside[m, i] * slope[m]
                    slope[i] /= inside[i, i]
                    fits = fits and slope[i] > 0.0
            if fits:
                best = value
                for i in range(size):
                    picks[i] = chosen[i]
    return best, True
