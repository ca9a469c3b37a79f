"""The compiled functions of tabular Q-learning: choose an attempt, learn from one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards

if TYPE_CHECKING:
    from gohr.learners.tabular_q import QTable


@njit(cache=True)
def choose(player: QTable, codes: Codes, last: int, draws: Draws, at: int) -> int:
    """Choose an attempt: any with probability epsilon, else one of the best."""
    settings, values = player.settings, player.values
    every_cell = settings.actions_all
    epsilon = settings.epsilon_end + (settings.epsilon_start - settings.epsilon_end) * np.exp(
        -player.n_attempts[0] / settings.epsilon_decay
    )
    explore = draws[at, 0] < epsilon
    best = -np.inf
    n_best = 0
    for cell in range(36):
        if codes[cell] != 0 or every_cell:
            for bucket in range(4):
                value = 0.0 if explore else values[last, codes[cell], bucket]
                if value > best:
                    best = value
                    n_best = 0
                n_best += value == best
    k = int(draws[at, 1] * n_best) if explore or settings.tie_break_random else 0
    for cell in range(36):
        if codes[cell] != 0 or every_cell:
            for bucket in range(4):
                if explore or values[last, codes[cell], bucket] == best:
                    if k == 0:
                        return 4 * cell + bucket
                    k -= 1
    return -1


@njit(cache=True)
def learn(player: QTable, made: Made, codes: Codes, draws: Draws, at: int) -> None:
    """Move the value of a class towards r + gamma max Q(s', a')."""
    settings, values = player.settings, player.values
    target = made.reward
    if not made.terminated:
        best = -np.inf
        for cell in range(36):
            if codes[cell] != 0 or settings.actions_all:
                for b in range(4):
                    best = max(best, values[made.after, codes[cell], b])
        target += settings.gamma * best
    last, code, bucket = made.last, made.code, made.action & 3
    values[last, code, bucket] += settings.learning_rate * (target - values[last, code, bucket])
    player.n_attempts[0] += 1


@njit(cache=True, nogil=True)
def play(player: QTable, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(choose, learn, player, plays_on, trial, draws)
