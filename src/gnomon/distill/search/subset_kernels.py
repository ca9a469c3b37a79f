"""Compiled searches over subsets by their errors. Importing this module loads Numba.

A search walks over prefixes and *eliminates* a task from a Gram matrix when it joins the prefix:
what remains are the products of residuals, so all subsets that share a prefix share its work, and
the last task is a division. With training products A and held-out products T, eliminating task p
with l = A[p, :] / A[p, p] gives

    A' = A - l A[p, :]          T' = T - l T[p, :] - T[:, p] l + l l T[p, p]

No row of data is touched, and a subset costs a few dozen operations per fold. Folds lie in the last
axis ("lanes"), whose length is fixed when the kernel is compiled, so that they fill vector
registers.

Tasks with gaps: subsets whose complete rows are the same share one Gram matrix. A kernel is called
once for each such set of rows (`goal`), with those tasks that have scores on all of them; the ones
that are missing elsewhere stand first, and `step[s, class]` says which set of rows remains when a
task of that class joins; only subsets that end in `goal` count.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = [
    "KERNEL_OPTIONS",
    "TOLERANCE",
    "Where",
    "eliminated",
    "fold_products",
    "fold_search",
    "gram_search",
    "n_lanes",
    "scaled",
]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

#: What a kernel searches: all subsets of `size` members whose first member lies in [first, last).
#: classes, step, start, goal, n_gapped (see above), size, first, last; then the heap of the least
#: errors and their subsets: values, picks, and how many it holds.
Where: TypeAlias = tuple[I64, I64, int, int, int, int, int, int, F64, I32, int]
#: Columns are scaled to length one; a task whose residual is shorter is collinear, and left out.
TOLERANCE = 1e-11
#: What a division may do (no exception), and what a sum may do (any order, fused).
KERNEL_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}


def scaled(z: F64) -> F64:
    """Return the columns, but for the target, with length one: so rounding has one scale."""
    length = np.sqrt((z * z).sum(axis=0))
    length[length == 0.0] = 1.0
    length[-1] = 1.0
    return np.asarray(z / length)


def fold_products(z: F64, fold: npt.NDArray[np.int64], n_folds: int, lanes: int) -> tuple[F64, F64]:
    """Return training and held-out products, (columns, columns, lanes), spare lanes harmless."""
    n = z.shape[1]
    order = np.argsort(fold, kind="stable")
    counts = np.bincount(fold, minlength=n_folds)
    # Rows of a fold side by side, shorter folds filled with zeros: one batched product.
    batch = np.zeros((n_folds, counts.max(), n))
    within = np.concatenate([np.arange(c) for c in counts])
    batch[fold[order], within] = z[order]
    held = np.matmul(batch.transpose(0, 2, 1), batch)
    a = np.zeros((n, n, lanes))
    t = np.zeros((n, n, lanes))
    t[:, :, :n_folds] = held.transpose(1, 2, 0)
    a[:, :, :n_folds] = held.sum(axis=0)[:, :, np.newaxis] - t[:, :, :n_folds]
    a[np.arange(n), np.arange(n), n_folds:] = 1.0
    return a, t


def eliminated(a: F64, t: F64) -> tuple[F64, F64]:
    """Return the products of residuals on the first column, without it."""
    pivot = a[0, 0]
    inverse = np.where(pivot > TOLERANCE, 1.0 / np.where(pivot > TOLERANCE, pivot, 1.0), 0.0)
    ratio, rest = a[0, 1:] * inverse, t[0, 1:]
    a_next = a[1:, 1:] - ratio[:, np.newaxis] * a[0, 1:][np.newaxis]
    t_next = (
        t[1:, 1:]
        - ratio[:, np.newaxis] * rest[np.newaxis]
        - rest[:, np.newaxis] * ratio[np.newaxis]
        + ratio[:, np.newaxis] * ratio[np.newaxis] * t[0, 0]
    )
    return np.ascontiguousarray(a_next), np.ascontiguousarray(t_next)


def n_lanes(n_folds: int) -> int:
    """Return the number of lanes for so many folds: the next multiple of four."""
    return -(-n_folds // 4) * 4


@lru_cache
def fold_search(lanes: int) -> Callable[..., int]:
    """Return the kernel for cross-validated errors with so many lanes."""

    @njit(**KERNEL_OPTIONS)
    def search_folds(a_top: F64, t_top: F64, tyy_top: F64, weights: F64, where: Where) -> int:
        """Search for the least cross-validated errors; return how many the heap holds.

        a_top, t_top are (n + 1, n + 1, lanes), the target last; upper triangles are read.
        """
        classes, step, start, goal, n_gapped, size, first, last, values, picks, count = where
        n = a_top.shape[0] - 1
        depth = max(size - 1, 1)
        a = np.empty((depth, (n + 1) * (n + 1), lanes))
        t = np.empty((depth, (n + 1) * (n + 1), lanes))
        tyy = np.empty((depth, lanes))
        for i in range(n + 1):
            for j in range(i, n + 1):
                for f in range(lanes):
                    a[0, i * (n + 1) + j, f] = a_top[i, j, f]
                    t[0, i * (n + 1) + j, f] = t_top[i, j, f]
        ratio = np.empty((n + 1, lanes))
        rest = np.empty((n + 1, lanes))
        inverse = np.empty(lanes)
        held = np.empty(lanes)
        chosen = np.empty(size, np.int64)
        base = np.zeros(depth, np.int64)
        left = np.empty(depth, np.int64)
        at = np.empty(depth, np.int64)
        sets = np.empty(depth, np.int64)
        left[0], at[0], sets[0], level = n, first - 1, start, 0
        for f in range(lanes):
            tyy[0, f] = tyy_top[f]
        worst = values[0] if count == values.size else np.inf
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
            w = r + 1
            row = p * w
            if missing == 1:
                if now != goal:
                    continue
                value = 0.0
                for f in range(lanes):
                    pivot = a[level, row + p, f]
                    slope = a[level, row + r, f] / max(pivot, TOLERANCE)
                    sse = tyy[level, f] - slope * (
                        2.0 * t[level, row + r, f] - slope * t[level, row + p, f]
                    )
                    value += weights[f] * sse
                if value < worst:
                    place = hold(values, picks, count, value)
                    count = min(count + 1, values.size)
                    picks[place, 0] = member
                    worst = values[0] if count == values.size else np.inf
                continue
            for f in range(lanes):
                pivot = a[level, row + p, f]
                inverse[f] = 1.0 / max(pivot, TOLERANCE)
            if missing == 2:
                for f in range(lanes):
                    ly = a[level, row + r, f] * inverse[f]
                    tcy = t[level, row + r, f]
                    qy = tcy - ly * t[level, row + p, f]
                    ratio[r, f] = ly
                    rest[r, f] = qy
                    held[f] = tyy[level, f] - ly * (tcy + qy)
                end = r if now == goal else min(r, n_gapped - base[level])
                for d in range(p + 1, end):
                    if now != goal and step[now, classes[base[level] + d]] != goal:
                        continue
                    cd, dd, dy = row + d, d * w + d, d * w + r
                    value = 0.0
                    for f in range(lanes):
                        acd = a[level, cd, f]
                        tcd = t[level, cd, f]
                        ld = acd * inverse[f]
                        pivot = a[level, dd, f] - ld * acd
                        ady = a[level, dy, f] - ld * a[level, row + r, f]
                        slope = ady / max(pivot, TOLERANCE)
                        qd = tcd - ld * t[level, row + p, f]
                        tdd = t[level, dd, f] - ld * (tcd + qd)
                        tdy = t[level, dy, f] - ld * rest[r, f] - tcd * ratio[r, f]
                        value += weights[f] * (held[f] - slope * (2.0 * tdy - slope * tdd))
                    if value < worst:
                        chosen[level + 1] = base[level] + d
                        place = hold(values, picks, count, value)
                        count = min(count + 1, values.size)
                        for i in range(size):
                            picks[place, i] = chosen[i]
                        worst = values[0] if count == values.size else np.inf
                continue
            r_next = r - p - 1
            w_next = r_next + 1
            n_rows = r_next
            if now != goal and missing == 3:
                # The next task but one is the last, so it must be one with gaps.
                n_rows = n_gapped - member - 1
                if not two_more_reach(goal, step, now, classes, member + 1, n_gapped):
                    continue
            # Eliminate p from all that come after it; the target is the last column.
            for j in range(p + 1, w):
                for f in range(lanes):
                    lj = a[level, row + j, f] * inverse[f]
                    ratio[j, f] = lj
                    rest[j, f] = t[level, row + j, f] - lj * t[level, row + p, f]
            for f in range(lanes):
                tyy[level + 1, f] = tyy[level, f] - ratio[r, f] * (
                    t[level, row + r, f] + rest[r, f]
                )
            for i in range(r_next):
                pi = row + p + 1 + i
                source = (p + 1 + i) * w + p + 1
                goes = i * w_next
                for j in range(i, w_next):
                    if i >= n_rows and i < j < r_next:
                        continue
                    for f in range(lanes):
                        li = ratio[p + 1 + i, f]
                        lj = ratio[p + 1 + j, f]
                        a[level + 1, goes + j, f] = (
                            a[level, source + j, f] - li * a[level, row + p + 1 + j, f]
                        )
                        t[level + 1, goes + j, f] = (
                            t[level, source + j, f] - li * rest[p + 1 + j, f] - t[level, pi, f] * lj
                        )
            level += 1
            base[level] = member + 1
            left[level] = r_next
            at[level] = -1
            sets[level] = now
        return count

    kernel: Callable[..., int] = search_folds
    return kernel


@njit(**KERNEL_OPTIONS)
def gram_search(a_top: F64, yy_top: float, scale: float, limit: float, where: Where) -> int:
    """Search the least residual sums of squares of one Gram matrix, times `scale`, below `limit`.

    As the kernel of :func:`fold_search`, with training products alone: the last two tasks are a
    loop over contiguous numbers.
    """
    classes, step, start, goal, n_gapped, size, first, last, values, picks, count = where
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


@njit(inline="always")
def hold(
    values: npt.NDArray[np.float64], picks: npt.NDArray[np.int32], count: int, value: float
) -> int:
    """Make room for a value among the least ones; return its place in the max-heap `values`.

    The caller writes its tasks to that row of `picks`.
    """
    size = values.size
    if count < size:
        i = count
        while i > 0 and values[(i - 1) // 2] < value:
            parent = (i - 1) // 2
            values[i] = values[parent]
            picks[i] = picks[parent]
            i = parent
    else:
        i = 0
        while 2 * i + 1 < size:
            child = 2 * i + 1
            if child + 1 < size and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[i] = values[child]
            picks[i] = picks[child]
            i = child
    values[i] = value
    return i


@njit(inline="always")
def two_more_reach(goal: int, step: I64, now: int, classes: I64, first: int, last: int) -> bool:
    """Return whether one or two of the members in [first, last) lead from a set of rows to another.

    `step[s, c]` is the set that remains of set `s` when a task of class `c` joins.
    """
    reached = False
    for i in range(first, last):
        then = step[now, classes[i]]
        reached = reached or then == goal
        for j in range(i + 1, last):
            reached = reached or step[then, classes[j]] == goal
        if reached:
            break
    return reached
