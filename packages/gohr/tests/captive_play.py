"""Playing with the captive game server in tests: files in, lines out."""

from __future__ import annotations

import os
from pathlib import Path

from gohr.captive import Session
from gohr.captive_server import open_session, serve_pipe

CLOCKWISE = "(1,*,*,*,*)\n(*,*,*,*,p+1)\n"


def session_of(*arguments: str) -> Session:
    """Open a session as the command line does."""
    return open_session(arguments)


def started(*arguments: str) -> Session:
    """Open a session, and pass over the greeting."""
    session = session_of(*arguments)
    session.start()
    return session


def piped(folder: Path, arguments: str, commands: str) -> list[str]:
    """Send commands all at once through the pipe server, and return the lines that come back."""
    (folder / "in").write_text(commands)
    input_fd = os.open(folder / "in", os.O_RDONLY)
    output_fd = os.open(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        session = session_of(*arguments.split())
        serve_pipe(session, input_fd, output_fd)
    finally:
        os.close(input_fd)
        os.close(output_fd)
    return (folder / "out").read_text().splitlines()
