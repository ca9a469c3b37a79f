"""The least values so far and their tasks, as a max-heap that compiled loops fill."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["hold"]


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
