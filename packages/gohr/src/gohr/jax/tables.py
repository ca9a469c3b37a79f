"""A bank of rules as padded arrays, in which a row is a rule: what the JAX environment plays.

The arrays are made from compiled rules and keep every reply of the game.
Conditions that do not depend on the memory, or on the last buckets alone, are folded into the
tables of pieces, cells and last buckets; atoms that never accept anything are dropped; two atoms of
a line without counts that differ in one table alone are united, since ``a & x | b & x == (a | b) &
x``; and eight atoms are packed into a word of 32 bits, four bits (the buckets) each. The remaining
conditions, on pieces moved before, become one table for all over the same fields. It is all plain
NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.board import N_BUCKETS, N_CELLS, nearest_bucket
from gohr.errors import RuleError

if TYPE_CHECKING:
    from gohr.engine.compiler import CompiledRule
    from gohr.engine.conditions import PositionField
    from gohr.engine.value_sets import Program

ATOMS_A_WORD = 8
#: States of the last buckets p, pc, ps (none or one of four each), times four quadrants.
N_BUCKET_STATES = 5 * 5 * 5 * N_BUCKETS
#: Five records (the piece attempted, the last one accepted, the last of its color, of its shape,
#: and in the bucket that is tried) of the four fields shape, color, cell and bucket.
N_FIELDS = 20
#: A larger table of a condition is refused.
MOST_ENTRIES = 65_536
#: Values of a step on the way there may be more.
_MOST_VALUES = 1 << 22
#: Tables of conditions are united up to this size: one look-up is cheaper than two.
_SMALL = 256

_ALL = 0b1111
_BITS = np.array([1, 2, 4, 8])
_QUADRANT = np.array([nearest_bucket(1 + cell) for cell in range(N_CELLS)])
_TRIED = 3  # the field that is the bucket tried
# Fields that the tables of an atom hold: shape and color of the piece attempted, its cell, and the
# buckets of the last piece, of the last of its color, and of its shape.
_LOOK, _CELL, _LAST_BUCKETS = (0, 1), (2,), (7, 11, 15)

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the tables of a bank; parts that are 0 or False are left out of its program."""

    n_words: int = 1  # words of eight atoms, all lines of a rule together
    n_lines: int = 1
    n_orders: int = 0
    n_positions: int = 0  # position fields of an atom that name an order
    postpos: bool = False  # whether there are orders of the pieces that an atom would move
    n_programs: int = 0  # tables of conditions on pieces that were moved before
    n_entries: int = 0  # entries of the largest of them
    metered: bool = False  # whether atoms have counts

    def union(self, other: Sizes) -> Sizes:
        """Return the smallest sizes that fit both."""
        return Sizes(*map(max, astuple(self), astuple(other)))


