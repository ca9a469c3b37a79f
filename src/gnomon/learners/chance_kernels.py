"""The loops behind :func:`gnomon.learners.chance.count_attempts`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.engine import ACCEPTED, DENIED, IMMOVABLE, RESET, permitted
from gnomon.learners.one_board import OneBoard, attempt

__all__ = ["count_known", "count_permitted"]

_Int = npt.NDArray[np.int64]


@njit(cache=True)
def count_permitted(
    game: OneBoard,
    n_attempts: _Int,
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    mask: npt.NDArray[np.int8],
    n_permitted: _Int,
) -> bool:
    """Replay a trial and count what the rule permits; return whether the outcomes are the same."""
    row = 0
    for episode in range(n_attempts.shape[0]):
        attempt(game, RESET, episode)
        changed = True
        for _ in range(n_attempts[episode]):
            if changed:
                permitted(game.program, game.state, game.seen, game.replies, mask)
                n_permitted[row] = mask.sum()
            else:
                n_permitted[row] = n_permitted[row - 1]
            outcome = attempt(game, int(actions[row]), 0)
            if outcome != outcomes[row]:
                return False
            changed = outcome == ACCEPTED
            row += 1
    return True


@njit(cache=True)
def count_known(
    boards: npt.NDArray[np.uint8],
    n_attempts: _Int,
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    n_pieces: _Int,
    n_failed: _Int,
) -> None:
    """Count the pieces on the board, and the attempts known to fail, before each attempt."""
    failed = np.zeros(144, dtype=np.bool_)
    row = 0
    for episode in range(n_attempts.shape[0]):
        left = 0
        for cell in range(36):
            left += boards[episode, cell] != 0
        failed[:] = False
        n = 0
        for _ in range(n_attempts[episode]):
            n_pieces[row] = left
            n_failed[row] = n
            action, outcome = int(actions[row]), outcomes[row]
            if outcome == ACCEPTED:
                left -= 1
                failed[:] = False
                n = 0
            elif outcome in (DENIED, IMMOVABLE):
                first = action if outcome == DENIED else action & ~3
                for a in range(first, first + (1 if outcome == DENIED else 4)):
                    n += not failed[a]
                    failed[a] = True
            row += 1
