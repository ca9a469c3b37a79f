"""The batched transition: one kernel that steps ``num_envs`` boards at once.

The kernel is one function that passes no array to another, but for the rare question that rules
with further conditions put to :mod:`gohr.game.engine.acceptance`: every array handed to an inner
compiled function costs atomic reference counts, which together made an earlier form twenty times
slower. It takes few arrays, since each costs 0.05 microseconds to hand over, which is what a single
board feels (``docs/decisions/001-numba.md``). So it is long, and is read from top to bottom.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game import board_views as views
from gohr.game.engine import program as layout
from gohr.game.engine.acceptance import QUADRANT, look
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

# Columns of a board's state that stand at the same place for every rule.
_LINE, _LINE_LEFT = layout.LINE, layout.LINE_LEFT
_N_PIECES, _FINISH = layout.N_PIECES, layout.FINISH
_ROW, _N_WORDS, _LIVE = layout.ROW, layout.N_WORDS, layout.LIVE

# Where the header of a program says what stands where.
_WORDS, _LINES, _COUNTS, _FEATURES = layout.WORDS, layout.LINES, layout.COUNTS, layout.FEATURES
_CONDITIONS = layout.CONDITIONS
_N_LINES, _WIDTH = layout.N_LINES, layout.WIDTH
_N_CLASSES, _N_COLORS = layout.N_CLASSES, layout.N_COLORS
_CELLS, _LEFT, _ACCEPTS = layout.CELLS, layout.LEFT, layout.ACCEPTS
_RECORDS, _FINAL = layout.RECORDS, layout.FINAL

#: The first bit of each of the sixteen atoms of a word.
_FIRST_BITS = 0x1111111111111111

# An episode can be over from the start, on a board with nothing to move; nobody has been told so
# until the first attempt is made.
_OVER_KNOWN = 1
_OVER_UNSAID = 2

# Rows of the replies.
_ACTION, _SHAPE, _COLOR, _BUCKET = views.ACTION, views.SHAPE, views.COLOR, views.BUCKET
_OUTCOME, _REWARD, _STANDS = views.OUTCOME, views.REWARD, views.STANDS
_TERMINATED, _TRUNCATED = views.TERMINATED, views.TRUNCATED
_N_ATTEMPTS, _OVER, _BUSY = views.N_ATTEMPTS, views.OVER, views.BUSY

_NEXT_STEP, _SAME_STEP = Autoreset.NEXT_STEP, Autoreset.SAME_STEP

#: More attempts than anybody makes.
_NEVER = 1 << 62

Int: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def _index(number: int) -> int:
    """Return a small number that is not negative, in a way that lets the compiler know it.

    An index that might be negative costs a test and an addition each time it is used: a third of
    the time of a step.
    """
    return int(np.int64(number) & 0xFFFFFF)


@njit(cache=True)
def step(
    program: Int,
    state: Int,
    seen: npt.NDArray[np.uint8],
    replies: Int,
    deck: npt.NDArray[np.uint8],
    n_dealt: int,
    horizon: int,
    autoreset: int,
) -> int:
    """Make the attempt ``replies[0]`` on each board, and deal new boards where that is asked.

    Boards come from the rows of ``deck``, from row ``n_dealt`` on; the deck must hold as many more
    as there are boards. ``horizon`` is the number of attempts after which an episode is truncated,
    0 for none. Returns the new ``n_dealt``.
    """
    words_at, lines_at = _index(program[_WORDS]), _index(program[_LINES])
    counts_at, features_at = _index(program[_COUNTS]), _index(program[_FEATURES])
    n_lines, width, n_classes = (
        _index(program[_N_LINES]),
        _index(program[_WIDTH]),
        _index(program[_N_CLASSES]),
    )
    cells, left, accepts_at = (
        _index(program[_CELLS]),
        _index(program[_LEFT]),
        _index(program[_ACCEPTS]),
    )
    further = program[_CONDITIONS] != 0
    limit = horizon if horizon > 0 else _NEVER

    # Three attempts in four hit an empty cell when they are made at random, and which ones is a
    # coin toss. So a first pass answers all boards as if theirs had, without a branch, and notes
    # the boards for which there is more to say.
    n_busy = 0
    for i in range(replies.shape[1]):
        action = replies[_ACTION, i]
        playing = (replies[_OVER, i] == 0) & (action >= 0)
        n_attempts = replies[_N_ATTEMPTS, i] + playing
        replies[_N_ATTEMPTS, i] = n_attempts
        replies[_OUTCOME, i] = EMPTY_CELL
        replies[_REWARD, i] = -1
        replies[_TERMINATED, i] = False
        replies[_TRUNCATED, i] = False
        replies[_BUSY, n_busy] = i
        n_busy += (seen[i, (action >> 2) & 63] != 0) | (not playing) | (n_attempts >= limit)

    for busy in range(n_busy):
        i = _index(replies[_BUSY, busy])
        action = replies[_ACTION, i]
        over = replies[_OVER, i]
        fresh = action == RESET or (
            over == _OVER_KNOWN and autoreset == _NEXT_STEP and action != LEAVE
        )
        first = -1  # the line at which a search for a playable line begins; -1: no search
        reward = 0
        terminated = False
        truncated = False

        if action == LEAVE:
            outcome = LEAVE
        elif fresh:
            outcome = NEW_BOARD
        elif over != 0:
            outcome = EPISODE_OVER
        else:
            truncated = replies[_N_ATTEMPTS, i] >= limit
            cell = _index(action >> 2)
            bucket = action & 3
            code = _index(seen[i, cell])
            if code == 0:
                outcome = EMPTY_CELL
                reward = -1
            else:
                feature = features_at + 4 * code
                by_color, by_shape = _index(program[feature + 2]), _index(program[feature + 3])
                memory = _index(
                    (replies[_BUCKET, i] * 5 + state[i, by_color]) * 5 + state[i, by_shape]
                )
                cell_at = n_classes + cell
                buckets_at = n_classes + 36 + 4 * memory + _index(QUADRANT[cell])
                row = _index(state[i, _ROW])
                allowed = 0
                for w in range(state[i, _N_WORDS]):
                    if further:
                        word = state[i, accepts_at + 36 * w + cell]
                    else:
                        word = (
                            program[row + code - 1]
                            & program[row + cell_at]
                            & program[row + buckets_at]
                        )
                    allowed |= word & state[i, _LIVE + w]
                    row += width
                if (allowed >> bucket) & _FIRST_BITS == 0:
                    outcome = IMMOVABLE if allowed == 0 else DENIED
                    reward = -1
                else:
                    outcome = ACCEPTED
                    line_at = lines_at + _index(6 * state[i, _LINE])
                    if program[line_at + 5] != 0:
                        # Every atom that accepts the attempt pays for it, not the first alone.
                        for a in range(program[line_at + 3]):
                            w = a >> 4
                            row = _index(state[i, _ROW] + w * width)
                            if further:
                                word = state[i, accepts_at + 36 * w + cell]
                            else:
                                word = (
                                    program[row + code - 1]
                                    & program[row + cell_at]
                                    & program[row + buckets_at]
                                )
                            shift = 4 * (a & 15)
                            if state[i, left + a] > 0 and (word >> (shift + bucket)) & 1:
                                state[i, left + a] -= 1
                                if state[i, left + a] == 0:
                                    state[i, _LIVE + w] &= ~(15 << shift)
                    if state[i, _LINE_LEFT] > 0:
                        state[i, _LINE_LEFT] -= 1
                    state[i, by_color] = 1 + bucket
                    state[i, by_shape] = 1 + bucket
                    shape, color = program[feature], program[feature + 1]
                    replies[_SHAPE, i] = 1 + shape
                    replies[_COLOR, i] = 1 + color
                    replies[_BUCKET, i] = 1 + bucket
                    if further:
                        record = 1 + ((code - 1) * 36 + cell) * 4 + bucket
                        records = program[_RECORDS]
                        n_colors = program[_N_COLORS]
                        state[i, records] = record
                        state[i, records + 1 + color] = record
                        state[i, records + 1 + n_colors + shape] = record
                        state[i, program[_FINAL] - 4 + bucket] = record
                    seen[i, cell] = 0
                    for b in range(4):
                        seen[i, 36 + 4 * cell + b] = 0
                    n_pieces = _index(state[i, _N_PIECES] - 1)
                    state[i, _N_PIECES] = n_pieces
                    k = 0
                    while state[i, cells + k] != cell:
                        k += 1
                    state[i, cells + k] = state[i, cells + n_pieces]

                    if n_pieces == 0:
                        state[i, _FINISH] = CLEARED
                    else:
                        first = -2  # look at the active line as it stands before any other

        # An attempt that was rejected changes nothing.
        while fresh or truncated or outcome in (ACCEPTED, EPISODE_OVER):
            if fresh:
                for c in range(cells + 36, left):
                    state[i, c] = 0
                for c in range(program[_RECORDS], program[_FINAL]):
                    state[i, c] = 0
                replies[_SHAPE, i] = 0
                replies[_COLOR, i] = 0
                replies[_BUCKET, i] = 0
                n_pieces = 0
                for cell in range(36):
                    code = _index(deck[n_dealt, cell])
                    seen[i, cell] = code
                    # Without a branch, for it would be a coin toss: an empty cell's number is
                    # overwritten by the next.
                    here = code != 0
                    state[i, cells + n_pieces] = cell
                    n_pieces += here
                    for b in range(4):
                        seen[i, 36 + 4 * cell + b] = here
                n_dealt += 1
                state[i, _N_PIECES] = n_pieces
                replies[_N_ATTEMPTS, i] = 0
                replies[_OVER, i] = 0
                state[i, _FINISH] = IN_PROGRESS
                first = 0

            # A line is done when its count is used up or no piece can be moved under it. After an
            # accepted attempt the active line is looked at as it stands; then the lines after it
            # are entered in turn, each with fresh counts, the finished one last of all.
            if first != -1:
                line = _index(state[i, _LINE]) if first == -2 else _index(first)
                entered = -1 if first == -2 else 0
                playable = False
                while entered < n_lines:
                    line_at = lines_at + _index(6 * line)
                    first_row = words_at + _index(program[line_at] * width)
                    n_words = program[line_at + 1]
                    if entered >= 0:
                        state[i, _LINE] = line
                        state[i, _LINE_LEFT] = program[line_at + 4]
                        state[i, _ROW] = first_row
                        state[i, _N_WORDS] = n_words
                        for w in range(n_words):
                            live = program[first_row + _index((w + 1) * width) - 1]
                            state[i, _LIVE + w] = live
                        if program[line_at + 5] != 0:
                            for a in range(program[line_at + 3]):
                                state[i, left + a] = program[counts_at + program[line_at + 2] + a]
                    if state[i, _LINE_LEFT] != 0:
                        if further:
                            look(program, state, seen, replies, i, line)
                        for k in range(state[i, _N_PIECES]):
                            cell = _index(state[i, cells + k])
                            code = _index(seen[i, cell])
                            feature = features_at + 4 * code
                            by_color = _index(program[feature + 2])
                            by_shape = _index(program[feature + 3])
                            memory = replies[_BUCKET, i] * 5 + state[i, by_color]
                            memory = _index(memory * 5 + state[i, by_shape])
                            cell_at = n_classes + cell
                            buckets_at = n_classes + 36 + 4 * memory + _index(QUADRANT[cell])
                            for w in range(n_words):
                                row = first_row + _index(w * width)
                                if further:
                                    word = state[i, accepts_at + 36 * w + cell]
                                else:
                                    word = (
                                        program[row + code - 1]
                                        & program[row + cell_at]
                                        & program[row + buckets_at]
                                    )
                                if word & state[i, _LIVE + w] != 0:
                                    playable = True
                                    break
                            if playable:
                                break
                    if playable:
                        break
                    line = line + 1 if line + 1 < n_lines else 0
                    entered += 1
                if not playable:
                    # Every line has been entered in vain, and the search is back where it began.
                    state[i, _FINISH] = STALEMATE
                    state[i, _LINE] = line

            replies[_STANDS, i] = state[i, _FINISH]
            if fresh:
                if state[i, _FINISH] == STALEMATE:
                    replies[_OVER, i] = _OVER_UNSAID
                break
            terminated = state[i, _FINISH] != IN_PROGRESS
            truncated = replies[_N_ATTEMPTS, i] >= limit
            if terminated or truncated:
                replies[_OVER, i] = _OVER_KNOWN
                if autoreset == _SAME_STEP:
                    for c in range(36):
                        state[i, program[_FINAL] + c] = seen[i, c]
                    for b in range(3):
                        state[i, program[_FINAL] + 36 + b] = replies[_SHAPE + b, i]
                    fresh = True
                    continue
            break
        replies[_OUTCOME, i] = outcome
        replies[_REWARD, i] = reward
        replies[_TERMINATED, i] = terminated
        replies[_TRUNCATED, i] = truncated
    return n_dealt


@njit(cache=True)
def enter(actions: Int, replies: Int) -> bool:
    """Enter the attempts of all boards; return False if one of them is none of the 144."""
    wrong = False
    for i in range(actions.size):
        replies[_ACTION, i] = actions[i]
        wrong |= (actions[i] < 0) | (actions[i] > 143)
    return not wrong


@njit(cache=True)
def tell(replies: Int, reward: npt.NDArray[np.float64], ends: npt.NDArray[np.bool_]) -> None:
    """Fill rewards, (num_envs,), and terminated, truncated and stalemate, (3, num_envs)."""
    for i in range(reward.size):
        reward[i] = replies[_REWARD, i]
        ends[0, i] = replies[_TERMINATED, i] != 0
        ends[1, i] = replies[_TRUNCATED, i] != 0
        ends[2, i] = replies[_STANDS, i] == STALEMATE


@njit(cache=True)
def permitted(
    program: Int,
    state: Int,
    seen: npt.NDArray[np.uint8],
    replies: Int,
    mask: npt.NDArray[np.int8],
) -> int:
    """Fill ``mask`` (num_envs, 144) with 1 for the attempts that the rule would accept now.

    Returns how many they are.
    """
    n_classes, width = _index(program[_N_CLASSES]), _index(program[_WIDTH])
    cells, features = _index(program[_CELLS]), _index(program[_FEATURES])
    further, accepts = program[_CONDITIONS] != 0, _index(program[_ACCEPTS])
    n_permitted = 0
    for i in range(seen.shape[0]):
        for attempt in range(144):
            mask[i, attempt] = 0
        line_at = _index(program[_LINES] + 6 * state[i, _LINE])
        first_row = _index(program[_WORDS] + program[line_at] * width)
        n_words = _index(program[line_at + 1])
        n_pieces = _index(state[i, _N_PIECES]) if state[i, _FINISH] == IN_PROGRESS else 0
        for k in range(n_pieces):
            allowed = 0
            cell = _index(state[i, cells + k])
            code = _index(seen[i, cell])
            feature = features + 4 * code
            by_color, by_shape = _index(program[feature + 2]), _index(program[feature + 3])
            memory = (replies[_BUCKET, i] * 5 + state[i, by_color]) * 5 + state[i, by_shape]
            buckets_at = n_classes + 36 + 4 * _index(memory) + _index(QUADRANT[cell])
            for w in range(n_words):
                row = first_row + w * width
                if further:
                    word = state[i, accepts + 36 * w + cell]
                else:
                    word = (
                        program[row + code - 1]
                        & program[row + n_classes + cell]
                        & program[row + buckets_at]
                    )
                allowed |= word & state[i, _LIVE + w]
            # Fold the sixteen atoms of the word into one.
            for half in (32, 16, 8, 4):
                allowed |= allowed >> half
            for b in range(4):
                mask[i, 4 * cell + b] = (allowed >> b) & 1
                n_permitted += (allowed >> b) & 1
    return n_permitted
