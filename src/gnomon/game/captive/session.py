"""A session of the captive game server: games of one client under one rule, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, final

from gnomon.errors import GnomonError
from gnomon.game.board import Piece
from gnomon.game.captive.board_lines import compact_json
from gnomon.game.captive.dialogue import (
    BAD_RULES,
    EXIT,
    INVALID_ARGUMENTS,
    Command,
    Dialogue,
    OutputMode,
)
from gnomon.game.captive.referee import Referee
from gnomon.game.formats.board_source import BoardSource
from gnomon.game.outcomes import CLEARED

__all__ = ["AttemptRecord", "EpisodeRecord", "GameLog", "Session"]


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


@final
class Session(Dialogue):
    """A client's games, one episode after another under one rule.

    Parameters
    ----------
    referee : Referee
        Knows the rule.
    source : BoardSource
        Deals a board for each episode.
    mode : {'BRIEF', 'STANDARD', 'FULL'}
        How much is said.
    features : mapping from str to list
        The answer to FEATURES: the possible values of each property.
    reveal : bool
        Whether the field ``buckets`` of a piece says into which buckets it may go, which is the
        answer. The reference always says so. ⚠ Here it is always ``[0,1,2,3]`` if not.
    log : GameLog, optional
        Is told of every episode and attempt.

    Attributes
    ----------
    over : bool
        Whether the client has said EXIT.
    n_new : int
        How many times the client has said NEW.
    """

    def __init__(
        self,
        referee: Referee,
        source: BoardSource,
        *,
        mode: OutputMode = "FULL",
        features: Mapping[str, Sequence[str | int]] | None = None,
        reveal: bool = False,
        log: GameLog | None = None,
    ) -> None:
        super().__init__(mode, features or {})
        self._referee = referee
        self._source = source
        self._reveal = reveal
        self._log = log
        self._n_pieces = 0
        self.over = False
        self.n_new = 0

    def start(self) -> list[str]:
        """Begin the first episode, and return the greeting.

        Raises GnomonError: there is no board, or the rule cannot be played on it.
        """
        self._deal()
        return self._greeting()

    def close(self) -> None:
        """End the session; the episode in progress is taken down as it is."""
        self._end_episode()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _deal(self) -> None:
        self._no_episode()
        deal = self._source.deal()
        self._referee.begin(deal.board)
        self._begin(deal, self._referee.finish)
        self._n_pieces = len(deal.board.pieces)
        if self._log is not None:
            self._log.begin(self.episode)

    def _end_episode(self) -> None:
        if self._log is not None and self._is_on:
            numbers = self._n_pieces, self._n_attempts, self._n_pieces - len(self._pieces)
            self._log.end(EpisodeRecord(self.episode, *numbers, self.finish == CLEARED))
        self._is_on = False

    def _new(self) -> list[str]:
        self.n_new += 1
        self._end_episode()
        try:
            self._deal()
        except GnomonError as error:
            self._no_episode()
            return self._status(BAD_RULES, _in_one_line(error))
        return self._greeting()

    def _exit(self) -> list[str]:
        self.over = True
        return self._status(EXIT, "Goodbye")

    def _attempt(self, piece: Piece, bucket: int) -> list[str]:
        """Put an attempt to the referee."""
        try:
            code = self._referee.attempt(piece.id, piece.pos, bucket)
        except GnomonError as error:
            return self._after_move(BAD_RULES, _in_one_line(error))
        self._made(piece, code)
        self.finish = self._referee.finish
        if self._log is not None:
            numbers = self.episode, self._n_attempts - 1
            self._log.attempt(AttemptRecord(*numbers, piece, bucket, code, len(self._pieces)))
        return self._after_move(code, self._remark() if self.finish else "null")

    def _is_movable(self, piece: Piece) -> bool:
        return bool(self._referee.buckets(piece.id, piece.pos))

    def _pieces_json(self) -> list[str]:
        if not self._reveal:
            return super()._pieces_json()
        return [self._revealed(piece) for piece in self._pieces.values()]

    def _revealed(self, piece: Piece) -> str:
        """Return a piece as JSON, with the buckets that it may go into."""
        before, after = self._parts[piece.id]
        buckets = [] if self.finish else self._referee.buckets(piece.id, piece.pos)
        return before + compact_json(buckets) + after

    def _conditions(self, command: Command) -> list[str]:
        """Report or set the boards dealt from now on. ⚠ An error is followed by the report."""
        error: list[str] = []
        if command.arguments:
            wanted = command.arguments[0].text
            if wanted.lower() not in ("train", "test"):
                message = f"followed by 'train' or 'test'; invalid value={wanted}"
                error = self._status(INVALID_ARGUMENTS, f"COND command  must be {message}")
            elif wanted.lower() == "test" and not self._source.can_test:
                # ⚠ The reference dies of this.
                message = "COND test needs conditions: begin with condTrain= or condTest="
                error = self._status(INVALID_ARGUMENTS, message)
            else:
                self._source.testing = wanted.lower() == "test"
        return [*error, f"# OK, cond={'test' if self._source.testing else 'train'}"]


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
