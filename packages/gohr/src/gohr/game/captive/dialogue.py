"""The protocol of the captive game server as a state machine: a line in, lines out.

⚠ marks what the documentation of the reference omits, or what differs here.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from gohr.errors import RuleSyntaxError
from gohr.game.board import BUCKET_PLACES, N_BUCKETS, Board, Piece
from gohr.game.outcomes import ACCEPTED, CLEARED, EMPTY_CELL, EPISODE_OVER, NEW_BOARD, STALEMATE
from gohr.rules.lexer import Token, tokenize

if TYPE_CHECKING:
    pass

#: BRIEF answers an attempt with two lines, STANDARD adds the board, FULL a picture.
OutputMode = Literal["BRIEF", "STANDARD", "FULL"]

#: The version of the reference whose protocol this is: the answer to VERSION.
PROTOCOL_VERSION = "8.060"

#: The answer to HELP.
HELP = (
    "Commands available:",
    "FEATURES",
    "MOVE row col bucket_row bucket_col",
    "MOVE piece_id bucket_id",
    "NEW",
    "DISPLAY",
    "DISPLAYFULL",
    "MODE <BRIEF|STANDARD|FULL>",
    "COND <train|test>",
    "EXIT",
)

# Codes of an answer, besides those of an attempt.
EXIT = 5
INVALID_COMMAND, INVALID_ARGUMENTS = -1, -2
BAD_RULES, NO_SUCH_PIECE = -5, -10

TOO_LONG = "Invalid input - the line is too long"

_PLAIN_MOVE = re.compile(
    r"\s*MOVE\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([0-9]{1,9})\s+([0-9]{1,9}))?\s*",
    re.IGNORECASE | re.ASCII,
)


# -- the protocol ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """A word, upper case, and the words and signs that follow it."""

    word: str
    arguments: tuple[Token, ...]


class InvalidLineError(Exception):
    """A line that cannot be obeyed; its text is the message for the client."""


def read_command(line: str) -> Command | None:
    """Read a line; None if it is blank.

    Raises InvalidLineError: the line cannot be split as a rule line is, or does not begin with a
    word.
    """
    if not line.strip():
        return None
    try:
        *tokens, _ = tokenize(line.strip())
    except RuleSyntaxError:
        raise InvalidLineError("Invalid input - cannot parse") from None
    if not tokens or tokens[0].kind != "name":
        raise InvalidLineError("Invalid input")
    return Command(tokens[0].text.upper(), tuple(tokens[1:]))


def _plain_move(line: str) -> tuple[int, ...] | None:
    """Read a MOVE with two or four numbers and nothing else; None for any other line."""
    match = _PLAIN_MOVE.fullmatch(line)
    return None if match is None else tuple(int(n) for n in match.groups() if n is not None)


def _move_numbers(command: Command) -> tuple[int, ...]:
    """Return the two or four numbers of a MOVE.

    Raises InvalidLineError: something else follows.
    """
    if len(command.arguments) not in (2, 4):
        raise InvalidLineError("Invalid input")
    for token in command.arguments:
        if token.kind != "number":
            shown = f"ID.{token.text}" if token.kind == "name" else token.text
            raise InvalidLineError(f"Invalid input: {shown}")
    return tuple(int(token.text) for token in command.arguments)


class Dialogue(ABC):
    """The state of a client's episode, and the answers to its lines.

    Parameters
    ----------
    mode : {'BRIEF', 'STANDARD', 'FULL'}
        Amount of output in an answer.
    features : mapping from str to list
        The answer to FEATURES: the possible values of each property.

    Attributes
    ----------
    episode : int
        Number of the episode, from 0; -1 before the first.
    finish : int
        State of the episode: 0 in progress, 1 cleared, 2 stalemate, 3 given up.
    """

    def __init__(self, mode: OutputMode, features: Mapping[str, Sequence[str]]) -> None:
        self._mode: OutputMode = mode
        self._features = features
        self.episode = -1
        self.finish = 0
        self._no_episode()

    # -- decided by the server -------------------------------------------------------------------

    @abstractmethod
    def _attempt(self, piece: Piece, bucket: int) -> list[str]:
        """Take an attempt on a piece of the board; return the answer, if there is one yet."""

    @abstractmethod
    def _new(self) -> list[str]:
        """Answer NEW."""

    @abstractmethod
    def _exit(self) -> list[str]:
        """Answer EXIT."""

    @abstractmethod
    def _conditions(self, command: Command) -> list[str]:
        """Answer COND."""

    def _is_movable(self, piece: Piece) -> bool:
        """Whether a piece may go into any bucket, as far as is known."""
        return True

    def _buckets(self, piece: Piece) -> str:
        """Return the field ``buckets`` of a piece. ⚠ The reference gives the answer away in it."""
        return "[0,1,2,3]"

    # -- lines in, lines out ---------------------------------------------------------------------

    def answer(self, line: str) -> list[str]:
        """Return the lines that answer a line of the client; none for a blank one."""
        numbers = _plain_move(line)
        if numbers is not None:
            return self._move(numbers)
        try:
            command = read_command(line)
        except InvalidLineError as error:
            return self.refuse(str(error))
        return [] if command is None else self._obey(command)

    def refuse(self, message: str) -> list[str]:
        """Return the answer to a line that is not a command."""
        return self._status(INVALID_COMMAND, message)

    def _obey(self, command: Command) -> list[str]:
        match command.word:
            case "MOVE":
                try:
                    return self._move(_move_numbers(command))
                except InvalidLineError as error:
                    return self._status(INVALID_ARGUMENTS, str(error))
            case "NEW":
                return self._new()
            case "EXIT":
                return self._exit()
            case "MODE":
                return self._change_mode(command)
            case "COND":
                return self._conditions(command)
            case "DISPLAY":
                return self._display(picture=self._mode == "FULL")
            case "DISPLAYFULL":
                return self._display(picture=True)
        return self._inform(command.word)

    def _inform(self, word: str) -> list[str]:
        match word:
            case "FEATURES":
                return [to_json(self._features)]
            case "VERSION":
                return [f"# {PROTOCOL_VERSION}"]
            case "HELP":
                return [f"# {line}" for line in HELP]
        return self.refuse(f"Invalid command: {word}")

    def _status(self, code: int, message: str = "null") -> list[str]:
        # ⚠ The comment on an ordinary attempt is the word null.
        return [f"{code} {self.finish} {self._n_attempts}", f"# {message}"]

    # -- episodes --------------------------------------------------------------------------------

    def _no_episode(self) -> None:
        """Remove the pieces: there is no game until a board is dealt."""
        self.finish = 0
        self._n_attempts = 0
        self._is_on = False
        self._pieces: dict[int, Piece] = {}
        self._id_at: dict[int, int] = {}
        self._before_buckets: dict[int, str] = {}
        self._last: tuple[int, bool] | None = None
        self._json: str | None = None

    def _begin(self, board: Board, finish: int = 0, *, labelled: bool = False) -> None:
        """Begin an episode with a board. ⚠ Pieces of board files are labelled with a letter."""
        self._no_episode()
        self.episode += 1
        self._is_on = True
        self.finish = finish
        for piece in board.pieces:
            self._pieces[piece.id] = piece
            self._id_at[piece.pos] = piece.id
            self._before_buckets[piece.id] = _before_buckets(piece, labelled)

    def _greeting(self) -> list[str]:
        stuck = self.finish == STALEMATE
        hello = f"Hello. This is Gnomon ver. {_version()}. Starting a new episode "
        hello += f"(no. {self.episode + 1})"
        if stuck:
            hello += " -- immediate stalemate. Our apologies!"
        code = STALEMATE if stuck else NEW_BOARD
        return self._status(code, hello) + self._display(picture=self._mode == "FULL")

    # -- attempts --------------------------------------------------------------------------------

    def _move(self, numbers: tuple[int, ...]) -> list[str]:
        if not self._is_on or self.finish:
            ended = (self.finish == CLEARED, self.finish == STALEMATE, False)
            names = ("cleared", "stalemate", "earlyWin")
            how = ", ".join(f"{n}={str(e).lower()}" for n, e in zip(names, ended, strict=True))
            message = f"No game is on right now ({how}). Use NEW to start a new game"
            return self._after_move(EPISODE_OVER, message)
        if len(numbers) == 2:
            piece_id, bucket = numbers
            if bucket >= N_BUCKETS:
                return self._after_move(INVALID_ARGUMENTS, f"Invalid input: bucket ID={bucket}")
            if piece_id not in self._pieces:
                return self._after_move(NO_SUCH_PIECE)
            return self._attempt(self._pieces[piece_id], bucket)
        return self._move_by_place(*numbers)

    def _move_by_place(
        self, row: int, column: int, bucket_row: int, bucket_column: int
    ) -> list[str]:
        """Make an attempt with the piece of a cell. The order of the checks is the reference's."""
        wrong = None
        if not 1 <= column <= 6:
            wrong = f"column={column} out of range"
        elif not 1 <= row <= 6:
            wrong = f"row={row} out of range"
        elif bucket_column not in (0, 7):
            bad_row = bucket_row not in (0, 7)
            which = f"row={bucket_row}" if bad_row else f"column={bucket_column}"
            wrong = f"bucket {which} is not 0 or 7"
        if wrong:
            return self._after_move(INVALID_ARGUMENTS, f"Invalid input: {wrong}")
        piece_id = self._id_at.get(column + 6 * row - 6)
        if piece_id is None:
            return self._after_move(EMPTY_CELL)
        piece = self._pieces[piece_id]
        place = bucket_row, bucket_column
        if place in BUCKET_PLACES:
            return self._attempt(piece, BUCKET_PLACES.index(place))
        # ⚠ The reference checks the bucket's row last, and crashes if the piece is movable.
        if self._is_movable(piece):
            wrong = f"Invalid input: bucket row={bucket_row} is not 0 or 7"
            return self._after_move(INVALID_ARGUMENTS, wrong)
        return self._attempt(piece, 0)

    def _made(self, piece: Piece, code: int) -> None:
        """Record an attempt that was judged; the caller sets the state of the episode."""
        self._n_attempts += 1
        self._last = piece.pos, code == ACCEPTED
        if code == ACCEPTED:
            self._json = None
            del self._pieces[piece.id], self._id_at[piece.pos]

    def _remark(self) -> str:
        """Return the comment on an attempt that ended the episode."""
        if self.finish == STALEMATE:
            return "Stalemate - no piece can be moved any more. Apology for these rules!"
        return "null" if self._mode == "BRIEF" else "Game cleared - the board is clear"

    def _after_move(self, code: int, message: str = "null") -> list[str]:
        """Answer a MOVE: unless in BRIEF, with the board."""
        if self._mode == "BRIEF":
            return self._status(code, message)
        return self._status(code, message) + self._display(picture=self._mode == "FULL")

    def _display(self, *, picture: bool) -> list[str]:
        if self._json is None:
            pieces = [
                f"{self._before_buckets[piece.id]}{self._buckets(piece)}}}"
                for piece in self._pieces.values()
            ]
            # ⚠ The id of a board is 0, regardless of its file.
            self._json = f'{{"id":0,"value":[{",".join(pieces)}]}}'
        return [self._json, *(board_picture(self._pieces.values(), self._last) if picture else ())]

    def _change_mode(self, command: Command) -> list[str]:
        if not command.arguments:
            message = "MODE command must be followed by the new mode value"
            return self._status(INVALID_ARGUMENTS, message)
        wanted = command.arguments[0].text
        if wanted.upper() not in get_args(OutputMode):
            return self._status(INVALID_ARGUMENTS, f"Not a known mode: {wanted}")
        self._mode = cast(OutputMode, wanted.upper())
        return [f"# OK, mode={self._mode}"]


