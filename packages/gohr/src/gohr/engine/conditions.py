"""Conditions of an atom beyond its tables: orders of cells, and expressions over the memory.

These are the parts of the rule language that look at more than one piece at a time, or remember
more than buckets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError
from gohr.board import N_CELLS, BoardSpec
from gohr.engine.value_sets import Program, ProgramBuilder
from gohr.errors import RuleError
from gohr.rules.syntax import Atom, Expression, Order
from gohr.rules.variables import cells_in, is_literal, orders_in

#: The rank of a cell that an order does not list.
UNRANKED = 255
#: Maximum number of orders of a rule in the kernel that evaluates them.
MOST_ORDERS = 256


@dataclass(frozen=True, slots=True)
class PositionField:
    """A position field: cells that match by number, and orders, one of which may match instead."""

    cells: tuple[int, ...]
    orders: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AtomConditions:
    """All further conditions of an atom; each must hold."""

    positions: tuple[PositionField, ...]
    postpos: PositionField | None
    programs: tuple[Program, ...]


def _built_in_orders() -> dict[str, list[int]]:
    """Return the rank of each cell in the ten orders of the game, cells from the bottom left."""
    cells = [(x, y) for y in range(6) for x in range(6)]
    nearness = [min(x + 1, 6 - x) ** 2 + min(y + 1, 6 - y) ** 2 for x, y in cells]
    ranks = sorted(set(nearness))
    return {
        "B": [y for _, y in cells],
        "T": [5 - y for _, y in cells],
        "L": [x for x, _ in cells],
        "R": [5 - x for x, _ in cells],
        "L1": [6 * (5 - y) + x for x, y in cells],
        "L2": [6 * (5 - y) + 5 - x for x, y in cells],
        "L3": [6 * (5 - x) + 5 - y for x, y in cells],
        "L4": [6 * x + 5 - y for x, y in cells],
        "NearestObject": [ranks.index(d) for d in nearness],
        "Farthest": [len(ranks) - ranks.index(d) for d in nearness],
    }


class OrderTable:
    """The orders that a rule uses, numbered as they come up."""

    def __init__(self, custom: tuple[Order, ...]) -> None:
        self._ranks = _built_in_orders()
        for order in custom:
            ranks = [UNRANKED] * N_CELLS
            # Empty ranks decide nothing. Without them there are no more ranks than cells.
            for rank, cells in enumerate(filter(None, order.ranks)):
                for cell in cells:
                    ranks[cell - 1] = rank
            self._ranks[order.name] = ranks
        self._used: list[str] = []

    def number(self, name: str) -> int:
        """Return the number of an order."""
        if name not in self._ranks:
            raise RuleError(str(UnknownNameError("order", name, self._ranks)))
        if name not in self._used:
            if len(self._used) == MOST_ORDERS:
                raise RuleError(f"expected at most {MOST_ORDERS} orders")
            self._used.append(name)
        return self._used.index(name)

    def ranks(self) -> npt.NDArray[np.uint8]:
        """Return the ranks of the cells in the orders used, shape (n_orders, 36)."""
        used = [self._ranks[name] for name in self._used]
        return np.array(used, dtype=np.uint8).reshape(len(used), N_CELLS)


def position_field(position: Expression, orders: OrderTable) -> PositionField:
    """Translate a position field, a number or name or (nested) list of them."""
    listed = cells_in(position)
    cells = tuple(int(pos in listed) for pos in range(1, 1 + N_CELLS))
    return PositionField(cells, tuple(orders.number(name.value) for name in orders_in(position)))


def programs_of(atom: Atom, spec: BoardSpec, *, simple_buckets: bool) -> tuple[Program, ...]:
    """Return the programs of the fields that no table holds."""
    programs = []
    if atom.code is not None:
        programs.append(ProgramBuilder(spec).truth(atom.code))
    if atom.shape is not None and not is_literal(atom.shape):
        programs.append(ProgramBuilder(spec).names(atom.shape, "shape"))
    if atom.color is not None and not is_literal(atom.color):
        programs.append(ProgramBuilder(spec).names(atom.color, "color"))
    if atom.buckets is not None and not simple_buckets:
        programs.append(ProgramBuilder(spec).buckets(atom.buckets))
    return tuple(programs)
