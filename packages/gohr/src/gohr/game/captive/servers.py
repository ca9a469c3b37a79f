"""The captive game server over a pipe and over TCP."""

from __future__ import annotations

import asyncio
import os
import select
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import GnomonError
from gohr.errors import RuleSyntaxError
from gohr.game.captive.arguments import open_session, read_arguments
from gohr.game.captive.dialogue import TOO_LONG, in_one_line
from gohr.game.captive.session import Session

if TYPE_CHECKING:
    pass

# -- over a pipe -----------------------------------------------------------------------------------

#: Most bytes of a line that a client sends.
LINE_LIMIT = 65_536

#: Bytes read at once; the same as in the reference.
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
                _write(output_fd, session.refuse(TOO_LONG))
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
                await _say(writer, ["-1 0 0", f"# {TOO_LONG}"], idle_s)
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
        return None, ["-5 0 0", f"# {in_one_line(error)}"]
