"""A bank of rules as padded arrays, in which a row is a rule: what the JAX environment plays.

The arrays are made from compiled rules and keep every reply of the game. Conditions that do not
depend on the memory are folded into the tables of pieces and cells; atoms that never accept
anything are dropped; two atoms of a line without counts that differ in one table alone are united,
since ``a & x | b & x == (a | b) & x``; and eight atoms are packed into a word of 32 bits, four bits
(the buckets) each. The remaining conditions of a rule, on pieces moved before, become one table
over the fields that they look at. It is all plain NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.board import N_BUCKETS, N_CELLS, nearest_bucket
from gohr.engine.compiler import CompiledRule
from gohr.engine.conditions import AtomConditions, PositionField
from gohr.engine.value_sets import THIS, Program
from gohr.errors import RuleError

ATOMS_A_WORD = 8
#: Records: the piece attempted, the last one accepted, the last of its color, of its shape, and in
#: the bucket that is tried. Fields of each: whether there is one, shape, color, cell, and bucket.
N_RECORDS, N_FIELDS = 5, 5
#: A rule whose conditions need a larger table is refused.
MOST_ENTRIES = 1 << 22

_ALL, _BITS = 0b1111, np.array([1, 2, 4, 8])
# Fields, counted over all records: of the piece attempted, with the bucket tried; those that last
# buckets depend on, which are the cell, and whether there is a record and its bucket for the next
# three; and the first of the last piece in the bucket that is tried.
_LOOK, _CELL, _TRIED = (1, 2), (3,), 4
_LAST_BUCKETS = (*_CELL, *(N_FIELDS * record + k for record in (1, 2, 3) for k in (0, _TRIED)))
_BY_BUCKET = 4 * N_FIELDS
_QUADRANTS = [nearest_bucket(1 + cell) for cell in range(N_CELLS)]

Bytes = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the tables of a bank; parts that are 0 or False are left out of its program."""

    n_words: int = 1  # words of eight atoms, all lines of a rule together
    n_lines: int = 1
    n_orders: int = 0
    n_positions: int = 0  # position fields of an atom that name an order
    postpos: bool = False  # whether there are orders of the pieces that an atom would move
    n_entries: int = 0  # entries of the table of conditions on pieces that were moved before
    by_bucket: bool = False  # whether they differ with the last piece in the bucket that is tried
    metered: bool = False  # whether atoms have counts

    @property
    def n_fields(self) -> int:
        """Fields of an atom that name orders; the last one is that of ``postpos``."""
        return self.n_positions + self.postpos


class _Table(NamedTuple):
    """Numbers by the fields that they depend on: an axis for each, ascending."""

    axes: tuple[int, ...]
    values: _Ints

    def over(self, axes: Sequence[int]) -> _Ints:
        """Return the values with an axis for each of these fields, of length 1 if irrelevant."""
        absent = [k for k, axis in enumerate(axes) if axis not in self.axes]
        return np.expand_dims(self.values, absent)

    def reduced(self) -> _Table:
        """Drop the fields that the values do not depend on."""
        kept = [k for k in range(len(self.axes)) if (self.values != self.values.take([0], k)).any()]
        index = tuple(slice(None) if k in kept else 0 for k in range(len(self.axes)))
        return _Table(tuple(self.axes[k] for k in kept), self.values[index])


@dataclass(frozen=True, slots=True, eq=False)
class _Atom:
    """An atom after folding: tables of buckets by their fields, its count, and its cells.

    The first tables are by look and by cell; those after them depend on pieces moved before.
    """

    tables: dict[tuple[int, ...], Bytes]
    count: int
    positions: tuple[PositionField, ...] = ()
    postpos: PositionField | None = None

    @property
    def of_memory(self) -> list[_Table]:
        return [_Table(*each) for each in self.tables.items()][2:]

    def united(self, other: _Atom) -> _Atom | None:
        """Return one atom that allows what either does, if a table can hold it."""
        plain = all(a.count < 0 and not a.postpos for a in (self, other))
        if not plain or (self.positions, {*self.tables}) != (other.positions, {*other.tables}):
            return None
        both = {axes: (table, other.tables[axes]) for axes, table in self.tables.items()}
        unlike = {axes: a | b for axes, (a, b) in both.items() if not np.array_equal(a, b)}
        return None if len(unlike) > 1 else replace(self, tables=self.tables | unlike)


