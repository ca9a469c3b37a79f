"""Compiled searches over subsets by their errors. Importing this module loads Numba.

A search walks over prefixes and *eliminates* a task from a Gram matrix when it joins the prefix:
what remains are the products of residuals, so all subsets that share a prefix share its work, and
the last task is a division. With training products A and held-out products T, eliminating task p
with l = A[p, :] / A[p, p] gives

    A' = A - l A[p, :]          T' = T - l T[p, :] - T[:, p] l + l l T[p, p]

No row of data is touched, and a subset costs a few dozen operations per fold. Folds lie in the last
axis ("lanes"), whose length is fixed when the kernel is compiled, so that they fill vector
registers. The residual products that the last two tasks need are each needed once, so they are
formed where they are used and never stored.

Tasks with gaps: subsets whose complete rows are the same share one Gram matrix. A kernel is called
once for each such set of rows (`goal`), with those tasks that have scores on all of them; the ones
that are missing elsewhere stand first. `step[s, class]` says which set of rows remains when a task
of that class joins, and `needed[i, s]` how many of the members from i on lead from s to the goal at
the least; only subsets that end in `goal` count.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

#: What a kernel searches: all subsets of `size` members whose first member lies in [first, last).
#: classes, step, needed, start, goal, n_gapped (see above), size, first, last; then the heap of the
#: least errors and their subsets: values, picks, and how many it holds.
Where: TypeAlias = tuple[I64, I64, I64, int, int, int, int, int, int, F64, I32, int]
#: Columns are scaled to length one; a task whose residual is shorter is collinear, and left out.
TOLERANCE = 1e-11
#: Tasks that are looked at together; longer blocks stay half empty, shorter ones fill no register.
_BLOCK = 8
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
    def search_folds(a_top: F64, t_top: F64, where: Where) -> int:
        """Search for the least cross-validated errors; return how many the heap holds.

        a_top, t_top are (n + 1, n + 1, lanes), the target last; upper triangles are read.
        """
        classes, step, needed, start, goal, n_gapped, size, first, last, values, picks, count = (
            where
        )
        n = a_top.shape[0] - 1
        depth = max(size - 2, 1)
        a = np.empty((depth, (n + 1) * (n + 1), lanes))
        t = np.empty((depth, (n + 1) * (n + 1), lanes))
        for i in range(n + 1):
            for j in range(i, n + 1):
                for f in range(lanes):
                    a[0, i * (n + 1) + j, f] = a_top[i, j, f]
                    t[0, i * (n + 1) + j, f] = t_top[i, j, f]
        # The rows of the last task that is eliminated; diagonal and last column that it leaves.
        ratio, rest = np.empty((n + 1, lanes)), np.empty((n + 1, lanes))
        left_a, left_t = np.empty((n + 1, lanes)), np.empty((n + 1, lanes))
        with_y, held_y = np.empty((n + 1, lanes)), np.empty((n + 1, lanes))
        chosen = np.zeros(max(size, 3), np.int64)
        base = np.zeros(depth, np.int64)
        left = np.empty(depth, np.int64)
        at = np.empty(depth, np.int64)
        sets = np.empty(depth, np.int64)
        inverse = np.empty(lanes)
        inverses, slopes = np.empty((n + 1, lanes)), np.empty((n + 1, lanes))
        # Up to two tasks have none ahead of them: nothing is eliminated, as by an infinite pivot.
        few = size < 3
        left[0], at[0], sets[0], level = n, -1 if few else first - 1, start, 0
        worst = values[0] if count == values.size else np.inf
        while level >= 0:
            at[level] += 1
            p, r, missing = at[level], left[level], max(size - level, 3)
            if p > r - min(missing, size) or (level == 0 and p >= (1 if few else last)):
                level -= 1
                continue
            member = base[level] + p
            now = sets[level]
            if not few:
                now = step[now, classes[member]]
                if now != goal and member >= n_gapped:
                    level -= 1
                    continue
            chosen[level] = member
            w = r + 1
            row = p * w
            spare = missing - 1 - needed[min(member + 1, n_gapped), now]
            if not few and spare < 0:
                continue
            for f in range(lanes):
                inverse[f] = 0.0 if few else 1.0 / max(a[level, row + p, f], TOLERANCE)
            for j in range(0 if few else p + 1, w):
                for f in range(lanes):
                    lj = a[level, row + j, f] * inverse[f]
                    ratio[j, f] = lj
                    rest[j, f] = t[level, row + j, f] - lj * t[level, row + p, f]
            if missing > 3:
                r_next = r - p - 1
                w_next = r_next + 1
                gapped = min(max(n_gapped - member - 1, 0), r_next)
                n_rows, n_columns = r_next if spare > 1 else gapped, r_next if spare > 0 else gapped
                for i in range(w_next):
                    pi = row + p + 1 + i
                    source = (p + 1 + i) * w + p + 1
                    goes = i * w_next
                    for j in range(i, w_next):
                        if (i >= n_rows and i < j < r_next) or n_columns <= j < r_next:
                            continue
                        for f in range(lanes):
                            li = ratio[p + 1 + i, f]
                            lj = ratio[p + 1 + j, f]
                            a[level + 1, goes + j, f] = (
                                a[level, source + j, f] - li * a[level, row + p + 1 + j, f]
                            )
                            t[level + 1, goes + j, f] = (
                                t[level, source + j, f]
                                - li * rest[p + 1 + j, f]
                                - t[level, pi, f] * lj
                            )
                level += 1
                base[level] = member + 1
                left[level] = r_next
                at[level] = -1
                sets[level] = now
                continue
            begin = 0 if few else p + 1
            held = 0.0
            for f in range(lanes):
                held += t[level, r * w + r, f] - ratio[r, f] * (t[level, row + r, f] + rest[r, f])
            for j in range(begin, r):
                for f in range(lanes):
                    lj = ratio[j, f]
                    alone = max(a[level, j * w + j, f] - lj * a[level, row + j, f], TOLERANCE)
                    to_y = a[level, j * w + r, f] - lj * a[level, row + r, f]
                    left_a[j, f] = alone
                    with_y[j, f] = to_y
                    over = 0.0 if size == 1 else 1.0 / alone
                    inverses[j, f] = over
                    slopes[j, f] = to_y * over
                    left_t[j, f] = t[level, j * w + j, f] - lj * (t[level, row + j, f] + rest[j, f])
                    held_y[j, f] = (
                        t[level, j * w + r, f]
                        - lj * rest[r, f]
                        - t[level, row + j, f] * ratio[r, f]
                    )
            for c in range(
                first if size == 2 else begin, 1 if size == 1 else last if size == 2 else r - 1
            ):
                then = now
                if size > 1:
                    then = step[now, classes[base[level] + c]]
                    if then != goal and base[level] + c >= n_gapped:
                        break
                    if needed[min(base[level] + c + 1, n_gapped), then] > 1:
                        continue
                end = r if then == goal else min(r, n_gapped - base[level])
                for d in range(first if size == 1 else c + 1, last if size == 1 else end):
                    if then != goal and step[then, classes[base[level] + d]] != goal:
                        continue
                    cd = c * w + d
                    value = 0.0
                    for f in range(lanes):
                        acd = a[level, cd, f] - ratio[c, f] * a[level, row + d, f]
                        tcd = (
                            t[level, cd, f]
                            - ratio[c, f] * rest[d, f]
                            - t[level, row + c, f] * ratio[d, f]
                        )
                        ld = acd * inverses[c, f]
                        pivot = max(left_a[d, f] - ld * acd, TOLERANCE)
                        slope = (with_y[d, f] - slopes[c, f] * acd) / pivot
                        other = slopes[c, f] - ld * slope
                        value += slope * (slope * left_t[d, f] + 2.0 * (other * tcd - held_y[d, f]))
                        value += other * (other * left_t[c, f] - 2.0 * held_y[c, f])
                    value += held
                    if value < worst:
                        place = hold(values, picks, count, value)
                        count = min(count + 1, values.size)
                        for i in range(size - 2):
                            picks[place, i] = chosen[i]
                        if size > 1:
                            picks[place, size - 2] = base[level] + c
                        picks[place, size - 1] = base[level] + d
                        worst = values[0] if count == values.size else np.inf
        return count

    kernel: Callable[..., int] = search_folds
    return kernel


def residuals_after(gram: F64) -> F64:
    """Return the products of residuals on all tasks from each place on, (n + 1, n + 1, n + 1)."""
    n = len(gram) - 1
    after = np.empty((n + 1, n + 1, n + 1))
    after[n] = gram
    for k in reversed(range(n)):
        a = after[k + 1]
        after[k] = a - np.outer(a[k], a[k] / max(a[k, k], TOLERANCE))
    return after


@njit(**KERNEL_OPTIONS)
def gram_search(
    a_top: F64, yy_top: float, scale: float, limit: float, after: F64, where: Where
) -> int:
    """Search the least residual sums of squares of one Gram matrix, times `scale`, below `limit`.

    As the kernel of :func:`fold_search`, with training products alone: the last task is a loop over
    contiguous numbers, which asks without a division whether any of them is worth a look. A prefix
    that leaves too much even with all tasks after it is left out; `after` is what
    :func:`residuals_after` returns, or empty if there is no such bound.
    """
    classes, step, needed, start, goal, n_gapped, size, first, last, values, picks, count = where
    n = a_top.shape[0] - 1
    depth = max(size - 2, 1)
    a = np.zeros((depth, (n + 1) * (n + 1) + _BLOCK))
    diagonal = np.empty((depth, n + 1))
    column = np.empty((depth, n + 1))
    yy = np.empty(depth)
    for i in range(n):
        for j in range(i, n):
            a[0, i * n + j] = a_top[i, j]
        diagonal[0, i] = a_top[i, i]
        column[0, i] = a_top[i, n]
    pivots, with_y = np.full(n + _BLOCK, np.inf), np.zeros(n + _BLOCK)
    inverses = np.empty(n + 1)
    root, slopes = np.empty((size, size)), np.empty(size)
    chosen = np.zeros(max(size, 3), np.int64)
    base = np.zeros(depth, np.int64)
    left = np.empty(depth, np.int64)
    at = np.empty(depth, np.int64)
    sets = np.empty(depth, np.int64)
    # Up to two tasks have none ahead of them: nothing is eliminated, as by an infinite pivot.
    few = size < 3
    left[0], at[0], sets[0], yy[0], level = n, -1 if few else first - 1, start, yy_top, 0
    worst = min(limit, values[0]) if count == values.size else limit
    unscale = 1.0 / scale
    while level >= 0:
        at[level] += 1
        p, r, missing = at[level], left[level], max(size - level, 3)
        if p > r - min(missing, size) or (level == 0 and p >= (1 if few else last)):
            level -= 1
            continue
        member, now, spare = base[level] + p, sets[level], missing - 1
        if not few:
            now = step[now, classes[member]]
            if now != goal and member >= n_gapped:
                level -= 1
                continue
            spare -= needed[min(member + 1, n_gapped), now]
            if spare < 0:
                continue
        chosen[level] = member
        if after.size > 0 and level > 0:
            rest = after[member + 1, n, n]
            for i in range(level + 1):
                for j in range(i + 2):
                    s = after[member + 1, chosen[i], n if j > i else chosen[j]]
                    for m in range(min(i, j)):
                        s -= root[i, m] * (slopes[m] if j > i else root[j, m])
                    if j < i:
                        root[i, j] = s / root[j, j]
                    elif j == i:
                        root[i, i] = np.sqrt(max(s, TOLERANCE))
                    else:
                        slopes[i] = s / root[i, i]
                rest -= slopes[i] * slopes[i]
            if rest > worst * unscale + 1e-13 * yy_top:
                continue
        row = p * r
        inverse = 0.0 if few else 1.0 / max(diagonal[level, p], TOLERANCE)
        cy = column[level, p]
        yy_next = yy[level] - cy * cy * inverse
        if missing > 3:
            r_next = r - p - 1
            gapped = min(max(n_gapped - member - 1, 0), r_next)
            n_rows, n_columns = r_next if spare > 1 else gapped, r_next if spare > 0 else gapped
            for i in range(n_columns):
                ci = a[level, row + p + 1 + i]
                li = ci * inverse
                source = (p + 1 + i) * r + p + 1
                goes = i * r_next
                for j in range(i + 1, n_columns if i < n_rows else 0):
                    a[level + 1, goes + j] = a[level, source + j] - li * a[level, row + p + 1 + j]
                diagonal[level + 1, i] = diagonal[level, p + 1 + i] - li * ci
                column[level + 1, i] = column[level, p + 1 + i] - li * cy
            level += 1
            yy[level] = yy_next
            base[level] = member + 1
            left[level] = r_next
            at[level] = -1
            sets[level] = now
            continue
        begin = 0 if few else p + 1
        for j in range(r, r + _BLOCK):
            pivots[j] = np.inf
        for j in range(begin, r):
            lj = a[level, row + j] * inverse
            pivot = max(diagonal[level, j] - lj * a[level, row + j], TOLERANCE)
            pivots[j], inverses[j] = pivot, 1.0 / pivot
            with_y[j] = column[level, j] - lj * cy
        for c in range(
            first if size == 2 else begin, 1 if size == 1 else last if size == 2 else r - 1
        ):
            then = now
            if size > 1:
                then = step[now, classes[base[level] + c]]
                if then != goal and base[level] + c >= n_gapped:
                    break
                if needed[min(base[level] + c + 1, n_gapped), then] > 1:
                    continue
            inverse_c = 0.0 if size == 1 else inverses[c]
            slope_c = with_y[c] * inverse_c
            yy_c = yy_next - with_y[c] * slope_c
            lc = a[level, row + c] * inverse
            # What one more task must explain to be worth a look, rounding allowed for.
            gain = yy_c - worst * unscale - 1e-14 * yy_top
            begin_d = first if size == 1 else c + 1
            end = last if size == 1 else r if then == goal else min(r, n_gapped - base[level])
            promising = 0
            for block in range(begin_d, end, _BLOCK):
                for k in range(_BLOCK):
                    cd = a[level, c * r + block + k] - lc * a[level, row + block + k]
                    dy = with_y[block + k] - slope_c * cd
                    pivot = max(pivots[block + k] - cd * cd * inverse_c, TOLERANCE)
                    promising += dy * dy > gain * pivot
            if promising == 0:
                continue
            for d in range(begin_d, end):
                cd = a[level, c * r + d] - lc * a[level, row + d]
                dy = with_y[d] - slope_c * cd
                pivot = max(pivots[d] - cd * cd * inverse_c, TOLERANCE)
                value = (yy_c - dy * dy / pivot) * scale
                if not value < worst:
                    continue
                if then != goal and step[then, classes[base[level] + d]] != goal:
                    continue
                place = hold(values, picks, count, value)
                count = min(count + 1, values.size)
                for i in range(size - 2):
                    picks[place, i] = chosen[i]
                if size > 1:
                    picks[place, size - 2] = base[level] + c
                picks[place, size - 1] = base[level] + d
                worst = min(limit, values[0]) if count == values.size else limit
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
