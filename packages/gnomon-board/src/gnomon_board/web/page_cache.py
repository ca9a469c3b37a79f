"""Cache of answers with ETags, packed by gzip: one for each address, with its newest state.

:class:`AnswerCache` answers before routing, sessions and threads, as long as nothing was committed
to the database. After a commit the handler runs; if the state that its page depends on is the same,
the page is not made again.

Only pages that are the same for all readers are packed. A page with a form of a signed-in reader is
not: its token could be guessed from the length of the packed page (BREACH).
"""

from __future__ import annotations

import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request, Response
from starlette.datastructures import Headers

from gnomon_board.game_cache import GameCache
from gnomon_board.remote_game import RemoteGame
from gnomon_board.schema import Season
from gnomon_board.standing_cache import StandingsCache
from gnomon_board.studies.play import GameAt
from gnomon_board.web.api.dependencies import of_app

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HTML = "text/html; charset=utf-8"
#: Fewest bytes of a page that is packed.
_LEAST_PACKED = 500
#: Most seconds for which an answer is sent unasked: some pages depend on the clock, and on
#: PostgreSQL the commits of other processes are not seen.
_MOST_AGE_S = 2.0
_MOST_BYTES = 16 << 20
#: Where a request holds the answer kept for its address, and the state of the answer to keep.
_KEPT, _STATE = "gnomon.kept", "gnomon.state"
_OF_BODY = (b"content-length", b"content-encoding", b"content-type")


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, the state that it depends on, and that of the database before it was made.

    ``anonymous``: whether signed-in readers get another answer.
    """

    state: Hashable
    mark: int | None
    made: float
    start: Message
    body: bytes
    route: Any
    anonymous: bool


class AnswerCache:
    """ASGI middleware that answers requests for unchanged pages, with 304 if the browser has them.

    Routing takes a fifth of the time of a cached page, and the threads that open and close a
    session take most of the rest. ``mark`` returns a number that changes with every commit, which
    takes a few microseconds. A page that depends on the reader is kept for anonymous ones only.
    """

    def __init__(self, app: ASGIApp, mark: Callable[[], int | None]) -> None:
        self._app, self._mark = app, mark
        self._kept: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from the cache, or cache the answer of the application."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send = _unless_known(headers.get("if-none-match", ""), send)
        packed = _takes_gzip(headers.get("accept-encoding", ""))
        host, query = headers.get("host"), scope["query_string"]
        key = (scope["path"], query, host, scope["scheme"], packed)
        is_anonymous = "cookie" not in headers and "authorization" not in headers
        mark, kept = self._mark(), self._kept.get(key)
        if kept is not None and (is_anonymous or not kept.anonymous):
            scope[_KEPT] = kept
            if kept.mark == mark is not None and time.monotonic() - kept.made < _MOST_AGE_S:
                self._kept.move_to_end(key)
                scope["route"] = kept.route
                await send({**kept.start, "headers": list(kept.start["headers"])})
                await send({"type": "http.response.body", "body": kept.body})
                return
        messages: list[Message] = []

        async def sending(message: Message) -> None:
            # A copy, since the gate adds headers to the answer.
            messages.append({**message, "headers": list(message.get("headers", ()))})
            await send(message)

        await self._app(scope, receive, sending)
        if _STATE in scope and len(messages) == 2 and messages[0]["status"] == 200:
            start, body = messages
            anonymous = "Cookie" in Headers(raw=start["headers"])["vary"]
            made, route = time.monotonic(), scope.get("route")
            self._keep(key, _Kept(scope[_STATE], mark, made, start, body["body"], route, anonymous))

    def _keep(self, key: tuple[Any, ...], answer: _Kept) -> None:
        before = self._kept.pop(key, None)
        self._kept[key] = answer
        self._held += len(answer.body) - (len(before.body) if before else 0)
        while self._held > _MOST_BYTES:
            self._held -= len(self._kept.popitem(last=False)[1].body)


def _unless_known(known: str, send: Send) -> Send:
    """Return a sender that answers 304 if the browser has the answer, by its ETag."""
    if not known:
        return send
    is_known = False

    async def sending(message: Message) -> None:
        nonlocal is_known
        if message["type"] == "http.response.start" and message["status"] == 200:
            etag = Headers(raw=message["headers"]).get("etag", "")
            # The ETags of a page, packed or not, differ only in a suffix.
            name = etag.strip('"').removesuffix("-gzip")
            is_known = bool(name) and name in known
            if is_known:
                kept = [each for each in message["headers"] if each[0] not in _OF_BODY]
                message = {**message, "status": 304, "headers": kept}
        elif is_known:
            message = {**message, "body": b""}
        await send(message)

    return sending


def _takes_gzip(accepted: str) -> bool:
    """Return whether a client accepts gzip."""
    for part in accepted.lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def cached_response(
    request: Request,
    state: Hashable,
    make: Callable[[], str | bytes],
    media_type: str = HTML,
    *,
    anonymous: bool = False,
) -> Response:
    """Return a page with its ETag, packed if the browser accepts that.

    It depends on the address and on ``state`` only, and is made only if the kept one has another
    state. ``anonymous``: signed-in readers get another page.
    """
    kept: _Kept | None = request.scope.get(_KEPT)
    request.scope[_STATE] = state
    if kept is not None and state is not None and kept.state == state:
        answer = Response(kept.body)
        answer.raw_headers = list(kept.start["headers"])
        return answer
    made = make()
    body = made.encode() if isinstance(made, str) else made
    etag = hashlib.sha256(body).hexdigest()
    # The browser revalidates the page each time: an outdated board is worse than a slow one.
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding", "ETag": f'"{etag}"'}
    if anonymous:
        headers["Vary"] = "Accept-Encoding, Cookie, Authorization"
    if (
        isinstance(made, str)
        and len(body) >= _LEAST_PACKED
        and _takes_gzip(request.headers.get("accept-encoding", ""))
    ):
        body = gzip.compress(body, 6, mtime=0)
        headers |= {"ETag": f'"{etag}-gzip"', "Content-Encoding": "gzip"}
    return Response(body, media_type=media_type, headers=headers)


@dataclass(frozen=True)
class BoardState:
    """Standings of seasons, games of people, and trials of hidden seasons, in memory."""

    standings: StandingsCache
    games: GameCache[GameAt] = field(default_factory=lambda: GameCache(1000))
    trials: GameCache[RemoteGame] = field(default_factory=lambda: GameCache(2048))

    def answer(
        self,
        request: Request,
        season: Season | None,
        make: Callable[[], str | bytes],
        media_type: str = HTML,
        state: Hashable = (),
    ) -> Response:
        """Answer with a page, made once for each state of the season and its standings.

        ``state`` holds the other changing values that the page depends on.
        """
        if season is not None:
            state = season.id, season.version, self.standings.get(season).version, state
        return cached_response(request, state, make, media_type)


CurrentBoard = Annotated[BoardState, Depends(of_app("board"))]
