"""The server's side of the captive protocol, for a learner that another loop deals boards to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._version import __version__
from gnomon.errors import GnomonError
from gnomon.game.board import (
    BUCKET_PLACES,
    N_BUCKETS,
    Board,
    BoardSpec,
    Piece,
)
from gnomon.game.captive.board_json import board_json, compact_json, piece_parts
from gnomon.game.captive.commands import (
    HELP,
    Command,
    InvalidLineError,
    InvalidMoveError,
    read_command,
    read_move,
)
from gnomon.game.captive.pictures import board_picture
from gnomon.game.captive.session import PROTOCOL_VERSION
from gnomon.game.formats.board_source import Deal
from gnomon.game.outcomes import (
    ACCEPTED,
    CLEARED,
    EMPTY_CELL,
    EPISODE_OVER,
    IN_PROGRESS,
    NEW_BOARD,
    STALEMATE,
)
from gnomon.learners.base import Transition

__all__ = ["CaptiveTalk"]

# Codes of an answer, beside those of an attempt, and how an episode stands.
_INVALID_COMMAND, _INVALID_ARGUMENTS, _NO_SUCH_PIECE = -1, -2, -10
_CUT_OFF = 3

_REMARKS = {
    IN_PROGRESS: "null",
    CLEARED: "Game cleared - the board is clear",
    STALEMATE: "Stalemate - no piece can be moved any more. Apology for these rules!",
    _CUT_OFF: "Cut off: no more attempts on this board. Use NEW to go on to the next",
}

_Answer = tuple[int | None, list[str]]


class CaptiveTalk:
    """What is said to a client, and what its lines mean, through all episodes of a trial.

    :class:`gnomon.game.captive.session.Session` is the server: it deals boards and knows the rule.
    Here both are elsewhere, and an attempt is handed out before its reply is known.

    Parameters
    ----------
    board_spec : BoardSpec
        Names of shapes and colours.
    output : {"BRIEF", "STANDARD", "FULL"}
        How much is said.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.game.board import DEFAULT_SPEC
    >>> talk = CaptiveTalk(DEFAULT_SPEC, "BRIEF")
    >>> talk.see(np.eye(1, 36, 30, dtype=np.uint8)[0])[0]
    '6 0 0'
    >>> talk.answer("MOVE 5 1"), talk.answer("MOVE 0 1")
    ((None, ['-10 0 0', '# null']), (121, []))
    """

    def __init__(self, board_spec: BoardSpec, output: str) -> None:
        self._spec = board_spec
        self._mode = output
        self._episode = 0
        self._board: Deal | None = None
        self._pieces: dict[int, Piece] = {}
        self._finish = self._n_attempts = 0
        self._waits = False
        self._last: tuple[int, bool] | None = None

    def see(self, board: npt.NDArray[np.uint8]) -> list[str]:
        """Take in the board before an attempt, and return what is to be said of it."""
        if self._board is not None and self._finish == 0:
            return []
        first = self._board is None
        self._board = Deal(Board.from_codes(board, self._spec))
        if first:
            return self._greeting()
        self._waits = True  # for NEW
        return []

    def answer(self, line: str) -> _Answer:
        """Return the attempt that a line asks for, or what is to be said instead."""
        try:
            command = read_command(line)
        except InvalidLineError as error:
            return None, self._status(_INVALID_COMMAND, str(error))
        if command is None:
            return None, []
        if command.word == "MOVE":
            return self._move(command)
        return None, self._obey(command)

    def tell(self, transition: Transition) -> list[str]:
        """Return what is to be said of what came of the attempt."""
        cell = transition.action // N_BUCKETS
        accepted = transition.outcome == ACCEPTED
        self._n_attempts += 1
        self._last = cell + 1, accepted
        if accepted:
            self._pieces = {k: p for k, p in self._pieces.items() if p.pos != cell + 1}
        if transition.terminated:
            self._finish = STALEMATE if self._pieces else CLEARED
        elif transition.truncated:
            self._finish = _CUT_OFF
        remark = _REMARKS[self._finish]
        return self._after_move(transition.outcome, remark)

    def _greeting(self) -> list[str]:
        pieces = self._board.board.pieces if self._board else ()
        self._pieces = {piece.id: piece for piece in pieces}
        self._finish = self._n_attempts = 0
        self._waits = False
        self._last = None
        self._episode += 1
        hello = f"Hello. This is Gnomon ver. {__version__}. Starting a new episode "
        hello += f"(no. {self._episode})"
        return self._status(NEW_BOARD, hello) + self._display(self._mode == "FULL")

    def _obey(self, command: Command) -> list[str]:
        """Answer whatever is not a MOVE."""
        match command.word:
            case "NEW" if self._waits:
                return self._greeting()
            case "NEW":
                message = "each board is played to its end: NEW is for after it"
                return self._status(_INVALID_ARGUMENTS, message)
            case "EXIT":
                raise GnomonError(
                    f"learner 'process': expected it to play on, found EXIT in episode "
                    f"{self._episode}"
                )
            case "DISPLAY":
                return self._display(self._mode == "FULL")
            case "DISPLAYFULL":
                return self._display(True)
            case "VERSION":
                return [f"# {PROTOCOL_VERSION}"]
            case "HELP":
                return [f"# {line}" for line in HELP]
            case "COND":
                return ["# OK, cond=train"]
            case "FEATURES":
                names = {"shape": self._spec.shape_palette, "color": self._spec.color_palette}
                return [compact_json(names)]
            case "MODE":
                return self._change_mode(command)
        return self._status(_INVALID_COMMAND, f"Invalid command: {command.word}")

    def _change_mode(self, command: Command) -> list[str]:
        wanted = command.arguments[0].text.upper() if command.arguments else ""
        if wanted not in ("BRIEF", "STANDARD", "FULL"):
            return self._status(_INVALID_ARGUMENTS, f"Not a known mode: {wanted}")
        self._mode = wanted
        return [f"# OK, mode={wanted}"]

    def _move(self, command: Command) -> _Answer:
        try:
            numbers = read_move(command)
        except InvalidMoveError as error:
            return None, self._status(_INVALID_ARGUMENTS, str(error))
        if self._waits or self._finish:
            return None, self._after_move(EPISODE_OVER, "No game is on right now. Use NEW")
        if len(numbers) == 2:
            piece, bucket = self._pieces.get(numbers[0]), numbers[1]
            if bucket >= N_BUCKETS:
                message = f"Invalid input: bucket ID={bucket}"
                return None, self._after_move(_INVALID_ARGUMENTS, message)
            missing = _NO_SUCH_PIECE
        else:
            row, column, *place = numbers
            if not (1 <= row <= 6 and 1 <= column <= 6) or tuple(place) not in BUCKET_PLACES:
                return None, self._after_move(_INVALID_ARGUMENTS, "Invalid input: out of range")
            bucket = BUCKET_PLACES.index((place[0], place[1]))
            pos = column + 6 * (row - 1)
            piece = next((p for p in self._pieces.values() if p.pos == pos), None)
            missing = EMPTY_CELL
        if piece is None:
            return None, self._after_move(missing, "null")
        return N_BUCKETS * (piece.pos - 1) + bucket, []

    def _status(self, code: int, message: str) -> list[str]:
        return [f"{code} {self._finish} {self._n_attempts}", f"# {message}"]

    def _after_move(self, code: int, message: str) -> list[str]:
        status = self._status(code, message)
        return status if self._mode == "BRIEF" else status + self._display(self._mode == "FULL")

    def _display(self, picture: bool) -> list[str]:
        parts = (
            []
            if self._board is None
            else [
                "[0,1,2,3]".join(piece_parts(piece, self._board)) for piece in self._pieces.values()
            ]
        )
        drawn = board_picture(self._pieces.values(), self._last) if picture else []
        return [board_json(parts), *drawn]
