"""A submission has the hash of its log when that has come, and not before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

#: A submission whose log has come has had a job, or was believed at once (the open division).
_WITHOUT_LOG = """
verified_at IS NULL AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.submission_id = submissions.id)
"""


def upgrade() -> None:
    """Forget hashes that were announced; the manifest has them too."""
    _let_be_empty(empty=True)
    op.execute(f"UPDATE submissions SET log_sha256 = NULL WHERE {_WITHOUT_LOG}")


def downgrade() -> None:
    """Put a number in place of each, for two submissions may have announced the same hash."""
    op.execute(
        "UPDATE submissions SET log_sha256 = "
        "substr('0000000000000000000000000000000000000000000000000000000000000000' || id, "
        "length(CAST(id AS VARCHAR(20))) + 1) WHERE log_sha256 IS NULL"
    )
    _let_be_empty(empty=False)


def _let_be_empty(*, empty: bool) -> None:
    with op.batch_alter_table("submissions") as table:
        table.alter_column("log_sha256", existing_type=sa.String(64), nullable=empty)
