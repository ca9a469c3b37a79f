"""The server process: tables, first admin token, worker, HTTP.

Connections that send nothing, or very slowly, are closed: the server's library would wait forever
for the end of a request's head. A proxy would not, but a board may run without one.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import socket
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from gnomon_board.accounts import make_account
from gnomon_board.database import Database, current_revision, note, require_head, upgrade
from gnomon_board.errors import LeaderboardError
from gnomon_board.schema import Account, ServerValue
from gnomon_board.settings import Settings
from gnomon_board.studies.store import ADDRESS
from gnomon_board.tokens import issue_token
from gnomon_board.web.limits import Connections, Counts, client_of
from gnomon_board.web.request_log import LogFormat, log_to_stderr
from gnomon_board.worker import WorkerSupervisor

if TYPE_CHECKING:
    from fastapi import FastAPI

_log = logging.getLogger("gnomon.server")
#: Age at which an unchanged upload belongs to a dead process.
_STALE_S = 6 * 3600
#: Queue length of new connections, and the number accepted before the event loop serves open ones;
#: otherwise thousands of connections a second from one client would block all others.
_QUEUE, _ACCEPTED_AT_ONCE = 2048, 16
#: Answer to a connection above the limit of its address.
_TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


def prepare(settings: Settings) -> tuple[Database, str | None]:
    """Open the database of a server; create the tables and the first admin of a new one.

    Returns the database, and the first admin's token if this is a new server.

    Raises LeaderboardError: the database is of another version, or cannot be reached.
    """
    settings.data.mkdir(parents=True, exist_ok=True)
    settings.data.chmod(0o700)
    settings.evidence.mkdir(exist_ok=True)
    settings.incoming.mkdir(exist_ok=True)
    for leftover in settings.incoming.iterdir():
        with suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _STALE_S:
                leftover.unlink()
    database = Database(settings.database)
    try:
        if current_revision(database) is None:
            upgrade(database)
        require_head(database)
        return database, _first_token(database)
    except BaseException:
        database.close()
        raise


def _first_token(database: Database) -> str | None:
    with suppress(IntegrityError), database.writing() as session:
        if session.scalar(select(Account.id).limit(1)) is None:
            account = make_account(session, "admin")
            note(session, "account made", "account", account.id, public=False)
            return issue_token(session, account, ["admin"], label="first")[1]
    return None  # there is an account, also if another server has just made it


def serve(
    settings: Settings,
    host: str,
    port: int,
    *,
    worker: bool = True,
    log_format: LogFormat = "text",
    warm: bool = True,
    on_start: Callable[[str, str | None], None],
) -> None:
    """Serve until SIGINT or SIGTERM.

    ``host`` is an address of this machine; ``port`` 0 means any free one. Without ``worker``, run
    ``gnomon-board worker`` separately. ``log_format`` is that of the log on standard error.
    With ``warm``, import and compile what pages need before the start, so that first readers need
    not wait. ``on_start`` is called once, when the port is open, with the address of the server and
    the first admin's token, if this is a new server.

    Raises LeaderboardError: as :func:`prepare`, and if the port is taken.
    """
    import uvicorn

    from gnomon_board.web.app import create_app

    log_to_stderr(log_format)
    database, first_token = prepare(settings)
    with closing(database), closing(_bound(host, port)) as listening:
        app = create_app(settings, database)
        if warm:
            warm_up(app)
        # Not the library's log of requests: an address may contain an invitation.
        config = uvicorn.Config(
            app,
            http=impatient(settings),
            log_config=None,
            access_log=False,
            server_header=False,
            # The gate decides which proxies to trust.
            proxy_headers=False,
            ws="none",
            backlog=_ACCEPTED_AT_ONCE,
            # Longer than the 5 s for which many clients keep an idle connection: if both sides
            # close it at the same time, a request is sent into a closed connection.
            timeout_keep_alive=math.ceil(settings.slow_client_s),
            timeout_graceful_shutdown=5,
        )
        keeper = WorkerSupervisor(database, settings) if worker else None
        if keeper is not None:
            keeper.start()
        address, number = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        url = f"http://{shown}:{number}"
        with database.writing() as session:
            session.merge(ServerValue(name=ADDRESS, value=settings.public_url or url))
        on_start(url, first_token)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            if keeper is not None:
                keeper.stop()


def warm_up(app: FastAPI) -> None:
    """Build routes, compile templates and load libraries that first pages would wait for.

    It takes a second of processor time, which would block an event loop.
    """
    from gnomon_board.computation import Computation
    from gnomon_board.web.templating import compile_templates

    loading = Computation(int)
    for route in app.routes:  # each is built when a path is first compared with it
        route.matches({"type": "http", "method": "GET", "path": "/-", "headers": []})
    compile_templates()
    loading.result()  # the libraries for statistics and figures are loaded
    # These objects are permanent, and a garbage collection of them would block all for 0.1 s.
    gc.collect()
    gc.freeze()


class _Listening(socket.socket):
    """A socket with a longer queue than the event loop accepts at once."""

    def listen(self, backlog: int = 0, /) -> None:
        """Listen with this queue length; asyncio uses one number for both."""
        super().listen(_QUEUE)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Declared as TCP; otherwise asyncio would delay answers by 40 ms (Nagle).
    listening = _Listening(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise LeaderboardError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    listening.listen()
    return listening


def impatient(settings: Settings) -> type[asyncio.Protocol]:
    """Return an HTTP protocol that closes connections which are too slow or too many.

    The first head has ``slow_client_s`` seconds, each later one up to twice this time. One address
    has at most ``connections_per_address`` open, and opens no more per minute than its requests.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    seconds, connections = settings.slow_client_s, Connections(settings.connections_per_address)
    opened, most = Counts(), settings.requests_per_minute

    # In each of the library's protocols, `cycle` is the request whose head has arrived.
    # The library chooses the protocol at run time and stores it in a variable; mypy accepts only
    # classes from a class statement as base.
    class Impatient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        _next_look: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            address = transport.get_extra_info("peername")[0]
            client = client_of(address)
            if address in settings.trusted_proxies or (
                not opened.seconds_to_wait(client, most=most)
                and connections.admit(client, transport)
            ):
                super().connection_made(transport)
                # As after a check with no request yet.
                self._look_again((None,))
            else:
                # Never registered with the server, which uses this set at the end.
                self.transport = transport
                transport.write(_TOO_MANY)
                transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._next_look is not None:
                self._next_look.cancel()  # it would keep all this in memory until then

        def _look_again(self, seen: object) -> None:
            self._next_look = self.loop.call_later(seconds, self._look, seen)

        def _look(self, seen: Any) -> None:
            if self.transport.is_closing():
                return
            waits = self.cycle is None or self.cycle.response_complete
            if waits and seen is not None and seen[0] is self.cycle:
                self.transport.close()
            else:
                self._look_again((self.cycle,) if waits else None)

    return Impatient
