"""The frugal player, which repeats no failure: what memory alone is worth, without learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from gnomon.game.board import N_BUCKETS, N_CELLS
from gnomon.game.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gnomon.learners.base import Learner, Observation, Transition, TrialLog
from gnomon.learners.draws import Draws

if TYPE_CHECKING:
    from gnomon.game.engine.compiler import CompiledRule

__all__ = ["Frugal", "note_failure"]


@final
@dataclass(eq=False)
class Frugal(Learner):
    """Attempt, with equal probability, whatever has not yet failed on the board as it lies.

    A denied attempt is not made again, and a piece that cannot be moved is left alone; all this is
    forgotten with each accepted attempt, which changes the board. So it knows nothing of the rule,
    and yet needs on average only ``(N + 1) / (G + 1)`` attempts to move a piece when ``G`` of
    ``N`` attempts are permitted, where :class:`gnomon.learners.uniform.Uniform` needs ``N / G``.
    What it would score at each attempt of another learner is in :mod:`gnomon.learners.chance`.

    Parameters
    ----------
    board_spec : BoardSpec
        Of no consequence.
    rng : numpy.random.Generator
        The only source of randomness; every attempt uses one uniform number.

    References
    ----------
    The player "MCP1" of the reference system's tools.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.game import draw_boards
    >>> from gnomon.learners import play_trial
    >>> from gnomon.rules import parse
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
        from gnomon.learners.chance_kernels import play_frugal
        from gnomon.learners.one_board import play_boards

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
