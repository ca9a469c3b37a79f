"""State of one remotely played trial, rebuilt from its attempts.

The state of a trial consists of its attempts only. Boards follow from the season and the entry,
replies from the rule, so a trial can be rebuilt from its actions in any process, and a repeated
attempt gets the same reply.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gohr import BoardSpec, TrialLog
from gohr.experiments import Assignment
from gohr.game import (
    ACCEPTED,
    IN_PROGRESS,
    N_BUCKETS,
    N_CELLS,
    RESET,
    STALEMATE,
    Autoreset,
    boards_in_play,
)
from gohr.rules import RuleSet


@dataclass(frozen=True, slots=True)
class Stretch:
    """Outcomes of consecutive attempts within one episode.

    Parameters
    ----------
    outcomes : tuple of int
        The code of each attempt made; none is made after the end of an episode.
    finish : int
        State of the episode after the last attempt: 0 in progress, 1 cleared, 2 stalemate.
    ended : bool
        Whether the episode is over: cleared, stuck, or at its horizon.
    episode : int
        The episode in play after them, from 0; the number of episodes if the trial is over.
    dealt : tuple of bytes
        The boards that were dealt after the last attempt, in order: the last is the one in play,
        those before it, and all of them if the trial is over, are stuck from the start.
    over : bool
        Whether the trial is over.
    """

    outcomes: tuple[int, ...]
    finish: int
    ended: bool
    episode: int
    dealt: tuple[bytes, ...]
    over: bool


class RemoteGame:
    """One trial, from its first board to its last.

    ``boards`` (uint8, n_episodes x 36) has one board per episode; ``actions`` are the attempts so
    far, each as ``4 * cell + bucket``.
    """

    def __init__(
        self,
        rule_set: RuleSet,
        boards: npt.NDArray[np.uint8],
        *,
        horizon: int,
        board_spec: BoardSpec,
        actions: bytes = b"",
    ) -> None:
        self._deck, self._horizon = boards, horizon
        self._table = boards_in_play(rule_set, board_spec, 1)
        self._actions = bytearray()
        #: Number of attempts so far that were not accepted.
        self.n_errors = 0
        self._outcomes = array("b")
        self._finish = array("b")
        #: For each dealt board: the number of attempts before it, and whether it was stuck.
        self._starts: list[int] = []
        self._stuck: list[bool] = []
        self._deal()
        for action in actions:
            self._attempt(action)

    @classmethod
    def of(cls, assignment: Assignment, rule: str, number: int, actions: bytes) -> RemoteGame:
        """Return the current state of trial ``number`` of an assignment on one of its rules."""
        assigned = next(each for each in assignment.rules if each.name == rule)
        return cls(
            assigned.rule_set,
            assignment.deal(assigned, number),
            horizon=assignment.horizon,
            board_spec=assignment.board,
            actions=actions,
        )

    @property
    def position(self) -> int:
        """Number of attempts so far."""
        return len(self._actions)

    @property
    def actions(self) -> bytes:
        """The attempts so far."""
        return bytes(self._actions)

    @property
    def episode(self) -> int:
        """The episode in play, from 0; equal to the number of episodes if the trial is over."""
        return len(self._deck) if self.over else len(self._starts) - 1

    @property
    def over(self) -> bool:
        """Whether all boards have been played."""
        return len(self._starts) == len(self._deck) and self._episode_over()

    @property
    def codes(self) -> bytes:
        """The current piece of each cell."""
        return bytes(self._table.codes[0])

    @property
    def last(self) -> tuple[int, int, int]:
        """Shape, colour and bucket of the last accepted attempt of the episode, as observed."""
        shape, color, bucket = self._table.last[:, 0].tolist()
        return shape, color, bucket

    @property
    def n_attempts(self) -> int:
        """Number of attempts in the current episode."""
        return self.position - self._starts[-1]

    def make(self, actions: list[int]) -> Stretch:
        """Make attempts until all are made or the episode ends; return their outcomes."""
        before = self.position
        for action in actions:
            if self.over or (self.position > before and self.n_attempts == 0):
                break
            self._attempt(action)
        return self.stretch(before, len(actions))

    def abandon(self) -> None:
        """Fill the rest of every episode with attempts that the rule rejects: errors.

        If the rule rejects none, the remaining pieces are removed in the order of their cells.
        """
        while not self.over:
            self._attempt(int(np.argmin(self._table.permitted()[0])))

    def stretch(self, position: int, n: int) -> Stretch:
        """Return the outcomes of `n` attempts from a position, up to the end of an episode.

        For `n` = 0 it contains the boards dealt up to the position.
        """
        if n == 0 or position == self.position:
            at = bisect_right(self._starts, position - 1)
            dealt = self._dealt(at, position)
            over = self.over and position == self.position
            here = len(self._deck) if over else bisect_right(self._starts, position) - 1
            return Stretch((), 0, False, here, dealt, over)
        episode = bisect_right(self._starts, position) - 1
        following = episode + 1
        end = self._starts[following] if following < len(self._starts) else self.position
        stop = min(position + n, end)
        ended = stop == end and (following < len(self._starts) or self._episode_over())
        dealt = self._dealt(following, stop) if ended else ()
        nothing_to_play = not dealt or self._stuck[-1]
        over = ended and following + len(dealt) == len(self._deck) and nothing_to_play
        here = len(self._deck) if over else episode + len(dealt)
        outcomes = tuple(self._outcomes[position:stop])
        return Stretch(outcomes, self._finish[stop - 1], ended, here, dealt, over)

    def log(self) -> TrialLog:
        """Return the log of a finished trial, in the form of a learner's own."""
        if not self.over:
            raise ValueError(f"expected a trial that is over, found one at {self.position}")
        stops = np.array([*self._starts[1:], self.position])
        n_attempts = stops - np.array(self._starts)
        pairs = zip(stops.tolist(), self._stuck, strict=True)
        finish = [STALEMATE if stuck else self._finish[stop - 1] for stop, stuck in pairs]
        return TrialLog(
            self._deck,
            n_attempts.astype(np.int64),
            np.frombuffer(self._actions, dtype=np.uint8).copy(),
            np.array(self._outcomes, dtype=np.int8),
            np.array(finish, dtype=np.int8),
        )

    def _dealt(self, first: int, position: int) -> tuple[bytes, ...]:
        """Return the boards dealt at a position, from a given board on."""
        stop = bisect_right(self._starts, position)
        return tuple(self._deck[i].tobytes() for i in range(first, stop))

    def _episode_over(self) -> bool:
        return self._stuck[-1] or self._stands() != IN_PROGRESS or self.n_attempts >= self._horizon

    def _stands(self) -> int:
        return int(self._table.finish[0])

    def _deal(self) -> None:
        """Deal boards up to the next playable one."""
        while len(self._starts) < len(self._deck):
            self._advance(RESET)
            self._starts.append(self.position)
            self._stuck.append(self._stands() != IN_PROGRESS)
            if not self._stuck[-1]:
                return

    def _attempt(self, action: int) -> None:
        if not 0 <= action < N_CELLS * N_BUCKETS:
            raise ValueError(f"expected an action from 0 to 143, found {action}")
        if self.over:
            raise ValueError("expected a trial in play, found one that is over")
        self._advance(action)
        self._actions.append(action)
        self._outcomes.append(int(self._table.outcome[0]))
        self.n_errors += self._outcomes[-1] != ACCEPTED
        self._finish.append(self._stands())
        if self._episode_over():
            self._deal()

    def _advance(self, action: int) -> None:
        """Make an attempt or deal the next board, by the interpreter of the rule."""
        deck = self._deck[len(self._starts) :] if action == RESET else self._deck[:1]
        self._table.replies[0, 0] = action
        self._table.advance(deck, 0, 0, Autoreset.DISABLED)
