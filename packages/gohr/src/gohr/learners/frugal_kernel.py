"""The compiled functions of the frugal player, which repeats no failure on a board as it lies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards

_Failed = npt.NDArray[np.bool_]


@njit(cache=True)
def choose(failed: _Failed, codes: Codes, last: int, draws: Draws, at: int) -> int:
    """Choose any attempt on an occupied cell that has not failed; -1 if there is none."""
    n_open = 0
    for action in range(144):
        n_open += (codes[action >> 2] > 0) & (not failed[action])
    if n_open == 0:
        return -1
    k = int(draws[at, 0] * n_open)
    action = -1
    seen = -1
    while seen < k:
        action += 1
        seen += (codes[action >> 2] > 0) & (not failed[action])
    return action


@njit(cache=True)
def learn(failed: _Failed, made: Made, codes: Codes, draws: Draws, at: int) -> None:
    """Remember a failure until the board changes."""
    outcome = int(np.int64(made.outcome))  # as Python hands it over
    note_failure(failed, made.action, outcome, made.terminated or made.truncated)


@njit(cache=True)
def note_failure(failed: _Failed, action: int, outcome: int, over: bool) -> None:
    """Mark what an outcome rules out until the board changes.

    A denied attempt rules out itself, and a piece that cannot be moved its four attempts.
    """
    if over or outcome == ACCEPTED:
        failed[:] = False
    elif outcome == DENIED:
        failed[action] = True
    elif outcome == IMMOVABLE:
        for bucket in range(4):
            failed[(action & ~3) + bucket] = True


@njit(cache=True, nogil=True)
def play(failed: _Failed, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(choose, learn, failed, plays_on, trial, draws)
