"""A JSON client over HTTP that retries a busy or absent server, within bounds on time."""

from __future__ import annotations

import http.client
import ipaddress
import json
import math
import time
import weakref
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from gnomon.errors import GnomonError
from gnomon_board.errors import RefusedError

_LARGEST_ANSWER, _PART = 64 << 20, 65_536
#: Statuses that are worth another try.
_BUSY = (408, 429, 500, 502, 503, 504)
#: Seconds before the second try, doubled before each later one up to the longest.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 2.0


class HttpClient:
    """A server at an address that answers in JSON, over one connection that stays open.

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
        insecure: bool = False,
    ) -> None:
        if not is_address(url):
            raise GnomonError(f"expected an address as http://HOST:PORT, found {url!r}")
        parts = urlsplit(url)
        if token and not insecure and parts.scheme == "http" and not _is_here(parts.hostname or ""):
            raise GnomonError(
                f"{url}: expected https:// for another machine, found http://, over which anyone "
                "on the way reads the token and changes the answers (--insecure permits it)"
            )
        if not token.isascii() or any(letter.isspace() for letter in token):
            raise GnomonError(f"{url}: expected a token of ASCII without blanks, found others")
        self.url = url.rstrip("/")
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout_s, self._patience_s = timeout_s, patience_s
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        weakref.finalize(self, self._connection.close)

    def get(self, path: str) -> Any:
        """Return the JSON at a path; errors as :meth:`ask`."""
        return self.ask("GET", path)

    def text(self, path: str) -> str:
        """Return the text at a path; errors as :meth:`ask`."""
        return self._bytes("GET", path, None, {}).decode(errors="replace")

    def ask(self, method: str, path: str, value: Any = None, *, data: bytes | None = None) -> Any:
        """Send a record as JSON, or bytes, and return the JSON of the answer.

        An empty answer is None.

        Raises
        ------
        RefusedError
            The server refused; the message has its reason.
        GnomonError
            There was no answer in HTTP and JSON within the bounds.
        """
        headers = {}
        if data is not None:
            headers["Content-Type"] = "application/octet-stream"
        elif value is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(value).encode()
        answer = self._bytes(method, path, data, headers)
        try:
            return json.loads(answer) if answer else None
        except (ValueError, RecursionError):
            raise GnomonError(f"{self.url}: expected JSON, found {answer[:100]!r}") from None

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        self._connection.close()

    def _bytes(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        """Return the body of an answer, with tries until a bound is reached."""
        message = (method, self._prefix + path, body, self._headers | headers)
        pause, end = _FIRST_PAUSE_S, math.inf
        while True:
            was_open, wait = self._connection.sock is not None, pause
            try:
                answer, data = self._once(*message)
                if answer.status < 300:
                    return data
                failure: GnomonError = _refused(self.url, answer, data)
                wait, again = max(pause, _number(answer, "Retry-After")), answer.status in _BUSY
            except TimeoutError:
                text = f"{self.url}: expected an answer within {self._timeout_s:g} s"
                failure, again = GnomonError(text), False
            except (OSError, http.client.IncompleteRead) as error:
                if was_open:  # the server may have closed a connection that was idle
                    continue
                failure, again = GnomonError(f"{self.url}: cannot be reached: {error}"), True
            except http.client.HTTPException as error:
                text = f"{self.url}: expected an answer in HTTP, found {error!r}"
                failure, again = GnomonError(text), False
            end = min(end, time.monotonic() + self._patience_s)
            if not again or time.monotonic() + wait > end:
                raise failure
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request and read its answer; after an error the connection is closed."""
        began = time.monotonic()
        try:
            self._connection.request(method, path, body, headers)
            answer, data = self._connection.getresponse(), bytearray()
            promised = min(_number(answer, "Content-Length", math.inf), _LARGEST_ANSWER)
            # A socket's own time-out would restart at each byte.
            while part := answer.read1(int(min(_PART, promised - len(data)))):
                data += part
                if time.monotonic() - began > self._timeout_s:
                    raise TimeoutError
            # A partial read does not show that a server died after its headers.
            if len(data) < promised < _LARGEST_ANSWER:
                raise http.client.IncompleteRead(bytes(data), int(promised) - len(data))
            answer.close()
        except BaseException:
            self.close()
            raise
        if len(data) >= _LARGEST_ANSWER:  # the rest was not read
            self.close()
        return answer, bytes(data)


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
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, or an invalid address in brackets
        return False


def _refused(url: str, answer: http.client.HTTPResponse, said: bytes) -> RefusedError:
    """Return the server's reason on one line: from its JSON, or the beginning of its text."""
    text = "" if said.lstrip().startswith(b"<") else said[:300].decode(errors="replace")
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        text = str(json.loads(said)["detail"]).partition("\n")[0]
    reason = " ".join(text.split()) or answer.reason
    return RefusedError(f"{url}: status {answer.status}: {reason}", answer.status)


def _number(answer: http.client.HTTPResponse, header: str, default: float = 0.0) -> float:
    """Return the number in a header, or a default."""
    try:
        number = float(answer.getheader(header, ""))
    except ValueError:
        return default
    return number if math.isfinite(number) and number >= 0 else default
