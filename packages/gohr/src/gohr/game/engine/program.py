"""A compiled rule as one array of integers, the input of the engine.

The atoms of a line are packed sixteen to a word, four bits each, so that one AND of three words
gives the buckets that each of them allows. The array begins with a header, whose entries give the
offsets of its parts and the columns of a board's state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gohr.errors import NotCompilableError
from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.game.engine.conditions import AtomConditions, PositionField

ATOMS_A_WORD = 16
#: The last bucket at all, of a colour, of a shape: each none or one of four.
_N_LAST_STATES = 125

#: The kernel finds its way in a program by numbers of 24 bits.
LONGEST = 1 << 24

# The header. First, where the parts of the program begin.
LINES = 0  # eight integers a line, see _lines
COUNTS = 1  # of the atoms
FEATURES = 2  # by code: shape, colour, columns of the last bucket of that colour and that shape
CONDITIONS = 3  # by atom: where its further conditions are, 0 for none; 0 for a rule without any
ORDERS = 4  # ranks of the 36 cells, order after order
# Then sizes.
N_LINES = 5
WIDTH = 6  # of a row of words: codes, cells, last buckets, and the atoms alive at the start
N_CODES = 7  # different pieces, and 0 for an empty cell
N_COLORS = 8
# Then places in the state of a board, which is a row of 16-bit numbers or of 64-bit words.
ATOMS = 9  # word by word and cell: which atoms accept the piece, for rules with conditions
LAST = 10  # column of the last bucket by colour, then by shape
LEFT = 11  # column of what is left of the counts of the active line's atoms
RECORDS = 12  # column of the last piece, last by bucket, by colour, by shape, for conditions
N_COLUMNS = 13
HEADER_SIZE = 14

# Columns of the state at the same place for every rule.
LINE = 0  # the active one
LINE_LEFT = 1  # of its count
FINISH = 2  # how the episode stands
# Words of the state at the same place for every rule; the first word holds the columns above.
PIECES = 1  # a bit for each occupied cell
ACCEPTS = 2  # a byte for each cell: the buckets, as four bits, that its piece may go to now
FINAL = 7  # a byte for each code, then the last accepted attempt, that the episode ended with
LIVE = 12  # bits of the atoms of the active line that are not used up

COLUMNS_A_WORD = 4
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
    header[WIDTH] = atoms.shape[1] + 2
    header[N_CODES] = 1 + n_shapes * n_colors
    header[N_COLORS] = n_colors
    further = any(c is not None for c in conditions)
    _lay_out_state(header, n_shapes, n_colors, lines, max(n_words), further)

    parts = [header]

    def add(part: npt.NDArray[np.int64]) -> int:
        start = sum(map(len, parts))
        parts.append(part.ravel())
        return start

    words_at = add(_words(atoms, lines, counts))
    first_words = words_at + header[WIDTH] * np.cumsum([0, *n_words])
    header[LINES] = add(_lines(atoms, lines, counts, n_words, first_words, further))
    header[COUNTS] = add(counts.astype(np.int64))
    header[FEATURES] = add(_features(n_shapes, n_colors, int(header[LAST])))
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
    """Assign the columns of a board's state."""
    most_atoms = int((lines[:, 1] - lines[:, 0]).max())
    header[ATOMS] = LIVE + most_words
    header[LAST] = COLUMNS_A_WORD * (header[ATOMS] + (N_CELLS * most_words if further else 0))
    header[LEFT] = header[LAST] + n_colors + n_shapes
    header[RECORDS] = header[LEFT] + most_atoms
    n_records = 1 + N_BUCKETS + n_colors + n_shapes if further else 0
    header[N_COLUMNS] = header[RECORDS] + n_records
    header[N_COLUMNS] += -header[N_COLUMNS] % COLUMNS_A_WORD


def _words(
    atoms: npt.NDArray[np.uint8], lines: npt.NDArray[np.int32], counts: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Pack the rows of a line's atoms, sixteen to a row of words."""
    alive = np.where(counts != 0, 0b1111, 0).astype(np.uint8)
    nothing = np.zeros_like(alive)
    rows = np.concatenate([nothing[:, None], atoms, alive[:, None]], axis=1).astype(np.uint64)
    packed = []
    for start, stop, _ in lines.tolist():
        for first in range(start, stop, ATOMS_A_WORD):
            some = rows[first : min(first + ATOMS_A_WORD, stop)]
            shifts = (4 * np.arange(len(some), dtype=np.uint64))[:, None]
            packed.append(np.bitwise_or.reduce(some << shifts, axis=0))
    return np.stack(packed).view(np.int64)


def _lines(
    atoms: npt.NDArray[np.uint8],
    lines: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    n_words: list[int],
    first_words: npt.NDArray[np.int64],
    further: bool,
) -> npt.NDArray[np.int64]:
    """Return where the words of each line begin, how many they are, first atom, number of atoms.

    Then the count, whether an atom is metered, whether an accepted attempt can change what the
    line accepts of the other pieces, and whether that depends on the last of a colour or shape.
    """
    by_last = atoms[:, -_N_LAST_STATES * N_BUCKETS :].reshape(len(atoms), 5, 25, N_BUCKETS)
    remembers = (by_last != by_last[:, :1, :1]).any(axis=(1, 2, 3))
    by_piece = (by_last != by_last[:, :, :1]).any(axis=(1, 2, 3))
    rows = []
    for i, (start, stop, count) in enumerate(lines.tolist()):
        metered = (counts[start:stop] > 0).any()
        changes = further or metered or remembers[start:stop].any()
        flags = (metered, changes, by_piece[start:stop].any())
        rows.append((first_words[i], n_words[i], start, stop - start, count, *flags))
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
