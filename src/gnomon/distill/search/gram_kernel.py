"""The search for the least residual sums of squares. Importing this module loads Numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.distill.search.heap import hold
from gnomon.distill.search.precision import KERNEL_OPTIONS, TOLERANCE
from gnomon.distill.search.row_steps import two_more_reach

__all__ = ["gram_search"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]


@njit(**KERNEL_OPTIONS)
def gram_search(
    a_top: F64,
    yy_top: float,
    scale: float,
    limit: float,
    classes: I64,
    step: I64,
    start: int,
    goal: int,
    n_gapped: int,
    size: int,
    first: int,
    last: int,
    values: F64,
    picks: I32,
    count: int,
) -> int:
    """Search the least residual sums of squares of one Gram matrix, times `scale`, below `limit`.

    As the kernel of :func:`gnomon.distill.search.fold_kernel.fold_search`, with training products
    alone: the last two tasks are a loop over contiguous numbers.
    """
    n = a_top.shape[0] - 1
    depth = max(size - 1, 1)
    a = np.empty((depth, (n + 1) * (n + 1)))
    diagonal = np.empty((depth, n + 1))
    column = np.empty((depth, n + 1))
    yy = np.empty(depth)
    for i in range(n):
        for j in range(i, n):
            a[0, i * n + j] = a_top[i, j]
        diagonal[0, i] = a_top[i, i]
        column[0, i] = a_top[i, n]
    residual = np.empty(n + 1)
    chosen = np.empty(size, np.int64)
    base = np.zeros(depth, np.int64)
    left = np.empty(depth, np.int64)
    at = np.empty(depth, np.int64)
    sets = np.empty(depth, np.int64)
    left[0], at[0], sets[0], yy[0], level = n, first - 1, start, yy_top, 0
    worst = min(limit, values[0]) if count == values.size else limit
    while level >= 0:
        at[level] += 1
        p, r, missing = at[level], left[level], size - level
        if p > r - missing or (level == 0 and p >= last):
            level -= 1
            continue
        member = base[level] + p
        now = step[sets[level], classes[member]]
        if now != goal and member >= n_gapped:
            level -= 1
            continue
        chosen[level] = member
        row = p * r
        pivot = diagonal[level, p]
        inverse = 1.0 / max(pivot, TOLERANCE)
        cy = column[level, p]
        if missing == 1:
            value = (yy[level] - cy * cy * inverse) * scale
            if now == goal and value < worst:
                place = hold(values, picks, count, value)
                count = min(count + 1, values.size)
                picks[place, 0] = member
                worst = min(limit, values[0]) if count == values.size else limit
            continue
        yy_next = yy[level] - cy * cy * inverse
        if missing == 2:
            end = r if now == goal else min(r, n_gapped - base[level])
            ly = cy * inverse
            least = np.inf
            for d in range(p + 1, end):
                cd = a[level, row + d]
                dy = column[level, d] - ly * cd
                pivot = diagonal[level, d] - cd * cd * inverse
                found = yy_next - dy * dy / max(pivot, TOLERANCE)
                residual[d] = found
                least = min(least, found)
            if least * scale >= worst:
                continue
            for d in range(p + 1, end):
                value = residual[d] * scale
                if not value < worst:
                    continue
                if now != goal and step[now, classes[base[level] + d]] != goal:
                    continue
                chosen[level + 1] = base[level] + d
                place = hold(values, picks, count, value)
                count = min(count + 1, values.size)
                for i in range(size):
                    picks[place, i] = chosen[i]
                worst = min(limit, values[0]) if count == values.size else limit
            continue
        r_next = r - p - 1
        n_rows = r_next
        if now != goal and missing == 3:
            n_rows = n_gapped - member - 1
            if not two_more_reach(goal, step, now, classes, member + 1, n_gapped):
                continue
        for i in range(r_next):
            ci = a[level, row + p + 1 + i]
            li = ci * inverse
            source = (p + 1 + i) * r + p + 1
            goes = i * r_next
            for j in range(i + 1, r_next if i < n_rows else 0):
                a[level + 1, goes + j] = a[level, source + j] - li * a[level, row + p + 1 + j]
            diagonal[level + 1, i] = diagonal[level, p + 1 + i] - li * ci
            column[level + 1, i] = column[level, p + 1 + i] - li * cy
        level += 1
        yy[level] = yy_next
        base[level] = member + 1
        left[level] = r_next
        at[level] = -1
        sets[level] = now
    return count
