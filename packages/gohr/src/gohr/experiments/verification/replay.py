"""Replay of a trial, attempt by attempt, and its comparison with the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from gohr.experiments.verification.attempt_rows import AttemptRows, Fault
from gohr.game.board import N_BUCKETS, Board, BoardSpec
from gohr.game.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    RESET,
    STALEMATE,
)
from gohr.learners.kernels.one_board import OneBoard, attempt
from gohr.learners.trial import compiled
from gohr.rules.syntax import RuleSet

Int = npt.NDArray[np.int64]


@njit(cache=True)
def replay_rows(
    game: OneBoard,
    n_rows: Int,
    stuck: npt.NDArray[np.bool_],
    actions: Int,
    outcomes: Int,
    stands: Int,
    stands_first: Int,
) -> None:
    """Replay all boards of a trial, filling the outcome of each attempt and the state after it."""
    row = 0
    for episode in range(n_rows.shape[0]):
        attempt(game, RESET, episode)
        stands_first[episode] = game.finish[0]
        for _ in range(n_rows[episode]):
            if stuck[episode]:
                outcomes[row] = EPISODE_OVER
            else:
                outcomes[row] = attempt(game, actions[row], 0)
            stands[row] = game.finish[0]
            row += 1


_OUTCOMES = {
    ACCEPTED: "accepted",
    EMPTY_CELL: "on an empty cell",
    DENIED: "denied",
    IMMOVABLE: "immovable",
    EPISODE_OVER: "after the end of the episode",
}
_STANDS = {IN_PROGRESS: "going on", CLEARED: "cleared", STALEMATE: "a stalemate"}


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """Outcomes of the replayed attempts of a trial.

    Parameters
    ----------
    outcomes : numpy.ndarray of int64, shape (n,)
        The code of each attempt; -4 for the row of a board that is stuck from the start.
    stands : numpy.ndarray of int64, shape (n,)
        State of the episode after each attempt: 0 in progress, 1 cleared, 2 stalemate.
    stands_first : numpy.ndarray of int64, shape (n_episodes,)
        State of each episode before its first attempt.
    """

    outcomes: Int
    stands: Int
    stands_first: Int


def replay(
    rule_set: RuleSet,
    boards: npt.NDArray[np.uint8],
    rows: AttemptRows,
    *,
    board_spec: BoardSpec,
) -> Replay:
    """Make the attempts of a trial again, on the boards that it was to be played on.

    The engine does it, some ten million attempts a second; for a rule that it has no tables for,
    the reference interpreter.

    ``boards`` (uint8, n x 36) has at least one for each episode of the rows. The outcomes in the
    log are ignored.
    """
    n_rows, n_episodes = rows.actions.size, rows.n_rows.size
    result = Replay(
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(n_episodes, dtype=np.int64),
    )
    rule = compiled(rule_set, board_spec)
    if rule is None:
        _by_reference(rule_set, boards, rows, result, board_spec)
    elif n_episodes:
        from gohr.learners.kernels.one_board import one_board

        replay_rows(
            one_board(rule, boards),
            rows.n_rows,
            rows.stuck,
            rows.actions,
            result.outcomes,
            result.stands,
            result.stands_first,
        )
    return result


def _by_reference(
    rule_set: RuleSet,
    boards: npt.NDArray[np.uint8],
    rows: AttemptRows,
    result: Replay,
    spec: BoardSpec,
) -> None:
    from gohr.game.reference import ReferenceGame

    ends = np.cumsum(rows.n_rows)
    for episode, (end, n_rows) in enumerate(zip(ends.tolist(), rows.n_rows.tolist(), strict=True)):
        game = ReferenceGame(rule_set, Board.from_codes(boards[episode], spec))
        result.stands_first[episode] = game.finish
        for row in range(end - n_rows, end):
            cell, bucket = divmod(int(rows.actions[row]), N_BUCKETS)
            stuck = bool(rows.stuck[episode])
            result.outcomes[row] = EPISODE_OVER if stuck else game.attempt_at(cell + 1, bucket)
            result.stands[row] = game.finish


def first_difference(
    rows: AttemptRows,
    boards: npt.NDArray[np.uint8],
    true: Replay,
    *,
    horizon: int,
    may_stop: bool = False,
) -> Fault | None:
    """Return the first place where a log differs from the replay of its attempts.

    None if there is no difference, and nothing was wrong with the rows. With ``may_stop`` a board
    need not be played to its end.
    """
    faults = [
        fault
        for fault in (
            _other_board(rows, boards),
            _other_reply(rows, true),
            _other_length(rows, true, horizon, may_stop),
            rows.fault,
        )
        if fault is not None
    ]
    # A board comes before the attempts on it.
    return min(faults, key=lambda fault: (fault.episode or 0, fault.attempt or 0), default=None)


def _other_board(rows: AttemptRows, boards: npt.NDArray[np.uint8]) -> Fault | None:
    n_episodes = rows.n_rows.size
    differs = (rows.boards != boards[:n_episodes]).any(axis=1)
    if not differs.any():
        return None
    episode = int(np.argmax(differs))
    cell = int(np.argmax(rows.boards[episode] != boards[episode]))
    expected, found = boards[episode, cell], rows.boards[episode, cell]
    return Fault(
        episode,
        None,
        f"not the board that was assigned: in cell {cell + 1} expected {expected}, found {found}",
    )


def _other_reply(rows: AttemptRows, true: Replay) -> Fault | None:
    """Compare outcome and finish of each row."""
    differs = (rows.outcomes != true.outcomes) | (rows.finish != true.stands)
    if not differs.any():
        return None
    row = int(np.argmax(differs))
    episode, attempt = rows.place(row)
    if rows.outcomes[row] != true.outcomes[row]:
        expected, found = int(true.outcomes[row]), int(rows.outcomes[row])
        reason = f"outcome: expected {_word(expected, _OUTCOMES)}, found {_word(found, _OUTCOMES)}"
    else:
        expected, found = int(true.stands[row]), int(rows.finish[row])
        reason = f"finish: expected {_word(expected, _STANDS)}, found {_word(found, _STANDS)}"
    return Fault(episode, attempt, reason)


def _word(code: int, words: dict[int, str]) -> str:
    if code < -(1 << 61):
        return "nothing"
    return f"{code} ({words[code]})" if code in words else str(code)


def _other_length(rows: AttemptRows, true: Replay, horizon: int, may_stop: bool) -> Fault | None:
    """Compare the number of attempts of each episode with its end.

    A learner may play on after the end until the horizon; such attempts count for nothing.
    """
    starts = np.cumsum(rows.n_rows) - rows.n_rows
    # Number of attempts in each episode until it is over, or cut off.
    until = np.minimum(_first_over(true.stands, starts) - starts + 1, horizon)
    n = rows.n_rows
    born_over = true.stands_first != 0
    short = ~born_over & (rows.stuck | (n < until))
    beyond = (n > horizon) | (born_over & ~rows.stuck) | ((n > until) & (n < horizon))
    if rows.fault is not None and rows.fault.episode == n.size - 1:
        # The rest of the last episode is not to be read.
        short[-1] = rows.stuck[-1] and short[-1]
        beyond[-1] = n[-1] > horizon or (born_over[-1] and not rows.stuck[-1])
    wrong = beyond if may_stop else short | beyond
    if not wrong.any():
        return None
    episode = int(np.argmax(wrong))
    return _length_fault(rows, true, episode, int(until[episode]), horizon)


def _first_over(stands: Int, starts: Int) -> Int:
    """Return the first row of each episode after which it is over; beyond the last row if none."""
    if not stands.size:
        return starts
    row = np.where(stands != 0, np.arange(stands.size), stands.size)
    first: Int = np.minimum.reduceat(row, starts)
    return first


def _length_fault(rows: AttemptRows, true: Replay, episode: int, until: int, horizon: int) -> Fault:
    n = int(rows.n_rows[episode])
    if true.stands_first[episode]:
        reason = "expected no attempt on a board that is stuck from the start"
        return Fault(episode, 1, reason)
    if rows.stuck[episode]:
        return Fault(episode, 1, "expected an attempt: the board is not stuck")
    if n > horizon:
        return Fault(episode, horizon + 1, f"expected at most {horizon} attempts, found {n}")
    if n > until:
        return Fault(episode, until + 1, "attempted after the end of the episode")
    reason = f"expected attempts until the episode ends or has {horizon}, found {n}"
    return Fault(episode, n + 1, reason)
