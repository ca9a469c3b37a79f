"""The lines that show a board: the reference's JSON, and its picture in comment lines.

The picture of a board in the reference's FULL mode: comment lines that draw the cells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from gnomon.game.board import Piece
from gnomon.game.formats.board_source import Deal
from gnomon.rules.expressions import integer_of


def compact_json(value: Any) -> str:
    """Return JSON without blanks, as the reference writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def property_value(text: str) -> int | str:
    """Return the value of a property: a number, if it looks like one."""
    number = integer_of(text)
    return text if number is None else number


def piece_parts(piece: Piece, deal: Deal) -> tuple[str, str]:
    """Return the JSON of a piece up to its buckets, and what comes after them."""
    before = f'{{"id":{piece.id},'
    if piece.properties is None:
        before += f'"color":{_quoted(piece.color)},"shape":{_quoted(piece.shape)},'
    before += f'"x":{piece.x},"y":{piece.y},'
    if piece.properties is not None:
        before += f'"image":{_quoted(piece.image or "")},'
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


# ⚠ Blue is g, for b is black.
_COLOR_SIGNS = {"RED": "r", "BLACK": "b", "BLUE": "g", "YELLOW": "y"}
_SHAPE_SIGNS = {"SQUARE": "#", "STAR": "*", "CIRCLE": "o", "TRIANGLE": "^"}
_EDGE = "#---+------------------------------"
_COLUMNS = "#   |" + "".join(f"   {x} " for x in range(1, 7)) + "  "


def board_picture(pieces: Iterable[Piece], last: tuple[int, bool] | None = None) -> list[str]:
    r"""Draw a board as comment lines.

    A piece is drawn as its colour and its shape, a letter each; one that is known by its properties
    as ``?``; several in a cell as their number. ``last`` is the cell of the last attempt, with
    round brackets around it if it was accepted, else square ones.

    Examples
    --------
    >>> print("\n".join(board_picture([Piece(0, 31, "STAR", "RED")], (36, True))[:2]))
    #---+------------------------------
    # 6 |  r*    .    .    .    .  ( .)
    """
    signs: dict[int, list[str]] = {}
    for piece in pieces:
        signs.setdefault(piece.pos, []).append(_sign(piece))
    rows = [
        f"# {y} |" + "".join(_cell(x + 6 * y - 6, signs, last) for x in range(1, 7))
        for y in range(6, 0, -1)
    ]
    return [_EDGE, *rows, _EDGE, _COLUMNS]


def _cell(pos: int, signs: dict[int, list[str]], last: tuple[int, bool] | None) -> str:
    here = signs.get(pos, [" ."])
    sign = here[0] if len(here) == 1 else f"{len(here):2d}"
    opening, closing = " ", " "
    if last is not None and last[0] == pos:
        opening, closing = "()" if last[1] else "[]"
    return f" {opening}{sign}{closing}"


def _sign(piece: Piece) -> str:
    if piece.shape is None or piece.color is None:
        return " ?"
    color = _COLOR_SIGNS.get(piece.color, piece.color[:1].lower())
    return color + _SHAPE_SIGNS.get(piece.shape, piece.shape[:1].lower())
