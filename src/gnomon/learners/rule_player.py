"""The player that is shown the rule: the ceiling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from gnomon.learners.base import Learner, Observation, Transition
from gnomon.learners.draws import Draws

__all__ = ["RulePlayer"]


@final
@dataclass(eq=False)
class RulePlayer(Learner):
    """Make, each time, one of the attempts that the rule permits, all equally probable.

    It is shown the answer, so it never errs. What it shows is how many attempts a perfect player
    needs, and whether a rule can get stuck under such a player.

    Parameters
    ----------
    board_spec : BoardSpec
        Of no consequence.
    rng : numpy.random.Generator
        The only source of randomness; every attempt uses one uniform number.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.game import draw_boards
    >>> from gnomon.learners import play_trial
    >>> from gnomon.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> log = play_trial(RulePlayer(rng=rng), parse("(*,*,*,*,Nearby)"), draw_boards(3, rng=rng))
    >>> log.n_attempts.tolist(), log.outcomes.any()
    ([9, 9, 9], np.False_)
    """

    reveal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._draws = Draws(1, rng=self.rng)

    def act(self, observation: Observation) -> int:
        """Choose any attempt that the rule permits.

        Raises
        ------
        ValueError
            If the observation does not show what the rule permits, or nothing is permitted.
        """
        if observation.permitted is None or not observation.permitted.any():
            raise ValueError(
                "rule_player: expected an observation with at least one permitted attempt"
            )
        actions = np.flatnonzero(observation.permitted)
        return int(actions[int(self._draws.row()[0] * len(actions))])

    def observe(self, transition: Transition) -> None:
        """Learn nothing: there is nothing left to learn."""