class _Rule(NamedTuple):
    """A rule after folding: the count and the atoms of each line, and what conditions look at."""

    lines: list[tuple[int, list[_Atom]]]
    #: The fields that the remaining conditions depend on, ascending.
    fields: list[int]
    #: By their values, the place in the table of these conditions; and the stride of every field.
    places: _Ints
    strides: _Ints
    n_entries: int


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
    """Return the buckets that a program allows, by all values of the fields that it looks at.

    A :class:`~gohr.engine.value_sets.Program` is a list of look-ups over five records.
    """
    steps: list[_Table] = []
    for kind, a, b, n_b, number in program.instructions:
        table = np.array(program.tables[number])
        if kind == 0:
            some = table[1:].reshape(1, *palettes, N_CELLS, N_BUCKETS)
            none = some if a == THIS else np.full_like(some, table[0])
            fields = tuple(range(N_FIELDS * a, N_FIELDS * (a + 1)))
            found = _Table(fields, np.concatenate([none, some]))
        elif kind == 1:
            found = _Table(steps[a].axes, table[steps[a].values])
        else:
            axes = tuple(sorted({*steps[a].axes, *steps[b].axes}))
            one, other = steps[a].over(axes), steps[b].over(axes)
            _check_size(np.broadcast_shapes(one.shape, other.shape), where)
            found = _Table(axes, table[one * n_b + other])
        steps.append(found.reduced())
    axes, sets = steps[-1]
    if _TRIED in axes:
        k = axes.index(_TRIED)
        axes, sets = axes[:k] + axes[k + 1 :], (np.moveaxis(sets, k, -1) & _BITS).sum(axis=-1)
    return _Table(axes, sets)


def _by_last_buckets(buckets: Bytes) -> _Table:
    """Return the buckets that an expression of last buckets allows, by what it depends on."""
    # None, whatever the bucket, or 1 + bucket.
    state = np.array([[0] * N_BUCKETS, range(1, 1 + N_BUCKETS)])
    last = np.ix_(np.arange(N_CELLS), *[state.ravel()] * 3)
    sets = buckets.reshape(5, 5, 5, N_BUCKETS)[(*last[1:], np.take(_QUADRANTS, last[0]))]
    return _Table(_LAST_BUCKETS, sets.reshape(N_CELLS, *[2, N_BUCKETS] * 3)).reduced()


def _check_size(shape: Sequence[int], where: str) -> None:
    if prod(shape) > MOST_ENTRIES:
        raise RuleError(
            f"{where}: the conditions depend on too many things at once: expected at most "
            f"{MOST_ENTRIES:,} entries, found {prod(shape):,}; the engine plays it"
        )


# -- fold, drop, unite -----------------------------------------------------------------------------


def _folded(rule: CompiledRule, number: int) -> _Rule:
    """Return the lines of a rule with as few atoms as its replies need."""
    lines = []
    for start, stop, count in rule.lines.tolist():
        atoms = [_folded_atom(rule, a, f"rule {number}") for a in range(start, stop)]
        few: list[_Atom] = []
        for atom in atoms:
            if 0 in (count, atom.count) or not all(map(np.any, atom.tables.values())):
                continue  # it never accepts anything
            for k, earlier in enumerate(few):
                both = earlier.united(atom)
                if both is not None:
                    few[k] = both
                    break
            else:
                few.append(atom)
        lines.append((count, few))
    tables = [table for _, atoms in lines for atom in atoms for table in atom.of_memory]
    sizes = {k: n for table in tables for k, n in zip(table.axes, table.values.shape, strict=True)}
    fields = sorted(sizes)
    strides, n_entries, n_before = np.zeros(N_RECORDS * N_FIELDS, np.int32), 1, 1
    places: Any = 0
    of_record: Any = 0
    values = np.indices([sizes[field] for field in fields], sparse=True)
    for field, value in reversed([*zip(fields, values, strict=True)]):
        if field % N_FIELDS:
            strides[field] = n_entries
            of_record = of_record + n_entries * value
            n_entries *= sizes[field]
        else:  # a record that may be missing, which takes one place before its fields
            strides[field] = n_before
            places, of_record = places + value * (n_before + of_record), 0
            n_entries = n_before = n_entries + n_before
        _check_size([n_entries], f"rule {number}")
    return _Rule(lines, fields, places + of_record, strides, n_entries if fields else 0)


