"""The captive game server: the game as a text protocol, over a pipe or over TCP.

The specification is the observed behaviour of the reference server, version 8.060; ⚠ marks what its
documentation omits, or what differs here. Where the reference dies, this server answers with an
error and goes on.

:class:`Dialogue` is the protocol as a state machine: a line in, lines out. Two servers build on it:
:class:`Session` knows the rule, deals boards and judges attempts; the learner ``process`` lets a
program play the trials of an experiment. :func:`read_arguments` and :func:`open_session` make a
session from command-line arguments; :func:`serve_pipe` and :func:`serve_tcp` carry the lines.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import select
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, final, get_args

from gnomon.errors import GnomonError, UnknownNameError, shortened
from gohr.errors import NotCompilableError, RuleSyntaxError
from gohr.game.board import BUCKET_PLACES, COLORS, N_BUCKETS, SHAPES, Board, BoardSpec, Piece
from gohr.game.board_files import read_board_file
from gohr.game.captive_log import ResultFiles
from gohr.game.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    NEW_BOARD,
    RESET,
    STALEMATE,
)
from gohr.game.reference import ReferenceGame
from gohr.game.seeded_boards import BoardConditions, BoardParameters, JavaRandom, RandomBoards
from gohr.rules.catalogue import available_rules, load_rule, read_rule_file
from gohr.rules.lexer import Token, tokenize
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gohr.game.engine.compiler import CompiledRule

#: BRIEF answers an attempt with two lines, STANDARD adds the board, FULL a picture.
OutputMode = Literal["BRIEF", "STANDARD", "FULL"]

#: The version of the reference whose protocol this is: the answer to VERSION.
PROTOCOL_VERSION = "8.060"

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

# Codes of an answer, besides those of an attempt.
EXIT = 5
INVALID_COMMAND, INVALID_ARGUMENTS = -1, -2
BAD_RULES, NO_SUCH_PIECE = -5, -10

_TOO_LONG = "Invalid input - the line is too long"

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
        How much an answer contains.
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
        """Whether a piece may go into some bucket, as far as is known."""
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
        """Return the answer to a line that is no command."""
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
                return [_json(self._features)]
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
        # ⚠ The reference checks the bucket's row last, and dies of it if the piece is movable.
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
            # ⚠ The id of a board is 0, whatever its file says.
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


def _json(value: Any) -> str:
    """Return JSON without blanks, as the reference writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


_quoted = lru_cache(maxsize=1000)(_json)


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


# -- a server that knows the rule ------------------------------------------------------------------


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
        """Return the next board; a GnomonError says why there is none."""


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

    def __init__(self, rule: CompiledRule, spec: BoardSpec) -> None:
        import numpy as np

        from gohr.game.engine.boards import Boards

        self._spec = spec
        self._deck = np.zeros((1, 36), dtype=np.uint8)
        self._boards = boards = Boards.empty(rule, 1)
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
        from gohr.game.engine.compiler import compile_rule

        spec = BoardSpec(
            pieces=1, shapes=0, colors=0, shape_palette=source.shapes, color_palette=source.colors
        )
        try:
            return _EngineGame(compile_rule(rule_set, spec), spec).begin
        except NotCompilableError:
            pass
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
        """End the session; the episode in progress is recorded as it stands."""
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
            return self._status(BAD_RULES, _in_one_line(error))
        return self._greeting()

    def _exit(self) -> list[str]:
        self.over = True
        return self._status(EXIT, "Goodbye")

    def _attempt(self, piece: Piece, bucket: int) -> list[str]:
        try:
            code = self._game.attempt(piece, bucket)
        except GnomonError as error:
            return self._after_move(BAD_RULES, _in_one_line(error))
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
        return "[]" if self.finish else _json(self._game.buckets(piece))

    def _conditions(self, command: Command) -> list[str]:
        """Report or set which boards are dealt. ⚠ An error is followed by the report."""
        error: list[str] = []
        if command.arguments:
            wanted = command.arguments[0].text
            if wanted.lower() not in ("train", "test"):
                message = f"followed by 'train' or 'test'; invalid value={wanted}"
                error = self._status(INVALID_ARGUMENTS, f"COND command  must be {message}")
            elif wanted.lower() == "test" and not self._source.can_test:
                # ⚠ The reference dies of this.
                message = "COND test needs conditions: begin with condTrain= or condTest="
                error = self._status(INVALID_ARGUMENTS, message)
            else:
                self._source.testing = wanted.lower() == "test"
        return [*error, f"# OK, cond={'test' if self._source.testing else 'train'}"]


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


