"""The loops behind :func:`gnomon.learners.chance.count_attempts`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.engine import ACCEPTED, DENIED, IMMOVABLE, RESET, permitted, step

__all__ = ["count_known", "count_permitted"]

_Int = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def count_permitted(
    program: _Int,
    state: _Int,
    seen: npt.NDArray[np.uint8],
    replies: _Int,
    deck: npt.NDArray[np.uint8],
    n_attempts: _Int,
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    mask: npt.NDArray[np.int8],
    n_permitted: _Int,
) -> bool:
    """Replay a trial and count what the rule permits; return whether the outcomes are the same.

    The runner does this for every trial: the arrays come one by one, since a bundle of them would
    cost as much again.
    """
    # Rows of the engine's replies: 0 is the action, 4 the outcome.
    row = 0
    for episode in range(n_attempts.shape[0]):
        replies[0, 0] = RESET
        step(program, state, seen, replies, deck, episode, 0, 0)
        changed = True
        for _ in range(n_attempts[episode]):
            if changed:
                n_permitted[row] = permitted(program, state, seen, replies, mask)
            else:
                n_permitted[row] = n_permitted[row - 1]
            replies[0, 0] = actions[row]
            step(program, state, seen, replies, deck, 0, 0, 0)
            if replies[4, 0] != outcomes[row]:
                return False
            changed = replies[4, 0] == ACCEPTED
            row += 1
    return True


@njit(cache=True, nogil=True)
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
