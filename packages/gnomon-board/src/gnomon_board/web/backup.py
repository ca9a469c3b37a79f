"""Backup and restore of a board with a SQLite file, taken while the server runs.

::

    backup.json          version, moment, hashes of the database and of damaged logs
    leaderboard.sqlite   every table
    evidence/ab/abcd...  the logs of the submissions in these tables

It holds hashes of tokens, the key that assigns seeds, and hidden rules: protect it like the folder
of the server. The attempts that replays show are not in it; they are read from the logs again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import select

from gnomon import __version__
from gnomon.text_files import write_atomically
from gnomon_board.database import Database, current_revision, require_head, upgrade
from gnomon_board.errors import Damaged, LeaderboardError
from gnomon_board.evidence import evidence_path, is_sound, sound_log
from gnomon_board.schema import Submission, now
from gnomon_board.settings import Settings

_MANIFEST = "backup.json"
_DATABASE = "leaderboard.sqlite"


def back_up(settings: Settings, database: Database, out: Path) -> dict[str, Any]:
    """Write a backup into a new folder; the server may be running.

    The tables are a snapshot. Their logs are older and never change, so they can be copied
    afterwards.

    A log that is missing or damaged is left out, and named in ``damaged``.

    Returns the contents of ``backup.json``.

    Raises LeaderboardError: the board has no SQLite file, or the folder is not empty.
    """
    if database.file is None:
        raise LeaderboardError(
            "expected a SQLite file; back up PostgreSQL by pg_dump, then copy the folder evidence"
        )
    require_head(database)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise LeaderboardError(f"{out}: expected a new or empty folder")
    out.mkdir(parents=True, exist_ok=True)
    out.chmod(0o700)
    # Outside of a transaction, so that readers and writers continue.
    _by_driver(database, "VACUUM INTO ?", str(out / _DATABASE))
    copied = Database(f"sqlite:///{out / _DATABASE}")
    try:
        n_logs, damaged = 0, []
        for submission in _with_logs(copied):
            try:
                log = sound_log(database, settings, submission)
            except Damaged:
                damaged.append(str(submission.log_sha256))
                continue
            n_logs += _copied(log, out / "evidence" / log.parent.name / log.name)
        revision = current_revision(copied)
        _by_driver(copied, _ONE_FILE)
    finally:
        copied.close()
    with (out / _DATABASE).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    record = {
        "format": 1,
        "gnomon": __version__,
        "revision": revision,
        "taken": now().isoformat(timespec="seconds"),
        "database_sha256": digest,
        "logs": n_logs,
        "damaged": damaged,
    }
    # Written last: a backup without it is incomplete.
    write_atomically(out / _MANIFEST, json.dumps(record, indent=2).encode() + b"\n")
    return record


def restore_backup(backup: Path, settings: Settings) -> dict[str, Any]:
    """Make the data folder of a server, with its SQLite file, from a backup.

    The tables of an older backup are migrated to this version. Nothing is left of a restore that
    fails: files are moved to their places after every hash was checked.

    Raises LeaderboardError: the backup is incomplete or damaged, or there is a leaderboard already.
    """
    record = _read_manifest(backup)
    if settings.evidence.exists() and any(settings.evidence.iterdir()):
        raise LeaderboardError(f"{settings.evidence}: expected no logs yet, found some")
    file = settings.data / _DATABASE
    if file.exists():
        raise LeaderboardError(f"{file}: expected no leaderboard yet, found one")
    is_new = not settings.data.exists()
    settings.data.mkdir(parents=True, exist_ok=True)
    settings.data.chmod(0o700)
    try:
        with TemporaryDirectory(prefix=".restoring-", dir=settings.data) as data:
            held = Settings(Path(data))
            n_logs = _copy_backup(backup, record, held)
            settings.evidence.mkdir(exist_ok=True)
            for folder in held.evidence.glob("*"):
                shutil.move(folder, settings.evidence)
            # Moved last: without its tables a restore is incomplete, and a server starts anew.
            os.replace(held.data / _DATABASE, file)
    except BaseException:
        if is_new:
            shutil.rmtree(settings.data)
        raise
    return record | {"logs": n_logs}


def _copy_backup(backup: Path, record: dict[str, Any], held: Settings) -> int:
    """Copy a backup's tables and logs, check every copy, and return the number of logs."""
    tables = held.data / _DATABASE
    shutil.copyfile(backup / _DATABASE, tables)
    if not is_sound(tables, record["database_sha256"]):
        raise LeaderboardError("the backup's database is damaged")
    source = Database(held.database)
    try:
        upgrade(source)
        n_logs = 0
        for submission in _with_logs(source):
            place = evidence_path(held, str(submission.log_sha256))
            if place.name in record["damaged"]:
                continue
            n_logs += _copied(backup / "evidence" / place.parent.name / place.name, place)
        _by_driver(source, _ONE_FILE)
    finally:
        source.close()
    return n_logs


#: Merges the write-ahead log, so that one file remains.
_ONE_FILE = "PRAGMA journal_mode = DELETE"


def _by_driver(database: Database, statement: str, *values: str) -> None:
    """Run a statement of SQLite outside of a transaction."""
    with database.engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert raw is not None
        raw.execute(statement, values).fetchall()


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
        if record["format"] == 1 and isinstance(record["database_sha256"], str):
            found: dict[str, Any] = record
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise LeaderboardError(f"{backup}: expected a whole backup, with a {_MANIFEST} of format 1")
