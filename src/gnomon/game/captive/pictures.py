"""The picture of a board in the reference's FULL mode: comment lines that draw the cells."""

from __future__ import annotations

from collections.abc import Iterable

from gnomon.game.board import Piece

__all__ = ["board_picture"]

# ⚠ Blue is g, for b is black.
_COLOR_SIGNS = {"RED": "r", "BLACK": "b", "BLUE": "g", "YELLOW": "y"}
_SHAPE_SIGNS = {"SQUARE": "#", "STAR": "*", "CIRCLE": "o", "TRIANGLE": "^"}
_EDGE = "#---+------------------------------"
_COLUMNS = "#   |" + "".join(f"   {x} " for x in range(1, 7)) + "  "


def board_picture(pieces: Iterable[Piece], last: tuple[int, bool] | None = None) -> list[str]:
    r"""Draw a board as comment lines.

    Parameters
    ----------
    pieces : iterable of Piece
        What is on the board. A piece is drawn as its colour and its shape, a letter each; one that
        is known by its properties as ``?``; several in a cell as their number.
    last : (int, bool), optional
        The cell of the last attempt, and whether it was accepted: round brackets around the cell
        if so, else square ones.

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
