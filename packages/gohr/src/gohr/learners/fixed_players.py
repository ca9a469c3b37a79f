"""Fixed players, which learn nothing: at random, without repeating a failure, and perfect.

The uniform player is the lower reference, the frugal one shows the value of memory alone, and the
player that is shown the rule is the upper reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.learners.base import Learner
from gohr.learners.compiled import CompiledLearner
from gohr.learners.uniform_numbers import Draws
from gohr.playing import Observation, Transition


@final
@dataclass(eq=False)
class Uniform(CompiledLearner):
    """Attempt each bucket for each piece on the board with equal probability.

    Every attempt uses one uniform number. The board must hold a piece.

    Examples
    --------
    >>> import numpy as np
    >>> from gohr.game import draw_boards
    >>> from gohr import play
    >>> from gohr.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> log = play(draw_boards(3, rng=rng), Uniform(rng=rng), parse("(*,*,*,*,*)"))
    >>> log.n_attempts.tolist(), log.finish.tolist()  # any attempt will do
    ([9, 9, 9], [1, 1, 1])
    """

    functions: ClassVar[str] = "gohr.learners.uniform_kernel"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._begin(0, n_draws=1)


@final
@dataclass(eq=False)
class Frugal(CompiledLearner):
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
    >>> from gohr import play
    >>> from gohr.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> log = play(draw_boards(50, rng=rng), Frugal(rng=rng), parse("(*,*,*,L1,*)"))
    >>> int(log.n_attempts.max()) <= 45  # each piece that is left once at most: 9 + 8 + ... + 1
    True
    """

    functions: ClassVar[str] = "gohr.learners.frugal_kernel"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._begin(np.zeros(N_CELLS * N_BUCKETS, dtype=np.bool_), n_draws=1)


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
    >>> from gohr import play
    >>> from gohr.rules import parse
    >>> rng = np.random.default_rng(0)
    >>> log = play(draw_boards(3, rng=rng), RulePlayer(rng=rng), parse("(*,*,*,*,Nearby)"))
    >>> log.n_attempts.tolist(), log.outcomes.any()
    ([9, 9, 9], np.False_)
    """

    reveal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
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
