"""Kernels of the linear DQN: choose an attempt, learn from one, play a trial.

The value ``Q(s, a) = theta . phi(s, a)`` depends on 4,420 inputs only, and 18 of the 3,720 features
are active in each; so a value is a sum of 18 numbers, and a gradient step adds 18 numbers for each
sample of the batch. The target network changes with every target update only: the largest of its
values over the buckets is a table by last accepted attempt and code, and the value of a stored
attempt is kept with it.

The loop :func:`play` calls the same functions as act and observe do, one attempt at a time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game.outcomes import ACCEPTED, EPISODE_OVER, RESET
from gohr.learners.kernels.one_board import OneBoard, OpenLog, attempt
from gohr.learners.linear_models import DQNSettings, Memory

# Memory.counters
_STORED = 0
_ATTEMPTS = 1
_EPISODES = 2

# Memory.attempts: input, the last accepted attempt and the classes present after it, and whether
# the episode ended with it
_INPUT = 0
_NEXT_LAST = 1
_NEXT_PRESENT = 2
_TERMINAL = 3

_LARGEST = float(np.finfo(np.float64).max)


@njit(cache=True)
def _present(codes: npt.NDArray[np.uint8], n_codes: int, all_cells: bool) -> int:
    """Return the codes among which one may choose, as bits; bit 0 is the empty cells."""
    found = 0
    for cell in range(36):
        if codes[cell] >= n_codes:
            raise ValueError("the board holds a piece that is not of the learner's palettes")
        found |= 1 << int(codes[cell])
    if not all_cells and found != 1:
        found &= ~1
    return found


@njit(cache=True)
def choose(
    settings: DQNSettings,
    memory: Memory,
    codes: npt.NDArray[np.uint8],
    last: int,
    draws: npt.NDArray[np.float64],
) -> int:
    """Choose an attempt: any with probability epsilon, else one of the best by theta."""
    n_codes = memory.best.shape[1]
    among = _present(codes, n_codes, settings.all_cells)
    values = memory.values
    best = -np.inf
    epsilon = settings.epsilon_end + (settings.epsilon_start - settings.epsilon_end) * np.exp(
        -memory.counters[_ATTEMPTS] / settings.epsilon_decay
    )
    explore = draws[0] < epsilon
    for code in range(n_codes):
        for bucket in range(4):
            value = -np.inf
            if among >> code & 1:
                value = 0.0
                if not explore:
                    first = (last * n_codes + code) * 4 + bucket
                    for k in range(memory.active.shape[1]):
                        value += memory.theta[memory.active[first, k]]
                    if not value > -_LARGEST:
                        value = -_LARGEST  # diverged weights are not a reason to stop
            values[code, bucket] = value
            best = max(best, value)

    # The best, which are all that may be chosen when exploring, in the order of their numbers.
    n_best = 0
    for cell in range(36):
        for bucket in range(4):
            n_best += values[codes[cell], bucket] == best
    k = int(draws[1] * n_best) if explore or settings.random_ties else 0
    for cell in range(36):
        for bucket in range(4):
            if values[codes[cell], bucket] == best:
                if k == 0:
                    return 4 * cell + bucket
                k -= 1
    return -1


@njit(cache=True)
def learn(
    settings: DQNSettings,
    memory: Memory,
    attempted: int,
    reward: float,
    next_codes: npt.NDArray[np.uint8],
    next_last: int,
    terminated: bool,
    truncated: bool,
    draws: npt.NDArray[np.float64],
) -> None:
    """Store an attempt, take a gradient step, and end the episode if it is over.

    ``attempted`` is the attempt's input number.
    """
    slot = memory.counters[_STORED] % memory.rewards.shape[0]
    memory.counters[_STORED] += 1
    memory.counters[_ATTEMPTS] += 1
    memory.attempts[slot, _INPUT] = attempted
    memory.attempts[slot, _NEXT_LAST] = next_last
    memory.attempts[slot, _NEXT_PRESENT] = _present(
        next_codes, memory.best.shape[1], settings.all_cells
    )
    memory.attempts[slot, _TERMINAL] = terminated or (truncated and settings.horizon_is_terminal)
    memory.rewards[slot] = reward
    _set_target(settings, memory, slot)
    if memory.counters[_STORED] >= settings.learning_starts:
        _gradient_step(settings, memory, draws)
    if terminated or truncated:
        memory.counters[_EPISODES] += 1
        if settings.epsilon_per_episode:
            memory.counters[_ATTEMPTS] = 0
        if memory.counters[_EPISODES] % settings.target_period == 0:
            _update_target(settings, memory)


@njit(cache=True)
def _set_target(settings: DQNSettings, memory: Memory, slot: int) -> None:
    """Compute the value of a stored attempt: y = r + gamma max Q(s', a'; target)."""
    target = memory.rewards[slot]
    if memory.attempts[slot, _TERMINAL] == 0:
        last = memory.attempts[slot, _NEXT_LAST]
        among = memory.attempts[slot, _NEXT_PRESENT]
        best = -np.inf
        for code in range(memory.best.shape[1]):
            if among >> code & 1:
                best = max(best, memory.best[last, code])
        target += settings.gamma * best
    memory.targets[slot] = target


@njit(cache=True)
def _gradient_step(settings: DQNSettings, memory: Memory, draws: npt.NDArray[np.float64]) -> None:
    """Take one step down the gradient of the batch's mean of (y - Q(s, a; theta))^2."""
    n_stored = min(memory.counters[_STORED], memory.rewards.shape[0])
    size = settings.batch_size if settings.replacement else min(settings.batch_size, n_stored)
    width = memory.active.shape[1]
    order = memory.order
    for j in range(size):
        if settings.replacement:
            slot = int(draws[2 + j] * n_stored)
        else:
            # Any order of the slots will do to begin a shuffle; only its first entries are used.
            k = j + int(draws[2 + j] * (n_stored - j))
            order[j], order[k] = order[k], order[j]
            slot = order[j]
        x = memory.attempts[slot, _INPUT]
        value = 0.0
        for k in range(width):
            value += memory.theta[memory.active[x, k]]
        memory.batch[j] = x
        memory.errors[j] = memory.targets[slot] - value
    for j in range(size):
        x = memory.batch[j]
        change = 2.0 * settings.learning_rate / size * memory.errors[j]
        for k in range(width):
            memory.theta[memory.active[x, k]] += change
    memory.theta[-1] = 0.0  # placeholder for the features that an empty cell lacks


