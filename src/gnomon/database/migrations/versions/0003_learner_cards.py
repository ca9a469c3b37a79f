"""What a learner is, in fields: kind, organisation, training data, parameters, compute, code."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; nobody has filled in a card yet."""
    with op.batch_alter_table("entries") as table:
        table.add_column(sa.Column("card", sa.JSON(), nullable=False, server_default="{}"))
    with op.batch_alter_table("entries") as table:
        table.alter_column("card", server_default=None)


def downgrade() -> None:
    """Drop the column."""
    with op.batch_alter_table("entries") as table:
        table.drop_column("card")
