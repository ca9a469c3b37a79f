"""The programs of a rule's expressions as one table each, over the fields that they depend on.

A :class:`~gohr.game.engine.value_sets.Program` is a list of look-ups over five records: the piece
attempted, the last one accepted, the last of its color, of its shape, and in the bucket that is
tried. Each record has four fields, so that a program is a function of twenty numbers. It is
evaluated over all their values at once; after each instruction the numbers that its value does not
depend on are dropped, of which few are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gohr.errors import RuleError
from gohr.game.board import N_BUCKETS, N_CELLS

if TYPE_CHECKING:
    from gohr.game.engine.value_sets import Program

#: Five records of the four fields shape, color, cell, bucket.
N_AXES = 20
#: A larger table is refused.
MOST_ENTRIES = 65_536
#: Values of a step on the way there may be more.
_MOST_VALUES = 1 << 22

_BUCKET = 3
#: The fields that a table of an atom can hold: of the piece attempted, its shape and color,
LOOK = (0, 1)
#: or its cell;
CELL = (2,)
#: the buckets of the last piece, of the last of its color, and of its shape.
LAST_BUCKETS = (7, 11, 15)
_BITS = np.array([1, 2, 4, 8], np.uint8)

Values = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ProgramTable:
    """Buckets that a program allows, by the fields that it depends on.

    Parameters
    ----------
    axes : tuple of int
        The fields, as ``4 * record + field``, ascending.
    shape : tuple of int
        Number of values of each. Those of the piece attempted count from 0; of another record 0 is
        "none", and index ``i`` is ``1 + i``.
    entries : bytes
        Sets of buckets as four bits, the last axis running fastest; bucket ``b`` is allowed if it
        is in the entry that belongs to trying ``b``.
    """

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    entries: bytes

    def is_over(self, fields: tuple[int, ...]) -> bool:
        """Return whether it depends only on these fields and the bucket that is tried."""
        return set(self.axes) <= {*fields, _BUCKET}

    def over(self, fields: tuple[int, ...], *, by_bucket: bool = False) -> npt.NDArray[np.uint8]:
        """Return the entries with an axis for each of these fields, of length 1 where they agree.

        With ``by_bucket`` the bucket that is tried is not an axis: a set holds the buckets that are
        allowed when they are tried.
        """
        wanted = (*fields, _BUCKET) if by_bucket else fields
        entries = np.frombuffer(self.entries, np.uint8).reshape(self.shape)
        order = sorted(wanted)
        entries = np.expand_dims(entries, _absent(order, self.axes))
        if not by_bucket:
            return entries
        tried = np.moveaxis(entries, order.index(_BUCKET), -1)
        sets: npt.NDArray[np.uint8] = np.bitwise_or.reduce(tried & _BITS, axis=-1)
        return sets


@dataclass(frozen=True, slots=True)
class _Step:
    """The value of one instruction: a number for each value of the fields it depends on."""

    axes: tuple[int, ...]
    values: Values


def tabulate(program: Program, n_shapes: int, n_colors: int, where: str) -> ProgramTable:
    """Evaluate a program over all values of the fields that it depends on.

    Parameters
    ----------
    program : Program
        Look-ups that give a set of buckets.
    n_shapes, n_colors : int
        Sizes of the palettes.
    where : str
        Name of the condition in an error message.

    Raises
    ------
    RuleError
        It depends on too many fields at once.
    """
    steps: list[_Step] = []
    for kind, a, b, n_b, number in program.instructions:
        table = np.array(program.tables[number], np.int64)
        if kind == 0:
            step = _leaf(a, table, n_shapes, n_colors)
        elif kind == 1:
            step = _Step(steps[a].axes, table[steps[a].values])
        else:
            step = _combined(steps[a], steps[b], n_b, table, where)
        steps.append(_reduced(step))
    last = steps[-1]
    if last.values.size > MOST_ENTRIES:
        raise RuleError(_too_large(where, last.values.size))
    return ProgramTable(last.axes, last.values.shape, last.values.astype(np.uint8).tobytes())


def _too_large(where: str, size: int) -> str:
    return (
        f"{where}: a condition over too many things at once: expected at most "
        f"{MOST_ENTRIES} entries, found {size}; the engine plays it"
    )


def _leaf(record: int, table: Values, n_shapes: int, n_colors: int) -> _Step:
    """Return what a record is looked up as, over its four fields."""
    axes = tuple(range(4 * record, 4 * record + 4))
    some = table[1:].reshape(n_shapes, n_colors, N_CELLS, N_BUCKETS)
    if record == 0:  # the piece attempted, which there always is
        return _Step(axes, some)
    values = np.full([1 + n for n in some.shape], table[0])
    values[1:, 1:, 1:, 1:] = some
    return _Step(axes, values)


def _combined(left: _Step, right: _Step, n_right: int, table: Values, where: str) -> _Step:
    """Return what two numbers are looked up as, over the fields of both."""
    axes = tuple(sorted({*left.axes, *right.axes}))
    a, b = (np.expand_dims(s.values, _absent(axes, s.axes)) for s in (left, right))
    size = prod(np.broadcast_shapes(a.shape, b.shape))
    if size > _MOST_VALUES:
        raise RuleError(_too_large(where, size))
    return _Step(axes, table[a * n_right + b])


def _absent(axes: Sequence[int], there: Sequence[int]) -> list[int]:
    return [k for k, axis in enumerate(axes) if axis not in there]


def _reduced(step: _Step) -> _Step:
    """Drop the fields that the value does not depend on.

    The fields of a record other than the piece attempted are all "none" or none of them is. Entries
    where only some are "none" are never read; they are set to the value of "none", so that a field
    can be dropped as long as another of its record remains to indicate "none".
    """
    axes, values = list(step.axes), step.values.copy()
    for record in range(1, N_AXES // 4):
        _set_impossible(values, [k for k, axis in enumerate(axes) if axis // 4 == record])
    for axis in step.axes:
        k = axes.index(axis)
        alone = axis < 4 or sum(other // 4 == axis // 4 for other in axes) == 1
        kept: Any = values.take(0 if alone else 1, axis=k)
        compared = values if alone else values.take(range(1, values.shape[k]), axis=k)
        if (compared == np.expand_dims(kept, k)).all():
            axes.pop(k)
            values = kept
    return _Step(tuple(axes), values)


def _set_impossible(values: Values, places: list[int]) -> None:
    """Set entries where only some axes of a record are "none" to the value of "none"."""
    if len(places) < 2:
        return
    index: list[Any] = [slice(None)] * values.ndim
    for k in places:
        index[k] = slice(0, 1)
    none = values[tuple(index)].copy()
    for k in places:
        some: list[Any] = [slice(None)] * values.ndim
        some[k] = slice(0, 1)
        values[tuple(some)] = none
