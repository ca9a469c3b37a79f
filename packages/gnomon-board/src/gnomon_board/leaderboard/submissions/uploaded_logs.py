"""Uploaded logs: received with limits, read in a limited process, kept under their SHA-256.

Nothing that a client says names a file: a log lies under the SHA-256 of its bytes, outside of what
is served. It is text or Parquet, and may be packed with gzip; archives are not taken.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gnomon.files import write_atomically
from gnomon_board.database.engine import Database
from gnomon_board.errors import NoRoom, Refusal, TooLarge
from gnomon_board.leaderboard.server_health import free_bytes
from gnomon_board.leaderboard.server_settings import MIB, Settings
from gnomon_board.leaderboard.submissions.submission import (
    announced_sha256,
    find_submission,
    log_arrived,
)
from gohr.child_process import ProcessFailure, run_limited

#: How many logs are read at once; the others wait.
_READERS = threading.BoundedSemaphore(2)
#: Seconds between looks whether a log that is read, or waits for it, is still wanted.
_LOOK_S = 0.25


def evidence_path(settings: Settings, sha256: str) -> Path:
    """Return where a log lies, as it was sent."""
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError("expected a SHA-256 of 64 hexadecimal digits")
    return settings.evidence / sha256[:2] / sha256


def canonical_path(settings: Settings, sha256: str) -> Path:
    """Return where the rows of a log lie, as Parquet: what is verified, and shown."""
    return evidence_path(settings, sha256).with_name(f"{sha256}.parquet")


@dataclass
class Incoming:
    """A log on its way in: an open file, and what is known of it."""

    path: Path
    file: IO[bytes]
    sha256: str = ""
    n_bytes: int = 0


@contextmanager
def receiving(settings: Settings) -> Iterator[Incoming]:
    """Open a file for a log that comes; whatever happens, it is gone in the end unless kept.

    Raises NoRoom: the disk is nearly full, and what is left of it is for the rest of the board.
    """
    if free_bytes(settings) < settings.min_free_mib * MIB:
        raise NoRoom("the server's disk is nearly full: no log is taken now")
    settings.incoming.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=settings.incoming, suffix=".part")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield Incoming(path, file)
    finally:
        path.unlink(missing_ok=True)
        path.with_suffix(".parquet").unlink(missing_ok=True)


async def receive(parts: AsyncIterator[bytes], incoming: Incoming, most: int) -> None:
    """Write a log to the disk as it comes.

    Raises TooLarge: at the first byte that is too much.
    """
    digest = hashlib.sha256()
    async for part in parts:
        incoming.n_bytes += len(part)
        if incoming.n_bytes > most:
            raise TooLarge(f"expected a log of at most {most} bytes")
        digest.update(part)
        incoming.file.write(part)
    incoming.sha256 = digest.hexdigest()
    # Not in the event loop, which a slow disk would hold up for everybody.
    await asyncio.to_thread(_write_through, incoming.file)


def _write_through(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def read_log(
    settings: Settings,
    incoming: Incoming,
    log_format: str,
    check: Callable[[], None] = lambda: None,
) -> int:
    """Let another process read the log, and write its rows as Parquet beside it.

    ``check`` is called now and then meanwhile; what it raises ends the reading. Returns the number
    of rows.

    Raises Refusal: it is not a log, or is too large once unpacked, or reading it took too much; as
    NoRoom, if the disk is full.
    """
    request = {
        "log": str(incoming.path),
        "format": log_format,
        "out": str(incoming.path.with_suffix(".parquet")),
        "max_bytes": settings.max_unpacked_bytes,
        "max_ratio": settings.max_ratio,
        "max_rows": settings.max_rows,
        "max_columns": settings.max_columns,
    }
    try:
        with _a_reader(check):
            answer = run_limited(
                "gohr.experiments.verification.log_files",
                request,
                timeout_s=settings.intake_timeout_s,
                memory_mb=settings.intake_memory_mb,
                tick=check,
                tick_s=_LOOK_S,
            )
    except ProcessFailure as failure:
        if os.strerror(errno.ENOSPC) in str(failure):
            raise NoRoom("the server's disk is full: the log was not kept") from None
        raise Refusal(f"log: reading it was given up: {failure}") from None
    if "refused" in answer:
        raise Refusal(f"log: {answer['refused']}")
    return int(answer["n_rows"])


@contextmanager
def _a_reader(check: Callable[[], None]) -> Iterator[None]:
    """Wait until another log may be read."""
    check()
    while not _READERS.acquire(timeout=_LOOK_S):
        check()
    try:
        yield
    finally:
        _READERS.release()


def keep(settings: Settings, incoming: Incoming) -> None:
    """Put a log, and its rows, where they stay; the same log twice is one file."""
    place = evidence_path(settings, incoming.sha256)
    place.parent.mkdir(parents=True, exist_ok=True)
    for source, target in (
        (incoming.path.with_suffix(".parquet"), canonical_path(settings, incoming.sha256)),
        (incoming.path, place),
    ):
        source.chmod(0o640)
        _to_disk(source)
        os.replace(source, target)
    _to_disk(place.parent)


def keep_bytes(settings: Settings, sha256: str, data: bytes) -> None:
    """Put evidence that the server wrote itself where it stays."""
    place = evidence_path(settings, sha256)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place, data)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def take_in(
    database: Database,
    settings: Settings,
    submission_id: int,
    incoming: Incoming,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Take in the log of a submission, unless ``check`` raises before it has been read.

    The order matters: the log is on the disk before a row says so, and whoever is killed between
    the two leaves a file that nobody misses and a client that asks again.

    Raises Refusal: it is not the log that was announced, or not a log; the submission waits for
    another.
    """
    with database.reading() as session:
        submission = find_submission(session, submission_id)
    if submission.state != "uploading":
        return
    expected = announced_sha256(submission)
    if incoming.sha256 != expected:
        raise Refusal(
            f"log: expected the bytes with SHA-256 {expected}, "
            f"found {incoming.n_bytes} bytes with {incoming.sha256}"
        )
    n_rows = read_log(settings, incoming, submission.log_format, check)
    keep(settings, incoming)
    with database.writing() as session:
        locked = find_submission(session, submission_id, lock=True)
        log_arrived(session, locked, incoming.sha256, n_bytes=incoming.n_bytes, n_rows=n_rows)
