"""Errors of given subsets, each on the rows that are complete for it. Loads Numba."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.search.folds import Folds
from gnomon.distillation.search.subset_kernels import KERNEL_OPTIONS, TOLERANCE
from gnomon.scores.table import FloatArray

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]


def subset_errors(
    data: PreparedScores, subsets: Sequence[Sequence[str]], *, folds: Folds | None = None
) -> FloatArray:
    """Return the cross-validated and the in-sample error of some subsets, all of one size.

    Parameters
    ----------
    data : PreparedScores
    subsets : sequence of sequences of str
    folds : Folds, optional
        Ten, shuffled as the Atari-5 paper's code does, if not given.

    Returns
    -------
    ndarray of float, shape (subsets, 2)
        NaN where there are fewer complete rows than folds, or a fold leaves fewer than tasks.

    Raises
    ------
    UnknownNameError
        A task is not in the table.
    """
    if not subsets:
        return np.empty((0, 2))
    columns = np.array([data.columns(tasks) for tasks in subsets], dtype=np.int64)
    return errors_of(data.x, data.target, columns, folds or Folds())


def errors_of(x: FloatArray, y: FloatArray, columns: I64, folds: Folds) -> FloatArray:
    """Return what :func:`subset_errors` does, of columns: shape (subsets, tasks)."""
    gaps = np.sort(np.isnan(x).sum(axis=0))[::-1]
    size = columns.shape[1]
    n_rows = int((~np.isnan(y)).sum())
    least = folds.least_rows(size)
    # Only these numbers of rows can occur.
    fewest = max(least, n_rows - int(gaps[:size].sum()))
    if fewest > n_rows:
        return np.full((len(columns), 2), np.nan)
    spots, starts = _places(folds, fewest, n_rows)
    out = np.empty((len(columns), 2))
    transposed = np.ascontiguousarray(x.T)
    errors_by_rows(transposed, y, columns.astype(np.int32), spots, starts, fewest, out)
    return out


@lru_cache(maxsize=2)
def _places(folds: Folds, fewest: int, most: int) -> tuple[npt.NDArray[np.int32], I64]:
    """Return where each of n rows stands if those of a fold stand together, and the starts."""
    spots = np.zeros((most - fewest + 1, most), dtype=np.int32)
    starts = np.zeros((most - fewest + 1, folds.n_folds + 1), dtype=np.int64)
    for n in range(fewest, most + 1):
        fold = folds.of(n)
        spots[n - fewest, np.argsort(fold, kind="stable")] = np.arange(n)
        starts[n - fewest, 1:] = np.cumsum(np.bincount(fold, minlength=folds.n_folds))
    return spots, starts


@njit(**KERNEL_OPTIONS)
def errors_by_rows(
    x: F64, y: F64, subsets: I32, spots: I32, starts: I64, least_rows: int, out: F64
) -> None:
    """Fill `out`, (subsets, 2), with the cross-validated and the in-sample error of each subset.

    For tables in which nearly every subset has rows of its own, and for short lists. x is
    (tasks, algorithms). With n complete rows, the i-th of them goes to place
    `spots[n - least_rows, i]`, so that the rows of fold f stand from `starts[n - least_rows, f]` to
    the next start. NaN where there are fewer rows than `least_rows`.
    """
    n_rows = y.size
    size = subsets.shape[1]
    n_folds = starts.shape[1] - 1
    w = size + 1
    z = np.empty((w, n_rows))
    held = np.zeros((n_folds + 1, w, w))
    total = np.empty((w, w))
    factor = np.empty((w, w))
    slope = np.empty(w)
    slope[size] = -1.0
    prefix_rows = np.empty(n_rows, np.int64)
    rows = np.empty(n_rows, np.int64)
    n_prefix = 0
    for k in range(subsets.shape[0]):
        same = k > 0
        for i in range(size - 1):
            same = same and subsets[k, i] == subsets[k - 1, i]
        if not same:
            # Rows that the tasks before the last have, which neighbours in a list share.
            n_prefix = 0
            for r in range(n_rows):
                whole = not np.isnan(y[r])
                for i in range(size - 1):
                    whole = whole and not np.isnan(x[subsets[k, i], r])
                prefix_rows[n_prefix] = r
                n_prefix += whole
        n = 0
        for q in range(n_prefix):
            rows[n] = prefix_rows[q]
            n += not np.isnan(x[subsets[k, size - 1], prefix_rows[q]])
        out[k, 0] = np.nan
        out[k, 1] = np.nan
        if n < least_rows:
            continue
        for j in range(size):
            task = subsets[k, j]
            for i in range(n):
                z[j, spots[n - least_rows, i]] = x[task, rows[i]]
        for i in range(n):
            z[size, spots[n - least_rows, i]] = y[rows[i]]
        total[:] = 0.0
        for f in range(n_folds):
            begin, end = starts[n - least_rows, f], starts[n - least_rows, f + 1]
            for i in range(w):
                u = z[i, begin:end]
                for j in range(i + 1):
                    v = z[j, begin:end]
                    s = 0.0
                    for r in range(u.size):
                        s += u[r] * v[r]
                    held[f, i, j] = s
                    total[i, j] += s
        # The last "fold" holds nothing out: its residual is the in-sample one.
        mean = 0.0
        for f in range(n_folds + 1):
            for i in range(w):
                for j in range(i + 1):
                    s = total[i, j] - held[f, i, j]
                    for m in range(j):
                        s -= factor[i, m] * factor[j, m]
                    if i > j:
                        factor[i, j] = s * factor[j, j]
                    elif i < size:
                        # Inverse of the pivot; 0 leaves a collinear task out.
                        factor[i, i] = 1.0 / np.sqrt(s) if s > TOLERANCE * total[i, i] else 0.0
                    else:
                        factor[i, i] = s
            if f == n_folds:
                out[k, 1] = factor[size, size] / n
                break
            for i in range(size - 1, -1, -1):
                s = factor[size, i]
                for m in range(i + 1, size):
                    s -= factor[m, i] * slope[m]
                slope[i] = s * factor[i, i]
            sse = 0.0
            for i in range(w):
                for j in range(i):
                    sse += 2.0 * slope[i] * slope[j] * held[f, i, j]
                sse += slope[i] * slope[i] * held[f, i, i]
            mean += sse / (starts[n - least_rows, f + 1] - starts[n - least_rows, f])
        out[k, 0] = mean / n_folds
