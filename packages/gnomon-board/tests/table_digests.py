"""A hash of each table's rows, the same whatever kind of database holds them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Connection, select

from gnomon_board.schema import Base

__all__ = ["table_digests"]


def table_digests(connection: Connection) -> dict[str, str]:
    """Return the hash of each table, by its name."""
    digests = {}
    for table in Base.metadata.sorted_tables:
        digest = hashlib.sha256()
        for row in connection.execute(select(table).order_by(*table.primary_key.columns)):
            digest.update(json.dumps(list(row), default=_plain, sort_keys=True).encode())
        digests[table.name] = digest.hexdigest()
    return digests


def _plain(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
