"""A session of the captive game server: it knows the rule, deals boards and judges attempts."""

from __future__ import annotations

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
from gohr.game.outcomes import CLEARED, RESET
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    pass


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


class _EngineGame:
    """One board of the engine, which judges the attempts of an episode."""

    def __init__(self, rule_set: RuleSet, source: BoardSource) -> None:
        palettes = {"shape_palette": source.shapes, "color_palette": source.colors}
        try:
            self._spec = BoardSpec(pieces=1, shapes=0, colors=0, **palettes)
        except ValueError as error:
            raise GnomonError(f"board: {error}") from None
        # Loading the engine takes a second, which a client that reads the help need not wait for.
        import numpy as np

        from gohr.game.engine.boards import Boards

        boards = self._boards = Boards.empty(rule_set, 1, self._spec)
        self._deck = np.zeros((1, 36), dtype=np.uint8)
        self._step = boards.bound_step(self._deck)
        self._action, self._outcome, self._finish = (
            boards.replies[:, 0],
            boards.outcome,
            boards.finish,
        )

    def begin(self, board: Board) -> None:
        self._deck[0] = board.codes(self._spec)
        self._action[0] = RESET
        self._step()

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
        self._game = _EngineGame(rule_set, source)
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
        self._game.begin(board)
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
        code = self._game.attempt(piece, bucket)
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
