"""Studies: pages, answers, identifiers, endings; and the times of a player's own clock."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gnomon.database.columns import UtcTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_CLIENT = ("client_touch_ms", "client_action_ms", "client_away_ms", "client_animation_ms")
_NEEDED = (
    ("identifiers", sa.JSON(), "{}"),
    ("step", sa.Integer(), "0"),
    ("ending", sa.String(length=16), ""),
    ("completion_code", sa.String(length=128), ""),
)


def upgrade() -> None:
    """Add the columns and the table; who has played every rule has finished."""
    with op.batch_alter_table("study_assignments") as table:
        table.add_column(sa.Column("identity", sa.String(length=64), nullable=True))
        table.add_column(sa.Column("end_key", sa.String(length=64), nullable=True))
        table.add_column(sa.Column("excluded_at", UtcTime(), nullable=True))
        for name, kind, default in _NEEDED:
            table.add_column(sa.Column(name, kind, nullable=False, server_default=default))
        table.create_unique_constraint(
            "uq_study_assignments_study_id_identity", ["study_id", "identity"]
        )
        table.create_unique_constraint("uq_study_assignments_end_key", ["end_key"])
    op.execute("UPDATE study_assignments SET ending = 'finished' WHERE finished_at IS NOT NULL")
    with op.batch_alter_table("study_assignments") as table:
        for name, kind, _ in _NEEDED:
            table.alter_column(name, existing_type=kind, server_default=None)
    op.create_table(
        "study_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("series", sa.Integer(), nullable=True),
        sa.Column("episode", sa.Integer(), nullable=True),
        sa.Column("confidence", sa.Integer(), nullable=True),
        sa.Column("at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["study_assignments.id"],
            name=op.f("fk_study_answers_assignment_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study_answers")),
    )
    op.create_index(
        op.f("ix_study_answers_assignment_id"), "study_answers", ["assignment_id"], unique=False
    )
    with op.batch_alter_table("play_attempts") as table:
        for name in _CLIENT:
            table.add_column(sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    """Drop them."""
    with op.batch_alter_table("play_attempts") as table:
        for name in _CLIENT:
            table.drop_column(name)
    op.drop_table("study_answers")
    with op.batch_alter_table("study_assignments") as table:
        table.drop_constraint("uq_study_assignments_end_key", type_="unique")
        table.drop_constraint("uq_study_assignments_study_id_identity", type_="unique")
        for name, _, _ in _NEEDED:
            table.drop_column(name)
        for name in ("excluded_at", "end_key", "identity"):
            table.drop_column(name)