@cache
def _version() -> str:
    # Not `from gnomon import ...`: the game must not depend on the rest of the package.
    try:
        return metadata.version("gohr")
    except metadata.PackageNotFoundError:
        return "unknown"


# -- the lines that show a board -------------------------------------------------------------------


def to_json(value: Any) -> str:
    """Return JSON without blanks, as the reference writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


_quoted = lru_cache(maxsize=1000)(to_json)


def in_one_line(error: Exception) -> str:
    """Return the message of an error without its line breaks."""
    return " ".join(str(error).split())


def _before_buckets(piece: Piece, labelled: bool) -> str:
    """Return the JSON of a piece up to the value of its field ``buckets``."""
    label = f'"label":{_quoted(chr((ord("A") + piece.id) % 0xD800))},' if labelled else ""
    look = f'"color":{_quoted(piece.color)},"shape":{_quoted(piece.shape)},'
    return f'{{"id":{piece.id},{look}"x":{piece.x},"y":{piece.y},{label}"buckets":'


# ⚠ Blue is g, for b is black.
_COLOR_SIGNS = {"RED": "r", "BLACK": "b", "BLUE": "g", "YELLOW": "y"}
_SHAPE_SIGNS = {"SQUARE": "#", "STAR": "*", "CIRCLE": "o", "TRIANGLE": "^"}
_EDGE = "#---+------------------------------"
_COLUMNS = "#   |" + "".join(f"   {x} " for x in range(1, 7)) + "  "


def board_picture(pieces: Iterable[Piece], last: tuple[int, bool] | None = None) -> list[str]:
    r"""Draw a board as comment lines.

    A piece is drawn as a letter for its colour and a sign for its shape. ``last`` is the cell of
    the last attempt, with round brackets around it if it was accepted, else square ones.

    Examples
    --------
    >>> print("\n".join(board_picture([Piece(0, 31, "STAR", "RED")], (36, True))[:2]))
    #---+------------------------------
    # 6 |  r*    .    .    .    .  ( .)
    """
    cells = [f"  {' .'} " for _ in range(36)]
    for piece in pieces:
        cells[piece.pos - 1] = f"  {_sign(piece)} "
    if last is not None:
        pos, accepted = last
        opening, closing = "()" if accepted else "[]"
        cells[pos - 1] = f" {opening}{cells[pos - 1][2:-1]}{closing}"
    rows = [f"# {y} |" + "".join(cells[6 * y - 6 : 6 * y]) for y in range(6, 0, -1)]
    return [_EDGE, *rows, _EDGE, _COLUMNS]


def _sign(piece: Piece) -> str:
    color, shape = piece.color or "?", piece.shape or "?"
    color_sign = _COLOR_SIGNS.get(color, color[:1].lower())
    return color_sign + _SHAPE_SIGNS.get(shape, shape[:1].lower())
