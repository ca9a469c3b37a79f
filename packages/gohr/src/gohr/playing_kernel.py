"""The loop of :func:`gohr.play` in compiled code, and the replay of its record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.board import N_CELLS
from gohr.engine.acceptance import Int, Short
from gohr.engine.boards import Boards
from gohr.engine.compiler import CompiledRule
from gohr.engine.program import ACTION, OUTCOME, STANDS, Replies
from gohr.engine.transition import permitted, step
from gohr.outcomes import (
    ACCEPTED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    LEAVE,
    RESET,
)
from gohr.playing import TrialLog

Codes = npt.NDArray[np.uint8]
Draws = npt.NDArray[np.float64]
#: Times four bytes of which each is 0 or 1, it has their sum in its highest byte.
_EACH = 0x01010101


class OpenTrial(NamedTuple):
    """One board in the engine, the boards to deal, and the columns of a log that grows."""

    program: Int
    state: Short
    seen: Codes
    replies: Replies
    deck: Codes
    n_attempts: Int
    actions: Codes
    outcomes: npt.NDArray[np.int8]
    finish: npt.NDArray[np.int8]
    #: Numbers of the episodes and of the rows that are done.
    done: Int
    horizon: int


class Made(NamedTuple):
    """An attempt: what it was, and what came of it.

    ``last`` and ``after`` number the last accepted attempt before and after it
    (:meth:`gohr.playing.Observation.last_number`); ``code`` is what lay in its cell.
    """

    last: int
    action: int
    code: int
    outcome: int
    reward: float
    after: int
    terminated: bool
    truncated: bool


#: Plays boards of a trial on, as far as its random numbers suffice.
Kernel = Callable[[OpenTrial], None]


# Inlined where a learner calls it, so that `choose` and `learn` are called directly: Numba cannot
# keep compiled code that was handed a function (docs/decisions.md).
@njit(inline="always")
def play_boards(
    choose: Any, learn: Any, player: Any, plays_on: bool, trial: OpenTrial, draws: Draws
) -> None:
    """Play boards while the draws suffice for a whole one.

    ``choose(player, codes, last, draws, at)`` returns an attempt on a board; ``at`` is its row of
    ``draws``. ``learn(player, made, codes, draws, at)`` takes note of it, with the board after it.
    """
    program, state, seen, replies, deck = trial[:5]
    log_actions, log_outcomes, horizon = trial.actions, trial.outcomes, trial.horizon
    codes = seen[0, :36]
    none = int(np.int64(0))  # a plain 0 would have its own type, and with it another kernel
    episode, n_rows = trial.done
    before = n_rows
    while episode < deck.shape[0] and n_rows - before + horizon <= draws.shape[0]:
        replies[ACTION, 0] = RESET
        step(program, state, seen, replies, deck, episode, none, none)
        start = n_rows
        last = int(np.int64(0))
        over = replies[STANDS, 0] != 0
        while not over:
            at = n_rows - before
            action = choose(player, codes, last, draws, at)
            code = int(codes[action >> 2])
            replies[ACTION, 0] = action
            step(program, state, seen, replies, deck, episode, none, none)
            outcome = int(replies[OUTCOME, 0])
            log_actions[n_rows] = action
            log_outcomes[n_rows] = outcome
            n_rows += 1
            terminated = replies[STANDS, 0] != 0 and not plays_on
            truncated = n_rows - start >= horizon
            after = 4 * (code - 1) + 1 + (action & 3) if outcome == ACCEPTED else last
            reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
            made = Made(last, action, code, outcome, reward, after, terminated, truncated)
            learn(player, made, codes, draws, at)
            last = after
            over = terminated or truncated
        trial.n_attempts[episode] = n_rows - start
        trial.finish[episode] = replies[STANDS, 0]
        episode += 1
    trial.done[0] = episode
    trial.done[1] = n_rows


def play_compiled(
    kernel: Kernel, room: Boards, boards: npt.NDArray[np.uint8], horizon: int
) -> TrialLog:
    """Play each board in turn by a policy's kernel."""
    n = len(boards)
    trial = OpenTrial(
        *(room.rule.program, room.state, room.seen, room.padded, deck_of(room.rule, boards)),
        n_attempts=np.zeros(n, dtype=np.int64),
        actions=np.zeros(n * horizon, dtype=np.uint8),
        outcomes=np.zeros(n * horizon, dtype=np.int8),
        finish=np.zeros(n, dtype=np.int8),
        done=np.zeros(2, dtype=np.int64),
        horizon=horizon,
    )
    while trial.done[0] < n:
        kernel(trial)
    made = slice(trial.done[1])
    actions, outcomes = trial.actions[made].copy(), trial.outcomes[made].copy()
    return TrialLog(boards, trial.n_attempts, actions, outcomes, trial.finish)


