"""Remove personal texts from the audit log; networks of requests; browsers of participants."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_LOG = sa.table(
    "audit_log",
    *(sa.column(name) for name in ("id", "account_id", "action")),
    sa.column("detail", sa.JSON()),
)
_SQLITE_TRIGGER = """
CREATE TRIGGER audit_log_no_UPDATE BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END
"""


def upgrade() -> None:
    """Add the columns, and remove the reasons that people gave from the log."""
    op.add_column("token_requests", sa.Column("network", sa.String(length=64), nullable=True))
    op.create_index(op.f("ix_token_requests_network"), "token_requests", ["network"])
    op.add_column("study_assignments", sa.Column("browser", sa.String(length=128), nullable=True))
    op.add_column("study_assignments", sa.Column("device", sa.String(length=128), nullable=True))
    # The keys of counts were addresses; now they are keyed hashes.
    op.execute("DELETE FROM rate_limits")
    sqlite = op.get_bind().dialect.name == "sqlite"
    op.execute(
        "DROP TRIGGER audit_log_no_UPDATE"
        if sqlite
        else "ALTER TABLE audit_log DISABLE TRIGGER audit_log_only_grows"
    )
    by_a_person = sa.or_(
        _LOG.c.action.in_(("entry withdrawn", "submission withdrawn", "account closed")),
        sa.and_(_LOG.c.action == "submission refused", _LOG.c.account_id.is_not(None)),
    )
    found = sa.select(_LOG.c.id, _LOG.c.detail).where(by_a_person)
    for number, detail in op.get_bind().execute(found).all():
        kept = {name: value for name, value in detail.items() if name != "reason"}
        op.execute(_LOG.update().where(_LOG.c.id == number).values(detail=kept))
    op.execute(
        _SQLITE_TRIGGER if sqlite else "ALTER TABLE audit_log ENABLE TRIGGER audit_log_only_grows"
    )


def downgrade() -> None:
    """Remove the columns; the reasons cannot be restored."""
    op.drop_column("study_assignments", "device")
    op.drop_column("study_assignments", "browser")
    op.drop_index(op.f("ix_token_requests_network"), "token_requests")
    op.drop_column("token_requests", "network")
