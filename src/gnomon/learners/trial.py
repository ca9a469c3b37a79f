"""Playing a trial: one learner, one rule, one board after another."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import index
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon.errors import NotCompilableError, shortened
from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, Board, BoardSpec
from gnomon.game.engine.compiler import CompiledRule, compile_rule
from gnomon.game.outcomes import ACCEPTED, EPISODE_OVER, RESET
from gnomon.learners.base import FusedLearner, Learner, Observation, Transition, TrialLog
from gnomon.rules.syntax import RuleSet

__all__ = ["compiled", "play_trial", "play_unfused"]


class _Table(Protocol):
    """One board in play, whichever interpreter plays it."""

    @property
    def finish(self) -> int: ...

    def observation(self, *, reveal: bool) -> Observation: ...

    def attempt(self, action: int) -> int: ...


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
        return _play(learner, _reference_tables(rule_set, boards, board_spec), boards, horizon)
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
    return _play(learner, _engine_tables(rule, boards), boards, horizon)


def _play(
    learner: Learner, tables: Iterator[_Table], boards: npt.NDArray[np.uint8], horizon: int
) -> TrialLog:
    """Play each table until it is over, or the horizon is reached."""
    actions: list[int] = []
    outcomes: list[int] = []
    n_attempts: list[int] = []
    finish: list[int] = []
    for table in tables:
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
        action = index(chosen)  # type: ignore[arg-type]  # whatever a learner returned: the error is caught
    except TypeError:
        action = -1
    if not 0 <= action < N_CELLS * N_BUCKETS:
        found = shortened(repr(chosen))
        raise ValueError(f"expected an action from 0 to 143, found {found}")
    return action


class _EngineTable:
    """The engine with one board."""

    def __init__(self, rule: CompiledRule) -> None:
        from gnomon.game.engine import boards_in_play as engine

        self._engine = engine
        self._rule = rule
        self._boards = engine.Boards.empty(rule, 1)
        self._action = np.zeros(1, dtype=np.int64)

    def deal(self, board: npt.NDArray[np.uint8]) -> None:
        self._deck = np.ascontiguousarray(board.reshape(1, N_CELLS))
        self.attempt(RESET)

    @property
    def finish(self) -> int:
        return int(self._boards.finish[0])

    def attempt(self, action: int) -> int:
        self._action[0] = action
        self._engine.advance(self._rule, self._boards, self._action, self._deck)
        return int(self._boards.outcome[0])

    def observation(self, *, reveal: bool) -> Observation:
        boards = self._boards
        permitted = self._engine.permitted_attempts(self._rule, boards)[0] if reveal else None
        shape, color, bucket = boards.last[:, 0].tolist()
        return Observation(
            boards.codes[0].copy(), shape, color, bucket, boards.occupied[0].copy(), permitted
        )


def _engine_tables(rule: CompiledRule, boards: npt.NDArray[np.uint8]) -> Iterator[_Table]:
    table = _EngineTable(rule)
    for board in boards:
        table.deal(board)
        yield table


class _ReferenceTable:
    """The reference interpreter with one board, seen as the engine would show it."""

    def __init__(self, rule_set: RuleSet, board: npt.NDArray[np.uint8], spec: BoardSpec) -> None:
        from gnomon.game.reference import ReferenceGame

        self._game = ReferenceGame(rule_set, Board.from_codes(board, spec))
        self._codes = board.copy()
        self._n_colors = len(spec.color_palette)
        self._last = (0, 0, 0)

    @property
    def finish(self) -> int:
        return self._game.finish

    def attempt(self, action: int) -> int:
        cell, bucket = divmod(action, N_BUCKETS)
        outcome = self._game.attempt_at(cell + 1, bucket)
        if outcome == ACCEPTED:
            shape, color = divmod(int(self._codes[cell]) - 1, self._n_colors)
            self._codes[cell] = 0
            self._last = (1 + shape, 1 + color, 1 + bucket)
        return outcome

    def observation(self, *, reveal: bool) -> Observation:
        mask = np.repeat(self._codes > 0, N_BUCKETS).astype(np.int8)
        permitted = self._permitted() if reveal else None
        return Observation(self._codes.copy(), *self._last, mask, permitted)

    def _permitted(self) -> npt.NDArray[np.int8]:
        mask = np.zeros(N_CELLS * N_BUCKETS, dtype=np.int8)
        position = {piece.id: piece.pos for piece in self._game.pieces}
        for piece_id, bucket in self._game.legal_moves():
            mask[N_BUCKETS * (position[piece_id] - 1) + bucket] = 1
        return mask


def _reference_tables(
    rule_set: RuleSet, boards: npt.NDArray[np.uint8], spec: BoardSpec
) -> Iterator[_Table]:
    for board in boards:
        yield _ReferenceTable(rule_set, board, spec)
