"""Evidence: logs stored by their SHA-256, with limits.

The file name of a log is the SHA-256 of its bytes, never a text from a client, and its folder is
not served. Every read checks the hash. A damaged log is an error of the
server, not of the participant: ``/healthz`` and the server's log name it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.text_files import write_atomically
from gnomon_board.database import Database
from gnomon_board.entries import assignment_of
from gnomon_board.errors import Damaged, NoRoom, TooLarge
from gnomon_board.schema import Season, Submission, now
from gnomon_board.settings import MIB, Settings

_log = logging.getLogger("gnomon.server")


@dataclass(frozen=True)
class LogLimits:
    """Limits of a log, in proportion to the longest one that its season permits.

    Bytes, as sent and unpacked: 64 a row, of which a log takes 2, and a board of 41 bytes for each
    episode; and a mebibyte. Time: two minutes to start and compile, and a second for 100,000 rows,
    a twentieth of the usual speed. Address space: 2.5 GiB, most of which is reserved and never
    used, and 4 bytes for each of the log.
    """

    rows: int
    n_bytes: int
    seconds: float
    memory_mb: int

    @classmethod
    def of(cls, season: Season, settings: Settings) -> LogLimits:
        """Return the limits of a log of a season, none above the server's own."""
        rows = len(season.rules) * season.trials * season.episodes * season.horizon
        n_bytes = MIB + 64 * rows
        return cls(
            rows,
            n_bytes,
            min(settings.verify_timeout_s, 120 + rows / 100_000),
            min(settings.verify_memory_mb, 2560 + 4 * n_bytes // MIB),
        )


def evidence_path(settings: Settings, sha256: str) -> Path:
    """Return the path of a log."""
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError("expected a SHA-256 of 64 hexadecimal digits")
    return settings.evidence / sha256[:2] / sha256


@dataclass(frozen=True)
class Incoming:
    """A log that was received: a temporary file, its hash and its size."""

    path: Path
    sha256: str
    n_bytes: int


@asynccontextmanager
async def received(
    settings: Settings, parts: AsyncIterator[bytes], most: int
) -> AsyncIterator[Incoming]:
    """Write a log to the disk as it arrives; its file is removed at the end unless it is kept."""
    if settings.free_bytes() < settings.min_free_mib * MIB:
        raise NoRoom("the server's disk is nearly full: no log is taken now")
    settings.incoming.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=settings.incoming, suffix=".part")
    try:
        digest, n_bytes = hashlib.sha256(), 0
        with os.fdopen(handle, "wb") as file:
            async for part in parts:
                n_bytes += len(part)
                if n_bytes > most:
                    raise TooLarge(f"expected a log of at most {most} bytes")
                digest.update(part)
                file.write(part)
            file.flush()
            # Not in the event loop, which a slow disk would block.
            await asyncio.to_thread(os.fsync, file.fileno())
        yield Incoming(Path(name), digest.hexdigest(), n_bytes)
    finally:
        Path(name).unlink(missing_ok=True)


def keep(settings: Settings, incoming: Incoming) -> None:
    """Move a log to its final path; the same log sent twice is one file."""
    place = evidence_path(settings, incoming.sha256)
    place.parent.mkdir(parents=True, exist_ok=True)
    incoming.path.chmod(0o640)
    os.replace(incoming.path, place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def keep_bytes(settings: Settings, sha256: str, data: bytes) -> None:
    """Keep evidence that the server wrote itself."""
    place = evidence_path(settings, sha256)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place, data)


def is_sound(path: Path, sha256: str) -> bool:
    """Return whether a file exists and its bytes have this hash."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False


def sound_log(database: Database, settings: Settings, submission: Submission) -> Path:
    """Return the path of the log of a submission, after a check of its hash."""
    path = evidence_path(settings, str(submission.log_sha256))
    damaged = not is_sound(path, path.name)
    if damaged != (submission.damaged_at is not None):
        with database.writing() as session:
            mark_damaged(session.get_one(Submission, submission.id), damaged=damaged)
    if damaged:
        raise Damaged(damage(submission))
    return path


def damage(submission: Submission) -> str:
    """Return the public message about a damaged log."""
    return f"the server's copy of the log of submission {submission.id} is damaged or missing"


def mark_damaged(submission: Submission, *, damaged: bool = True) -> None:
    """Store whether the log of a submission was damaged at the last read."""
    if damaged:
        remedy = f"restore evidence/{str(submission.log_sha256)[:2]}/{submission.log_sha256}"
        _log.error("%s; %s from a backup", damage(submission), remedy)
    submission.damaged_at = now() if damaged else None


def verification_request(submission: Submission, settings: Settings) -> dict[str, Any]:
    """Return the request for the process that verifies a log."""
    path = evidence_path(settings, str(submission.log_sha256))
    limits = LogLimits.of(submission.season, settings)
    return {
        "log": str(path),
        "sha256": path.name,
        "learner": submission.learner,
        "assignment": assignment_of(submission.attempt).to_record(),
        "max_rows": limits.rows,
        "max_bytes": limits.n_bytes,
        "timeout_s": limits.seconds,
        "memory_mb": limits.memory_mb,
    }
