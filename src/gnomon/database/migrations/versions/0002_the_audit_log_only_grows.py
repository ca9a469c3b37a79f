"""The audit log only grows."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_SQLITE = """
CREATE TRIGGER audit_log_no_{0} BEFORE {0} ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END
"""
_POSTGRESQL = """
CREATE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log only grows'; END $$
"""
_POSTGRESQL_TRIGGER = """
CREATE TRIGGER audit_log_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows()
"""


def upgrade() -> None:
    """Refuse changes of the audit log, whoever asks for them."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_SQLITE.format("UPDATE"))
        op.execute(_SQLITE.format("DELETE"))
    else:
        op.execute(_POSTGRESQL)
        op.execute(_POSTGRESQL_TRIGGER)


def downgrade() -> None:
    """Undo it."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER audit_log_no_UPDATE")
        op.execute("DROP TRIGGER audit_log_no_DELETE")
    else:
        op.execute("DROP TRIGGER audit_log_only_grows ON audit_log")
        op.execute("DROP FUNCTION audit_log_only_grows()")
