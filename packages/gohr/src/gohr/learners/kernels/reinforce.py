"""Kernels of REINFORCE: draw an attempt, add it to the gradient, take the step, play a trial.

The probability of an attempt depends on its input only (last accepted attempt, contents of the
cell, bucket), so it is computed once for each code on the board.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game.outcomes import ACCEPTED, RESET
from gohr.learners.kernels.one_board import OneBoard, OpenLog, attempt
from gohr.learners.linear_models import Policy, PolicySettings

# Policy.sums
_BASELINE = 0
_DISCOUNTED = 1
_ATTEMPTS = 2
_RETURNS = 3


@njit(cache=True)
def choose(
    settings: PolicySettings, policy: Policy, codes: npt.NDArray[np.uint8], last: int, u: float
) -> int:
    """Draw an attempt, and leave the probabilities in ``policy.chances``."""
    n_codes = policy.chances.shape[0]
    chances = policy.chances
    chances[:] = -np.inf
    largest = -np.inf
    for cell in range(36):
        code = int(codes[cell])
        if (code != 0 or settings.all_cells) and chances[code, 0] == -np.inf:
            for bucket in range(4):
                first = (last * n_codes + code) * 4 + bucket
                preference = 0.0
                for k in range(policy.active.shape[1]):
                    preference += policy.theta[policy.active[first, k]]
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
    left = u
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
def note(
    settings: PolicySettings,
    policy: Policy,
    codes: npt.NDArray[np.uint8],
    last: int,
    action: int,
    reward: float,
) -> None:
    """Add the attempt that was chosen last to the gradient of the episode."""
    n_codes = policy.chances.shape[0]
    if settings.gamma != 1.0:
        for k in range(policy.trace.shape[0]):
            policy.trace[k] *= settings.gamma
    for cell in range(36):
        code = int(codes[cell])
        for bucket in range(4):
            made = 1.0 if action == 4 * cell + bucket else 0.0
            change = made - policy.chances[code, bucket]
            if change != 0.0:
                first = (last * n_codes + code) * 4 + bucket
                for k in range(policy.active.shape[1]):
                    policy.trace[policy.active[first, k]] += change
                    policy.scores[policy.active[first, k]] += change
    sums = policy.sums
    sums[_DISCOUNTED] = settings.gamma * sums[_DISCOUNTED] + 1.0
    sums[_ATTEMPTS] += 1.0
    sums[_RETURNS] += reward * sums[_DISCOUNTED]
    if reward != 0.0:
        for k in range(policy.gradient.shape[0]):
            policy.gradient[k] += reward * policy.trace[k]


@njit(cache=True)
def end_episode(settings: PolicySettings, policy: Policy) -> None:
    """Take a step up the gradient, move the baseline, and forget the episode."""
    sums = policy.sums
    for k in range(policy.theta.shape[0] - 1):
        change = policy.gradient[k] - sums[_BASELINE] * policy.scores[k]
        policy.theta[k] += settings.learning_rate * change
    if settings.baseline and sums[_ATTEMPTS] > 0:
        mean = sums[_RETURNS] / sums[_ATTEMPTS]
        sums[_BASELINE] += settings.baseline_rate * (mean - sums[_BASELINE])
    sums[_DISCOUNTED:] = 0.0
    policy.trace[:] = 0.0
    policy.scores[:] = 0.0
    policy.gradient[:] = 0.0


@njit(cache=True, nogil=True)
def play(
    settings: PolicySettings,
    policy: Policy,
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
    before_it = np.empty(36, dtype=np.uint8)
    while episode < n_boards and n_rows - before + horizon <= draws.shape[0]:
        attempt(game, int(np.int64(RESET)), episode)
        start = n_rows
        last = int(np.int64(0))
        over = game.finish[0] != 0
        while not over:
            action = choose(settings, policy, codes, last, draws[n_rows - before, 0])
            for cell in range(36):  # a slice would cost two seconds more to compile
                before_it[cell] = codes[cell]
            outcome = attempt(game, action, episode)
            reward = 0.0 if outcome == ACCEPTED else -1.0
            note(settings, policy, before_it, last, action, reward)
            if outcome == ACCEPTED:
                last = 4 * (int(before_it[action >> 2]) - 1) + 1 + (action & 3)
            log.actions[n_rows] = action
            log.outcomes[n_rows] = outcome
            n_rows += 1
            over = game.finish[0] != 0 or n_rows - start >= horizon
            if over:
                end_episode(settings, policy)
        log.n_attempts[episode] = n_rows - start
        log.finish[episode] = game.finish[0]
        episode += 1
    return episode, n_rows
