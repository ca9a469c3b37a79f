"""A compiled rule as one array of integers, the input of the engine.

A set of cells is one word, a bit for each of the 36. The array begins with a header, whose entries
give the offsets of its parts and the columns of a board's state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from gohr.board import N_BUCKETS, N_CELLS, nearest_bucket
from gohr.engine.conditions import UNRANKED, AtomConditions
from gohr.engine.value_sets import BY_BUCKET, LAST, THIS, Program
from gohr.errors import RuleError

if TYPE_CHECKING:
    from gohr.engine.compiler import CompiledRule

#: The kernel finds its way in a program by numbers of 24 bits.
LONGEST = 1 << 24

# The header. First, where the parts of the program begin.
LINES = 0  # five integers a line: first atom, number of atoms, count, whether an atom is metered,
# and for a line that always accepts the same, which has no atoms: four words of cells by code, one
# a bucket; else 0
ATOMS = 1  # a row for each atom of the other lines, see below
FEATURES = 2  # by code: shape, colour, columns of the last bucket of that colour and that shape
# Then sizes.
N_LINES = 3
N_ATOMS = 4
N_CODES = 5  # different pieces, and 0 for an empty cell
N_SHAPES = 6
N_COLORS = 7
# Then places in the state of a board, which is a row of 16-bit numbers or of 64-bit words.
MATCHES = 8  # word by atom: the cells of the pieces that have its shape, colour and cell
LOOKS = 9  # word by shape, then by colour: the cells that had such a piece at first; 0 for none
KEPT = 10  # four words by atom of the active line: what it accepts; 0 for no need to know
ROOM = 11  # words of the programs of conditions: five records, and numbers
LAST_BUCKETS = 12  # column of the last bucket by colour, then by shape
LEFT = 13  # column of what is left of the counts of the active line's atoms
RECORDS = 14  # column of the last piece, last by bucket, by colour, by shape; 0 for none
N_COLUMNS = 15
HEADER_SIZE = 16

# Rows of the replies of the boards in play: input and output.
ACTION = 0
SHAPE = 1
COLOR = 2
BUCKET = 3
OUTCOME = 4
REWARD = 5
TERMINATED = 6
TRUNCATED = 7
STANDS = 8
# State of the engine: attempts so far, and whether the episode is over.
N_ATTEMPTS = 9
OVER = 10
N_REPLIES = 11

# The row of an atom: cells, count, where its further conditions are (0: none), where its buckets
# are: four words of cells, one a bucket, for each of the last buckets that they depend on.
CELLS, COUNT, CONDITIONS, BUCKETS = range(4)
# Words from one last bucket to the next, of any piece, of a colour, of a shape; 0: no dependence.
BY_LAST, BY_COLOR, BY_SHAPE = range(4, 7)
CHOOSES = 7  # 1 for an atom that takes not all shapes, plus 2 for one that takes not all colours
# Then all cells or none for each shape, and for each colour.
SHAPES = 8

# Columns of the state at the same place for every rule.
LINE = 0  # the active one
LINE_LEFT = 1  # of its count
FINISH = 2  # how the episode stands
# Words of the state at the same place for every rule; the first word holds the columns above.
PIECES = 1  # the occupied cells
ACCEPTS = 2  # four words: the cells whose piece may go to each bucket now
MOVABLE = 6  # the cells whose piece may go to any of them
FINAL = 7  # a byte for each code, then the last accepted attempt, that the episode ended with
_FREE = 12

COLUMNS_A_WORD = 4
#: Records that a program looks at: THIS, LAST, BY_COLOR, BY_SHAPE, BY_BUCKET of the value sets.
N_RECORDS = 5
N_FINAL = N_CELLS + 3

_EVERYWHERE = (1 << N_CELLS) - 1
#: By a set of quadrants as four bits: their cells.
_CELLS_OF = np.array(
    [
        sum(1 << cell for cell in range(N_CELLS) if (four >> nearest_bucket(1 + cell)) & 1)
        for four in range(16)
    ]
)

_Bytes = npt.NDArray[np.uint8]
_Counts = npt.NDArray[np.int32]
_Words = npt.NDArray[np.int64]

Replies: TypeAlias = npt.NDArray[np.int32]


def pack(rule: CompiledRule) -> _Words:
    """Lay the tables of a rule out as one array.

    Raises RuleError: the array would be longer than the kernel can address.
    """
    atoms, lines, counts, conditions = rule.atoms, rule.lines, rule.counts, rule.conditions
    n_shapes, n_colors = rule.n_shapes, rule.n_colors
    n_codes = n_shapes * n_colors
    looks = atoms[:, :n_codes].reshape(-1, n_shapes, n_colors)
    cells = atoms[:, n_codes : n_codes + N_CELLS]
    buckets = atoms[:, n_codes + N_CELLS :].reshape(-1, 5, 5, 5, N_BUCKETS)

    header = np.zeros(HEADER_SIZE, dtype=np.int64)
    parts = [header]

    def add(part: npt.ArrayLike) -> int:
        start = sum(map(len, parts))
        parts.append(np.asarray(part, dtype=np.int64).ravel())
        return start

    # The atoms of a plain line are in the table of the line; the others have rows.
    depends = (buckets != buckets[:, :1, :1, :1]).any(axis=(1, 2, 3, 4))
    changing = depends | (counts > 0) | np.array([c is not None for c in conditions])
    is_plain = [not changing[start:stop].any() for start, stop, _ in lines.tolist()]
    has_row = np.repeat(np.logical_not(is_plain), lines[:, 1] - lines[:, 0])
    rows = np.zeros((has_row.sum(), SHAPES + n_shapes + n_colors), dtype=np.int64)
    header[ATOMS] = add(np.zeros(rows.size))
    order_places = [add(_ranks(order)) for order in rule.orders]
    for row, a in zip(rows, has_row.nonzero()[0].tolist(), strict=True):
        # A count of 0 is used up from the start.
        row[CELLS] = _word(cells[a] != 0) if counts[a] != 0 else 0
        row[COUNT] = counts[a]
        shapes, colors = looks[a].any(axis=1), looks[a].any(axis=0)
        row[CHOOSES] = int(not shapes.all()) + 2 * int(not colors.all())
        row[SHAPES:] = np.where([*shapes, *colors], _EVERYWHERE, 0)
        table, row[BY_LAST : BY_SHAPE + 1] = _cells_by_bucket(buckets[a])
        row[BUCKETS] = add(table)
        further = conditions[a]
        if further is not None:
            row[CONDITIONS] = add(_conditions(further, sum(map(len, parts)), order_places))
    parts[1] = rows.ravel()

    first_row, line_rows = 0, []
    for (start, stop, count), plain in zip(lines.tolist(), is_plain, strict=True):
        n_rows, table_at, metered = stop - start, 0, int((counts[start:stop] > 0).any())
        if plain:
            alive = slice(start, stop)
            table = _plain_table(looks[alive], cells[alive], buckets[alive], counts[alive])
            n_rows, table_at = 0, add(table)
        line_rows.append((first_row, n_rows, count, metered, table_at))
        first_row += n_rows
    header[LINES] = add(line_rows)
    has_looks = bool(rows[:, BY_COLOR : CHOOSES + 1].any())
    header[[N_LINES, N_ATOMS, N_CODES]] = len(lines), len(rows), 1 + n_codes
    header[[N_SHAPES, N_COLORS]] = n_shapes, n_colors
    _lay_out_state(header, np.array(line_rows), has_looks, [c for c in conditions if c is not None])
    memory = int(header[LAST_BUCKETS])
    features = [
        (shape, color, memory + color, memory + n_colors + shape)
        for shape in range(n_shapes)
        for color in range(n_colors)
    ]
    header[FEATURES] = add([(0, 0, 0, 0), *features])
    program = np.concatenate(parts)
    if len(program) > LONGEST:
        raise RuleError(
            f"the rule is too long: expected tables of at most {LONGEST:,} numbers, found "
            f"{len(program):,} for its {len(atoms)} atoms"
        )
    return program


def _plain_table(looks: _Bytes, cells: _Bytes, buckets: _Bytes, counts: _Counts) -> _Words:
    """Return by code and bucket the cells whose piece goes there, by any of the atoms of a line."""
    table = np.zeros((1 + looks[0].size, N_BUCKETS), dtype=np.int64)
    for a in counts.nonzero()[0]:
        words = _cells_by_bucket(buckets[a])[0] & _word(cells[a] != 0)
        table[1 + looks[a].ravel().nonzero()[0]] |= words
    return table


def _lay_out_state(
    header: _Words, lines: _Words, has_looks: bool, conditions: list[AtomConditions]
) -> None:
    """Assign the words and columns of a board's state."""
    n_looks = int(header[N_SHAPES] + header[N_COLORS])
    most_atoms = int(lines[:, 1].max())
    header[MATCHES] = _FREE
    n_words = header[MATCHES] + header[N_ATOMS]
    if has_looks:
        header[LOOKS] = n_words
        n_words += n_looks
    if conditions or lines[:, 3].any():
        header[KEPT] = n_words
        n_words += N_BUCKETS * most_atoms
    header[ROOM] = n_words
    programs = [program for further in conditions for program in further.programs]
    n_words += max((N_RECORDS + len(program.instructions) for program in programs), default=0)
    header[LAST_BUCKETS] = COLUMNS_A_WORD * n_words
    header[LEFT] = header[LAST_BUCKETS] + n_looks
    header[N_COLUMNS] = header[LEFT] + most_atoms
    if programs:
        header[RECORDS] = header[N_COLUMNS]
        header[N_COLUMNS] += 1 + N_BUCKETS + n_looks
    header[N_COLUMNS] += -header[N_COLUMNS] % COLUMNS_A_WORD


