"""Which set of complete rows a search can still come to, as the compiled loops ask."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["two_more_reach"]

I64 = npt.NDArray[np.int64]


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
