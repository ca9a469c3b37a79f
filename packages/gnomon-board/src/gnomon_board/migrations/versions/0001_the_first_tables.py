"""The tables of the first release, which `gnomon_board.schema` creates."""

from __future__ import annotations

revision = "1"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: an empty database gets the newest tables from the schema."""
