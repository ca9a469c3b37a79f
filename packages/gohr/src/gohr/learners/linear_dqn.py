"""Deep Q-learning with a linear network, the learner of the paper: 3,720 Boolean features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, final

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS
from gohr.learners.compiled import compiled_settings
from gohr.learners.linear_models import LinearLearner
from gohr.learners.settings import Range

#: The codes present on a board are kept as the bits of one signed 64-bit integer.
_MOST_CODES = 63
#: No number of attempts or episodes need be larger, and memory is not reserved for a slip.
_MOST = 1_000_000


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


@final
@dataclass(kw_only=True, eq=False)
class LinearDQN(LinearLearner):
    r"""Learn the value of attempts from shape, colour and bucket, now and at the last success.

    The value of an attempt is ``Q(s, a) = theta . phi(s, a)`` with Boolean features of what lies in
    the chosen cell, the bucket, and the last accepted attempt
    (:func:`gohr.learners.linear_models.feature_table`). After each attempt the learner
    draws a batch from its replay buffer and takes one step of plain gradient descent on the mean of
    ``(y - Q(s, a; theta))**2``, with ``y = r + gamma max Q(s', a'; theta_target)``. It attempts
    what it values most, or with probability epsilon anything.

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
        buckets, hence "all", and much of what is learned is then that empty cells are no good. With
        "occupied", a cleared board still offers everything.
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
        Whether an attempt that the horizon cut off counts as terminal, so that nothing is hoped for
        after it. The learner is not shown how many attempts are left, so False; it matters with
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
    >>> import numpy as np
    >>> from gohr.game import draw_boards
    >>> from gohr import play
    >>> from gohr.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> learner = LinearDQN(rng=rng, actions="occupied")
    >>> log = play(draw_boards(100, rng=rng), learner, parse("(*,*,*,*,2)"))
    >>> log.n_attempts[-5:].tolist()  # of nine at least
    [9, 9, 9, 9, 9]
    """

    learning_rate: Annotated[float, Range(0.0, open_below=True)] = 0.03
    gamma: Annotated[float, Range(0.0, 1.0)] = 1.0
    target_period: Annotated[int, Range(1, _MOST)] = 10
    actions: Literal["all", "occupied"] = "all"
    plays_on: bool = False
    tie_break: Literal["random", "first"] = "random"
    replacement: bool = True
    learning_starts: Annotated[int, Range(1, _MOST)] = 1
    epsilon_per: Literal["trial", "episode"] = "trial"
    horizon_is_terminal: bool = False
    buffer_size: Annotated[int, Range(1, _MOST)] = 1000
    batch_size: Annotated[int, Range(1, _MOST)] = 128
    epsilon_start: Annotated[float, Range(0.0, 1.0)] = 0.9
    epsilon_end: Annotated[float, Range(0.0, 1.0)] = 0.001
    epsilon_decay: Annotated[float, Range(0.0, open_below=True)] = 200.0

    functions: ClassVar[str] = "gohr.learners.linear_dqn_kernel"

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
