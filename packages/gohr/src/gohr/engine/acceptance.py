"""The further conditions of an atom: orders of cells, and programs over what is remembered."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from gohr.engine import program as p
from gohr.engine.value_sets import BY_BUCKET, BY_COLOR, BY_SHAPE, LAST, THIS

Bytes = npt.NDArray[np.uint8]
Short = npt.NDArray[np.int16]
Int = npt.NDArray[np.int64]


def _count_zeros(typing_context: Any, word: Any) -> Any:
    """Return the type and the code of the number of zeros after the last bit of a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.int64), generate


#: The number of the lowest bit that is set.
first_bit: Any = intrinsic(_count_zeros)


@njit(cache=True)
def index_of(number: Any) -> int:
    """Return a small non-negative number in a form from which the compiler can infer this.

    An index that might be negative costs a test and an addition each time it is used: a third of
    the time of a step.
    """
    return int(np.int64(number) & 0xFFFFFF)


@njit(cache=True, inline="always")
def _allowed_cells(program: Int, at: int, pieces: int) -> int:
    """Return the cells that the position field at ``at`` allows.

    An order allows the cells of the first rank that one of the pieces has.
    """
    cells = program[at]
    for o in range(program[at + 1]):
        rank = index_of(program[at + 2 + o])
        while pieces != 0 and program[rank] & pieces == 0:
            rank += 1
        cells |= program[rank]
    return int(cells)


@njit(cache=True, inline="always")
def _run(program: Int, words: Int, i: int, at: int, begin: int, stop: int, room: int) -> int:
    """Run instructions of the program at ``at``; return the last number."""
    number = int(np.int64(0))  # a plain 0 would have its own type
    numbers = room + p.N_RECORDS
    for n in range(begin, stop):
        instruction = at + index_of(5 * n)
        kind, x = program[instruction], index_of(program[instruction + 1])
        if kind == 0:
            found = words[i, room + x]
        elif kind == 1:
            found = words[i, numbers + x]
        else:
            found = words[i, numbers + x] * program[instruction + 3]
            found += words[i, numbers + index_of(program[instruction + 2])]
        number = int(program[index_of(program[instruction + 4]) + index_of(found)])
        words[i, numbers + n] = number
    return number


@njit(cache=True, inline="always")
def restrict(program: Int, state: Short, seen: Bytes, i: int, at: int, kept: int) -> None:
    """Take from the four words at ``kept`` of board ``i`` what the conditions at ``at`` refuse."""
    words: Any = state.view(np.int64)
    pieces = words[i, p.PIECES]
    cells = np.int64(-1)
    n_positions = program[at]
    at += 1
    for _ in range(n_positions):
        cells &= _allowed_cells(program, at, pieces)
        at += 2 + index_of(program[at + 1])
    for b in range(4):
        words[i, kept + b] &= cells
    has_postpos, postpos_at = program[at] != 0, at + 1
    at += 1
    if has_postpos:
        at += 2 + index_of(program[at + 1])

    n_programs = program[at]
    at += 1
    room, records = index_of(program[p.ROOM]), index_of(program[p.RECORDS])
    by_color = records + 5
    by_shape = by_color + index_of(program[p.N_COLORS])
    if n_programs > 0:
        # A record is a number of 16 bits without a sign.
        words[i, room + LAST] = state[i, records] & 0xFFFF
    for _ in range(n_programs):
        n_instructions, n_common = index_of(program[at]), index_of(program[at + 1])
        by_bucket, by_look = program[at + 2] != 0, program[at + 3] != 0
        at += 4
        for b in range(4 if by_bucket else 1):
            first, stop = (b, b + 1) if by_bucket else (0, 4)
            left: Any = np.int64(0)
            for w in range(first, stop):
                left |= words[i, kept + w]
            words[i, room + BY_BUCKET] = state[i, records + 1 + b] & 0xFFFF
            allowed = _run(program, words, i, at, 0, n_common, room)
            while left != 0:
                these = left
                if n_common < n_instructions:
                    cell = index_of(first_bit(left))
                    these = np.int64(1) << cell
                    code = np.int64(seen[i, cell])
                    words[i, room + THIS] = 1 + ((code - 1) * 36 + cell) * 4 + b
                    if by_look:
                        feature = index_of(program[p.FEATURES]) + index_of(4 * code)
                        shape, color = index_of(program[feature]), index_of(program[feature + 1])
                        words[i, room + BY_COLOR] = state[i, by_color + color] & 0xFFFF
                        words[i, room + BY_SHAPE] = state[i, by_shape + shape] & 0xFFFF
                    allowed = _run(program, words, i, at, n_common, n_instructions, room)
                left &= ~these
                for w in range(first, stop):
                    if (allowed >> w) & 1 == 0:
                        words[i, kept + w] &= ~these
        at += index_of(5 * n_instructions)

    if has_postpos:
        # An order here looks at the pieces that this atom would move, not at all pieces.
        moved = words[i, kept] | words[i, kept + 1] | words[i, kept + 2] | words[i, kept + 3]
        first = _allowed_cells(program, postpos_at, moved)
        for b in range(4):
            words[i, kept + b] &= first
