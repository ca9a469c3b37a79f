"""What has become of each trial, as rows of an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Literal

from gnomon.errors import RunFolderError

__all__ = ["Journal", "TrialRecord", "create_journal", "read_journal"]


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """What has become of one trial.

    Parameters
    ----------
    key : str
        Content hash of all that determines the trial.
    learner, rule : str
        Their names in the experiment.
    trial : int
        Which of the trials of this learner on this rule, from 0.
    status : {"done", "failed"}
    n_attempts : int
        Number of attempts recorded.
    wall_time_s, cpu_time_s : float
        How long playing it took, and how long the process had processors meanwhile, in seconds.
    shard, sha256 : str or None
        File name of the attempts, and the hash of its bytes; None for a failed trial.
    error, traceback : str or None
        What went wrong, on one line and as Python tells it; None for a trial that is done.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gn.run(config, folder)
    ...     [record.status for record in run.folder.trials()]
    ['done', 'done']
    """

    key: str
    learner: str
    rule: str
    trial: int
    status: Literal["done", "failed"]
    n_attempts: int = 0
    wall_time_s: float = 0.0
    cpu_time_s: float = 0.0
    shard: str | None = None
    sha256: str | None = None
    error: str | None = None
    traceback: str | None = None


_COLUMNS = ", ".join(field.name for field in fields(TrialRecord))
_MARKS = ", ".join("?" for _ in fields(TrialRecord))
_INSERT = f"INSERT OR REPLACE INTO trials ({_COLUMNS}) VALUES ({_MARKS})"
_VALUES = attrgetter(*(field.name for field in fields(TrialRecord)))
_SCHEMA = """
CREATE TABLE trials (
    key TEXT PRIMARY KEY, learner TEXT NOT NULL, rule TEXT NOT NULL, trial INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    n_attempts INTEGER NOT NULL, wall_time_s REAL NOT NULL, cpu_time_s REAL NOT NULL,
    shard TEXT, sha256 TEXT, error TEXT, traceback TEXT
) STRICT
"""


class Journal:
    """A journal that is being written, within :meth:`opened`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._unwritten: list[TrialRecord] = []

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Journal]:
        """Write to a journal; other processes may read meanwhile.

        Raises RunFolderError if SQLite cannot: the file is damaged, or the disk is full.
        """
        with _told(path), closing(_connected(path)) as connection:
            # A write-ahead log is safe against the death of this process without waiting for the
            # disk at each row; at the end it is folded in, so that one file remains.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            try:
                yield cls(connection)
            finally:
                # Not possible while another process reads; the next run does it then.
                with suppress(sqlite3.OperationalError):
                    connection.execute("PRAGMA journal_mode = DELETE")

    def records(self) -> list[TrialRecord]:
        """Return every row."""
        return _rows(self._connection)

    def record(self, *records: TrialRecord) -> None:
        """Write down what has become of trials, in place of what was written before.

        On a full disk a record is kept, and tried again with the next ones.
        """
        self._unwritten += records
        self.flush()

    def flush(self) -> tuple[TrialRecord, ...]:
        """Write what is still to be written; return what there is no room for."""
        n_together = len(self._unwritten)
        while self._unwritten:
            if self._has_room_for(self._unwritten[:n_together]):
                del self._unwritten[:n_together]
            elif n_together > 1:
                n_together = 1
            else:
                break
        return tuple(self._unwritten)

    def _has_room_for(self, records: Sequence[TrialRecord]) -> bool:
        """Write records, which costs some of them hardly more than one; all of them or none."""
        try:
            with self._connection:
                self._connection.execute("BEGIN")
                self._connection.executemany(_INSERT, map(_VALUES, records))
        except sqlite3.OperationalError as error:
            # The low byte is the kind of error; a full disk can show as either.
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise
            return False
        return True


def create_journal(path: Path) -> None:
    """Make an empty journal; errors as in writing."""
    with _told(path), closing(sqlite3.connect(path)) as connection:
        connection.execute(_SCHEMA)
        connection.commit()


def read_journal(path: Path) -> list[TrialRecord]:
    """Return every row, whether or not another process is writing; errors as in writing."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with _told(path), closing(sqlite3.connect(uri, uri=True)) as connection:
        return _rows(connection)


def _connected(path: Path) -> sqlite3.Connection:
    """Open a journal for one thread at a time, which need not be the one that opens it."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Name the file in what SQLite complains of."""
    try:
        yield
    except sqlite3.Error as error:
        raise RunFolderError(f"{path}: cannot use this journal: {error}") from None


def _rows(connection: sqlite3.Connection) -> list[TrialRecord]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM trials").fetchall()
    return [TrialRecord(*row) for row in rows]
