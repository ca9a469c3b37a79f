"""Errors of a board, and of its clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gnomon.errors import GnomonError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import ValidationError


class LeaderboardError(GnomonError):
    """Base of all errors: of a season file, a submission, a token, a missing extra."""


class Refusal(LeaderboardError):  # noqa: N818 - its subclasses are named for the answer: Missing, Conflict
    """Invalid input; ``status`` is that of the answer in HTTP."""

    status: ClassVar[int] = 422


class NotAllowed(Refusal):
    """An action that is not allowed for the caller, or not at this time."""

    status = 403


class Missing(Refusal):
    """Something that does not exist."""

    status = 404


class Conflict(Refusal):
    """An action that conflicts with existing data."""

    status = 409


class TooLarge(Refusal):
    """Input with more bytes than the limit."""

    status = 413


class NoRoom(Refusal):
    """Input for which the server's disk has no room."""

    status = 507


class Damaged(Refusal):
    """Evidence or a database that is missing or damaged on the server; not the caller's fault."""

    status = 503


class TooMany(Refusal):
    """More requests than the limit in a window of time."""

    status = 429

    def __init__(self, message: str, retry_after_s: int = 60) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RefusedError(GnomonError):
    """An answer with a status of 300 or more, which ``status`` holds."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def wrong_field(errors: ValidationError, known: Iterable[str] = ()) -> LeaderboardError:
    """Return an error that names an invalid field of a file and the reason; items count from 1.

    An unknown field comes first, since it may be the cause of a missing one.
    """
    first = min(errors.errors(), key=lambda each: each["type"] != "extra_forbidden")
    place = [str(part + 1) if isinstance(part, int) else part for part in first["loc"]]
    reason = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        reason = str(UnknownNameError("field", place[-1], known))
    return LeaderboardError(f"field {'.'.join(place)!r}: {reason}" if place else reason)
