"""The database of a run, ``run.sqlite``: the experiment, and one row a trial with every attempt.

Each trial is written in one transaction, so a process that is killed leaves whole trials. Every row
has a checksum of its columns and its place; its attempts have a hash. SQLite notices damage to the
structure of a file only where it happens to look, so the number of rows is kept, too, and a writer
checks the whole file first. A damaged file is rebuilt from all rows that are whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gnomon.errors import shortened
from gohr.errors import RunFolderError

if TYPE_CHECKING:
    from gohr.playing import TrialLog

#: The file that identifies a run folder.
RUN_FILE = "run.sqlite"
#: Counts up when the layout changes so that older programs cannot read it.
FORMAT = 5


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """Outcome of one trial.

    Parameters
    ----------
    key : str
        Content hash of all that determines the trial.
    learner, rule : str
        Their names in the experiment.
    trial : int
        Number of the trial of this learner on this rule, from 0.
    wall_time_s : float or None
        Time of playing, in seconds; None if unknown.
    attempts_hash : str or None
        Hash of the key and the attempts; None for a failed trial.
    error, traceback : str or None
        The error of a failed trial, as one line and as Python prints it.
    episodes : bytes or None
        The errors and the end of each episode, as :mod:`gohr.experiments.metrics` has
        them; None for a failed trial.
    """

    key: str
    learner: str
    rule: str
    trial: int
    wall_time_s: float | None = None
    attempts_hash: str | None = None
    error: str | None = None
    traceback: str | None = None
    episodes: bytes | None = field(default=None, repr=False)

    @property
    def status(self) -> Literal["done", "failed"]:
        """Whether the trial was played to its end."""
        return "done" if self.error is None else "failed"


class Rows(NamedTuple):
    """The trials of a run by place, places with a damaged row, and how many rows were written.

    The place of a trial is its position in the experiment. The last number is None if the file does
    not show it any more.
    """

    records: dict[int, TrialRecord]
    damaged: set[int]
    n_written: int | None

    @property
    def n_lost(self) -> int:
        """Number of rows that were written and are missing."""
        if self.n_written is None:
            return 0
        return max(0, self.n_written - len(self.records) - len(self.damaged))

    @property
    def is_whole(self) -> bool:
        """Whether every row that was written is there and undamaged."""
        return self.n_written is not None and not self.damaged and not self.n_lost


class DamagedRunError(RunFolderError):
    """The database of a run is damaged."""


_FIELDS = tuple(each.name for each in fields(TrialRecord))
_VALUES = attrgetter(*_FIELDS)
_COLUMNS = ", ".join(_FIELDS)
_SELECT = f"SELECT rowid, checksum, {_COLUMNS}"
_INSERT = (
    f"INSERT OR REPLACE INTO trials (place, checksum, {_COLUMNS}, attempts) "
    f"VALUES ({', '.join('?' * (len(_FIELDS) + 3))})"
)
_SCHEMA = [
    "CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL) "
    "STRICT, WITHOUT ROWID",
    "CREATE TABLE trials (place INTEGER PRIMARY KEY, checksum TEXT NOT NULL, key TEXT NOT NULL, "
    "learner TEXT NOT NULL, rule TEXT NOT NULL, trial INTEGER NOT NULL, "
    "wall_time_s REAL, attempts_hash TEXT, error TEXT, "
    "traceback TEXT, episodes BLOB, attempts BLOB) STRICT",
]
_PAGE = 4096
#: The table of a page with rows, by its first byte.
_TABLES = {b"\x0d": "trials", b"\x0a": "run"}
#: Exceptions that a damaged file can raise: SQLite quotes the file, and Python decodes the
#: quotation as text.
_TROUBLE = (sqlite3.Error, UnicodeDecodeError)
#: Errors of SQLite that do not come from damage: disk full, no access, timeout.
_NO_DAMAGE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
_REMEDY = "repeat the same gohr run to play the lost trials again"


class RunStore:
    """The database of the run in a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RUN_FILE

    def create(self, experiment: Mapping[str, Any]) -> None:
        """Write a database without trials, whole or not at all."""
        new = self._beside("new")
        try:
            with self._explained():
                with closing(_created(new)) as connection:
                    _set_values(connection, {"experiment": experiment, "n_rows": 0})
                os.replace(new, self.path)
        finally:
            self._beside("new")

    def experiment(self) -> dict[str, Any]:
        """Return what :meth:`create` was given; RunFolderError if it cannot be read."""
        with self._reading() as connection:
            values = _values(connection)
            ((n_values,),) = connection.execute("SELECT count(*) FROM run")
        if len(values) < n_values or "experiment" not in values:
            raise DamagedRunError(f"{self.path}: damaged: a value of the run; {_REMEDY}")
        found: dict[str, Any] = values["experiment"]
        return found

    def rows(self) -> Rows:
        """Return the outcome of every trial, without reading attempts.

        Other processes may write meanwhile. Raises RunFolderError: the file cannot be read.
        """
        with self._reading() as connection:
            return _rows(connection)

    def logs(self, trials: Iterable[tuple[int, TrialRecord]]) -> Iterator[TrialLog]:
        """Yield the attempts of trials that are done, one trial at a time.

        Raises DamagedRunError, which names the trial: the data differ from those written.
        """
        from gohr.experiments.attempts import attempts_of

        with self._reading() as connection:
            for place, record in trials:
                raw = _attempts_of(connection, place, record)
                if raw is None:
                    what = f"{record.trial} of {record.learner} on {record.rule}"
                    raise DamagedRunError(f"{self.path}: damaged: trial {what}; {_REMEDY}")
                yield attempts_of(raw)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Write trials; other processes may read meanwhile.

        Raises RunFolderError: SQLite cannot write, as on a full disk. Written data stay.
        """
        with self._explained(), closing(_connected(self.path)) as connection:
            # A write-ahead log survives the death of this process without waiting for the disk at
            # each trial; at the end it is folded in, so that one file remains.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            try:
                yield Writer(connection, set(_rows(connection).records))
            finally:
                # Not possible while another process reads, or on a full disk: the next run does it.
                with suppress(sqlite3.OperationalError):
                    connection.execute("PRAGMA journal_mode = DELETE")

    def is_whole(self) -> bool:
        """Return whether nothing in the file is damaged, every attempt included."""
        try:
            self.experiment()
            with self._reading() as connection:
                schema = [s for (s,) in connection.execute("SELECT sql FROM sqlite_schema") if s]
                ((found,),) = connection.execute("PRAGMA integrity_check(1)")
                rows = _rows(connection)
                return (
                    schema == _SCHEMA
                    and found == "ok"
                    and rows.is_whole
                    and all(
                        record.status == "failed" or _attempts_of(connection, place, record)
                        for place, record in rows.records.items()
                    )
                )
        except DamagedRunError:
            return False

    def rebuild(self, experiment: Mapping[str, Any], keys: Mapping[int, str]) -> int:
        """Rewrite the file from every complete trial; return how many there are.

        ``keys`` has the key of the trial at each place. The old file is kept as
        ``run.sqlite.damaged``. Raises RunFolderError, and changes nothing: nothing in the file
        shows that it holds this experiment.
        """
        new, copy = self._beside("new"), self._beside("salvage")
        same = ("format", "gnomon", "config_hash")
        values: dict[str, Any] = {}
        kept: dict[int, TrialRecord] = {}
        with self._explained(), closing(_created(new)) as connection:
            connection.execute("BEGIN")
            for found in _salvaged(self.path, copy):
                if isinstance(found, dict):
                    values |= found
                    continue
                place, record, blob = found
                # A page that is no longer used may still hold its former contents.
                again = place in kept and kept[place].status == "done"
                if record.key == keys.get(place) and not again:
                    connection.execute(_INSERT, _row(place, record, blob))
                    kept[place] = record
            there = values.get("experiment", {name: experiment[name] for name in same if kept})
            if any(there.get(name) != experiment[name] for name in same):
                self._beside("new")
                self._beside("salvage")
                raise RunFolderError(
                    f"{self.path}: damaged, and nothing in it shows that it holds this experiment; "
                    "choose another folder, or move this one away and run again"
                )
            _set_values(connection, {"experiment": experiment} | values | {"n_rows": len(kept)})
            connection.execute("COMMIT")
        with self._explained():
            self._beside("salvage")
            shutil.copyfile(self.path, self.path.with_name(f"{RUN_FILE}.damaged"))
            # Its log must not be taken for one of the new file.
            for each in _logs(self.path):
                each.unlink(missing_ok=True)
            os.replace(new, self.path)
        return len(kept)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._explained(), closing(_connected(self.path, "?mode=ro")) as connection:
            connection.execute("BEGIN")  # all of it as it was at one time
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Name the file in an error of SQLite or of the system, and the remedy."""
        try:
            yield
        except OSError as error:
            raise RunFolderError(f"{self.path}: {error.strerror}") from None
        except _TROUBLE as error:
            # The low byte is the kind of error.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                what = "cannot write: the disk is full"
                if code == sqlite3.SQLITE_IOERR:
                    what = "the disk is full, or cannot be read or written"
                raise RunFolderError(
                    f"{self.path}: {what}; the attempts are kept; the same gohr run continues"
                ) from None
            # It may quote the whole schema, line by line.
            what = shortened(" ".join(str(error).split()), 200)
            if code in _NO_DAMAGE:
                raise RunFolderError(f"{self.path}: {what}") from None
            raise DamagedRunError(
                f"{self.path}: damaged: {what}; the same gohr run keeps what is left in it; if it "
                "finds nothing, move the folder away and run again"
            ) from None

    def _beside(self, what: str) -> Path:
        """Return the name of a temporary file, and remove what a killed process left of it."""
        path = self.path.with_name(f".{RUN_FILE}.{what}")
        for each in (path, *_logs(path)):
            each.unlink(missing_ok=True)
        return path


