"""The compiled functions of the linear DQN: choose an attempt, learn from one.

The value ``Q(s, a) = theta . phi(s, a)`` depends on 4,420 inputs only, and 18 of the 3,720 features
are active in each; so a value is a sum of 18 numbers, and a gradient step adds 18 numbers for each
sample of the batch. The target network changes with every target update only: the largest of its
values over the buckets is a table by last accepted attempt and code, and the value of a stored
attempt is kept with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards

if TYPE_CHECKING:
    from gohr.learners.linear_dqn import Memory


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
def _present(codes: Codes, n_codes: int, all_cells: bool) -> int:
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
def choose(memory: Memory, codes: Codes, last: int, draws: Draws, at: int) -> int:
    """Choose an attempt: any with probability epsilon, else one of the best by theta."""
    settings, n_codes = memory.settings, memory.best.shape[1]
    among = _present(codes, n_codes, settings.actions_all)
    values = memory.values
    best = -np.inf
    epsilon = settings.epsilon_end + (settings.epsilon_start - settings.epsilon_end) * np.exp(
        -memory.counters[_ATTEMPTS] / settings.epsilon_decay
    )
    explore = draws[at, 0] < epsilon
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
    k = int(draws[at, 1] * n_best) if explore or settings.tie_break_random else 0
    for cell in range(36):
        for bucket in range(4):
            if values[codes[cell], bucket] == best:
                if k == 0:
                    return 4 * cell + bucket
                k -= 1
    return -1


@njit(cache=True)
def learn(memory: Memory, made: Made, codes: Codes, draws: Draws, at: int) -> None:
    """Store an attempt, take a gradient step, and end the episode if it is over."""
    settings, n_codes = memory.settings, memory.best.shape[1]
    slot = memory.counters[_STORED] % memory.rewards.shape[0]
    memory.counters[_STORED] += 1
    memory.counters[_ATTEMPTS] += 1
    memory.attempts[slot, _INPUT] = (made.last * n_codes + made.code) * 4 + (made.action & 3)
    memory.attempts[slot, _NEXT_LAST] = made.after
    memory.attempts[slot, _NEXT_PRESENT] = _present(codes, n_codes, settings.actions_all)
    memory.attempts[slot, _TERMINAL] = made.terminated or (
        made.truncated and settings.horizon_is_terminal
    )
    memory.rewards[slot] = made.reward
    _set_target(memory, slot)
    if memory.counters[_STORED] >= settings.learning_starts:
        _gradient_step(memory, draws, at)
    if made.terminated or made.truncated:
        memory.counters[_EPISODES] += 1
        if settings.epsilon_per_episode:
            memory.counters[_ATTEMPTS] = 0
        if memory.counters[_EPISODES] % settings.target_period == 0:
            _update_target(memory)


@njit(cache=True)
def _set_target(memory: Memory, slot: int) -> None:
    """Compute the value of a stored attempt: y = r + gamma max Q(s', a'; target)."""
    target = memory.rewards[slot]
    if memory.attempts[slot, _TERMINAL] == 0:
        last = memory.attempts[slot, _NEXT_LAST]
        among = memory.attempts[slot, _NEXT_PRESENT]
        best = -np.inf
        for code in range(memory.best.shape[1]):
            if among >> code & 1:
                best = max(best, memory.best[last, code])
        target += memory.settings.gamma * best
    memory.targets[slot] = target


@njit(cache=True)
def _gradient_step(memory: Memory, draws: Draws, at: int) -> None:
    """Take one step down the gradient of the batch's mean of (y - Q(s, a; theta))^2."""
    settings = memory.settings
    n_stored = min(memory.counters[_STORED], memory.rewards.shape[0])
    size = settings.batch_size if settings.replacement else min(settings.batch_size, n_stored)
    theta, active, order = memory.theta, memory.active, memory.order
    width = active.shape[1]
    for j in range(size):
        if settings.replacement:
            slot = int(draws[at, 2 + j] * n_stored)
        else:
            # Any order of the slots will do to begin a shuffle; only its first entries are used.
            k = j + int(draws[at, 2 + j] * (n_stored - j))
            order[j], order[k] = order[k], order[j]
            slot = order[j]
        x = memory.attempts[slot, _INPUT]
        value = 0.0
        for k in range(width):
            value += theta[active[x, k]]
        memory.batch[j] = x
        memory.errors[j] = memory.targets[slot] - value
    for j in range(size):
        x = memory.batch[j]
        change = 2.0 * settings.learning_rate / size * memory.errors[j]
        for k in range(width):
            theta[active[x, k]] += change
    theta[-1] = 0.0  # placeholder for the features that an empty cell lacks


@njit(cache=True)
def _update_target(memory: Memory) -> None:
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
        _set_target(memory, slot)


@njit(cache=True, nogil=True)
def play(memory: Memory, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(choose, learn, memory, plays_on, trial, draws)
