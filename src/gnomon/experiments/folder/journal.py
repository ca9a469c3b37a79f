"""What has become of each trial, as rows of an SQLite file.

SQLite notices a file that is no journal any more; a bit that another has taken the place of, in a
time or a name, it does not. So each row has a checksum, and whoever reads is told of both.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gnomon.errors import RunFolderError, shortened


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
        How long playing it took, and how long the process had processors meanwhile, in seconds; NaN
        if the journal was rebuilt, for nothing else tells.
    shard, sha256 : str or None
        File name of the attempts, and the hash of its bytes; None for a failed trial.
    error, traceback : str or None
        What went wrong, on one line and as Python tells it; None for a trial that is done.
    episodes : bytes or None
        The errors and the end of each episode, as :mod:`~gnomon.experiments.scoring.episodes` has
        them; None for a failed trial, and in journals of earlier versions.

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
    episodes: bytes | None = field(default=None, repr=False)


class JournalRows(NamedTuple):
    """The rows of a journal by their numbers: those that are as they were written, and others."""

    records: dict[int, TrialRecord]
    damaged: dict[int, TrialRecord]


_FIELDS = tuple(field.name for field in fields(TrialRecord))
_TIMES = frozenset({"wall_time_s", "cpu_time_s"})
_AT_TIMES = slice(_FIELDS.index("wall_time_s"), _FIELDS.index("cpu_time_s") + 1)
_COLUMNS = ", ".join(_FIELDS)
_MARKS = ", ".join("?" for _ in (*_FIELDS, "checksum"))
_INSERT = f"INSERT OR REPLACE INTO trials ({_COLUMNS}, checksum) VALUES ({_MARKS})"
_VALUES = attrgetter(*_FIELDS)
_SCHEMA = """
CREATE TABLE trials (
    key TEXT PRIMARY KEY, learner TEXT NOT NULL, rule TEXT NOT NULL, trial INTEGER NOT NULL,
    status TEXT NOT NULL, n_attempts INTEGER NOT NULL, wall_time_s REAL, cpu_time_s REAL,
    shard TEXT, sha256 TEXT, error TEXT, traceback TEXT, episodes BLOB, checksum TEXT
) STRICT
"""
#: Columns that journals did not have at first.
_LATER = {"checksum": "TEXT", "episodes": "BLOB"}
_LONGEST = 200
#: What a damaged file can raise: SQLite quotes it, and Python reads what it quotes as text.
_TROUBLE = (sqlite3.Error, UnicodeDecodeError)
#: Errors of SQLite that say nothing of the file: no room, no access, no answer in time.
_NO_DAMAGE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}


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
            _add_columns(connection)
            _check(connection, path)
            try:
                yield cls(connection)
            finally:
                # Not possible while another process reads; the next run does it then.
                with suppress(sqlite3.OperationalError):
                    connection.execute("PRAGMA journal_mode = DELETE")

    def rows(self) -> JournalRows:
        """Return every row."""
        return _rows(self._connection)

    def forget(self, rows: Iterable[int]) -> None:
        """Remove rows by their numbers."""
        with self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany(
                "DELETE FROM trials WHERE rowid = ?", ((row,) for row in rows)
            )

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
                self._connection.executemany(_INSERT, map(_row, records))
        except sqlite3.OperationalError as error:
            # The low byte is the kind of error; a full disk can show as either.
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise
            return False
        return True


def create_journal(path: Path, records: Iterable[TrialRecord] = ()) -> None:
    """Make a journal of some rows; errors as in writing."""
    with _told(path), closing(sqlite3.connect(path)) as connection:
        connection.execute(_SCHEMA)
        connection.executemany(_INSERT, map(_row, records))
        connection.commit()


def read_journal(path: Path) -> JournalRows:
    """Return every row, whether or not another process is writing; errors as in writing."""
    with _told(path), closing(_read_only(path)) as connection:
        _check(connection, path)
        return _rows(connection)


def salvaged_rows(path: Path) -> tuple[JournalRows, str]:
    """Return what can still be read of a journal, and what is wrong with the file, if anything is.

    In a file that is damaged only such rows count as whole that have a checksum.
    """
    if not path.exists():
        return JournalRows({}, {}), "missing"
    rows, why = JournalRows({}, {}), ""
    with suppress(*_TROUBLE), closing(_read_only(path)) as connection:
        try:
            _check(connection, path)
        except (*_TROUBLE, RunFolderError):
            why = "damaged"
        _read_rows(connection, rows, trusting=not why)
        return rows, why
    return rows, "damaged"


def remedy(folder: Path) -> str:
    """Return what to do about a damaged journal."""
    return f"gnomon repair {folder} rebuilds it"


def _connected(path: Path) -> sqlite3.Connection:
    """Open a journal for one thread at a time, which need not be the one that opens it."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Name the file in what SQLite complains of, and the remedy where it is the file's fault."""
    try:
        yield
    except _TROUBLE as error:
        # The low byte is the kind of error.
        its_fault = getattr(error, "sqlite_errorcode", 1) & 0xFF not in _NO_DAMAGE
        what_to_do = f"; {remedy(path.parent)}" if its_fault else ""
        # It may quote the whole schema, line by line.
        what = shortened(" ".join(str(error).split()), _LONGEST)
        raise RunFolderError(f"{path}: cannot use this journal: {what}{what_to_do}") from None


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """See that no page of the file is damaged: of a row that is lost nothing else would tell."""
    ((found,),) = connection.execute("PRAGMA integrity_check(1)")
    if found != "ok":
        what = " ".join(str(found).removeprefix("*** in database main ***").split())
        raise RunFolderError(f"{path}: damaged: {what}; {remedy(path.parent)}")


