"""The bootstrap of medians of many columns whose rows are drawn together, such as learning curves.

A median is one value of its column, or the mean of two, so a resample is told by their two places
in ascending order, and all quantiles of the resamples by how often each two places were drawn.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.kernels import STRIDE, mix

__all__ = ["median_intervals", "median_replicates_of"]

_Ints = npt.NDArray[np.int64]
#: Unsigned, as small as they may be: the processor then takes up to 32 of them at a time.
_Places = npt.NDArray[np.unsignedinteger]

#: Columns, and resamples, that are counted in one piece; neither has influence on any number.
COLUMN_BLOCK = 256
RESAMPLE_BLOCK = 1024
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
    which, different = np.cumsum(is_new) - 1, order[is_new]
    ends = np.empty((2, len(columns)))
    for first in range(0, len(different), COLUMN_BLOCK):
        block = different[first : first + COLUMN_BLOCK]
        places = _median_places(block, key, n_resamples, n_threads)
        counted = [_counted(drawn, order.shape[1]) for drawn in places]
        for column in np.flatnonzero((which >= first) & (which < first + len(block))):
            low, high, counts = counted[which[column] - first]
            medians = _middle(ordered[column, low], ordered[column, high])
            ends[:, column] = _quantiles(medians, counts, [(1 - level) / 2, (1 + level) / 2])
    return ends[0], ends[1]


def median_replicates_of(column: FloatArray, key: np.uint64, n_resamples: int) -> FloatArray:
    """Return the median of one column, shape (rows,), in every resample."""
    order = np.argsort(column, kind="stable")
    low, high = np.divmod(_median_places(order[None], key, n_resamples, 1)[0], column.size)
    return _middle(column[order[low]], column[order[high]])


def _median_places(order: _Ints, key: np.uint64, n_resamples: int, n_threads: int) -> _Places:
    """Return ``low * rows + high``, shape (columns, n_resamples): where each median lies.

    Row c of `order`, (columns, rows), holds the rows of a column by ascending value.
    """
    n = order.shape[1]
    small, code = next(
        (small, code)
        for small, code in (("u1", "u2"), ("u2", "u4"), ("u4", "u8"))
        if n <= np.iinfo(small).max
    )
    places: _Places = np.empty((order.shape[0], n_resamples), dtype=code)
    ranks = np.array([(n - 1) // 2, n // 2], dtype=small)

    def fill(first: int) -> None:
        _draw_places(key, first, order, ranks, places[:, first : first + RESAMPLE_BLOCK])

    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(fill, range(0, n_resamples, RESAMPLE_BLOCK)))
    return places


def _counted(drawn: _Places, n: int) -> tuple[_Ints, _Ints, _Ints]:
    """Return both places of each pair that was drawn, and how often it was."""
    if n * n <= _MOST_PAIRS:
        everywhere = np.bincount(drawn)
        found = np.flatnonzero(everywhere)
        counts = everywhere[found]
    else:
        found, counts = np.unique(drawn.astype(np.int64), return_counts=True)
    low, high = np.divmod(found, n)
    return low, high, counts


def _middle(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what lies in the middle between two values, which may be infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(low < high, low + (high - low) / 2.0, low)


def _quantiles(values: FloatArray, counts: _Ints, probabilities: list[float]) -> FloatArray:
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
    return np.asarray(np.where((below == above) | (at == np.floor(at)), below, mixed))


@njit(cache=True, nogil=True)
def _draw_places(key: np.uint64, first: int, order: _Ints, ranks: _Places, places: _Places) -> None:
    """Fill `places`, (columns, resamples), from resample `first` on.

    The place of a rank is the number of places up to which no more rows than that were drawn: sums
    without a branch, over all resamples side by side.
    """
    n_columns, n = order.shape
    n_resamples = places.shape[1]
    drawn = np.zeros((n, n_resamples), ranks.dtype)
    for b in range(n_resamples):
        state = mix(key + np.uint64(first + b + 1) * STRIDE)
        for _ in range(n):
            state += STRIDE
            drawn[np.int64(((mix(state) >> _S32) * np.uint64(n)) >> _S32), b] += 1
    up_to, low, high = np.empty((3, n_resamples), ranks.dtype)
    for c in range(n_columns):
        up_to[:], low[:], high[:] = 0, 0, 0
        for i in range(n):
            _add_row(drawn[order[c, i]], ranks[0], ranks[1], up_to, low, high)
        for b in range(n_resamples):
            places[c, b] = low[b] * n + high[b]


@njit(cache=True, nogil=True)
def _add_row(
    drawn: _Places,
    low_rank: np.unsignedinteger,
    high_rank: np.unsignedinteger,
    up_to: _Places,
    low: _Places,
    high: _Places,
) -> None:
    for b in range(drawn.size):
        up_to[b] += drawn[b]
        low[b] += up_to[b] <= low_rank
        high[b] += up_to[b] <= high_rank
