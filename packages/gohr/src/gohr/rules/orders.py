"""Built-in orders of cells, which every rule may name without defining them.

An order is a sequence of ranks of cells. With it, a rule can require "the leftmost piece first": a
cell is eligible when it is in the first rank that holds any piece. Cells are numbered as on the
board, from 1 at the bottom left to 36 at the top right, row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

Ranks: TypeAlias = tuple[tuple[int, ...], ...]

_SIDE = range(1, 7)


def _cell(column: int, row: int) -> int:
    return column + 6 * (row - 1)


def _row(row: int) -> tuple[int, ...]:
    return tuple(_cell(column, row) for column in _SIDE)


def _column(column: int) -> tuple[int, ...]:
    return tuple(_cell(column, row) for row in _SIDE)


def _one_by_one(cells: Iterable[int]) -> Ranks:
    return tuple((cell,) for cell in cells)


def _distance(cell: int) -> int:
    """Squared distance to the nearest corner, after mirroring the cell into the lower left.

    The corner is the point (0, 0), one step outside of the cell (1, 1).
    """
    row, column = divmod(cell - 1, 6)
    a, b = min(column + 1, 6 - column), min(row + 1, 6 - row)
    return a * a + b * b


_DISTANCES = (2, 5, 8, 10, 13, 18)
_BY_DISTANCE: Ranks = tuple(
    tuple(cell for cell in range(1, 37) if _distance(cell) == distance) for distance in _DISTANCES
)

#: Ranks of each built-in order, by name. ``L``, ``R``, ``T`` and ``B`` tie whole rows or columns,
#: ``L1`` to ``L4`` tie nothing.
BUILT_IN_ORDERS: Mapping[str, Ranks] = MappingProxyType(
    {
        "B": tuple(_row(row) for row in _SIDE),
        "T": tuple(_row(row) for row in reversed(_SIDE)),
        "L": tuple(_column(column) for column in _SIDE),
        "R": tuple(_column(column) for column in reversed(_SIDE)),
        "L1": _one_by_one(cell for row in reversed(_SIDE) for cell in _row(row)),
        "L2": _one_by_one(cell for row in reversed(_SIDE) for cell in reversed(_row(row))),
        "L3": _one_by_one(cell for column in reversed(_SIDE) for cell in reversed(_column(column))),
        "L4": _one_by_one(cell for column in _SIDE for cell in reversed(_column(column))),
        "NearestObject": _BY_DISTANCE,
        "Farthest": tuple(reversed(_BY_DISTANCE)),
    }
)


def eligible(ranks: Ranks, cells: frozenset[int]) -> frozenset[int]:
    """Return the given cells that an order allows.

    ⚠ If no rank of an incomplete order contains any of the cells, all are allowed, as if the cells
    that it omits were one last tied rank.
    """
    for rank in ranks:
        leading = cells.intersection(rank)
        if leading:
            return leading
    return cells