class _Table(NamedTuple):
    """Numbers by the fields that they depend on: an axis for each, ascending.

    Fields of the piece attempted count from 0; for another record 0 is "none".
    """

    axes: tuple[int, ...]
    values: npt.NDArray[np.int64]

    def over(self, axes: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the values with an axis for each of these fields, of length 1 if irrelevant."""
        absent = [k for k, axis in enumerate(axes) if axis not in self.axes]
        return np.expand_dims(self.values, absent)

    def buckets_over(self, axes: tuple[int, ...]) -> Bytes:
        """Return the sets of buckets that are allowed when they are tried, by these fields."""
        order = sorted((*axes, _TRIED))
        tried = np.moveaxis(self.over(order), order.index(_TRIED), -1) & _BITS
        sets: Bytes = np.bitwise_or.reduce(tried, axis=-1).astype(np.uint8)
        return sets


@dataclass(frozen=True, slots=True, eq=False)
class _Atom:
    """An atom after folding: three tables, its count, and the remaining conditions."""

    piece: Bytes
    cell: Bytes
    bucket: Bytes
    count: int
    positions: tuple[PositionField, ...] = ()
    postpos: PositionField | None = None
    programs: tuple[_Table, ...] = ()

    @property
    def is_dead(self) -> bool:
        return self.count == 0 or not all(t.any() for t in (self.piece, self.cell, self.bucket))

    def united(self, other: _Atom) -> _Atom | None:
        """Return one atom that allows what either does, if a table can hold it."""
        if self.count >= 0 or other.count >= 0 or self.postpos or other.postpos:
            return None
        conditions = [
            (atom.positions, [(t.axes, t.values.tobytes()) for t in atom.programs])
            for atom in (self, other)
        ]
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in _TABLES}
        unlike = {name: a | b for name, (a, b) in pairs.items() if not np.array_equal(a, b)}
        if conditions[0] != conditions[1] or len(unlike) > 1:
            return None
        return replace(self, **unlike)


_TABLES = ("piece", "cell", "bucket")


class _Rule(NamedTuple):
    """A rule after folding: the count and the atoms of each line, and the tables to be united."""

    lines: list[tuple[int, list[_Atom]]]
    #: For each table of conditions, its fields with their numbers of values.
    together: list[dict[int, int]]

    @property
    def atoms(self) -> list[_Atom]:
        return [atom for _, atoms in self.lines for atom in atoms]


def to_tables(rules: Sequence[CompiledRule]) -> tuple[dict[str, npt.NDArray[Any]], Sizes]:
    """Lay compiled rules out side by side: arrays whose leading axis is the rule, and their sizes.

    Raises RuleError: a condition of a rule depends on too many things at once; ValueError: no rule,
    or rules of different palettes.
    """
    if not rules:
        raise ValueError("rules: expected at least one, found none")
    palettes = {(rule.n_shapes, rule.n_colors) for rule in rules}
    if len(palettes) > 1:
        raise ValueError(f"rules: expected one palette of shapes and colors, found {len(palettes)}")
    folded = [_folded(rule, number) for number, rule in enumerate(rules)]
    sizes = reduce(Sizes.union, map(_needed, folded, rules))
    rows = [_packed(each, rule, sizes) for each, rule in zip(folded, rules, strict=True)]
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}, sizes


# -- conditions as tables --------------------------------------------------------------------------


def _tabulated(program: Program, n_shapes: int, n_colors: int, where: str) -> _Table:
    """Evaluate a program over all values of the fields that it depends on.

    A :class:`~gohr.engine.value_sets.Program` is a list of look-ups over five records. After
    each, the fields that its value does not depend on are dropped, and few are left.
    """
    steps: list[_Table] = []
    for kind, a, b, n_b, number in program.instructions:
        table = np.array(program.tables[number], np.int64)
        if kind == 0:
            step = _leaf(a, table, n_shapes, n_colors)
        elif kind == 1:
            step = _Table(steps[a].axes, table[steps[a].values])
        else:
            axes = tuple(sorted({*steps[a].axes, *steps[b].axes}))
            left, right = steps[a].over(axes), steps[b].over(axes)
            size = prod(np.broadcast_shapes(left.shape, right.shape))
            _check_size(size, _MOST_VALUES, where)
            step = _Table(axes, table[left * n_b + right])
        steps.append(_reduced(step))
    _check_size(steps[-1].values.size, MOST_ENTRIES, where)
    return steps[-1]


def _check_size(found: int, most: int, where: str) -> None:
    if found > most:
        raise RuleError(
            f"{where}: a condition depends on too many things at once: expected at most {most:,} "
            f"entries, found {found:,}; the engine plays it"
        )


def _leaf(record: int, table: npt.NDArray[np.int64], n_shapes: int, n_colors: int) -> _Table:
    """Return the look-up of a record, over its four fields."""
    some = table[1:].reshape(n_shapes, n_colors, N_CELLS, N_BUCKETS)
    axes = tuple(range(4 * record, 4 * record + 4))
    if record == 0:  # there always is a piece attempted
        return _Table(axes, some)
    values = np.full([1 + n for n in some.shape], table[0])
    values[1:, 1:, 1:, 1:] = some
    return _Table(axes, values)


def _reduced(step: _Table) -> _Table:
    """Drop the fields that the value does not depend on.

    Either all fields of a record other than the piece attempted are "none", or none is. Entries
    where only some are, which are never read, get the value of "none", so that a field can be
    dropped as long as another of its record remains to indicate "none".
    """
    axes, values = list(step.axes), step.values.copy()
    for record in range(1, N_FIELDS // 4):
        places = [k for k, axis in enumerate(axes) if axis // 4 == record]
        if len(places) < 2:
            continue
        none = values[_first_of(places, values.ndim)].copy()
        for k in places:
            values[_first_of([k], values.ndim)] = none
    for axis in step.axes:
        k = axes.index(axis)
        alone = axis < 4 or sum(other // 4 == axis // 4 for other in axes) == 1
        kept: Any = values.take(0 if alone else 1, axis=k)
        compared = values if alone else values.take(range(1, values.shape[k]), axis=k)
        if (compared == np.expand_dims(kept, k)).all():
            axes.pop(k)
            values = kept
    return _Table(tuple(axes), values)


def _first_of(places: Sequence[int], n_axes: int) -> tuple[slice, ...]:
    """Return the index of the first entry along some axes."""
    return tuple(slice(0, 1) if k in places else slice(None) for k in range(n_axes))


# -- fold, drop, unite -----------------------------------------------------------------------------


def _folded(rule: CompiledRule, number: int) -> _Rule:
    """Return the lines of a rule with as few atoms as its replies need."""
    lines = []
    for start, stop, count in rule.lines.tolist():
        atoms = [_folded_atom(rule, a, f"rule {number}, atom {a}") for a in range(start, stop)]
        few: list[_Atom] = []
        for atom in [atom for atom in atoms if count != 0 and not atom.is_dead]:
            k, one = 0, atom
            while k < len(few):
                both = few[k].united(one)
                if both is None:
                    k += 1
                else:
                    del few[k]
                    k, one = 0, both
            few.append(one)
        lines.append((count, few))
    together: list[dict[int, int]] = []
    for table in (table for _, atoms in lines for atom in atoms for table in atom.programs):
        own = dict(zip(table.axes, table.values.shape, strict=True))
        for shared in together:
            if prod((shared | own).values()) <= max(_SMALL, prod(shared.values())):
                shared |= own
                break
        else:
            together.append(own)
    return _Rule(lines, [dict(sorted(shared.items())) for shared in together])


def _folded_atom(rule: CompiledRule, a: int, where: str) -> _Atom:
    """Return an atom with its conditions folded into tables as far as possible."""
    n_looks = rule.n_shapes * rule.n_colors
    piece, cell, bucket = np.split(rule.atoms[a].copy(), [n_looks, n_looks + N_CELLS])
    further = rule.conditions[a]
    tables = {
        _LOOK: piece.reshape(rule.n_shapes, rule.n_colors),
        _CELL: cell,
        _LAST_BUCKETS: bucket.reshape(5, 5, 5, N_BUCKETS),
    }
    programs = []
    for program in () if further is None else further.programs:
        found = _tabulated(program, rule.n_shapes, rule.n_colors, where)
        for axes, table in tables.items():
            if {*found.axes} <= {*axes, _TRIED}:
                sets = found.buckets_over(axes)
                table &= sets[..., None] if axes is _LAST_BUCKETS else sets
                break
        else:
            programs.append(found)
    states = bucket.reshape(-1, N_BUCKETS)
    if (states == states[0]).all():
        if (states[0] == states[0, 0]).all():
            piece &= states[0, 0]
        else:
            cell &= states[0][_QUADRANT]
        bucket[:] = _ALL
    positions = () if further is None else further.positions
    postpos = None if further is None else further.postpos
    return _Atom(piece, cell, bucket, int(rule.counts[a]), positions, postpos, tuple(programs))


# -- pack ------------------------------------------------------------------------------------------


def _needed(folded: _Rule, rule: CompiledRule) -> Sizes:
    """Return the smallest sizes that fit a rule."""
    atoms = folded.atoms
    return Sizes(
        n_words=max(1, -(-len(atoms) // ATOMS_A_WORD)),
        n_lines=len(folded.lines),
        n_orders=len(rule.orders) if any(atom.positions or atom.postpos for atom in atoms) else 0,
        n_positions=max([len(atom.positions) for atom in atoms], default=0),
        postpos=any(atom.postpos is not None for atom in atoms),
        n_programs=len(folded.together),
        n_entries=max([prod(shared.values()) for shared in folded.together], default=0),
        metered=any(atom.count > 0 for atom in atoms),
    )


def _packed(folded: _Rule, rule: CompiledRule, sizes: Sizes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a rule.

    A set of buckets is four bits, bit ``b`` for bucket ``b``; a word of 32 bits holds those of
    eight atoms, the first in the lowest bits, along the last axis.
    """
    n_slots, n_orders = ATOMS_A_WORD * sizes.n_words, sizes.n_orders
    # By atom and then the other axes; packed at the end.
    sets = {
        # Buckets allowed by the code of a piece, by its cell, and by the last buckets, at
        # ((p * 5 + pc) * 5 + ps) * 4 + quadrant, each 0 for none or 1 + bucket.
        "piece": np.zeros((n_slots, 1 + rule.n_shapes * rule.n_colors), np.uint8),
        "cell": np.zeros((n_slots, N_CELLS), np.uint8),
        "bucket": np.zeros((n_slots, N_BUCKET_STATES), np.uint8),
        # All four bits of the atoms of a line.
        "line_words": np.zeros((n_slots, sizes.n_lines), np.uint8),
        # Cells that a position field allows by number, all for an atom without one, and orders
        # whose first pieces it also allows; the same for the pieces that the atom would move.
        "field_cells": np.full((n_slots, sizes.n_positions, N_CELLS), _ALL, np.uint8),
        "field_orders": np.zeros((n_slots, sizes.n_positions, n_orders), np.uint8),
        "post_cells": np.full((n_slots, N_CELLS * sizes.postpos), _ALL, np.uint8),
        "post_orders": np.zeros((n_slots, n_orders * sizes.postpos), np.uint8),
        # Buckets allowed at the sum of stride times field; only the bit of the bucket that is tried
        # is used.
        "entries": np.full((n_slots, sizes.n_programs, sizes.n_entries), _ALL, np.uint8),
    }
    others = {
        # Counts, -1 for none; a line that is not there has 0.
        "atom_count": np.full(n_slots, -1, np.int32),
        "line_count": np.zeros(sizes.n_lines, np.int32),
        "n_lines": np.array(len(folded.lines), np.int32),
        # Rank of each cell in each order; 255 for none.
        "ranks": np.full((n_orders, N_CELLS), 255, np.int32),
        # Of the 20 fields, each 0 for none or 1 + index; those of the piece attempted from 0.
        "strides": np.zeros((sizes.n_programs, N_FIELDS), np.int32),
    }
    others["line_count"][: len(folded.lines)] = [count for count, _ in folded.lines]
    known = rule.orders[:n_orders]  # none, if what named them was dropped
    others["ranks"][: len(known)] = known
    shapes = [tuple(shared.values()) for shared in folded.together]
    for g, (shared, shape) in enumerate(zip(folded.together, shapes, strict=True)):
        others["strides"][g, [*shared]] = [prod(shape[k + 1 :]) for k in range(len(shape))]
    by_line = [(line, atom) for line, (_, atoms) in enumerate(folded.lines) for atom in atoms]
    for slot, (line, atom) in enumerate(by_line):
        row = {name: bits[slot] for name, bits in sets.items()}
        row["piece"][1:], row["cell"][:], row["bucket"][:] = atom.piece, atom.cell, atom.bucket
        row["line_words"][line] = _ALL
        others["atom_count"][slot] = atom.count
        for f, position in enumerate(atom.positions):
            _put(position, row["field_cells"][f], row["field_orders"][f])
        if atom.postpos is not None:
            _put(atom.postpos, row["post_cells"], row["post_orders"])
        for table in atom.programs:
            g = next(g for g, s in enumerate(folded.together) if s.keys() >= {*table.axes})
            entries = row["entries"][g, : prod(shapes[g])].reshape(shapes[g])
            entries &= table.over([*folded.together[g]]).astype(np.uint8)
    return {name: _words(bits) for name, bits in sets.items()} | others


def _put(position: PositionField, cells: Bytes, orders: Bytes) -> None:
    """Write what a position field allows."""
    cells[:] = _ALL * np.array(position.cells, np.uint8)
    orders[list(position.orders)] = _ALL


def _words(bits: Bytes) -> npt.NDArray[np.uint32]:
    """Pack sets of buckets, atoms along the first axis, into words along the last."""
    by_word = bits.reshape(len(bits) // ATOMS_A_WORD, ATOMS_A_WORD, *bits.shape[1:])
    by_word = by_word.astype(np.uint32)
    shifts = np.arange(0, 32, 4, dtype=np.uint32).reshape(-1, *[1] * (bits.ndim - 1))
    return np.moveaxis(np.bitwise_or.reduce(by_word << shifts, axis=1), 0, -1)
