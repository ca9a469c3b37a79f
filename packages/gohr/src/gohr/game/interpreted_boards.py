"""Boards played by the reference interpreter, for rules that the engine has no tables for.

They have the engine's interface, so that an environment can use either. A step takes a thousand
times as long.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.errors import shortened
from gohr.errors import NotCompilableError, NotCompiledWarning
from gohr.game.board import N_BUCKETS, N_CELLS, Board, BoardSpec
from gohr.game.board_views import (
    ACTION,
    BUCKET,
    N_REPLIES,
    OUTCOME,
    SHAPE,
    STANDS,
    TRUNCATED,
    BoardViews,
)
from gohr.game.engine.compiler import CompiledRule, compile_rule
from gohr.game.outcomes import (
    ACCEPTED,
    EPISODE_OVER,
    IN_PROGRESS,
    LEAVE,
    NEW_BOARD,
    RESET,
    Autoreset,
)
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gohr.game.engine.boards import Boards
    from gohr.game.reference import ReferenceGame


@lru_cache(maxsize=512)
def tables_of(rule_set: RuleSet, spec: BoardSpec) -> CompiledRule | NotCompilableError:
    """Compile a rule once for all its boards in this process; return why if it has no tables."""
    try:
        return compile_rule(rule_set, spec)
    except NotCompilableError as error:
        return error


def boards_in_play(
    rule: RuleSet | CompiledRule, spec: BoardSpec, num_envs: int
) -> Boards | InterpretedBoards:
    """Return boards under a rule: the engine's or, for a rule without tables, the interpreter's.

    Examples
    --------
    >>> import gohr
    >>> boards_in_play(gohr.load_rule("clockwise"), gohr.BoardSpec(), 3).codes.shape
    (3, 36)
    """
    if not isinstance(rule, RuleSet | CompiledRule):
        raise TypeError(
            "rule: expected a rule, as gohr.load_rule and gohr.parse return it; found "
            f"{shortened(repr(rule))}"
        )
    tables = tables_of(rule, spec) if isinstance(rule, RuleSet) else rule
    if isinstance(rule, RuleSet) and isinstance(tables, NotCompilableError):
        return InterpretedBoards(rule, spec, num_envs)
    from gohr.game.engine.boards import Boards

    assert isinstance(tables, CompiledRule)
    return Boards.empty(tables, num_envs)


def warn_if_interpreted(rule_set: RuleSet, spec: BoardSpec) -> None:
    """Warn, with the reason, if the engine has no tables for a rule."""
    tables = tables_of(rule_set, spec)
    if isinstance(tables, NotCompilableError):
        warnings.warn(
            f"{tables}; played by the reference interpreter, which is slower",
            NotCompiledWarning,
            stacklevel=3,
        )


class InterpretedBoards(BoardViews):
    """``num_envs`` boards under a rule; see :class:`~gohr.game.engine.boards.Boards`.

    Examples
    --------
    >>> import gohr
    >>> boards = InterpretedBoards(gohr.load_rule("clockwise"), gohr.BoardSpec(), 1)
    >>> boards.replies[ACTION] = RESET
    >>> deck = gohr.draw_boards(1, rng=np.random.default_rng(0))
    >>> boards.advance(deck, 0, 100, Autoreset.DISABLED)  # boards dealt
    1
    """

    def __init__(self, rule_set: RuleSet, spec: BoardSpec, num_envs: int) -> None:
        self._rule_set = rule_set
        self._spec = spec
        self._games: list[ReferenceGame | None] = [None] * num_envs
        self._n_attempts = [0] * num_envs
        #: Whether a board is over, and this has been returned to its player.
        self._told = [False] * num_envs
        self.seen = np.zeros((num_envs, N_CELLS * (1 + N_BUCKETS)), dtype=np.uint8)
        self.replies = self.padded = np.zeros((N_REPLIES, num_envs), dtype=np.int32)
        self.final = np.zeros((num_envs, N_CELLS + 3), dtype=np.uint8)

    def advance(
        self, deck: npt.NDArray[np.uint8], n_dealt: int, horizon: int, autoreset: int
    ) -> int:
        """Make the attempts ``replies[0]``, as the engine does; return the new n_dealt."""
        for i, action in enumerate(self.replies[ACTION].tolist()):
            if action == LEAVE:
                self.replies[OUTCOME : TRUNCATED + 1, i] = LEAVE, 0, 0, 0
                continue
            if action == RESET or (autoreset == Autoreset.NEXT_STEP and self._told[i]):
                self._deal(i, deck[n_dealt])
                n_dealt += 1
                self._reply(i, NEW_BOARD)
                continue
            outcome = self._attempt(i, action)
            game = self._game(i)
            terminated = game.finish != IN_PROGRESS
            truncated = 0 < horizon <= self._n_attempts[i]
            self._reply(i, outcome, terminated=terminated, truncated=truncated)
            self._told[i] = terminated or truncated
            if self._told[i] and autoreset == Autoreset.SAME_STEP:
                self.final[i] = [*self.seen[i, :N_CELLS], *self.replies[SHAPE : BUCKET + 1, i]]
                self._deal(i, deck[n_dealt])
                n_dealt += 1
        return n_dealt

    def bound_step(self, deck: npt.NDArray[np.uint8]) -> Callable[[], object]:
        """Return a call that makes the attempts ``replies[0]``, dealing from ``deck``."""
        return partial(self.advance, deck, 0, 0, Autoreset.DISABLED)

    def permitted(self) -> npt.NDArray[np.int8]:
        """Return 1 for the attempts that the rule would accept now, shape (num_envs, 144)."""
        return np.stack([self.permitted_of(i) for i in range(len(self._games))])

    def permitted_of(self, i: int) -> npt.NDArray[np.int8]:
        """Return 1 for the attempts on one board that the rule would accept, shape (144,)."""
        mask = np.zeros(N_CELLS * N_BUCKETS, dtype=np.int8)
        game = self._game(i)
        cell_of = {piece.id: piece.pos - 1 for piece in game.pieces}
        for piece_id, bucket in game.legal_moves():
            mask[N_BUCKETS * cell_of[piece_id] + bucket] = 1
        return mask

    def _game(self, i: int) -> ReferenceGame:
        game = self._games[i]
        if game is None:
            raise ValueError(f"board {i}: expected a reset before the first attempt")
        return game

    def _deal(self, i: int, codes: npt.NDArray[np.uint8]) -> None:
        # Few rules need the interpreter, and an environment starts sooner without it.
        from gohr.game.reference import ReferenceGame

        self._games[i] = ReferenceGame(self._rule_set, Board.from_codes(codes, self._spec))
        self._n_attempts[i] = 0
        self._told[i] = False
        self.seen[i, :N_CELLS] = codes[:N_CELLS]
        self.seen[i, N_CELLS:] = np.repeat(codes[:N_CELLS] > 0, N_BUCKETS)
        self.replies[SHAPE : BUCKET + 1, i] = 0
        self.replies[STANDS, i] = self._game(i).finish

    def _attempt(self, i: int, action: int) -> int:
        """Make one attempt and record its observation; return its outcome."""
        if self._told[i]:
            return EPISODE_OVER
        game = self._game(i)
        cell, bucket = divmod(action, N_BUCKETS)
        code = int(self.seen[i, cell])
        outcome = game.attempt_at(cell + 1, bucket)
        if outcome != EPISODE_OVER:
            self._n_attempts[i] += 1
        if outcome == ACCEPTED:
            shape, color = divmod(code - 1, len(self._spec.color_palette))
            self.replies[SHAPE : BUCKET + 1, i] = 1 + shape, 1 + color, 1 + bucket
            self.seen[i, cell] = 0
            self.seen[i, N_CELLS + N_BUCKETS * cell : N_CELLS + N_BUCKETS * (cell + 1)] = 0
        return outcome

    def _reply(
        self, i: int, outcome: int, *, terminated: bool = False, truncated: bool = False
    ) -> None:
        reward = 0 if outcome in (ACCEPTED, EPISODE_OVER, NEW_BOARD) else -1
        finish = self._game(i).finish
        self.replies[OUTCOME : STANDS + 1, i] = outcome, reward, terminated, truncated, finish
