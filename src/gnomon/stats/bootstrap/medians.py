"""The bootstrap of medians of many columns whose rows are drawn together, such as learning curves.

A median is one value of its column, or the mean of two, so a resample is told by their two places in
ascending order, and all quantiles of the resamples by how often each two places were drawn.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.kernels import STRIDE, mix

__all__ = ["median_intervals", "median_replicates_of"]

_Places = npt.NDArray[np.uint32]
_Ints = npt.NDArray[np.int64]

#: Columns whose resamples are held in memory together; has no influence on any number.
COLUMN_BLOCK = 32
#: So many pairs of places are counted one by one; of more, those that were drawn are sorted.
_MOST_PAIRS = 1 << 20
_S32 = np.uint64(32)


def median_intervals(
    columns: FloatArray, key: np.uint64, n_resamples: int, level: float, *, n_threads: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the percentile interval of the median of each column.

    Parameters
    ----------
    columns : ndarray of float, shape (columns, rows)
        At least one row; may hold infinite values, not NaN.
    key : uint64
        From :func:`gnomon.stats.bootstrap.resamples.draw_key`.
    n_resamples : int
        Number of resamples of rows, which all columns share.
    level : float
        Confidence level, between 0 and 1.
    n_threads : int
        Threads to work with; does not change the result.

    Returns
    -------
    low, high : ndarray of float, shape (columns,)
        Quantiles of the resampled medians, as :func:`numpy.quantile` has them (linear).
    """
    order = np.argsort(columns, axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=1)
    # Where the order stays, as it does once all have learned, so do the places.
    is_new = np.append(True, (order[1:] != order[:-1]).any(axis=1))[: len(order)]
    which, ends = np.cumsum(is_new) - 1, np.empty((2, len(columns)))

    def fill(first: int) -> None:
        block = order[is_new][first : first + COLUMN_BLOCK]
        counted = [_counted(x, order.shape[1]) for x in _median_places(block, key, n_resamples)]
        for column in np.flatnonzero((which >= first) & (which < first + len(block))):
            low, high, counts = counted[which[column] - first]
            medians = _middle(ordered[column, low], ordered[column, high])
            ends[:, column] = _quantiles(medians, counts, [(1 - level) / 2, (1 + level) / 2])

    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(fill, range(0, int(is_new.sum()), COLUMN_BLOCK)))
    return ends[0], ends[1]


def median_replicates_of(column: FloatArray, key: np.uint64, n_resamples: int) -> FloatArray:
    """Return the median of one column, shape (rows,), in every resample."""
    order = np.argsort(column, kind="stable")
    low, high = np.divmod(_median_places(order[None], key, n_resamples)[0], column.size)
    return _middle(column[order[low]], column[order[high]])


def _median_places(order: _Ints, key: np.uint64, n_resamples: int) -> _Places:
    places = np.empty((order.shape[0], n_resamples), dtype=np.uint32)
    _draw_median_places(key, order, places)
    return places


def _counted(
    drawn: _Places, n: int
) -> tuple[_Ints, _Ints, _Ints]:
    """Return both places of each pair that was drawn, and how often it was."""
    if n * n <= _MOST_PAIRS:
        counts = np.bincount(drawn)
        found = np.flatnonzero(counts)
        counts = counts[found]
    else:
        found, counts = np.unique(drawn.astype(np.int64), return_counts=True)
    low, high = np.divmod(found, n)
    return low, high, counts


def _middle(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what lies in the middle between two values, which may be infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(low < high, low + (high - low) / 2.0, low)


def _quantiles(
    values: FloatArray, counts: _Ints, probabilities: list[float]
) -> FloatArray:
    """Return quantiles of values that occur several times."""
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(counts[order])
    at = np.asarray(probabilities) * (up_to[-1] - 1)
    below, above = (
        values[order[np.searchsorted(up_to, place, side="right")]]
        for place in (np.floor(at), np.ceil(at))
    )
    with np.errstate(invalid="ignore"):
        mixed = below + (at - np.floor(at)) * (above - below)
    return np.where((below == above) | (at == np.floor(at)), below, mixed)


@njit(cache=True, nogil=True)
def _draw_median_places(key: np.uint64, order: _Ints, places: _Places) -> None:
    """Fill `places`, (columns, resamples), with ``low * rows + high``: where each median lies.

    Row c of `order`, (columns, rows), holds the rows of a column by ascending value. The search
    begins at the middle of the column: the draws below it are those of the last column, save for
    the rows that have crossed the middle.
    """
    n_columns, n = order.shape
    low_rank, high_rank = (n - 1) // 2, n // 2
    crossed, n_crossed = _crossings(order, low_rank)
    counts = np.empty(n, np.int64)
    n_rows = np.uint64(n)
    for b in range(places.shape[1]):
        state = mix(key + np.uint64(b + 1) * STRIDE)
        counts[:] = 0
        for _ in range(n):
            state += STRIDE
            counts[np.int64(((mix(state) >> _S32) * n_rows) >> _S32)] += 1
        below = 0
        for c in range(n_columns):
            for k in range(n_crossed[c]):
                row = crossed[c, k]
                below += counts[row] if row >= 0 else -counts[-1 - row]
            seen, i = below, low_rank
            while seen - counts[order[c, i]] > low_rank:
                seen -= counts[order[c, i]]
                i -= 1
            while seen <= low_rank:
                i += 1
                seen += counts[order[c, i]]
            low = i
            while seen <= high_rank:
                i += 1
                seen += counts[order[c, i]]
            places[c, b] = low * n + i


@njit(cache=True, nogil=True)
def _crossings(
    order: _Ints, middle: int
) -> tuple[_Ints, _Ints]:
    """Return which rows come to lie at or below the middle of each column, or no longer do.

    The latter as ``-1 - row``; and how many they are. For the first column: all that lie there.
    """
    n_columns, n = order.shape
    crossed = np.empty((n_columns, n), np.int64)
    n_crossed = np.zeros(n_columns, np.int64)
    was_below = np.zeros(n, np.bool_)
    for c in range(n_columns):
        for i in range(n):
            row = order[c, i]
            if (i <= middle) != was_below[row]:
                crossed[c, n_crossed[c]] = row if i <= middle else -1 - row
                n_crossed[c] += 1
                was_below[row] = i <= middle
    return crossed, n_crossed
