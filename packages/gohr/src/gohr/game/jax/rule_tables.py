"""A bank of rules as padded tables, in which a row is a rule: what the JAX environment plays.

The tables are made from :class:`~gohr.game.CompiledRule` in four steps, each of which keeps every
reply of the game:

Fold
    An expression with the same value in all states of the memory goes into the table of pieces, one
    that depends on the cell alone into the table of cells, one that depends on the last buckets
    alone into theirs.
Drop
    An atom that never accepts anything goes.
Unite
    Two atoms of a line without counts that differ in one table alone become one, since
    ``a & x | b & x == (a | b) & x``.
Pack
    Eight atoms are packed in a word of 32 bits, four bits (the buckets) each, all lines together.

The remaining programs, conditions on pieces moved before, become one table for all conditions over
the same fields (:mod:`gohr.game.jax.program_tables`). It is all plain NumPy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, N_CELLS, nearest_bucket
from gohr.game.jax.program_tables import CELL, LAST_BUCKETS, LOOK, N_AXES, ProgramTable, tabulate

if TYPE_CHECKING:
    from gohr.game.engine.compiler import CompiledRule
    from gohr.game.engine.conditions import PositionField

ATOMS_A_WORD = 8
#: States of the last buckets p, pc, ps (none or one of four each), times four quadrants.
N_BUCKET_STATES = 5 * 5 * 5 * N_BUCKETS
_ALL = 0b1111
_QUADRANT = np.array([nearest_bucket(1 + cell) for cell in range(N_CELLS)])

#: Maximum number of entries of a merged table of conditions.
_SMALL = 256

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the tables of a bank, on which its compiled program depends.

    Parts that are 0 or False are left out of that program. Rules of the same sizes share it.

    Parameters
    ----------
    n_words : int
        Words of eight atoms, all lines of a rule together; at least 1.
    n_lines : int
        Rule lines, at least 1.
    n_orders : int
        Orders of cells.
    n_fields : int
        Position fields of an atom that name an order.
    postpos : bool
        Whether there are orders of the pieces that an atom would move.
    n_programs : int
        Tables of conditions on pieces that were moved before.
    n_entries : int
        Entries of the largest of them.
    metered : bool
        Whether atoms have counts.

    Examples
    --------
    >>> Sizes(n_lines=2).union(Sizes(n_orders=1)).covers(Sizes(n_lines=2, n_orders=1))
    True
    """

    n_words: int = 1
    n_lines: int = 1
    n_orders: int = 0
    n_fields: int = 0
    postpos: bool = False
    n_programs: int = 0
    n_entries: int = 0
    metered: bool = False

    def union(self, other: Sizes) -> Sizes:
        """Return the smallest sizes that fit both."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return Sizes(*(max(pair) for pair in pairs))

    def covers(self, other: Sizes) -> bool:
        """Return whether a rule of the other sizes fits into these."""
        return self.union(other) == self


#: Sizes for every rule that comes with Gnomon.
CATALOGUE = Sizes(1, 4, 2, 1, False, 1, 128, True)


@dataclass(frozen=True)
class RuleTables:
    """A bank of rules as arrays, whose leading axis R is the rule.

    A set of buckets is four bits, bit ``b`` for bucket ``b``. A word holds those of eight atoms,
    the first in the lowest bits. W words, L lines, O orders, F position fields, G programs and T
    entries are those of :class:`Sizes`; arrays of parts that no rule has are empty.

    Parameters
    ----------
    piece : uint32, shape (R, n_codes, W)
        Buckets that each atom allows for the code of a piece; none for code 0, an empty cell.
    cell : uint32, shape (R, 36, W)
        And for its cell, 0 to 35.
    bucket : uint32, shape (R, 500, W)
        And for the last buckets, at index ``((p * 5 + pc) * 5 + ps) * 4 + quadrant``, each 0 for
        none or 1 + bucket.
    line_words : uint32, shape (R, L, W)
        The atoms that are alive when a line is entered, all four bits of each.
    line_count : int32, shape (R, L)
        Count of a line, -1 for none; 0 for a line that is not there, or never playable.
    n_lines : int32, shape (R,)
        Lines of the rule.
    atom_count, atom_line : int32, shape (R, 8 W)
        Count of an atom, -1 for none; its line.
    ranks : int32, shape (R, O, 36)
        Rank of a cell in an order, 255 for none.
    field_cells : uint32, shape (R, F, 36, W)
        Cells that a position field allows by number; all if an atom has no position field.
    field_orders : uint32, shape (R, F, O, W)
        Orders whose first pieces it also allows.
    post_cells, post_orders : uint32, shapes (R, 36, W) and (R, O, W)
        The same of the field that looks at the pieces that the atom would move.
    strides : int32, shape (R, G, 20)
        Strides of the fields shape, color, cell and bucket (0 for none, else 1 + index) of five
        records: the piece attempted (without "none", from 0), the last one accepted, the last of
        its color, of its shape, and in the bucket that is tried.
    entries : uint32, shape (R, G, T, W)
        Buckets that the conditions over these fields allow, at the sum of stride times field; only
        the bits of the bucket that is tried are used.
    """

    piece: Any
    cell: Any
    bucket: Any
    line_words: Any
    line_count: Any
    n_lines: Any
    atom_count: Any
    atom_line: Any
    ranks: Any
    field_cells: Any
    field_orders: Any
    post_cells: Any
    post_orders: Any
    strides: Any
    entries: Any

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays together."""
        return sum(getattr(self, field.name).nbytes for field in dataclasses.fields(self))