def _missing_columns(connection: sqlite3.Connection) -> set[str]:
    """Return the columns that an earlier version did not make."""
    return _LATER.keys() - {c[1] for c in connection.execute("PRAGMA table_info(trials)")}


def _add_columns(connection: sqlite3.Connection) -> None:
    for name in sorted(_missing_columns(connection)):
        connection.execute(f"ALTER TABLE trials ADD COLUMN {name} {_LATER[name]}")


def _rows(connection: sqlite3.Connection) -> JournalRows:
    rows = JournalRows({}, {})
    _read_rows(connection, rows)
    return rows


def _read_rows(connection: sqlite3.Connection, rows: JournalRows, *, trusting: bool = True) -> None:
    """Add the rows of a journal; without ``trusting``, one without a checksum is damaged."""
    missing = _missing_columns(connection)
    columns = ("NULL" if name in missing else name for name in ("checksum", *_FIELDS))
    for row in _selected(connection, f"SELECT rowid, {', '.join(columns)} FROM trials"):
        number, told, values = row[0], row[1], tuple(row[2:])
        whole = trusting if told is None else told == _checksum(values)
        (rows.records if whole else rows.damaged)[number] = _record(values)


def _selected(connection: sqlite3.Connection, query: str) -> Iterable[Sequence[Any]]:
    """Return rows of which nothing but the row is damaged by what is no text any more."""
    with suppress(*_TROUBLE):
        return connection.execute(query).fetchall()  # as nearly always, and twice as fast
    connection.text_factory = lambda data: data.decode(errors="replace")
    return connection.execute(query)


def _record(values: tuple[Any, ...]) -> TrialRecord:
    """Return the record of a row; a time that is not known is NaN."""
    if None not in values[_AT_TIMES]:
        return TrialRecord(*values)
    told = dict(zip(_FIELDS, values, strict=True))
    return TrialRecord(**told | {x: math.nan for x in _TIMES if told[x] is None})


def _row(record: TrialRecord) -> tuple[Any, ...]:
    """Return a record as a row has it: with no time for NaN, and behind all its checksum."""
    values = dict(zip(_FIELDS, _VALUES(record), strict=True))
    values |= {x: None if math.isnan(values[x]) else float(values[x]) for x in _TIMES}
    return *values.values(), _checksum(tuple(values.values()))


def _checksum(values: tuple[Any, ...]) -> str:
    """Return the checksum of a row: of what Python's literals of its values are.

    Episodes stand last, and what is not there does not count: rows without them have the checksum
    that they had before there were any.
    """
    values = values if values[-1] is not None else values[:-1]
    return hashlib.sha256(repr(values).encode(errors="replace")).hexdigest()[:16]
