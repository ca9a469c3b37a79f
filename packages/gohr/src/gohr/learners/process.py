"""A learner that is any program: it plays as a client of the captive game server."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Annotated, Literal, final

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gnomon.errors import GnomonError
from gohr.board import N_BUCKETS, Board, BoardSpec, Piece
from gohr.captive import INVALID_ARGUMENTS, Dialogue, OutputMode
from gohr.child_process import end_group, end_of, how_it_ended
from gohr.learners.base import Learner
from gohr.outcomes import CLEARED, STALEMATE
from gohr.playing import Observation, Transition

#: State of an episode that the horizon has cut off: given up.
_CUT_OFF = 3
#: Beginning of error messages.
_LABEL = "learner 'process'"
#: Most bytes of a line of a program.
_LINE_LIMIT = 65_536
#: Seconds that a program has to end once its input is closed.
_GRACE_S = 1.0
#: Most seconds of patience: eleven days, which a socket can still count.
_LONGEST_S = 1e6
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
    timeout_s: Annotated[float, Field(gt=0, le=_LONGEST_S)] = 60.0

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self._words = shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"command: {str(error).lower()} in {self.command!r}") from None
        if not self._words:
            raise ValueError("command: expected the command line of a program, found ''")
        self._seed = int(self.rng.integers(2**31))
        self._program: _Program | None = None
        self._talk: _TrialDialogue | None = None

    def act(self, observation: Observation) -> int:
        """Wait for a MOVE that is an attempt, and answer whatever comes before it."""
        if self._program is None or self._talk is None:
            variables = {"GNOMON_SEED": str(self._seed)}
            self._program = _Program(self._words, variables, self.timeout_s)
            self._talk = _TrialDialogue(self.board_spec, self.output)
        self._program.write(self._talk.see(observation.board))
        for _ in range(_MOST_LINES):
            self._program.write(self._talk.answer(self._program.read()))
            if self._talk.attempted is not None:
                return self._talk.attempted
        raise GnomonError(
            f"{_LABEL}: expected an attempt, found {_MOST_LINES} other lines from "
            f"{self._program.name}"
        )

    def observe(self, transition: Transition) -> None:
        """Send the outcome of the attempt to the program."""
        if self._program is not None and self._talk is not None:
            self._program.write(self._talk.tell(transition))


class _TrialDialogue(Dialogue):
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
            f"{_LABEL}: expected it to play on, found EXIT in episode {self.episode + 1}"
        )


class _Program:
    """A program that is talked with in lines, and stopped when this object is no longer used."""

    def __init__(
        self, words: Sequence[str], variables: Mapping[str, str], timeout_s: float
    ) -> None:
        self.name = shlex.join(words)
        self._timeout_s = timeout_s
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - _stop() closes it
        try:
            self._child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **variables},
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            reason = error.strerror or str(error)
            raise GnomonError(f"{_LABEL}: cannot start {self.name}: {reason}") from None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._input, self._output = self._child.stdin.fileno(), self._child.stdout.fileno()
        for pipe in (self._input, self._output):
            os.set_blocking(pipe, False)
        self._received, self._to_send = b"", b""
        weakref.finalize(self, _stop, self._child, self._errors)

    def write(self, lines: Sequence[str]) -> None:
        """Send lines; what the program does not take yet is sent while :meth:`read` waits."""
        self._to_send += "".join(f"{line}\n" for line in lines).encode()
        self._send()

    def read(self) -> str:
        """Return the next line, without its end."""
        until = time.monotonic() + self._timeout_s
        while b"\n" not in self._received and len(self._received) < _LINE_LIMIT:
            waits = [self._input] if self._to_send else []
            left = max(until - time.monotonic(), 0.0)
            readable, writable, _ = select.select([self._output], waits, [], left)
            if writable:
                self._send()
            if readable:
                found = os.read(self._output, _LINE_LIMIT)
                if not found:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._child.wait(_GRACE_S)
                    ended = how_it_ended(self._child)
                    raise self._failed(
                        f"it ended with {ended}" if ended else "it closed its output"
                    )
                self._received += found
            elif left == 0.0:
                raise self._failed(f"found none within {self._timeout_s:g} s")
        line, _, self._received = self._received.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def _send(self) -> None:
        """Send as much as the program takes at once; nothing if it has ended."""
        try:
            while self._to_send:
                n_sent = os.write(self._input, self._to_send)
                self._to_send = self._to_send[n_sent:]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._to_send = b""

    def _failed(self, what: str) -> GnomonError:
        """Return the error of a program that did not answer, with the end of its errors."""
        words = end_of(self._errors, 500)
        said = f"; its standard error ends: {words}" if words else ""
        return GnomonError(f"{_LABEL}: expected a line of {self.name}, {what}{said}")


def _stop(child: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    """Close the input of a program, wait briefly for it to end, and kill any processes left."""
    end_group(child, _GRACE_S)
    errors.close()
    if child.stdout is not None:
        child.stdout.close()
