"""The environment in which Alembic runs a migration: a given connection and transaction."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context

from gnomon_board.database import schema
from gnomon_board.database.columns import Base, UtcTime

# Imported for the tables that it adds to the metadata.
_SCHEMA = schema


def _short(kind: str, item: Any, _: object) -> str | Literal[False]:
    """Return the name of a custom column type as the template imports it."""
    return "UtcTime()" if kind == "type" and isinstance(item, UtcTime) else False


def _migrate() -> None:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=Base.metadata,
        # SQLite cannot change a column: the table is rebuilt instead.
        render_as_batch=True,
        render_item=_short,
        transactional_ddl=True,
    )
    context.run_migrations()


if __name__ == "env_py":  # the name under which Alembic loads this file
    _migrate()
