"""Kernels of the players without knowledge: their trials, and their chances in any trial.

The loops of the learners ``uniform`` and ``frugal``, and those of
:func:`gohr.learners.chance.count_attempts`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.game.board_views import ACTION, STANDS, Replies
from gohr.game.engine.transition import Short, permitted, step
from gohr.game.outcomes import (
    ACCEPTED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    LEAVE,
    RESET,
)
from gohr.learners.kernels.one_board import OneBoard, OpenLog, attempt

_Int = npt.NDArray[np.int64]

_BYTES = np.uint64(0x0101010101010101)
_LAST_BYTE = np.uint64(56)


@njit(cache=True, nogil=True)
def count_permitted(
    program: _Int,
    state: Short,
    seen: npt.NDArray[np.uint8],
    replies: Replies,
    deck: npt.NDArray[np.uint8],
    n_attempts: _Int,
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    mask: npt.NDArray[np.int8],
    n_permitted: _Int,
) -> bool:
    """Replay a trial and count what the rule permits; return whether the outcomes are the same.

    The runner does this for every trial: the arrays come one by one, since a bundle of them would
    cost as much again. Batches of as many episodes as ``seen`` has rows are replayed in parallel,
    which takes two thirds of the time of one after the other; and only their moves, since a
    rejected attempt changes nothing.
    """
    n_episodes, n_boards = n_attempts.shape[0], seen.shape[0]
    row = np.zeros(n_boards, dtype=np.int64)
    stop = np.zeros(n_boards, dtype=np.int64)
    by_piece = mask.view(np.int32)  # 0 where none of the four attempts on a piece is permitted
    by_two = mask.view(np.uint64)
    none = int(np.int64(0))  # not a plain 0, as in one_board.attempt
    n_rows = 0
    for first in range(0, n_episodes, n_boards):
        for i in range(n_boards):
            replies[i, ACTION] = RESET if first + i < n_episodes else LEAVE
            row[i] = n_rows
            n_rows += n_attempts[first + i] if first + i < n_episodes else 0
            stop[i] = n_rows
        n_dealt, n_moving = first, n_boards
        while n_moving > 0:
            n_dealt = step(program, state, seen, replies, deck, n_dealt, none, none)
            permitted(state, mask)
            n_moving = 0
            for i in range(n_boards):
                replies[i, ACTION] = LEAVE
                # A word sums eight attempts at a time, and its own bytes when it is multiplied.
                eight = np.uint64(0)
                for pair in range(by_two.shape[1]):
                    eight += by_two[i, pair]
                n_here = np.int64(eight * _BYTES >> _LAST_BYTE)
                # The attempts up to the next move, and that, are all made on this board.
                while row[i] < stop[i] and replies[i, ACTION] == LEAVE:
                    action = int(actions[row[i]])
                    if action >= mask.shape[1]:
                        return False
                    if replies[i, STANDS] != IN_PROGRESS:
                        outcome = EPISODE_OVER
                    elif seen[i, action >> 2] == 0:
                        outcome = EMPTY_CELL
                    elif mask[i, action] != 0:
                        outcome = ACCEPTED
                        replies[i, ACTION] = action
                        n_moving += 1
                    elif by_piece[i, action >> 2] != 0:
                        outcome = DENIED
                    else:
                        outcome = IMMOVABLE
                    if outcomes[row[i]] != outcome:
                        return False
                    n_permitted[row[i]] = n_here
                    row[i] += 1
    return True


@njit(cache=True, nogil=True)
def count_known(
    boards: npt.NDArray[np.uint8],
    n_attempts: _Int,
    actions: npt.NDArray[np.uint8],
    outcomes: npt.NDArray[np.int8],
    n_pieces: _Int,
    n_failed: _Int,
) -> None:
    """Count the pieces on the board, and the attempts known to fail, before each attempt."""
    failed = np.zeros(144, dtype=np.bool_)
    row = 0
    for episode in range(n_attempts.shape[0]):
        left = 0
        for cell in range(36):
            left += boards[episode, cell] != 0
        failed[:] = False
        n = 0
        for _ in range(n_attempts[episode]):
            n_pieces[row] = left
            n_failed[row] = n
            action, outcome = int(actions[row]), outcomes[row]
            if outcome == ACCEPTED:
                left -= 1
                failed[:] = False
                n = 0
            elif outcome in (DENIED, IMMOVABLE):
                first = action if outcome == DENIED else action & ~3
                for a in range(first, first + (1 if outcome == DENIED else 4)):
                    n += not failed[a]
                    failed[a] = True
            row += 1


@njit(cache=True, nogil=True)
def play_uniform(
    game: OneBoard,
    log: OpenLog,
    horizon: int,
    draws: npt.NDArray[np.float64],
    episode: int,
    n_rows: int,
) -> tuple[int, int]:
    """Play boards from ``episode`` on while the draws suffice; return both counters."""
    before = n_rows
    n_boards = game.deck.shape[0]
    while episode < n_boards and n_rows - before + horizon <= draws.shape[0]:
        attempt(game, int(np.int64(RESET)), episode)
        start = n_rows
        while game.finish[0] == 0 and n_rows - start < horizon:
            n_pieces = 0
            for cell in range(36):
                n_pieces += game.seen[0, cell] > 0
            k = int(draws[n_rows - before, 0] * (4 * n_pieces))
            cell = -1
            seen = -1
            while seen < k >> 2:
                cell += 1
                seen += game.seen[0, cell] > 0
            action = 4 * cell + (k & 3)
            log.outcomes[n_rows] = attempt(game, action, episode)
            log.actions[n_rows] = action
            n_rows += 1
        log.n_attempts[episode] = n_rows - start
        log.finish[episode] = game.finish[0]
        episode += 1
    return episode, n_rows


@njit(cache=True, nogil=True)
def play_frugal(
    game: OneBoard,
    log: OpenLog,
    horizon: int,
    draws: npt.NDArray[np.float64],
    episode: int,
    n_rows: int,
) -> tuple[int, int]:
    """Play boards from ``episode`` on while the draws suffice; return both counters."""
    before = n_rows
    failed = np.zeros(144, dtype=np.bool_)
    n_boards = game.deck.shape[0]
    while episode < n_boards and n_rows - before + horizon <= draws.shape[0]:
        attempt(game, int(np.int64(RESET)), episode)
        failed[:] = False
        start = n_rows
        while game.finish[0] == 0 and n_rows - start < horizon:
            n_open = 0
            for action in range(144):
                n_open += (game.seen[0, action >> 2] > 0) & (not failed[action])
            k = int(draws[n_rows - before, 0] * n_open)
            action = -1
            seen = -1
            while seen < k:
                action += 1
                seen += (game.seen[0, action >> 2] > 0) & (not failed[action])
            outcome = attempt(game, action, episode)
            if outcome == ACCEPTED:
                failed[:] = False
            elif outcome == DENIED:
                failed[action] = True
            elif outcome == IMMOVABLE:
                for bucket in range(4):
                    failed[(action & ~3) + bucket] = True
            log.outcomes[n_rows] = outcome
            log.actions[n_rows] = action
            n_rows += 1
        log.n_attempts[episode] = n_rows - start
        log.finish[episode] = game.finish[0]
        episode += 1
    return episode, n_rows
