"""Backup and restore of a server, taken while it runs.

::

    backup.json          version, moment, number of rows of each table
    leaderboard.sqlite   every table, whichever database they came from
    evidence/ab/abcd...  the logs of the submissions in these tables

It holds hashes of tokens, the key that assigns seeds, and hidden rules: protect it like the folder
of the server. The attempts that replays show are not in it; they are read from the logs again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, Table, func, insert, select, text

from gnomon import __version__
from gnomon.files import write_atomically
from gnomon_board.database.columns import Base, now
from gnomon_board.database.engine import Database
from gnomon_board.database.migration import current_revision, require_head, upgrade
from gnomon_board.database.schema import Submission
from gnomon_board.errors import LeaderboardError
from gnomon_board.leaderboard.evidence import evidence_path, is_sound, sound_log
from gnomon_board.leaderboard.server_settings import Settings

_MANIFEST = "backup.json"
_DATABASE = "leaderboard.sqlite"
_CHUNK = 1000


def back_up(settings: Settings, database: Database, out: Path) -> dict[str, Any]:
    """Write a backup into a new folder; the server may be running.

    The tables are a snapshot. Their logs are older and never change, so they can be copied
    afterwards.

    Returns the contents of ``backup.json``.

    Raises LeaderboardError: the folder is not empty, or a log is missing or damaged, which
    ``/healthz`` reports from then on.
    """
    require_head(database)
    _make_empty(out)
    _copy_database(database, out / _DATABASE)
    copied = Database(f"sqlite:///{out / _DATABASE}")
    try:
        n_logs = 0
        for submission in _with_logs(copied):
            log = sound_log(database, settings, submission)
            n_logs += _copied(log, out / "evidence" / log.parent.name / log.name)
        with copied.engine.begin() as connection:
            counts = _row_counts(connection)
        revision = current_revision(copied)
        _one_file(copied)
    finally:
        copied.close()
    record = {
        "format": 1,
        "gnomon": __version__,
        "revision": revision,
        "taken": now().isoformat(timespec="seconds"),
        "rows": counts,
        "logs": n_logs,
    }
    # Written last: a backup without it is incomplete.
    write_atomically(out / _MANIFEST, json.dumps(record, indent=2).encode() + b"\n")
    return record


def restore(backup: Path, settings: Settings) -> dict[str, Any]:
    """Make the data folder and the database of a server from a backup; both must be new.

    The tables of an older backup are migrated to this version.

    Raises LeaderboardError: the backup is incomplete or damaged, or there is a leaderboard already.
    """
    record = _read_manifest(backup)
    if settings.evidence.exists() and any(settings.evidence.iterdir()):
        raise LeaderboardError(f"{settings.evidence}: expected no logs yet, found some")
    settings.data.mkdir(parents=True, exist_ok=True)
    settings.data.chmod(0o700)
    held = settings.data / ".restoring.sqlite"
    target = Database(settings.database)
    if target.file is not None and target.file.exists():
        target.close()
        raise LeaderboardError(f"{target.file}: expected no leaderboard yet, found one")
    shutil.copyfile(backup / _DATABASE, held)
    source = Database(f"sqlite:///{held}")
    try:
        _check(source, record)
        upgrade(source)
        n_logs = 0
        for submission in _with_logs(source):
            place = evidence_path(settings, str(submission.log_sha256))
            n_logs += _copied(backup / "evidence" / place.parent.name / place.name, place)
        if current_revision(target) is None:
            upgrade(target)
        _copy_tables(source, target)
    finally:
        source.close()
        target.close()
        for leftover in settings.data.glob(".restoring.sqlite*"):
            leftover.unlink()
    return record | {"logs": n_logs}


def _make_empty(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise LeaderboardError(f"{out}: expected a new or empty folder")
    out.mkdir(parents=True, exist_ok=True)
    out.chmod(0o700)


def _copy_database(database: Database, path: Path) -> None:
    """Write a snapshot of all tables into one SQLite file."""
    if database.is_sqlite:
        with database.engine.connect() as connection:
            # Outside of a transaction, so that readers and writers continue.
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.execute("VACUUM INTO ?", (str(path),))
        return
    copy = Database(f"sqlite:///{path}")
    try:
        upgrade(copy)
        _copy_tables(database, copy)
    finally:
        copy.close()


def _one_file(database: Database) -> None:
    """Merge the write-ahead log, so that one file remains."""
    with database.engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert raw is not None
        raw.execute("PRAGMA journal_mode = DELETE").fetchall()


def _with_logs(database: Database) -> Iterator[Submission]:
    """Yield every submission that has a log; the moves of unfinished trials are in the tables."""
    with database.reading() as session:
        came = select(Submission).where(Submission.log_sha256.is_not(None))
        yield from session.scalars(came.order_by(Submission.id))


def _copied(source: Path, target: Path) -> bool:
    """Copy a log and check the copy; return False if it was copied before."""
    if target.exists():  # the same log in another season
        return False
    if not source.exists():
        raise LeaderboardError(f"{source}: expected the log of a submission, found nothing")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    if not is_sound(target, target.name):
        raise LeaderboardError(f"{source}: expected the log with this SHA-256, found other bytes")
    return True


def _read_manifest(backup: Path) -> dict[str, Any]:
    try:
        record = json.loads((backup / _MANIFEST).read_bytes())
        if record["format"] == 1 and isinstance(record["rows"], dict):
            found: dict[str, Any] = record
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise LeaderboardError(f"{backup}: expected a whole backup, with a {_MANIFEST} of format 1")


def _check(database: Database, record: dict[str, Any]) -> None:
    """Refuse a database that is damaged or does not belong to this backup."""
    with database.engine.begin() as connection:
        verdict = connection.scalar(text("PRAGMA integrity_check"))
        found = {
            name: connection.scalar(text(f'SELECT COUNT(*) FROM "{name}"'))
            for name in record["rows"]
            if name.isidentifier()
        }
    if verdict != "ok" or found != record["rows"]:
        raise LeaderboardError("the backup's database is damaged")


def _copy_tables(source: Database, target: Database) -> dict[str, int]:
    """Copy a snapshot of all rows into an empty leaderboard of the same version.

    Returns the number of rows of each table.

    Raises LeaderboardError: the target has rows, or the versions differ.
    """
    require_head(source)
    require_head(target)
    writing = target.engine.execution_options(gnomon_writing=True)
    with _snapshot(source) as reading, writing.begin() as there:
        for table in Base.metadata.sorted_tables:
            if there.scalar(select(func.count()).select_from(table)):
                raise LeaderboardError(f"expected an empty leaderboard, found rows in {table.name}")
        counts = {}
        for table in Base.metadata.sorted_tables:
            counts[table.name] = _copy(table, reading, there)
        if not target.is_sqlite:
            _set_sequences(there)
        if counts != _row_counts(there):
            raise LeaderboardError("expected as many rows as were copied, found others")
    return counts


def _snapshot(database: Database) -> Any:
    """Return a context manager of a connection that sees a snapshot of the database."""
    if database.is_sqlite:  # as every transaction with a write-ahead log does
        return database.engine.begin()
    return database.engine.execution_options(isolation_level="REPEATABLE READ").begin()


def _row_counts(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {
        table.name: connection.scalar(select(func.count()).select_from(table)) or 0
        for table in Base.metadata.sorted_tables
    }


def _copy(table: Table, source: Connection, target: Connection) -> int:
    n = 0
    for rows in _rows(table, source).partitions(_CHUNK):
        target.execute(insert(table), [row._asdict() for row in rows])
        n += len(rows)
    return n


def _rows(table: Table, connection: Connection) -> CursorResult[Any]:
    query = select(table).order_by(*table.primary_key.columns)
    return connection.execute(query, execution_options={"yield_per": _CHUNK})


def _set_sequences(connection: Connection) -> None:
    """Make PostgreSQL continue after the highest copied id."""
    for table in Base.metadata.sorted_tables:
        if "id" in table.columns:
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                    f"COALESCE(MAX(id), 1), MAX(id) IS NOT NULL) FROM {table.name}"
                )
            )
