"""Replays: the attempts of a record made again under a rule, and what the rule permitted.

:func:`replay` serves verification and scores; :func:`replay_log` refuses other outcomes than those
of the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.engine.compiler import CompiledRule
from gohr.playing import TrialLog
from gohr.rules.syntax import RuleSet

#: Number of boards that are replayed together: more do not fit into the fastest cache.
_SIDE_BY_SIDE = 20


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What a rule replied to given attempts, and what it permitted before each.

    Parameters
    ----------
    first : numpy.ndarray of int8, shape (n_episodes,)
        State of each episode as it was dealt: 0 in progress, 1 cleared, 2 stalemate.
    outcomes, finish : numpy.ndarray of int16, shape (n_rows,)
        Outcome of each attempt, and state of the episode after it.
    n_pieces, n_movable : numpy.ndarray of int16, shape (n_rows,)
        Pieces on the board before the attempt, and how many of them could be moved.
    n_permitted : numpy.ndarray of int16, shape (n_rows,)
        Number of attempts that the rule would have accepted.
    n_accepting : numpy.ndarray of int16, shape (n_rows,)
        Number of buckets that would have accepted the piece attempted.
    """

    first: npt.NDArray[np.int8]
    outcomes: npt.NDArray[np.int16]
    finish: npt.NDArray[np.int16]
    n_pieces: npt.NDArray[np.int16]
    n_movable: npt.NDArray[np.int16]
    n_permitted: npt.NDArray[np.int16]
    n_accepting: npt.NDArray[np.int16]


def replay(
    boards: npt.NDArray[np.uint8],
    n_attempts: npt.NDArray[np.int64],
    actions: npt.NDArray[np.integer[Any]],
    rule: RuleSet | CompiledRule,
    *,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> Replay:
    """Make given attempts under a rule: ten million a second by the engine.

    ``boards`` has the code of the piece in each cell, shape (n_episodes, 36). ``n_attempts`` has
    the number of attempts on each board, shape (n_episodes,); those after its end have the outcome
    -4. ``actions`` has ``4 * cell + bucket`` of each attempt, shape (n_rows,), the episodes one
    after the other; ``board_spec`` gives the palettes that the codes index.

    Raises ValueError: an action is not from 0 to 143, or a piece is not in the palettes.
    """
    if actions.size and not 0 <= actions.min() <= actions.max() < N_CELLS * N_BUCKETS:
        raise ValueError("actions: expected numbers from 0 to 143")
    first = np.zeros(len(n_attempts), dtype=np.int8)
    found = np.zeros((6, len(actions)), dtype=np.int16)
    from gohr.engine.boards import Boards

    room = Boards.empty(rule, _SIDE_BY_SIDE, board_spec)
    if len(n_attempts):
        from gohr.playing_kernel import deck_of, replay_rows

        arrays = (room.rule.program, room.state, room.seen, room.padded)
        mask = np.zeros((_SIDE_BY_SIDE, N_CELLS * N_BUCKETS), dtype=np.int8)
        rows = n_attempts.astype(np.int64), actions.astype(np.uint8)
        replay_rows(*arrays, deck_of(room.rule, boards), *rows, mask, first, found)
    return Replay(first, *found)


def replay_log(
    log: TrialLog, rule: RuleSet | CompiledRule, *, board_spec: BoardSpec = DEFAULT_SPEC
) -> Replay:
    """Make the attempts of a log again, under the rule that it was played on.

    Raises ValueError if the rule replies otherwise than the log has it.
    """
    found = replay(log.boards, log.n_attempts, log.actions, rule, board_spec=board_spec)
    if not np.array_equal(found.outcomes, log.outcomes):
        raise ValueError(
            "expected a log that was played under this rule, found other outcomes in it"
        )
    return found
