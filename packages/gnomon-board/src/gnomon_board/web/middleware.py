"""ASGI middleware: host and origin checks, body sizes, rate limit, security headers."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import HTTPException
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from gnomon_board.errors import TooMany
from gnomon_board.settings import Settings
from gnomon_board.web.limits import AtOnce, Counts, Turns, client_of
from gnomon_board.web.request_log import HEADER as REQUEST_ID
from gnomon_board.web.request_log import begin_request, log_request

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
#: Headers of every answer.
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
#: Least bytes per second of a body, in addition to the permitted silent seconds.
_LEAST_RATE = 2000
#: Seconds between two refusals of an address.
_REFUSAL_S = 0.05
#: A body of more bytes counts as an open upload of its address.
_SMALL = 64 << 10
#: Most open uploads of one address; an account sends one log at a time.
_UPLOADS_AT_ONCE = 8
#: Larger bodies of one address are answered one after the other, and refused with a pause.
_QUICK = 4 << 10
#: Most bytes of JSON: the event loop parses it and lists all errors in it.
_MOST_JSON = 256 << 10
#: Most header lines of a request.
_MOST_HEADERS = 100
#: Most requests that are answered at once. Each has a thread, so that a request that holds the
#: database and continues in another thread never waits behind requests that wait for the database.
AT_ONCE = 500
#: Most pending requests of one address. Requests of disconnected clients wait for their turn like
#: others, and would otherwise accumulate.
IN_HAND = 500
_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
#: Paths that accept a log.
_UPLOADS = re.compile(r"^/api/submissions/\d+/log$")


class Gate:
    """Middleware that checks hosts, sizes and rates of requests, and sets headers of answers."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        turns: Turns,
        told: Callable[[str, int, float], None],
        knows: Callable[[Scope], bool],
    ) -> None:
        self._app, self._settings, self._turns, self._told = app, settings, turns, told
        self._knows = knows
        self._counts = Counts()
        self._uploads = AtOnce(_UPLOADS_AT_ONCE)
        self._refusals, self._large = Turns(1), Turns(1)
        self._in_hand, self._at_work = AtOnce(IN_HAND), AtOnce(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = scope["gnomon.address"] = _client_address(scope, self._settings)
        with ExitStack() as held:
            try:
                held.enter_context(self._in_hand.held(address))
            except TooMany as error:
                refusal: JSONResponse | None = _answer(429, str(error), error.retry_after_s)
            else:
                refusal = self._refusal(scope)
                send = self._paced(scope, receive, send, refused=refusal is not None)
            await self._http(refusal, scope, receive, send)

    async def _http(
        self, refusal: JSONResponse | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        method = scope["method"]
        if method == "HEAD":
            # The pages see a GET; the protocol sends no body.
            scope = {**scope, "method": "GET"}
        request_id = begin_request()
        headers = {**HEADERS, REQUEST_ID: request_id, "Cache-Control": "no-store"}
        if self._settings.secure_cookies:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        noted = self._noted(scope, method, time.perf_counter())
        sending = _with_headers(send, headers, noted)
        if refusal is not None:
            await refusal(scope, receive, sending)
            return
        try:
            await self._with_limits(scope, receive, sending)
        except Exception:
            # Answered without these checks.
            noted(500)
            raise

    async def _with_limits(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and count its body while it arrives.

        The body of an unknown caller is read only up to the size of a form.
        """
        most = _most_bytes(scope, self._settings)
        if not (_is_small(scope, _SMALL) or await run_in_threadpool(self._knows, scope)):
            if _announced(scope) > _SMALL:
                answer = _answer(401, f"a body of more than {_SMALL:,} bytes needs a token")
                await answer(scope, receive, send)
                return
            most = min(most, _SMALL)
        counted = _counted(receive, most, self._settings.slow_client_s)
        reads = scope["method"] in ("GET", "HEAD", "OPTIONS")
        is_upload = _UPLOADS.search(scope["path"]) and scope["method"] == "PUT"
        with ExitStack() as held:
            if is_upload or not (reads or _is_small(scope, _SMALL)):
                try:
                    held.enter_context(self._uploads.held(scope["gnomon.address"]))
                except TooMany as error:
                    await _answer(429, str(error), error.retry_after_s)(scope, receive, send)
                    return
            if is_upload:
                await self._answered(scope, counted, send, held)
                return
            try:
                whole = counted if reads else await _read_whole(counted)
            except HTTPException as error:
                await _answer(error.status_code, error.detail)(scope, receive, send)
                return
            await self._in_turn(scope, whole, send)

    async def _in_turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request when its address has a turn, which ends when the answer begins.

        The request is complete, so that slow senders do not block other requests of the address. A
        slow download does not hold a turn either.
        """
        turns = self._turns if _is_small(scope, _QUICK) else self._large
        turn = turns.of(scope["gnomon.address"])
        await turn.acquire()
        with ExitStack() as held:
            held.callback(turn.release)

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    held.close()
                await send(message)

            await self._answered(scope, receive, sending, held)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, held: ExitStack) -> None:
        """Answer a request if there is a free thread, which it holds with its other resources.

        Requests that wait for a turn, or whose answers are received slowly, are not counted;
        otherwise five addresses could block all others by waiting.
        """
        try:
            held.enter_context(self._at_work.held("any"))
        except TooMany:
            await _answer(503, "too many requests at once; try again", 2)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _paced(self, scope: Scope, receive: Receive, send: Send, *, refused: bool) -> Send:
        """Return a sender that delays refusals, so that an address gets twenty a second at most.

        Without the delay, hundreds of clients that retry immediately, or one whose bodies take long
        to be refused, would occupy the event loop. The delay ends if the client disconnects:
        hundreds that have left would delay the next refusal of the address by many seconds. A
        large body is not read to find that out.
        """
        address, costly = scope["gnomon.address"], not _is_small(scope, _QUICK)
        small = _is_small(scope, _SMALL)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status = message["status"]
                if refused or status == 429 or (costly and status >= 400):
                    async with self._refusals.of(address):
                        with suppress(TimeoutError):
                            async with asyncio.timeout(_REFUSAL_S):
                                await (_left(receive) if small else asyncio.Future())
            await send(message)

        return sending

    def _noted(self, scope: Scope, method: str, began: float) -> Callable[[int], None]:
        """Return a function that counts and logs the first status of an answer, as it begins.

        A failure after the beginning is not counted as another answer.
        """
        method = method if method in _METHODS else "other"
        begun = False

        def note(status: int) -> None:
            nonlocal begun
            if begun:
                return
            begun = True
            seconds = time.perf_counter() - began
            self._told(method, status, seconds)
            log_request(scope, method, status, seconds)

        return note

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        """Return the refusal of a request; None if it may pass."""
        if len(scope["headers"]) > _MOST_HEADERS:
            found = len(scope["headers"])
            return _answer(431, f"expected at most {_MOST_HEADERS} headers, found {found}")
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not is_allowed_host(host, self._settings.allowed_hosts):
            return _answer(400, "unknown host name of this server")
        reads = scope["method"] in ("GET", "HEAD", "OPTIONS")
        if not (reads or _is_own_origin(headers.get("origin"), host, self._settings.public_url)):
            return _answer(403, "expected a page of this server")
        most = self._settings.requests_per_minute
        if wait := self._counts.seconds_to_wait(scope["gnomon.address"], most=most):
            return _answer(429, f"too many requests; try again in {wait} s", wait)
        most, announced = _most_bytes(scope, self._settings), _announced(scope)
        if math.isinf(announced):
            return _answer(400, "expected a Content-Length that is a number")
        if announced > most:
            return _answer(413, f"expected at most {most:,} bytes, found {announced:,}")
        return None


def is_allowed_host(header: str, allowed: Sequence[str]) -> bool:
    """Return whether a ``Host`` header is allowed; ``*.example.org`` allows all subdomains."""
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?", header)
    if match is None:
        return False
    name = match[1].lower().rstrip(".")
    return any(
        name == each.lower() or (each.startswith("*.") and name.endswith(each[1:].lower()))
        for each in allowed
    )


def address_of(scope: Scope) -> str:
    """Return the address of a request, forwarded ones only from trusted proxies."""
    found: str = scope.get("gnomon.address", "")
    return found


def _client_address(scope: Scope, settings: Settings) -> str:
    client = scope.get("client")
    address = client[0] if client else "local"
    if address in settings.trusted_proxies:
        # The proxy appends the address that it saw to any value from the client.
        # Some proxies add a separate header after one from the client.
        forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        address = forwarded.rpartition(",")[2].strip()[:64] or address
    return client_of(address)


def _is_own_origin(origin: str | None, host: str, public_url: str) -> bool:
    """Return whether a request comes from a page of this server, or a program without an origin."""
    if origin is None:
        return True
    try:
        found = urlsplit(origin).netloc.lower()
    except ValueError:
        return False
    return bool(found) and found in (host.lower(), urlsplit(public_url).netloc.lower())


def _most_bytes(scope: Scope, settings: Settings) -> int:
    if _UPLOADS.search(scope["path"]):
        return settings.max_upload_bytes + _SMALL
    is_json = "json" in Headers(scope=scope).get("content-type", "").lower()
    return min(settings.max_body_bytes, _MOST_JSON) if is_json else settings.max_body_bytes


def _counted(receive: Receive, most: int, patience_s: float) -> Receive:
    """Return a receiver that stops at the first byte above the limit, whatever was announced.

    It limits the wait for a body that does not arrive, or arrives byte by byte.
    """
    received, complete, began = 0, False, time.monotonic()

    async def counting() -> Message:
        nonlocal received, complete
        try:
            message = await asyncio.wait_for(receive(), None if complete else patience_s)
        except TimeoutError:
            raise HTTPException(408, "the request ended early") from None
        if message["type"] == "http.request":
            complete = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > most:
                raise HTTPException(413, f"expected at most {most:,} bytes, found more")
            slow = time.monotonic() - began > patience_s + received / _LEAST_RATE
            if slow and not complete:
                raise HTTPException(408, "this request comes too slowly")
        return message

    return counting


async def _left(receive: Receive) -> None:
    """Wait until a client disconnects, and drop the rest of its body."""
    while (await receive())["type"] != "http.disconnect":
        await asyncio.sleep(0)


def _is_small(scope: Scope, most: int) -> bool:
    """Return whether the announced body has at most a number of bytes."""
    return "transfer-encoding" not in Headers(scope=scope) and _announced(scope) <= most


def _announced(scope: Scope) -> float:
    """Return the announced length of the body: 0 if absent, infinity if not a number."""
    announced = Headers(scope=scope).get("content-length", "0")
    return int(announced) if announced.isascii() and announced.isdigit() else math.inf


async def _read_whole(receive: Receive) -> Receive:
    """Return a receiver of the complete body, or of the part before the client disconnected."""
    messages = [await receive()]
    while messages[-1].get("more_body", False):
        messages.append(await receive())
    waiting = iter(messages)

    async def replaying() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return replaying


def _with_headers(send: Send, values: Mapping[str, str], noted: Callable[[int], None]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            noted(message["status"])
            headers = MutableHeaders(scope=message)
            for name, value in values.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def _answer(status: int, detail: str, retry_after_s: int = 0) -> JSONResponse:
    headers = {"Retry-After": str(retry_after_s)} if retry_after_s else None
    return JSONResponse({"detail": detail}, status, headers)
