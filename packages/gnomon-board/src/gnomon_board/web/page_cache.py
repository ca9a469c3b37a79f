"""Caches of pages: rendered ones with ETags, packed by gzip, and whole answers.

:class:`PageCache` renders a page once for each state of its season. :class:`AnswerCache` answers
before routing, sessions and threads, as long as nothing was committed to the database.

Only pages that are the same for all readers are packed. A page with a form of a signed-in reader is
not: its token could be guessed from the length of the packed page (BREACH).
"""

from __future__ import annotations

import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Self

from fastapi import Depends, Request, Response
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from gnomon_board.schema import Season
from gnomon_board.standing_cache import Snapshot, StandingsCache
from gnomon_board.studies.play import PlayedGameCache

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HTML = "text/html; charset=utf-8"
#: Fewest bytes of a page that is packed.
_LEAST_PACKED = 500


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as bytes, as it is and packed, with its ETag; ``packed`` is empty if it is small."""

    body: bytes
    packed: bytes
    etag: str
    media_type: str

    @classmethod
    def of(cls, made: str | bytes, media_type: str = HTML) -> Self:
        """Return the cached form of a rendered page."""
        body = made.encode() if isinstance(made, str) else made
        is_text = isinstance(made, str) and len(body) >= _LEAST_PACKED
        packed = gzip.compress(body, 6, mtime=0) if is_text else b""
        return cls(body, packed, hashlib.sha256(body).hexdigest(), media_type)


class PageCache:
    """LRU cache of rendered pages, limited in bytes, with the newest state of each page."""

    def __init__(self, max_bytes: int = 64 << 20) -> None:
        self._most, self._held = max_bytes, 0
        self._lock = Lock()
        self._pages: OrderedDict[Hashable, tuple[Hashable, CachedPage]] = OrderedDict()

    def get(
        self,
        key: Hashable,
        make: Callable[[], str | bytes],
        media_type: str = HTML,
        state: Hashable = None,
    ) -> CachedPage:
        """Return the page of a key in a state; if it is missing, make it and replace an older one.

        The page depends on key and state only. Earlier states do not return, so a page of another
        state is not kept.
        """
        with self._lock:
            kept = self._pages.get(key)
            if kept is not None and kept[0] == state:
                self._pages.move_to_end(key)
                return kept[1]
        page = CachedPage.of(make(), media_type)
        with self._lock:
            before = self._pages.pop(key, None)
            self._pages[key] = state, page
            self._held += _size(page) - (_size(before[1]) if before else 0)
            while self._held > self._most:
                self._held -= _size(self._pages.popitem(last=False)[1][1])
        return page


def _size(page: CachedPage) -> int:
    return len(page.body) + len(page.packed)


def cached_response(request: Request, page: CachedPage) -> Response:
    """Return a page with its ETag, packed if the browser accepts that."""
    # The browser revalidates the page each time: an outdated board is worse than a slow one.
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    packed = bool(page.packed) and takes_gzip(request.headers.get("accept-encoding", ""))
    # The packed page has another ETag; AnswerCache answers 304 to either.
    headers["ETag"] = f'"{page.etag}-gzip"' if packed else f'"{page.etag}"'
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(
        page.packed if packed else page.body, media_type=page.media_type, headers=headers
    )


def takes_gzip(accepted: str) -> bool:
    """Return whether a client accepts gzip.

    Examples
    --------
    >>> [takes_gzip(x) for x in ("gzip, br", "br;q=1, gzip;q=0.5", "gzip;q=0", "*", "identity")]
    [True, True, False, False, False]
    """
    for part in accepted.lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


@dataclass(frozen=True)
class BoardState:
    """Standings, pages and games of one application."""

    standings: StandingsCache
    pages: PageCache
    games: PlayedGameCache

    def snapshot(self, season: Season) -> Snapshot | None:
        """Return the current or previous standings of a season; None if none are ready."""
        return self.standings.get(season.id, season.version)

    def answer(
        self,
        request: Request,
        season: Season | None,
        key: Sequence[Hashable],
        make: Callable[[], str | bytes],
        media_type: str = HTML,
        state: Hashable = None,
    ) -> Response:
        """Answer with a page, made once for each state of the season and its standings.

        ``state`` holds the other changing values that the page depends on. Without a key the page
        is not cached.
        """
        if not key:
            return cached_response(request, CachedPage.of(make(), media_type))
        if season is not None:
            snapshot = self.snapshot(season)
            shown = snapshot and (snapshot.standings.version, snapshot.is_current)
            key, state = (*key, season.id), (season.version, shown, state)
        return cached_response(request, self.pages.get(tuple(key), make, media_type, state))


async def board_state(connection: HTTPConnection) -> BoardState:
    """Return the state of the application of a request, created at the first call."""
    app = connection.app
    if not hasattr(app.state, "board"):
        standings = StandingsCache(app.state.database)
        app.state.board = BoardState(standings, PageCache(), PlayedGameCache())
    found: BoardState = app.state.board
    return found


CurrentBoard = Annotated[BoardState, Depends(board_state)]


# -- answers without routing, session or thread ---------------------------------------------------

#: Most seconds for which an answer is kept: some pages depend on the clock, and on PostgreSQL the
#: commits of other processes are not seen.
_MOST_AGE_S = 2.0
_MOST_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, the state of the database before its creation, and the time after.

    ``anonymous``: whether signed-in readers get another answer.
    """

    mark: int
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
        packed = takes_gzip(headers.get("accept-encoding", ""))
        host, query = headers.get("host"), scope["query_string"]
        key = (scope["path"], query, host, scope["scheme"], packed)
        is_anonymous = "cookie" not in headers and "authorization" not in headers
        mark, kept = self._mark(), self._kept.get(key)
        if (
            kept is not None
            and kept.mark == mark
            and time.monotonic() - kept.made < _MOST_AGE_S
            and (is_anonymous or not kept.anonymous)
        ):
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
        if mark is not None and len(messages) == 2 and _can_be_kept(messages[0]):
            start, body = messages
            anonymous = "Cookie" in Headers(raw=start["headers"])["vary"]
            made, route = time.monotonic(), scope.get("route")
            self._keep(key, _Kept(mark, made, start, body["body"], route, anonymous))

    def _keep(self, key: tuple[Any, ...], answer: _Kept) -> None:
        before = self._kept.pop(key, None)
        self._kept[key] = answer
        self._held += len(answer.body) - (len(before.body) if before else 0)
        while self._held > _MOST_BYTES:
            self._held -= len(self._kept.popitem(last=False)[1].body)


def _can_be_kept(start: Message) -> bool:
    """Return whether :func:`cached_response` marked an answer as cacheable."""
    headers = Headers(raw=start["headers"])
    return (
        start["status"] == 200
        and headers.get("cache-control") == "no-cache"
        and headers.get("vary", "").startswith("Accept-Encoding")
        and "set-cookie" not in headers
    )


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


_OF_BODY = (b"content-length", b"content-encoding", b"content-type")
