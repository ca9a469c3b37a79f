"""The compiled functions of the uniform player, which learns nothing."""

from __future__ import annotations

from numba import njit

from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards


@njit(cache=True)
def choose(player: int, codes: Codes, last: int, draws: Draws, at: int) -> int:
    """Choose any attempt on an occupied cell; -1 if there is none."""
    n_pieces = 0
    for cell in range(36):
        n_pieces += codes[cell] > 0
    if n_pieces == 0:
        return -1
    k = int(draws[at, 0] * (4 * n_pieces))
    cell = -1
    seen = -1
    while seen < k >> 2:
        cell += 1
        seen += codes[cell] > 0
    return 4 * cell + (k & 3)


@njit(cache=True)
def learn(player: int, made: Made, codes: Codes, draws: Draws, at: int) -> None:
    """Learn nothing."""


@njit(cache=True, nogil=True)
def play(player: int, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(choose, learn, player, plays_on, trial, draws)
