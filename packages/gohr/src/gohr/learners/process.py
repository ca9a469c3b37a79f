"""A learner that is any program: it plays as a client of the captive game server."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, final

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError
from gohr.captive import INVALID_ARGUMENTS, Dialogue, OutputMode
from gohr.game.board import N_BUCKETS, Board, BoardSpec, Piece
from gohr.game.outcomes import CLEARED, STALEMATE
from gohr.learners.base import Learner
from gohr.learners.registry import LONGEST_S, Range
from gohr.playing import Observation, Transition

if TYPE_CHECKING:
    from gohr.child_process import LineProcess

#: State of an episode that the horizon has cut off: given up.
_CUT_OFF = 3
#: A program that sends this many lines without an attempt will not make one.
_MOST_LINES = 1000


@final
@dataclass(kw_only=True, eq=False)
class Process(Learner):
    """Let a program in any language play, as a client of the captive game server.

    The program is started for each trial, reads its standard input and writes to its standard
    output. It receives the same lines as a client of ``gohr captive``: status, comment, and the
    board; it answers ``MOVE id bucket`` or ``MOVE row column bucket-row bucket-column``, and
    ``NEW`` once an episode is over. So a client of the server plays experiments as it is. What the
    rule permits is not shown: the field ``buckets`` of every piece is ``[0,1,2,3]``. Differences
    from the server:

    * An episode that the horizon cuts off has finish code 3 ("given up"), and then takes ``NEW``.
    * ``NEW`` before the end of an episode is refused with code -2: each board is played to its end.
    * ``EXIT`` before the end of the trial is an error. After the last episode the program meets the
      end of its input, and has a second to end.

    Moves that name no piece are answered as the server does and do not count as attempts. The
    environment variable ``GNOMON_SEED`` holds a number for the program's own random choices.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes give the names of shapes and colours.
    rng : numpy.random.Generator
        Draws the seed for the program.
    command : str
        Command line of the program, split as a shell would; no shell runs it. Needed.
    output : {"BRIEF", "STANDARD", "FULL"}
        The amount of output, until the program sends ``MODE``: a status and a comment; the board as
        JSON besides; and a picture.
    timeout_s : float
        Most seconds that the program may take for a line, above 0, and a million at most.

    Raises
    ------
    ValueError
        If there is no command, or a parameter is out of its range.
    GnomonError
        While it plays, if the program cannot be started, ends, takes too long, or sends 1,000 lines
        without an attempt; the message has the end of what it wrote to standard error.
    """

    command: str = ""
    output: Literal["BRIEF", "STANDARD", "FULL"] = "STANDARD"
    timeout_s: Annotated[float, Range(0.0, LONGEST_S, open_below=True)] = 60.0

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self._words = shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"command: {str(error).lower()} in {self.command!r}") from None
        if not self._words:
            raise ValueError("command: expected the command line of a program, found ''")
        self._seed = int(self.rng.integers(2**31))
        self._program: LineProcess | None = None
        self._talk: TrialDialogue | None = None

    def act(self, observation: Observation) -> int:
        """Wait for a MOVE that is an attempt, and answer whatever comes before it."""
        from gohr.child_process import LineProcess

        if self._program is None or self._talk is None:
            variables = {"GNOMON_SEED": str(self._seed)}
            self._program = LineProcess(
                self._words, variables, timeout_s=self.timeout_s, label="learner 'process'"
            )
            self._talk = TrialDialogue(self.board_spec, self.output)
        self._program.write(self._talk.see(observation.board))
        for _ in range(_MOST_LINES):
            self._program.write(self._talk.answer(self._program.read()))
            if self._talk.attempted is not None:
                return self._talk.attempted
        raise GnomonError(
            f"learner 'process': expected an attempt, found {_MOST_LINES} other lines from "
            f"{shlex.join(self._words)}"
        )

    def observe(self, transition: Transition) -> None:
        """Send the outcome of the attempt to the program."""
        if self._program is not None and self._talk is not None:
            self._program.write(self._talk.tell(transition))


class TrialDialogue(Dialogue):
    """The conversation with a program through all episodes of a trial.

    The trial deals the boards and judges the attempts, so an attempt is returned before its reply
    is known: it is in :attr:`attempted` after :meth:`answer`, and :meth:`tell` takes the reply.
    """

    def __init__(self, board_spec: BoardSpec, output: OutputMode) -> None:
        palettes = {"shape": board_spec.shape_palette, "color": board_spec.color_palette}
        super().__init__(output, palettes)
        self._spec = board_spec
        self._next: Board | None = None  # waits for NEW
        self.attempted: int | None = None

    def see(self, board: npt.NDArray[np.uint8]) -> list[str]:
        """Take the board before an attempt, and return the text to send about it."""
        if self._is_on and not self.finish:
            return []
        self._next = Board.from_codes(board, self._spec)
        return [] if self._is_on else self._new()

    def answer(self, line: str) -> list[str]:
        """Return the immediate reply to a line: nothing if it is an attempt."""
        self.attempted = None
        return super().answer(line)

    def tell(self, transition: Transition) -> list[str]:
        """Return the text to send about the outcome of the attempt."""
        piece = self._pieces[self._id_at[transition.action // N_BUCKETS + 1]]
        self._made(piece, transition.outcome)
        if transition.terminated:
            self.finish = STALEMATE if self._pieces else CLEARED
        elif transition.truncated:
            self.finish = _CUT_OFF
        remark = self._remark() if self.finish else "null"
        return self._after_move(transition.outcome, remark)

    def _remark(self) -> str:
        if self.finish == _CUT_OFF:
            return "Cut off: no more attempts on this board. Use NEW to go on to the next"
        return super()._remark()

    def _attempt(self, piece: Piece, bucket: int) -> list[str]:
        self.attempted = N_BUCKETS * (piece.pos - 1) + bucket
        return []

    def _new(self) -> list[str]:
        if self._next is None:
            message = "each board is played to its end: NEW is for after it"
            return self._status(INVALID_ARGUMENTS, message)
        self._begin(self._next)
        self._next = None
        return self._greeting()

    def _exit(self) -> list[str]:
        raise GnomonError(
            f"learner 'process': expected it to play on, found EXIT in episode {self.episode + 1}"
        )
