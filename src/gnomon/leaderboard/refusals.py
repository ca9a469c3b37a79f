"""What the server refuses, by kind: each has the status of the answer that tells of it."""

from __future__ import annotations

from gnomon.errors import LeaderboardError

__all__ = ["Conflict", "Missing", "NotAllowed", "Refusal", "TooLarge", "TooMany"]


class Refusal(LeaderboardError):  # noqa: N818 - what a server does, not what goes wrong in it
    """Input that is not as it should be: status 422."""

    status = 422


class NotAllowed(Refusal):
    """Something that is not the caller's to do, or not now: status 403."""

    status = 403


class Missing(Refusal):
    """Something that is not there: status 404."""

    status = 404


class Conflict(Refusal):
    """Something that goes against what is there already: status 409."""

    status = 409


class TooLarge(Refusal):
    """More bytes than are taken: status 413."""

    status = 413


class TooMany(Refusal):
    """More than may be asked in a while: status 429.

    Parameters
    ----------
    message : str
    retry_after_s : int
        Seconds until the next will be answered.
    """

    status = 429

    def __init__(self, message: str, retry_after_s: int = 60) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