def deck_of(rule: CompiledRule, boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return boards as the kernels take them; all must be of the rule's palettes."""
    # The kernels are compiled for arrays that can be written to, even where they only read.
    deck = np.require(boards.reshape(-1, N_CELLS), dtype=np.uint8, requirements=["C", "W"])
    if deck.max(initial=0) >= 1 + rule.n_shapes * rule.n_colors:
        raise ValueError("the boards hold a piece that is not of the rule's palettes")
    return deck


@njit(cache=True, nogil=True)
def replay_rows(
    program: Int,
    state: Short,
    seen: npt.NDArray[np.uint8],
    replies: Replies,
    deck: npt.NDArray[np.uint8],
    n_attempts: Int,
    actions: npt.NDArray[np.uint8],
    mask: npt.NDArray[np.int8],
    first: npt.NDArray[np.int8],
    found: npt.NDArray[np.int16],
) -> None:
    """Fill the columns of a :class:`gohr.replays.Replay`, in the order of its fields.

    Verification does this for every trial. Batches of as many episodes as ``seen`` has rows are
    replayed in parallel, which takes two thirds of the time of one after the other; and the engine
    makes only the moves, since a rejected attempt changes nothing.
    """
    n_episodes, n_boards = n_attempts.shape[0], seen.shape[0]
    row = np.zeros(n_boards, dtype=np.int64)
    stop = np.zeros(n_boards, dtype=np.int64)
    by_piece = mask.view(np.int32)  # 0 where none of the four attempts on a piece is permitted
    none = int(np.int64(0))  # not a plain 0, as in play_boards
    n_rows = 0
    for episode in range(0, n_episodes, n_boards):
        for i in range(n_boards):
            replies[ACTION, i] = RESET if episode + i < n_episodes else LEAVE
            row[i] = n_rows
            n_rows += n_attempts[episode + i] if episode + i < n_episodes else 0
            stop[i] = n_rows
        n_dealt, n_moving = episode, n_boards
        while n_moving > 0:
            n_dealt = step(program, state, seen, replies, deck, n_dealt, none, none)
            permitted(state, mask)
            n_moving = 0
            for i in range(n_boards):
                stands = replies[STANDS, i]
                if replies[ACTION, i] == RESET:
                    first[episode + i] = stands
                elif replies[ACTION, i] != LEAVE:
                    found[1, row[i] - 1] = stands
                replies[ACTION, i] = LEAVE
                if row[i] == stop[i]:
                    continue
                n_pieces = n_movable = n_permitted = 0
                for cell in range(36):
                    n_pieces += seen[i, cell] != 0
                    four = int(by_piece[i, cell])
                    n_movable += four != 0
                    n_permitted += ((four * _EACH) >> 24) & 7
                # The attempts up to the next move, and that, are all made on this board.
                while row[i] < stop[i] and replies[ACTION, i] == LEAVE:
                    action = int(actions[row[i]])
                    four = int(by_piece[i, action >> 2])
                    if stands != IN_PROGRESS:
                        outcome = EPISODE_OVER
                    elif seen[i, action >> 2] == 0:
                        outcome = EMPTY_CELL
                    elif mask[i, action] != 0:
                        outcome = ACCEPTED
                        replies[ACTION, i] = action
                        n_moving += 1
                    else:
                        outcome = DENIED if four != 0 else IMMOVABLE
                    found[0, row[i]] = outcome
                    found[1, row[i]] = stands
                    found[2, row[i]] = n_pieces
                    found[3, row[i]] = n_movable
                    found[4, row[i]] = n_permitted
                    found[5, row[i]] = ((four * _EACH) >> 24) & 7
                    row[i] += 1