class Writer:
    """The only writer of a database, within :meth:`RunStore.writing`."""

    def __init__(self, connection: sqlite3.Connection, places: set[int]) -> None:
        self._connection = connection
        self._places = places

    def record(self, place: int, record: TrialRecord, blob: bytes | None) -> None:
        """Write the outcome of a trial, with its compressed attempts, in one transaction."""
        with self._connection:
            self._connection.execute("BEGIN")
            self._connection.execute(_INSERT, _row(place, record, blob))
            if place not in self._places:
                self._places.add(place)
                _set_values(self._connection, {"n_rows": len(self._places)})


def attempts_hash(key: str, raw: bytes) -> str:
    """Return the hash of the attempts of a trial, from its key and its raw columns."""
    return hashlib.blake2b(key.encode() + raw, digest_size=16).hexdigest()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder, so that no other process writes in it; others may read.

    The system releases the lock when the process ends, for whatever reason. Raises RunFolderError
    if another process holds it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        for attempt in range(10):  # a process that reads the status holds it briefly
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.02 * (attempt < 9))
        else:
            raise RunFolderError(f"{folder}: another run is writing here")
        yield
    finally:
        os.close(handle)


def is_held(folder: Path) -> bool:
    """Return whether a process holds a folder for writing."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _connected(path: Path, options: str = "?mode=rw") -> sqlite3.Connection:
    """Open a database for one thread at a time, which need not be the one that opens it."""
    place = path.absolute().as_uri() + options
    connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
    # A damaged text makes its row damaged, not the reading of the others impossible.
    connection.text_factory = lambda data: data.decode(errors="replace")
    return connection


def _created(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {_PAGE}")
    for statement in _SCHEMA:
        connection.execute(statement)
    return connection


def _logs(path: Path) -> list[Path]:
    """Return the files that SQLite may create next to a database."""
    return [path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")]


def _values(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the values of the run that are as they were written."""
    rows = connection.execute("SELECT name, value, checksum FROM run")
    return {name: json.loads(text) for name, text, told in rows if told == _checksum((name, text))}


