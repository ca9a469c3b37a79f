"""The batched transition: one kernel that steps ``num_envs`` boards at once.

The kernel is one function that passes no array to another, except for the rare question that rules
with further conditions put to :mod:`gohr.engine.acceptance`: every array handed to an inner
compiled function costs atomic reference counts, which together made an earlier form twenty times
slower. It takes few arrays, since passing each costs 0.05 microseconds, which matters for a single
board (``docs/decisions.md``). So it is long, and is read from top to bottom.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core import event

from gohr.engine import program as p
from gohr.engine.acceptance import Bytes, Int, Short, first_bit, index_of, restrict
from gohr.engine.program import Replies
from gohr.outcomes import (
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

# -- announcing that kernels are compiled ----------------------------------------------------------

#: Seconds of compiling after which a second line is printed.
_LONG = 1.0


class _Announcer(event.Listener):
    """Announces the first kernel of this package that is compiled, and times each that takes long.

    A kernel that is loaded from the cache is not compiled, and those that a kernel calls are
    compiled within it.
    """

    def __init__(self) -> None:
        self._announced = False
        self._depth = 0
        self._began = 0.0

    def on_start(self, started: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = time.perf_counter()
            if not self._announced and _is_ours(started):
                self._announced = True
                print(
                    "gohr: compiling the engine (once, about 10 s) ...", file=sys.stderr, flush=True
                )

    def on_end(self, ended: Any) -> None:
        self._depth -= 1
        seconds = time.perf_counter() - self._began
        if self._depth == 0 and seconds >= _LONG and _is_ours(ended):
            name = ended.data["dispatcher"].py_func.__qualname__
            print(f"gohr: compiled {name} in {seconds:.1f} s", file=sys.stderr, flush=True)


def _is_ours(compiled: Any) -> bool:
    return bool(compiled.data["dispatcher"].py_func.__module__.startswith("gohr."))


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]  # Numba has no types

# -- the kernels -----------------------------------------------------------------------------------

#: The mask of a cell's four attempts, as one number.
_FOUR = 0x01010101
#: All bits of four bytes but their first.
_SEVENS = 0x7F7F7F7F
#: Multiplication by this gathers four ones in four bytes into adjacent bits, from bit 24 on.
_TOGETHER = (1 << 24) + (1 << 17) + (1 << 10) + (1 << 3)

# An episode can be over from the start, on a board with nothing to move, which is not reported
# until the first attempt is made.
_OVER_KNOWN = 1
_OVER_UNSAID = 2

_NEXT_STEP, _SAME_STEP = Autoreset.NEXT_STEP, Autoreset.SAME_STEP

#: More attempts than are ever made.
_NEVER = (1 << 31) - 1


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
    """Make the attempt ``replies[0]`` on each board, and deal new boards where requested.

    Boards come from the rows of ``deck``, from row ``n_dealt`` on; the deck must hold as many more
    as there are boards. ``horizon`` is the number of attempts after which an episode is truncated,
    0 for none. Returns the new ``n_dealt``.
    """
    words: Any = state.view(np.int64)
    fours: Any = state.view(np.int32)
    bytes_: Any = state.view(np.uint8)
    masks: Any = seen.view(np.int32)
    dealt: Any = deck.view(np.int32)
    lines_at, features_at = index_of(program[p.LINES]), index_of(program[p.FEATURES])
    atoms_at, n_lines = index_of(program[p.ATOMS]), index_of(program[p.N_LINES])
    n_shapes, n_colors = index_of(program[p.N_SHAPES]), index_of(program[p.N_COLORS])
    width = p.SHAPES + n_shapes + n_colors
    matches_at, looks_at = index_of(program[p.MATCHES]), index_of(program[p.LOOKS])
    n_looks = n_shapes + n_colors if looks_at != 0 else 0
    kept_at, left = index_of(program[p.KEPT]), index_of(program[p.LEFT])
    last_at, records = index_of(program[p.LAST_BUCKETS]), index_of(program[p.RECORDS])
    n_records = 5 + n_colors + n_shapes if records != 0 else 0
    limit = horizon if horizon > 0 else _NEVER

    for number in range(seen.shape[0]):
        i = index_of(number)
        action = int(np.int64(replies[p.ACTION, i]))
        over = replies[p.OVER, i]
        playing = (over == 0) & (action >= 0)
        n_attempts = replies[p.N_ATTEMPTS, i] + playing
        replies[p.N_ATTEMPTS, i] = n_attempts
        # An action that is not an attempt reads unrelated bytes, and does not use them.
        cell = index_of((action >> 2) & 63)
        bucket = action & 3
        code = index_of(seen[i, cell])
        accepted = playing & ((words[i, p.ACCEPTS + bucket] >> cell) & 1 != 0)
        truncated = playing & (n_attempts >= limit)

        # Most attempts made at random are rejected, which changes nothing; the reason is selected
        # without a branch, which would be unpredictable.
        if playing & (not accepted):
            outcome = DENIED if (words[i, p.MOVABLE] >> cell) & 1 != 0 else IMMOVABLE
            replies[p.OUTCOME, i] = EMPTY_CELL if code == 0 else outcome
            replies[p.REWARD, i] = -1
            replies[p.TERMINATED, i] = False
            replies[p.TRUNCATED, i] = truncated
            if not truncated:
                continue
        fresh = action == RESET or (
            over == _OVER_KNOWN and autoreset == _NEXT_STEP and action != LEAVE
        )
        if not playing:
            replies[p.OUTCOME, i] = (
                LEAVE if action == LEAVE else NEW_BOARD if fresh else EPISODE_OVER
            )
            replies[p.REWARD, i] = 0
            replies[p.TERMINATED, i] = False
            replies[p.TRUNCATED, i] = False
            if action == LEAVE:
                continue

        first = -1  # the line at which a search for a playable line begins; -1: no search
        if accepted:
            replies[p.OUTCOME, i] = ACCEPTED
            replies[p.REWARD, i] = 0
            feature = features_at + 4 * code
            by_color, by_shape = index_of(program[feature + 2]), index_of(program[feature + 3])
            line_at = lines_at + index_of(5 * state[i, p.LINE])
            if program[line_at + 3] != 0:
                # Every atom that accepts the attempt pays for it, not the first alone.
                for a in range(program[line_at + 1]):
                    paid = words[i, kept_at + index_of(4 * a) + bucket] >> cell
                    if state[i, left + a] > 0 and paid & 1:
                        state[i, left + a] -= 1
            if state[i, p.LINE_LEFT] > 0:
                state[i, p.LINE_LEFT] -= 1
            shape, color = program[feature], program[feature + 1]
            state[i, by_color] = 1 + bucket
            state[i, by_shape] = 1 + bucket
            replies[p.SHAPE, i] = 1 + shape
            replies[p.COLOR, i] = 1 + color
            replies[p.BUCKET, i] = 1 + bucket
            if records != 0:
                record = 1 + ((code - 1) * 36 + cell) * 4 + bucket
                state[i, records] = record
                state[i, records + 1 + bucket] = record
                state[i, records + 5 + color] = record
                state[i, records + 5 + n_colors + shape] = record
            seen[i, cell] = 0
            masks[i, 9 + cell] = 0
            others = ~(np.int64(1) << cell)
            pieces = words[i, p.PIECES] & others
            words[i, p.PIECES] = pieces
            some = np.int64(0)
            if (program[line_at + 4] != 0) | (pieces == 0):  # else all is found anew below
                for b in range(4):
                    words[i, p.ACCEPTS + b] &= others
                some = words[i, p.MOVABLE] & others
                words[i, p.MOVABLE] = some
            if pieces == 0:
                state[i, p.FINISH] = CLEARED
            elif some == 0 or state[i, p.LINE_LEFT] == 0:
                first = -2  # check the active line in its current state before any other
            elif not truncated:
                replies[p.TERMINATED, i] = False
                replies[p.TRUNCATED, i] = False
                continue

        while True:
            if fresh:
                for c in range(last_at, left):
                    state[i, c] = 0
                for c in range(records, records + n_records):
                    state[i, c] = 0
                replies[p.SHAPE, i] = 0
                replies[p.COLOR, i] = 0
                replies[p.BUCKET, i] = 0
                pieces = np.int64(0)
                for c in range(9):
                    four = np.int64(dealt[n_dealt, c])
                    masks[i, c] = four
                    # A one in each byte that is not 0, four cells at a time; then side by side.
                    ones = ((((four & _SEVENS) + _SEVENS) | four) >> 7) & _FOUR
                    pieces |= (((ones * _TOGETHER) >> 24) & 15) << (4 * c)
                for c in range(36):
                    masks[i, 9 + c] = 0
                for look in range(n_looks):
                    words[i, looks_at + look] = 0
                more = pieces
                while more != 0:
                    cell = index_of(first_bit(more))
                    piece = more & -more
                    more ^= piece
                    masks[i, 9 + cell] = _FOUR
                    if n_looks != 0:
                        feature = features_at + index_of(4 * np.int64(seen[i, cell]))
                        words[i, looks_at + index_of(program[feature])] |= piece
                        words[i, looks_at + n_shapes + index_of(program[feature + 1])] |= piece
                for a in range(program[p.N_ATOMS]):
                    row = atoms_at + index_of(width * a)
                    match = program[row] & pieces
                    if program[row + p.CHOOSES] & 1:
                        some = np.int64(0)
                        for look in range(n_shapes):
                            some |= words[i, looks_at + look] & program[row + p.SHAPES + look]
                        match &= some
                    if program[row + p.CHOOSES] & 2:
                        some = np.int64(0)
                        for look in range(n_shapes, n_shapes + n_colors):
                            some |= words[i, looks_at + look] & program[row + p.SHAPES + look]
                        match &= some
                    words[i, matches_at + a] = match
                n_dealt += 1
                words[i, p.PIECES] = pieces
                replies[p.N_ATTEMPTS, i] = 0
                replies[p.OVER, i] = 0
                state[i, p.FINISH] = IN_PROGRESS
                first = 0

            # A line is done when its count is used up or no piece can be moved under it. After an
            # accepted attempt the active line is checked in its current state; then the lines after
            # it are entered in turn, each with fresh counts, the finished one last.
            if first != -1:
                line = index_of(state[i, p.LINE]) if first == -2 else index_of(first)
                entered = -1 if first == -2 else 0
                playable = False
                while entered < n_lines:
                    line_at = lines_at + index_of(5 * line)
                    first_atom, metered = program[line_at], program[line_at + 3] != 0
                    n_atoms = index_of(program[line_at + 1])
                    if entered >= 0:
                        state[i, p.LINE] = line
                        state[i, p.LINE_LEFT] = program[line_at + 2]
                        if metered:
                            for a in range(n_atoms):
                                row = atoms_at + index_of(width * (first_atom + a))
                                state[i, left + a] = program[row + p.COUNT]
                    pieces = words[i, p.PIECES]
                    in_0 = in_1 = in_2 = in_3 = np.int64(0)
                    table = index_of(program[line_at + 4])
                    if state[i, p.LINE_LEFT] == 0:
                        n_atoms = 0
                    elif table != 0 and entered >= 0:
                        more = pieces
                        while more != 0:
                            cell = index_of(first_bit(more))
                            piece = more & -more
                            more ^= piece
                            at = table + index_of(4 * np.int64(seen[i, cell]))
                            in_0 |= piece & program[at]
                            in_1 |= piece & program[at + 1]
                            in_2 |= piece & program[at + 2]
                            in_3 |= piece & program[at + 3]
                    elif table != 0:  # nothing else has changed
                        in_0, in_1 = words[i, p.ACCEPTS], words[i, p.ACCEPTS + 1]
                        in_2, in_3 = words[i, p.ACCEPTS + 2], words[i, p.ACCEPTS + 3]
                    for a in range(n_atoms):
                        row = atoms_at + index_of(width * (first_atom + a))
                        match = words[i, matches_at + index_of(first_atom + a)] & pieces
                        if metered and state[i, left + a] == 0:
                            match = np.int64(0)
                        buckets = program[row + p.BUCKETS] + program[row + p.BY_LAST] * np.int64(
                            replies[p.BUCKET, i]
                        )
                        by_color, by_shape = program[row + p.BY_COLOR], program[row + p.BY_SHAPE]
                        at = index_of(buckets)
                        is_0, is_1 = match & program[at], match & program[at + 1]
                        is_2, is_3 = match & program[at + 2], match & program[at + 3]
                        if by_color | by_shape != 0:
                            is_0 = is_1 = is_2 = is_3 = np.int64(0)
                            for color in range(n_colors if by_color != 0 else 1):
                                some, by_last = match, buckets
                                if by_color != 0:
                                    some &= words[i, looks_at + n_shapes + color]
                                    by_last += by_color * state[i, last_at + color]
                                for shape in range(n_shapes if by_shape != 0 else 1):
                                    these, at = some, index_of(by_last)
                                    if by_shape != 0:
                                        these &= words[i, looks_at + shape]
                                        last = state[i, last_at + n_colors + shape]
                                        at = index_of(by_last + by_shape * last)
                                    is_0 |= these & program[at]
                                    is_1 |= these & program[at + 1]
                                    is_2 |= these & program[at + 2]
                                    is_3 |= these & program[at + 3]
                        further = index_of(program[row + p.CONDITIONS])
                        if metered | (further != 0):
                            kept = kept_at + index_of(4 * a)
                            words[i, kept], words[i, kept + 1] = is_0, is_1
                            words[i, kept + 2], words[i, kept + 3] = is_2, is_3
                            if further != 0:
                                restrict(program, state, seen, i, further, kept)
                                is_0, is_1 = words[i, kept], words[i, kept + 1]
                                is_2, is_3 = words[i, kept + 2], words[i, kept + 3]
                        in_0 |= is_0
                        in_1 |= is_1
                        in_2 |= is_2
                        in_3 |= is_3
                    words[i, p.ACCEPTS], words[i, p.ACCEPTS + 1] = in_0, in_1
                    words[i, p.ACCEPTS + 2], words[i, p.ACCEPTS + 3] = in_2, in_3
                    some = in_0 | in_1 | in_2 | in_3
                    words[i, p.MOVABLE] = some
                    if some != 0:
                        playable = True
                        break
                    line = line + 1 if line + 1 < n_lines else 0
                    entered += 1
                if not playable:
                    # Every line has been entered without success, and the search is back at its
                    # start.
                    state[i, p.FINISH] = STALEMATE
                    state[i, p.LINE] = line

            finish = state[i, p.FINISH]
            replies[p.STANDS, i] = finish
            if fresh:
                if finish == STALEMATE:
                    replies[p.OVER, i] = _OVER_UNSAID
                break
            terminated = finish != IN_PROGRESS
            truncated = replies[p.N_ATTEMPTS, i] >= limit
            replies[p.TERMINATED, i] = terminated
            replies[p.TRUNCATED, i] = truncated
            if not (terminated or truncated):
                break
            replies[p.OVER, i] = _OVER_KNOWN
            if autoreset != _SAME_STEP:
                break
            for c in range(9):
                fours[i, 2 * p.FINAL + c] = masks[i, c]
            for b in range(3):
                bytes_[i, 8 * p.FINAL + 36 + b] = replies[p.SHAPE + b, i]
            fresh = True
    return n_dealt


@njit(cache=True)
def step_all(
    program: Int,
    state: Short,
    seen: Bytes,
    replies: Replies,
    horizon: int,
    autoreset: int,
    deck: Bytes,
    n_dealt: int,
    actions: Int,
    least: int,
    reward: npt.NDArray[np.float64],
    ends: npt.NDArray[np.bool_],
) -> tuple[int, int]:
    """Make ``actions`` as :func:`step` does, and fill what a vector environment returns.

    That is ``reward``, (num_envs,), and terminated, truncated and stalemate, ``ends`` (3,
    num_envs). Returns the new ``n_dealt`` and the number of episodes that ended; -1 if an action is
    none from ``least`` to 143, and nothing is done.
    """
    wrong = False
    for i in range(actions.size):
        replies[p.ACTION, i] = actions[i]
        wrong |= (actions[i] < least) | (actions[i] > 143)
    if wrong:
        return n_dealt, -1
    n_dealt = step(program, state, seen, replies, deck, n_dealt, horizon, autoreset)
    n_ended = 0
    for i in range(reward.size):
        reward[i] = replies[p.REWARD, i]
        terminated, truncated = replies[p.TERMINATED, i] != 0, replies[p.TRUNCATED, i] != 0
        ends[0, i] = terminated
        ends[1, i] = truncated
        ends[2, i] = replies[p.STANDS, i] == STALEMATE
        n_ended += terminated | truncated
    return n_dealt, n_ended


@njit(cache=True)
def tell_final(
    final: Bytes,
    ends: npt.NDArray[np.bool_],
    kept: Bytes,
    masks: npt.NDArray[np.int32],
    final_ends: npt.NDArray[np.bool_],
) -> None:
    """Keep ``final`` of the boards whose episode ended, and the masks of their cells.

    ``final_ends``, (2, num_envs), marks them and their stalemates; before the call it marks the
    rows of ``masks`` that are not 0.
    """
    for i in range(ends.shape[1]):
        ended = ends[0, i] | ends[1, i]
        left = np.uint8(0)
        if ended:
            for c in range(39):
                kept[i, c] = final[i, c]
            for c in range(36):
                masks[i, c] = _FOUR if final[i, c] != 0 else 0
                left |= final[i, c]
        elif final_ends[0, i]:
            for c in range(36):
                masks[i, c] = 0
        final_ends[0, i] = ended
        final_ends[1, i] = (left != 0) & ends[0, i]


@njit(cache=True)
def permitted(state: Short, mask: npt.NDArray[np.int8]) -> int:
    """Fill ``mask`` (num_envs, 144) with 1 for the attempts that the rule would accept now.

    Returns their number.
    """
    words: Any = state.view(np.int64)
    attempts: Any = mask.view(np.int32)
    n_permitted = 0
    for i in range(mask.shape[0]):
        to_0, to_1 = words[i, p.ACCEPTS], words[i, p.ACCEPTS + 1]
        to_2, to_3 = words[i, p.ACCEPTS + 2], words[i, p.ACCEPTS + 3]
        for cell in range(36):
            four = (to_0 >> cell) & 1 | ((to_1 >> cell) & 1) << 8
            four |= ((to_2 >> cell) & 1) << 16 | ((to_3 >> cell) & 1) << 24
            attempts[i, cell] = four
            n_permitted += ((four * _FOUR) >> 24) & 7
    return n_permitted
