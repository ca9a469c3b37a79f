"""Acceptance by each atom of a line, for rules with more than tables: one kernel.

It is asked only when a line is entered or an attempt was accepted, never for one that is rejected.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game import board_views as views
from gohr.game.board import N_CELLS, nearest_bucket
from gohr.game.engine import program as p
from gohr.game.engine.conditions import MOST_ORDERS, UNRANKED
from gohr.game.engine.value_sets import MOST_INSTRUCTIONS

_ORDERS = p.ORDERS
_WORDS, _LINES, _CONDITIONS, _FEATURES = p.WORDS, p.LINES, p.CONDITIONS, p.FEATURES
_WIDTH, _N_CLASSES, _N_COLORS = p.WIDTH, p.N_CLASSES, p.N_COLORS
_CELLS, _ACCEPTS, _RECORDS, _FINAL = p.CELLS, p.ACCEPTS, p.RECORDS, p.FINAL
_N_PIECES = p.N_PIECES
_BUCKET = views.BUCKET

#: The bucket nearest to each cell.
QUADRANT = np.array([nearest_bucket(1 + cell) for cell in range(N_CELLS)], dtype=np.uint8)


@njit(cache=True)
def _position_holds(
    program: npt.NDArray[np.int64],
    at: int,
    least: npt.NDArray[np.int64],
    cell: int,
) -> bool:
    """Tell whether a field allows a cell, given the first rank there is in each of its orders."""
    if program[at + cell]:
        return True
    for o in range(program[at + 36]):
        order = program[at + 37 + o]
        if program[program[_ORDERS] + 36 * order + cell] == least[order]:
            return True
    return False


@njit(cache=True)
def _first_ranks(
    program: npt.NDArray[np.int64],
    at: int,
    cells: npt.NDArray[np.int64],
    masks: npt.NDArray[np.int64],
    n_pieces: int,
    least: npt.NDArray[np.int64],
) -> None:
    """Note the first rank, in each order of a field, of the pieces whose mask is not empty.

    Where no piece has a rank this is the rank of all cells without one, which are then all first.
    """
    for o in range(program[at + 36]):
        order = program[at + 37 + o]
        first = UNRANKED + 1
        for k in range(n_pieces):
            if masks[k]:
                rank = program[program[_ORDERS] + 36 * order + cells[k]]
                first = min(first, rank)
        least[order] = first


@njit(cache=True)
def _run(
    program: npt.NDArray[np.int64],
    at: int,
    n_instructions: int,
    records: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
) -> int:
    """Run the look-ups of one condition and return its set of buckets."""
    for k in range(n_instructions):
        kind, a, b = program[at], program[at + 1], program[at + 2]
        if kind == 0:
            index = records[a]
        elif kind == 1:
            index = numbers[a]
        else:
            index = numbers[a] * program[at + 3] + numbers[b]
        numbers[k] = program[program[at + 4] + index]
        at += 5
    return int(numbers[n_instructions - 1])


@njit(cache=True)
def look(
    program: npt.NDArray[np.int64],
    state: npt.NDArray[np.int64],
    seen: npt.NDArray[np.uint8],
    replies: npt.NDArray[np.int64],
    i: int,
    line: int,
) -> None:
    """Fill the columns of board ``i`` that tell what each atom of ``line`` accepts."""
    line_at = program[_LINES] + 6 * line
    first_word, n_words = program[line_at], program[line_at + 1]
    first_atom, n_atoms = program[line_at + 2], program[line_at + 3]
    width, n_classes = program[_WIDTH], program[_N_CLASSES]
    n_pieces = state[i, _N_PIECES]
    records_at = program[_RECORDS]
    n_colors = program[_N_COLORS]

    for c in range(36 * n_words):
        state[i, program[_ACCEPTS] + c] = 0
    cells = np.empty(36, dtype=np.int64)
    masks = np.empty(36, dtype=np.int64)
    present = np.ones(36, dtype=np.int64)
    least = np.empty(MOST_ORDERS, dtype=np.int64)
    records = np.empty(5, dtype=np.int64)
    numbers = np.empty(MOST_INSTRUCTIONS, dtype=np.int64)
    for k in range(n_pieces):
        cells[k] = state[i, program[_CELLS] + k]

    for a in range(n_atoms):
        word = a >> 4
        shift = 4 * (a & 15)
        row = program[_WORDS] + (first_word + word) * width
        block = program[program[_CONDITIONS] + first_atom + a]
        for k in range(n_pieces):
            code = np.int64(seen[i, cells[k]])
            feature = program[_FEATURES] + 4 * code
            memory = replies[_BUCKET, i] * 5 + state[i, program[feature + 2]]
            memory = memory * 5 + state[i, program[feature + 3]]
            masks[k] = (
                program[row + code - 1]
                & program[row + n_classes + cells[k]]
                & program[row + n_classes + 36 + 4 * memory + QUADRANT[cells[k]]]
            ) >> shift & 15

        if block != 0:
            at = block + 1
            for _ in range(program[block]):
                _first_ranks(program, at, cells, present, n_pieces, least)
                for k in range(n_pieces):
                    if not _position_holds(program, at, least, cells[k]):
                        masks[k] = 0
                at += 37 + program[at + 36]
            postpos = program[at]
            at += 1
            postpos_at = at
            if postpos:
                at += 37 + program[at + 36]
            n_programs = program[at]
            at += 1
            for _ in range(n_programs):
                n_instructions, by_bucket = program[at], program[at + 1]
                for k in range(n_pieces):
                    if masks[k] == 0:
                        continue
                    code = np.int64(seen[i, cells[k]])
                    feature = program[_FEATURES] + 4 * code
                    records[1] = state[i, records_at]
                    records[2] = state[i, records_at + 1 + program[feature + 1]]
                    records[3] = state[i, records_at + 1 + n_colors + program[feature]]
                    allowed = 0
                    for b in range(4):
                        records[0] = 1 + ((code - 1) * 36 + cells[k]) * 4 + b
                        records[4] = state[i, program[_FINAL] - 4 + b]
                        buckets = _run(program, at + 2, n_instructions, records, numbers)
                        if not by_bucket:
                            allowed = buckets
                            break
                        allowed |= buckets & (1 << b)
                    masks[k] &= allowed
                at += 2 + 5 * n_instructions
            if postpos:
                # An order here looks at the pieces that this atom would move, not at all pieces.
                _first_ranks(program, postpos_at, cells, masks, n_pieces, least)
                for k in range(n_pieces):
                    if masks[k] and not _position_holds(program, postpos_at, least, cells[k]):
                        masks[k] = 0

        for k in range(n_pieces):
            state[i, program[_ACCEPTS] + 36 * word + cells[k]] |= masks[k] << shift
