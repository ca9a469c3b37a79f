"""A session of the captive game server: it knows the rule, deals boards and judges attempts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, final

from gnomon.errors import GnomonError
from gohr.game.board import COLORS, N_BUCKETS, SHAPES, Board, BoardSpec, Piece
from gohr.game.captive.dialogue import (
    BAD_RULES,
    EXIT,
    INVALID_ARGUMENTS,
    Command,
    Dialogue,
    OutputMode,
    in_one_line,
    to_json,
)
from gohr.game.captive_log import ResultFiles
from gohr.game.interpreted_boards import InterpretedBoards, boards_in_play
from gohr.game.outcomes import ACCEPTED, CLEARED, DENIED, IMMOVABLE, RESET
from gohr.game.reference import ReferenceGame
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gohr.game.engine.boards import Boards


class BoardSource(Protocol):
    """Deals a board for each episode."""

    #: Whether boards for testing are dealt now.
    testing: bool
    #: Whether pieces are labelled with a letter.
    labelled: bool
    #: The shapes and colours that can appear on the boards, upper case.
    shapes: tuple[str, ...]
    colors: tuple[str, ...]

    @property
    def can_test(self) -> bool:
        """Whether conditions divide the boards into those for training and those for testing."""

    def deal(self) -> Board:
        """Return the next board; a GnomonError gives the reason if there is none."""


@dataclass
class OneBoard:
    """Deals the same board in every episode."""

    board: Board
    labelled: bool = True
    testing: bool = False
    can_test: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        pieces = self.board.pieces
        self.shapes = tuple(dict.fromkeys(piece.shape for piece in pieces if piece.shape))
        self.colors = tuple(dict.fromkeys(piece.color for piece in pieces if piece.color))

    def deal(self) -> Board:
        """Return the board."""
        return self.board


class _Game(Protocol):
    """An episode: judges its attempts."""

    @property
    def finish(self) -> int: ...

    def attempt(self, piece: Piece, bucket: int) -> int: ...

    def buckets(self, piece: Piece) -> list[int]: ...


class _EngineGame:
    """One board of the batched engine."""

    def __init__(self, boards: Boards, spec: BoardSpec) -> None:
        import numpy as np

        self._spec, self._boards = spec, boards
        self._deck = np.zeros((1, 36), dtype=np.uint8)
        self._step = boards.bound_step(self._deck)
        self._action, self._outcome, self._finish = (
            boards.replies[:, 0],
            boards.outcome,
            boards.finish,
        )

    def begin(self, board: Board) -> _EngineGame:
        self._deck[0] = board.codes(self._spec)
        self._action[0] = RESET
        self._step()
        return self

    @property
    def finish(self) -> int:
        return int(self._finish[0])

    def attempt(self, piece: Piece, bucket: int) -> int:
        self._action[0] = 4 * piece.pos - 4 + bucket
        self._step()
        return int(self._outcome[0])

    def buckets(self, piece: Piece) -> list[int]:
        row = self._boards.permitted()[0, 4 * piece.pos - 4 : 4 * piece.pos].tolist()
        return [bucket for bucket in range(N_BUCKETS) if row[bucket]]


class _InterpretedGame:
    """An episode of the reference interpreter."""

    def __init__(self, rule_set: RuleSet, board: Board) -> None:
        self._continue(ReferenceGame(rule_set, board))

    def _continue(self, game: ReferenceGame) -> None:
        self._game = game
        self.finish = game.finish
        self._legal: dict[int, list[int]] = {}
        for piece_id, bucket in game.legal_moves():
            self._legal.setdefault(piece_id, []).append(bucket)

    def attempt(self, piece: Piece, bucket: int) -> int:
        if bucket not in self._legal.get(piece.id, ()):
            return DENIED if piece.id in self._legal else IMMOVABLE
        # Whether the rule can be played any further shows after the move: make it on a copy.
        game = self._game.copy()
        game.attempt(piece.id, bucket)
        self._continue(game)
        return ACCEPTED

    def buckets(self, piece: Piece) -> list[int]:
        return self._legal.get(piece.id, [])


def _judge(rule_set: RuleSet, source: BoardSource) -> Callable[[Board], _Game]:
    """Return what begins an episode: the engine if it has tables for the rule, else the reference.

    It raises RulePlayError for a board on which the rule cannot be played.
    """
    if 0 < len(source.shapes) * len(source.colors) <= 255:
        spec = BoardSpec(
            pieces=1, shapes=0, colors=0, shape_palette=source.shapes, color_palette=source.colors
        )
        room = boards_in_play(rule_set, spec, 1)
        if not isinstance(room, InterpretedBoards):
            return _EngineGame(room, spec).begin
    return lambda board: _InterpretedGame(rule_set, board)


@final
class Session(Dialogue):
    """A client's games, one episode after another under one rule.

    Parameters
    ----------
    rule_set : RuleSet
        The hidden rule.
    source : BoardSource
        Deals a board for each episode.
    mode : {'BRIEF', 'STANDARD', 'FULL'}
        How much an answer contains.
    reveal : bool
        Whether the field ``buckets`` of a piece lists the buckets that it may go into, which is the
        answer. The reference always does. ⚠ Here it is always ``[0,1,2,3]`` if not.
    log : ResultFiles, optional
        Records every episode and attempt.

    Attributes
    ----------
    over : bool
        Whether the client has sent EXIT.
    n_new : int
        How many times the client has sent NEW.
    """

    def __init__(
        self,
        rule_set: RuleSet,
        source: BoardSource,
        *,
        mode: OutputMode = "FULL",
        reveal: bool = False,
        log: ResultFiles | None = None,
    ) -> None:
        # ⚠ The answer is always that of the four shapes and colours.
        super().__init__(mode, {"shape": SHAPES, "color": COLORS})
        self._begin_game = _judge(rule_set, source)
        self._game: _Game
        self._source = source
        self._reveal = reveal
        self._log = log
        self._n_pieces = 0
        self.over = False
        self.n_new = 0

    def start(self) -> list[str]:
        """Begin the first episode, and return the greeting.

        Raises GnomonError: there is no board, or the rule cannot be played on it.
        """
        self._deal()
        return self._greeting()

    def close(self) -> None:
        """End the session; the episode in progress is recorded in its current state."""
        self._end_episode()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _deal(self) -> None:
        self._no_episode()
        board = self._source.deal()
        self._game = self._begin_game(board)
        self._begin(board, self._game.finish, labelled=self._source.labelled)
        self._n_pieces = len(board.pieces)
        if self._log is not None:
            self._log.begin(self.episode)

    def _end_episode(self) -> None:
        if self._log is not None and self._is_on:
            n_accepted = self._n_pieces - len(self._pieces)
            self._log.end(self._n_pieces, self._n_attempts, n_accepted, self.finish == CLEARED)
        self._is_on = False

    def _new(self) -> list[str]:
        self.n_new += 1
        self._end_episode()
        try:
            self._deal()
        except GnomonError as error:
            self._no_episode()
            return self._status(BAD_RULES, in_one_line(error))
        return self._greeting()

    def _exit(self) -> list[str]:
        self.over = True
        return self._status(EXIT, "Goodbye")

    def _attempt(self, piece: Piece, bucket: int) -> list[str]:
        try:
            code = self._game.attempt(piece, bucket)
        except GnomonError as error:
            return self._after_move(BAD_RULES, in_one_line(error))
        self._made(piece, code)
        self.finish = self._game.finish
        if self._log is not None:
            self._log.attempt(self._n_attempts - 1, piece, bucket, code, len(self._pieces))
        return self._after_move(code, self._remark() if self.finish else "null")

    def _is_movable(self, piece: Piece) -> bool:
        return bool(self._game.buckets(piece))

    def _buckets(self, piece: Piece) -> str:
        if not self._reveal:
            return super()._buckets(piece)
        return "[]" if self.finish else to_json(self._game.buckets(piece))

    def _conditions(self, command: Command) -> list[str]:
        """Report or set which boards are dealt. ⚠ An error is followed by the report."""
        error: list[str] = []
        if command.arguments:
            wanted = command.arguments[0].text
            if wanted.lower() not in ("train", "test"):
                message = f"followed by 'train' or 'test'; invalid value={wanted}"
                error = self._status(INVALID_ARGUMENTS, f"COND command  must be {message}")
            elif wanted.lower() == "test" and not self._source.can_test:
                # ⚠ The reference crashes here.
                message = "COND test needs conditions: begin with condTrain= or condTest="
                error = self._status(INVALID_ARGUMENTS, message)
            else:
                self._source.testing = wanted.lower() == "test"
        return [*error, f"# OK, cond={'test' if self._source.testing else 'train'}"]