# -- from arguments to a session -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a game, checked as far as they can be without reading a file.

    ``boards`` is the name of a board file, or ``n [shapes colors [list [list]]]``; ``options`` has
    the values of the options that were given, by name.
    """

    rule: str
    boards: tuple[str, ...]
    options: Mapping[str, Any]


def _whole_number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if re.fullmatch(r"[+-]?[0-9]{1,19}", text) and least <= int(text) <= most:
            return int(text)
        raise ValueError("a number" if least < 0 else f"a number from {least}")

    return read


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def _names(text: str) -> tuple[str, ...]:
    """Return the different names between semicolons, upper case."""
    parts = (part.strip().upper() for part in text.split(";"))
    return tuple(dict.fromkeys(part for part in parts if part))


def _nickname(text: str) -> str:
    if not re.fullmatch(r"[^\s,#\"'\\][^\s,\"'\\]{0,99}", text):
        raise ValueError("1 to 100 characters without blanks, commas and quotes")
    return text


def _log_format(text: str) -> str:
    if text not in ("Long", "Compact"):
        raise ValueError("Long or Compact")
    return text


#: How the value of each option is read.
_OPTIONS: Mapping[str, Callable[[str], Any]] = {
    # ⚠ Anything but the three words, in upper case, means FULL without a warning.
    "output": lambda text: text if text in get_args(OutputMode) else "FULL",
    "seed": _whole_number(-(2**63), 2**63 - 1),
    "inputDir": Path,
    "shapes": _names,
    "colors": _names,
    "condTrain": str,
    "condTest": str,
    "log": str,
    "logappend": str,
    "log.append": str,
    "log.nickname": _nickname,
    "log.run": _whole_number(0, 2**31 - 1),
    "log.format": _log_format,
    "detailedTranscript": str,
    "reveal": _truth,
    "pipelined": _truth,
}
_OPTION = re.compile(r"(-D)?([A-Za-z][A-Za-z_.]*)=(.*)", re.DOTALL)


def read_arguments(words: Iterable[str]) -> Arguments:
    """Separate options from positional arguments, and check both.

    They may come in any order; an option is ``name=value``, ``name= value`` or ``-Dname=value``,
    the last of which takes precedence.

    Raises UnknownNameError: an unknown option, with the nearest names. Raises GnomonError: a value
    that the option does not take, or too few or too many arguments.
    """
    positional, texts = _separated(words)
    options: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            options[name] = _OPTIONS[name](text)
        except ValueError as error:
            found = repr(text[:100])
            raise GnomonError(f"{name}=: expected {error}, found {found}") from None
    if not positional:
        raise GnomonError(
            "expected RULE N [SHAPES COLORS [LIST [LIST]]] or RULE BOARD.json, found nothing"
        )
    _check_together(options)
    most = 2 if len(positional) > 1 and "." in positional[1] else 6
    if not 2 <= len(positional) <= most:
        expected = "2" if most == 2 else "2 to 6"
        found = f"{len(positional)}: {' '.join(positional)}"
        raise GnomonError(f"expected {expected} arguments, found {found}")
    return Arguments(positional[0], tuple(positional[1:]), options)


def _separated(words: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the positional arguments, and the options by name."""
    positional: list[str] = []
    options: dict[str, str] = {}
    system: dict[str, str] = {}
    waiting: str | None = None
    for word in words:
        match = _OPTION.fullmatch(word)
        if waiting is not None:
            options[waiting], waiting = word, None
        elif match is None:
            positional.append(word)
        else:
            prefix, name, value = match.groups()
            if name not in _OPTIONS:
                raise UnknownNameError("option", name, _OPTIONS)
            if prefix:
                system[name] = value
            elif value:
                options[name] = value
            else:
                waiting = name
    if waiting is not None:
        raise GnomonError(f"expected a value after {waiting}=")
    return positional, options | system


