"""Transfer of all rows from one database to another, SQLite or PostgreSQL."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Connection, CursorResult, Table, func, insert, select, text

from gnomon.database import schema
from gnomon.database.columns import Base
from gnomon.database.engine import Database
from gnomon.database.migration import current_revision, require_head, upgrade
from gnomon.errors import LeaderboardError

#: Imported for what it adds to the metadata.
_SCHEMA = schema
_CHUNK = 1000


def copy_tables(source: Database, target: Database) -> dict[str, int]:
    """Copy every row, as it is at one moment, into an empty leaderboard of the same version.

    Returns the number of rows of each table.

    Raises LeaderboardError: the target has rows, or one of the two is of another version.
    """
    require_head(source)
    require_head(target)
    writing = target.engine.execution_options(gnomon_writing=True)
    with snapshot(source) as reading, writing.begin() as there:
        for table in Base.metadata.sorted_tables:
            if there.scalar(select(func.count()).select_from(table)):
                raise LeaderboardError(f"expected an empty leaderboard, found rows in {table.name}")
        counts = {}
        for table in Base.metadata.sorted_tables:
            counts[table.name] = _copy(table, reading, there)
        if not target.is_sqlite:
            _set_sequences(there)
        if counts != row_counts(there):
            raise LeaderboardError("expected as many rows as were copied, found others")
    return counts


def snapshot(database: Database) -> Any:
    """Return a connection, as a context, that sees the database as it is at one moment."""
    if database.is_sqlite:  # a transaction of a write-ahead log sees just that
        return database.engine.begin()
    return database.engine.execution_options(isolation_level="REPEATABLE READ").begin()


def row_counts(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {
        table.name: connection.scalar(select(func.count()).select_from(table)) or 0
        for table in Base.metadata.sorted_tables
    }


def table_digests(connection: Connection) -> dict[str, str]:
    """Return a hash of each table's rows, the same whatever kind of database holds them."""
    digests = {}
    for table in Base.metadata.sorted_tables:
        digest = hashlib.sha256()
        for row in _rows(table, connection):
            digest.update(json.dumps(list(row), default=_plain, sort_keys=True).encode())
        digests[table.name] = digest.hexdigest()
    return digests


def _copy(table: Table, source: Connection, target: Connection) -> int:
    n = 0
    for rows in _rows(table, source).partitions(_CHUNK):
        target.execute(insert(table), [row._asdict() for row in rows])
        n += len(rows)
    return n


def _rows(table: Table, connection: Connection) -> CursorResult[Any]:
    query = select(table).order_by(*table.primary_key.columns)
    return connection.execute(query, execution_options={"yield_per": _CHUNK})


def _plain(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _set_sequences(connection: Connection) -> None:
    """Let PostgreSQL go on counting behind the ids that were copied."""
    for table in Base.metadata.sorted_tables:
        if "id" in table.columns:
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                    f"COALESCE(MAX(id), 1), MAX(id) IS NOT NULL) FROM {table.name}"
                )
            )


def transfer(source: Database, target: Database) -> dict[str, int]:
    """Copy everything into an empty database, and see that it arrived.

    The server must not run: what is written meanwhile would be left behind. The logs stay where
    they are, in the data folder.

    Returns the number of rows of each table.

    Raises LeaderboardError: the target has rows, the source has changed meanwhile, or a row did not
    arrive as it was.
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
