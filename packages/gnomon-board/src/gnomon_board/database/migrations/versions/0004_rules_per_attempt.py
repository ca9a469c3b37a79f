"""Deal each attempt of a hidden season a number of the season's rules."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; in existing seasons an attempt has all rules."""
    op.add_column("seasons", sa.Column("rules_per_attempt", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Remove the column."""
    op.drop_column("seasons", "rules_per_attempt")
