"""What a board rejects, and what a client is told of it.

:mod:`gnomon_board.web.api.records` has the status of each kind of :class:`Refusal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from pydantic import ValidationError

Kind = Literal[
    "invalid",
    "unauthenticated",
    "not allowed",
    "missing",
    "conflict",
    "too large",
    "too many",
    "no room",
    "damaged",
]


class LeaderboardError(GnomonError):
    """What a leaderboard refuses: a season file, a submission, a token, a missing extra."""


class Refusal(LeaderboardError):  # noqa: N818 - what a server does, not what goes wrong in it
    """Input that is not as it should be."""

    kind: ClassVar[Kind] = "invalid"


class NotAllowed(Refusal):
    """Something that the caller may not do, or not now."""

    kind = "not allowed"


class Missing(Refusal):
    """Something that does not exist."""

    kind = "missing"


class Conflict(Refusal):
    """Something that contradicts what exists already."""

    kind = "conflict"


class TooLarge(Refusal):
    """More bytes than are taken."""

    kind = "too large"


class NoRoom(Refusal):
    """Something for which the server's disk has no room."""

    kind = "no room"


class Damaged(Refusal):
    """Evidence or a database that is missing or damaged on the server: no fault of the caller."""

    kind = "damaged"


class TooMany(Refusal):
    """More requests than are answered in a window of time."""

    kind = "too many"

    def __init__(self, message: str, retry_after_s: int = 60) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RefusedError(GnomonError):
    """An answer with a status of 300 or more.

    ``status`` is that status, ``error`` the table of that name in a JSON answer (else empty), and
    ``wait_s`` the seconds after which the server asks to be asked again, 0 if it does not say.
    """

    def __init__(
        self, message: str, status: int, error: Mapping[str, Any] | None = None, wait_s: float = 0.0
    ) -> None:
        super().__init__(message)
        self.status, self.error, self.wait_s = status, error or {}, wait_s


def wrong_field(errors: ValidationError) -> LeaderboardError:
    """Return the error that names the first wrong field of a file, and what is wrong with it."""
    first = errors.errors(include_url=False, include_context=False)[0]
    where = ", ".join(repr(part) for part in first["loc"] if isinstance(part, str))
    return LeaderboardError(f"field {where}: {first['msg']}")
