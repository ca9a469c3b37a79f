"""Asking a leaderboard from a program: JSON in and out, patient with a server that is away."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from typing import Any
from urllib import error, parse, request

from gnomon.errors import LeaderboardError

__all__ = ["ApiClient", "RefusedError"]

_LARGEST_ANSWER = 64 << 20
#: Statuses that may be others the next time.
_BUSY = (429, 502, 503, 504)


class RefusedError(LeaderboardError):
    """The server said no; ``status`` is that of the answer."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ApiClient:
    """A leaderboard at an address, with a token.

    Parameters
    ----------
    url : str
        ``http://...`` or ``https://...``.
    token : str
        An API token, or ``""``.
    patience_s : float
        How long a server may be away, or busy, before it is given up.
    timeout_s : float
        Most seconds for one answer.

    Raises
    ------
    LeaderboardError
        The address is not one.
    """

    def __init__(
        self, url: str, token: str = "", *, patience_s: float = 30.0, timeout_s: float = 600.0
    ) -> None:
        parts = parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise LeaderboardError(f"expected an address as http://HOST:PORT, found {url!r}")
        if not token.isascii() or any(letter.isspace() for letter in token):
            raise LeaderboardError("expected a token as gnomon_..., found other letters")
        self.url = url.rstrip("/")
        self._token, self._patience_s, self._timeout_s = token, patience_s, timeout_s
        # A proxy of the environment is for the world outside; a token must not pass through it.
        self._direct = request.build_opener(request.ProxyHandler({}))

    def get(self, path: str) -> Any:
        """Return the JSON at a path; errors as :meth:`ask`."""
        return self.ask("GET", path)

    def text(self, path: str) -> str:
        """Return the text at a path; errors as :meth:`ask`."""
        return self._patiently("GET", path, None, "").decode()

    def ask(self, method: str, path: str, value: Any = None, *, data: bytes | None = None) -> Any:
        """Send a record, or bytes, and return the JSON of the answer.

        Every request of ours may be sent twice, so it is sent again until there is an answer.

        Raises
        ------
        RefusedError
            The server said no.
        LeaderboardError
            There was no answer in time, or not of a leaderboard.
        """
        kind = "application/octet-stream" if data is not None else "application/json"
        body = data if data is not None or value is None else json.dumps(value).encode()
        answer = self._patiently(method, path, body, kind)
        try:
            return json.loads(answer) if answer else None
        except ValueError:
            raise LeaderboardError(f"{self.url}: expected a leaderboard's JSON") from None

    def _patiently(self, method: str, path: str, body: bytes | None, kind: str) -> bytes:
        return _until_answered(
            lambda: self._once(method, path, body, kind), self.url, self._patience_s
        )

    def _once(self, method: str, path: str, body: bytes | None, kind: str) -> bytes:
        message = request.Request(self.url + path, body, method=method)
        message.add_header("Accept", "application/json")
        if kind:
            message.add_header("Content-Type", kind)
        if self._token:
            # Not sent on to wherever the answer may point.
            message.add_unredirected_header("Authorization", f"Bearer {self._token}")
        with self._direct.open(message, timeout=self._timeout_s) as answer:
            data: bytes = answer.read(_LARGEST_ANSWER)
            # Of a server that dies after its headers, a read of so many bytes says nothing.
            promised = int(_number(answer.headers.get("Content-Length")))
            missing = min(promised, _LARGEST_ANSWER) - len(data)
            if missing > 0:
                raise http.client.IncompleteRead(data, missing)
            return data


def _until_answered(ask: Callable[[], bytes], url: str, patience_s: float) -> bytes:
    """Ask until there is an answer, or patience ends."""
    end, pause = time.monotonic() + patience_s, 0.2
    while True:
        try:
            return ask()
        except error.HTTPError as refusal:
            with refusal:
                reason = _reason(refusal)
            wait = max(pause, _number(refusal.headers.get("Retry-After")))
            if refusal.code not in _BUSY or time.monotonic() + wait > end:
                raise RefusedError(f"{url}: {reason}", refusal.code) from None
        except (OSError, http.client.HTTPException) as failure:
            wait = pause
            if time.monotonic() + wait > end:
                why = getattr(failure, "reason", None) or failure
                raise LeaderboardError(f"{url}: cannot be reached: {why}") from None
        time.sleep(wait)
        pause = min(2 * pause, 2.0)


def _reason(refusal: error.HTTPError) -> str:
    """Return why the server said no, on one line."""
    said = refusal.read(2000)
    try:
        detail = json.loads(said)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = refusal.reason
    return f"{refusal.code}: {str(detail).splitlines()[0] if detail else 'no reason'}"


def _number(text: str | None) -> float:
    """Return the number that a header holds; 0 if it holds none."""
    return float(text) if text and text.isdigit() else 0.0
