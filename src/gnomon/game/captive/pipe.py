"""A session over a pair of file descriptors: standard input and output."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gnomon.game.captive.line_buffer import LineBuffer, LineTooLongError
from gnomon.game.captive.session import Session

__all__ = ["LINE_LIMIT", "serve_pipe"]

#: Most bytes of a line that a client sends.
LINE_LIMIT = 65_536

#: The reference reads as many bytes at once.
_CHUNK = 8192


def serve_pipe(
    session: Session,
    input_fd: int = 0,
    output_fd: int = 1,
    *,
    line_limit: int = LINE_LIMIT,
    pipelined: bool = False,
) -> None:
    """Play a session with the client at the other end of two pipes, until EXIT or the end of input.

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

    Raises
    ------
    GnomonError
        The first episode cannot begin; nothing has been written.
    """
    try:
        _write(output_fd, session.start())
        lines = LineBuffer(line_limit)
        while chunk := os.read(input_fd, _CHUNK):
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
