"""Moving a leaderboard to another database: from SQLite to PostgreSQL, or back."""

from __future__ import annotations

from gnomon.database.engine import Database
from gnomon.database.migration import current_revision, require_head, upgrade
from gnomon.errors import LeaderboardError
from gnomon.web.operations.table_copy import (
    copy_tables,
    row_counts,
    snapshot,
    table_digests,
)

__all__ = ["transfer"]


def transfer(source: Database, target: Database) -> dict[str, int]:
    """Copy everything into an empty database, and see that it arrived.

    The server must not run: what is written meanwhile would be left behind. The logs stay where
    they are, in the data folder.

    Returns
    -------
    dict from str to int
        Number of rows of each table.

    Raises
    ------
    LeaderboardError
        The target has rows, the source has changed meanwhile, or a row did not arrive as it was.
    """
    if source.url == target.url:
        raise LeaderboardError("expected two databases, found one twice")
    require_head(source)
    if current_revision(target) is None:
        upgrade(target)
    counts = copy_tables(source, target)
    with snapshot(source) as here, snapshot(target) as there:
        if row_counts(here) != counts:
            raise LeaderboardError("the source has changed meanwhile: stop the server first")
        before, after = table_digests(here), table_digests(there)
    differing = [name for name, digest in before.items() if after[name] != digest]
    if differing:
        raise LeaderboardError(f"not everything arrived as it was: {', '.join(differing)}")
    return counts