def _check_together(options: Mapping[str, Any]) -> None:
    """Check what one option demands of another."""
    if "condTrain" in options and "condTest" in options:
        raise GnomonError("expected condTrain= or condTest=, found both")
    appended = "logappend" in options or "log.append" in options
    if "log" in options and appended:
        raise GnomonError("expected log= or logappend=, found both")
    if "log" in options or appended:
        for name in ("log.nickname", "log.run"):
            if name not in options:
                raise GnomonError(f"a result file needs {name}=")
    elif "detailedTranscript" in options:
        raise GnomonError("detailedTranscript= needs log= or logappend=")


def open_session(
    arguments: Arguments, *, mode: OutputMode = "FULL", folder: Path | None = None
) -> Session:
    """Make the session that the arguments ask for, not yet started.

    Files are looked for as they are named, and below the folders ``rules``, ``boards`` and ``cond``
    of ``inputDir=``. For the client of a server, ``folder`` takes the place of ``inputDir=``: files
    outside it are not read, and no result files are written.

    Raises GnomonError: something is wrong with the arguments, or with a file that they name.
    """
    options = arguments.options
    is_client = folder is not None
    files = _Files(folder or options.get("inputDir", Path()), is_confined=is_client)
    rule_set, rule_name = files.rule(arguments.rule)
    source = _source(arguments, files)
    log = None
    path = options.get("log", options.get("logappend", options.get("log.append")))
    if path is not None:
        if is_client:
            raise GnomonError("this server writes no result files for its clients")
        log = ResultFiles(
            path,
            (options["log.nickname"], rule_name, options["log.run"]),
            append="log" not in options,
            compact=options.get("log.format") == "Compact",
            transcript=options.get("detailedTranscript"),
        )
    mode = options.get("output", mode)
    return Session(rule_set, source, mode=mode, reveal=options.get("reveal", False), log=log)


def _source(arguments: Arguments, files: _Files) -> BoardSource:
    """Return the source of the boards: a file, or random numbers."""
    options, words = arguments.options, arguments.boards
    if "." in words[0]:
        return OneBoard(read_board_file(files.find(words[0], "boards", ".json")))
    pieces, shapes, colors, *_ = [*map(_range, words[:3]), (0, 0), (0, 0)]
    shape_list, color_list, *_ = [*map(_names, words[3:]), (), ()]
    condition = options.get("condTrain", options.get("condTest"))
    return RandomBoards(
        BoardParameters(
            pieces,
            shapes,
            colors,
            options.get("shapes") or shape_list or SHAPES,
            options.get("colors") or color_list or COLORS,
        ),
        JavaRandom(options.get("seed") or secrets.randbits(48)),
        None if condition is None else BoardConditions(files.condition(condition)),
        testing="condTest" in options,
    )


def _range(word: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,9})(?::([0-9]{1,9}))?", word)
    if match is None:
        raise GnomonError(f"expected a number n or a range n1:n2, found {word[:40]!r}")
    low, high = match.groups()
    return int(low), int(high or low)


#: A larger file is no rule or board.
_MOST_BYTES = 4_000_000


