"""The errors of given subsets, row by row: for short lists, and tables with scattered gaps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnomon.distill.folds import Folds
from gnomon.distill.prepared import PreparedScores
from gnomon.scores.table import FloatArray

__all__ = ["errors_of", "subset_errors"]

I64 = npt.NDArray[np.int64]


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
    from gnomon.distill.search.row_kernel import errors_by_rows

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
