"""A session over a pair of file descriptors, standard input and output, in bounded memory."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence

from gnomon.game.captive.session import Session


class LineTooLongError(Exception):
    """A line with more bytes than the limit; it is dropped to its end."""


class LineBuffer:
    r"""Collects bytes, and hands out the lines that are complete.

    A line has at most ``limit`` bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._start = 0  # of the first line that has not been taken
        self._searched = 0  # up to where there is no line break
        self._is_dropping = False

    def feed(self, chunk: bytes) -> None:
        """Add bytes."""
        if self._start:
            del self._bytes[: self._start]
            self._searched -= self._start
            self._start = 0
        self._bytes += chunk

    def take(self) -> str | None:
        """Return the next line, without its end; None if it is not complete yet.

        Raises LineTooLongError: once for each line that exceeds the limit, as soon as it does.
        """
        while True:
            end = self._bytes.find(b"\n", self._searched)
            if end < 0:
                self._searched = len(self._bytes)
                self._check_length(len(self._bytes))
                return None
            start, self._start = self._start, end + 1
            self._searched = self._start
            if self._is_dropping:
                self._is_dropping = False
            elif end - start > self._limit:
                raise LineTooLongError
            else:
                return self._text(start, end)

    def rest(self) -> str:
        """Return what has come of a line that will not be completed."""
        return "" if self._is_dropping else self._text(self._start, len(self._bytes))

    def clear(self) -> None:
        """Forget all that has not been taken."""
        self._bytes.clear()
        self._start = self._searched = 0
        self._is_dropping = False

    def _text(self, start: int, end: int) -> str:
        return self._bytes[start:end].decode("utf-8", errors="replace").removesuffix("\r")

    def _check_length(self, end: int) -> None:
        """Drop what has come of a line that is too long already."""
        if end - self._start <= self._limit and not self._is_dropping:
            return
        was_dropping = self._is_dropping
        self.clear()
        self._is_dropping = True
        if not was_dropping:
            raise LineTooLongError


#: Most bytes of a line that a client sends.
LINE_LIMIT = 65_536

#: The reference reads as many bytes at once.
_CHUNK = 8192

#: Seconds to stay awake for the next command: an answer takes a few microseconds, but a core that
#: has gone to sleep takes tens of them to wake, each time.
_AWAKE_S = 0.001

#: Number of commands to sleep for after one that did not come in that time: the client takes its
#: time, or others want the core.
_ASLEEP = 200


def serve_pipe(
    session: Session,
    input_fd: int = 0,
    output_fd: int = 1,
    *,
    line_limit: int = LINE_LIMIT,
    pipelined: bool = False,
) -> None:
    """Play a session with the client at the other end of two pipes, until EXIT or the end of input.

    Raises GnomonError: the first episode cannot begin; nothing has been written.

    Parameters
    ----------
    session : Session
        Not yet started.
    input_fd, output_fd : int
        File descriptors.
    line_limit : int
        Most bytes of a line; a longer one is refused.
    pipelined : bool
        Whether a client may send more commands along with NEW. ⚠ The reference loses whatever has
        arrived together with a NEW, and so does this server unless told otherwise: a client that
        waits for each answer sees no difference, and a recorded session comes out the same.
    """
    try:
        _write(output_fd, session.start())
        lines = LineBuffer(line_limit)
        source = _Input(input_fd)
        while chunk := source.read():
            lines.feed(chunk)
            _answer_all(session, lines, output_fd, pipelined)
            if session.over:
                return
        if lines.rest():
            _write(output_fd, session.answer(lines.rest()))
    except BrokenPipeError:
        return  # the client has gone, which is its way to end the session
    finally:
        session.close()


class _Input:
    """A file descriptor, read by one who stays awake while that pays."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._asleep = 0
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def read(self) -> bytes:
        """Wait for input and return what there is, nothing at its end."""
        if self._asleep:
            self._asleep -= 1
        elif not self._comes_soon():
            self._asleep = _ASLEEP
        return os.read(self._fd, _CHUNK)

    def _comes_soon(self) -> bool:
        """Wait awake, and tell whether input has come in time."""
        until = time.perf_counter() + _AWAKE_S
        while not self._poll.poll(0):
            os.sched_yield()  # a client on this very core comes first
            if time.perf_counter() > until:
                return False
        return True


def _answer_all(session: Session, lines: LineBuffer, output_fd: int, pipelined: bool) -> None:
    """Answer the lines that are complete."""
    while not session.over:
        episode = session.n_new
        try:
            line = lines.take()
        except LineTooLongError:
            _write(output_fd, session.refuse("Invalid input - the line is too long"))
            continue
        if line is None:
            return
        _write(output_fd, session.answer(line))
        if session.n_new != episode and not pipelined:
            lines.clear()


def _write(fd: int, lines: Sequence[str]) -> None:
    """Write lines at once: a client that waits for an answer waits for all of it."""
    if lines:
        data = ("\n".join(lines) + "\n").encode()
        while data:
            data = data[os.write(fd, data) :]
