"""The log of a server: lines for people, or one JSON object per line, with the request's id.

The id is returned to the client in the header ``X-Request-ID``, so that a report of a fault can
name its line in the log. The pattern of the path is logged, not the path itself, which may contain
an invitation.
"""

from __future__ import annotations

import json
import logging
import secrets
import sys
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from starlette.types import Scope

LogFormat = Literal["text", "json"]
HEADER = "X-Request-ID"
_log = logging.getLogger("gnomon.requests")
#: Id of the current request, in the task and the threads that answer it.
CURRENT: ContextVar[str] = ContextVar("request", default="")


def begin_request() -> str:
    """Return the id of a new request, and set it for its log lines."""
    found = secrets.token_hex(8)
    CURRENT.set(found)
    return found


def log_request(scope: Scope, method: str, status: int, seconds: float) -> None:
    """Log the start of an answer with its route, status and time, without any name."""
    # A request refused before routing has no route.
    route = getattr(scope.get("route"), "path", "")
    fields = {"method": method, "route": route, "status": status, "seconds": round(seconds, 6)}
    _log.info("%s %s %s", method, route or "-", status, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Format a record as one line of JSON, to be read by a program."""

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
        if CURRENT.get():
            line["request"] = CURRENT.get()
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Lines(logging.Formatter):
    """Format a record as a line for people, with the id of its request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by the traceback if any."""
        text = super().format(record)
        return f"[{CURRENT.get()}] {text}" if CURRENT.get() else text


def log_to_stderr(log_format: LogFormat) -> None:
    """Write the log to standard error; only the JSON format includes each request."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = JsonLines() if log_format == "json" else Lines("%(name)s: %(message)s")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in ("alembic", "uvicorn"):
        logging.getLogger(name).setLevel(logging.WARNING)
    _log.setLevel(logging.INFO if log_format == "json" else logging.WARNING)
