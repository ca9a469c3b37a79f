"""The batched transition: one kernel that steps ``num_envs`` boards at once.

The kernel is one function that passes no array to another: every array handed to an inner compiled
function costs atomic reference counts, which together made an earlier form twenty times slower. It
takes few arrays, since each costs 0.05 microseconds to hand over, which is what a single board
feels (``docs/decisions/001-numba.md``). So it is long, and is read from top to bottom.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.board import N_BUCKETS, N_CELLS
from gnomon.game.compiler import FIRST_MEMORY_COLUMN, CompiledRule

__all__ = [
    "ACCEPTED",
    "CLEARED",
    "DENIED",
    "EMPTY_CELL",
    "EPISODE_OVER",
    "IMMOVABLE",
    "IN_PROGRESS",
    "LEAVE",
    "NEW_BOARD",
    "RESET",
    "STALEMATE",
    "Autoreset",
    "Boards",
    "advance",
    "bound_step",
    "permitted",
    "permitted_attempts",
    "step",
]

# What comes of an attempt: the codes of the captive game server.
ACCEPTED = 0
EMPTY_CELL = 3
DENIED = 4
NEW_BOARD = 6
IMMOVABLE = 7
EPISODE_OVER = -4

# How an episode stands.
IN_PROGRESS = 0
CLEARED = 1
STALEMATE = 2

# Actions beside the 144 attempts: deal a new board, or leave the board alone.
RESET = -1
LEAVE = -2


class Autoreset:
    """What happens to a board whose episode has ended: Gymnasium's three modes."""

    DISABLED = 0
    NEXT_STEP = 1
    SAME_STEP = 2


# Columns of a board's state. From _CELLS on stand the cells of the pieces that are left, in no
# order; from _MEMORY on the last bucket by colour and by shape (0 for none, else 1 + bucket), and
# then what is left of the counts of the active line's atoms: CompiledRule.features tells where. The
# last 39 columns hold the codes and the last accepted attempt of the episode that ended in this
# step, where the same step deals a new board.
_LINE = 0
_LINE_LEFT = 1
_N_PIECES = 2
_FINISH = 3
_N_ATTEMPTS = 4
_OVER = 5
_CELLS = 6
_MEMORY = FIRST_MEMORY_COLUMN
_N_FINAL = N_CELLS + 3

# An episode can be over from the start, on a board with nothing to move; nobody has been told so
# until the first attempt is made.
_OVER_KNOWN = 1
_OVER_UNSAID = 2

# Rows of what goes in and comes out.
_ACTION = 0
_SHAPE = 1
_COLOR = 2
_BUCKET = 3
_OUTCOME = 4
_REWARD = 5
_TERMINATED = 6
_TRUNCATED = 7
_STANDS = 8
_N_REPLIES = 9

_QUADRANT = np.array(
    [(0 if x < 3 else 1) if y >= 3 else (3 if x < 3 else 2) for y in range(6) for x in range(6)],
    dtype=np.uint8,
)