@njit(cache=True)
def _update_target(settings: DQNSettings, memory: Memory) -> None:
    """Copy theta to the target network, and recompute the values of stored attempts."""
    n_last, n_codes = memory.best.shape
    for last in range(n_last):
        for code in range(n_codes):
            best = -np.inf
            for bucket in range(4):
                value = 0.0
                for k in range(memory.active.shape[1]):
                    value += memory.theta[memory.active[(last * n_codes + code) * 4 + bucket, k]]
                best = max(best, value)
            memory.best[last, code] = best
    for slot in range(min(memory.counters[_STORED], memory.rewards.shape[0])):
        _set_target(settings, memory, slot)


@njit(cache=True, nogil=True)
def play(
    settings: DQNSettings,
    memory: Memory,
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
    n_codes = memory.best.shape[1]
    codes = game.seen[0, :36]
    while episode < n_boards and n_rows - before + horizon <= draws.shape[0]:
        attempt(game, int(np.int64(RESET)), episode)
        start = n_rows
        last = int(np.int64(0))
        over = game.finish[0] != 0
        while not over:
            row = draws[n_rows - before]
            action = choose(settings, memory, codes, last, row)
            code = int(codes[action >> 2])
            outcome = attempt(game, action, episode)
            log.actions[n_rows] = action
            log.outcomes[n_rows] = outcome
            n_rows += 1
            terminated = game.finish[0] != 0 and not settings.plays_on
            truncated = n_rows - start >= horizon
            reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
            attempted = (last * n_codes + code) * 4 + (action & 3)
            if outcome == ACCEPTED:
                last = 4 * (code - 1) + 1 + (action & 3)
            learn(settings, memory, attempted, reward, codes, last, terminated, truncated, row)
            over = terminated or truncated
        log.n_attempts[episode] = n_rows - start
        log.finish[episode] = game.finish[0]
        episode += 1
    return episode, n_rows
