"""Whether contestants can be ordered at all: who met whom, and by which chains."""

from __future__ import annotations

from gnomon.errors import ScoreDataError
from gnomon.ranking.tournament import Tournament

__all__ = ["not_connected", "require_connection", "require_meetings"]

#: A message names so many groups, and so many of each.
MOST_SHOWN = 6


def require_meetings(tournament: Tournament) -> None:
    """Refuse a tournament in which nobody met anybody.

    Raises
    ------
    ScoreDataError
        There is no edge.
    """
    if tournament.n_edges == 0:
        raise ScoreDataError(
            f"expected two {tournament.by}s with scores on a common {_ground(tournament)}; found "
            "none, so there is nothing to order them by"
        )


def require_connection(tournament: Tournament, method: str) -> None:
    """Refuse a tournament in which not everybody can be ordered against everybody.

    Raises
    ------
    ScoreDataError
        Nobody met anybody, or there are groups that no chain of meetings connects.
    """
    require_meetings(tournament)
    if len(tournament.components) > 1:
        raise ScoreDataError(
            f"{method}: expected {tournament.by}s that common {_ground(tournament)}s connect, as "
            f"only hodge rates groups by themselves; {not_connected(tournament)}"
        )


def not_connected(tournament: Tournament) -> str:
    """Say which groups no common ground connects."""
    parts = [[tournament.names[i] for i in part] for part in tournament.components]
    shown = "; ".join(
        ", ".join(part[:MOST_SHOWN]) + (", ..." if len(part) > MOST_SHOWN else "")
        for part in parts[:MOST_SHOWN]
    )
    return (
        f"{len(parts)} groups share no {_ground(tournament)} and cannot be ordered against each "
        f"other: {shown}" + ("; ..." if len(parts) > MOST_SHOWN else "")
    )


def _ground(tournament: Tournament) -> str:
    return "task" if tournament.by == "algorithm" else "algorithm"
