"""The batched transition: one kernel that steps ``num_envs`` boards at once.

The kernel is one function that passes no array to another: every array handed to an inner compiled
function costs atomic reference counts, which together made an earlier form twenty times slower
(``docs/decisions/001-numba.md``). It is therefore long, and read from top to bottom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.board import N_BUCKETS, N_CELLS
from gnomon.game.compiler import CompiledRule

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


# Columns of the state of a board; after them come the last bucket by colour and by shape (0 for
# none, else 1 + bucket), what is left of the counts of the active line's atoms, and the cells of
# the pieces that are left, in no order.
_LINE = 0
_LINE_LEFT = 1
_N_PIECES = 2
_FINISH = 3
_N_ATTEMPTS = 4
_OVER = 5
_MEMORY = 6

_QUADRANT = np.array(
    [(0 if x < 3 else 1) if y >= 3 else (3 if x < 3 else 2) for y in range(6) for x in range(6)],
    dtype=np.int64,
)

Int: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Boards:
    """The state of ``num_envs`` boards and what a player sees of them, changed in place.

    Parameters
    ----------
    state : numpy.ndarray of int32, shape (num_envs, n_columns)
        What the player does not see: the active line, the counts, the memory.
    codes : numpy.ndarray of uint8, shape (num_envs, 36)
        What lies in each cell.
    occupied : numpy.ndarray of int8, shape (num_envs, 144)
        1 for the attempts on cells that hold a piece: action ``4 * cell + bucket``.
    last : numpy.ndarray of int64, shape (3, num_envs)
        Shape, colour and bucket of the last accepted attempt, each 0 for none and else 1 + index.
    reward, terminated, truncated, outcome : numpy.ndarray, shape (num_envs,)
        Of the last step; ``outcome`` is one of the codes above.
    final : numpy.ndarray of int64, shape (num_envs, 39)
        With automatic reset in the same step: codes and last accepted attempt as the episode ended.
    """

    state: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint8]
    occupied: npt.NDArray[np.int8]
    last: Int
    reward: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    outcome: npt.NDArray[np.int8]
    final: Int

    @classmethod
    def empty(cls, rule: CompiledRule, num_envs: int) -> Boards:
        """Make room for ``num_envs`` boards under a rule; each still needs a RESET."""
        most_atoms = int((rule.lines[:, 1] - rule.lines[:, 0]).max())
        n_columns = _MEMORY + rule.n_colors + rule.n_shapes + most_atoms + N_CELLS
        return cls(
            state=np.zeros((num_envs, n_columns), dtype=np.int32),
            codes=np.zeros((num_envs, N_CELLS), dtype=np.uint8),
            occupied=np.zeros((num_envs, N_CELLS * N_BUCKETS), dtype=np.int8),
            last=np.zeros((3, num_envs), dtype=np.int64),
            reward=np.zeros(num_envs, dtype=np.float64),
            terminated=np.zeros(num_envs, dtype=np.bool_),
            truncated=np.zeros(num_envs, dtype=np.bool_),
            outcome=np.zeros(num_envs, dtype=np.int8),
            final=np.zeros((num_envs, N_CELLS + 3), dtype=np.int64),
        )

    @property
    def finish(self) -> npt.NDArray[np.int32]:
        """How each episode stands: in progress, cleared, or stalemate; shape (num_envs,)."""
        return self.state[:, _FINISH]

    @property
    def line(self) -> npt.NDArray[np.int32]:
        """The active rule line of each board, counted from 0; shape (num_envs,)."""
        return self.state[:, _LINE]

    def counts_left(self, env: int, rule: CompiledRule) -> tuple[int, list[int]]:
        """Return what is left of the counts of the active line and its atoms, -1 if not metered."""
        start, stop, _ = rule.lines[self.state[env, _LINE]]
        left = _MEMORY + rule.n_colors + rule.n_shapes
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
    """Make one attempt on each board: :func:`step` with the records spelt out."""
    return step(
        rule.atoms,
        rule.lines,
        rule.counts,
        rule.n_colors,
        actions,
        deck,
        n_dealt,
        horizon,
        autoreset,
        boards.state,
        boards.codes,
        boards.occupied,
        boards.last,
        boards.reward,
        boards.terminated,
        boards.truncated,
        boards.outcome,
        boards.final,
    )


def permitted_attempts(rule: CompiledRule, boards: Boards) -> npt.NDArray[np.int8]:
    """Return 1 for the attempts that the rule would accept now, shape (num_envs, 144)."""
    mask = np.empty_like(boards.occupied)
    permitted(rule.atoms, rule.lines, rule.n_colors, boards.state, boards.codes, boards.last, mask)
    return mask


@njit(cache=True)
def step(
    atoms: npt.NDArray[np.uint8],
    lines: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    n_colors: int,
    actions: Int,
    deck: npt.NDArray[np.uint8],
    n_dealt: int,
    horizon: int,
    autoreset: int,
    state: npt.NDArray[np.int32],
    codes: npt.NDArray[np.uint8],
    occupied: npt.NDArray[np.int8],
    last: Int,
    reward: npt.NDArray[np.float64],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
    outcome: npt.NDArray[np.int8],
    final: Int,
) -> int:
    """Make one attempt on each board, and deal new boards where the mode or the action asks it.

    Boards come from the rows of ``deck``, from row ``n_dealt`` on; the deck must hold as many more
    as there are boards. ``horizon`` is the number of attempts after which an episode is truncated,
    0 for none. Returns the new ``n_dealt``.
    """
    n_classes = atoms.shape[1] - 536
    n_lines = lines.shape[0]
    by_shape = _MEMORY + n_colors
    left = by_shape + n_classes // n_colors
    cells = state.shape[1] - 36

    for i in range(actions.shape[0]):
        action = actions[i]
        if action == LEAVE:
            continue
        fresh = action == RESET or (autoreset == 1 and state[i, _OVER] == 1)
        reward[i] = 0.0
        terminated[i] = False
        truncated[i] = False
        first = -1  # the line at which a search for a playable line begins; -1: no search

        if fresh:
            outcome[i] = NEW_BOARD
        elif state[i, _FINISH] != 0 or state[i, _OVER] == 1:
            outcome[i] = EPISODE_OVER
        else:
            state[i, _N_ATTEMPTS] += 1
            cell = action >> 2
            bucket = action & 3
            code = np.int64(codes[i, cell])
            if code == 0:
                outcome[i] = EMPTY_CELL
                reward[i] = -1.0
            else:
                color = (code - 1) % n_colors
                shape = (code - 1) // n_colors
                buckets = (
                    n_classes
                    + 36
                    + _QUADRANT[cell]
                    + 4
                    * (
                        (last[2, i] * 5 + state[i, _MEMORY + color]) * 5
                        + state[i, by_shape + shape]
                    )
                )
                start, stop = lines[state[i, _LINE], 0], lines[state[i, _LINE], 1]
                allowed = 0
                for a in range(start, stop):
                    if (
                        state[i, left + a - start] != 0
                        and atoms[a, code - 1]
                        and atoms[a, n_classes + cell]
                    ):
                        allowed |= atoms[a, buckets]
                if (allowed >> bucket) & 1 == 0:
                    outcome[i] = IMMOVABLE if allowed == 0 else DENIED
                    reward[i] = -1.0
                else:
                    outcome[i] = ACCEPTED
                    # Every atom that accepts the attempt is decremented, not the first alone.
                    for a in range(start, stop):
                        if (
                            state[i, left + a - start] > 0
                            and atoms[a, code - 1]
                            and atoms[a, n_classes + cell]
                            and (atoms[a, buckets] >> bucket) & 1
                        ):
                            state[i, left + a - start] -= 1
                    if state[i, _LINE_LEFT] > 0:
                        state[i, _LINE_LEFT] -= 1
                    state[i, _MEMORY + color] = 1 + bucket
                    state[i, by_shape + shape] = 1 + bucket
                    last[0, i] = 1 + shape
                    last[1, i] = 1 + color
                    last[2, i] = 1 + bucket
                    codes[i, cell] = 0
                    for b in range(4):
                        occupied[i, 4 * cell + b] = 0
                    n_pieces = state[i, _N_PIECES] - 1
                    state[i, _N_PIECES] = n_pieces
                    k = 0
                    while state[i, cells + k] != cell:
                        k += 1
                    state[i, cells + k] = state[i, cells + n_pieces]

                    if n_pieces == 0:
                        state[i, _FINISH] = CLEARED
                    else:
                        first = -2  # look at the active line as it stands before any other

        while True:
            if fresh:
                for c in range(_MEMORY, left):
                    state[i, c] = 0
                last[0, i] = 0
                last[1, i] = 0
                last[2, i] = 0
                n_pieces = 0
                for cell in range(36):
                    code = np.int64(deck[n_dealt, cell])
                    codes[i, cell] = code
                    here = 1 if code else 0
                    for b in range(4):
                        occupied[i, 4 * cell + b] = here
                    if code:
                        state[i, cells + n_pieces] = cell
                        n_pieces += 1
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
                line = np.int64(state[i, _LINE]) if first == -2 else first
                entered = -1 if first == -2 else 0
                playable = False
                while entered < n_lines:
                    start, stop = lines[line, 0], lines[line, 1]
                    if entered >= 0:
                        state[i, _LINE] = line
                        state[i, _LINE_LEFT] = lines[line, 2]
                        for a in range(start, stop):
                            state[i, left + a - start] = counts[a]
                    if state[i, _LINE_LEFT] != 0:
                        for k in range(state[i, _N_PIECES]):
                            cell = np.int64(state[i, cells + k])
                            code = np.int64(codes[i, cell])
                            color = (code - 1) % n_colors
                            shape = (code - 1) // n_colors
                            buckets = n_classes + 36 + _QUADRANT[cell] + 4 * (
                                (last[2, i] * 5 + state[i, _MEMORY + color]) * 5
                                + state[i, by_shape + shape]
                            )
                            for a in range(start, stop):
                                if (
                                    state[i, left + a - start] != 0
                                    and atoms[a, code - 1]
                                    and atoms[a, n_classes + cell]
                                    and atoms[a, buckets]
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
                    state[i, _LINE_LEFT] = lines[line, 2]
                    for a in range(lines[line, 0], lines[line, 1]):
                        state[i, left + a - lines[line, 0]] = counts[a]

            if fresh:
                break
            terminated[i] = state[i, _FINISH] != IN_PROGRESS
            truncated[i] = horizon > 0 and state[i, _N_ATTEMPTS] >= horizon
            if terminated[i] or truncated[i]:
                state[i, _OVER] = 1
                if autoreset == 2:
                    for cell in range(36):
                        final[i, cell] = codes[i, cell]
                    for b in range(3):
                        final[i, 36 + b] = last[b, i]
                    fresh = True
                    continue
            break
    return n_dealt


@njit(cache=True)
def permitted(
    atoms: npt.NDArray[np.uint8],
    lines: npt.NDArray[np.int32],
    n_colors: int,
    state: npt.NDArray[np.int32],
    codes: npt.NDArray[np.uint8],
    last: Int,
    mask: npt.NDArray[np.int8],
) -> None:
    """Fill ``mask`` (num_envs, 144) with 1 for the attempts that the rule would accept now."""
    n_classes = atoms.shape[1] - 536
    by_shape = _MEMORY + n_colors
    left = by_shape + n_classes // n_colors
    for i in range(codes.shape[0]):
        start, stop = lines[state[i, _LINE], 0], lines[state[i, _LINE], 1]
        for cell in range(36):
            allowed = 0
            code = np.int64(codes[i, cell])
            if code and state[i, _FINISH] == IN_PROGRESS:
                color = (code - 1) % n_colors
                shape = (code - 1) // n_colors
                buckets = (
                    n_classes
                    + 36
                    + _QUADRANT[cell]
                    + 4
                    * (
                        (last[2, i] * 5 + state[i, _MEMORY + color]) * 5
                        + state[i, by_shape + shape]
                    )
                )
                for a in range(start, stop):
                    if (
                        state[i, left + a - start] != 0
                        and atoms[a, code - 1]
                        and atoms[a, n_classes + cell]
                    ):
                        allowed |= atoms[a, buckets]
            for b in range(4):
                mask[i, 4 * cell + b] = (allowed >> b) & 1
