"""When and from where an attempt was begun, when it was closed, and its errors so far."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gnomon.database.columns import UtcTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; of an attempt in play, what was known of its first move."""
    with op.batch_alter_table("attempts") as table:
        table.add_column(sa.Column("begun_at", UtcTime(), nullable=True))
        table.add_column(sa.Column("begun_from", sa.String(length=64), nullable=True))
        table.add_column(sa.Column("closed_at", UtcTime(), nullable=True))
    with op.batch_alter_table("remote_trials") as table:
        table.add_column(sa.Column("n_errors", sa.Integer(), nullable=False, server_default="0"))
    with op.batch_alter_table("remote_trials") as table:
        table.alter_column("n_errors", server_default=None)
    op.execute(
        "UPDATE attempts SET begun_at = (SELECT MIN(created_at) FROM remote_trials "
        "WHERE remote_trials.attempt_id = attempts.id AND remote_trials.n_attempts > 0)"
    )


def downgrade() -> None:
    """Drop the columns."""
    with op.batch_alter_table("remote_trials") as table:
        table.drop_column("n_errors")
    with op.batch_alter_table("attempts") as table:
        for name in ("closed_at", "begun_from", "begun_at"):
            table.drop_column(name)
