"""Kernels of tabular Q-learning: choose an attempt, learn from one, play a trial."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game.outcomes import ACCEPTED, RESET
from gohr.learners.kernels.one_board import OneBoard, OpenLog, attempt
from gohr.learners.linear_models import TabularSettings

_Table = npt.NDArray[np.float64]


@njit(cache=True)
def choose(
    settings: TabularSettings,
    values: _Table,
    codes: npt.NDArray[np.uint8],
    last: int,
    n_attempts: int,
    draws: npt.NDArray[np.float64],
) -> int:
    """Choose an attempt: any with probability epsilon, else one of the best."""
    epsilon = settings.epsilon_end + (settings.epsilon_start - settings.epsilon_end) * np.exp(
        -n_attempts / settings.epsilon_decay
    )
    explore = draws[0] < epsilon
    best = -np.inf
    n_best = 0
    for cell in range(36):
        if codes[cell] != 0 or settings.all_cells:
            for bucket in range(4):
                value = 0.0 if explore else values[last, codes[cell], bucket]
                if value > best:
                    best = value
                    n_best = 0
                n_best += value == best
    k = int(draws[1] * n_best) if explore or settings.random_ties else 0
    for cell in range(36):
        if codes[cell] != 0 or settings.all_cells:
            for bucket in range(4):
                if explore or values[last, codes[cell], bucket] == best:
                    if k == 0:
                        return 4 * cell + bucket
                    k -= 1
    return -1


@njit(cache=True)
def learn(
    settings: TabularSettings,
    values: _Table,
    last: int,
    code: int,
    bucket: int,
    reward: float,
    next_codes: npt.NDArray[np.uint8],
    next_last: int,
    terminated: bool,
) -> None:
    """Move the value of a class towards r + gamma max Q(s', a')."""
    target = reward
    if not terminated:
        best = -np.inf
        for cell in range(36):
            if next_codes[cell] != 0 or settings.all_cells:
                for b in range(4):
                    best = max(best, values[next_last, next_codes[cell], b])
        target += settings.gamma * best
    values[last, code, bucket] += settings.learning_rate * (target - values[last, code, bucket])


@njit(cache=True, nogil=True)
def play(
    settings: TabularSettings,
    values: _Table,
    n_attempts: npt.NDArray[np.int64],
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
    codes = game.seen[0, :36]
    while episode < n_boards and n_rows - before + horizon <= draws.shape[0]:
        attempt(game, int(np.int64(RESET)), episode)
        start = n_rows
        last = int(np.int64(0))
        while game.finish[0] == 0 and n_rows - start < horizon:
            row = draws[n_rows - before]
            action = choose(settings, values, codes, last, n_attempts[0], row)
            code = int(codes[action >> 2])
            outcome = attempt(game, action, episode)
            before_it = last
            reward = -1.0
            if outcome == ACCEPTED:
                last = 4 * (code - 1) + 1 + (action & 3)
                reward = 0.0
            terminated = game.finish[0] != 0
            learn(settings, values, before_it, code, action & 3, reward, codes, last, terminated)
            n_attempts[0] += 1
            log.actions[n_rows] = action
            log.outcomes[n_rows] = outcome
            n_rows += 1
        log.n_attempts[episode] = n_rows - start
        log.finish[episode] = game.finish[0]
        episode += 1
    return episode, n_rows
