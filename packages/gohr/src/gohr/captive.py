"""The game as a text protocol: a line of a client in, the lines of the answer out.

The specification is the observed behaviour of the captive server of the reference, version 8.060; ⚠
marks where it differs from its documentation, or this server from it. A :class:`Session` knows the
rule, deals boards and judges attempts; the learner ``process`` has the same :class:`Dialogue`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, cast, final, get_args

from gnomon.errors import GnomonError, check_word
from gohr._version import __version__
from gohr.board import BUCKET_PLACES, COLORS, N_BUCKETS, SHAPES, Board, BoardSpec, Piece
from gohr.captive_log import ResultFile
from gohr.errors import RuleSyntaxError
from gohr.outcomes import ACCEPTED, CLEARED, EMPTY_CELL, EPISODE_OVER, NEW_BOARD, STALEMATE
from gohr.playing import EngineBoard
from gohr.rules.lexer import Token, tokenize
from gohr.rules.syntax import RuleSet
from gohr.seeded_boards import SeededBoards

# -- the protocol ----------------------------------------------------------------------------------

#: BRIEF answers an attempt with two lines, STANDARD adds the board, FULL a picture.
OutputMode = Literal["BRIEF", "STANDARD", "FULL"]

#: The version of the reference whose protocol this is: the answer to VERSION.
PROTOCOL_VERSION = "8.060"

_HELP = (
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

_PLAIN_MOVE = re.compile(
    r"\s*MOVE\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([0-9]{1,9})\s+([0-9]{1,9}))?\s*",
    re.IGNORECASE | re.ASCII,
)


class Dialogue(ABC):
    """The state of a client's episode, and the answers to its lines.

    ``features`` is the answer to FEATURES: the possible values of each property. With ``reveal``
    the field ``buckets`` of a piece lists the buckets that it may go into, which is the answer. The
    reference always does; ⚠ here it is always ``[0,1,2,3]`` if not. ``episode`` counts from 0, and
    is -1 before the first; ``finish`` is 0 in progress, 1 cleared, 2 stalemate, 3 given up.
    """

    def __init__(
        self, mode: OutputMode, features: Mapping[str, Sequence[str]], *, reveal: bool = False
    ) -> None:
        check_word("mode", mode, get_args(OutputMode))
        self._mode: OutputMode = mode
        self._features, self._reveal = features, reveal
        self.episode = -1
        self.finish = 0
        self._no_episode()

    @abstractmethod
    def _attempt(self, piece: Piece, bucket: int) -> list[str]:
        """Take an attempt on a piece of the board; return the answer, if there is one yet."""

    @abstractmethod
    def _new(self) -> list[str]:
        """Answer NEW."""

    @abstractmethod
    def _exit(self) -> list[str]:
        """Answer EXIT."""

    def _conditions(self, wanted: str) -> list[str]:
        """Answer COND, which may be followed by a word."""
        return ["# OK, cond=train"]

    def _permitted(self, piece: Piece) -> list[int]:
        """Return the buckets that a piece may go into; all of them, if that is not known."""
        return [0, 1, 2, 3]

    def answer(self, line: str) -> list[str]:
        """Return the lines that answer a line of the client; none for a blank one."""
        plain = _PLAIN_MOVE.fullmatch(line)
        if plain is not None:
            return self._move([int(n) for n in plain.groups() if n is not None])
        if not line.strip():
            return []
        try:
            *tokens, _ = tokenize(line.strip())
        except RuleSyntaxError:
            return self.refuse("Invalid input - cannot parse")
        if not tokens or tokens[0].kind != "name":
            return self.refuse("Invalid input")
        word, arguments = tokens[0].text.upper(), tokens[1:]
        first = arguments[0].text if arguments else ""
        match word:
            case "MOVE":
                return self._read_move(arguments)
            case "NEW":
                return self._new()
            case "EXIT":
                return self._exit()
            case "MODE":
                return self._change_mode(first)
            case "COND":
                return self._conditions(first)
            case "DISPLAY":
                return self._display(picture=self._mode == "FULL")
            case "DISPLAYFULL":
                return self._display(picture=True)
            case "FEATURES":
                return [_json(self._features)]
            case "VERSION":
                return [f"# {PROTOCOL_VERSION}"]
            case "HELP":
                return [f"# {line}" for line in _HELP]
        return self.refuse(f"Invalid command: {word}")

    def refuse(self, message: str) -> list[str]:
        """Return the answer to a line that is not a command."""
        return self._status(INVALID_COMMAND, message)

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
        hello = f"Hello. This is Gnomon ver. {__version__}. Starting a new episode "
        hello += f"(no. {self.episode + 1})"
        if stuck:
            hello += " -- immediate stalemate. Our apologies!"
        code = STALEMATE if stuck else NEW_BOARD
        return self._status(code, hello) + self._display(picture=self._mode == "FULL")

    # -- attempts --------------------------------------------------------------------------------

    def _read_move(self, arguments: Sequence[Token]) -> list[str]:
        """Answer a MOVE that is followed by anything."""
        wrong = "" if len(arguments) in (2, 4) else "Invalid input"
        for token in () if wrong else arguments:
            if token.kind != "number":
                shown = f"ID.{token.text}" if token.kind == "name" else token.text
                wrong = wrong or f"Invalid input: {shown}"
        if wrong:
            return self._status(INVALID_ARGUMENTS, wrong)
        return self._move([int(token.text) for token in arguments])

    def _move(self, numbers: Sequence[int]) -> list[str]:
        if not self._is_on or self.finish:
            ended = (self.finish == CLEARED, self.finish == STALEMATE, False)
            names = ("cleared", "stalemate", "earlyWin")
            how = ", ".join(f"{n}={str(e).lower()}" for n, e in zip(names, ended, strict=True))
            message = f"No game is on right now ({how}). Use NEW to start a new game"
            return self._after_move(EPISODE_OVER, message)
        if len(numbers) == 4:
            return self._move_by_place(*numbers)
        piece_id, bucket = numbers
        if bucket >= N_BUCKETS:
            return self._after_move(INVALID_ARGUMENTS, f"Invalid input: bucket ID={bucket}")
        if piece_id not in self._pieces:
            return self._after_move(NO_SUCH_PIECE)
        return self._attempt(self._pieces[piece_id], bucket)

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
        if self._permitted(piece):
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
        """Return the comment on an attempt, which is a word if it ended the episode."""
        if self.finish == STALEMATE:
            return "Stalemate - no piece can be moved any more. Apology for these rules!"
        is_shown = self.finish == CLEARED and self._mode != "BRIEF"
        return "Game cleared - the board is clear" if is_shown else "null"

    def _after_move(self, code: int, message: str = "null") -> list[str]:
        """Answer a MOVE: unless in BRIEF, with the board."""
        if self._mode == "BRIEF":
            return self._status(code, message)
        return self._status(code, message) + self._display(picture=self._mode == "FULL")

    def _display(self, *, picture: bool) -> list[str]:
        if self._json is None:
            pieces = []
            for piece in self._pieces.values():
                buckets = "0,1,2,3"
                if self._reveal:
                    # ⚠ The reference gives the answer away in this field.
                    shown = self._permitted(piece) if self.finish == 0 else ()
                    buckets = ",".join(map(str, shown))
                pieces.append(f"{self._before_buckets[piece.id]}[{buckets}]}}")
            # ⚠ The id of a board is 0, regardless of its file.
            self._json = f'{{"id":0,"value":[{",".join(pieces)}]}}'
        return [self._json, *(_picture(self._pieces.values(), self._last) if picture else ())]

    def _change_mode(self, wanted: str) -> list[str]:
        if not wanted:
            message = "MODE command must be followed by the new mode value"
            return self._status(INVALID_ARGUMENTS, message)
        if wanted.upper() not in get_args(OutputMode):
            return self._status(INVALID_ARGUMENTS, f"Not a known mode: {wanted}")
        self._mode = cast(OutputMode, wanted.upper())
        return [f"# OK, mode={self._mode}"]


def _json(value: Any) -> str:
    """Return JSON without blanks, as the reference writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def in_one_line(error: Exception) -> str:
    """Return the message of an error without its line breaks."""
    return " ".join(str(error).split())


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


