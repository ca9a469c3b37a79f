"""The one loop: a policy plays a rule on one board after another, and every attempt is logged.

:func:`play` is the loop, :class:`TrialInPlay` the same trial for callers that have a loop of their
own (a framework, a server), and :class:`TrialLog` the record that both return.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import index
from typing import Protocol, SupportsIndex, final

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_count, counted, shortened
from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, Board, BoardSpec
from gohr.engine.compiler import CompiledRule
from gohr.engine.program import ACTION
from gohr.outcomes import ACCEPTED, EPISODE_OVER, IN_PROGRESS, RESET
from gohr.reference import ReferenceGame
from gohr.rules.syntax import RuleSet


@dataclass(frozen=True, slots=True, eq=False)
class TrialLog:
    """Every attempt of a trial, with the boards it was made on.

    The one record of play: learners, programs, language models, remote clients and people leave
    it, runs store it, and scores, verification and pages read it.

    Parameters
    ----------
    boards : numpy.ndarray of uint8, shape (n_episodes, 36)
        The board of each episode as it was dealt.
    n_attempts : numpy.ndarray of int64, shape (n_episodes,)
        Number of rows of ``actions`` that belong to each episode.
    actions : numpy.ndarray of uint8, shape (n_rows,)
        ``4 * cell + bucket``, the episodes one after the other.
    outcomes : numpy.ndarray of int8, shape (n_rows,)
        0 accepted, 4 denied, 7 immovable, 3 empty cell, -4 after the end of the episode.
    finish : numpy.ndarray of int8, shape (n_episodes,)
        0 the horizon came first, 1 cleared, 2 stalemate.
    only_movable : bool
        Whether only movable pieces could be tried, as by people with fixed feedback.

    Examples
    --------
    >>> import gohr
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec())
    >>> log = gohr.play(gohr.draw_boards(3), learner, gohr.load_rule("clockwise"))
    >>> log
    TrialLog: 3 boards, 106 attempts
    >>> n_errors = log.n_attempts - 9  # nine pieces each
    >>> bool(n_errors.sum() == (log.outcomes != 0).sum())
    True
    """

    boards: npt.NDArray[np.uint8]
    n_attempts: npt.NDArray[np.int64]
    actions: npt.NDArray[np.uint8]
    outcomes: npt.NDArray[np.int8]
    finish: npt.NDArray[np.int8]
    only_movable: bool = field(default=False, kw_only=True)

    def __repr__(self) -> str:
        """Return the numbers of boards and of attempts."""
        n_boards, n_attempts = self.n_attempts.size, int(self.n_attempts.sum())
        return f"TrialLog: {counted(n_boards, 'board')}, {counted(n_attempts, 'attempt')}"


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """Observation of the player before an attempt.

    Parameters
    ----------
    board : numpy.ndarray of uint8, shape (36,)
        Codes of the contents of each cell: 0 nothing, else ``1 + shape * n_colors + color``.
    shape, color, bucket : int
        Properties of the last accepted attempt of this episode, 0 for none and else 1 + index.
    action_mask : numpy.ndarray of int8, shape (144,)
        1 for the attempts on occupied cells; action ``4 * cell + bucket``.
    permitted : numpy.ndarray of int8, shape (144,), optional
        1 for the attempts that the rule would accept: shown to policies that declare ``reveal``.
    """

    board: npt.NDArray[np.uint8]
    shape: int
    color: int
    bucket: int
    action_mask: npt.NDArray[np.int8]
    permitted: npt.NDArray[np.int8] | None = None

    def last_number(self, n_colors: int) -> int:
        """Return the last accepted attempt as one number, as the learners' tables have it.

        0 for none, else ``1 + 4 * (shape * n_colors + color) + bucket``, all counted from 0.
        """
        if self.bucket == 0:
            return 0
        return N_BUCKETS * ((self.shape - 1) * n_colors + self.color - 1) + self.bucket


@dataclass(frozen=True, slots=True, eq=False)
class Transition:
    """One attempt: the observation, the action, and the outcome.

    ``reward`` is 0 for an accepted attempt (and for any on a board already cleared), else -1;
    ``outcome`` the game's code for it (:mod:`gohr.outcomes`). After ``terminated`` or
    ``truncated`` the next observation that the policy acts on is a new board's.
    """

    observation: Observation
    action: int
    reward: float
    outcome: int
    next_observation: Observation
    terminated: bool
    truncated: bool


class Policy(Protocol):
    """A player of a trial: it acts, and it observes what came of the attempt.

    Three attributes are optional: ``reveal``, whether it is shown what the rule permits;
    ``plays_on``, whether it goes on after a board is cleared, until the horizon; and ``kernel``,
    compiled code that plays whole boards with the very attempts that ``act`` and ``observe`` would
    give (:class:`gohr.learners.base.CompiledLearner`).
    """

    def act(self, observation: Observation, /) -> int:
        """Choose an attempt: ``4 * cell + bucket``, both from 0."""

    def observe(self, transition: Transition, /) -> None:
        """Take note of what came of it."""


def play(
    boards: npt.NDArray[np.uint8],
    policy: Policy,
    rule: RuleSet | CompiledRule,
    *,
    horizon: int = 100,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> TrialLog:
    """Let a policy play a rule on one board after another, and log every attempt.

    A board is over when it is cleared, when no piece can be moved, or after `horizon` attempts. A
    policy with a compiled kernel plays by it, some fifty times as fast, with the same attempts.

    Parameters
    ----------
    boards : numpy.ndarray of uint8, shape (n_episodes, 36)
        One board per episode, as :func:`gohr.draw_boards` makes them.
    policy : Policy
        A :class:`gohr.Learner` at the start of its trial, or any object with its two methods.
    rule : RuleSet or CompiledRule
        The hidden rule.
    horizon : int
        Number of attempts after which an episode is cut off, at least 1.
    board_spec : BoardSpec
        Gives the palettes that the codes index.

    Returns
    -------
    TrialLog
        One episode per board; a board that is stuck as it is dealt has no attempts.

    Raises
    ------
    ValueError
        If the horizon is below 1, a piece is not in the palettes, or the policy's action is none of
        the 144 attempts.
    TypeError
        If the boards are no such array, the policy is a class or lacks a method, or the rule is
        none.

    Examples
    --------
    >>> import gohr
    >>> class InTurn:
    ...     bucket = 0
    ...     def act(self, observation):
    ...         return int(observation.action_mask.argmax()) + self.bucket
    ...     def observe(self, transition):
    ...         self.bucket = (self.bucket + 1) % 4
    >>> boards = gohr.draw_boards(3)
    >>> play(boards, InTurn(), gohr.load_rule("clockwise")).n_attempts  # nine pieces each
    array([9, 9, 9])
    """
    check_count("horizon", horizon)
    if not isinstance(boards, np.ndarray) or boards.ndim != 2 or boards.shape[1] < N_CELLS:
        found = f"shape {boards.shape}" if isinstance(boards, np.ndarray) else type(boards).__name__
        raise TypeError(
            "boards: expected an array of shape (n_episodes, 36), as gohr.draw_boards returns it; "
            f"found {found}"
        )
    if isinstance(policy, type):
        raise TypeError(f"policy: expected an instance, found the class {policy.__name__}")
    if not (callable(getattr(policy, "act", None)) and callable(getattr(policy, "observe", None))):
        found = shortened(repr(policy))
        raise TypeError(f"policy: expected an object with act and observe, found {found}")
    kernel = getattr(policy, "kernel", None)
    if kernel is not None:
        from gohr.engine.boards import Boards
        from gohr.playing_kernel import play_compiled

        return play_compiled(kernel, Boards.empty(rule, 1, board_spec), boards, horizon)
    reveal, plays_on = (bool(getattr(policy, name, False)) for name in ("reveal", "plays_on"))
    trial = TrialInPlay(
        boards, rule, horizon=horizon, board_spec=board_spec, reveal=reveal, plays_on=plays_on
    )
    while not trial.over:
        policy.observe(trial.attempt(_action(policy.act(trial.observation))))
    return trial.log()


def _action(chosen: object) -> int:
    """Return what a policy chose as one of the 144 attempts."""
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
    """A trial in progress: the observation, an attempt made, and a log that grows.

    The caller has the loop, as frameworks need that call the game for each attempt.

    Parameters
    ----------
    boards, rule, horizon, board_spec
        As in :func:`play`.
    reveal, plays_on : bool
        As a :class:`Policy` declares them.
    interpreted : bool
        Whether to play by the reference interpreter (0.1 ms per attempt, no Numba) in place of the
        engine. ``rule`` must be a RuleSet then.

    Attributes
    ----------
    over : bool
        Whether all boards are played.
    observation : Observation
        Observation before the next attempt.
    finish : list of int
        State in which each board that is over ended.
    """

    def __init__(
        self,
        boards: npt.NDArray[np.uint8],
        rule: RuleSet | CompiledRule,
        *,
        horizon: int = 100,
        board_spec: BoardSpec = DEFAULT_SPEC,
        reveal: bool = False,
        plays_on: bool = False,
        interpreted: bool = False,
    ) -> None:
        room = _InterpretedBoard if interpreted else EngineBoard
        self._room: EngineBoard | _InterpretedBoard = room(rule, board_spec)
        self._boards, self._horizon = boards, horizon
        self._reveal, self._plays_on = reveal, plays_on
        self._actions: list[int] = []
        self._outcomes: list[int] = []
        self._n_attempts: list[int] = []
        self.finish: list[int] = []
        self.over, self._before = False, 0
        self.observation: Observation
        self._deal()

    def attempt(self, action: int) -> Transition:
        """Make an attempt; if its board is over then, deal the next."""
        seen = self.observation
        outcome = self._room.attempt(action)
        self._actions.append(action)
        self._outcomes.append(outcome)
        terminated = self._room.finish != IN_PROGRESS and not self._plays_on
        truncated = len(self._actions) - self._before >= self._horizon
        self.observation = self._room.observation(self._reveal)
        reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
        made = Transition(seen, action, reward, outcome, self.observation, terminated, truncated)
        if terminated or truncated:
            self._end_board()
            self._deal()
        return made

    def log(self, *, in_play: bool = False) -> TrialLog:
        """Return every attempt so far on the boards that are over, and on the board `in_play`."""
        n_attempts, finish, n_rows = self._n_attempts, self.finish, self._before
        if in_play and not self.over:
            n_rows = len(self._actions)
            n_attempts = [*n_attempts, n_rows - self._before]
            finish = [*finish, IN_PROGRESS]
        return TrialLog(
            self._boards[: len(finish)],
            np.array(n_attempts, dtype=np.int64),
            np.array(self._actions[:n_rows], dtype=np.uint8),
            np.array(self._outcomes[:n_rows], dtype=np.int8),
            np.array(finish, dtype=np.int8),
        )

    def _deal(self) -> None:
        """Deal the next board, past those that are stuck as they are dealt."""
        while len(self.finish) < len(self._boards):
            self._room.deal(self._boards[len(self.finish)])
            self.observation = self._room.observation(self._reveal)
            if self._room.finish == IN_PROGRESS:
                return
            self._end_board()
        self.over = True

    def _end_board(self) -> None:
        self._n_attempts.append(len(self._actions) - self._before)
        self._before = len(self._actions)
        self.finish.append(self._room.finish)


class SeenBoard:
    """A board as a player sees it, changed by the outcomes of attempts: no rule is needed."""

    def __init__(self, codes: npt.ArrayLike, spec: BoardSpec) -> None:
        self._codes = np.array(codes, dtype=np.uint8)
        self._n_colors = len(spec.color_palette)
        self._last = (0, 0, 0)

    def attempted(self, action: int, outcome: int) -> None:
        """Remove the piece of an accepted attempt; no other outcome changes the board."""
        if outcome == ACCEPTED:
            cell, bucket = divmod(action, N_BUCKETS)
            shape, color = divmod(int(self._codes[cell]) - 1, self._n_colors)
            self._codes[cell] = 0
            self._last = (1 + shape, 1 + color, 1 + bucket)

    def observation(self, permitted: npt.NDArray[np.int8] | None = None) -> Observation:
        """Return what a player observes."""
        mask = np.repeat(self._codes > 0, N_BUCKETS).astype(np.int8)
        return Observation(self._codes.copy(), *self._last, mask, permitted)


class EngineBoard:
    """A board in the engine, and the attempts on it."""

    def __init__(self, rule: RuleSet | CompiledRule, spec: BoardSpec) -> None:
        from gohr.engine.boards import Boards

        self._boards = Boards.empty(rule, 1, spec)
        self._deck = np.zeros((1, N_CELLS), dtype=np.uint8)
        self._step = self._boards.bound_step(self._deck)

    @property
    def finish(self) -> int:
        """State of the board: 0 in progress, 1 cleared, 2 stalemate."""
        return int(self._boards.finish[0])

    def deal(self, codes: npt.ArrayLike) -> None:
        """Deal a board of 36 codes."""
        self._deck[0] = codes
        self.attempt(RESET)

    def attempt(self, action: int) -> int:
        """Make an attempt, ``4 * cell + bucket``, and return its outcome."""
        self._boards.replies[ACTION, 0] = action
        self._step()
        return int(self._boards.outcome[0])

    def permitted(self) -> npt.NDArray[np.int8]:
        """Return 1 for the attempts that the rule would accept now, shape (144,)."""
        mask: npt.NDArray[np.int8] = self._boards.permitted()[0]
        return mask

    def observation(self, reveal: bool) -> Observation:
        """Return what a player observes, with what the rule permits if `reveal`."""
        boards = self._boards
        permitted = self.permitted() if reveal else None
        shape, color, bucket = boards.last[:, 0].tolist()
        codes, occupied = boards.codes[0].copy(), boards.occupied[0].copy()
        return Observation(codes, shape, color, bucket, occupied, permitted)


class _InterpretedBoard:
    """A board in the reference interpreter, and the attempts on it."""

    def __init__(self, rule: RuleSet | CompiledRule, spec: BoardSpec) -> None:
        if not isinstance(rule, RuleSet):
            raise TypeError(f"rule: expected a RuleSet, found {type(rule).__name__}")
        self._rule, self._spec = rule, spec

    @property
    def finish(self) -> int:
        return self._game.finish

    def deal(self, codes: npt.NDArray[np.uint8]) -> None:
        self._seen = SeenBoard(codes, self._spec)
        self._game = ReferenceGame(self._rule, Board.from_codes(codes, self._spec))

    def attempt(self, action: int) -> int:
        outcome = self._game.attempt_at(1 + action // N_BUCKETS, action % N_BUCKETS)
        self._seen.attempted(action, outcome)
        return outcome

    def observation(self, reveal: bool) -> Observation:
        if not reveal:
            return self._seen.observation()
        cells = {piece.id: piece.pos - 1 for piece in self._game.pieces}
        permitted = np.zeros(N_CELLS * N_BUCKETS, dtype=np.int8)
        for piece, bucket in self._game.legal_moves():
            permitted[N_BUCKETS * cells[piece] + bucket] = 1
        return self._seen.observation(permitted)
