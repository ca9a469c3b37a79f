"""The search for the least cross-validated errors. Importing this module loads Numba.

It walks over prefixes and *eliminates* a task from a Gram matrix when it joins the prefix: what
remains are the products of residuals, so all subsets that share a prefix share its work, and the
last task is a division. With training products A and held-out products T, eliminating task p with
l = A[p, :] / A[p, p] gives

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

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.distill.search.heap import hold
from gnomon.distill.search.precision import KERNEL_OPTIONS, TOLERANCE
from gnomon.distill.search.row_steps import two_more_reach

__all__ = ["fold_search", "n_lanes"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]


def n_lanes(n_folds: int) -> int:
    """Return the number of lanes for so many folds: the next multiple of four."""
    return -(-n_folds // 4) * 4


@lru_cache
def fold_search(lanes: int) -> Callable[..., int]:
    """Return the kernel for cross-validated errors with so many lanes."""

    @njit(**KERNEL_OPTIONS)
    def search_folds(
        a_top: F64,
        t_top: F64,
        tyy_top: F64,
        weights: F64,
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
        """Search all subsets of `size` members whose first member lies in [first, last).

        a_top, t_top are (n + 1, n + 1, lanes), the target last; upper triangles are read. The least
        errors go to the heap (values, picks); returns how many it holds.
        """
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
