"""Playing a trial: one learner, one rule, one board after another."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
import numpy.typing as npt

from gnomon.errors import NotCompilableError, shortened
from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gnomon.game.board_views import ACTION
from gnomon.game.engine.compiler import CompiledRule, compile_rule
from gnomon.game.interpreted_boards import InterpretedBoards
from gnomon.game.outcomes import ACCEPTED, EPISODE_OVER, RESET, Autoreset
from gnomon.learners.base import FusedLearner, Learner, Observation, Transition, TrialLog
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gnomon.game.engine.boards_in_play import Boards


def play_trial(
    learner: Learner,
    rule_set: RuleSet,
    boards: npt.NDArray[np.uint8],
    *,
    horizon: int = 100,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> TrialLog:
    """Let a learner play a rule on one board after another, and log every attempt.

    A rule that compiles is played by the engine, any other by the reference interpreter. A learner
    that brings a loop of its own plays with it.

    Parameters
    ----------
    learner : Learner
        At the start of its trial.
    rule_set : RuleSet
        The hidden rule.
    boards : numpy.ndarray of uint8, shape (n_episodes, 36)
        One board an episode, as :func:`gnomon.game.board.draw_boards` makes them.
    horizon : int
        Number of attempts after which an episode is cut off.
    board_spec : BoardSpec
        Gives the palettes that the codes index.

    Returns
    -------
    TrialLog

    Raises
    ------
    ValueError
        If the horizon is below 1.

    Examples
    --------
    >>> import gnomon as gn
    >>> rng = np.random.default_rng(0)
    >>> learner = gn.make_learner("uniform", gn.BoardSpec(), rng=rng)
    >>> log = gn.play_trial(learner, gn.load_rule("anything-goes"), gn.draw_boards(3, rng=rng))
    >>> log.n_attempts
    array([9, 9, 9])
    """
    if horizon < 1:
        raise ValueError(f"horizon: expected at least 1, found {horizon}")
    rule = compiled(rule_set, board_spec)
    if rule is None:
        return _play(learner, InterpretedBoards(rule_set, board_spec, 1), boards, horizon)
    if isinstance(learner, FusedLearner):
        return learner.play_trial(rule, boards, horizon)
    return play_unfused(learner, rule, boards, horizon)


@lru_cache(maxsize=512)
def compiled(rule_set: RuleSet, board_spec: BoardSpec) -> CompiledRule | None:
    """Compile a rule once for all its trials in this process; None if it does not compile."""
    try:
        return compile_rule(rule_set, board_spec)
    except NotCompilableError:
        return None


def play_unfused(
    learner: Learner, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
) -> TrialLog:
    """Play a compiled rule by act and observe alone, even if the learner has a loop of its own."""
    from gnomon.game.engine.boards_in_play import Boards

    return _play(learner, Boards.empty(rule, 1), boards, horizon)


def _play(
    learner: Learner,
    in_play: Boards | InterpretedBoards,
    boards: npt.NDArray[np.uint8],
    horizon: int,
) -> TrialLog:
    """Play each board until it is over, or the horizon is reached."""
    table = _Table(in_play)
    actions: list[int] = []
    outcomes: list[int] = []
    n_attempts: list[int] = []
    finish: list[int] = []
    for board in boards:
        table.deal(board)
        before = len(actions)
        seen = table.observation(reveal=learner.reveal)
        over = table.finish != 0
        while not over:
            action = _action(learner.act(seen))
            outcome = table.attempt(action)
            actions.append(action)
            outcomes.append(outcome)
            terminated = table.finish != 0 and not learner.plays_on
            truncated = len(actions) - before >= horizon
            after = table.observation(reveal=learner.reveal)
            reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
            learner.observe(Transition(seen, action, reward, outcome, after, terminated, truncated))
            seen = after
            over = terminated or truncated
        n_attempts.append(len(actions) - before)
        finish.append(table.finish)
    return TrialLog(
        boards,
        np.array(n_attempts, dtype=np.int64),
        np.array(actions, dtype=np.uint8),
        np.array(outcomes, dtype=np.int8),
        np.array(finish, dtype=np.int8),
    )


def _action(chosen: object) -> int:
    """Return what a learner chose as one of the 144 attempts."""
    try:
        action = index(chosen) if isinstance(chosen, SupportsIndex) else -1
    except TypeError:  # an array of several numbers has the method, and refuses
        action = -1
    if not 0 <= action < N_CELLS * N_BUCKETS:
        found = shortened(repr(chosen))
        raise ValueError(f"expected an action from 0 to 143, found {found}")
    return action


class _Table:
    """One board in play, whichever interpreter plays it."""

    def __init__(self, boards: Boards | InterpretedBoards) -> None:
        self._boards = boards
        self._deck = np.zeros((1, N_CELLS), dtype=np.uint8)

    def deal(self, board: npt.NDArray[np.uint8]) -> None:
        self._deck[0] = board
        self.attempt(RESET)

    @property
    def finish(self) -> int:
        return int(self._boards.finish[0])

    def attempt(self, action: int) -> int:
        self._boards.replies[ACTION] = action
        self._boards.advance(self._deck, 0, 0, Autoreset.DISABLED)
        return int(self._boards.outcome[0])

    def observation(self, *, reveal: bool) -> Observation:
        boards = self._boards
        permitted = boards.permitted()[0] if reveal else None
        shape, color, bucket = boards.last[:, 0].tolist()
        return Observation(
            boards.codes[0].copy(), shape, color, bucket, boards.occupied[0].copy(), permitted
        )