@dataclass(frozen=True, slots=True, eq=False)
class _Atom:
    """An atom after folding: three tables, its count, and the remaining conditions."""

    piece: Bytes
    cell: Bytes
    bucket: Bytes
    count: int
    positions: tuple[PositionField, ...] = ()
    postpos: PositionField | None = None
    programs: tuple[ProgramTable, ...] = ()

    @property
    def is_dead(self) -> bool:
        tables = (self.piece, self.cell, self.bucket)
        return self.count == 0 or not all(table.any() for table in tables)

    def united(self, other: _Atom) -> _Atom | None:
        """Return one atom that allows what either does, if a table can hold it."""
        if self.count >= 0 or other.count >= 0 or self.postpos or other.postpos:
            return None
        if (self.positions, self.programs) != (other.positions, other.programs):
            return None
        tables = [
            name
            for name in ("piece", "cell", "bucket")
            if not np.array_equal(getattr(self, name), getattr(other, name))
        ]
        if len(tables) > 1:
            return None
        return dataclasses.replace(
            self, **{name: getattr(self, name) | getattr(other, name) for name in tables}
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    count: int
    atoms: tuple[_Atom, ...]


def to_tables(
    rules: Sequence[CompiledRule], sizes: Sizes | None = None
) -> tuple[RuleTables, Sizes]:
    """Lay compiled rules out side by side as one bank of tables.

    Parameters
    ----------
    rules : sequence of CompiledRule
        At least one, all of the same palettes.
    sizes : Sizes, optional
        Sizes to use; by default the smallest that fit the rules.

    Returns
    -------
    RuleTables
        Row ``i`` is rule ``i``.
    Sizes
        The sizes of the tables.

    Raises
    ------
    RuleError
        A condition of a rule that depends on too many things at once; the message names the rule by
        its number, and the atom.
    ValueError
        No rule, rules of different palettes, or one that does not fit into ``sizes``.

    Examples
    --------
    >>> import gohr
    >>> tables, sizes = to_tables([gohr.compile_rule(gohr.load_rule("color-match"))])
    >>> sizes == Sizes(), tables.piece.shape
    (True, (1, 17, 1))
    """
    if not rules:
        raise ValueError("rules: expected at least one, found none")
    palettes = {(rule.n_shapes, rule.n_colors) for rule in rules}
    if len(palettes) > 1:
        raise ValueError(f"rules: expected one palette of shapes and colors, found {len(palettes)}")
    folded = [_lines(rule, number) for number, rule in enumerate(rules)]
    needed = [_needed(lines, rule) for lines, rule in zip(folded, rules, strict=True)]
    room = reduce(Sizes.union, needed) if sizes is None else sizes
    for number, size in enumerate(needed):
        if not room.covers(size):
            raise ValueError(f"sizes: expected room for rule {number}, {size}, found {room}")
    rows = [_packed(lines, rule, room) for lines, rule in zip(folded, rules, strict=True)]
    names = [field.name for field in dataclasses.fields(RuleTables)]
    return RuleTables(**{name: np.stack([row[name] for row in rows]) for name in names}), room


# -- fold, drop, unite -----------------------------------------------------------------------------


def _lines(rule: CompiledRule, number: int) -> list[_Line]:
    """Return the lines of a rule with as few atoms as its replies need."""
    lines = []
    for start, stop, count in rule.lines.tolist():
        atoms = [_folded(rule, a, f"rule {number}, atom {a}") for a in range(start, stop)]
        alive = [atom for atom in atoms if count != 0 and not atom.is_dead]
        lines.append(_Line(count, tuple(_as_few(alive))))
    return lines


def _folded(rule: CompiledRule, a: int, where: str) -> _Atom:
    """Return an atom with its conditions folded into tables as far as possible."""
    n_classes = rule.n_shapes * rule.n_colors
    piece, cell, bucket = np.split(rule.atoms[a].copy(), [n_classes, n_classes + N_CELLS])
    further = rule.conditions[a]
    parts = {
        LOOK: piece.reshape(rule.n_shapes, rule.n_colors),
        CELL: cell,
        LAST_BUCKETS: bucket.reshape(5, 5, 5, N_BUCKETS),
    }
    programs = []
    for program in () if further is None else further.programs:
        table = tabulate(program, rule.n_shapes, rule.n_colors, where)
        for fields, part in parts.items():
            if table.is_over(fields):
                by = table.over(fields, by_bucket=True)
                part &= by[..., None] if fields is LAST_BUCKETS else by
                break
        else:
            programs.append(table)
    states = bucket.reshape(-1, N_BUCKETS)
    if (states == states[0]).all():
        if (states[0] == states[0, 0]).all():
            piece &= states[0, 0]
        else:
            cell &= states[0][_QUADRANT]
        bucket[:] = _ALL
    positions = () if further is None else further.positions
    postpos = None if further is None else further.postpos
    count = int(rule.counts[a])
    return _Atom(piece, cell, bucket, count, positions, postpos, tuple(programs))


def _as_few(atoms: list[_Atom]) -> list[_Atom]:
    """Unite atoms until no two of them can be."""
    few: list[_Atom] = []
    for atom in atoms:
        united = atom
        again = True
        while again:
            again = False
            for other in few:
                both = other.united(united)
                if both is not None:
                    few.remove(other)
                    united, again = both, True
                    break
        few.append(united)
    return few


# -- pack ------------------------------------------------------------------------------------------


def _needed(lines: list[_Line], rule: CompiledRule) -> Sizes:
    """Return the smallest sizes that fit a rule."""
    atoms = [atom for line in lines for atom in line.atoms]
    together = _fields_together([table for atom in atoms for table in atom.programs])
    ordered = any(atom.positions or atom.postpos for atom in atoms)
    return Sizes(
        n_words=max(1, -(-len(atoms) // ATOMS_A_WORD)),
        n_lines=len(lines),
        n_orders=len(rule.orders) if ordered else 0,
        n_fields=max([len(atom.positions) for atom in atoms], default=0),
        postpos=any(atom.postpos is not None for atom in atoms),
        n_programs=len(together),
        n_entries=max([prod(fields.values()) for fields in together], default=0),
        metered=any(atom.count > 0 for atom in atoms),
    )


def _packed(lines: list[_Line], rule: CompiledRule, room: Sizes) -> dict[str, npt.NDArray[Any]]:
    """Return the row of a rule, an entry for each field of RuleTables."""
    atoms = [(number, atom) for number, line in enumerate(lines) for atom in line.atoms]
    n_slots, n_orders = ATOMS_A_WORD * room.n_words, room.n_orders
    # Sets of buckets by atom and then the array's other axes, packed at the end.
    sets = {
        "piece": np.zeros((n_slots, 1 + rule.n_shapes * rule.n_colors), np.uint8),
        "cell": np.zeros((n_slots, N_CELLS), np.uint8),
        "bucket": np.zeros((n_slots, N_BUCKET_STATES), np.uint8),
        "line_words": np.zeros((n_slots, room.n_lines), np.uint8),
        "field_cells": np.full((n_slots, room.n_fields, N_CELLS), _ALL, np.uint8),
        "field_orders": np.zeros((n_slots, room.n_fields, n_orders), np.uint8),
        "post_cells": np.full((n_slots, N_CELLS if room.postpos else 0), _ALL, np.uint8),
        "post_orders": np.zeros((n_slots, n_orders if room.postpos else 0), np.uint8),
    }
    for slot, (line, atom) in enumerate(atoms):
        sets["piece"][slot, 1:], sets["cell"][slot] = atom.piece, atom.cell
        sets["bucket"][slot], sets["line_words"][slot, line] = atom.bucket, _ALL
        for f, position in enumerate(atom.positions):
            _put(position, sets["field_cells"][slot, f], sets["field_orders"][slot, f])
        if atom.postpos is not None:
            _put(atom.postpos, sets["post_cells"][slot], sets["post_orders"][slot])
    ranks = np.full((n_orders, N_CELLS), 255, np.int32)
    known = rule.orders[:n_orders]  # none, if what named them was dropped
    ranks[: len(known)] = known
    counts = [line.count for line in lines]
    return {
        **{name: _words(bits) for name, bits in sets.items()},
        "line_count": _filled(room.n_lines, counts, 0),
        "n_lines": np.array(len(lines), np.int32),
        "atom_count": _filled(n_slots, [atom.count for _, atom in atoms], -1),
        "atom_line": _filled(n_slots, [line for line, _ in atoms], -1),
        "ranks": ranks,
        **_programs([atom for _, atom in atoms], room),
    }


def _put(position: PositionField, cells: Bytes, orders: Bytes) -> None:
    """Write what a position field allows."""
    cells[:] = _ALL * np.array(position.cells, np.uint8)
    orders[list(position.orders)] = _ALL


def _words(bits: Bytes) -> npt.NDArray[np.uint32]:
    """Pack sets of buckets, atoms along the first axis, into words along the last."""
    by_word = bits.reshape(len(bits) // ATOMS_A_WORD, ATOMS_A_WORD, *bits.shape[1:]).astype(
        np.uint32
    )
    shifts = np.arange(0, 32, 4, dtype=np.uint32).reshape(-1, *[1] * (bits.ndim - 1))
    return np.moveaxis(np.bitwise_or.reduce(by_word << shifts, axis=1), 0, -1)


def _filled(n: int, values: Sequence[int], rest: int) -> npt.NDArray[np.int32]:
    return np.array([*values, *[rest] * (n - len(values))], np.int32)


def _fields_together(tables: Sequence[ProgramTable]) -> list[dict[int, int]]:
    """Return the fields that share a table, each with its number of values.

    Tables are united where that makes none of them large: one look-up is cheaper than two.
    """
    together: list[dict[int, int]] = []
    for table in tables:
        own = dict(zip(table.axes, table.shape, strict=True))
        for fields in together:
            if prod((fields | own).values()) <= max(_SMALL, prod(fields.values())):
                fields |= own
                break
        else:
            together.append(own)
    return [dict(sorted(fields.items())) for fields in together]


def _programs(atoms: Sequence[_Atom], room: Sizes) -> dict[str, npt.NDArray[Any]]:
    """Return strides and entries of the tables of conditions on moved pieces."""
    strides = np.zeros((room.n_programs, N_AXES), np.int32)
    shape = (ATOMS_A_WORD * room.n_words, room.n_programs, room.n_entries)
    entries = np.full(shape, _ALL, np.uint8)
    together = _fields_together([table for atom in atoms for table in atom.programs])
    for g, fields in enumerate(together):
        sizes = list(fields.values())
        strides[g, list(fields)] = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    for slot, atom in enumerate(atoms):
        for table in atom.programs:
            g = next(g for g, fields in enumerate(together) if fields.keys() >= set(table.axes))
            sizes = list(together[g].values())
            own = entries[slot, g, : prod(sizes)].reshape(sizes)
            own &= table.over(tuple(together[g]))
    return {"strides": strides, "entries": _words(entries)}
