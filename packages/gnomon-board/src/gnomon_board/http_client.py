"""A JSON client over HTTP that retries a busy or absent server, within bounds on tries and time."""

from __future__ import annotations

import contextlib
import datetime
import email.utils
import http.client
import ipaddress
import json
import math
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final
from urllib import parse, request
from urllib.error import HTTPError

from gnomon.errors import GnomonError
from gnomon_board.errors import RefusedError

_LARGEST_ANSWER, _LARGEST_REFUSAL, _PART = 64 << 20, 2000, 65_536
#: Statuses that are worth another try.
_BUSY = (408, 429, 500, 502, 503, 504)
#: Seconds before the second try, doubled before each later one up to the longest.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 2.0


@final
class Client:
    """A server at an address that answers in JSON.

    A request is sent again while the server is busy, cannot be reached, or stops before the end of
    its answer; the pause is that of ``Retry-After``, else 0.2 s, doubled each time up to 2 s.
    Therefore every request must be safe to send twice. Proxies of the environment are not used and
    redirections not followed: a token must not go elsewhere.

    Parameters
    ----------
    url : str
        ``http://...`` or ``https://...``; the prefix of each path.
    token : str
        Sent as a bearer token, unless empty.
    timeout_s : float
        Most seconds for one try, from the first byte sent to the last received; a try that takes
        longer is the last.
    patience_s : float
        Most seconds between the first failure and the last try.
    max_tries : int or None
        Most times that a request is sent; None for no bound.
    headers : mapping of str to str
        Sent with every request, in addition to the client's own.
    insecure : bool
        Whether a token may be sent without encryption to another machine.

    Raises
    ------
    GnomonError
        The address is not valid, the token would go to another machine over ``http://``, or it
        has characters that a header cannot hold.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        timeout_s: float = 600.0,
        patience_s: float = 30.0,
        max_tries: int | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        insecure: bool = False,
    ) -> None:
        if not is_address(url):
            raise GnomonError(f"expected an address as http://HOST:PORT, found {url!r}")
        parts = parse.urlsplit(url)
        if token and not insecure and parts.scheme == "http" and not _is_here(parts.hostname or ""):
            raise GnomonError(
                f"{url}: expected https:// for another machine, found http://, over which anyone "
                "on the way reads the token and changes the answers (--insecure permits it)"
            )
        if not token.isascii() or any(letter.isspace() for letter in token):
            raise GnomonError(f"{url}: expected a token of ASCII without blanks, found others")
        self.url = url.rstrip("/")
        self._headers = {"Accept": "application/json", **headers}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout_s, self._patience_s = timeout_s, patience_s
        self._max_tries = math.inf if max_tries is None else max_tries
        self._opener = request.build_opener(request.ProxyHandler({}), _NoRedirects)

    def get(self, path: str) -> Any:
        """Return the JSON at a path; errors as :meth:`ask`."""
        return self.ask("GET", path)

    def text(self, path: str) -> str:
        """Return the text at a path; errors as :meth:`ask`."""
        return self._bytes("GET", path, None, {}).decode(errors="replace")

    def ask(
        self,
        method: str,
        path: str,
        value: Any = None,
        *,
        data: bytes | None = None,
        form: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a record as JSON, bytes, or a form, and return the JSON of the answer.

        An empty answer is None.

        Raises
        ------
        RefusedError
            The server refused; the message has its reason.
        GnomonError
            There was no answer in HTTP and JSON within the bounds.
        """
        headers = {}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            data = parse.urlencode(form).encode()
        elif data is not None:
            headers["Content-Type"] = "application/octet-stream"
        elif value is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(value).encode()
        answer = self._bytes(method, path, data, headers)
        try:
            return json.loads(answer) if answer else None
        except (ValueError, RecursionError):
            raise GnomonError(f"{self.url}: expected JSON, found {answer[:100]!r}") from None

    def _bytes(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        """Return the body of an answer, with tries until a bound is reached."""
        message = request.Request(
            self.url + path, body, {**self._headers, **headers}, method=method
        )
        n_tries, pause, end = 0, _FIRST_PAUSE_S, math.inf
        while True:
            n_tries += 1
            wait = pause
            try:
                return self._once(message)
            except HTTPError as refusal:
                asked = _wait(refusal.headers.get("Retry-After"))
                failure: GnomonError = _refused(self.url, refusal, asked)
                wait = max(pause, asked)
                again = refusal.code in _BUSY
            except TimeoutError:
                text = f"{self.url}: expected an answer within {self._timeout_s:g} s"
                failure, again = GnomonError(text), False
            except (OSError, http.client.IncompleteRead) as error:
                why = getattr(error, "reason", None) or error
                failure, again = GnomonError(f"{self.url}: cannot be reached: {why}"), True
            except http.client.HTTPException as error:
                text = f"{self.url}: expected an answer in HTTP, found {error!r}"
                failure, again = GnomonError(text), False
            end = min(end, time.monotonic() + self._patience_s)
            if not again or n_tries >= self._max_tries or time.monotonic() + wait > end:
                raise failure
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _once(self, message: request.Request) -> bytes:
        with self._opener.open(message, timeout=self._timeout_s) as answer:
            data = _read(answer, self._timeout_s)
            # A partial read does not show that a server died after its headers.
            promised = _seconds(answer.headers.get("Content-Length"))
            missing = int(min(promised, _LARGEST_ANSWER)) - len(data)
            if missing > 0:
                raise http.client.IncompleteRead(data, missing)
            return data


class _NoRedirects(request.HTTPRedirectHandler):
    """Handler that returns a redirection as the answer."""

    def redirect_request(self, *_: Any) -> None:
        """Follow no redirection."""


def _is_here(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_address(url: str) -> bool:
    """Return whether requests can be sent to an address.

    Examples
    --------
    >>> is_address("http://127.0.0.1:8000"), is_address("file:///etc"), is_address("http://:80")
    (True, False, False)
    """
    try:
        parts = parse.urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, or an invalid address in brackets
        return False


def _read(answer: http.client.HTTPResponse, timeout_s: float) -> bytes:
    """Return a body up to the limit; a socket's own time-out would restart at each byte."""
    began, data = time.monotonic(), bytearray()
    while len(data) < _LARGEST_ANSWER and (part := answer.read1(_PART)):
        data += part
        if time.monotonic() - began > timeout_s:
            raise TimeoutError
    return bytes(data)


def _refused(url: str, refusal: HTTPError, wait_s: float) -> RefusedError:
    """Return the server's reason on one line: from its JSON, or the beginning of its text."""
    try:
        with refusal:
            said = refusal.read(_LARGEST_REFUSAL)
    except (OSError, http.client.HTTPException):
        said = b""
    error: Any = {}
    try:
        record = json.loads(said)
        error = record.get("error")
        told = str(record["detail"] if "detail" in record else error["message"])
        reason = told.splitlines()[0] if told else "no reason"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        page = said.lstrip().startswith(b"<")
        text = " ".join(said[:300].decode(errors="replace").split())
        reason = text if text and not page else str(refusal.reason)
    message = f"{url}: status {refusal.code}: {reason}"
    return RefusedError(message, refusal.code, error if isinstance(error, dict) else {}, wait_s)


def _wait(header: str | None) -> float:
    """Return the seconds of a Retry-After, which may be a date; 0 if it is neither."""
    with contextlib.suppress(ValueError, TypeError):
        then = email.utils.parsedate_to_datetime(header or "")
        return max((then - datetime.datetime.now(then.tzinfo)).total_seconds(), 0.0)
    return _seconds(header)


def _seconds(header: str | None) -> float:
    """Return the number in a header; 0 if there is none."""
    try:
        number = float(header or 0)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) and number > 0 else 0.0
