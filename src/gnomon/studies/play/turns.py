"""Turns of two at a board: whose attempt comes next follows from the attempts so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gnomon.studies.plan.series_plan import Play


class Made(Protocol):
    """What turns need to know of an attempt."""

    @property
    def mover(self) -> int:
        """The seat of who made it."""

    @property
    def bucket(self) -> int | None:
        """None for a pick."""

    @property
    def accepted(self) -> bool:
        """Whether it succeeded."""


A = TypeVar("A", bound=Made)


@dataclass(frozen=True, slots=True)
class Seats:
    """Two at the same boards, seats 0 and 1.

    Parameters
    ----------
    play : {"cooperative", "adversarial"}
    begins : int
        The seat that has the first attempt of the series.
    bot : int, optional
        The seat that a bot plays.
    gone : int, optional
        The seat whose player has left; without a bot in it, the other one goes on alone.
    gone_at : int
        How many attempts of the series had been made by then.
    is_open : bool
        Whether seat 1 waits for its player, so that nothing can be played yet.

    Examples
    --------
    >>> Seats("cooperative", begins=1).turn([])
    1
    >>> Seats("cooperative", gone=0).turn([])
    1
    """

    play: Play = "cooperative"
    begins: int = 0
    bot: int | None = None
    gone: int | None = None
    gone_at: int = 0
    is_open: bool = False

    @property
    def has_two_people(self) -> bool:
        """Whether either seat has its player still."""
        return self.bot is None and self.gone is None

    def is_bots(self, number: int, mover: int) -> bool:
        """Tell whether an attempt of the series, counted from 0, was made by a bot."""
        return mover == self.bot and (self.gone is None or number >= self.gone_at)

    def of_person(self, attempts: Sequence[A], seat: int) -> list[A]:
        """Return the attempts that the person of a seat made."""
        made = enumerate(attempts)
        return [a for n, a in made if a.mover == seat and not self.is_bots(n, seat)]

    def turn(self, attempts: Sequence[Made]) -> int:
        """Return the seat that has the next attempt, boards of the series notwithstanding.

        Cooperative partners alternate. An adversary keeps the turn by an accepted move; an accepted
        pick, which costs the other nothing, passes it on (in the reference system it does not).
        """
        if self.gone is not None and self.bot is None:
            return 1 - self.gone
        if not attempts:
            return self.begins
        last = attempts[-1]
        keeps = self.play == "adversarial" and last.accepted and last.bucket is not None
        return last.mover if keeps else 1 - last.mover
