"""Database sessions for reading and writing, on SQLite and PostgreSQL."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session, sessionmaker

from gnomon_board.errors import Damaged, LeaderboardError

_log = logging.getLogger("gnomon.server")

#: How long a writer waits for another one, in seconds.
_PATIENCE_S = 30


class Database:
    """A leaderboard's database. Objects stay usable after their session has ended.

    ``url`` is as SQLAlchemy writes it: ``sqlite:///FILE`` or ``postgresql://...``; ``pool_size`` is
    the most connections that are kept open.

    Raises LeaderboardError: an address of another kind, or one whose driver is not installed.
    """

    def __init__(self, url: str, *, pool_size: int = 20) -> None:
        self.url = _checked(url)
        self.engine = _engine(self.url, pool_size)
        self._reading = sessionmaker(self.engine, expire_on_commit=False)
        writing = self.engine.execution_options(gnomon_writing=True)
        self._writing = sessionmaker(writing, expire_on_commit=False)
        noting = writing.execution_options(gnomon_lasting=False)
        self._noting = sessionmaker(noting, expire_on_commit=False)
        self._watching: sqlite3.Connection | None = None

    @property
    def is_sqlite(self) -> bool:
        """Whether it is one SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for PostgreSQL."""
        return Path(self.url.database or "") if self.is_sqlite else None

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session that sees one state of the database, and writes nothing."""
        with self._reading() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Yield a session whose work is committed in the end, all of it or, on an error, none.

        In SQLite writers take turns from here on, so that no two of them meet half way.
        """
        with self._writing.begin() as session:
            yield session

    @contextmanager
    def noting(self) -> Iterator[Session]:
        """Yield a session as :meth:`writing` does, for many small things that somebody waits for.

        What is committed outlives the death of the process, as always; the last moments before the
        machine itself dies may be lost, for nobody waits for the disk.
        """
        with self._noting.begin() as session:
            if not self.is_sqlite:
                session.execute(text("SET LOCAL synchronous_commit = off"))
            yield session

    def change_mark(self) -> int | None:
        """Return a number that changes with every commit; None on PostgreSQL, which has none.

        It takes a few microseconds and waits for nobody.
        """
        if self.file is None:
            return None
        if self._watching is None:
            self._watching = sqlite3.connect(self.file, check_same_thread=False)
        try:
            [mark] = self._watching.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return None
        return int(mark)

    def close(self) -> None:
        """Close every connection."""
        if self._watching is not None:
            self._watching.close()
            self._watching = None
        self.engine.dispose()


def _checked(url: str) -> URL:
    """Return the address with the driver that is used."""
    try:
        found = make_url(url)
    except ArgumentError:
        raise LeaderboardError(
            "expected a database as sqlite:///FILE or postgresql://..., found something else"
        ) from None
    if found.get_backend_name() == "sqlite" and found.database not in (None, "", ":memory:"):
        return found.set(drivername="sqlite")
    if found.get_backend_name() == "postgresql":
        return found.set(drivername="postgresql+psycopg")
    raise LeaderboardError(
        "expected a database as sqlite:///FILE or postgresql://..., "
        f"found {found.render_as_string(hide_password=True)}"
    )


def _engine(url: URL, pool_size: int) -> Engine:
    try:
        if url.get_backend_name() == "sqlite":
            return _sqlite(url, pool_size)
        return create_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=True,
            pool_timeout=30,
            hide_parameters=True,
        )
    except ModuleNotFoundError as error:
        raise LeaderboardError(
            f"PostgreSQL needs {error.name}, which is not installed; "
            "pip install 'gnomon-board[postgres]'"
        ) from None


def _sqlite(url: URL, pool_size: int) -> Engine:
    """Return an engine over one SQLite file, with a write-ahead log and true transactions."""
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        connect_args={"timeout": _PATIENCE_S, "check_same_thread": False},
        # An error goes to the log with its statement; rules and hashes must not go with it.
        hide_parameters=True,
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "handle_error", _report_damage)
    _Turns().listen(engine)
    return engine


def _prepare(connection: Any, record: object) -> None:
    """Set up a new connection; Python's own begin and commit are turned off."""
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        # What was acknowledged outlives the death of the machine, not only of the process.
        "synchronous = FULL",
        "foreign_keys = ON",
        f"busy_timeout = {_PATIENCE_S * 1000}",
        "trusted_schema = OFF",
        # Zeros take the place of what was deleted: a text that was erased is not in the file.
        "secure_delete = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _report_damage(context: ExceptionContext) -> None:
    """Raise one line for a file that SQLite cannot read; other errors pass."""
    code = getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) and context.engine is not None:
        name = Path(context.engine.url.database or "").name
        message = f"{name}: the database is damaged ({context.original_exception})"
        _log.critical(message)
        raise Damaged(f"{message}; restore a backup by gnomon-board restore") from None


class _Turns:
    """Whose turn it is to write, among the threads of this process.

    SQLite lets a writer that finds another one sleep for longer and longer, whoever came first. A
    lock wakes the next one at once. It is a courtesy: SQLite's own lock is what counts, between
    processes too.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def listen(self, engine: Engine) -> None:
        """Take part in every transaction of an engine."""
        event.listen(engine, "begin", self._begin)
        event.listen(engine, "commit", self._commit)
        event.listen(engine, "rollback", self._rollback)

    def _begin(self, connection: Connection) -> None:
        """Begin; a writer at once, for a transaction that begins as a reader's may be too late."""
        options = connection.get_execution_options()
        if not options.get("gnomon_writing", False):
            connection.exec_driver_sql("BEGIN")
            return
        _wait_for_disk(connection, options.get("gnomon_lasting", True))
        connection.info[_HAS_TURN] = self._turn.acquire(timeout=_PATIENCE_S)
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        except BaseException:
            self._pass_on(connection)
            raise

    # These are called before the library does the same, which then finds nothing left to do: the
    # turn must not pass on before all is written.
    def _commit(self, connection: Connection) -> None:
        try:
            # As a statement: what goes wrong, such as a full disk, becomes an error of the library.
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            self._rollback(connection)  # the library says no more of a commit that failed
            raise
        self._pass_on(connection)

    def _rollback(self, connection: Connection) -> None:
        try:
            _raw(connection).rollback()
        finally:
            self._pass_on(connection)

    def _pass_on(self, connection: Connection) -> None:
        # By whichever thread ends the transaction: a session may be handed from one to another.
        if connection.info.pop(_HAS_TURN, False):
            self._turn.release()


_HAS_TURN = "gnomon_has_turn"


def _wait_for_disk(connection: Connection, lasting: bool) -> None:
    """Say whether a commit is to wait for the disk; a connection is told when that changes."""
    if connection.info.get("gnomon_lasting", True) != lasting:
        connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
        connection.info["gnomon_lasting"] = lasting


def _raw(connection: Connection) -> Any:
    return connection.connection.driver_connection
