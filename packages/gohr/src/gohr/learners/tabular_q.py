"""Tabular Q-learning: one value for each class of attempt after each class of success."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, final

import numpy as np
import numpy.typing as npt
from numba import njit
from pydantic import Field

from gohr.board import N_BUCKETS
from gohr.learners.base import CompiledLearner, compiled_settings
from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards


class QTable(NamedTuple):
    """State of a :class:`TabularQ`, changed in place by its compiled functions."""

    settings: Any
    values: npt.NDArray[np.float64]  # (n_last, n_codes, 4)
    n_attempts: npt.NDArray[np.int64]  # (1,)


@njit(cache=True)
def _choose(player: QTable, codes: Codes, last: int, draws: Draws, at: int) -> int:
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
def _learn(player: QTable, made: Made, codes: Codes, draws: Draws, at: int) -> None:
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
def _play(player: QTable, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(_choose, _learn, player, plays_on, trial, draws)


@final
@dataclass(kw_only=True, eq=False)
class TabularQ(CompiledLearner):
    r"""Learn the value of attempts from a table by last success, piece and bucket.

    An attempt belongs to a class: shape, colour and bucket of the last accepted attempt of the
    episode (or none yet); shape and colour of the piece (or an empty cell); and the bucket. For
    four shapes and four colours there are 4,420 classes. After each attempt the value of its class
    moves towards the observed return,
    ``Q(s, a) += learning_rate (r + gamma max Q(s', a') - Q(s, a))``, with no term for what follows
    the end of an episode. The classes share nothing: learning about a red star after a blue
    square does not transfer to a red star after a blue circle. So this is what
    :class:`gohr.learners.linear_dqn.LinearDQN` would be without generalisation and replay. Where
    a piece lies is not in the class, and rules about cells are beyond this learner.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes fix the classes.
    rng : numpy.random.Generator
        The only source of randomness; every attempt uses two uniform numbers.
    learning_rate : float
        Step size, above 0 and at most 1. Most rules here are deterministic, so that one failure
        suffices and 1 would do; 0.5 allows for a rule that depends on more than the class.
    gamma : float
        Discount of the next value, 0 to 1. With 0 only the attempt itself counts, which nearly
        suffices, since few rules punish an accepted attempt later.
    actions : {"all", "occupied"}
        Whether an attempt may choose an empty cell.
    tie_break : {"random", "first"}
        Which of several equal values is taken.
    initial_value : float
        Value of an attempt before it was ever made. -0.75 is the expected reward of a random
        attempt under a rule of one bucket in four: successes are repeated, failures avoided, and
        new attempts come in between. With 0, the largest possible value, every attempt is tried
        before any is repeated, at twice the errors.
    epsilon_start, epsilon_end, epsilon_decay : float
        An attempt is made at random with probability
        ``end + (start - end) exp(-n_attempts / decay)``, the decay above 0. A learner that fails
        tries another attempt in any case, hence never.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    References
    ----------
    Watkins, Dayan: *Q-learning* (1992).

    Examples
    --------
    >>> import gohr
    >>> log = gohr.play(gohr.draw_boards(300), TabularQ(), gohr.parse("(*,*,*,*,2)"))
    >>> errors = log.n_attempts - 9
    >>> bool(errors[:50].sum() > 10 * errors[-50:].sum())
    True
    """

    learning_rate: Annotated[float, Field(gt=0, le=1)] = 0.5
    gamma: Annotated[float, Field(ge=0, le=1)] = 0.0
    actions: Literal["all", "occupied"] = "occupied"
    tie_break: Literal["random", "first"] = "random"
    initial_value: float = -0.75
    epsilon_start: Annotated[float, Field(ge=0, le=1)] = 0.0
    epsilon_end: Annotated[float, Field(ge=0, le=1)] = 0.0
    epsilon_decay: Annotated[float, Field(gt=0)] = 200.0

    functions: ClassVar = (_choose, _learn, _play)

    def __post_init__(self) -> None:
        super().__post_init__()
        n_codes = self.board_spec.n_codes
        shape = (1 + (n_codes - 1) * N_BUCKETS, n_codes, N_BUCKETS)
        values = np.full(shape, float(self.initial_value))
        table = QTable(compiled_settings(self), values, np.zeros(1, dtype=np.int64))
        self._begin(table, n_draws=2, n_codes=n_codes)

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """A copy of the table, shape (n_last, n_codes, 4).

        ``n_last`` counts 0 for none and else ``1 + 4 * (shape * n_colors + color) + bucket`` of the
        last accepted attempt; ``n_codes`` what lies in the cell, 0 for nothing.
        """
        values: npt.NDArray[np.float64] = self._player.values
        return values.copy()