class _Files:
    """Files as they are named, or below a folder; only the latter if it ``is_confined``."""

    def __init__(self, folder: Path, *, is_confined: bool) -> None:
        self._folder = folder
        self._is_confined = is_confined

    def rule(self, name: str) -> tuple[RuleSet, str]:
        """Return a rule of the catalogue, or else of a file, and its name in result files."""
        if name in available_rules():
            return load_rule(name), name
        path = self._find(name, "rules", ".txt")
        if path is None:
            raise UnknownNameError("rule or file", name, available_rules())
        return read_rule_file(path), path.name.removesuffix(".txt")

    def condition(self, name: str) -> RuleSet:
        """Return the content of a condition file."""
        return read_rule_file(self.find(name, "cond", ".txt"))

    def find(self, name: str, folder: str, ending: str) -> Path:
        """Return the file of this name, with or without its ending."""
        path = self._find(name, folder, ending)
        if path is None:
            raise GnomonError(f"{shortened(name)}: there is no such file")
        return path

    def _find(self, name: str, folder: str, ending: str) -> Path | None:
        if "\0" in name:
            return None
        for place in (Path(), self._folder / folder):
            for each in dict.fromkeys((name, name.removesuffix(ending) + ending)):
                # Unlike Path.is_file, this is false for a name that no file can have.
                if os.path.isfile(place / each):
                    self._check(place / each)
                    return place / each
        return None

    def _check(self, path: Path) -> None:
        if self._is_confined and not path.resolve().is_relative_to(self._folder.resolve()):
            raise GnomonError(f"{path}: this server reads files of its own folder only")
        if path.stat().st_size > _MOST_BYTES:
            raise GnomonError(f"{path}: expected at most {_MOST_BYTES} bytes")


def refusal(error: GnomonError) -> str:
    """Return in one line why a game cannot be played, in the words of the reference."""
    if isinstance(error, RuleSyntaxError):
        problem = f"Failed to parse rule row: {error.source_line.strip()}"
    else:
        problem = _in_one_line(error)
    return f"Cannot create game generator. Problem: {problem}"


# -- over a pipe -----------------------------------------------------------------------------------

#: Most bytes of a line that a client sends.
LINE_LIMIT = 65_536

#: Bytes read at once; as many as the reference reads.
_CHUNK = 8192

#: Seconds to poll for the next command before sleeping: an answer takes a few microseconds, but a
#: core that has gone to sleep takes tens of them to wake, each time.
_AWAKE_S = 0.001

#: Commands to sleep for after one that did not come in that time.
_ASLEEP = 200


def serve_pipe(
    session: Session, input_fd: int = 0, output_fd: int = 1, *, pipelined: bool = False
) -> None:
    """Play a session with the client at the other end of two pipes, until EXIT or the end of input.

    Raises GnomonError: the first episode cannot begin; nothing has been written.

    Parameters
    ----------
    session : Session
        Not yet started.
    input_fd, output_fd : int
        File descriptors.
    pipelined : bool
        Whether a client may send more commands along with NEW. ⚠ The reference loses everything
        that has arrived together with a NEW, and so does this server unless this is true: a client
        that waits for each answer sees no difference, and a recorded session comes out the same.
    """
    try:
        _write(output_fd, session.start())
        source = _Input(input_fd)
        waiting, is_too_long = b"", False
        while not session.over:
            line, end, rest = waiting.partition(b"\n")
            if not end:
                if len(waiting) > LINE_LIMIT:
                    waiting, is_too_long = b"", True
                chunk = source.read()
                waiting += chunk
                if chunk:
                    continue
                if waiting and not is_too_long:
                    _write(output_fd, session.answer(_text(waiting)))
                return
            waiting, n_new = rest, session.n_new
            if is_too_long or len(line) > LINE_LIMIT:
                _write(output_fd, session.refuse(_TOO_LONG))
            else:
                _write(output_fd, session.answer(_text(line)))
            is_too_long = False
            if session.n_new != n_new and not pipelined:
                waiting = b""
    except BrokenPipeError:
        return  # the client has gone, which is its way to end the session
    finally:
        session.close()


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").rstrip("\r\n")


def _write(fd: int, lines: Sequence[str]) -> None:
    """Write lines at once: a client that waits for an answer waits for all of it."""
    if lines:
        data = ("\n".join(lines) + "\n").encode()
        while data:
            data = data[os.write(fd, data) :]


