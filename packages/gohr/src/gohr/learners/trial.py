"""Playing a trial: one learner, one rule, one board after another."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, final

import numpy as np
import numpy.typing as npt

from gnomon.errors import shortened
from gohr.errors import NotCompilableError
from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.game.board_views import ACTION
from gohr.game.engine.compiler import CompiledRule, compile_rule
from gohr.game.interpreted_boards import InterpretedBoards
from gohr.game.outcomes import ACCEPTED, EPISODE_OVER, IN_PROGRESS, RESET, Autoreset
from gohr.learners.base import FusedLearner, Learner, Observation, Transition, TrialLog
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gohr.game.engine.boards import Boards


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
    with its own loop plays with it.

    Parameters
    ----------
    learner : Learner
        At the start of its trial.
    rule_set : RuleSet
        The hidden rule.
    boards : numpy.ndarray of uint8, shape (n_episodes, 36)
        One board an episode, as :func:`gohr.game.board.draw_boards` makes them.
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
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> boards = gohr.draw_boards(3, rng=rng)
    >>> log = gohr.play_trial(learner, gohr.load_rule("anything-goes"), boards)
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
    """Compile a rule once for all its trials in this process; None if it does not compile.

    Examples
    --------
    >>> import gohr
    >>> rule = compiled(gohr.load_rule("clockwise"), gohr.BoardSpec())
    >>> rule is compiled(gohr.load_rule("clockwise"), gohr.BoardSpec())
    True
    """
    try:
        return compile_rule(rule_set, board_spec)
    except NotCompilableError:
        return None


def play_unfused(
    learner: Learner, rule: CompiledRule, boards: npt.NDArray[np.uint8], horizon: int
) -> TrialLog:
    """Play a compiled rule by act and observe alone, even if the learner has its own loop."""
    from gohr.game.engine.boards import Boards

    return _play(learner, Boards.empty(rule, 1), boards, horizon)


def _play(
    learner: Learner,
    in_play: Boards | InterpretedBoards,
    boards: npt.NDArray[np.uint8],
    horizon: int,
) -> TrialLog:
    """Play each board until it is over, or the horizon is reached."""
    trial = TrialInPlay(in_play, boards, horizon, reveal=learner.reveal, plays_on=learner.plays_on)
    while not trial.over:
        learner.observe(trial.attempt(_action(learner.act(trial.observation))))
    return trial.log()


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


@final
class TrialInPlay:
    """A trial in progress: the observation, an attempt made, and a log of all.

    The caller has the loop, as frameworks need that call the game for each attempt.

    Parameters
    ----------
    in_play : Boards or InterpretedBoards
        One board of the rule, in an engine.
    boards, horizon
        As in :func:`play_trial`.
    reveal, plays_on : bool
        As declared by the learner.

    Attributes
    ----------
    over : bool
        Whether all boards are played.
    observation : Observation
        Observation before the next attempt.

    Examples
    --------
    >>> import gohr
    >>> boards = gohr.draw_boards(2, rng=np.random.default_rng(0))
    >>> trial = trial_in_play(gohr.load_rule("anything-goes"), boards)
    >>> while not trial.over:
    ...     done = trial.attempt(int(trial.observation.action_mask.argmax()))
    >>> trial.log().n_attempts
    array([9, 9])
    """

    def __init__(
        self,
        in_play: Boards | InterpretedBoards,
        boards: npt.NDArray[np.uint8],
        horizon: int,
        *,
        reveal: bool = False,
        plays_on: bool = False,
    ) -> None:
        self._in_play, self._boards, self._horizon = in_play, boards, horizon
        self._reveal, self._plays_on = reveal, plays_on
        self._deck = np.zeros((1, boards.shape[1]), dtype=np.uint8)
        self._actions: list[int] = []
        self._outcomes: list[int] = []
        self._n_attempts: list[int] = []
        self._finish: list[int] = []
        self.over, self._before = False, 0
        self.observation: Observation
        self._deal()

    def attempt(self, action: int) -> Transition:
        """Make an attempt; if its board is over then, deal the next."""
        seen = self.observation
        outcome = self._advance(action)
        self._actions.append(action)
        self._outcomes.append(outcome)
        terminated = self._standing != IN_PROGRESS and not self._plays_on
        truncated = len(self._actions) - self._before >= self._horizon
        self.observation = self._seen()
        reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
        made = Transition(seen, action, reward, outcome, self.observation, terminated, truncated)
        if terminated or truncated:
            self._end_board()
            self._deal()
        return made

    def log(self) -> TrialLog:
        """Return every attempt so far on the boards that are over."""
        n = len(self._n_attempts)
        return TrialLog(
            self._boards[:n],
            np.array(self._n_attempts, dtype=np.int64),
            np.array(self._actions[: self._before], dtype=np.uint8),
            np.array(self._outcomes[: self._before], dtype=np.int8),
            np.array(self._finish, dtype=np.int8),
        )

    @property
    def _standing(self) -> int:
        return int(self._in_play.finish[0])

    def _deal(self) -> None:
        """Deal the next board, past those that are stuck as they are dealt."""
        while len(self._finish) < len(self._boards):
            self._deck[0] = self._boards[len(self._finish)]
            self._advance(RESET)
            self.observation = self._seen()
            if self._standing == IN_PROGRESS:
                return
            self._end_board()
        self.over = True

    def _end_board(self) -> None:
        self._n_attempts.append(len(self._actions) - self._before)
        self._before = len(self._actions)
        self._finish.append(self._standing)

    def _advance(self, action: int) -> int:
        self._in_play.replies[:, ACTION] = action
        self._in_play.advance(self._deck, 0, 0, Autoreset.DISABLED)
        return int(self._in_play.outcome[0])

    def _seen(self) -> Observation:
        boards = self._in_play
        permitted = boards.permitted()[0] if self._reveal else None
        shape, color, bucket = boards.last[:, 0].tolist()
        return Observation(
            boards.codes[0].copy(), shape, color, bucket, boards.occupied[0].copy(), permitted
        )


def trial_in_play(
    rule_set: RuleSet,
    boards: npt.NDArray[np.uint8],
    *,
    horizon: int = 100,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> TrialInPlay:
    """Return a trial on a rule, whichever interpreter plays it; see :class:`TrialInPlay`.

    Examples
    --------
    >>> import gohr
    >>> boards = gohr.draw_boards(1, rng=np.random.default_rng(0))
    >>> trial_in_play(gohr.load_rule("clockwise"), boards).over
    False
    """
    from gohr.game.engine.boards import Boards

    rule = compiled(rule_set, board_spec)
    if rule is None:
        return TrialInPlay(InterpretedBoards(rule_set, board_spec, 1), boards, horizon)
    return TrialInPlay(Boards.empty(rule, 1), boards, horizon)
