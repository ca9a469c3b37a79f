"""Store when a worker first saw a job, and the state of the evidence of a submission.

The hash of a log played on the server is stored only with its submission.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gnomon_board.database.columns import UtcTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; attempts are read from the log again when needed."""
    with op.batch_alter_table("jobs") as table:
        table.add_column(sa.Column("seen_at", UtcTime(), nullable=True))
    with op.batch_alter_table("submissions") as table:
        table.add_column(sa.Column("rows_sha256", sa.String(length=64), nullable=True))
        table.add_column(sa.Column("damaged_at", UtcTime(), nullable=True))
    with op.batch_alter_table("remote_trials") as table:
        table.drop_column("log_sha256")


def downgrade() -> None:
    """Remove the columns, and restore the removed one without values."""
    with op.batch_alter_table("remote_trials") as table:
        table.add_column(sa.Column("log_sha256", sa.String(length=64), nullable=True))
    with op.batch_alter_table("submissions") as table:
        table.drop_column("damaged_at")
        table.drop_column("rows_sha256")
    with op.batch_alter_table("jobs") as table:
        table.drop_column("seen_at")