def _folded_atom(rule: CompiledRule, a: int, where: str) -> _Atom:
    """Return an atom with its conditions folded into tables as far as possible."""
    palettes = rule.n_shapes, rule.n_colors
    look, cell, buckets = np.split(rule.atoms[a], [prod(palettes), prod(palettes) + N_CELLS])
    tables: dict[tuple[int, ...], Bytes] = {_LOOK: look.reshape(palettes), _CELL: cell}
    further = rule.conditions[a] or AtomConditions((), None, ())
    conditions = [_tabulated(program, palettes, where) for program in further.programs]
    for found in (_by_last_buckets(buckets), *conditions):
        home = next((axes for axes in (_LOOK, _CELL) if {*found.axes} <= {*axes}), found.axes)
        sets: Bytes = found.over(home).astype(np.uint8)
        tables[home] = tables[home] & sets if home in tables else sets
    return _Atom(tables, int(rule.counts[a]), further.positions, further.postpos)


# -- pack ------------------------------------------------------------------------------------------


def _needed(folded: _Rule, rule: CompiledRule) -> Sizes:
    """Return the smallest sizes that fit a rule."""
    atoms = [atom for _, atoms in folded.lines for atom in atoms]
    return Sizes(
        n_words=max(1, -(-len(atoms) // ATOMS_A_WORD)),
        n_lines=len(folded.lines),
        n_orders=len(rule.orders) if any(atom.positions or atom.postpos for atom in atoms) else 0,
        n_positions=max([len(atom.positions) for atom in atoms], default=0),
        postpos=any(atom.postpos is not None for atom in atoms),
        n_entries=folded.n_entries,
        by_bucket=max(folded.fields, default=0) >= _BY_BUCKET,
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
        # Buckets allowed by the code of a piece, and by its cell.
        "piece": np.zeros((n_slots, 1 + rule.n_shapes * rule.n_colors), np.uint8),
        "cell": np.zeros((n_slots, N_CELLS), np.uint8),
        # All four bits of the atoms of a line; none of one that is never entered.
        "line_words": np.zeros((n_slots, sizes.n_lines), np.uint8),
        # Cells that a field allows by number, all for an atom without one, and orders whose first
        # pieces it also allows.
        "fields": np.full((n_slots, sizes.n_fields, N_CELLS), _ALL, np.uint8),
        "orders": np.zeros((n_slots, sizes.n_fields, n_orders), np.uint8),
        # Buckets allowed at the sum of stride times field; if that looks at the last piece in the
        # bucket that is tried, only the bit of this bucket is used.
        "entries": np.full((n_slots, sizes.n_entries), _ALL, np.uint8),
    }
    others: dict[str, npt.NDArray[Any]] = {
        # Counts, -1 for none.
        "atom_count": np.full(n_slots, -1, np.int32),
        "line_count": np.zeros(sizes.n_lines, np.int32),
        # Rank of each cell in each order; 255 for none.
        "ranks": np.full((n_orders, N_CELLS), 255, np.uint8),
        # Of the fields of each record.
        "strides": folded.strides,
    }
    others["line_count"][: len(folded.lines)] = [count for count, _ in folded.lines]
    known = rule.orders[:n_orders]  # none, if what named them was dropped
    others["ranks"][: len(known)] = known
    by_line = [(line, atom) for line, (_, atoms) in enumerate(folded.lines) for atom in atoms]
    for slot, (line, atom) in enumerate(by_line):
        row = {name: bits[slot] for name, bits in sets.items()}
        row["piece"][1:], row["cell"][:] = atom.tables[_LOOK].ravel(), atom.tables[_CELL]
        row["line_words"][line] = _ALL
        others["atom_count"][slot] = atom.count
        named = dict(enumerate(atom.positions))
        if atom.postpos is not None:
            named[sizes.n_positions] = atom.postpos
        for f, place in named.items():
            row["fields"][f] = _ALL * np.array(place.cells, np.uint8)
            row["orders"][f, list(place.orders)] = _ALL
        for table in atom.of_memory:
            row["entries"][folded.places] &= table.over(folded.fields)
    return {name: _words(bits) for name, bits in sets.items()} | others


def _words(bits: Bytes) -> npt.NDArray[np.uint32]:
    """Pack sets of buckets, atoms along the first axis, into words along the last."""
    by_word = bits.reshape(len(bits) // ATOMS_A_WORD, ATOMS_A_WORD, *bits.shape[1:])
    by_word = by_word.astype(np.uint32)
    shifts = np.arange(0, 32, 4, dtype=np.uint32).reshape(-1, *[1] * (bits.ndim - 1))
    return np.moveaxis(np.bitwise_or.reduce(by_word << shifts, axis=1), 0, -1)
