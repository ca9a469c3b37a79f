"""Fixed players, which learn nothing: at random, without repeating a failure, and perfect.

The uniform player is the lower reference, the frugal one shows the value of memory alone, and the
player that is shown the rule is the upper reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.game.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gohr.learners.base import Learner, Observation, Transition, TrialLog
from gohr.learners.uniform_numbers import Draws

if TYPE_CHECKING:
    from gohr.game.engine.compiler import CompiledRule


@final
@dataclass(eq=False)
class Uniform(Learner):
    """Attempt each bucket for each piece on the board with equal probability.

    Every attempt uses one uniform number. The board must hold a piece.

    Examples
    --------
    >>> import numpy as np
    >>> from gohr.game import draw_boards
    >>> from gohr.learners import play_trial
    >>> from gohr.rules import parse
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
        from gohr.learners.kernels.chance import play_uniform
        from gohr.learners.kernels.one_board import play_boards

        return play_boards(play_uniform, rule, boards, horizon, self._draws)


@final
@dataclass(eq=False)
class Frugal(Learner):
    """Attempt, with equal probability, whatever has not yet failed on the board as it lies.

    A denied attempt is not made again, and a piece that cannot be moved is left alone; all this is
    forgotten with each accepted attempt, which changes the board. It has no knowledge of the rule,
    but needs on average only ``(N + 1) / (G + 1)`` attempts to move a piece when ``G`` of ``N``
    attempts are permitted, where :class:`gohr.learners.Uniform` needs ``N / G``. Its chance of
    success at each attempt of another learner is in :mod:`gohr.learners.chance`. Every attempt uses
    one uniform number.

    References
    ----------
    The player "MCP1" of the reference system's tools.

    Examples
    --------
    >>> import numpy as np
    >>> from gohr.game import draw_boards
    >>> from gohr.learners import play_trial
    >>> from gohr.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> log = play_trial(Frugal(rng=rng), parse("(*,*,*,L1,*)"), draw_boards(50, rng=rng))
    >>> int(log.n_attempts.max()) <= 45  # each piece that is left once at most: 9 + 8 + ... + 1
    True
    """

    def __post_init__(self) -> None:
        self._draws = Draws(1, rng=self.rng)
        self._failed = np.zeros(N_CELLS * N_BUCKETS, dtype=np.bool_)

    def act(self, observation: Observation) -> int:
        """Choose any attempt on an occupied cell that has not failed on this board."""
        open_ = (observation.action_mask != 0) & ~self._failed
        # Nothing is open on a board that nothing can be moved on, which is not played.
        actions = np.flatnonzero(open_ if open_.any() else observation.action_mask)
        return int(actions[int(self._draws.row()[0] * len(actions))])

    def observe(self, transition: Transition) -> None:
        """Remember a failure until the board changes."""
        over = transition.terminated or transition.truncated
        note_failure(self._failed, transition.action, transition.outcome, over)

    def play_trial(
        self, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
    ) -> TrialLog:
        """Play each board in turn, with the attempts that act would choose, but faster."""
        from gohr.learners.kernels.chance import play_frugal
        from gohr.learners.kernels.one_board import play_boards

        return play_boards(play_frugal, rule, boards, horizon, self._draws)


def note_failure(
    failed: npt.NDArray[np.bool_], action: int, outcome: int, over: bool = False
) -> None:
    """Mark in ``failed``, shape (144,), what an outcome rules out until the board changes.

    A denied attempt rules out itself, and a piece that cannot be moved its four attempts; an
    accepted one, and the end of the episode, wipe all marks.
    """
    if over or outcome == ACCEPTED:
        failed[:] = False
    elif outcome == DENIED:
        failed[action] = True
    elif outcome == IMMOVABLE:
        first = action - action % N_BUCKETS
        failed[first : first + N_BUCKETS] = True


@final
@dataclass(eq=False)
class RulePlayer(Learner):
    """Make, each time, one of the attempts that the rule permits, all equally probable.

    It is shown the answer, so it never errs. It shows how many attempts a perfect player needs, and
    whether a rule can get stuck under such a player. Every attempt uses one uniform number.

    Examples
    --------
    >>> import numpy as np
    >>> from gohr.game import draw_boards
    >>> from gohr.learners import play_trial
    >>> from gohr.rules import parse
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
