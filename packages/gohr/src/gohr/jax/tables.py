"""A bank of rules as padded arrays, in which a row is a rule: what the JAX environment plays.

The arrays are made from compiled rules and keep every reply of the game. Conditions that do not
depend on the memory are folded into the tables of pieces and cells; atoms that never accept
anything are dropped; two atoms of a line without counts that differ in one table alone are united,
since ``a & x | b & x == (a | b) & x``; and eight atoms are packed into a word of 32 bits, four bits
(the buckets) each. The remaining conditions of a rule, on pieces moved before, become one table
over the fields that they look at. It is all plain NumPy.

The shapes of the arrays are all that a program is compiled for; what no rule of the bank needs has
length 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.board import N_BUCKETS, N_CELLS, nearest_bucket
from gohr.engine.compiler import CompiledRule
from gohr.engine.conditions import UNRANKED, AtomConditions, PositionField
from gohr.engine.value_sets import THIS, Program
from gohr.errors import RuleError

#: Records: the piece attempted, the last one accepted, the last of its color, of its shape, and in
#: the bucket that is tried. Fields of each: whether there is one, shape, color, cell, and bucket.
N_RECORDS, N_FIELDS = 5, 5
#: A rule whose conditions need a larger table is refused.
MOST_ENTRIES = 1 << 22
ATOMS_A_WORD = 8

# All buckets as four bits, bit ``b`` for bucket ``b``; and for all atoms of a word.
_ALL, _ALL_ATOMS = 0b1111, 0xFFFFFFFF
#: Sets of buckets, with an axis for each field of each record, of length 1 if it makes no
#: difference.
_Table = npt.NDArray[Any]
# Axes: the fields of the piece attempted, the first of which is always 1; and whether there is a
# last bucket, and which, of the next three records.
_SHAPE, _COLOR, _CELL, _TRIED = range(1, N_FIELDS)
_LAST_BUCKETS = [N_FIELDS * record + field for record in (1, 2, 3) for field in (0, _TRIED)]
_QUADRANTS = np.array([nearest_bucket(1 + cell) for cell in range(N_CELLS)])


class _Atom(NamedTuple):
    """An atom after folding."""

    tables: list[_Table]  # buckets by look, by cell, and those that depend on the memory
    limit: int  # its count, -1 for none
    positions: tuple[PositionField, ...]
    postpos: tuple[PositionField, ...]  # none or one

    def united(self, other: _Atom) -> _Atom | None:
        """Return one atom that allows what either does, if a table can hold it."""
        if max(self.limit, other.limit) >= 0 or self.postpos or other.postpos:
            return None
        shapes, of_other = ([table.shape for table in atom.tables] for atom in (self, other))
        if (self.positions, shapes) != (other.positions, of_other):
            return None
        pairs = [*zip(self.tables, other.tables, strict=True)]
        if sum(not np.array_equal(*pair) for pair in pairs) > 1:
            return None
        return self._replace(tables=[a | b for a, b in pairs])


def to_tables(rules: Sequence[CompiledRule]) -> dict[str, npt.NDArray[Any]]:
    """Lay compiled rules of one palette out side by side: arrays whose leading axis is the rule.

    Raises RuleError: a condition of a rule depends on too many things at once; ValueError: no rule.
    """
    if not rules:
        raise ValueError("rules: expected at least one, found none")
    rows = [_arrays_of(rule, f"rule {number}") for number, rule in enumerate(rules)]
    padding = {"ranks": UNRANKED, "atom_count": -1}
    padding |= dict.fromkeys(("entries", "position_cells", "postpos_cells"), _ALL_ATOMS)
    tables = {}
    for name, array in rows[0].items():
        shape = np.max([row[name].shape for row in rows], axis=0)
        tables[name] = np.full((len(rows), *shape), padding.get(name, 0), array.dtype)
        for k, row in enumerate(rows):
            tables[name][k][tuple(slice(n) for n in row[name].shape)] = row[name]
    return tables


# -- conditions as tables --------------------------------------------------------------------------


def _over(values: _Table, *fields: int) -> _Table:
    """Lay the axes of some values along the axes of these fields, ascending."""
    shape = np.ones(N_RECORDS * N_FIELDS, int)
    shape[[*fields]] = values.shape
    return values.reshape(shape)


def _reduced(table: _Table) -> _Table:
    """Drop the fields that make no difference."""
    for axis in range(table.ndim):
        first = table.take([0], axis)
        if (table == first).all():
            table = first
    return table


def _check_size(n_entries: int, where: str) -> None:
    if n_entries > MOST_ENTRIES:
        raise RuleError(
            f"{where}: the conditions depend on too many things at once: expected at most "
            f"{MOST_ENTRIES:,} entries, found {n_entries:,}; the engine plays it"
        )


def _tabulated(program: Program, palettes: tuple[int, int], where: str) -> _Table:
    """Return the buckets that a program allows.

    A :class:`~gohr.engine.value_sets.Program` is a list of look-ups over five records.
    """
    steps: list[_Table] = []
    for kind, a, b, n_b, number in program.instructions:
        table = np.array(program.tables[number])
        if kind == 0:
            found = table[1:].reshape(1, *palettes, N_CELLS, N_BUCKETS)
            if a != THIS:
                found = np.concatenate([np.full_like(found, table[0]), found])
            found = _over(found, *range(N_FIELDS * a, N_FIELDS * (a + 1)))
        elif kind == 1:
            found = table[steps[a]]
        else:
            _check_size(prod(np.broadcast_shapes(steps[a].shape, steps[b].shape)), where)
            found = table[steps[a] * n_b + steps[b]]
        steps.append(_reduced(found))
    tried = _over(1 << np.arange(N_BUCKETS), _TRIED)
    return (steps[-1] & tried).sum(axis=_TRIED, keepdims=True, dtype=np.uint8)


def _by_last_buckets(buckets: _Table) -> _Table:
    """Return the buckets that an expression of last buckets and the quadrant allows."""
    # None, whatever the bucket, or 1 + bucket.
    last = np.array([[0] * N_BUCKETS, range(1, 1 + N_BUCKETS)]).ravel()
    by_last = buckets.reshape(5, 5, 5, N_BUCKETS)[np.ix_(last, last, last, _QUADRANTS)]
    by_cell = np.moveaxis(by_last, -1, 0).reshape(N_CELLS, *[2, N_BUCKETS] * 3)
    return _reduced(_over(by_cell, _CELL, *_LAST_BUCKETS))


# -- fold, drop, unite -----------------------------------------------------------------------------


def _folded(rule: CompiledRule, a: int, where: str) -> _Atom:
    """Return an atom with its conditions folded into tables as far as possible."""
    palettes = rule.n_shapes, rule.n_colors
    look, cell, buckets = np.split(rule.atoms[a], [prod(palettes), prod(palettes) + N_CELLS])
    tables = [_over(look.reshape(palettes), _SHAPE, _COLOR), _over(cell, _CELL)]
    further = rule.conditions[a] or AtomConditions((), None, ())
    conditions = [_tabulated(program, palettes, where) for program in further.programs]
    for found in (_by_last_buckets(buckets), *conditions):
        fields = {*np.flatnonzero(np.array(found.shape) > 1)}
        if fields <= {_SHAPE, _COLOR}:
            tables[0] = tables[0] & found
        elif fields <= {_CELL}:
            tables[1] = tables[1] & found
        else:
            tables.append(found)
    postpos = () if further.postpos is None else (further.postpos,)
    return _Atom(tables, int(rule.counts[a]), further.positions, postpos)


def _atoms_of_lines(rule: CompiledRule, where: str) -> list[tuple[int, _Atom]]:
    """Return as few atoms as the replies of a rule need, each with the number of its line."""
    found: list[tuple[int, _Atom]] = []
    for line, (start, stop, count) in enumerate(rule.lines.tolist()):
        for atom in (_folded(rule, a, where) for a in range(start, stop)):
            if 0 in (count, atom.limit) or not all(map(np.any, atom.tables)):
                continue  # it never accepts anything
            for k, (earlier_line, earlier) in enumerate(found):
                both = earlier.united(atom) if earlier_line == line else None
                if both is not None:
                    found[k] = line, both
                    break
            else:
                found.append((line, atom))
    return found


def _arrays_of(rule: CompiledRule, where: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of one rule."""
    atoms = _atoms_of_lines(rule, where)
    memory = [table for _, atom in atoms for table in atom.tables[2:]]
    strides, places, n_entries = _places(np.broadcast_shapes(*(t.shape for t in memory)), where)
    n_positions = max((len(atom.positions) for _, atom in atoms), default=0)
    n_postpos = max((len(atom.postpos) for _, atom in atoms), default=0)
    n_orders = len(rule.orders) if n_positions or n_postpos else 0
    n_codes = 1 + rule.n_shapes * rule.n_colors
    n = ATOMS_A_WORD * max(1, -(-len(atoms) // ATOMS_A_WORD))
    # By atom and then the other axes; packed at the end.
    sets = {
        # Buckets allowed by the code of a piece, and by its cell.
        "piece": np.zeros((n, n_codes), np.uint8),
        "cell": np.zeros((n, N_CELLS), np.uint8),
        # All buckets for an atom of a line.
        "lines": np.zeros((n, len(rule.lines)), np.uint8),
        # All buckets for the cells that a field allows by number, and for the orders whose first
        # pieces it also allows.
        "position_cells": np.full((n, N_CELLS, n_positions), _ALL, np.uint8),
        "position_orders": np.zeros((n, n_positions, n_orders), np.uint8),
        "postpos_cells": np.full((n, N_CELLS, n_postpos), _ALL, np.uint8),
        "postpos_orders": np.zeros((n, n_postpos, n_orders), np.uint8),
        # Buckets allowed at the sum of stride times index.
        "entries": np.full((n, n_entries), _ALL, np.uint8),
    }
    for slot, (line, atom) in enumerate(atoms):
        row = {name: values[slot] for name, values in sets.items()}
        row["piece"][1:], row["cell"][:] = (table.ravel() for table in atom.tables[:2])
        row["lines"][line] = _ALL
        for name, fields in (("position", atom.positions), ("postpos", atom.postpos)):
            for k, field in enumerate(fields):
                row[f"{name}_cells"][:, k] = _ALL * np.array(field.cells)
                row[f"{name}_orders"][k, list(field.orders)] = _ALL
        for table in atom.tables[2:]:
            row["entries"][places] &= table
    counts = np.full(n, -1, np.int16)
    counts[: len(atoms)] = [atom.limit for _, atom in atoms]
    return {name: _words(values) for name, values in sets.items()} | {
        # Counts, -1 for none.
        "line_count": rule.lines[:, 2].astype(np.int16),
        "atom_count": counts if (counts > 0).any() else counts[:0],
        # Rank of each cell in each order.
        "ranks": rule.orders[:n_orders].T,
        # By record and field. If it matters what lies in the bucket that is tried, only the bit of
        # this bucket is used of an entry.
        "strides": strides if strides[-1].any() else strides[:-1],
    }


def _places(shape: tuple[int, ...], where: str) -> tuple[npt.NDArray[np.int32], Any, int]:
    """Return strides by record and field, the places of the entries by field, and their number.

    A record that may be missing takes one place before its fields.
    """
    strides = np.zeros(N_RECORDS * N_FIELDS, np.int32)
    places: Any = 0
    of_record: Any = 0
    n, n_before = 1, 1
    for axis in reversed(np.flatnonzero(np.array(shape) > 1)):
        value = _over(np.arange(shape[axis]), axis)
        if axis % N_FIELDS:
            strides[axis] = n
            of_record = of_record + n * value
            n *= shape[axis]
        else:
            strides[axis] = n_before
            places, of_record = places + value * (n_before + of_record), 0
            n = n_before = n + n_before
        _check_size(n, where)
    return strides.reshape(N_RECORDS, N_FIELDS), places + of_record, n if n > 1 else 0


def _words(sets: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Pack sets of buckets, atoms along the first axis, into words along the last."""
    n_words = len(sets) // ATOMS_A_WORD
    by_word = np.moveaxis(sets, 0, -1).reshape(*sets.shape[1:], n_words, ATOMS_A_WORD)
    shifts = np.arange(0, 4 * ATOMS_A_WORD, 4, dtype=np.uint32)
    return np.bitwise_or.reduce(by_word.astype(np.uint32) << shifts, axis=-1)
