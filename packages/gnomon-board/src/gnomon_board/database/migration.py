"""Creation of the tables, and their migration by Alembic to the version of this program.

An empty database gets the newest tables at once; the steps in ``migrations/versions`` change those
of an older release. Both are one transaction: applied completely or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from gnomon_board.database.engine import Database
from gnomon_board.database.schema import Base
from gnomon_board.errors import LeaderboardError


def upgrade(database: Database) -> None:
    """Bring the tables to the newest version; create them in an empty database.

    Raises LeaderboardError: this program does not know the version of the database.
    """
    current, config = current_revision(database), _config()
    known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and current not in known:
        raise LeaderboardError(
            f"cannot migrate the database: version {current} is not one of this program's "
            f"({', '.join(sorted(known))}); use the program that made it, or a new board"
        )
    writing = database.engine.execution_options(gnomon_writing=True)
    with writing.connect() as connection, _orphans_for_a_moment(database, connection):
        config.attributes["connection"] = connection
        with connection.begin():
            if current is None:
                Base.metadata.create_all(connection)
                command.stamp(config, "head")
            else:
                command.upgrade(config, "head")
            if database.is_sqlite and connection.exec_driver_sql(_ORPHANS).first():
                raise LeaderboardError("a row would be left without the one it belongs to")


def current_revision(database: Database) -> str | None:
    """Return the version of the tables; None for an empty database."""
    with database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def require_head(database: Database) -> None:
    """Check that the tables have the version that this program requires.

    Raises LeaderboardError: they are older, newer, or missing.
    """
    found = current_revision(database)
    wanted = ScriptDirectory.from_config(_config()).get_current_head()
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
