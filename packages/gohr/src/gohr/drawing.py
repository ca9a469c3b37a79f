"""Drawings of a board, as text and as pixels, light enough to be made at every step."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gohr.board import N_CELLS, BoardSpec

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
#: One character for a shape; that of any other is its initial.
_SIGNS = {"SQUARE": "■", "STAR": "★", "CIRCLE": "●", "TRIANGLE": "▲"}
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
            name = spec.shape_palette[shape]
            names[cell] = _SIGNS.get(name, name[0]) + spec.color_palette[color][:3].lower()
    edge = "+" + "-" * 31 + "+"
    rows = [f"(0) {edge} (1)"]
    for y in range(6, 0, -1):
        shown = " ".join(f"{name or '.':^4}" for name in names[6 * (y - 1) : 6 * y])
        rows.append(f"  {y} | {shown} |")
    rows += [f"(3) {edge} (2)", "      " + " ".join(f"{x:^4}" for x in range(1, 7)).rstrip()]
    return "\n".join(rows)


@lru_cache(maxsize=64)
def _stamps(palette: tuple[str, ...]) -> list[npt.NDArray[np.bool_]]:
    """Return which pixels of a cell each shape covers; those beyond the four are polygons."""
    from matplotlib.path import Path  # only pictures need it

    outlines = {
        "SQUARE": Path([(-0.7, -0.7), (-0.7, 0.7), (0.7, 0.7), (0.7, -0.7)]),
        "STAR": Path.unit_regular_star(5, 0.42),
        "CIRCLE": Path.unit_circle(),
        "TRIANGLE": Path.unit_regular_polygon(3),
    }
    others = [name for name in palette if name not in outlines]
    outlines |= {name: Path.unit_regular_polygon(sides) for sides, name in enumerate(others, 5)}
    side = np.linspace(-1.2, 1.2, _CELL)
    points = np.stack(np.meshgrid(side, -side), axis=-1).reshape(-1, 2)
    return [outlines[name].contains_points(points).reshape(_CELL, _CELL) for name in palette]


def board_pixels(codes: npt.NDArray[np.uint8], spec: BoardSpec) -> npt.NDArray[np.uint8]:
    """Draw a board with its buckets at the corners; shape (256, 256, 3), dtype uint8."""
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
