"""The database: sessions on SQLite and PostgreSQL, and migration of the tables by Alembic.

An empty database gets the newest tables at once; the steps in ``migrations/versions`` change those
of an older release. Both are one transaction: applied completely or not at all.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    Connection,
    Engine,
    ExceptionContext,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session, sessionmaker

from gnomon_board.errors import Damaged, LeaderboardError, Missing
from gnomon_board.schema import AuditRecord, Base, Season, Study

if TYPE_CHECKING:
    from alembic.config import Config

_log = logging.getLogger("gnomon.server")

_Row = TypeVar("_Row", bound=Base)
_Named = TypeVar("_Named", Season, Study)
#: Seconds that a writer waits for another one.
_PATIENCE_S = 30
#: Key in the ``info`` of a session that erases texts.
ERASES = "gnomon_erases"


class Database:
    """A leaderboard's database. Objects stay usable after their session has ended.

    ``url`` has SQLAlchemy's form, ``sqlite:///FILE`` or ``postgresql://...``; ``pool_size`` is the
    maximum number of connections that are kept open.
    """

    def __init__(self, url: str, *, pool_size: int = 20) -> None:
        self.url = _checked(url)
        self.engine = _engine(self.url, pool_size)
        self._reading = sessionmaker(self.engine, expire_on_commit=False)
        writing = self.engine.execution_options(gnomon_writing=True)
        self._writing = sessionmaker(writing, expire_on_commit=False)
        event.listen(self._writing, "after_begin", self._begin_writing)
        self._turn = threading.Lock()
        self._watching: sqlite3.Connection | None = None
        self._n_commits = 0

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for PostgreSQL."""
        return Path(self.url.database or "") if self.is_sqlite else None

    def reading(self) -> Session:
        """Return a read-only session that sees one state of the database."""
        return self._reading()

    @contextmanager
    def writing(self, *, lasting: bool = True) -> Iterator[Session]:
        """Yield a session that is committed at the end, or rolled back on an error.

        In SQLite a session takes the write lock when it begins, so that writers never conflict.
        After a session with :data:`ERASES` in its ``info``, the write-ahead log is emptied.

        Commits survive a crash of the process. Without ``lasting``, for frequent small writes, they
        do not wait for the disk: the last ones before a crash of the machine may be lost.
        """
        with (
            ExitStack() as held,
            self._writing(info={"held": held, "lasting": lasting}) as session,
            session.begin(),
        ):
            yield session
        self._n_commits += 1
        if session.info.get(ERASES):
            self._empty_log()

    def _begin_writing(self, session: Session, _: object, connection: Connection) -> None:
        """Begin a transaction that writes.

        Threads of this process take turns: a writer that finds SQLite locked sleeps for increasing
        times, whatever the order of arrival; a lock wakes the next one at once. It only saves time:
        SQLite's own lock ensures correctness, between processes too.
        """
        lasting = session.info["lasting"]
        if not self.is_sqlite:
            if not lasting:
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            return
        if self._turn.acquire(timeout=_PATIENCE_S):
            session.info["held"].callback(self._turn.release)
        if connection.info.get("lasting", True) != lasting:
            connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
            connection.info["lasting"] = lasting
        # A writer locks at once, since upgrading a read later may fail.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def change_mark(self) -> int | None:
        """Return a number that changes with every commit; on PostgreSQL, of this process only.

        It takes a few microseconds and never blocks. None: it cannot be read now.
        """
        if self.file is None:
            return self._n_commits
        if self._watching is None:
            self._watching = sqlite3.connect(self.file, check_same_thread=False)
        try:
            [mark] = self._watching.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return None
        return int(mark)

    def _empty_log(self) -> None:
        """Empty SQLite's write-ahead log, which keeps erased texts until it is overwritten."""
        if not self.is_sqlite:
            return
        with closing(self.engine.raw_connection()) as connection:
            raw = connection.driver_connection
            assert raw is not None
            [blocked, *_] = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if blocked:
            _log.warning("a reader kept the write-ahead log, which may have erased texts")

    def close(self) -> None:
        """Close every connection."""
        if self._watching is not None:
            self._watching.close()
            self._watching = None
        self.engine.dispose()


