"""The kernel behind :func:`gohr.board.draw_boards`, plain and compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt


# The uniforms come from outside: a generator costs seven microseconds to pass to compiled code, and
# a kernel that is a pure function of its arrays can be checked against a plain one. Each choice
# among n is floor(u * n); with at most 255 outcomes its bias is below 2**-45.
def deal(
    uniforms: npt.NDArray[np.float64],
    numbers: npt.NDArray[np.int64],
    boards: npt.NDArray[np.uint8],
) -> None:
    """Fill zeroed ``boards`` (n, 36) with codes, each row from a row of ``uniforms``.

    ``numbers`` holds the least and most number of pieces, of shapes and of colours, and the sizes
    of the two palettes. A row of uniforms must hold
    ``3 + 3 * most pieces + 2 * (most shapes + most colours)`` values.
    """
    n_cells = boards.shape[1]
    cells = np.empty(n_cells, dtype=np.int64)
    pieces = np.empty(n_cells, dtype=np.int64)
    palette = np.empty(256, dtype=np.int64)
    drawn = np.empty(3, dtype=np.int64)
    for b in range(boards.shape[0]):
        for q in range(3):
            low, high = numbers[2 * q], numbers[2 * q + 1]
            drawn[q] = low + int(uniforms[b, q] * (high - low + 1))
        n = drawn[0]
        u = 3

        for c in range(n_cells):
            cells[c] = c
        for i in range(n):
            j = i + int(uniforms[b, u] * (n_cells - i))
            u += 1
            cells[i], cells[j] = cells[j], cells[i]
            boards[b, cells[i]] = 1

        for feature in range(2):
            size = numbers[6 + feature]
            k = drawn[1 + feature]
            weight = numbers[7] if feature == 0 else 1
            for v in range(size):
                palette[v] = v
            # The first k entries become the names of the classes.
            for v in range(k):
                j = v + int(uniforms[b, u] * (size - v))
                u += 1
                palette[v], palette[j] = palette[j], palette[v]
            for i in range(n):
                pieces[i] = i
            # The first k entries become the pieces that are set, one to each class.
            for i in range(k):
                j = i + int(uniforms[b, u] * (n - i))
                u += 1
                pieces[i], pieces[j] = pieces[j], pieces[i]
            for i in range(n):
                name = palette[i] if i < k else palette[int(uniforms[b, u] * (k if k else size))]
                u += 1
                boards[b, cells[pieces[i]]] += weight * name


@cache
def compiled_deal() -> Callable[..., Any]:
    """Return the compiled kernel; Numba takes 100 MB, and a second to load."""
    from numba import njit

    return njit(cache=True)(deal)
