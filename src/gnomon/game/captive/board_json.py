"""The board as the reference's JSON line."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from gnomon.game.board import Piece
from gnomon.game.formats.board_source import Deal
from gnomon.rules.expressions import integer_of

__all__ = ["board_json", "compact_json", "piece_parts", "property_value"]


def compact_json(value: Any) -> str:
    """Return JSON without blanks, as the reference writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def property_value(text: str) -> int | str:
    """Return the value of a property: a number, if it looks like one."""
    number = integer_of(text)
    return text if number is None else number


def piece_parts(piece: Piece, deal: Deal) -> tuple[str, str]:
    """Return the JSON of a piece up to its buckets, and what comes after them.

    Examples
    --------
    >>> from gnomon.game.board import Board
    >>> piece = Piece(0, 31, "STAR", "RED")
    >>> print("[0,1]".join(piece_parts(piece, Deal(Board((piece,))))))
    {"id":0,"color":"RED","shape":"STAR","x":1,"y":6,"buckets":[0,1]}
    """
    before = f'{{"id":{piece.id},'
    if piece.properties is None:
        before += f'"color":{_quoted(piece.color)},"shape":{_quoted(piece.shape)},'
    before += f'"x":{piece.x},"y":{piece.y},'
    if piece.properties is not None:
        before += f'"image":{_quoted(deal.images.get(piece.id, ""))},'
    if deal.labelled:
        before += f'"label":{_quoted(chr((ord("A") + piece.id) % 0xD800))},'
    after = {k: property_value(v) for k, v in sorted((piece.properties or {}).items())}
    tail = f",{compact_json(after)[1:]}" if after else "}"
    return f'{before}"buckets":', tail


@lru_cache(maxsize=1000)
def _quoted(name: str | None) -> str:
    return compact_json(name)


def board_json(pieces: list[str]) -> str:
    """Return the line of a board. ⚠ Its id is 0, whatever that of its file."""
    return f'{{"id":0,"value":[{",".join(pieces)}]}}'
