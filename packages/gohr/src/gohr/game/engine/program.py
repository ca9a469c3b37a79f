"""A compiled rule as one array of integers, which is what the engine takes.

The atoms of a line stand sixteen to a word, four bits each, so that one AND of three words tells
what all of them allow. The array begins with a header, whose entries say where its parts begin, and
which column of a board's state holds what.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gohr.errors import NotCompilableError
from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.game.engine.conditions import AtomConditions, PositionField

ATOMS_A_WORD = 16

#: The kernel finds its way in a program by numbers of 24 bits.
LONGEST = 1 << 24

# The header. First, where the parts of the program begin.
WORDS = 0  # rows of words: pieces, cells, last buckets, and the atoms that are alive at the start
LINES = 1  # first word, number of words, first atom, number of atoms, count, whether metered
COUNTS = 2  # of the atoms
FEATURES = 3  # by code: shape, colour, columns of the last bucket of that colour and that shape
CONDITIONS = (
    4  # by atom: where its further conditions stand, 0 for none; itself 0 for a rule of none
)
ORDERS = 5  # ranks of the 36 cells, order after order
# Then sizes.
N_LINES = 6
WIDTH = 7  # of a row of words
N_CLASSES = 8  # different pieces
N_COLORS = 9
# Then columns of the state of a board.
CELLS = 10  # of the pieces that are left, in no order; then the last bucket by colour and by shape
LEFT = 11  # what is left of the counts of the active line's atoms
ACCEPTS = 12  # by word and cell: what each atom accepts now, for rules with further conditions
RECORDS = 13  # last piece, last by colour, by shape, by bucket, for the same
FINAL = 14  # what the episode ended with
N_COLUMNS = 15
HEADER_SIZE = 16

# Columns of the state that stand at the same place for every rule. The words that tell which atoms
# are alive follow, beside them in memory because every attempt looks at both.
LINE = 0  # the active one
LINE_LEFT = 1  # of its count
N_PIECES = 2  # on the board
FINISH = 3  # how the episode stands
ROW = 4  # where the active line's words begin
N_WORDS = 5  # how many there are
LIVE = 6

N_FINAL = N_CELLS + 3


def pack(
    atoms: npt.NDArray[np.uint8],
    lines: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    palettes: tuple[int, int],
    conditions: Sequence[AtomConditions | None],
    orders: npt.NDArray[np.uint8],
) -> npt.NDArray[np.int64]:
    """Lay the tables of a rule out as one array; the parameters are CompiledRule's.

    Raises NotCompilableError: the array would be longer than the kernel can find its way in.
    """
    n_shapes, n_colors = palettes
    n_words = [-(-(stop - start) // ATOMS_A_WORD) for start, stop, _ in lines.tolist()]
    header = np.zeros(HEADER_SIZE, dtype=np.int64)
    header[N_LINES] = len(lines)
    header[WIDTH] = atoms.shape[1] + 1
    header[N_CLASSES] = n_shapes * n_colors
    header[N_COLORS] = n_colors
    further = any(c is not None for c in conditions)
    _lay_out_state(header, n_shapes, n_colors, lines, max(n_words), further)

    parts = [header]

    def add(part: npt.NDArray[np.int64]) -> int:
        start = sum(map(len, parts))
        parts.append(part.ravel())
        return start

    header[WORDS] = add(_words(atoms, lines, counts))
    header[LINES] = add(_lines(lines, counts, n_words))
    header[COUNTS] = add(counts.astype(np.int64))
    header[FEATURES] = add(_features(n_shapes, n_colors, int(header[CELLS]) + N_CELLS))
    if further:
        header[ORDERS] = add(orders.astype(np.int64))
        places = [0 if c is None else add(_conditions(c, sum(map(len, parts)))) for c in conditions]
        header[CONDITIONS] = add(np.array(places, dtype=np.int64))
    program = np.concatenate(parts)
    if len(program) > LONGEST:
        raise NotCompilableError(f"not compilable: a rule of {len(atoms)} atoms, which is too long")
    return program


def _lay_out_state(
    header: npt.NDArray[np.int64],
    n_shapes: int,
    n_colors: int,
    lines: npt.NDArray[np.int32],
    most_words: int,
    further: bool,
) -> None:
    """Say which column of a board's state holds what."""
    most_atoms = int((lines[:, 1] - lines[:, 0]).max())
    header[CELLS] = LIVE + most_words
    header[LEFT] = header[CELLS] + N_CELLS + n_colors + n_shapes
    header[ACCEPTS] = header[LEFT] + most_atoms
    header[RECORDS] = header[ACCEPTS] + (N_CELLS * most_words if further else 0)
    header[FINAL] = header[RECORDS] + (1 + n_colors + n_shapes + N_BUCKETS if further else 0)
    header[N_COLUMNS] = header[FINAL] + N_FINAL


def _words(
    atoms: npt.NDArray[np.uint8], lines: npt.NDArray[np.int32], counts: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Pack the rows of a line's atoms, sixteen to a row of words."""
    alive = np.where(counts != 0, 0b1111, 0).astype(np.uint8)
    rows = np.concatenate([atoms, alive[:, None]], axis=1).astype(np.uint64)
    packed = []
    for start, stop, _ in lines.tolist():
        for first in range(start, stop, ATOMS_A_WORD):
            some = rows[first : min(first + ATOMS_A_WORD, stop)]
            shifts = (4 * np.arange(len(some), dtype=np.uint64))[:, None]
            packed.append(np.bitwise_or.reduce(some << shifts, axis=0))
    return np.stack(packed).view(np.int64)


def _lines(
    lines: npt.NDArray[np.int32], counts: npt.NDArray[np.int32], n_words: list[int]
) -> npt.NDArray[np.int64]:
    first_words = np.cumsum([0, *n_words])
    rows = [
        (first_words[i], n_words[i], start, stop - start, count, (counts[start:stop] > 0).any())
        for i, (start, stop, count) in enumerate(lines.tolist())
    ]
    return np.array(rows, dtype=np.int64)


def _features(n_shapes: int, n_colors: int, memory: int) -> npt.NDArray[np.int64]:
    """By code; the memory of the colours comes before that of the shapes."""
    rows = [(0, 0, 0, 0)]
    for shape in range(n_shapes):
        for color in range(n_colors):
            rows.append((shape, color, memory + color, memory + n_colors + shape))
    return np.array(rows, dtype=np.int64)


def _conditions(conditions: AtomConditions, start: int) -> npt.NDArray[np.int64]:
    """Lay out position fields, the postpos field, and programs with their tables behind them.

    A position field is 36 flags, a number of orders, and the orders. A program is its number of
    instructions, whether it depends on the bucket, and five integers an instruction.
    """
    flat: list[int] = [len(conditions.positions)]
    for position in conditions.positions:
        flat += _position(position)
    flat.append(0 if conditions.postpos is None else 1)
    if conditions.postpos is not None:
        flat += _position(conditions.postpos)
    flat.append(len(conditions.programs))
    code = sum(2 + 5 * len(p.instructions) for p in conditions.programs)
    table_at = start + len(flat) + code
    tables: list[int] = []
    for program in conditions.programs:
        places = []
        for table in program.tables:
            places.append(table_at + len(tables))
            tables += table
        flat += [len(program.instructions), int(program.by_bucket)]
        for kind, a, b, n_b, table_number in program.instructions:
            flat += [kind, a, b, n_b, places[table_number]]
    return np.array(flat + tables, dtype=np.int64)


def _position(position: PositionField) -> list[int]:
    return [*position.cells, len(position.orders), *position.orders]
