"""Trials of the hidden division as they are played: messages, and the state of one trial.

A learner sends a trial, the number of attempts that it believes were made in it, and the next
attempts; the server returns the outcome of each. It never sends the rule or the permitted moves.
A request can be repeated if its answer is lost: earlier attempts are not made twice, and get the
same answers. A move without an attempt requests the boards dealt at its position.

The state of a trial consists of its attempts only. Boards follow from the season and the entry,
outcomes from the rule, so a trial can be rebuilt from its actions in any process.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gnomon_board.errors import Conflict
from gohr import ExperimentConfig
from gohr.outcomes import IN_PROGRESS
from gohr.playing import TrialInPlay

#: Most trials in one message, most attempts in one of them, and in all.
MAX_MOVES = 512
MAX_ACTIONS = 256
MAX_TOGETHER = 4096

_RowId = Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]
_Count = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
_Action = Annotated[int, Field(strict=True, ge=0, le=143)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Move(_Record):
    """The next attempts in a trial: ``4 * cell + bucket`` each, cells and buckets from 0."""

    trial: _RowId
    position: _Count
    actions: Annotated[list[_Action], Field(max_length=MAX_ACTIONS)]


class Moves(_Record):
    """Moves in several trials, at most one in each, and at most 4096 attempts in all."""

    moves: Annotated[list[Move], Field(min_length=1, max_length=MAX_MOVES)]

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        # A whole message is processed under the write lock.
        n_actions = sum(len(move.actions) for move in self.moves)
        if n_actions > MAX_TOGETHER:
            raise ValueError(f"expected at most {MAX_TOGETHER} attempts, found {n_actions}")
        return self


class Reply(_Record):
    """The outcomes of a move.

    ``outcomes`` has a code for each attempt that was made (0 accepted, 4 denied, 7 immovable, 3
    empty cell); those after the end of an episode are not made. ``position`` is the number of
    attempts in the trial after them. ``finish`` is the state of the episode (0 in progress, 1
    cleared, 2 stalemate), and ``ended`` is true when it is over, at its horizon too. ``dealt`` has
    the boards that were dealt then, 36 codes each: the last one is in play, those before it are
    stuck from the start. ``episode`` is the one in play, from 0, and ``over`` is true when there is
    none.
    """

    trial: int
    position: int
    outcomes: list[int]
    finish: int
    ended: bool
    episode: int
    dealt: list[list[int]]
    over: bool


class Replies(_Record):
    """A reply to each move, in their order."""

    replies: list[Reply]


class TrialState(_Record):
    """A trial to play and its number of attempts; ``state`` is ``playing`` or ``done``."""

    trial: int
    rule: str
    number: int
    state: str
    position: int


class AttemptPlay(_Record):
    """The trials that one assignment of an entry has to play through the server."""

    season: str
    entry: int
    learner: str
    attempt: int
    board: dict[str, Any]
    episodes: int
    horizon: int
    trials: list[TrialState]


class RemoteGame:
    """One trial on the server, from its first board to its last.

    ``number`` is that of the trial of ``assignment`` on the rule of this name; ``actions`` are the
    attempts so far, each as ``4 * cell + bucket``. With ``reveal`` the rest can be abandoned.
    ``interpreted``: as for :class:`gohr.playing.TrialInPlay`; the server plays without Numba.
    """

    def __init__(
        self,
        assignment: ExperimentConfig,
        rule: str,
        number: int,
        actions: bytes = b"",
        *,
        reveal: bool = False,
        interpreted: bool = True,
    ) -> None:
        assigned = next(each for each in assignment.rules if each.name == rule)
        self._deck = assignment.deal(assigned, number)
        self.trial = TrialInPlay(
            self._deck,
            assigned.rule_set,
            horizon=assignment.horizon,
            board_spec=assignment.board,
            reveal=reveal,
            interpreted=interpreted,
        )
        self._actions = bytearray()
        self._outcomes: list[int] = []
        #: For each number of attempts, the number of boards dealt until then.
        self._dealt: list[int] = []
        self._note_dealt()
        for action in actions:
            self._attempt(action)

    @property
    def position(self) -> int:
        """Number of attempts so far."""
        return len(self._actions)

    @property
    def actions(self) -> bytes:
        """The attempts so far."""
        return bytes(self._actions)

    @property
    def over(self) -> bool:
        """Whether all boards have been played."""
        return self.trial.over

    def play(self, move: Move) -> Reply:
        """Make the attempts of a move that are new, up to the end of an episode."""
        stop = move.position
        if stop > self.position:
            raise Conflict(
                f"trial {move.trial}: expected a move at position {self.position} or before, "
                f"found {stop}"
            )
        for action in move.actions:
            if stop == self.position:
                if self.over:
                    break
                self._attempt(action)
            elif self._actions[stop] != action:
                raise Conflict(
                    f"trial {move.trial}: expected action {self._actions[stop]} as at first at "
                    f"position {stop}, found {action}"
                )
            stop += 1
            if self._ended(stop):
                break
        return self._reply(move, stop)

    def abandon(self) -> None:
        """Fill the rest of every episode with attempts that the rule rejects: errors.

        If the rule rejects none, the remaining pieces are removed in the order of their cells.
        """
        while not self.over:
            permitted = self.trial.observation.permitted
            assert permitted is not None
            self._attempt(int(np.argmin(permitted)))

    def _ended(self, stop: int) -> bool:
        """Return whether the attempt before ``stop`` ended its episode."""
        return self._dealt[stop] > self._dealt[stop - 1] or (self.over and stop == self.position)

    def _reply(self, move: Move, stop: int) -> Reply:
        """Return the reply to a move after which the trial had ``stop`` attempts."""
        first, n_dealt = self._dealt[stop - 1] if stop else 0, self._dealt[stop]
        ended = stop > move.position and self._ended(stop)
        over = self.over and stop == self.position
        return Reply(
            trial=move.trial,
            position=stop,
            outcomes=self._outcomes[move.position : stop],
            finish=self.trial.finish[first - 1] if ended else IN_PROGRESS,
            ended=ended,
            episode=len(self._deck) if over else n_dealt - 1,
            dealt=self._deck[first:n_dealt].tolist(),
            over=over,
        )

    def _attempt(self, action: int) -> None:
        outcome = self.trial.attempt(action).outcome
        self._actions.append(action)
        self._outcomes.append(outcome)
        self._note_dealt()

    def _note_dealt(self) -> None:
        self._dealt.append(len(self.trial.finish) + (not self.over))
