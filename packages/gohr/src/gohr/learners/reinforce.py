"""REINFORCE: policy gradient on a softmax over attempts, linear in Boolean features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, final

import numpy as np
import numpy.typing as npt

from gohr.learners.base import Learner, Observation, Transition, TrialLog
from gohr.learners.linear_models import PolicySettings, blank_policy
from gohr.learners.settings import Range
from gohr.learners.uniform_numbers import Draws

if TYPE_CHECKING:
    from gohr.game.engine.compiler import CompiledRule


@final
@dataclass(kw_only=True, eq=False)
class Reinforce(Learner):
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
        Discount of later rewards, 0 to 1. With 0 an attempt is blamed for its own failure only,
        which is nearly all that can be laid at its door: few rules punish an accepted attempt
        later. With 1 it answers for all failures that follow on the board, which needs a step size
        of about 0.001, and learns an order of magnitude slower.
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
    >>> import numpy as np
    >>> from gohr.game import draw_boards
    >>> from gohr.learners import play_trial
    >>> from gohr.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> log = play_trial(Reinforce(rng=rng), parse("(*,*,*,*,2)"), draw_boards(200, rng=rng))
    >>> errors = log.n_attempts - 9
    >>> bool(errors[:20].sum() > 10 * errors[-20:].sum())
    True
    """

    learning_rate: Annotated[float, Range(0.0, open_below=True)] = 0.1
    gamma: Annotated[float, Range(0.0, 1.0)] = 0.0
    actions: Literal["all", "occupied"] = "occupied"
    baseline: Literal["mean", "none"] = "mean"
    baseline_rate: Annotated[float, Range(0.0, 1.0, open_below=True)] = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settings = PolicySettings(
            learning_rate=float(self.learning_rate),
            gamma=float(self.gamma),
            all_cells=self.actions == "all",
            baseline=self.baseline == "mean",
            baseline_rate=float(self.baseline_rate),
        )
        self._n_colors = len(self.board_spec.color_palette)
        self._policy = blank_policy(self.board_spec)
        self._draws = Draws(1, rng=self.rng)

    @property
    def theta(self) -> npt.NDArray[np.float64]:
        """A copy of the weights, shape (n_features,), in the order of the paper's appendix."""
        return self._policy.theta[:-1].copy()

    def act(self, observation: Observation) -> int:
        """Draw an attempt."""
        from gohr.learners.kernels.reinforce import choose

        last = observation.last_number(self._n_colors)
        u = float(self._draws.row()[0])
        return int(choose(self._settings, self._policy, observation.board, last, u))

    def observe(self, transition: Transition) -> None:
        """Add the attempt to the gradient; at the end of the episode, take the step."""
        from gohr.learners.kernels.reinforce import end_episode, note

        seen = transition.observation
        note(
            self._settings,
            self._policy,
            seen.board,
            seen.last_number(self._n_colors),
            transition.action,
            float(transition.reward),
        )
        if transition.terminated or transition.truncated:
            end_episode(self._settings, self._policy)

    def play_trial(
        self, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
    ) -> TrialLog:
        """Play each board in turn, attempt for attempt as act and observe would, but faster."""
        from gohr.learners.kernels.one_board import play_boards
        from gohr.learners.kernels.reinforce import play

        loop = partial(play, self._settings, self._policy)
        return play_boards(loop, rule, boards, horizon, self._draws, self._policy.chances.shape[0])
