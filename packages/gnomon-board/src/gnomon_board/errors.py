"""What a board rejects."""

from __future__ import annotations

from gnomon.errors import GnomonError


class LeaderboardError(GnomonError):
    """What a leaderboard refuses: a season file, a submission, a token, a missing extra."""
