"""Fixed players, which learn nothing: a random, a frugal and a perfect one.

The uniform player is the lower reference, the frugal one shows the value of memory alone, and the
player that is shown the rule is the upper reference. A permissive rule leads to few errors, so an
error rate is to be compared with the chance of success of the first two on the same boards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias, final

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.learners.base import CompiledLearner, Learner, UniformNumbers
from gohr.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gohr.playing import Observation, Transition, TrialLog
from gohr.playing_kernel import Codes, Draws, Made, OpenTrial, play_boards
from gohr.replays import replay_log
from gohr.rules.syntax import RuleSet

_Failed: TypeAlias = npt.NDArray[np.bool_]


@njit(cache=True)
def _choose_uniform(player: int, codes: Codes, last: int, draws: Draws, at: int) -> int:
    """Choose any attempt on an occupied cell; -1 if there is none."""
    n_pieces = 0
    for cell in range(36):
        n_pieces += codes[cell] > 0
    if n_pieces == 0:
        return -1
    k = int(draws[at, 0] * (4 * n_pieces))
    cell = -1
    seen = -1
    while seen < k >> 2:
        cell += 1
        seen += codes[cell] > 0
    return 4 * cell + (k & 3)


@njit(cache=True)
def _learn_nothing(player: int, made: Made, codes: Codes, draws: Draws, at: int) -> None:
    """Learn nothing."""


@njit(cache=True, nogil=True)
def _play_uniform(player: int, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(_choose_uniform, _learn_nothing, player, plays_on, trial, draws)


@final
@dataclass(eq=False)
class Uniform(CompiledLearner):
    """Attempt each bucket for each piece on the board with equal probability.

    Every attempt uses one uniform number. The board must hold a piece.

    Examples
    --------
    >>> import gohr
    >>> log = gohr.play(gohr.draw_boards(3), Uniform(), gohr.parse("(*,*,*,*,*)"))
    >>> log.n_attempts.tolist(), log.finish.tolist()  # any attempt will do
    ([9, 9, 9], [1, 1, 1])
    """

    functions: ClassVar = (_choose_uniform, _learn_nothing, _play_uniform)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._begin(0, n_draws=1)


@njit(cache=True)
def _choose_frugal(failed: _Failed, codes: Codes, last: int, draws: Draws, at: int) -> int:
    """Choose any attempt on an occupied cell that has not failed; -1 if there is none."""
    n_open = 0
    for action in range(144):
        n_open += (codes[action >> 2] > 0) & (not failed[action])
    if n_open == 0:
        return -1
    k = int(draws[at, 0] * n_open)
    action = -1
    seen = -1
    while seen < k:
        action += 1
        seen += (codes[action >> 2] > 0) & (not failed[action])
    return action


@njit(cache=True)
def _learn_failures(failed: _Failed, made: Made, codes: Codes, draws: Draws, at: int) -> None:
    """Remember a failure until the board changes."""
    outcome = int(np.int64(made.outcome))  # as Python hands it over
    note_failure(failed, made.action, outcome, made.terminated or made.truncated)


@njit(cache=True)
def note_failure(failed: _Failed, action: int, outcome: int, over: bool) -> None:
    """Mark what an outcome rules out until the board changes.

    A denied attempt rules out itself, and a piece that cannot be moved its four attempts.
    """
    if over or outcome == ACCEPTED:
        failed[:] = False
    elif outcome == DENIED:
        failed[action] = True
    elif outcome == IMMOVABLE:
        for bucket in range(4):
            failed[(action & ~3) + bucket] = True


@njit(cache=True, nogil=True)
def _play_frugal(failed: _Failed, plays_on: bool, trial: OpenTrial, draws: Draws) -> None:
    """Play boards by the common loop."""
    play_boards(_choose_frugal, _learn_failures, failed, plays_on, trial, draws)


@final
@dataclass(eq=False)
class Frugal(CompiledLearner):
    """Attempt, with equal probability, anything that has not yet failed on the current board.

    A denied attempt is not made again, and a piece that cannot be moved is left alone; all this is
    forgotten with each accepted attempt, which changes the board. It has no knowledge of the rule,
    but needs on average only ``(N + 1) / (G + 1)`` attempts to move a piece when ``G`` of ``N``
    attempts are permitted, where :class:`gohr.learners.Uniform` needs ``N / G``. Every
    attempt uses one uniform number.

    References
    ----------
    The player "MCP1" of the reference system's tools.

    Examples
    --------
    >>> import gohr
    >>> log = gohr.play(gohr.draw_boards(50), Frugal(), gohr.parse("(*,*,*,L1,*)"))
    >>> int(log.n_attempts.max()) <= 45  # each piece that is left once at most: 9 + 8 + ... + 1
    True
    """

    functions: ClassVar = (_choose_frugal, _learn_failures, _play_frugal)

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
    >>> import gohr
    >>> log = gohr.play(gohr.draw_boards(3), RulePlayer(), gohr.parse("(*,*,*,*,Nearby)"))
    >>> log.n_attempts.tolist(), log.outcomes.any()
    ([9, 9, 9], np.False_)
    """

    reveal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._draws = UniformNumbers(1, rng=self.rng)

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
        """Learn nothing."""


def chance_of_success(
    rule_set: RuleSet, log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC
) -> npt.NDArray[np.float64]:
    """Return p0, the chance of success at each attempt of a player without knowledge.

    The player attempts each bucket for each piece with equal probability, as :class:`Uniform` does,
    or for each movable piece if only these could be tried (`TrialLog.only_movable`). The trial is
    replayed under its rule. Where the rule is hidden, so must these numbers be.

    Parameters
    ----------
    rule_set : RuleSet
        The rule that the trial was played on.
    log : TrialLog
        Any learner's trial.
    board_spec : BoardSpec
        Gives the palettes that the codes index.

    Returns
    -------
    numpy.ndarray of float64, shape (n_rows,)
        A number for each row of the log, between 0 and 1; 0 where a board was already cleared.

    Raises
    ------
    ValueError
        If the log was not played under this rule.

    References
    ----------
    The reference system's p0 for the player COMPLETELY_RANDOM.

    Examples
    --------
    >>> import gohr
    >>> from gohr.learners import Uniform
    >>> rule = gohr.parse("(*,*,*,*,[0,2])")
    >>> log = gohr.play(gohr.draw_boards(5), Uniform(), rule)
    >>> set(chance_of_success(rule, log).tolist())
    {0.5}
    """
    found = replay_log(log, rule_set, board_spec=board_spec)
    n_pieces = found.n_movable if log.only_movable else found.n_pieces
    chance: npt.NDArray[np.float64] = found.n_permitted / np.maximum(N_BUCKETS * n_pieces, 1)
    return chance
