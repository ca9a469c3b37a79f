"""Comparison of the log of a trial with the replay of its attempts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, N_CELLS, BoardSpec
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
from gohr.playing import TrialLog, replay
from gohr.rules.syntax import RuleSet

_OUTCOMES = {
    ACCEPTED: "accepted",
    EMPTY_CELL: "on an empty cell",
    DENIED: "denied",
    IMMOVABLE: "immovable",
    EPISODE_OVER: "after the end of the episode",
}
_FINISHES = {IN_PROGRESS: "going on", CLEARED: "cleared", STALEMATE: "a stalemate"}


class Difference(NamedTuple):
    """First place at which a log is wrong: episode from 0, attempt from 1, None for all of it."""

    episode: int
    attempt: int | None
    reason: str


def first_difference(
    log: TrialLog,
    boards: npt.NDArray[np.uint8],
    rule_set: RuleSet,
    *,
    board_spec: BoardSpec,
    horizon: int,
    may_stop: bool = False,
) -> Difference | None:
    """Return the first place where a log differs from the replay of its attempts, or None.

    ``boards`` are those that were to be played. With ``may_stop`` a board need not be played to its
    end.
    """
    differences = _differences(log, boards, rule_set, board_spec, horizon, may_stop)
    # A board comes before the attempts on it.
    return min(differences, key=lambda x: (x.episode, x.attempt or 0), default=None)


def _differences(
    log: TrialLog,
    boards: npt.NDArray[np.uint8],
    rule_set: RuleSet,
    board_spec: BoardSpec,
    horizon: int,
    may_stop: bool,
) -> Iterator[Difference]:
    """Yield the first difference of each kind."""
    n = min(len(boards), len(log.boards))
    if len(boards) != len(log.boards):
        yield Difference(n, None, f"expected {len(boards)} episodes, found {len(log.boards)}")
    if (wrong := (log.boards[:n] != boards[:n]).any(axis=1)).any():
        episode = int(wrong.argmax())
        cell = int((log.boards[episode] != boards[episode]).argmax())
        expected, found = boards[episode, cell], log.boards[episode, cell]
        reason = f"in cell {cell + 1} expected {expected}, found {found}"
        yield Difference(episode, None, f"not the board that was assigned: {reason}")

    n_attempts = log.n_attempts[:n]
    ends = np.cumsum(n_attempts)
    actions = log.actions[: n_attempts.sum()]
    episode_of = np.repeat(np.arange(n), n_attempts)

    def at(row: int, reason: str) -> Difference:
        episode = int(episode_of[row])
        return Difference(episode, row - int(ends[episode] - n_attempts[episode]) + 1, reason)

    most = N_CELLS * N_BUCKETS - 1
    if (wrong := actions > most).any():
        row = int(wrong.argmax())
        yield at(row, f"expected an action from 0 to {most}, found {actions[row]}")
    true = replay(
        boards[:n], n_attempts, np.minimum(actions, most), rule_set, board_spec=board_spec
    )
    outcomes = log.outcomes[: actions.size]
    if (wrong := outcomes != true.outcomes).any():
        row = int(wrong.argmax())
        expected, found = (_named(int(x[row]), _OUTCOMES) for x in (true.outcomes, outcomes))
        yield at(row, f"outcome: expected {expected}, found {found}")
    finish = true.first.astype(np.int64)
    played = n_attempts > 0
    finish[played] = true.finish[ends[played] - 1]
    if (wrong := log.finish[:n] != finish).any():
        episode = int(wrong.argmax())
        expected, found = (_named(int(x[episode]), _FINISHES) for x in (finish, log.finish))
        reason = f"finish: expected {expected}, found {found}"
        yield Difference(episode, int(n_attempts[episode]) or None, reason)

    # A learner may play on after the end until the horizon; such attempts count for nothing.
    counted = np.bincount(episode_of[true.outcomes != EPISODE_OVER], minlength=n)
    is_over = finish != IN_PROGRESS
    beyond = is_over & (n_attempts > counted) & ((n_attempts != horizon) | (counted == 0))
    short = ~is_over & (n_attempts < horizon)
    wrong = (n_attempts > horizon) | beyond | (short & (not may_stop))
    if wrong.any():
        episode = int(wrong.argmax())
        made, until = int(n_attempts[episode]), int(counted[episode])
        if made > horizon:
            until, reason = horizon, f"expected at most {horizon} attempts, found {made}"
        elif not beyond[episode]:
            reason = f"expected attempts until the episode ends or has {horizon}, found {made}"
        elif until == 0:
            reason = "expected no attempt on a board that is stuck from the start"
        else:
            reason = "attempted after the end of the episode"
        yield Difference(episode, until + 1, reason)


def _named(code: int, names: dict[int, str]) -> str:
    return f"{code} ({names[code]})" if code in names else str(code)