def _word(cells: npt.NDArray[np.bool_]) -> int:
    return sum(1 << cell for cell in np.flatnonzero(cells).tolist())


def _ranks(order: _Bytes) -> list[int]:
    """Return the cells of each rank, the first first, and last the cells without a rank."""
    return [_word(order == rank) for rank in [*sorted({*order.tolist()} - {UNRANKED}), UNRANKED]]


def _cells_by_bucket(buckets: _Bytes) -> tuple[_Words, tuple[int, ...]]:
    """Return words by the last buckets that they depend on, and the steps between these."""
    steps, step = [0, 0, 0], N_BUCKETS
    for axis in (2, 1, 0):
        first = buckets.take([0], axis=axis)
        if (buckets == first).all():
            buckets = first
        else:
            steps[axis], step = step, 5 * step
    by_quadrant = (buckets[..., None] >> np.arange(N_BUCKETS)) & 1
    quadrants = (by_quadrant << np.arange(N_BUCKETS)[:, None]).sum(axis=-2)
    return _CELLS_OF[quadrants].ravel(), tuple(steps)


def _conditions(conditions: AtomConditions, start: int, orders: list[int]) -> list[int]:
    """Lay out position fields, the postpos field, and programs with their tables behind them."""
    postpos = [] if conditions.postpos is None else [conditions.postpos]
    flat = []
    for fields in (conditions.positions, postpos):
        flat.append(len(fields))
        for where in fields:
            # Cells, the number of orders, and where their ranks are.
            flat += [_word(np.array(where.cells) != 0), len(where.orders)]
            flat += [orders[o] for o in where.orders]
    flat.append(len(conditions.programs))
    code = sum(4 + 5 * len(p.instructions) for p in conditions.programs)
    table_at = start + len(flat) + code
    tables: list[int] = []
    for program in conditions.programs:
        places = []
        for table in program.tables:
            places.append(table_at + len(tables))
            tables += table
        flat += _instructions(program, places)
    return flat + tables


def _instructions(program: Program, places: list[int]) -> list[int]:
    """Return a program as numbers: a header of four, then five per instruction.

    The header has the number of instructions, the number of those that do not depend on a piece on
    the board, and whether the result depends on the bucket, and on the last piece of the same color
    or shape. Those that do not depend on a piece come first and run once for all pieces.
    """
    by_piece: list[bool] = []
    for kind, a, b, _, _ in program.instructions:
        if kind == 0:
            by_piece.append(a not in (LAST, BY_BUCKET))
        else:
            by_piece.append(by_piece[a] or (kind == 2 and by_piece[b]))
    turns = sorted(range(len(by_piece)), key=by_piece.__getitem__)
    number = {old: new for new, old in enumerate(turns)}
    pieces = {a for kind, a, *_ in program.instructions if kind == 0}
    by_look = not pieces <= {THIS, LAST, BY_BUCKET}
    flat = [len(by_piece), by_piece.count(False), int(program.by_bucket), int(by_look)]
    for old in turns:
        kind, a, b, n_b, table = program.instructions[old]
        flat += [kind, a if kind == 0 else number[a], number.get(b, 0), n_b, places[table]]
    return flat
