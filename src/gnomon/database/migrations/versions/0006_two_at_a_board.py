"""Games of two: a partner, who made an attempt, and what the two write to each other."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gnomon.database.columns import UtcTime

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_PARTNERS = ("study_assignments", "play_sessions")
#: A column that each row must have, and what the rows have that are there.
_NEEDED = (
    ("study_assignments", "pairing", sa.String(length=16), ""),
    ("play_attempts", "mover", sa.Integer(), "0"),
)


def upgrade() -> None:
    """Add the columns; whoever has played has played alone."""
    for name in _PARTNERS:
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column("partner_id", sa.Integer(), nullable=True))
            table.create_foreign_key(
                f"fk_{name}_partner_id", "study_assignments", ["partner_id"], ["id"]
            )
            table.create_index(f"ix_{name}_partner_id", ["partner_id"])
    with op.batch_alter_table("play_sessions") as table:
        table.add_column(sa.Column("partner_key", sa.String(length=64), nullable=True))
        table.add_column(sa.Column("waiting_at", UtcTime(), nullable=True))
        table.create_unique_constraint("uq_play_sessions_partner_key", ["partner_key"])
    with op.batch_alter_table("study_answers") as table:
        table.add_column(sa.Column("attempt", sa.Integer(), nullable=True))
    for name, column, kind, default in _NEEDED:
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column(column, kind, nullable=False, server_default=default))
        with op.batch_alter_table(name) as table:
            table.alter_column(column, existing_type=kind, server_default=None)


def downgrade() -> None:
    """Drop them."""
    for name, column, _, _ in _NEEDED:
        with op.batch_alter_table(name) as table:
            table.drop_column(column)
    with op.batch_alter_table("study_answers") as table:
        table.drop_column("attempt")
    with op.batch_alter_table("play_sessions") as table:
        table.drop_constraint("uq_play_sessions_partner_key", type_="unique")
        table.drop_column("partner_key")
        table.drop_column("waiting_at")
    for name in _PARTNERS:
        with op.batch_alter_table(name) as table:
            table.drop_index(f"ix_{name}_partner_id")
            table.drop_constraint(f"fk_{name}_partner_id", type_="foreignkey")
            table.drop_column("partner_id")
