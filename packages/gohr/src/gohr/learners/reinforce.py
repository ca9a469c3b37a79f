"""REINFORCE: policy gradient on a softmax over attempts, linear in Boolean features.

The probability of an attempt depends on its input only (last accepted attempt, contents of the
cell, bucket), so it is computed once for each code on the board.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, final

import numpy as np
import numpy.typing as npt
from numba import njit
from pydantic import Field

from gohr.board import N_BUCKETS
from gohr.learners.base import compiled_settings
from gohr.learners.linear_models import LinearLearner
from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards

# Softmax.sums
_BASELINE = 0
_DISCOUNTED = 1
_ATTEMPTS = 2
_RETURNS = 3


class Softmax(NamedTuple):
    """State of a :class:`Reinforce`, changed in place.

    Parameters
    ----------
    settings : tuple
        The settings of the learner, as numbers.
    active : numpy.ndarray of uint32, shape (n_inputs, 18)
        The active features of each input (:func:`gohr.learners.linear_models.feature_table`).
    theta : numpy.ndarray of float64, shape (n_features + 1,)
        The weights, and a last entry that is always 0.
    trace, scores, gradient : numpy.ndarray of float64, shape (n_features + 1,)
        For this episode: the sum of ``grad log pi`` over its attempts, discounted up to now and
        not; and the sum of rewards times the former.
    chances : numpy.ndarray of float64, shape (n_codes, 4)
        For the attempt chosen last: the probability of each, for any one cell with that code.
    sums : numpy.ndarray of float64, shape (4,)
        The baseline; of this episode, the discounted and the plain number of attempts, and the sum
        of their returns.
    """

    settings: Any
    active: npt.NDArray[np.uint32]
    theta: npt.NDArray[np.float64]
    trace: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    gradient: npt.NDArray[np.float64]
    chances: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]


@njit(cache=True)
def _choose(policy: Softmax, codes: Codes, last: int, draws: Draws, at: int) -> int:
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
def _learn(policy: Softmax, made: Made, codes: Codes, draws: Draws, at: int) -> None:
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
def _play(policy: Softmax, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(_choose, _learn, policy, plays_on, trial, draws)


@final
@dataclass(kw_only=True, eq=False)
class Reinforce(LinearLearner):
    r"""Learn a softmax over attempts, linear in the features of the paper, by policy gradient.

    An attempt is made with probability proportional to ``exp(theta . phi(s, a))``, with the 3,720
    features of :class:`gohr.learners.linear_dqn.LinearDQN`. After each episode the weights take
    one step,

    ``theta += learning_rate * sum_t (G_t - b) grad log pi(a_t | s_t)``,

    where ``G_t = r_t + gamma r_(t+1) + ...`` is the return from attempt ``t`` on, and ``b`` the
    baseline. The sum is taken attempt by attempt, as ``sum_k r_k z_k`` with
    ``z_k = gamma z_(k-1) + grad log pi(a_k | s_k)``, which is the same and needs no memory of the
    episode. An episode cut off by the horizon is taken as if nothing came after.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes fix the features.
    rng : numpy.random.Generator
        The only source of randomness; every attempt uses one uniform number.
    learning_rate : float
        Step size, above 0.
    gamma : float
        Discount of later rewards, 0 to 1. With 0 an attempt is credited with its own reward only,
        which nearly suffices, since few rules punish an accepted attempt later. With 1 it is
        credited with all later rewards on the board, which needs a step size of about 0.001, and
        learns an order of magnitude slower.
    actions : {"all", "occupied"}
        Whether an attempt may choose an empty cell.
    baseline : {"mean", "none"}
        What returns are compared with: a running mean of them, or 0. As no reward is positive,
        without a baseline an accepted attempt is not made more probable, only failures less.
    baseline_rate : float
        How far the running mean moves towards the mean return of each episode, above 0 to 1.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    References
    ----------
    Williams: *Simple statistical gradient-following algorithms for connectionist reinforcement
    learning* (1992); the sum by traces as in Baxter and Bartlett (2001).

    Examples
    --------
    >>> import gohr
    >>> log = gohr.play(gohr.draw_boards(200), Reinforce(), gohr.parse("(*,*,*,*,2)"))
    >>> errors = log.n_attempts - 9
    >>> bool(errors[:20].sum() > 10 * errors[-20:].sum())
    True
    """

    learning_rate: Annotated[float, Field(gt=0)] = 0.1
    gamma: Annotated[float, Field(ge=0, le=1)] = 0.0
    actions: Literal["all", "occupied"] = "occupied"
    baseline: Literal["mean", "none"] = "mean"
    baseline_rate: Annotated[float, Field(gt=0, le=1)] = 0.1

    functions: ClassVar = (_choose, _learn, _play)

    def __post_init__(self) -> None:
        super().__post_init__()
        features = self.features
        size, n_codes = features.n_features + 1, self.board_spec.n_codes
        theta, trace, scores, gradient = np.zeros((4, size))
        policy = Softmax(
            compiled_settings(self),
            *(features.active, theta, trace, scores, gradient),
            chances=np.zeros((n_codes, N_BUCKETS)),
            sums=np.zeros(4),
        )
        self._begin(policy, n_draws=1, n_codes=n_codes)
