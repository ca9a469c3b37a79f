"""Messages between a learner and the server: JSON records over HTTP or a websocket.

A learner sends a trial, the number of attempts that it believes were made in it, and the next
attempts; the server returns the outcome of each. It never sends the rule or the permitted moves.
A request can be repeated if its answer is lost: earlier attempts are not made twice, and get the
same answers. A move without an attempt requests the boards dealt up to its position.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
    """What came of a move.

    ``outcomes`` has a code for each attempt that was made (0 accepted, 4 denied, 7 immovable, 3
    empty cell); those after the end of an episode are not made. ``position`` counts all attempts
    of the trial; ``finish`` tells how the episode stands (0 going on, 1 cleared, 2 stalemate), and
    ``ended`` whether it is over, be it at its horizon. ``dealt`` has the boards that were dealt
    then, 36 codes each: the last one is in play, those before it are stuck from the start.
    ``episode`` is the one in play, from 0.
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
    """A trial that is to be played, and how far it is; ``state`` is ``playing`` or ``done``."""

    trial: int
    rule: str
    number: int
    state: str
    position: int


class TrialView(TrialState):
    """What a player sees of a trial now.

    ``board`` has the code of each cell, ``last`` shape, colour and bucket of the last accepted
    attempt of the episode (0 for none, else 1 + index), ``attempt`` the number of attempts in it.
    """

    episode: int
    attempt: int
    board: list[int]
    last: list[int]


class AttemptPlay(_Record):
    """What one attempt of an entry has to play through the server."""

    season: str
    entry: int
    learner: str
    attempt: int
    board: dict[str, Any]
    episodes: int
    horizon: int
    trials: list[TrialState]
