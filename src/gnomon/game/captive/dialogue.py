"""The dialogue of the captive game server: a line of a client in, the lines of the answer out.

The specification is the observed behaviour of the reference, version 8.060; ⚠ marks what its
documentation does not tell, or what is different here. Where the reference dies, this dialogue
answers with an error and goes on. Who deals the boards and who judges an attempt is for others to
say: :class:`gnomon.game.captive.session.Session` is a server that knows the rule, and the learner
``process`` has a trial on the other side.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Literal, get_args

from gnomon.errors import RuleSyntaxError
from gnomon.game.board import BUCKET_PLACES, N_BUCKETS, Piece
from gnomon.game.captive.board_lines import board_json, board_picture, compact_json, piece_parts
from gnomon.game.formats.board_source import Deal
from gnomon.game.outcomes import ACCEPTED, CLEARED, EMPTY_CELL, EPISODE_OVER, NEW_BOARD, STALEMATE
from gnomon.rules.lexer import Token, tokenize

#: What HELP answers.
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

_PLAIN_MOVE = re.compile(
    r"\s*MOVE\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([0-9]{1,9})\s+([0-9]{1,9}))?\s*",
    re.IGNORECASE | re.ASCII,
)


class InvalidLineError(Exception):
    """A line that is no command; its text is what the client is told."""


class InvalidMoveError(Exception):
    """A MOVE whose arguments are not numbers, or not two or four of them."""


@dataclass(frozen=True, slots=True)
class Command:
    """A word, upper case, and the words and signs that follow it."""

    word: str
    arguments: tuple[Token, ...]


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


def read_plain_move(line: str) -> tuple[int, ...] | None:
    """Read a MOVE with two or four numbers and nothing else; None for any other line.

    Examples
    --------
    >>> read_plain_move("move 0 1"), read_plain_move("MOVE 6 1 0 7"), read_plain_move("MOVE a 1")
    ((0, 1), (6, 1, 0, 7), None)
    """
    match = _PLAIN_MOVE.fullmatch(line)
    return None if match is None else tuple(int(n) for n in match.groups() if n is not None)


def read_move(command: Command) -> tuple[int, ...]:
    """Read the two or four numbers of a MOVE.

    Raises InvalidMoveError: with what the client is told.
    """
    if len(command.arguments) not in (2, 4):
        raise InvalidMoveError("Invalid input")
    for token in command.arguments:
        if token.kind != "number":
            shown = f"ID.{token.text}" if token.kind == "name" else token.text
            raise InvalidMoveError(f"Invalid input: {shown}")
    return tuple(int(token.text) for token in command.arguments)


#: How much is said: BRIEF is two lines for an attempt, STANDARD adds the board, FULL a picture.
OutputMode = Literal["BRIEF", "STANDARD", "FULL"]

#: The version of the reference whose protocol this is: the answer to VERSION.
PROTOCOL_VERSION = "8.060"

# Codes of an answer, beside those of an attempt.
EXIT = 5
INVALID_COMMAND, INVALID_ARGUMENTS = -1, -2
BAD_RULES, NO_SUCH_PIECE, SEVERAL_PIECES = -5, -10, -11


class Dialogue(ABC):
    """What a client has been told of the episode that it plays, and how its lines are answered.

    Parameters
    ----------
    mode : {'BRIEF', 'STANDARD', 'FULL'}
        How much is said.
    features : mapping from str to list
        The answer to FEATURES: the possible values of each property.

    Attributes
    ----------
    episode : int
        Number of the episode, from 0; -1 before the first.
    finish : int
        How the episode stands: 0 in progress, 1 cleared, 2 stalemate, 3 given up.
    """

    def __init__(self, mode: OutputMode, features: Mapping[str, Sequence[str | int]]) -> None:
        self._mode: OutputMode = mode
        self._features = features
        self.episode = -1
        self.finish = 0
        self._no_episode()

    # -- what others decide ----------------------------------------------------------------------

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
        """Whether a piece may go into some bucket, as far as is known."""
        return True

    def _pieces_json(self) -> list[str]:
        """Return each piece as JSON. ⚠ The reference tells the answer in the field ``buckets``."""
        return [f"{before}[0,1,2,3]{after}" for before, after in self._parts.values()]

    # -- lines in, lines out ---------------------------------------------------------------------

    def answer(self, line: str) -> list[str]:
        """Return the lines that answer a line of the client; none for a blank one."""
        numbers = read_plain_move(line)
        if numbers is not None:
            return self._move(numbers)
        try:
            command = read_command(line)
        except InvalidLineError as error:
            return self.refuse(str(error))
        return [] if command is None else self._obey(command)

    def refuse(self, message: str) -> list[str]:
        """Return the lines that say that a line is no command."""
        return self._status(INVALID_COMMAND, message)

    def _obey(self, command: Command) -> list[str]:
        match command.word:
            case "MOVE":
                try:
                    return self._move(read_move(command))
                except InvalidMoveError as error:
                    return self._status(INVALID_ARGUMENTS, str(error))
            case "NEW":
                return self._new()
            case "EXIT":
                return self._exit()
            case "MODE":
                return self._change_mode(command)
            case "COND":
                return self._conditions(command)
        return self._tell(command.word)

    def _tell(self, word: str) -> list[str]:
        """Answer a question that changes nothing."""
        match word:
            case "DISPLAY":
                return self._display(picture=self._mode == "FULL")
            case "DISPLAYFULL":
                return self._display(picture=True)
            case "FEATURES":
                return [compact_json(self._features)]
            case "VERSION":
                return [f"# {PROTOCOL_VERSION}"]
            case "HELP":
                return [f"# {line}" for line in HELP]
        return self.refuse(f"Invalid command: {word}")

    def _status(self, code: int, message: str = "null") -> list[str]:
        # ⚠ An attempt of which there is nothing to say is commented by the word null.
        return [f"{code} {self.finish} {self._n_attempts}", f"# {message}"]

    # -- episodes --------------------------------------------------------------------------------

    def _no_episode(self) -> None:
        """Forget the pieces: there is no game until a board is dealt."""
        self.finish = 0
        self._n_attempts = 0
        self._is_on = False
        self._pieces: dict[int, Piece] = {}
        self._ids_at: dict[int, list[int]] = {}
        self._parts: dict[int, tuple[str, str]] = {}
        self._last: tuple[int, bool] | None = None
        self._json: str | None = None

    def _begin(self, deal: Deal, finish: int = 0) -> None:
        """Begin an episode with a board."""
        self._no_episode()
        self.episode += 1
        self._is_on = True
        self.finish = finish
        for piece in deal.board.pieces:
            self._pieces[piece.id] = piece
            self._ids_at.setdefault(piece.pos, []).append(piece.id)
            self._parts[piece.id] = piece_parts(piece, deal)

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
        here = self._ids_at.get(column + 6 * row - 6)
        if not here:
            return self._after_move(EMPTY_CELL)
        if len(here) > 1:
            return self._after_move(SEVERAL_PIECES)
        piece = self._pieces[here[0]]
        place = bucket_row, bucket_column
        if place in BUCKET_PLACES:
            return self._attempt(piece, BUCKET_PLACES.index(place))
        # ⚠ The reference looks at the bucket's row last, and dies of it if the piece is movable.
        if self._is_movable(piece):
            wrong = f"Invalid input: bucket row={bucket_row} is not 0 or 7"
            return self._after_move(INVALID_ARGUMENTS, wrong)
        return self._attempt(piece, 0)

    def _made(self, piece: Piece, code: int) -> None:
        """Take down an attempt that was judged; the caller says how the episode then stands."""
        self._n_attempts += 1
        self._last = piece.pos, code == ACCEPTED
        if code == ACCEPTED:
            self._json = None
            del self._pieces[piece.id], self._parts[piece.id]
            self._ids_at[piece.pos].remove(piece.id)

    def _remark(self) -> str:
        """Return what is said of an attempt that ended the episode."""
        if self.finish == STALEMATE:
            return "Stalemate - no piece can be moved any more. Apology for these rules!"
        return "null" if self._mode == "BRIEF" else "Game cleared - the board is clear"

    def _after_move(self, code: int, message: str = "null") -> list[str]:
        """Answer a MOVE: unless in brief, with the board."""
        if self._mode == "BRIEF":
            return self._status(code, message)
        return self._status(code, message) + self._display(picture=self._mode == "FULL")

    def _display(self, *, picture: bool) -> list[str]:
        if self._json is None:
            self._json = board_json(self._pieces_json())
        return [self._json, *(board_picture(self._pieces.values(), self._last) if picture else ())]

    def _change_mode(self, command: Command) -> list[str]:
        if not command.arguments:
            message = "MODE command must be followed by the new mode value"
            return self._status(INVALID_ARGUMENTS, message)
        wanted = command.arguments[0].text
        for mode in get_args(OutputMode):
            if wanted.upper() == mode:
                self._mode = mode
                return [f"# OK, mode={mode}"]
        return self._status(INVALID_ARGUMENTS, f"Not a known mode: {wanted}")


@cache
def _version() -> str:
    # Not `from gnomon import ...`: the game must not know the package's other rooms.
    try:
        return metadata.version("gnomon-rl")
    except metadata.PackageNotFoundError:
        return "unknown"
