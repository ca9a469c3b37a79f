"""Posting JSON and reading the answer, with the patience that a busy server needs."""

from __future__ import annotations

import json
import time
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib import error, request

from gnomon.errors import GnomonError

__all__ = ["post_json"]

_LARGEST_ANSWER, _PART = 4_000_000, 65_536
#: Statuses that may be others the next time.
_BUSY = (408, 429, 500, 502, 503, 504)
_FIRST_PAUSE_S = 0.5


def post_json(
    url: str, body: dict[str, Any], *, key: str = "", timeout_s: float, max_tries: int
) -> Any:
    """Post a record, and return the answer.

    Parameters
    ----------
    url : str
        Reached directly: proxies of the environment are for the world outside. Nor does it lead
        elsewhere, or the key would be sent there.
    body : dict
        What JSON can hold.
    key : str
        Sent as a bearer token, unless empty.
    timeout_s : float
        Most seconds for each try.
    max_tries : int
        How often it is sent at most, while the server says that it is busy. The pause before the
        next try is half a second, and twice as long each time.

    Raises
    ------
    GnomonError
        If there is no answer, or it is not JSON.
    """
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    message = request.Request(url, json.dumps(body).encode(), headers)
    direct = request.build_opener(request.ProxyHandler({}), _NoRedirects)
    for k in range(max_tries):
        try:
            with direct.open(message, timeout=timeout_s) as answer:
                return _read_json(url, _read(answer, timeout_s))
        except error.HTTPError as refusal:
            said = _said(refusal)
            if refusal.code not in _BUSY or k == max_tries - 1:
                raise GnomonError(f"{url}: status {refusal.code}: {said}") from None
        except TimeoutError:
            raise GnomonError(f"{url}: expected an answer within {timeout_s:g} s") from None
        except HTTPException as failure:
            raise GnomonError(f"{url}: expected an answer in HTTP, found {failure!r}") from None
        except OSError as failure:
            reason = getattr(failure, "reason", failure)
            raise GnomonError(f"{url}: cannot be reached: {reason}") from None
        time.sleep(_FIRST_PAUSE_S * 2**k)
    raise ValueError(f"max_tries: expected at least 1, found {max_tries}")


class _NoRedirects(request.HTTPRedirectHandler):
    """Takes an answer that leads elsewhere as it is."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


def _read(answer: HTTPResponse, timeout_s: float) -> bytes:
    """Return what is sent until now and a while: the time of a socket begins anew at each byte."""
    began, data = time.monotonic(), bytearray()
    while len(data) < _LARGEST_ANSWER and (part := answer.read1(_PART)):
        data += part
        if time.monotonic() - began > timeout_s:
            raise TimeoutError
    return bytes(data)


def _said(refusal: error.HTTPError) -> str:
    """Return the beginning of what goes with a refusal, on one line."""
    try:
        with refusal:
            return " ".join(refusal.read(300).decode(errors="replace").split())
    except (OSError, HTTPException):
        return "and no more"


def _read_json(url: str, data: bytes) -> Any:
    """Return what an answer says."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise GnomonError(f"{url}: expected JSON, found {data[:100]!r}") from None
