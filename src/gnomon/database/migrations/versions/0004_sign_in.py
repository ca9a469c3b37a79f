"""People who ask for a token, who sign in with a provider, and the switch for both."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gnomon.database.columns import UtcTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "identities",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("issuer", sa.String(length=300), nullable=False),
        sa.Column("subject", sa.String(length=300), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_identities_account_id")
        ),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_identities_token_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identities")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_identities_issuer_subject")),
    )
    op.create_index(op.f("ix_identities_account_id"), "identities", ["account_id"])
    op.create_table(
        "token_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("claim", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("decided_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_token_requests_account_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token_requests")),
        sa.UniqueConstraint("claim", name=op.f("uq_token_requests_claim")),
    )
    op.create_index(op.f("ix_token_requests_state"), "token_requests", ["state"])
    op.create_table(
        "server_switches",
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("value", sa.String(length=128), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_server_switches")),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("server_switches")
    op.drop_table("token_requests")
    op.drop_table("identities")