class _Input:
    """A file descriptor, polled for a moment before the process sleeps, while that pays."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._asleep = 0
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def read(self) -> bytes:
        """Wait for input and return it; nothing at its end."""
        if self._asleep:
            self._asleep -= 1
        elif not self._comes_soon():
            self._asleep = _ASLEEP
        return os.read(self._fd, _CHUNK)

    def _comes_soon(self) -> bool:
        until = time.perf_counter() + _AWAKE_S
        while not self._poll.poll(0):
            os.sched_yield()  # a client on this very core comes first
            if time.perf_counter() > until:
                return False
        return True


# -- over TCP --------------------------------------------------------------------------------------

_MOST_CLIENTS = 1000


async def serve_tcp(
    folder: Path,
    stop: asyncio.Event,
    announce: Callable[[str], None],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    idle_s: float = 600.0,
) -> None:
    """Serve clients at a TCP port until `stop` is set; `announce` receives the address.

    A client's first line is ``GAME`` and the arguments of a game, in STANDARD mode by default; the
    rest is as over a pipe. Clients can use the rules of the catalogue and files below ``folder``. A
    client that sends no complete line, or takes no answer, for ``idle_s`` seconds is disconnected.
    """
    clients: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        clients.add(writer)
        try:
            if len(clients) > _MOST_CLIENTS:
                await _say(writer, ["-1 0 0", "# Too many clients"], idle_s)
            else:
                await _serve_client(reader, writer, folder, idle_s)
            writer.close()
            async with asyncio.timeout(idle_s):
                await writer.wait_closed()
        except OSError:
            pass  # the client has gone, or takes no answers
        finally:
            writer.transport.abort()
            clients.discard(writer)

    server = await asyncio.start_server(serve, host, port, limit=LINE_LIMIT)
    address, number = server.sockets[0].getsockname()[:2]
    announce(f"{address}:{number}")
    try:
        await stop.wait()
    finally:
        server.close()


async def _serve_client(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, folder: Path, idle_s: float
) -> None:
    """Answer the lines of a client until it leaves or is disconnected."""
    session: Session | None = None
    try:
        while session is None or not session.over:
            try:
                async with asyncio.timeout(idle_s):
                    line = await reader.readline()
            except ValueError:
                await _say(writer, ["-1 0 0", f"# {_TOO_LONG}"], idle_s)
                return
            except TimeoutError:
                await _say(writer, [f"# Nothing heard for {idle_s:g} s. Goodbye"], idle_s)
                return
            if not line:
                return
            if session is not None:
                answer = session.answer(_text(line))
            elif line.strip():
                session, answer = _first_answer(_text(line), folder)
            else:
                continue
            await _say(writer, answer, idle_s)
            if session is None:
                return
            await asyncio.sleep(0)  # the other clients' turn
    finally:
        if session is not None:
            session.close()


async def _say(writer: asyncio.StreamWriter, lines: Sequence[str], idle_s: float) -> None:
    """Send lines. Raises TimeoutError: the client does not take them in time."""
    if lines:
        writer.write(("\n".join(lines) + "\n").encode())
        async with asyncio.timeout(idle_s):
            await writer.drain()


def _first_answer(line: str, folder: Path) -> tuple[Session | None, list[str]]:
    """Answer the first line, which must be a GAME; without a session if it begins none."""
    word, _, rest = line.strip().partition(" ")
    if word.upper() != "GAME":
        return None, ["-1 0 0", "# Expected GAME and its arguments"]
    try:
        words = shlex.split(rest)
    except ValueError:
        return None, ["-5 0 0", "# GAME: a quote is not closed"]
    try:
        session = open_session(read_arguments(words), mode="STANDARD", folder=folder)
        return session, session.start()
    except RuleSyntaxError as error:
        # The text of the file is not repeated: it may be no rule.
        where = f"line {error.line}, column {error.column}"
        return None, ["-5 0 0", f"# Failed to parse the rule: {where}"]
    except (GnomonError, OSError) as error:
        return None, ["-5 0 0", f"# {_in_one_line(error)}"]
