"""The tables of the first release, which `gnomon_board.schema` creates.

Version 1, of boards made before this release, is refused.
"""

from __future__ import annotations

revision = "2"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: an empty database gets the newest tables from the schema."""
