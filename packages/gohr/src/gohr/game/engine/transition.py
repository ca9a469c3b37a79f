"""The batched transition: one kernel that steps ``num_envs`` boards at once.

The kernel is one function that passes no array to another, except for the rare question that rules
with further conditions put to :mod:`gohr.game.engine.acceptance`: every array handed to an inner
compiled function costs atomic reference counts, which together made an earlier form twenty times
slower. It takes few arrays, since passing each costs 0.05 microseconds, which matters for a single
board (``docs/decisions/001-numba.md``). So it is long, and is read from top to bottom.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from gohr.game import board_views as views
from gohr.game.board_views import Replies
from gohr.game.engine import program as layout
from gohr.game.engine.acceptance import QUADRANT, look
from gohr.game.engine.compiling import announce_compiling
from gohr.game.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    LEAVE,
    NEW_BOARD,
    RESET,
    STALEMATE,
    Autoreset,
)

announce_compiling()

# Columns and words of a board's state that have the same place for every rule.
_LINE, _LINE_LEFT, _FINISH = layout.LINE, layout.LINE_LEFT, layout.FINISH
_PIECES, _ACCEPTS, _FINAL, _LIVE = layout.PIECES, layout.ACCEPTS, layout.FINAL, layout.LIVE
_CELLS = 8 * _ACCEPTS

# Entries of the header of a program that give offsets.
_LINES, _COUNTS, _FEATURES = layout.LINES, layout.COUNTS, layout.FEATURES
_CONDITIONS, _N_LINES, _WIDTH = layout.CONDITIONS, layout.N_LINES, layout.WIDTH
_N_CODES, _N_COLORS, _ATOMS = layout.N_CODES, layout.N_COLORS, layout.ATOMS
_LAST, _LEFT, _RECORDS = layout.LAST, layout.LEFT, layout.RECORDS

#: The mask of a cell's four attempts, as one number.
_FOUR = 0x01010101
#: All bits of four bytes but their first.
_SEVENS = 0x7F7F7F7F
#: Multiplication by this gathers four ones in four bytes into adjacent bits, from bit 24 on.
_TOGETHER = (1 << 24) + (1 << 17) + (1 << 10) + (1 << 3)
#: Times this, a set of buckets has its four bits in four bytes.
_SPREAD = 0x204081

# An episode can be over from the start, on a board with nothing to move, which is not reported
# until the first attempt is made.
_OVER_KNOWN = 1
_OVER_UNSAID = 2

# Columns of the replies.
_ACTION, _SHAPE, _COLOR, _BUCKET = views.ACTION, views.SHAPE, views.COLOR, views.BUCKET
_OUTCOME, _REWARD, _STANDS = views.OUTCOME, views.REWARD, views.STANDS
_TERMINATED, _TRUNCATED = views.TERMINATED, views.TRUNCATED
_N_ATTEMPTS, _OVER = views.N_ATTEMPTS, views.OVER

_NEXT_STEP, _SAME_STEP = Autoreset.NEXT_STEP, Autoreset.SAME_STEP

#: More attempts than are ever made.
_NEVER = (1 << 31) - 1

Bytes: TypeAlias = npt.NDArray[np.uint8]
Short: TypeAlias = npt.NDArray[np.int16]
Int: TypeAlias = npt.NDArray[np.int64]


def _count_zeros(typing_context: Any, word: Any) -> Any:
    """Return the type and the code of the number of zeros after the last bit of a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.int64), generate


#: The number of the lowest bit that is set.
_first_bit: Any = intrinsic(_count_zeros)


@njit(cache=True)
def _index(number: int) -> int:
    """Return a small non-negative number in a form from which the compiler can infer this.

    An index that might be negative costs a test and an addition each time it is used: a third of
    the time of a step.
    """
    return int(np.int64(number) & 0xFFFFFF)


