"""Uniform numbers for one learner, drawn ahead in blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class Draws:
    """Rows of uniform numbers in [0, 1), one row for each attempt of a learner.

    Compiled code cannot be handed a generator cheaply (seven microseconds a call), so a learner
    draws ahead, and every attempt uses a row of fixed width whether it needs all of it or not. A
    choice among ``n`` is ``floor(u * n)``. Row ``i`` is always numbers ``i * width`` and following
    of the generator's stream, however many rows are looked at ahead: this is why a loop over a
    whole trial, and one attempt at a time, see the same numbers.

    A row has ``width`` numbers; ``block`` rows at least are drawn at a time, which changes no
    number.
    """

    def __init__(self, width: int, *, rng: np.random.Generator, block: int = 256) -> None:
        self._rng = rng
        self._block = block
        self._rows = np.empty((0, width))
        self._used = 0

    def ahead(self, n_rows: int) -> npt.NDArray[np.float64]:
        """Return the next rows without using them: at least ``n_rows``."""
        rest = self._rows[self._used :]
        if len(rest) < n_rows:
            new = max(n_rows - len(rest), self._block)
            self._rows = np.concatenate([rest, self._rng.random((new, rest.shape[1]))])
            self._used = 0
        return self._rows[self._used :]

    def use(self, n_rows: int) -> None:
        """Advance past the next ``n_rows``, which :meth:`ahead` has returned."""
        self._used += n_rows

    def row(self) -> npt.NDArray[np.float64]:
        """Return the next row and use it."""
        row: npt.NDArray[np.float64] = self.ahead(1)[0]
        self.use(1)
        return row
