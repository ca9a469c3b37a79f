"""Store the token by which a token was made."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; existing tokens have no parent."""
    with op.batch_alter_table("tokens") as table:
        table.add_column(sa.Column("parent_id", sa.Integer(), nullable=True))
        table.create_foreign_key(op.f("fk_tokens_parent_id"), "tokens", ["parent_id"], ["id"])
        table.create_index(op.f("ix_tokens_parent_id"), ["parent_id"])


def downgrade() -> None:
    """Remove the column."""
    with op.batch_alter_table("tokens") as table:
        table.drop_index(op.f("ix_tokens_parent_id"))
        table.drop_constraint(op.f("fk_tokens_parent_id"), type_="foreignkey")
        table.drop_column("parent_id")
