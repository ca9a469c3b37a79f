"""The compiled functions of REINFORCE: draw an attempt, add it to the gradient, take the step.

The probability of an attempt depends on its input only (last accepted attempt, contents of the
cell, bucket), so it is computed once for each code on the board.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards

if TYPE_CHECKING:
    from gohr.learners.reinforce import Softmax


# Softmax.sums
_BASELINE = 0
_DISCOUNTED = 1
_ATTEMPTS = 2
_RETURNS = 3


@njit(cache=True)
def choose(policy: Softmax, codes: Codes, last: int, draws: Draws, at: int) -> int:
    """Draw an attempt, and leave the probabilities in ``policy.chances``."""
    chances, theta, active = policy.chances, policy.theta, policy.active
    n_codes, every_cell = chances.shape[0], policy.settings.actions_all
    chances[:] = -np.inf
    largest = -np.inf
    for cell in range(36):
        code = int(codes[cell])
        if (code != 0 or every_cell) and chances[code, 0] == -np.inf:
            for bucket in range(4):
                first = (last * n_codes + code) * 4 + bucket
                preference = 0.0
                for k in range(active.shape[1]):
                    preference += theta[active[first, k]]
                chances[code, bucket] = preference
                largest = max(largest, preference)
    total = 0.0
    for code in range(n_codes):
        for bucket in range(4):
            chances[code, bucket] = np.exp(chances[code, bucket] - largest)
    for cell in range(36):
        for bucket in range(4):
            total += chances[codes[cell], bucket]
    for code in range(n_codes):
        for bucket in range(4):
            chances[code, bucket] /= total
    left = draws[at, 0]
    chosen = -1
    for action in range(144):
        chance = chances[codes[action >> 2], action & 3]
        if chance > 0:
            chosen = action
            left -= chance
            if left < 0:
                break
    return chosen


@njit(cache=True)
def learn(policy: Softmax, made: Made, codes: Codes, draws: Draws, at: int) -> None:
    """Add the attempt to the gradient of the episode; at its end, take the step."""
    trace, scores, gradient, sums = policy.trace, policy.scores, policy.gradient, policy.sums
    chances, active, gamma = policy.chances, policy.active, policy.settings.gamma
    n_codes, last, action, reward = chances.shape[0], made.last, made.action, made.reward
    if gamma != 1.0:
        for k in range(trace.shape[0]):
            trace[k] *= gamma
    for cell in range(36):
        before = made.code if cell == action >> 2 else int(codes[cell])
        for bucket in range(4):
            chosen = 1.0 if action == 4 * cell + bucket else 0.0
            change = chosen - chances[before, bucket]
            if change != 0.0:
                first = (last * n_codes + before) * 4 + bucket
                for k in range(active.shape[1]):
                    trace[active[first, k]] += change
                    scores[active[first, k]] += change
    sums[_DISCOUNTED] = gamma * sums[_DISCOUNTED] + 1.0
    sums[_ATTEMPTS] += 1.0
    sums[_RETURNS] += reward * sums[_DISCOUNTED]
    if reward != 0.0:
        for k in range(gradient.shape[0]):
            gradient[k] += reward * trace[k]
    if made.terminated or made.truncated:
        _end_episode(policy)


@njit(cache=True)
def _end_episode(policy: Softmax) -> None:
    """Take a step up the gradient, move the baseline, and forget the episode."""
    sums = policy.sums
    for k in range(policy.theta.shape[0] - 1):
        change = policy.gradient[k] - sums[_BASELINE] * policy.scores[k]
        policy.theta[k] += policy.settings.learning_rate * change
    if policy.settings.baseline_mean and sums[_ATTEMPTS] > 0:
        mean = sums[_RETURNS] / sums[_ATTEMPTS]
        sums[_BASELINE] += policy.settings.baseline_rate * (mean - sums[_BASELINE])
    sums[_DISCOUNTED:] = 0.0
    policy.trace[:] = 0.0
    policy.scores[:] = 0.0
    policy.gradient[:] = 0.0


@njit(cache=True, nogil=True)
def play(policy: Softmax, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(choose, learn, policy, plays_on, trial, draws)