def _checked(url: str) -> URL:
    """Return the address with the name of its driver."""
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
    # An error is logged with its statement, but without values such as rules and hashes.
    options: dict[str, Any] = {
        "pool_size": pool_size,
        "max_overflow": pool_size,
        "hide_parameters": True,
    }
    if url.get_backend_name() == "sqlite":
        waiting = {"timeout": _PATIENCE_S, "check_same_thread": False}
        engine = create_engine(url, connect_args=waiting, **options)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "handle_error", _report_damage)
        event.listen(engine, "begin", _begin_reading)
        return engine
    try:
        return create_engine(url, pool_pre_ping=True, pool_timeout=30, **options)
    except ModuleNotFoundError as error:
        raise LeaderboardError(
            f"PostgreSQL needs {error.name}, which is not installed; "
            "pip install 'gnomon-board[postgres]'"
        ) from None


def _prepare(connection: Any, record: object) -> None:
    """Set up a new connection, without Python's own begin and commit."""
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        # Acknowledged commits survive a crash of the machine, not only of the process.
        "synchronous = FULL",
        "foreign_keys = ON",
        f"busy_timeout = {_PATIENCE_S * 1000}",
        "trusted_schema = OFF",
        # Overwrite deleted content with zeros, so that erased texts are not in the file.
        "secure_delete = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _report_damage(context: ExceptionContext) -> None:
    """Raise an error of one line for a file that SQLite cannot read; ignore other errors."""
    code = getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) and context.engine is not None:
        name = Path(context.engine.url.database or "").name
        raise Damaged(
            f"{name}: the database is damaged ({context.original_exception}); "
            "restore a backup by gnomon-board backup --restore"
        ) from None


def _begin_reading(connection: Connection) -> None:
    if not connection.get_execution_options().get("gnomon_writing"):
        connection.exec_driver_sql("BEGIN")


def find_row(session: Session, table: type[_Row], number: int, *, lock: bool = False) -> _Row:
    """Return the row with a number; with ``lock``, lock it until the end of the transaction."""
    found = session.get(table, number, with_for_update=lock or None)
    if found is None:
        raise Missing(f"there is no {table.__name__.lower()} {number}")
    return found


def find_named(session: Session, table: type[_Named], name: str) -> _Named:
    """Return the season or the study with a name; raise Missing if there is none."""
    found = session.scalar(select(table).where(table.name == name))
    if found is None:
        raise Missing(f"there is no {table.__name__.lower()} {name[:64]!r}")
    return found


def note(
    session: Session,
    action: str,
    subject: str = "",
    subject_id: int | None = None,
    *,
    by: int | None = None,
    public: bool = True,
    **detail: Any,
) -> None:
    """Append a record of an action to the audit log.

    The record is written in the session of the action, so that both are committed or neither is.
    ``by`` is the account, None for the server itself; readers without rights see ``public`` records
    only. ``detail`` holds further values, which JSON can represent.
    """
    session.add(
        AuditRecord(
            account_id=by,
            action=action,
            subject=subject,
            subject_id=subject_id,
            detail=detail,
            public=public,
        )
    )


# -- migration ------------------------------------------------------------------------------------

#: Newest version of the tables. Only :func:`upgrade` imports Alembic, which takes 11 MB.
HEAD = "3"


def upgrade(database: Database) -> None:
    """Bring the tables to the newest version; create them in an empty database.

    Raises LeaderboardError: this program does not know the version of the database.
    """
    from alembic import command
    from alembic.script import ScriptDirectory

    config = _config()
    known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
    with database.engine.execution_options(gnomon_writing=True).begin() as connection:
        # Of two servers that start an empty board at once, the second waits and finds the tables.
        if database.is_sqlite:
            # Without foreign keys, SQLite can drop a table to rebuild it; not to be used again.
            connection.detach()
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('gnomon-board'))")
        current = _revision(connection)
        if current is not None and current not in known:
            raise LeaderboardError(
                f"cannot migrate the database: version {current} is not one of this program's "
                f"({', '.join(sorted(known))}); use the program that made it, or a new board"
            )
        config.attributes["connection"] = connection
        if current is None:
            Base.metadata.create_all(connection)
            command.stamp(config, "head")
        else:
            command.upgrade(config, "head")
        if database.is_sqlite and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
            raise LeaderboardError("a row would be left without the one it belongs to")


def current_revision(database: Database) -> str | None:
    """Return the version of the tables; None for an empty database."""
    with database.engine.connect() as connection:
        return _revision(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def require_head(database: Database) -> None:
    """Check that the tables have the version that this program requires."""
    found = current_revision(database)
    if found != HEAD:
        raise LeaderboardError(
            f"the database is at version {found or 'none'}, this program works with {HEAD}; "
            "run: gnomon-board migrate"
        )


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    # A percent sign in a path would be taken for an interpolation.
    folder = str(Path(__file__).with_name("migrations")).replace("%", "%%")
    config.set_main_option("script_location", folder)
    return config
