"""The board as a remote player sees it: what follows from the replies alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.game.board import N_BUCKETS, BoardSpec
from gnomon.game.outcomes import ACCEPTED
from gnomon.learners.base import Observation

__all__ = ["SeenBoard"]


class SeenBoard:
    """A board in play, without its rule: an accepted attempt takes a piece away, no other does.

    Parameters
    ----------
    codes : numpy.ndarray of uint8, shape (36,)
        What lies in each cell.
    spec : BoardSpec
        Gives the palettes that the codes index.
    last : sequence of int
        Shape, colour and bucket of the last accepted attempt; 0 for none, else 1 + index.

    Examples
    --------
    >>> from gnomon.game.board import DEFAULT_SPEC
    >>> board = SeenBoard(np.array([7] + [0] * 35, dtype=np.uint8), DEFAULT_SPEC)
    >>> board.attempted(2, 0)
    >>> board.codes.sum(), board.last
    (np.uint64(0), (2, 3, 3))
    """

    def __init__(
        self, codes: npt.NDArray[np.uint8], spec: BoardSpec, last: Sequence[int] = (0, 0, 0)
    ) -> None:
        self.codes = codes
        self._n_colors = len(spec.color_palette)
        self.last = (last[0], last[1], last[2])

    def attempted(self, action: int, outcome: int) -> None:
        """Take in what came of an attempt."""
        if outcome == ACCEPTED:
            cell, bucket = divmod(action, N_BUCKETS)
            shape, color = divmod(int(self.codes[cell]) - 1, self._n_colors)
            self.codes[cell] = 0
            self.last = (1 + shape, 1 + color, 1 + bucket)

    def mask(self) -> npt.NDArray[np.int8]:
        """Return 1 for the attempts on occupied cells, shape (144,)."""
        return np.repeat(self.codes > 0, N_BUCKETS).astype(np.int8)

    def observation(self) -> dict[str, Any]:
        """Return what a Gymnasium environment observes."""
        shape, color, bucket = self.last
        return {"board": self.codes.copy(), "shape": shape, "color": color, "bucket": bucket}

    def seen(self) -> Observation:
        """Return what a learner observes."""
        return Observation(self.codes.copy(), *self.last, self.mask())
