"""The loop behind :meth:`gnomon.learners.uniform.Uniform.play_trial`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.outcomes import RESET
from gnomon.learners.one_board import OneBoard, OpenLog, attempt

__all__ = ["play"]


@njit(cache=True, nogil=True)
def play(
    game: OneBoard,
    log: OpenLog,
    horizon: int,
    draws: npt.NDArray[np.float64],
    episode: int,
    n_rows: int,
) -> tuple[int, int]:
    """Play boards from ``episode`` on while the draws suffice; return both counters."""
    before = n_rows
    n_boards = game.deck.shape[0]
    while episode < n_boards and n_rows - before + horizon <= draws.shape[0]:
        attempt(game, RESET, episode)
        start = n_rows
        while game.finish[0] == 0 and n_rows - start < horizon:
            n_pieces = 0
            for cell in range(36):
                n_pieces += game.seen[0, cell] > 0
            k = int(draws[n_rows - before, 0] * (4 * n_pieces))
            cell = -1
            seen = -1
            while seen < k >> 2:
                cell += 1
                seen += game.seen[0, cell] > 0
            action = 4 * cell + (k & 3)
            log.outcomes[n_rows] = attempt(game, action, 0)
            log.actions[n_rows] = action
            n_rows += 1
        log.n_attempts[episode] = n_rows - start
        log.finish[episode] = game.finish[0]
        episode += 1
    return episode, n_rows
