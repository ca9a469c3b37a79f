"""What a session tells of a game while it is played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gnomon.game.board import Piece

__all__ = ["AttemptRecord", "EpisodeRecord", "GameLog"]


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An attempt that counts: its numbers are from 0, `left` is the number of pieces after it."""

    episode: int
    number: int
    piece: Piece
    bucket: int
    code: int
    left: int


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode that is over, or was given up."""

    episode: int
    n_pieces: int
    n_attempts: int
    n_accepted: int
    cleared: bool


class GameLog(Protocol):
    """Takes down a game."""

    def begin(self, episode: int) -> None:
        """Take down that an episode begins."""

    def attempt(self, record: AttemptRecord) -> None:
        """Take down an attempt."""

    def end(self, record: EpisodeRecord) -> None:
        """Take down what came of an episode."""

    def close(self) -> None:
        """Take down no more."""
