"""Acceptance by each atom of a line, for rules with more than tables: one kernel.

It is computed only when a line is entered or an attempt is accepted, never for a rejected attempt.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game import board_views as views
from gohr.game.board import N_CELLS, nearest_bucket
from gohr.game.engine import program as p
from gohr.game.engine.conditions import MOST_ORDERS, UNRANKED
from gohr.game.engine.value_sets import BY_BUCKET, BY_COLOR, BY_SHAPE, LAST, MOST_INSTRUCTIONS, THIS

_LINES, _CONDITIONS, _FEATURES, _ORDERS = p.LINES, p.CONDITIONS, p.FEATURES, p.ORDERS
_WIDTH, _N_CODES, _N_COLORS = p.WIDTH, p.N_CODES, p.N_COLORS
_ATOMS, _RECORDS, _PIECES = p.ATOMS, p.RECORDS, p.PIECES
_BUCKET = views.BUCKET

#: The bucket nearest to each cell.
QUADRANT = np.array([nearest_bucket(1 + cell) for cell in range(N_CELLS)], dtype=np.uint8)
# Places in the one array that a look works with: the cells that hold a piece, the buckets allowed
# for each of them, the first rank in each order, the five records that a program looks at, and the
# numbers of its instructions.
_CELL = 0
_ALLOWED = N_CELLS
_FIRST = 2 * N_CELLS
_RECORD = _FIRST + MOST_ORDERS
_NUMBER = _RECORD + 5
_ROOM = _NUMBER + MOST_INSTRUCTIONS

_Int = npt.NDArray[np.int64]


@njit(cache=True, inline="always")
def _keep_first(program: _Int, at: int, n_pieces: int, room: _Int, every: bool) -> None:
    """Empty the sets of the pieces that the position field at ``at`` does not allow.

    An order allows the cells of the first rank that one of the pieces has: either of all pieces, or
    of the pieces that are allowed a bucket. Where no piece has a rank, all cells without one are
    first.
    """
    for o in range(program[at + 36]):
        ranks = program[_ORDERS] + 36 * program[at + 37 + o]
        first = np.int64(UNRANKED + 1)
        for k in range(n_pieces):
            if every or room[_ALLOWED + k] != 0:
                first = min(first, program[ranks + room[_CELL + k]])
        room[_FIRST + o] = first
    for k in range(n_pieces):
        cell = room[_CELL + k]
        holds = program[at + cell] != 0
        for o in range(program[at + 36]):
            ranks = program[_ORDERS] + 36 * program[at + 37 + o]
            holds |= program[ranks + cell] == room[_FIRST + o]
        if not holds:
            room[_ALLOWED + k] = 0


@njit(cache=True)
def look(
    program: _Int,
    state: npt.NDArray[np.int16],
    seen: npt.NDArray[np.uint8],
    replies: npt.NDArray[np.int32],
    i: int,
    line: int,
) -> None:
    """Fill the words of board ``i`` that encode the moves that each atom of ``line`` accepts."""
    words: Any = state.view(np.int64)
    line_at = program[_LINES] + 8 * line
    n_words, first_atom = program[line_at + 1], program[line_at + 2]
    width, n_codes, n_colors = program[_WIDTH], program[_N_CODES], program[_N_COLORS]
    records_at, atoms_at = program[_RECORDS], program[_ATOMS]

    room = np.empty(_ROOM, dtype=np.int64)
    n_pieces = 0
    for cell in range(36):
        if (words[i, _PIECES] >> cell) & 1:
            room[_CELL + n_pieces] = cell
            n_pieces += 1
            code = np.int64(seen[i, cell])
            feature = program[_FEATURES] + 4 * code
            memory = replies[i, _BUCKET] * 5 + state[i, program[feature + 2]]
            memory = memory * 5 + state[i, program[feature + 3]]
            for w in range(n_words):
                row = program[line_at] + w * width
                words[i, atoms_at + 36 * w + cell] = (
                    program[row + code]
                    & program[row + n_codes + cell]
                    & program[row + n_codes + 36 + 4 * memory + QUADRANT[cell]]
                )

    for a in range(program[line_at + 3]):
        at = program[program[_CONDITIONS] + first_atom + a]
        if at == 0:
            continue
        word_at, shift = atoms_at + 36 * (a >> 4), 4 * (a & 15)
        for k in range(n_pieces):
            room[_ALLOWED + k] = (words[i, word_at + room[_CELL + k]] >> shift) & 15
        n_positions = program[at]
        at += 1
        for _ in range(n_positions):
            _keep_first(program, at, n_pieces, room, True)
            at += 37 + program[at + 36]
        postpos, postpos_at = program[at], at + 1
        at = postpos_at + (37 + program[postpos_at + 36] if postpos else 0)
        n_programs = program[at]
        at += 1
        for _ in range(n_programs):
            n_instructions, by_bucket = program[at], program[at + 1]
            for k in range(n_pieces):
                tried = room[_ALLOWED + k]
                if tried == 0:
                    continue
                cell = room[_CELL + k]
                code = np.int64(seen[i, cell])
                feature = program[_FEATURES] + 4 * code
                shape, color = program[feature], program[feature + 1]
                record = 1 + ((code - 1) * 36 + cell) * 4
                # A record is a number of 16 bits without a sign.
                room[_RECORD + LAST] = state[i, records_at] & 0xFFFF
                room[_RECORD + BY_COLOR] = state[i, records_at + 5 + color] & 0xFFFF
                room[_RECORD + BY_SHAPE] = state[i, records_at + 5 + n_colors + shape] & 0xFFFF
                allowed = np.int64(0)
                for b in range(4):
                    if (tried >> b) & 1 == 0:
                        continue
                    room[_RECORD + THIS] = record + b
                    room[_RECORD + BY_BUCKET] = state[i, records_at + 1 + b] & 0xFFFF
                    number = np.int64(0)
                    look_up = at + 2
                    for n in range(n_instructions):
                        kind, x = program[look_up], program[look_up + 1]
                        if kind == 0:
                            index = room[_RECORD + x]
                        elif kind == 1:
                            index = room[_NUMBER + x]
                        else:
                            index = room[_NUMBER + x] * program[look_up + 3]
                            index += room[_NUMBER + program[look_up + 2]]
                        number = program[program[look_up + 4] + index]
                        room[_NUMBER + n] = number
                        look_up += 5
                    if not by_bucket:
                        allowed = number
                        break
                    allowed |= number & (1 << b)
                room[_ALLOWED + k] = tried & allowed
            at += 2 + 5 * n_instructions
        if postpos:
            # An order here looks at the pieces that this atom would move, not at all pieces.
            _keep_first(program, postpos_at, n_pieces, room, False)
        for k in range(n_pieces):
            word = word_at + room[_CELL + k]
            words[i, word] = (words[i, word] & ~(15 << shift)) | (room[_ALLOWED + k] << shift)
