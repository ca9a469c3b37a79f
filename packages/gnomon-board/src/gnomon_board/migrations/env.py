"""The environment in which Alembic runs a migration: a given connection and transaction."""

from __future__ import annotations

from alembic import context

from gnomon_board.schema import Base

if __name__ == "env_py":  # the name under which Alembic loads this file
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=Base.metadata,
        # SQLite cannot change a column: the table is rebuilt instead.
        render_as_batch=True,
        transactional_ddl=True,
    )
    context.run_migrations()
