"""The uniform random player, which learns nothing: the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from gnomon.learners.base import Learner, Observation, Transition, TrialLog
from gnomon.learners.draws import Draws

if TYPE_CHECKING:
    from gnomon.game.engine.compiler import CompiledRule

__all__ = ["Uniform"]


@final
@dataclass(eq=False)
class Uniform(Learner):
    """Attempt each bucket for each piece on the board with equal probability.

    Every attempt uses one uniform number. The board must hold a piece.

    Parameters
    ----------
    board_spec : BoardSpec
        Of no consequence.
    rng : numpy.random.Generator
        The only source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.game import draw_boards
    >>> from gnomon.learners import play_trial
    >>> from gnomon.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> log = play_trial(Uniform(rng=rng), parse("(*,*,*,*,*)"), draw_boards(3, rng=rng))
    >>> log.n_attempts.tolist(), log.finish.tolist()  # any attempt will do
    ([9, 9, 9], [1, 1, 1])
    """

    def __post_init__(self) -> None:
        self._draws = Draws(1, rng=self.rng)

    def act(self, observation: Observation) -> int:
        """Choose any attempt on an occupied cell."""
        actions = np.flatnonzero(observation.action_mask)
        return int(actions[int(self._draws.row()[0] * len(actions))])

    def observe(self, transition: Transition) -> None:
        """Learn nothing."""

    def play_trial(
        self, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
    ) -> TrialLog:
        """Play each board in turn, with the attempts that act would choose, but faster."""
        from gnomon.learners.chance_kernels import play_uniform
        from gnomon.learners.one_board import play_boards

        return play_boards(play_uniform, rule, boards, horizon, self._draws)
