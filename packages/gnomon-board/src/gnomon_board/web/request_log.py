"""The log of a server: lines for people, or a JSON object a line, each with its request's id.

The id goes back to the client in the header ``X-Request-ID``, so that whoever reports a fault can
say which line of the log is its own. What is logged of a request is the pattern of its path: the
path itself may hold an invitation.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import Scope

LogFormat = Literal["text", "json"]
HEADER = "X-Request-ID"
_FORM = re.compile(r"[A-Za-z0-9._-]{1,64}")
_log = logging.getLogger("gnomon.requests")
#: The request that is being answered, in the task and the threads that answer it.
_current: ContextVar[str] = ContextVar("request", default="")


def begin_request(scope: Scope, *, believed: bool) -> str:
    """Return the id of a request that begins here, and note it for all that is logged of it.

    ``believed`` tells that a proxy of ours asks, whose own id is taken if it looks like one.
    """
    given = Headers(scope=scope).get(HEADER, "") if believed else ""
    found = given if _FORM.fullmatch(given) else secrets.token_hex(8)
    _current.set(found)
    return found


def current_request() -> str:
    """Return the id of the request that is being answered; empty outside of any."""
    return _current.get()


def log_request(scope: Scope, method: str, status: int, seconds: float) -> None:
    """Log an answer that begins: its route, status and time, and nobody's name."""
    # A request that was refused before it was routed has no route.
    route = getattr(scope.get("route"), "path", "")
    fields = {"method": method, "route": route, "status": status, "seconds": round(seconds, 6)}
    _log.info("%s %s %s", method, route or "-", status, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Format a record as one line of JSON, to be read by a program.

    Examples
    --------
    >>> record = logging.LogRecord("gnomon.server", logging.INFO, "", 0, "well", None, None)
    >>> sorted(json.loads(JsonLines().format(record)))
    ['level', 'logger', 'message', 'time']
    """

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if current_request():
            line["request"] = current_request()
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Lines(logging.Formatter):
    """Format a record as a line for people, with the id of the request that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the traceback below it."""
        text = super().format(record)
        return f"[{current_request()}] {text}" if current_request() else text


def log_to_stderr(log_format: LogFormat) -> None:
    """Send the log to standard error; requests stand in it where a program reads it."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = JsonLines() if log_format == "json" else Lines("%(name)s: %(message)s")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in ("alembic", "uvicorn"):  # the latter logs the address of each websocket
        logging.getLogger(name).setLevel(logging.WARNING)
    _log.setLevel(logging.INFO if log_format == "json" else logging.WARNING)
