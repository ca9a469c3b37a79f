"""Views of boards in play: what a player sees, and the rows of replies that hold it."""

from __future__ import annotations

from abc import ABC
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_CELLS

# Rows of the replies: input and output.
ACTION = 0
SHAPE = 1
COLOR = 2
BUCKET = 3
OUTCOME = 4
REWARD = 5
TERMINATED = 6
TRUNCATED = 7
STANDS = 8
# State of the engine: attempts so far, and whether the episode is over.
N_ATTEMPTS = 9
OVER = 10
N_REPLIES = 11

Replies: TypeAlias = npt.NDArray[np.int32]


class BoardViews(ABC):
    """Names for the parts of two arrays.

    Attributes
    ----------
    seen : numpy.ndarray of uint8, shape (num_envs, 180)
        The observation: the code of each cell, and for each of the 144 attempts whether its cell
        holds a piece.
    replies : numpy.ndarray of int32, shape (11, num_envs)
        The actions to make, and their results, row by row.
    """

    __slots__ = ()

    seen: npt.NDArray[np.uint8]
    replies: Replies

    def _row(self, number: int) -> Replies:
        row: Replies = self.replies[number]
        return row

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """Contents of each cell, shape (num_envs, 36)."""
        return self.seen[:, :N_CELLS]

    @property
    def occupied(self) -> npt.NDArray[np.int8]:
        """1 for the attempts on cells that hold a piece, shape (num_envs, 144)."""
        return self.seen[:, N_CELLS:].view(np.int8)

    @property
    def last(self) -> Replies:
        """Shape, colour and bucket of the last accepted attempt, shape (3, num_envs)."""
        return self.replies[SHAPE : BUCKET + 1]

    @property
    def outcome(self) -> Replies:
        """Last outcome, one of the codes of :mod:`gohr.game.outcomes`; shape (num_envs,)."""
        return self._row(OUTCOME)

    @property
    def reward(self) -> Replies:
        """Reward of the last step, 0 or -1; shape (num_envs,)."""
        return self._row(REWARD)

    @property
    def terminated(self) -> npt.NDArray[np.bool_]:
        """Whether the last step cleared the board or found it stuck; shape (num_envs,)."""
        return self._row(TERMINATED).astype(np.bool_)

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Whether the last step reached the horizon; shape (num_envs,)."""
        return self._row(TRUNCATED).astype(np.bool_)

    @property
    def finish(self) -> Replies:
        """State of each episode: in progress, cleared, or stalemate; shape (num_envs,)."""
        return self._row(STANDS)
