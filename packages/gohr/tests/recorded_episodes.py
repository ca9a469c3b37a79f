"""Recorded episodes of the reference game server, and where they lie.

A compact selection is in ``packages/gohr/tests/data``; all of it is beside some checkouts only.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gohr import Board, Piece

DATA = Path(__file__).parent / "data"
VECTORS = Path(__file__).parents[4] / "shared" / "vectors"


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Read JSON lines, zipped or not."""
    content = path.read_bytes()
    for line in (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines():
        yield json.loads(line)


def board_of(record: dict[str, Any]) -> Board:
    """Make the board of an episode record."""
    return Board(
        tuple(
            Piece(p["id"], p["pos"], properties=p["props"])
            if "props" in p
            else Piece(p["id"], p["pos"], p["shape"], p["color"])
            for p in record["board"]
        )
    )


def legal_of(record: dict[str, Any], step: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the recorded legal moves as sorted (piece id, bucket), whatever names the pieces."""
    if record["class"] == "crowded":
        return sorted((piece_id, bucket) for piece_id, bucket in step["legal"])
    id_at = {p["pos"]: p["id"] for p in record["board"]}
    return sorted((id_at[pos], bucket) for pos, bucket in step["legal"])
