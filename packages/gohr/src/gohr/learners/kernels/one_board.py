"""The engine with one board, for the loops that play a whole trial in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game.board import N_CELLS
from gohr.game.board_views import ACTION, OUTCOME, Replies
from gohr.game.engine.boards import Boards
from gohr.game.engine.compiler import CompiledRule
from gohr.game.engine.transition import Int, Short, step
from gohr.learners.base import TrialLog
from gohr.learners.uniform_numbers import Draws

# Two bundles of arrays, so that a loop takes few arguments. Passing them to a compiled function
# costs a reference count for each array, in total about 0.05 us per attempt: a lot for the engine,
# which steps a board in 0.01 us, but little compared with a learner.


class OneBoard(NamedTuple):
    """Arguments of the engine's step for one board, its codes, and its state."""

    program: Int
    state: Short
    seen: npt.NDArray[np.uint8]
    replies: Replies
    deck: npt.NDArray[np.uint8]
    codes: npt.NDArray[np.uint8]  # (36,), a view
    finish: Replies  # (1,), a view


class OpenLog(NamedTuple):
    """The columns of a :class:`TrialLog`, sized for the longest trial."""

    n_attempts: Int
    actions: npt.NDArray[np.uint8]
    outcomes: npt.NDArray[np.int8]
    finish: npt.NDArray[np.int8]


#: A learner's loop: it takes the board, the log, the horizon, rows of draws, and the numbers of
#: episodes and of rows of the log that are done. It plays on while it has a whole horizon's draws,
#: and returns both numbers.
Play = Callable[[OneBoard, OpenLog, int, npt.NDArray[np.float64], int, int], tuple[int, int]]


def play_boards(
    play: Play,
    rule: CompiledRule,
    boards: npt.NDArray[np.uint8],
    horizon: int,
    draws: Draws,
    n_codes: int | None = None,
) -> TrialLog:
    """Play each board in turn by a learner's compiled loop, made for ``n_codes`` if it matters."""
    if n_codes not in (None, 1 + rule.n_shapes * rule.n_colors):
        raise ValueError("expected a rule compiled for the palettes of the learner")
    game, log = one_board(rule, boards), _open_log(len(boards), horizon)
    episode = n_rows = 0
    while episode < len(boards):
        before = n_rows
        rows = draws.ahead(horizon)
        episode, n_rows = play(game, log, horizon, rows, episode, n_rows)
        draws.use(n_rows - before)
    return _close_log(log, boards, n_rows)


def one_board(rule: CompiledRule, boards: npt.NDArray[np.uint8]) -> OneBoard:
    """Allocate one board under a rule, to be dealt from the rows of ``boards``."""
    deck, room = deck_of(rule, boards), Boards.empty(rule, 1)
    return OneBoard(
        rule.program, room.state, room.seen, room.replies, deck, room.codes[0], room.finish
    )


def deck_of(rule: CompiledRule, boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return boards as the kernels take them; all must be of the rule's palettes."""
    # The kernels are compiled for arrays that can be written to, even where they only read.
    deck = np.require(boards.reshape(-1, N_CELLS), dtype=np.uint8, requirements=["C", "W"])
    if deck.max(initial=0) >= 1 + rule.n_shapes * rule.n_colors:
        raise ValueError("the boards hold a piece that is not of the rule's palettes")
    return deck


@njit(cache=True)
def attempt(game: OneBoard, action: int, n_dealt: int) -> int:
    """Make one attempt, or deal row ``n_dealt`` if the action is RESET; return the outcome.

    Hand over numbers of 64 bits, not constants: for each constant Numba compiles another attempt.
    """
    game.replies[0, ACTION] = action
    none = int(np.int64(0))  # a plain 0 would have its own type
    step(game.program, game.state, game.seen, game.replies, game.deck, n_dealt, none, none)
    return int(game.replies[0, OUTCOME])


def _open_log(n_boards: int, horizon: int) -> OpenLog:
    """Allocate ``n_boards`` episodes of at most ``horizon`` attempts."""
    if horizon < 1:
        raise ValueError(f"horizon: expected at least 1, found {horizon}")
    return OpenLog(
        np.zeros(n_boards, dtype=np.int64),
        np.zeros(n_boards * horizon, dtype=np.uint8),
        np.zeros(n_boards * horizon, dtype=np.int8),
        np.zeros(n_boards, dtype=np.int8),
    )


def _close_log(log: OpenLog, boards: npt.NDArray[np.uint8], n_rows: int) -> TrialLog:
    """Trim the unused memory."""
    return TrialLog(
        boards,
        log.n_attempts,
        log.actions[:n_rows].copy(),
        log.outcomes[:n_rows].copy(),
        log.finish,
    )
