"""Sessions over a socket, many clients at once.

One thread serves all: an answer takes microseconds, and is computed when a line is complete. What a
client can cost is bounded: the length of a line, the bytes that wait to be sent to it, the time it
may be silent, and how many lines it may have answered before the next client's turn.
"""

from __future__ import annotations

import asyncio
import ipaddress
import shlex
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from gnomon.errors import GnomonError, RuleSyntaxError
from gnomon.game.captive.arguments import GameArguments, read_arguments
from gnomon.game.captive.opening import LogOpener, open_session
from gnomon.game.captive.pipe import LINE_LIMIT, LineBuffer, LineTooLongError
from gnomon.game.captive.session import Session

#: Seconds without a complete line after which a client is dropped.
IDLE_S = 600.0

_LINES_A_TURN = 64
_MOST_CLIENTS = 1000


class SocketServer:
    """Serves the game at a TCP port; a client's first line is ``GAME`` and the arguments.

    Whoever can connect can make the server read rule and board files. At an address that is not
    this machine's own, only files below the folder of data are read. Result files are written only
    if `open_log` is given.

    ``words`` are arguments as on the command line, of which ``inputDir=`` counts. A client is
    dropped after ``idle_s`` seconds without a complete line.
    """

    def __init__(
        self,
        words: Sequence[str] = (),
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        idle_s: float = IDLE_S,
        line_limit: int = LINE_LIMIT,
        open_log: LogOpener | None = None,
    ) -> None:
        self._folder = _folder(words)
        self._host = host
        self._port = port
        self.idle_s = idle_s
        self.line_limit = line_limit
        self._open_log = open_log
        self._is_confined = not _is_loopback(host)
        self._clients: set[_Client] = set()

    async def serve(
        self, stop: asyncio.Event, announce: Callable[[str], None] = lambda _: None
    ) -> None:
        """Serve until `stop` is set; `announce` is told the address as soon as it listens."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Client(self), self._host, self._port)
        host, port = server.sockets[0].getsockname()[:2]
        announce(f"{host}:{port}")
        try:
            await stop.wait()
        finally:
            server.close()
            for client in list(self._clients):
                client.drop()

    def enter(self, client: _Client) -> bool:
        """Accept a client, unless too many are connected."""
        if len(self._clients) >= _MOST_CLIENTS:
            return False
        self._clients.add(client)
        return True

    def leave(self, client: _Client) -> None:
        """Forget a client."""
        self._clients.discard(client)

    def open(self, line: str) -> Session:
        """Make the session for the rest of a GAME line."""
        try:
            words = shlex.split(line)
        except ValueError:
            raise GnomonError("GAME: a quote is not closed") from None
        arguments: GameArguments = read_arguments(words).in_folder(self._folder)
        if self._open_log is None and arguments.log is not None:
            raise GnomonError("this server writes no result files for its clients")
        return open_session(
            arguments.with_mode("STANDARD"), open_log=self._open_log, is_confined=self._is_confined
        )


class _Client(asyncio.Protocol):
    """The connection with one client."""

    def __init__(self, server: SocketServer) -> None:
        self._server = server
        self._lines = LineBuffer(server.line_limit)
        self._session: Session | None = None
        self._loop = asyncio.get_running_loop()
        self._is_writable = True
        self._has_ended = False
        self._is_scheduled = False
        self._last_line_s = self._loop.time()

    # -- what asyncio calls ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._timer = self._loop.call_later(self._server.idle_s, self._look_at_clock)
        if not self._server.enter(self):
            self._say(["-1 0 0", "# Too many clients"])
            self._end()

    def data_received(self, data: bytes) -> None:
        self._lines.feed(data)
        self._work()

    def eof_received(self) -> bool:
        # Python keeps the other direction open for what is still to be answered.
        self._has_ended = True
        self._work()
        return True

    def pause_writing(self) -> None:
        self._is_writable = False

    def resume_writing(self) -> None:
        self._is_writable = True
        self._work()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._server.leave(self)
        self._lines.clear()
        if self._session is not None:
            self._session.close()
            self._session = None

    # -- what is made of it ----------------------------------------------------------------------

    def drop(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def _work(self) -> None:
        """Answer some lines; come back later if there may be more, or the client does not read."""
        if self._is_scheduled:
            return
        for _ in range(_LINES_A_TURN):
            if self._transport.is_closing():
                return
            if not self._is_writable:
                break
            try:
                line = self._lines.take()
            except LineTooLongError:
                self._refuse("Invalid input - the line is too long")
                continue
            if line is None:
                self._await_more()
                return
            self._last_line_s = self._loop.time()
            self._answer(line)
        # Nothing more is read until what is here has been answered.
        self._transport.pause_reading()
        if self._is_writable:
            self._is_scheduled = True
            self._loop.call_soon(self._work_again)

    def _work_again(self) -> None:
        self._is_scheduled = False
        self._work()

    def _await_more(self) -> None:
        if self._has_ended:
            if self._lines.rest():
                self._answer(self._lines.rest())
                self._lines.clear()
            self._end()
        else:
            self._transport.resume_reading()

    def _answer(self, line: str) -> None:
        if self._session is None:
            self._begin(line)
            return
        self._say(self._session.answer(line))
        if self._session.over:
            self._end()

    def _begin(self, line: str) -> None:
        """Answer the first line, which must be a GAME."""
        word, _, rest = line.strip().partition(" ")
        if not word:
            return
        if word.upper() != "GAME":
            self._say(["-1 0 0", "# Expected GAME and its arguments"])
            self._end()
            return
        try:
            self._session = self._server.open(rest)
            self._say(self._session.start())
        except (GnomonError, OSError) as error:
            self._say(["-5 0 0", f"# {_told(error)}"])
            self._end()

    def _refuse(self, message: str) -> None:
        if self._session is None:
            self._say(["-1 0 0", f"# {message}"])
            self._end()
        else:
            self._say(self._session.refuse(message))

    def _say(self, lines: Sequence[str]) -> None:
        if lines:
            self._transport.write(("\n".join(lines) + "\n").encode())

    def _end(self) -> None:
        """Close the connection once everything has been sent; the timer sees to a deaf client."""
        self._transport.close()

    def _look_at_clock(self) -> None:
        """Drop a client that has been silent for too long, or does not take its answers."""
        left = self._last_line_s + self._server.idle_s - self._loop.time()
        if left > 0 and not self._transport.is_closing():
            self._timer = self._loop.call_later(left, self._look_at_clock)
            return
        if self._is_writable and not self._transport.is_closing():
            self._say([f"# Nothing heard for {self._server.idle_s:g} s. Goodbye"])
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()


def run_server(server: SocketServer, announce: Callable[[str], None]) -> None:
    """Serve until the process is interrupted or told to terminate."""

    async def serve() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await server.serve(stop, announce)

    asyncio.run(serve())


def _folder(words: Sequence[str]) -> Path:
    """Return the folder of data that the server's own arguments name."""
    for word in words:
        name, _, value = word.removeprefix("-D").partition("=")
        if name != "inputDir" or not value:
            raise GnomonError(f"a server takes inputDir=FOLDER only, found {word!r}")
    return Path(words[-1].partition("=")[2]) if words else Path()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _told(error: Exception) -> str:
    """Return what a client is told of an error: not what stands in a file that is no rule."""
    if isinstance(error, RuleSyntaxError):
        return f"Failed to parse the rule: line {error.line}, column {error.column}"
    return " ".join(str(error).split())