Int: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Boards:
    """The state of ``num_envs`` boards and what a player sees of them, changed in place.

    Parameters
    ----------
    state : numpy.ndarray of int32, shape (num_envs, n_columns)
        What the player does not see: the active line, the counts, the memory.
    seen : numpy.ndarray of uint8, shape (num_envs, 180)
        What the player sees: the code of each cell, and for each of the 144 attempts whether its
        cell holds a piece.
    replies : numpy.ndarray of int64, shape (9, num_envs)
        The actions to make, and what comes of them: shape, colour and bucket of the last accepted
        attempt (each 0 for none, else 1 + index), outcome, reward, terminated, truncated, and how
        the episode stands.
    """

    state: npt.NDArray[np.int32]
    seen: npt.NDArray[np.uint8]
    replies: Int

    @classmethod
    def empty(cls, rule: CompiledRule, num_envs: int) -> Boards:
        """Make room for ``num_envs`` boards under a rule; each still needs a RESET."""
        most_atoms = int((rule.lines[:, 1] - rule.lines[:, 0]).max())
        n_columns = int(rule.features[0, 3]) + most_atoms + _N_FINAL
        return cls(
            state=np.zeros((num_envs, n_columns), dtype=np.int32),
            seen=np.zeros((num_envs, N_CELLS + N_CELLS * N_BUCKETS), dtype=np.uint8),
            replies=np.zeros((_N_REPLIES, num_envs), dtype=np.int64),
        )

    def _row(self, row: int) -> Int:
        return cast(Int, self.replies[row])

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """What lies in each cell, shape (num_envs, 36)."""
        return self.seen[:, :N_CELLS]

    @property
    def occupied(self) -> npt.NDArray[np.int8]:
        """1 for the attempts on cells that hold a piece, shape (num_envs, 144)."""
        return self.seen[:, N_CELLS:].view(np.int8)

    @property
    def last(self) -> Int:
        """Shape, colour and bucket of the last accepted attempt, shape (3, num_envs)."""
        return self.replies[_SHAPE : _BUCKET + 1]

    @property
    def outcome(self) -> Int:
        """Of the last step, one of the codes above; shape (num_envs,)."""
        return self._row(_OUTCOME)

    @property
    def reward(self) -> Int:
        """Of the last step, 0 or -1; shape (num_envs,)."""
        return self._row(_REWARD)

    @property
    def terminated(self) -> npt.NDArray[np.bool_]:
        """Whether the last step cleared the board or found it stuck; shape (num_envs,)."""
        return self._row(_TERMINATED).astype(np.bool_)

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Whether the last step reached the horizon; shape (num_envs,)."""
        return self._row(_TRUNCATED).astype(np.bool_)

    @property
    def finish(self) -> Int:
        """How each episode stands: in progress, cleared, or stalemate; shape (num_envs,)."""
        return self._row(_STANDS)

    @property
    def line(self) -> npt.NDArray[np.int32]:
        """The active rule line of each board, counted from 0; shape (num_envs,)."""
        return self.state[:, _LINE]

    @property
    def final(self) -> npt.NDArray[np.int32]:
        """Codes and last accepted attempt of the episodes that ended, shape (num_envs, 39)."""
        return self.state[:, -_N_FINAL:]

    def counts_left(self, env: int, rule: CompiledRule) -> tuple[int, list[int]]:
        """Return what is left of the counts of the active line and its atoms, -1 if not metered."""
        start, stop, _ = rule.lines[self.state[env, _LINE]]
        left = rule.features[0, 3]
        atoms = self.state[env, left : left + stop - start]
        return int(self.state[env, _LINE_LEFT]), atoms.tolist()


def advance(
    rule: CompiledRule,
    boards: Boards,
    actions: Int,
    deck: npt.NDArray[np.uint8],
    *,
    n_dealt: int = 0,
    horizon: int = 0,
    autoreset: int = Autoreset.DISABLED,
) -> int:
    """Make one attempt on each board: :func:`step` with the records spelt out, and checked."""
    if len(deck) - n_dealt < len(boards.seen):
        raise ValueError(
            f"deck: expected a board for each of {len(boards.seen)}, found {len(deck) - n_dealt}"
        )
    boards.replies[_ACTION] = actions
    return step(
        rule.program, boards.state, boards.seen, boards.replies, deck, n_dealt, horizon, autoreset
    )


def bound_step(
    rule: CompiledRule, boards: Boards, deck: npt.NDArray[np.uint8]
) -> Callable[[], None]:
    """Return a call that makes the attempts ``boards.replies[0]``, twice as fast as :func:`step`.

    It deals from the first rows of ``deck``, without horizon or automatic reset.
    """
    arguments = (
        rule.program,
        boards.state,
        boards.seen,
        boards.replies,
        deck,
        0,
        0,
        Autoreset.DISABLED,
    )
    boards.replies[_ACTION] = LEAVE
    step(*arguments)
    # Numba looks at the types of all arguments to choose what to call; there is one choice.
    compiled: Any
    (compiled,) = step.overloads.values()
    return functools.partial(compiled.entry_point, *arguments)


def permitted_attempts(rule: CompiledRule, boards: Boards) -> npt.NDArray[np.int8]:
    """Return 1 for the attempts that the rule would accept now, shape (num_envs, 144)."""
    mask = np.empty((len(boards.seen), N_CELLS * N_BUCKETS), dtype=np.int8)
    permitted(rule.program, boards.state, boards.seen, boards.replies, mask)
    return mask


@njit(cache=True)
def _index(number: int) -> int:
    """Return a small number that is not negative, in a way that lets the compiler know it.

    An index that might be negative costs a test and an addition each time it is used: a third of
    the time of a step.
    """
    return int(np.int64(number) & 0xFFFFFF)


@njit(cache=True)
def step(
    program: npt.NDArray[np.int32],
    state: npt.NDArray[np.int32],
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
    atoms_at, lines_at = _index(program[0]), _index(program[1])
    counts_at, features_at = _index(program[2]), _index(program[3])
    n_lines, width, n_classes = _index(program[4]), _index(program[5]), _index(program[6])
    left = _index(program[features_at + 3])
    final = state.shape[1] - 39

    for i in range(replies.shape[1]):
        action = replies[_ACTION, i]
        if action == LEAVE:
            continue
        over = state[i, _OVER]
        fresh = action == RESET or (over == _OVER_KNOWN and autoreset == 1)
        first = -1  # the line at which a search for a playable line begins; -1: no search
        reward = 0
        terminated = False
        truncated = False

        if fresh:
            outcome = NEW_BOARD
        elif over != 0:
            outcome = EPISODE_OVER
        else:
            state[i, _N_ATTEMPTS] += 1
            cell = _index(action >> 2)
            bucket = action & 3
            code = _index(seen[i, cell])
            if code == 0:
                outcome = EMPTY_CELL
                reward = -1
            else:
                by_color = _index(program[features_at + 4 * code + 2])
                by_shape = _index(program[features_at + 4 * code + 3])
                memory = _index(
                    (replies[_BUCKET, i] * 5 + state[i, by_color]) * 5 + state[i, by_shape]
                )
                piece_at = atoms_at + code - 1
                cell_at = atoms_at + n_classes + cell
                buckets_at = atoms_at + n_classes + 36 + 4 * memory + _index(_QUADRANT[cell])
                line_at = lines_at + 3 * _index(state[i, _LINE])
                start, stop = _index(program[line_at]), _index(program[line_at + 1])
                allowed = 0
                for a in range(start, stop):
                    if state[i, _index(left + a - start)] != 0:
                        row = _index(a * width)
                        allowed |= (
                            program[row + piece_at]
                            & program[row + cell_at]
                            & program[row + buckets_at]
                        )
                if (allowed >> bucket) & 1 == 0:
                    outcome = IMMOVABLE if allowed == 0 else DENIED
                    reward = -1
                else:
                    outcome = ACCEPTED
                    # Every atom that accepts the attempt is decremented, not the first alone.
                    for a in range(start, stop):
                        row = _index(a * width)
                        accepts = (
                            program[row + piece_at]
                            & program[row + cell_at]
                            & program[row + buckets_at]
                        )
                        if state[i, _index(left + a - start)] > 0 and (accepts >> bucket) & 1:
                            state[i, _index(left + a - start)] -= 1
                    if state[i, _LINE_LEFT] > 0:
                        state[i, _LINE_LEFT] -= 1
                    state[i, by_color] = 1 + bucket
                    state[i, by_shape] = 1 + bucket
                    replies[_SHAPE, i] = 1 + program[features_at + 4 * code]
                    replies[_COLOR, i] = 1 + program[features_at + 4 * code + 1]
                    replies[_BUCKET, i] = 1 + bucket
                    seen[i, cell] = 0
                    for b in range(4):
                        seen[i, 36 + 4 * cell + b] = 0
                    n_pieces = _index(state[i, _N_PIECES] - 1)
                    state[i, _N_PIECES] = n_pieces
                    k = 0
                    while state[i, _CELLS + k] != cell:
                        k += 1
                    state[i, _CELLS + k] = state[i, _CELLS + n_pieces]

                    if n_pieces == 0:
                        state[i, _FINISH] = CLEARED
                    else:
                        first = -2  # look at the active line as it stands before any other

        while True:
            if fresh:
                for c in range(_MEMORY, left):
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
                    state[i, _CELLS + n_pieces] = cell
                    n_pieces += here
                    for b in range(4):
                        seen[i, 36 + 4 * cell + b] = here
                n_dealt += 1
                state[i, _N_PIECES] = n_pieces
                state[i, _N_ATTEMPTS] = 0
                state[i, _OVER] = 0
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
                    line_at = lines_at + 3 * line
                    start, stop = _index(program[line_at]), _index(program[line_at + 1])
                    if entered >= 0:
                        state[i, _LINE] = line
                        state[i, _LINE_LEFT] = program[line_at + 2]
                        for a in range(start, stop):
                            state[i, _index(left + a - start)] = program[counts_at + a]
                    if state[i, _LINE_LEFT] != 0:
                        for k in range(state[i, _N_PIECES]):
                            cell = _index(state[i, _CELLS + k])
                            code = _index(seen[i, cell])
                            by_color = _index(program[features_at + 4 * code + 2])
                            by_shape = _index(program[features_at + 4 * code + 3])
                            memory = replies[_BUCKET, i] * 5 + state[i, by_color]
                            memory = _index(memory * 5 + state[i, by_shape])
                            quadrant = _index(_QUADRANT[cell])
                            piece_at = atoms_at + code - 1
                            cell_at = atoms_at + n_classes + cell
                            buckets_at = atoms_at + n_classes + 36 + 4 * memory + quadrant
                            for a in range(start, stop):
                                row = _index(a * width)
                                if (
                                    state[i, _index(left + a - start)] != 0
                                    and program[row + piece_at]
                                    & program[row + cell_at]
                                    & program[row + buckets_at]
                                ):
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
                    state[i, _OVER] = _OVER_UNSAID
                break
            terminated = state[i, _FINISH] != IN_PROGRESS
            truncated = horizon > 0 and state[i, _N_ATTEMPTS] >= horizon
            if terminated or truncated:
                state[i, _OVER] = _OVER_KNOWN
                if autoreset == 2:
                    for c in range(36):
                        state[i, final + c] = seen[i, c]
                    for b in range(3):
                        state[i, final + 36 + b] = replies[_SHAPE + b, i]
                    fresh = True
                    continue
            break
        replies[_OUTCOME, i] = outcome
        replies[_REWARD, i] = reward
        replies[_TERMINATED, i] = terminated
        replies[_TRUNCATED, i] = truncated
    return n_dealt


@njit(cache=True)
def permitted(
    program: npt.NDArray[np.int32],
    state: npt.NDArray[np.int32],
    seen: npt.NDArray[np.uint8],
    replies: Int,
    mask: npt.NDArray[np.int8],
) -> None:
    """Fill ``mask`` (num_envs, 144) with 1 for the attempts that the rule would accept now."""
    atoms_at, lines_at, features_at = _index(program[0]), _index(program[1]), _index(program[3])
    width, n_classes = _index(program[5]), _index(program[6])
    left = _index(program[features_at + 3])
    for i in range(seen.shape[0]):
        line_at = lines_at + 3 * _index(state[i, _LINE])
        start, stop = _index(program[line_at]), _index(program[line_at + 1])
        for cell in range(36):
            allowed = 0
            code = _index(seen[i, cell])
            if code and state[i, _FINISH] == IN_PROGRESS:
                by_color = _index(program[features_at + 4 * code + 2])
                by_shape = _index(program[features_at + 4 * code + 3])
                memory = _index(
                    (replies[_BUCKET, i] * 5 + state[i, by_color]) * 5 + state[i, by_shape]
                )
                piece_at = atoms_at + code - 1
                cell_at = atoms_at + n_classes + cell
                buckets_at = atoms_at + n_classes + 36 + 4 * memory + _index(_QUADRANT[cell])
                for a in range(start, stop):
                    if state[i, _index(left + a - start)] != 0:
                        row = _index(a * width)
                        allowed |= (
                            program[row + piece_at]
                            & program[row + cell_at]
                            & program[row + buckets_at]
                        )
            for b in range(4):
                mask[i, 4 * cell + b] = (allowed >> b) & 1
