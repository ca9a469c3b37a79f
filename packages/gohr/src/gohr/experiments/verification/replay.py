"""Replay of a trial, attempt by attempt, and its comparison with the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gohr.experiments.verification.attempt_rows import AttemptRows, Fault
from gohr.game.board import BoardSpec
from gohr.game.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    STALEMATE,
)
from gohr.playing import replay
from gohr.rules.syntax import RuleSet

Int = npt.NDArray[np.int64]


_OUTCOMES = {
    ACCEPTED: "accepted",
    EMPTY_CELL: "on an empty cell",
    DENIED: "denied",
    IMMOVABLE: "immovable",
    EPISODE_OVER: "after the end of the episode",
}
_STANDS = {IN_PROGRESS: "going on", CLEARED: "cleared", STALEMATE: "a stalemate"}


@dataclass(frozen=True, slots=True, eq=False)
class TrueReplies:
    """What the rule replies to the attempts of a log.

    Parameters
    ----------
    outcomes, stands : numpy.ndarray of int64, shape (n,)
        Outcome of each row, and state of the episode after it; a row without an attempt, of a
        board that is stuck from the start, has the outcome -4.
    stands_first : numpy.ndarray of int64, shape (n_episodes,)
        State of each episode before its first attempt.
    """

    outcomes: Int
    stands: Int
    stands_first: Int


def true_replies(
    rule_set: RuleSet,
    boards: npt.NDArray[np.uint8],
    rows: AttemptRows,
    *,
    board_spec: BoardSpec,
) -> TrueReplies:
    """Make the attempts of a trial again, on the boards that it was to be played on.

    ``boards`` (uint8, n x 36) has at least one for each episode of the rows. The outcomes in the
    log are ignored.
    """
    made = np.repeat(~rows.stuck, rows.n_rows)
    n_attempts = np.where(rows.stuck, 0, rows.n_rows)
    found = replay(boards, n_attempts, rows.actions[made], rule_set, board_spec=board_spec)
    outcomes = np.full(made.size, EPISODE_OVER, dtype=np.int64)
    stands = np.repeat(found.first.astype(np.int64), rows.n_rows)
    outcomes[made], stands[made] = found.outcomes, found.finish
    return TrueReplies(outcomes, stands, found.first.astype(np.int64))


def first_difference(
    rows: AttemptRows,
    boards: npt.NDArray[np.uint8],
    true: TrueReplies,
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


def _other_reply(rows: AttemptRows, true: TrueReplies) -> Fault | None:
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


def _other_length(
    rows: AttemptRows, true: TrueReplies, horizon: int, may_stop: bool
) -> Fault | None:
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


def _length_fault(
    rows: AttemptRows, true: TrueReplies, episode: int, until: int, horizon: int
) -> Fault:
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
