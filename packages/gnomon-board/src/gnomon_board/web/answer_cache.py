"""ASGI middleware that answers requests for unchanged pages without routing, session or thread.

Routing takes a fifth of the time of a cached page, and the threads that open and close a session
take most of the rest. SQLite's ``data_version`` shows in a few microseconds whether this or another
process has committed anything; if not, the same request of a reader who is not signed in has the
same answer.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers

from gnomon_board.web.pages.page_cache import takes_gzip

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Most seconds for which an answer is kept, since some pages depend on the clock.
_MOST_AGE_S = 2.0
_MOST_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, the state of the database before its creation, and the time after."""

    mark: int
    made: float
    start: Message
    body: bytes
    route: Any


class AnswerCache:
    """Cache answers that are the same for all readers, and answer 304 to a browser that has them.

    ``mark`` returns a number that changes with every commit, or None if there is no such number;
    then nothing is cached.
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
        key = _key(scope, headers)
        mark = None if key is None else self._mark()
        if key is None or mark is None:
            await self._app(scope, receive, send)
            return
        kept = self._kept.get(key)
        if kept is None or kept.mark != mark or time.monotonic() - kept.made >= _MOST_AGE_S:
            messages: list[Message] = []

            async def sending(message: Message) -> None:
                # A copy, since the gate adds headers to the answer.
                messages.append({**message, "headers": list(message.get("headers", ()))})
                await send(message)

            await self._app(scope, receive, sending)
            if len(messages) == 2 and _is_for_all(messages[0]):
                start, body = messages
                made, route = time.monotonic(), scope.get("route")
                self._keep(key, _Kept(mark, made, start, body["body"], route))
            return
        scope["route"] = kept.route
        await send({**kept.start, "headers": list(kept.start["headers"])})
        await send({"type": "http.response.body", "body": kept.body})

    def _keep(self, key: tuple[Any, ...], answer: _Kept) -> None:
        before = self._kept.pop(key, None)
        self._kept[key] = answer
        self._held += len(answer.body) - (len(before.body) if before else 0)
        while self._held > _MOST_BYTES:
            self._held -= len(self._kept.popitem(last=False)[1].body)


def _key(scope: Scope, headers: Headers) -> tuple[Any, ...] | None:
    """Return the cache key of a request; None if the answer depends on the reader."""
    if "cookie" in headers or "authorization" in headers:
        return None
    packed = takes_gzip(headers.get("accept-encoding", ""))
    return scope["path"], scope["query_string"], headers.get("host"), scope["scheme"], packed


def _is_for_all(start: Message) -> bool:
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
