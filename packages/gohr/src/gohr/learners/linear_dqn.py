"""Deep Q-learning with a linear network, the learner of the paper: 3,720 Boolean features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, final

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS
from gohr.learners.base import Learner, Observation, Transition, TrialLog
from gohr.learners.linear_models import DQNSettings, blank_memory
from gohr.learners.settings import Range
from gohr.learners.uniform_numbers import Draws

if TYPE_CHECKING:
    from gohr.game.engine.compiler import CompiledRule

#: No number of attempts or episodes need be larger, and memory is not reserved for a slip.
_MOST = 1_000_000


@final
@dataclass(kw_only=True, eq=False)
class LinearDQN(Learner):
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
        0.01 learns in most trials but late; 0.03 is the least of those tried with which nearly all
        trials level off within 200 episodes, as the paper says that they do. Much above 0.05 the
        weights can diverge, of which nobody is told.
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
    >>> from gohr.learners import play_trial
    >>> from gohr.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> learner = LinearDQN(rng=rng, actions="occupied")
    >>> log = play_trial(learner, parse("(*,*,*,*,2)"), draw_boards(100, rng=rng))
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

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settings = DQNSettings(
            learning_rate=float(self.learning_rate),
            gamma=float(self.gamma),
            target_period=self.target_period,
            all_cells=self.actions == "all",
            plays_on=self.plays_on,
            random_ties=self.tie_break == "random",
            replacement=self.replacement,
            learning_starts=self.learning_starts,
            epsilon_start=float(self.epsilon_start),
            epsilon_end=float(self.epsilon_end),
            epsilon_decay=float(self.epsilon_decay),
            epsilon_per_episode=self.epsilon_per == "episode",
            horizon_is_terminal=self.horizon_is_terminal,
            batch_size=self.batch_size,
        )
        self._n_colors = len(self.board_spec.color_palette)
        self._memory = blank_memory(self.board_spec, self.buffer_size, self.batch_size)
        self._draws = Draws(2 + self.batch_size, rng=self.rng)
        self._row = np.zeros(2 + self.batch_size)

    @property
    def theta(self) -> npt.NDArray[np.float64]:
        """A copy of the weights, shape (n_features,), in the order of the paper's appendix."""
        return self._memory.theta[:-1].copy()

    def act(self, observation: Observation) -> int:
        """Choose the attempt of the greatest value, or any with probability epsilon."""
        from gohr.learners.kernels.linear_dqn import choose

        self._row = self._draws.row()
        last = observation.last_number(self._n_colors)
        return int(choose(self._settings, self._memory, observation.board, last, self._row))

    def observe(self, transition: Transition) -> None:
        """Store the attempt and take one gradient step."""
        from gohr.learners.kernels.linear_dqn import learn

        seen, after = transition.observation, transition.next_observation
        cell, bucket = divmod(transition.action, N_BUCKETS)
        n_codes = self._memory.best.shape[1]
        attempted = (
            seen.last_number(self._n_colors) * n_codes + int(seen.board[cell])
        ) * N_BUCKETS + bucket
        learn(
            self._settings,
            self._memory,
            attempted,
            float(transition.reward),
            after.board,
            after.last_number(self._n_colors),
            transition.terminated,
            transition.truncated,
            self._row,
        )

    def play_trial(
        self, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
    ) -> TrialLog:
        """Play each board in turn, attempt for attempt as act and observe would, but faster."""
        from gohr.learners.kernels.linear_dqn import play
        from gohr.learners.kernels.one_board import play_boards

        loop = partial(play, self._settings, self._memory)
        return play_boards(loop, rule, boards, horizon, self._draws, self._memory.best.shape[1])