@njit(cache=True)
def step(
    program: Int,
    state: Short,
    seen: Bytes,
    replies: Replies,
    deck: Bytes,
    n_dealt: int,
    horizon: int,
    autoreset: int,
) -> int:
    """Make the attempt ``replies[:, 0]`` on each board, and deal new boards where requested.

    Boards come from the rows of ``deck``, from row ``n_dealt`` on; the deck must hold as many more
    as there are boards. ``horizon`` is the number of attempts after which an episode is truncated,
    0 for none. Returns the new ``n_dealt``.
    """
    words: Any = state.view(np.int64)
    allowed_at: Any = state.view(np.uint8)
    fours: Any = state.view(np.int32)
    masks: Any = seen.view(np.int32)
    dealt: Any = deck.view(np.int32)
    lines_at, features_at = _index(program[_LINES]), _index(program[_FEATURES])
    n_lines, width = _index(program[_N_LINES]), _index(program[_WIDTH])
    n_codes, atoms_at = _index(program[_N_CODES]), _index(program[_ATOMS])
    last_at, left = _index(program[_LAST]), _index(program[_LEFT])
    further = program[_CONDITIONS] != 0
    limit = horizon if horizon > 0 else _NEVER

    for number in range(replies.shape[0]):
        i = _index(number)
        action = int(np.int64(replies[i, _ACTION]))
        over = replies[i, _OVER]
        playing = (over == 0) & (action >= 0)
        n_attempts = replies[i, _N_ATTEMPTS] + playing
        replies[i, _N_ATTEMPTS] = n_attempts
        # An action that is not an attempt reads unrelated bytes, and does not use them.
        cell = _index((action >> 2) & 63)
        bucket = action & 3
        code = _index(seen[i, cell])
        allowed = np.int64(allowed_at[i, _CELLS + cell])
        accepted = playing & ((allowed >> bucket) & 1 != 0)
        truncated = playing & (n_attempts >= limit)

        # Most attempts made at random are rejected, which changes nothing; the reason is selected
        # without a branch, which would be unpredictable.
        if playing & (not accepted):
            outcome = DENIED if allowed != 0 else IMMOVABLE
            replies[i, _OUTCOME] = EMPTY_CELL if code == 0 else outcome
            replies[i, _REWARD] = -1
            replies[i, _TERMINATED] = False
            replies[i, _TRUNCATED] = truncated
            if not truncated:
                continue
        fresh = action == RESET or (
            over == _OVER_KNOWN and autoreset == _NEXT_STEP and action != LEAVE
        )
        if not playing:
            replies[i, _OUTCOME] = (
                LEAVE if action == LEAVE else NEW_BOARD if fresh else EPISODE_OVER
            )
            replies[i, _REWARD] = 0
            replies[i, _TERMINATED] = False
            replies[i, _TRUNCATED] = False
            if action == LEAVE:
                continue

        first = -1  # the line at which a search for a playable line begins; -1: no search
        if accepted:
            replies[i, _OUTCOME] = ACCEPTED
            replies[i, _REWARD] = 0
            feature = features_at + 4 * code
            by_color, by_shape = _index(program[feature + 2]), _index(program[feature + 3])
            line_at = lines_at + _index(8 * state[i, _LINE])
            if program[line_at + 5] != 0:
                # Every atom that accepts the attempt pays for it, not the first alone.
                memory = (replies[i, _BUCKET] * 5 + state[i, by_color]) * 5 + state[i, by_shape]
                buckets_at = n_codes + 36 + 4 * _index(memory) + _index(QUADRANT[cell])
                for a in range(program[line_at + 3]):
                    w = a >> 4
                    row = _index(program[line_at] + w * width)
                    if further:
                        word = words[i, atoms_at + 36 * w + cell]
                    else:
                        word = (
                            program[row + code]
                            & program[row + n_codes + cell]
                            & program[row + buckets_at]
                        )
                    shift = 4 * (a & 15)
                    if state[i, left + a] > 0 and (word >> (shift + bucket)) & 1:
                        state[i, left + a] -= 1
                        if state[i, left + a] == 0:
                            words[i, _LIVE + w] &= ~(15 << shift)
            if state[i, _LINE_LEFT] > 0:
                state[i, _LINE_LEFT] -= 1
            shape, color = program[feature], program[feature + 1]
            state[i, by_color] = 1 + bucket
            state[i, by_shape] = 1 + bucket
            replies[i, _SHAPE] = 1 + shape
            replies[i, _COLOR] = 1 + color
            replies[i, _BUCKET] = 1 + bucket
            if further:
                record = 1 + ((code - 1) * 36 + cell) * 4 + bucket
                records = program[_RECORDS]
                state[i, records] = record
                state[i, records + 1 + bucket] = record
                state[i, records + 5 + color] = record
                state[i, records + 5 + program[_N_COLORS] + shape] = record
            seen[i, cell] = 0
            masks[i, 9 + cell] = 0
            words[i, _ACCEPTS + (cell >> 3)] &= ~(255 << (8 * (cell & 7)))
            pieces = words[i, _PIECES] & ~(1 << cell)
            words[i, _PIECES] = pieces
            some = np.int64(0)
            for w in range(5):
                some |= words[i, _ACCEPTS + w]
            if pieces == 0:
                state[i, _FINISH] = CLEARED
            elif some == 0 or program[line_at + 6] != 0 or state[i, _LINE_LEFT] == 0:
                first = -2  # check the active line in its current state before any other
            elif not truncated:
                replies[i, _TERMINATED] = False
                replies[i, _TRUNCATED] = False
                continue

        while True:
            if fresh:
                for c in range(last_at, left):
                    state[i, c] = 0
                for c in range(program[_RECORDS], state.shape[1]):
                    state[i, c] = 0
                replies[i, _SHAPE] = 0
                replies[i, _COLOR] = 0
                replies[i, _BUCKET] = 0
                for w in range(5):
                    words[i, _ACCEPTS + w] = 0
                pieces = np.int64(0)
                for c in range(9):
                    four = np.int64(dealt[n_dealt, c])
                    masks[i, c] = four
                    # A one in each byte that is not 0, four cells at a time; then side by side.
                    ones = ((((four & _SEVENS) + _SEVENS) | four) >> 7) & _FOUR
                    pieces |= (((ones * _TOGETHER) >> 24) & 15) << (4 * c)
                for c in range(36):
                    masks[i, 9 + c] = 0
                left_to_show = pieces
                while left_to_show != 0:
                    masks[i, 9 + _index(_first_bit(left_to_show))] = _FOUR
                    left_to_show &= left_to_show - 1
                n_dealt += 1
                words[i, _PIECES] = pieces
                replies[i, _N_ATTEMPTS] = 0
                replies[i, _OVER] = 0
                state[i, _FINISH] = IN_PROGRESS
                first = 0

            # A line is done when its count is used up or no piece can be moved under it. After an
            # accepted attempt the active line is checked in its current state; then the lines after
            # it are entered in turn, each with fresh counts, the finished one last.
            if first != -1:
                line = _index(state[i, _LINE]) if first == -2 else _index(first)
                entered = -1 if first == -2 else 0
                playable = False
                while entered < n_lines:
                    line_at = lines_at + _index(8 * line)
                    first_row, n_words = _index(program[line_at]), _index(program[line_at + 1])
                    if entered >= 0:
                        state[i, _LINE] = line
                        state[i, _LINE_LEFT] = program[line_at + 4]
                        for w in range(n_words):
                            words[i, _LIVE + w] = program[first_row + _index((w + 1) * width) - 1]
                        if program[line_at + 5] != 0:
                            for a in range(program[line_at + 3]):
                                state[i, left + a] = program[
                                    program[_COUNTS] + program[line_at + 2] + a
                                ]
                    some = np.int64(0)
                    if state[i, _LINE_LEFT] == 0:
                        n_words = 0
                    elif further:
                        look(program, state, seen, replies, i, line)
                    elif entered < 0 and program[line_at + 6] == 0:
                        n_words = 0  # nothing else has changed
                        for w in range(5):
                            some |= words[i, _ACCEPTS + w]
                    for w in range(n_words):
                        row = first_row + _index(w * width)
                        live = words[i, _LIVE + w]
                        many = program[line_at + 3] > 4
                        by_piece = program[line_at + 7] != 0
                        buckets_at = row + n_codes + 36 + 100 * _index(replies[i, _BUCKET])
                        pieces = words[i, _PIECES]
                        while pieces != 0:
                            cell = _index(_first_bit(pieces))
                            pieces &= pieces - 1
                            if further:
                                word = words[i, atoms_at + 36 * w + cell]
                            else:
                                code = _index(seen[i, cell])
                                by_last = buckets_at + _index(QUADRANT[cell])
                                if by_piece:
                                    feature = features_at + 4 * code
                                    by_color = _index(program[feature + 2])
                                    by_shape = _index(program[feature + 3])
                                    memory = 5 * state[i, by_color] + state[i, by_shape]
                                    by_last += 4 * _index(memory)
                                word = (
                                    program[row + code]
                                    & program[row + n_codes + cell]
                                    & program[by_last]
                                )
                            # Fold the atoms of the word into one.
                            allowed = word & live
                            some |= allowed
                            if many:
                                allowed |= allowed >> 32
                                allowed |= allowed >> 16
                            allowed |= allowed >> 8
                            allowed |= allowed >> 4
                            if w > 0:
                                allowed |= allowed_at[i, _CELLS + cell]
                            allowed_at[i, _CELLS + cell] = allowed & 15
                    if some != 0:
                        playable = True
                        break
                    line = line + 1 if line + 1 < n_lines else 0
                    entered += 1
                if not playable:
                    # Every line has been entered without success, and the search is back at its
                    # start.
                    state[i, _FINISH] = STALEMATE
                    state[i, _LINE] = line

            finish = state[i, _FINISH]
            replies[i, _STANDS] = finish
            if fresh:
                if finish == STALEMATE:
                    replies[i, _OVER] = _OVER_UNSAID
                break
            terminated = finish != IN_PROGRESS
            truncated = replies[i, _N_ATTEMPTS] >= limit
            replies[i, _TERMINATED] = terminated
            replies[i, _TRUNCATED] = truncated
            if not (terminated or truncated):
                break
            replies[i, _OVER] = _OVER_KNOWN
            if autoreset != _SAME_STEP:
                break
            for c in range(9):
                fours[i, 2 * _FINAL + c] = masks[i, c]
            for b in range(3):
                allowed_at[i, 8 * _FINAL + 36 + b] = replies[i, _SHAPE + b]
            fresh = True
    return n_dealt


