"""The loop behind :meth:`gnomon.learners.frugal.Frugal.play_trial`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.outcomes import (
    ACCEPTED,
    DENIED,
    IMMOVABLE,
    RESET,
)
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
    failed = np.zeros(144, dtype=np.bool_)
    n_boards = game.deck.shape[0]
    while episode < n_boards and n_rows - before + horizon <= draws.shape[0]:
        attempt(game, RESET, episode)
        failed[:] = False
        start = n_rows
        while game.finish[0] == 0 and n_rows - start < horizon:
            n_open = 0
            for action in range(144):
                n_open += (game.seen[0, action >> 2] > 0) & (not failed[action])
            k = int(draws[n_rows - before, 0] * n_open)
            action = -1
            seen = -1
            while seen < k:
                action += 1
                seen += (game.seen[0, action >> 2] > 0) & (not failed[action])
            outcome = attempt(game, action, 0)
            if outcome == ACCEPTED:
                failed[:] = False
            elif outcome == DENIED:
                failed[action] = True
            elif outcome == IMMOVABLE:
                for bucket in range(4):
                    failed[(action & ~3) + bucket] = True
            log.outcomes[n_rows] = outcome
            log.actions[n_rows] = action
            n_rows += 1
        log.n_attempts[episode] = n_rows - start
        log.finish[episode] = game.finish[0]
        episode += 1
    return episode, n_rows
