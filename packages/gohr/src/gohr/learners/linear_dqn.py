"""Deep Q-learning with a linear network, the learner of the paper: 3,720 Boolean features.

The value ``Q(s, a) = theta . phi(s, a)`` depends on 4,420 inputs only, and 18 of the 3,720 features
are active in each; so a value is a sum of 18 numbers, and a gradient step adds 18 numbers for each
sample of the batch. The target network changes with every target update only: the largest of its
values over the buckets is a table by last accepted attempt and code, and the value of a stored
attempt is kept with it.
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

#: The codes present on a board are kept as the bits of one signed 64-bit integer.
_MOST_CODES = 63
#: No number of attempts or episodes need be larger, and memory is not reserved for a slip.
_MOST = 1_000_000

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


class Memory(NamedTuple):
    """State of a :class:`LinearDQN`, changed in place.

    Parameters
    ----------
    settings : tuple
        The settings of the learner, as numbers.
    active : numpy.ndarray of uint32, shape (n_inputs, 18)
        The active features of each input (:func:`gohr.learners.linear_models.feature_table`).
    theta : numpy.ndarray of float64, shape (n_features + 1,)
        The weights, and a last entry that is always 0.
    best : numpy.ndarray of float64, shape (n_last, n_codes)
        The largest value over the buckets under the target network.
    attempts : numpy.ndarray of int64, shape (buffer_size, 4)
        The replay buffer: input, and after the attempt the last accepted one, the codes present as
        bits, and 1 if the episode ended.
    rewards, targets : numpy.ndarray of float64, shape (buffer_size,)
        The rest of it: r, and y = r + gamma max Q(s', a'; target), or y = r at the end.
    counters : numpy.ndarray of int64, shape (3,)
        Attempts stored so far, attempts that epsilon has decayed for, episodes.
    order, batch, errors, values : numpy.ndarray
        Workspace.
    """

    settings: Any
    active: npt.NDArray[np.uint32]
    theta: npt.NDArray[np.float64]
    best: npt.NDArray[np.float64]
    attempts: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    targets: npt.NDArray[np.float64]
    counters: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    batch: npt.NDArray[np.int64]
    errors: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]


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
def _choose(memory: Memory, codes: Codes, last: int, draws: Draws, at: int) -> int:
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
def _learn(memory: Memory, made: Made, codes: Codes, draws: Draws, at: int) -> None:
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
def _play(memory: Memory, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(_choose, _learn, memory, plays_on, trial, draws)


@final
@dataclass(kw_only=True, eq=False)
class LinearDQN(LinearLearner):
    r"""Learn the value of attempts from shape, colour and bucket, now and at the last success.

    The value of an attempt is ``Q(s, a) = theta . phi(s, a)`` with Boolean features of what lies in
    the chosen cell, the bucket, and the last accepted attempt
    (:func:`gohr.learners.linear_models.feature_table`). After each attempt the learner
    draws a batch from its replay buffer and takes one step of plain gradient descent on the mean of
    ``(y - Q(s, a; theta))**2``, with ``y = r + gamma max Q(s', a'; theta_target)``. It makes
    the attempt of highest value or, with probability epsilon, a random one.

    The paper gives the features, the buffer, the batch and epsilon. Every other parameter here is a
    choice that it leaves open; they change the numbers of errors, and even which of the four sample
    rules looks hardest, so a result should name them.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes fix the features: 3,720 for four shapes and four colours. At most 62
        combinations of shape and colour.
    rng : numpy.random.Generator
        The only source of randomness. Every attempt uses ``2 + batch_size`` uniform numbers.
    learning_rate : float
        Step size, above 0. Not in the paper. With 0.003 nothing is learned within 200 episodes;
        0.01 learns in most trials but late; 0.03 is the smallest value tried with which nearly
        all trials level off within 200 episodes, as in the paper. Much above 0.05 the
        weights can diverge, without a warning.
    gamma : float
        Discount of the next value, 0 to 1. The main text has no discount, Algorithm 1 has one
        without a value: hence 1.
    target_period : int
        Number of episodes between updates of the target network, M in Algorithm 1; the paper says
        only that the target is "updated less frequently". With 1 learning can fail; 10 gives 20
        updates in 200 episodes.
    actions : {"all", "occupied"}
        Whether an attempt may choose an empty cell. The paper's set of actions is all cells by all
        buckets, hence "all"; much of the learning is then to avoid empty cells. With "occupied", a
        cleared board still offers all attempts.
    plays_on : bool
        Whether play goes on, with reward 0, after a board is cleared, until the horizon. Algorithm
        1 runs every episode to the horizon, but its "terminal" states only make sense if an episode
        can end, and with all actions most trials that play on do not converge: hence False.
    tie_break : {"random", "first"}
        Which of several equal values is taken. All weights begin at 0, so it matters at once, and
        always taking the lowest number would favour one corner of the board and bucket 0: hence
        "random".
    replacement : bool
        Whether an attempt may be drawn twice into one batch. Usual for replay buffers, and it lets
        batches be full from the first attempt on; without it, a batch is at most what the buffer
        holds.
    learning_starts : int
        Number of attempts in the buffer before the first gradient step, at least 1. Algorithm 1
        learns from the first attempt.
    epsilon_per : {"trial", "episode"}
        Since when epsilon has decayed. The paper counts "the number of moves", taken as attempts,
        accepted or not; counted anew in each episode, epsilon would hardly leave its start, and no
        curve of errors would flatten: hence "trial".
    horizon_is_terminal : bool
        Whether an attempt that the horizon cut off counts as terminal, so that the value after it
        is 0. The learner is not shown how many attempts are left, so False; it matters with
        `plays_on`, where no other attempt is terminal.
    buffer_size, batch_size : int
        1,000 and 128 in the paper. A buffer that is full forgets its oldest attempt.
    epsilon_start, epsilon_end, epsilon_decay : float
        ``epsilon = end + (start - end) exp(-n_attempts / decay)``: 0.9, 0.001 and 200 in the paper.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or the palettes have too many combinations.

    References
    ----------
    Pulick, Menkov, Mintz, Kantor, Bier: *The Game of Hidden Rules: A New Kind of Benchmark
    Challenge for Machine Learning* (2022), section 5.2 and appendix A.1. The indicator in Algorithm
    1 reads "j is terminal"; it is taken as "not terminal".

    Examples
    --------
    >>> import gohr
    >>> learner = LinearDQN(actions="occupied")
    >>> log = gohr.play(gohr.draw_boards(100), learner, gohr.parse("(*,*,*,*,2)"))
    >>> log.n_attempts[-5:].tolist()  # of nine at least
    [9, 9, 9, 10, 9]
    """

    learning_rate: Annotated[float, Field(gt=0)] = 0.03
    gamma: Annotated[float, Field(ge=0, le=1)] = 1.0
    target_period: Annotated[int, Field(ge=1, le=_MOST)] = 10
    actions: Literal["all", "occupied"] = "all"
    plays_on: bool = False
    tie_break: Literal["random", "first"] = "random"
    replacement: bool = True
    learning_starts: Annotated[int, Field(ge=1, le=_MOST)] = 1
    epsilon_per: Literal["trial", "episode"] = "trial"
    horizon_is_terminal: bool = False
    buffer_size: Annotated[int, Field(ge=1, le=_MOST)] = 1000
    batch_size: Annotated[int, Field(ge=1, le=_MOST)] = 128
    epsilon_start: Annotated[float, Field(ge=0, le=1)] = 0.9
    epsilon_end: Annotated[float, Field(ge=0, le=1)] = 0.001
    epsilon_decay: Annotated[float, Field(gt=0)] = 200.0

    functions: ClassVar = (_choose, _learn, _play)

    def __post_init__(self) -> None:
        super().__post_init__()
        n_codes, n_stored = self.board_spec.n_codes, self.buffer_size
        if n_codes > _MOST_CODES:
            raise ValueError(
                f"expected at most {_MOST_CODES - 1} combinations of shape and color in the "
                f"palettes, found {n_codes - 1}"
            )
        features = self.features
        memory = Memory(
            compiled_settings(self),
            active=features.active,
            theta=np.zeros(features.n_features + 1),
            best=np.zeros((1 + (n_codes - 1) * N_BUCKETS, n_codes)),
            attempts=np.zeros((n_stored, 4), dtype=np.int64),
            rewards=np.zeros(n_stored),
            targets=np.zeros(n_stored),
            counters=np.zeros(3, dtype=np.int64),
            order=np.arange(n_stored),
            batch=np.zeros(self.batch_size, dtype=np.int64),
            errors=np.zeros(self.batch_size),
            values=np.zeros((n_codes, N_BUCKETS)),
        )
        self._begin(memory, n_draws=2 + self.batch_size, n_codes=n_codes)
