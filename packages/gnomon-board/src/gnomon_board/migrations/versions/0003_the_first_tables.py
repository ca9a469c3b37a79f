"""The tables of the first release, which `gnomon_board.schema` creates.

Versions 1 and 2, of boards made before this release, are refused.
"""

from __future__ import annotations

revision = "3"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: an empty database gets the newest tables from the schema."""
