"""A bank of rules as padded arrays, in which a row is a rule: what the JAX environment plays.

The arrays are made from compiled rules and keep every reply of the game.
Conditions that do not depend on the memory, or on the last buckets alone, are folded into the
tables of pieces, cells and last buckets; atoms that never accept anything are dropped; two atoms of
a line without counts that differ in one table alone are united, since ``a & x | b & x == (a | b) &
x``; and eight atoms are packed into a word of 32 bits, four bits (the buckets) each. The remaining
conditions of a rule, on pieces moved before, become one table over the fields that they look at. It
is all plain NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
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
#: The bucket nearest to each cell.
QUADRANTS = np.array([nearest_bucket(1 + cell) for cell in range(N_CELLS)], np.uint8)
#: States of the last buckets p, pc, ps (none or one of four each), times four quadrants.
N_BUCKET_STATES = 5 * 5 * 5 * N_BUCKETS
#: Five records (the piece attempted, the last one accepted, the last of its color, of its shape,
#: and in the bucket that is tried) of the four fields shape, color, cell and bucket.
N_FIELDS = 20
#: A rule whose conditions need a larger table is refused.
MOST_ENTRIES = 1 << 22

_ALL = 0b1111
_BITS = np.array([1, 2, 4, 8])
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
    n_entries: int = 0  # entries of the table of conditions on pieces that were moved before
    metered: bool = False  # whether atoms have counts

    @property
    def n_fields(self) -> int:
        """Fields of an atom that name orders; the last one is that of ``postpos``."""
        return self.n_positions + self.postpos


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
    """An atom after folding: tables by their fields, its count, and the remaining conditions."""

    tables: dict[tuple[int, ...], Bytes]
    count: int
    positions: tuple[PositionField, ...] = ()
    postpos: PositionField | None = None
    programs: tuple[_Table, ...] = ()

    @property
    def is_dead(self) -> bool:
        return self.count == 0 or not all(table.any() for table in self.tables.values())

    def united(self, other: _Atom) -> _Atom | None:
        """Return one atom that allows what either does, if a table can hold it."""
        plain = all(a.count < 0 and not a.postpos and not a.programs for a in (self, other))
        both = {axes: (table, other.tables[axes]) for axes, table in self.tables.items()}
        unlike = {axes: a | b for axes, (a, b) in both.items() if not np.array_equal(a, b)}
        if not plain or self.positions != other.positions or len(unlike) > 1:
            return None
        return replace(self, tables=self.tables | unlike)


class _Rule(NamedTuple):
    """A rule after folding: the count and the atoms of each line, and what conditions look at."""

    lines: list[tuple[int, list[_Atom]]]
    #: The fields that the remaining conditions depend on, with their numbers of values.
    fields: dict[int, int]

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
    sizes = Sizes(*map(max, *map(astuple, map(_needed, folded, rules)), astuple(Sizes())))
    rows = [_packed(each, rule, sizes) for each, rule in zip(folded, rules, strict=True)]
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}, sizes


# -- conditions as tables --------------------------------------------------------------------------


def _tabulated(program: Program, palettes: tuple[int, int], where: str) -> _Table:
    """Evaluate a program over all values of the fields that it looks at.

    A :class:`~gohr.engine.value_sets.Program` is a list of look-ups over five records. Fields that
    a value of one record does not depend on are dropped before another record comes in.
    """
    steps: list[_Table] = []
    for kind, a, b, n_b, number in program.instructions:
        table = np.array(program.tables[number], np.int64)
        if kind == 0:
            steps.append(_leaf(a, table, palettes))
        elif kind == 1:
            steps.append(_Table(steps[a].axes, table[steps[a].values]))
        else:
            left, right = steps[a], steps[b]
            if left.axes != right.axes:
                left, right = _reduced(left), _reduced(right)
            axes = tuple(sorted({*left.axes, *right.axes}))
            one, other = left.over(axes), right.over(axes)
            _check_size(np.broadcast_shapes(one.shape, other.shape), where)
            steps.append(_Table(axes, table[one * n_b + other]))
    return _reduced(steps[-1])


def _check_size(shape: Sequence[int], where: str) -> None:
    if prod(shape) > MOST_ENTRIES:
        raise RuleError(
            f"{where}: the conditions depend on too many things at once: expected at most "
            f"{MOST_ENTRIES:,} entries, found {prod(shape):,}; the engine plays it"
        )


def _leaf(record: int, table: npt.NDArray[np.int64], palettes: tuple[int, int]) -> _Table:
    """Return the look-up of a record, over its four fields."""
    values = some = table[1:].reshape(*palettes, N_CELLS, N_BUCKETS)
    if record:  # there always is a piece attempted
        values = np.full([1 + n for n in some.shape], table[0])
        values[1:, 1:, 1:, 1:] = some
    return _Table(tuple(range(4 * record, 4 * record + 4)), values)


def _reduced(step: _Table) -> _Table:
    """Drop the fields that a value does not depend on, if it is over the four of one record."""
    record = min(step.axes, default=0) // 4
    if step.axes != tuple(range(4 * record, 4 * record + 4)):
        return step
    first = int(record > 0)
    some = step.values[(slice(first, None),) * 4]
    fields = [k for k in range(4) if (some != some.take([0], axis=k)).any()]
    if not fields and step.values[0, 0, 0, 0] != some[0, 0, 0, 0]:
        fields = [_TRIED]  # any field shows whether there is a piece at all
    kept = tuple(slice(None) if k in fields else first for k in range(4))
    return _Table(tuple(4 * record + k for k in fields), step.values[kept])


# -- fold, drop, unite -----------------------------------------------------------------------------


def _folded(rule: CompiledRule, number: int) -> _Rule:
    """Return the lines of a rule with as few atoms as its replies need."""
    lines = []
    for start, stop, count in rule.lines.tolist():
        atoms = [_folded_atom(rule, a, f"rule {number}") for a in range(start, stop)]
        few: list[_Atom] = []
        for atom in atoms:
            if count == 0 or atom.is_dead:
                continue
            for k, earlier in enumerate(few):
                both = earlier.united(atom)
                if both is not None:
                    few[k] = both
                    break
            else:
                few.append(atom)
        lines.append((count, few))
    tables = [table for _, atoms in lines for atom in atoms for table in atom.programs]
    sizes = {k: n for table in tables for k, n in zip(table.axes, table.values.shape, strict=True)}
    _check_size([*sizes.values()], f"rule {number}")
    return _Rule(lines, dict(sorted(sizes.items())))


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
        found = _tabulated(program, (rule.n_shapes, rule.n_colors), where)
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
            cell &= states[0][QUADRANTS]
        bucket[:] = _ALL
    positions = () if further is None else further.positions
    postpos = None if further is None else further.postpos
    return _Atom(tables, int(rule.counts[a]), positions, postpos, tuple(programs))


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
        n_entries=prod(folded.fields.values()) if folded.fields else 0,
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
        # All four bits of the atoms of a line; none of one that is never entered.
        "line_words": np.zeros((n_slots, sizes.n_lines), np.uint8),
        # Cells that a field allows by number, all for an atom without one, and orders whose first
        # pieces it also allows.
        "fields": np.full((n_slots, sizes.n_fields, N_CELLS), _ALL, np.uint8),
        "orders": np.zeros((n_slots, sizes.n_fields, n_orders), np.uint8),
        # Buckets allowed at the sum of stride times field; only the bit of the bucket that is tried
        # is used.
        "entries": np.full((n_slots, sizes.n_entries), _ALL, np.uint8),
    }
    others: dict[str, npt.NDArray[Any]] = {
        # Counts, -1 for none.
        "atom_count": np.full(n_slots, -1, np.int32),
        "line_count": np.zeros(sizes.n_lines, np.int32),
        # Rank of each cell in each order; 255 for none.
        "ranks": np.full((n_orders, N_CELLS), 255, np.uint8),
        # Of the 20 fields, each 0 for none or 1 + index; those of the piece attempted from 0.
        "strides": np.zeros(N_FIELDS, np.int32),
    }
    others["line_count"][: len(folded.lines)] = [count for count, _ in folded.lines]
    known = rule.orders[:n_orders]  # none, if what named them was dropped
    others["ranks"][: len(known)] = known
    axes, shape = [*folded.fields], tuple(folded.fields.values())
    others["strides"][axes] = [prod(shape[k + 1 :]) for k in range(len(shape))]
    by_line = [(line, atom) for line, (_, atoms) in enumerate(folded.lines) for atom in atoms]
    for slot, (line, atom) in enumerate(by_line):
        row = {name: bits[slot] for name, bits in sets.items()}
        row["piece"][1:], row["cell"][:], row["bucket"][:] = map(np.ravel, atom.tables.values())
        row["line_words"][line] = _ALL
        others["atom_count"][slot] = atom.count
        named = dict(enumerate(atom.positions))
        if atom.postpos is not None:
            named[sizes.n_positions] = atom.postpos
        for f, place in named.items():
            row["fields"][f] = _ALL * np.array(place.cells, np.uint8)
            row["orders"][f, list(place.orders)] = _ALL
        for table in atom.programs:
            entries = row["entries"][: prod(shape)].reshape(shape)
            entries &= table.over(axes).astype(np.uint8)
    return {name: _words(bits) for name, bits in sets.items()} | others


def _words(bits: Bytes) -> npt.NDArray[np.uint32]:
    """Pack sets of buckets, atoms along the first axis, into words along the last."""
    by_word = bits.reshape(len(bits) // ATOMS_A_WORD, ATOMS_A_WORD, *bits.shape[1:])
    by_word = by_word.astype(np.uint32)
    shifts = np.arange(0, 32, 4, dtype=np.uint32).reshape(-1, *[1] * (bits.ndim - 1))
    return np.moveaxis(np.bitwise_or.reduce(by_word << shifts, axis=1), 0, -1)
