"""The loop behind :func:`gnomon.leaderboard.verification.replay.replay`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.engine.batch import Int
from gnomon.game.outcomes import EPISODE_OVER, RESET
from gnomon.learners.one_board import OneBoard, attempt

__all__ = ["replay_rows"]


@njit(cache=True)
def replay_rows(
    game: OneBoard,
    n_rows: Int,
    stuck: npt.NDArray[np.bool_],
    actions: Int,
    outcomes: Int,
    stands: Int,
    stands_first: Int,
) -> None:
    """Deal each board, make its attempts, and fill what came of each and of the board itself."""
    row = 0
    for episode in range(n_rows.shape[0]):
        attempt(game, RESET, episode)
        stands_first[episode] = game.finish[0]
        for _ in range(n_rows[episode]):
            if stuck[episode]:
                outcomes[row] = EPISODE_OVER
            else:
                outcomes[row] = attempt(game, actions[row], 0)
            stands[row] = game.finish[0]
            row += 1
