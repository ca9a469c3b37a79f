"""Drawings of a board, as text and as pixels, light enough to be made at every step."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gohr.board import N_CELLS, SHAPES, BoardSpec

_CELL = 32  # pixels along the side of a cell
_PALETTE = {
    "RED": (204, 51, 51),
    "BLACK": (34, 34, 34),
    "BLUE": (0, 114, 178),
    "YELLOW": (230, 180, 0),
    "GREEN": (0, 158, 115),
    "ORANGE": (213, 94, 0),
    "PURPLE": (148, 83, 160),
    "GRAY": (130, 130, 130),
}
_SPARE = ((86, 180, 233), (204, 121, 167), (0, 90, 60), (120, 70, 20))
_GROUND, _GRID, _BUCKET = (250, 250, 247), (205, 205, 200), (150, 150, 145)


def board_text(codes: npt.NDArray[np.uint8], spec: BoardSpec) -> str:
    """Draw a board with a sign for each shape and three letters for its colour.

    Examples
    --------
    >>> codes = np.zeros(36, dtype=np.uint8)
    >>> codes[0], codes[35] = 1, 7
    >>> print(board_text(codes, BoardSpec()))
    (0) +-------------------------------+ (1)
      6 |  .    .    .    .    .   ★blu |
      5 |  .    .    .    .    .    .   |
      4 |  .    .    .    .    .    .   |
      3 |  .    .    .    .    .    .   |
      2 |  .    .    .    .    .    .   |
      1 | ■red  .    .    .    .    .   |
    (3) +-------------------------------+ (2)
           1    2    3    4    5    6
    """
    names = [""] * N_CELLS
    for cell in range(N_CELLS):
        if codes[cell]:
            shape, color = divmod(int(codes[cell]) - 1, len(spec.color_palette))
            names[cell] = _glyph(spec, shape) + spec.color_palette[color][:3].lower()
    edge = "+" + "-" * 31 + "+"
    rows = [f"(0) {edge} (1)"]
    for y in range(6, 0, -1):
        shown = " ".join(f"{name or '.':^4}" for name in names[6 * (y - 1) : 6 * y])
        rows.append(f"  {y} | {shown} |")
    rows += [f"(3) {edge} (2)", "      " + " ".join(f"{x:^4}" for x in range(1, 7)).rstrip()]
    return "\n".join(rows)


def _glyph(spec: BoardSpec, shape: int) -> str:
    """Return one character for a shape: a picture of it, or its initial."""
    name = spec.shape_palette[shape]
    return {"SQUARE": "■", "STAR": "★", "CIRCLE": "●", "TRIANGLE": "▲"}.get(name, name[0])


@lru_cache(maxsize=64)
def _stamps(palette: tuple[str, ...]) -> list[npt.NDArray[np.bool_]]:
    """Return which pixels of a cell each shape covers; those beyond the four are polygons."""
    others = [name for name in palette if name not in SHAPES]
    # From five sides on: a polygon of four is the square, and one of three the triangle.
    numbers = dict(zip((*SHAPES, *others), (*range(4), *range(5, 5 + len(others))), strict=True))
    return [_stamp(numbers[name]) for name in palette]


def _stamp(shape: int) -> npt.NDArray[np.bool_]:
    """Return the pixels of a square, a star, a disc; from 3 on, of a polygon of as many sides."""
    side = np.linspace(-1, 1, _CELL)
    x, y = np.meshgrid(side, -side)
    radius, angle = np.hypot(x, y), np.arctan2(x, y)
    covered: npt.NDArray[np.bool_]
    if shape == 0:
        covered = (np.abs(x) < 0.6) & (np.abs(y) < 0.6)
    elif shape == 2:
        covered = radius < 0.7
    elif shape == 1:
        # Between a point at radius 0.85 and a notch at 0.36 the edge of a star is straight.
        turn = np.abs((angle / (2 * np.pi / 5) + 0.5) % 1 - 0.5) * 2 * np.pi / 5
        point, notch, half = 0.85, 0.36, np.pi / 5
        edge = point * notch * np.sin(half)
        covered = radius * (point * np.sin(turn) + notch * np.sin(half - turn)) < edge
    else:
        half = np.pi / shape
        turn = angle % (2 * half) - half  # a corner at the top
        covered = radius * np.cos(turn) < 0.8 * np.cos(half)
    return covered


def board_pixels(codes: npt.NDArray[np.uint8], spec: BoardSpec) -> npt.NDArray[np.uint8]:
    """Draw a board with its buckets at the corners; shape (256, 256, 3), dtype uint8.

    Examples
    --------
    >>> import gohr
    >>> [board] = gohr.draw_boards(1, rng=np.random.default_rng(0))
    >>> board_pixels(board, gohr.BoardSpec()).shape
    (256, 256, 3)
    """
    side = 8 * _CELL
    picture = np.full((side, side, 3), _GROUND, dtype=np.uint8)
    for line in range(1, 8):
        picture[line * _CELL, _CELL : 7 * _CELL + 1] = _GRID
        picture[_CELL : 7 * _CELL + 1, line * _CELL] = _GRID
    margin = _CELL // 6
    for top in (0, 7 * _CELL):
        for left in (0, 7 * _CELL):
            picture[top + margin : top + _CELL - margin, left + margin : left + _CELL - margin] = (
                _BUCKET
            )
    stamps = _stamps(spec.shape_palette)
    for cell in range(N_CELLS):
        if codes[cell]:
            shape, color = divmod(int(codes[cell]) - 1, len(spec.color_palette))
            top, left = (6 - cell // 6) * _CELL, (1 + cell % 6) * _CELL
            here = picture[top : top + _CELL, left : left + _CELL]
            here[stamps[shape]] = _PALETTE.get(
                spec.color_palette[color], _SPARE[color % len(_SPARE)]
            )
    return picture
