"""State of one remotely played trial, rebuilt from its attempts.

The state of a trial is its attempts and nothing else. Boards come from the season and the entry,
replies from the rule; so a trial is rebuilt, wherever and whenever it is needed, from its actions,
and an attempt that is told twice gets the same reply twice.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gohr import BoardSpec
from gohr.experiments import Assignment
from gohr.game import (
    ACCEPTED,
    IN_PROGRESS,
    N_BUCKETS,
    N_CELLS,
    RESET,
    STALEMATE,
    Autoreset,
    InterpretedBoards,
)
from gohr.learners import TrialLog, compiled
from gohr.rules import RuleSet


@dataclass(frozen=True, slots=True)
class Stretch:
    """Outcomes of consecutive attempts within one episode.

    Parameters
    ----------
    outcomes : tuple of int
        The code of each attempt that was made; after the end of an episode none is.
    finish : int
        How the episode stands after the last of them: 0 going on, 1 cleared, 2 stalemate.
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

    ``boards`` (uint8, n_episodes x 36) has one an episode; ``actions`` are the attempts so far,
    each as ``4 * cell + bucket``.
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
        from gohr.game import Boards, advance

        self._engine = advance
        self._deck, self._horizon = boards, horizon
        self._compiled = compiled(rule_set, board_spec)
        self._table: Boards | InterpretedBoards
        if self._compiled is None:
            self._table = InterpretedBoards(rule_set, board_spec, 1)
        else:
            self._table = Boards.empty(self._compiled, 1)
        self._action = np.zeros(1, dtype=np.int64)
        self._actions = bytearray()
        #: How many of the attempts so far were not accepted.
        self.n_errors = 0
        self._outcomes = array("b")
        self._finish = array("b")
        #: Of each board that was dealt: how many attempts were made before, and if it was stuck.
        self._starts: list[int] = []
        self._stuck: list[bool] = []
        self._deal()
        for action in actions:
            self._attempt(action)

    @classmethod
    def of(cls, assignment: Assignment, rule: str, number: int, actions: bytes) -> RemoteGame:
        """Return trial ``number`` of an assignment on one of its rules, as it stands."""
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
        """The episode in play, from 0; the number of episodes if the trial is over."""
        return len(self._deck) if self.over else len(self._starts) - 1

    @property
    def over(self) -> bool:
        """Whether every board has been played."""
        return len(self._starts) == len(self._deck) and self._episode_over()

    @property
    def codes(self) -> bytes:
        """What lies in each cell now."""
        return bytes(self._table.codes[0])

    @property
    def last(self) -> tuple[int, int, int]:
        """Shape, colour and bucket of the last accepted attempt of the episode, as observed."""
        shape, color, bucket = self._table.last[:, 0].tolist()
        return shape, color, bucket

    @property
    def n_attempts(self) -> int:
        """Number of attempts of the episode in play."""
        return self.position - self._starts[-1]

    def make(self, actions: list[int]) -> Stretch:
        """Make attempts until they are made or the episode ends; return what came of them."""
        before = self.position
        for action in actions:
            if self.over or (self.position > before and self.n_attempts == 0):
                break
            self._attempt(action)
        return self.stretch(before, len(actions))

    def abandon(self) -> None:
        """Fill what is left of every episode with attempts that the rule refuses: errors.

        Where a rule refuses none, the remaining pieces are taken in the order of their cells.
        """
        while not self.over:
            self._attempt(int(np.argmin(self._table.permitted()[0])))

    def stretch(self, position: int, n: int) -> Stretch:
        """Return what came of the `n` attempts from a position on, up to the end of an episode.

        Without an attempt it tells which boards were dealt to get there.
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
        """Return the log of a trial that is over, as a learner's trial leaves it."""
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
        """Return the boards from one on that were dealt at a position."""
        stop = bisect_right(self._starts, position)
        return tuple(self._deck[i].tobytes() for i in range(first, stop))

    def _episode_over(self) -> bool:
        return self._stuck[-1] or self._stands() != IN_PROGRESS or self.n_attempts >= self._horizon

    def _stands(self) -> int:
        return int(self._table.finish[0])

    def _deal(self) -> None:
        """Deal boards up to one that can be played."""
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
        """Let whichever interpreter it is make an attempt, or deal the next board."""
        deck = self._deck[len(self._starts) :] if action == RESET else self._deck[:1]
        if isinstance(self._table, InterpretedBoards):
            self._table.replies[0, 0] = action
            self._table.advance(deck, 0, 0, Autoreset.DISABLED)
        else:
            assert self._compiled is not None
            self._action[0] = action
            self._engine(self._compiled, self._table, self._action, deck)