@njit(cache=True)
def enter(actions: Int, replies: Replies) -> bool:
    """Enter the attempts of all boards; return False if one of them is none of the 144."""
    wrong = False
    for i in range(actions.size):
        replies[i, _ACTION] = actions[i]
        wrong |= (actions[i] < 0) | (actions[i] > 143)
    return not wrong


@njit(cache=True)
def tell(replies: Replies, reward: npt.NDArray[np.float64], ends: npt.NDArray[np.bool_]) -> None:
    """Fill rewards, (num_envs,), and terminated, truncated and stalemate, (3, num_envs)."""
    for i in range(reward.size):
        reward[i] = replies[i, _REWARD]
        ends[0, i] = replies[i, _TERMINATED] != 0
        ends[1, i] = replies[i, _TRUNCATED] != 0
        ends[2, i] = replies[i, _STANDS] == STALEMATE


@njit(cache=True)
def tell_final(
    final: Bytes,
    replies: Replies,
    kept: Bytes,
    masks: npt.NDArray[np.int32],
    ends: npt.NDArray[np.bool_],
    outcomes: npt.NDArray[np.int32],
) -> bool:
    """Keep ``final`` of the boards whose episode ended, and the mask of its cells; True for any.

    ``ends``, (2, num_envs), marks them and their stalemates; before the call it marks the rows of
    ``masks`` that are not 0. ``outcomes`` is filled with those of the boards as they are.
    """
    some_ended = False
    for i in range(replies.shape[0]):
        ended = (replies[i, _TERMINATED] | replies[i, _TRUNCATED]) != 0
        some_left = False
        if ended:
            for c in range(39):
                kept[i, c] = final[i, c]
        if ended or ends[0, i]:
            for c in range(36):
                here = ended & (final[i, c] != 0)
                masks[i, c] = _FOUR if here else 0
                some_left |= here
        ends[0, i] = ended
        ends[1, i] = some_left & (replies[i, _TERMINATED] != 0)
        outcomes[i] = NEW_BOARD if ended else replies[i, _OUTCOME]
        some_ended |= ended
    return some_ended


@njit(cache=True)
def permitted(state: Short, mask: npt.NDArray[np.int8]) -> int:
    """Fill ``mask`` (num_envs, 144) with 1 for the attempts that the rule would accept now.

    Returns their number.
    """
    allowed: Any = state.view(np.uint8)
    attempts: Any = mask.view(np.int32)
    n_permitted = 0
    for i in range(mask.shape[0]):
        for cell in range(36):
            four = int(np.int64(allowed[i, _CELLS + cell]) * _SPREAD & _FOUR)
            attempts[i, cell] = four
            n_permitted += ((four * _FOUR) >> 24) & 7
    return n_permitted