def _picture(pieces: Iterable[Piece], last: tuple[int, bool] | None) -> list[str]:
    """Draw a board as comment lines, with brackets around the cell of the last attempt."""
    cells = ["   . "] * 36
    for piece in pieces:
        color, shape = piece.color or "?", piece.shape or "?"
        sign = _COLOR_SIGNS.get(color, color[0].lower())
        cells[piece.pos - 1] = f"  {sign}{_SHAPE_SIGNS.get(shape, shape[0].lower())} "
    if last is not None:
        pos, accepted = last
        opening, closing = "()" if accepted else "[]"
        cells[pos - 1] = f" {opening}{cells[pos - 1][2:-1]}{closing}"
    rows = [f"# {y} |" + "".join(cells[6 * y - 6 : 6 * y]) for y in range(6, 0, -1)]
    return [_EDGE, *rows, _EDGE, _COLUMNS]


# -- a session: the rule, the boards and the result file -------------------------------------------


@final
class Session(Dialogue):
    """A client's games, one episode after another under one rule.

    ``source`` is the board of every episode, or draws one for each; ``log`` records every episode.
    ``over`` is whether the client has sent EXIT, and ``n_new`` how many times it has sent NEW.
    """

    def __init__(
        self,
        rule_set: RuleSet,
        source: Board | SeededBoards,
        *,
        mode: OutputMode = "FULL",
        reveal: bool = False,
        log: ResultFile | None = None,
    ) -> None:
        # ⚠ The answer is always that of the four shapes and colours.
        super().__init__(mode, {"shape": SHAPES, "color": COLORS}, reveal=reveal)
        self._source, self._log = source, log
        self._spec = _spec_of(source)
        self._room = EngineBoard(rule_set, self._spec)
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
        board = self._source if isinstance(self._source, Board) else self._source.deal()
        self._room.deal(board.codes(self._spec))
        self._begin(board, self._room.finish, labelled=board is self._source)
        self._n_pieces = len(board.pieces)

    def _end_episode(self) -> None:
        if self._log is not None and self._is_on:
            n_accepted = self._n_pieces - len(self._pieces)
            numbers = self._n_pieces, self._n_attempts, n_accepted
            self._log.write(self.episode, *numbers, cleared=self.finish == CLEARED)
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
        code = self._room.attempt(N_BUCKETS * (piece.pos - 1) + bucket)
        self._made(piece, code)
        self.finish = self._room.finish
        return self._after_move(code, self._remark())

    def _permitted(self, piece: Piece) -> list[int]:
        first = N_BUCKETS * (piece.pos - 1)
        row = self._room.permitted()[first : first + N_BUCKETS].tolist()
        return [bucket for bucket in range(N_BUCKETS) if row[bucket]]

    def _conditions(self, wanted: str) -> list[str]:
        """Report or set which boards are dealt. ⚠ An error is followed by the report."""
        source, error = self._source, ""
        can_test = isinstance(source, SeededBoards) and source.has_conditions
        if wanted and wanted.lower() not in ("train", "test"):
            error = "COND command  must be followed by 'train' or 'test'; "
            error += f"invalid value={wanted}"
        elif wanted.lower() == "test" and not can_test:
            # ⚠ The reference crashes here.
            error = "COND test needs conditions: begin with condTrain= or condTest="
        elif wanted and isinstance(source, SeededBoards):
            source.testing = wanted.lower() == "test"
        said = self._status(INVALID_ARGUMENTS, error) if error else []
        is_test = isinstance(source, SeededBoards) and source.testing
        return [*said, f"# OK, cond={'test' if is_test else 'train'}"]


def _spec_of(source: Board | SeededBoards) -> BoardSpec:
    """Return the palettes that the pieces of a source have."""
    if isinstance(source, SeededBoards):
        palettes = source.shape_palette, source.color_palette
    else:
        names = [(str(piece.shape), str(piece.color)) for piece in source.pieces]
        shapes, colors = zip(*names, strict=True)
        palettes = tuple(dict.fromkeys(shapes)), tuple(dict.fromkeys(colors))
    try:
        return BoardSpec(1, 0, 0, *palettes)
    except ValueError as error:
        raise GnomonError(str(error)) from None
