"""Schema migrations by Alembic, from the steps in ``migrations/versions``.

An upgrade is one transaction: it is applied completely or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from gnomon_board.database.engine import Database
from gnomon_board.errors import LeaderboardError


def upgrade(database: Database, revision: str = "head") -> None:
    """Upgrade the tables to a version, by default the newest; create them in an empty database.

    Raises LeaderboardError: there is no such version, or this program does not support the version
    of the database.
    """
    _run(database, "upgrade", revision)


def downgrade(database: Database, revision: str) -> None:
    """Downgrade the tables to an older version, or ``base``; errors as :func:`upgrade`."""
    _run(database, "downgrade", revision)


def move_to(database: Database, revision: str) -> None:
    """Upgrade or downgrade the tables to a version; errors as :func:`upgrade`."""
    scripts = ScriptDirectory.from_config(_config())
    try:
        below = {step.revision for step in scripts.iterate_revisions(revision, "base")}
    except CommandError as error:
        raise LeaderboardError(f"cannot migrate the database: {error}") from None
    current = current_revision(database)
    forward = current is None or current in below
    (upgrade if forward else downgrade)(database, revision)


def current_revision(database: Database) -> str | None:
    """Return the version of the tables; None for an empty database."""
    with database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head_revision() -> str:
    """Return the newest version that this program supports."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise LeaderboardError("expected migrations in the package, found none")
    return head


def require_head(database: Database) -> None:
    """Check that the tables have the version that this program requires.

    Raises LeaderboardError: they are older, newer, or missing.
    """
    found, wanted = current_revision(database), head_revision()
    if found != wanted:
        raise LeaderboardError(
            f"the database is at version {found or 'none'}, this program works with {wanted}; "
            "run: gnomon-board migrate"
        )


def _config() -> Config:
    config = Config()
    # A percent sign in a path would be taken for an interpolation.
    folder = str(Path(__file__).with_name("migrations")).replace("%", "%%")
    config.set_main_option("script_location", folder)
    return config


def _run(database: Database, direction: str, revision: str) -> None:
    config = _config()
    writing = database.engine.execution_options(gnomon_writing=True)
    with writing.connect() as connection, _orphans_for_a_moment(database, connection):
        config.attributes["connection"] = connection
        try:
            with connection.begin():
                getattr(command, direction)(config, revision)
                if database.is_sqlite and connection.exec_driver_sql(_ORPHANS).first():
                    raise LeaderboardError("a row would be left without the one it belongs to")
        except CommandError as error:
            raise LeaderboardError(f"cannot {direction} the database: {error}") from None


_ORPHANS = "PRAGMA foreign_key_check"


@contextmanager
def _orphans_for_a_moment(database: Database, connection: Connection) -> Iterator[None]:
    """Let SQLite drop a table to rebuild it, and keep the rows of other tables that refer to it."""
    raw = connection.connection.driver_connection
    if not database.is_sqlite or raw is None:
        yield
        return
    # By the driver: it has no effect in a transaction, which the library would begin.
    raw.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        raw.execute("PRAGMA foreign_keys = ON")
