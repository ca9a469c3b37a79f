"""Boards from files, in the JSON of the reference game server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError, shortened
from gnomon.files import read_text
from gohr.game.board import Board, Piece


def read_board_file(path: str | Path) -> Board:
    """Read a board from a JSON file, as the reference game server writes and reads it.

    ::

        {"id": 0, "value": [{"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6}]}

    The pieces keep the order of the file, names come in upper case, and other fields are ignored.

    Raises GnomonError: the file cannot be read, a field is missing or not as expected, or two
    pieces share a cell; the message names the file, the piece (counted from 1) and the field.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "board.json"
    >>> piece = {"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6}
    >>> _ = file.write_text(json.dumps({"id": 0, "value": [piece]}))
    >>> read_board_file(file).pieces[0].shape
    'STAR'
    """
    path = Path(path)
    try:
        content = json.loads(read_text(path).removeprefix("\ufeff"))
    except RecursionError:
        raise GnomonError(f"{path}: expected a board; the JSON is nested too deeply") from None
    except ValueError as error:
        raise GnomonError(f"{path}: expected JSON: {error}") from None
    rows = content.get("value") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise GnomonError(f'{path}: expected {{"value": [...]}} with a list of pieces')
    pieces: list[Piece] = []
    for number, row in enumerate(rows, 1):
        where = f"{path}, piece {number}"
        if not isinstance(row, dict):
            raise GnomonError(f"{where}: expected an object, found {_shown(row)}")
        x, y = (_integer(row, name, 1, 6, where) for name in "xy")
        shape, color = (_name(row, name, where) for name in ("shape", "color"))
        piece_id = _integer(row, "id", 0, 2**31 - 1, where)
        piece = Piece(piece_id, x + 6 * (y - 1), shape, color)
        if any(other.id == piece.id for other in pieces):
            raise GnomonError(f"{where}, field 'id': {piece.id} is another piece's already")
        if any(other.pos == piece.pos for other in pieces):
            raise GnomonError(f"{where}: several pieces in cell {piece.pos}")
        pieces.append(piece)
    return Board(tuple(pieces))


def _integer(row: Mapping[str, Any], key: str, least: int, most: int, where: str) -> int:
    """Read a whole number; digits in a string will do, as in the reference's own files."""
    found = row.get(key)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 12:
        found = int(found)
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        expected = f"{least} to {most}" if most < 2**31 - 1 else f"a number from {least}"
        raise GnomonError(f"{where}, field {key!r}: expected {expected}, found {_shown(found)}")
    return found


def _name(row: Mapping[str, Any], key: str, where: str) -> str:
    found = row.get(key)
    if not isinstance(found, str) or not found.strip():
        raise GnomonError(f"{where}, field {key!r}: expected a name, found {_shown(found)}")
    return found.strip().upper()


def _shown(value: Any) -> str:
    """Return a description of the value found, short enough for one line."""
    return "nothing" if value is None else shortened(json.dumps(value))