def _set_values(connection: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        text = json.dumps(value, ensure_ascii=False)
        row = (name, text, _checksum((name, text)))
        connection.execute("INSERT OR REPLACE INTO run VALUES (?, ?, ?)", row)


def _rows(connection: sqlite3.Connection) -> Rows:
    records, damaged = {}, set()
    for place, *rest in connection.execute(f"{_SELECT} FROM trials"):
        record = _record(place, *rest)
        if record is None:
            damaged.add(place)
        else:
            records[place] = record
    return Rows(records, damaged, _values(connection).get("n_rows"))


def _attempts_of(connection: sqlite3.Connection, place: int, record: TrialRecord) -> bytes | None:
    """Return the raw columns of a trial; None if they differ from the data written."""
    found = connection.execute("SELECT attempts FROM trials WHERE rowid = ?", (place,)).fetchone()
    return None if found is None else _columns_of(record, found[0])


def _columns_of(record: TrialRecord, blob: Any) -> bytes | None:
    """Return the raw columns of a trial; None if they differ from the data written."""
    try:
        raw = zlib.decompress(blob)
    except (zlib.error, TypeError):
        return None
    return raw if attempts_hash(record.key, raw) == record.attempts_hash else None


def _record(place: int, told: str, *values: Any) -> TrialRecord | None:
    """Return the record of a row; None if the row differs from the data written."""
    return TrialRecord(*values) if told == _checksum((place, *values)) else None


def _row(place: int, record: TrialRecord, blob: bytes | None) -> tuple[Any, ...]:
    values = _VALUES(record)
    return place, _checksum((place, *values)), *values, blob


def _checksum(values: tuple[Any, ...]) -> str:
    """Return the checksum of a row: of the Python literals of its values."""
    return hashlib.blake2b(repr(values).encode(errors="replace"), digest_size=8).hexdigest()


def _salvaged(
    path: Path, copy: Path
) -> Iterator[dict[str, Any] | tuple[int, TrialRecord, bytes | None]]:
    """Yield values of the run, and undamaged rows with their places, from every page that has any.

    In a copy, the first page is that of a new database, for it is the same in all, and then each
    page in turn is taken for the whole table: damage to a page costs the rows on it alone.
    """
    for there, here in zip((path, *_logs(path)), (copy, *_logs(copy)), strict=True):
        if there.exists() and not here.name.endswith("-shm"):
            shutil.copyfile(there, here)
    n_pages = -(-copy.stat().st_size // _PAGE)
    if n_pages <= len(_SCHEMA):
        return
    os.truncate(copy, n_pages * _PAGE)
    _replace_first_page(copy)
    with suppress(*_TROUBLE), closing(_connected(copy)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")  # folds a log in
    _replace_first_page(copy)
    with copy.open("rb") as file:
        pages = list(iter(lambda: file.read(_PAGE)[:1], b""))
    with closing(_connected(copy)) as connection:
        for setting in ("journal_mode = MEMORY", "synchronous = OFF", "writable_schema = ON"):
            connection.execute(f"PRAGMA {setting}")
        for number, kind in enumerate(pages, start=1):
            table = _TABLES.get(kind)
            if number == 1 or table is None:
                continue
            update = "UPDATE sqlite_schema SET rootpage = ? WHERE name = ?"
            connection.execute(update, (number, table))
            connection.execute("PRAGMA writable_schema = RESET")
            connection.execute("PRAGMA writable_schema = ON")
            with suppress(*_TROUBLE):
                if table == "run":
                    yield _values(connection)
                    continue
                for place, *rest, blob in connection.execute(f"{_SELECT}, attempts FROM trials"):
                    record = _record(place, *rest)
                    if record and (record.status == "failed" or _columns_of(record, blob)):
                        yield place, record, blob


def _replace_first_page(path: Path) -> None:
    """Give a database the first page of a new one, with its own size."""
    template = path.with_name(f"{path.name}.first")
    template.unlink(missing_ok=True)
    _created(template).close()
    page = bytearray(template.read_bytes()[:_PAGE])
    template.unlink()
    page[28:32] = (path.stat().st_size // _PAGE).to_bytes(4, "big")
    page[92:96] = page[24:28]  # the size is valid for this version
    with path.open("r+b") as file:
        file.write(page)
