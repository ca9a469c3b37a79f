"""Sources of boards for a served game: a protocol, and the record of a dealt board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gnomon.game.board import Board


@dataclass(frozen=True, slots=True)
class Deal:
    """A board as it is dealt to a player.

    Pieces of board files are ``labelled`` with a letter.
    """

    board: Board
    labelled: bool = False


class BoardSource(Protocol):
    """Deals a board for each episode."""

    #: Whether boards for testing are dealt now.
    testing: bool

    @property
    def can_test(self) -> bool:
        """Whether there are conditions that set boards for training and for testing apart."""

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes that can appear on the boards, upper case."""

    @property
    def colors(self) -> tuple[str, ...]:
        """The colours that can appear on the boards, upper case."""

    @property
    def crowded(self) -> bool:
        """Whether a cell can hold several pieces."""

    def deal(self) -> Deal:
        """Return the next board; a GnomonError says why there is none."""
