"""The protocol of the captive game server as a state machine: a line in, lines out.

The specification is the observed behaviour of the reference, version 8.060; ⚠ marks what its
documentation does not tell, or what is different here. Where the reference dies, this session
answers with an error and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from typing import Literal, get_args

from gnomon.errors import GnomonError
from gnomon.game.board import BUCKET_PLACES, N_BUCKETS, Piece
from gnomon.game.captive.board_json import board_json, compact_json, piece_parts
from gnomon.game.captive.commands import (
    HELP,
    Command,
    InvalidLineError,
    InvalidMoveError,
    read_command,
    read_move,
    read_plain_move,
)
from gnomon.game.captive.game_log import AttemptRecord, EpisodeRecord, GameLog
from gnomon.game.captive.pictures import board_picture
from gnomon.game.captive.referee import Referee
from gnomon.game.formats.board_source import BoardSource
from gnomon.game.outcomes import (
    ACCEPTED,
    CLEARED,
    EMPTY_CELL,
    EPISODE_OVER,
    NEW_BOARD,
    STALEMATE,
)

__all__ = ["PROTOCOL_VERSION", "OutputMode", "Session"]

#: How much is said: BRIEF is two lines for an attempt, STANDARD adds the board, FULL a picture.
OutputMode = Literal["BRIEF", "STANDARD", "FULL"]

#: The version of the reference whose protocol this is: the answer to VERSION.
PROTOCOL_VERSION = "8.060"

# Codes of an answer, beside those of an attempt.
_EXIT = 5
_INVALID_COMMAND, _INVALID_ARGUMENTS = -1, -2
_BAD_RULES, _NO_SUCH_PIECE, _SEVERAL_PIECES = -5, -10, -11


class Session:
    """A client's games, one episode after another under one rule.

    Parameters
    ----------
    referee : Referee
        Knows the rule.
    source : BoardSource
        Deals a board for each episode.
    mode : {'BRIEF', 'STANDARD', 'FULL'}
        How much is said.
    features : mapping from str to list
        The answer to FEATURES: the possible values of each property.
    reveal : bool
        Whether the field ``buckets`` of a piece says into which buckets it may go, which is the
        answer. The reference always says so. ⚠ Here it is always ``[0,1,2,3]`` if not.
    log : GameLog, optional
        Is told of every episode and attempt.

    Attributes
    ----------
    over : bool
        Whether the client has said EXIT.
    episode : int
        Number of the episode, from 0; -1 before :meth:`start`.
    n_new : int
        How many times the client has said NEW.

    Examples
    --------
    >>> from gnomon.game.formats.java_random import JavaRandom
    >>> from gnomon.game.formats.random_boards import BoardParameters, RandomBoards
    >>> from gnomon.rules.parser import parse
    >>> source = RandomBoards(BoardParameters((2, 2)), JavaRandom(3))
    >>> session = Session(Referee(parse("(*,*,*,*,0)"), source), source, mode="BRIEF")
    >>> session.start()[0]
    '6 0 0'
    >>> session.answer("MOVE 0 0"), session.answer("MOVE 1 3")
    (['0 0 1', '# null'], ['4 0 2', '# null'])
    >>> session.answer("EXIT"), session.over
    (['5 0 2', '# Goodbye'], True)
    """

    def __init__(
        self,
        referee: Referee,
        source: BoardSource,
        *,
        mode: OutputMode = "FULL",
        features: Mapping[str, Sequence[str | int]] | None = None,
        reveal: bool = False,
        log: GameLog | None = None,
    ) -> None:
        self._referee = referee
        self._source = source
        self._mode: OutputMode = mode
        self._features = features or {}
        self._reveal = reveal
        self._log = log
        self.over = False
        self.episode = -1
        self.n_new = 0
        self._no_episode()

    # -- lines in, lines out ---------------------------------------------------------------------

    def start(self) -> list[str]:
        """Begin the first episode, and return the greeting.

        Raises
        ------
        GnomonError
            There is no board, or the rule cannot be played on it.
        """
        self._begin()
        return self._greeting()

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
        return self._status(_INVALID_COMMAND, message)

    def close(self) -> None:
        """End the session; the episode in progress is taken down as it is."""
        self._end_episode()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _obey(self, command: Command) -> list[str]:
        match command.word:
            case "MOVE":
                try:
                    return self._move(read_move(command))
                except InvalidMoveError as error:
                    return self._status(_INVALID_ARGUMENTS, str(error))
            case "NEW":
                return self._new()
            case "EXIT":
                self.over = True
                return self._status(_EXIT, "Goodbye")
            case "MODE":
                return self._change_mode(command)
            case "COND":
                return self._change_conditions(command)
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
        return [f"{code} {self._finish} {self._n_attempts}", f"# {message}"]

    # -- episodes --------------------------------------------------------------------------------

    def _no_episode(self) -> None:
        """Forget the pieces: there is no game until a board is dealt."""
        self._finish = 0
        self._n_attempts = self._n_accepted = self._n_pieces = 0
        self._is_on = False
        self._pieces: dict[int, Piece] = {}
        self._ids_at: dict[int, list[int]] = {}
        self._parts: dict[int, tuple[str, str]] = {}
        self._last: tuple[int, bool] | None = None
        self._json: str | None = None

    def _begin(self) -> None:
        self._no_episode()
        deal = self._source.deal()
        self._referee.begin(deal.board)
        self.episode += 1
        self._is_on = True
        self._finish = self._referee.finish
        self._n_pieces = len(deal.board.pieces)
        for piece in deal.board.pieces:
            self._pieces[piece.id] = piece
            self._ids_at.setdefault(piece.pos, []).append(piece.id)
            self._parts[piece.id] = piece_parts(piece, deal)
        if self._log is not None:
            self._log.begin(self.episode)

    def _end_episode(self) -> None:
        if self._log is not None and self._is_on:
            numbers = self._n_pieces, self._n_attempts, self._n_accepted
            self._log.end(EpisodeRecord(self.episode, *numbers, self._finish == CLEARED))
        self._is_on = False

    def _new(self) -> list[str]:
        self.n_new += 1
        self._end_episode()
        try:
            self._begin()
        except GnomonError as error:
            self._no_episode()
            return self._status(_BAD_RULES, _in_one_line(error))
        return self._greeting()

    def _greeting(self) -> list[str]:
        stuck = self._finish == STALEMATE
        hello = f"Hello. This is Gnomon ver. {_version()}. Starting a new episode "
        hello += f"(no. {self.episode + 1})"
        if stuck:
            hello += " -- immediate stalemate. Our apologies!"
        code = STALEMATE if stuck else NEW_BOARD
        return self._status(code, hello) + self._display(picture=self._mode == "FULL")

    # -- attempts --------------------------------------------------------------------------------

    def _move(self, numbers: tuple[int, ...]) -> list[str]:
        if not self._is_on or self._finish:
            ended = (self._finish == CLEARED, self._finish == STALEMATE, False)
            names = ("cleared", "stalemate", "earlyWin")
            how = ", ".join(f"{n}={str(e).lower()}" for n, e in zip(names, ended, strict=True))
            message = f"No game is on right now ({how}). Use NEW to start a new game"
            return self._after_move(EPISODE_OVER, message)
        if len(numbers) == 2:
            piece_id, bucket = numbers
            if bucket >= N_BUCKETS:
                return self._after_move(_INVALID_ARGUMENTS, f"Invalid input: bucket ID={bucket}")
            if piece_id not in self._pieces:
                return self._after_move(_NO_SUCH_PIECE)
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
            return self._after_move(_INVALID_ARGUMENTS, f"Invalid input: {wrong}")
        here = self._ids_at.get(column + 6 * row - 6)
        if not here:
            return self._after_move(EMPTY_CELL)
        if len(here) > 1:
            return self._after_move(_SEVERAL_PIECES)
        piece = self._pieces[here[0]]
        place = bucket_row, bucket_column
        if place in BUCKET_PLACES:
            return self._attempt(piece, BUCKET_PLACES.index(place))
        # ⚠ The reference looks at the bucket's row last, and dies of it if the piece is movable.
        if self._referee.buckets(piece.id, piece.pos):
            wrong = f"Invalid input: bucket row={bucket_row} is not 0 or 7"
            return self._after_move(_INVALID_ARGUMENTS, wrong)
        return self._attempt(piece, 0)

    def _attempt(self, piece: Piece, bucket: int) -> list[str]:
        """Put an attempt to the referee."""
        try:
            code = self._referee.attempt(piece.id, piece.pos, bucket)
        except GnomonError as error:
            return self._after_move(_BAD_RULES, _in_one_line(error))
        self._n_attempts += 1
        self._last = piece.pos, code == ACCEPTED
        if code == ACCEPTED:
            self._remove(piece)
        if self._log is not None:
            numbers = self.episode, self._n_attempts - 1
            self._log.attempt(AttemptRecord(*numbers, piece, bucket, code, len(self._pieces)))
        return self._after_move(code, self._remark() if self._finish else "null")

    def _remove(self, piece: Piece) -> None:
        self._n_accepted += 1
        self._finish = self._referee.finish
        self._json = None
        del self._pieces[piece.id], self._parts[piece.id]
        self._ids_at[piece.pos].remove(piece.id)

    def _remark(self) -> str:
        """Return what is said of an attempt that ended the episode."""
        if self._finish == STALEMATE:
            return "Stalemate - no piece can be moved any more. Apology for these rules!"
        return "null" if self._mode == "BRIEF" else "Game cleared - the board is clear"

    def _after_move(self, code: int, message: str = "null") -> list[str]:
        """Answer a MOVE: unless in brief, with the board."""
        if self._mode == "BRIEF":
            return self._status(code, message)
        return self._status(code, message) + self._display(picture=self._mode == "FULL")

    # -- the board -------------------------------------------------------------------------------

    def _display(self, *, picture: bool) -> list[str]:
        if self._json is None:
            self._json = board_json(list(map(self._piece_json, self._pieces.values())))
        return [self._json, *(board_picture(self._pieces.values(), self._last) if picture else ())]

    def _piece_json(self, piece: Piece) -> str:
        before, after = self._parts[piece.id]
        if not self._reveal:
            return f"{before}[0,1,2,3]{after}"
        buckets = [] if self._finish else self._referee.buckets(piece.id, piece.pos)
        return before + compact_json(buckets) + after

    # -- settings --------------------------------------------------------------------------------

    def _change_mode(self, command: Command) -> list[str]:
        if not command.arguments:
            message = "MODE command must be followed by the new mode value"
            return self._status(_INVALID_ARGUMENTS, message)
        wanted = command.arguments[0].text
        for mode in get_args(OutputMode):
            if wanted.upper() == mode:
                self._mode = mode
                return [f"# OK, mode={mode}"]
        return self._status(_INVALID_ARGUMENTS, f"Not a known mode: {wanted}")

    def _change_conditions(self, command: Command) -> list[str]:
        """Report or set the boards dealt from now on. ⚠ An error is followed by the report."""
        error: list[str] = []
        if command.arguments:
            wanted = command.arguments[0].text
            if wanted.lower() not in ("train", "test"):
                message = f"followed by 'train' or 'test'; invalid value={wanted}"
                error = self._status(_INVALID_ARGUMENTS, f"COND command  must be {message}")
            elif wanted.lower() == "test" and not self._source.can_test:
                # ⚠ The reference dies of this.
                message = "COND test needs conditions: begin with condTrain= or condTest="
                error = self._status(_INVALID_ARGUMENTS, message)
            else:
                self._source.testing = wanted.lower() == "test"
        return [*error, f"# OK, cond={'test' if self._source.testing else 'train'}"]


@cache
def _version() -> str:
    # Not `from gnomon import ...`: the game must not know the package's other rooms.
    try:
        return metadata.version("gnomon-rl")
    except metadata.PackageNotFoundError:
        return "unknown"


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
