"""A session of the captive game server: games of one client under one rule, one by one.

A referee judges the attempts: the engine where it has tables for the rule, else the reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

from gnomon.errors import GnomonError, NotCompilableError
from gnomon.game.board import N_BUCKETS, Board, BoardSpec, Piece
from gnomon.game.captive.board_lines import compact_json
from gnomon.game.captive.dialogue import (
    BAD_RULES,
    EXIT,
    INVALID_ARGUMENTS,
    Command,
    Dialogue,
    OutputMode,
)
from gnomon.game.formats.board_source import BoardSource
from gnomon.game.outcomes import ACCEPTED, CLEARED, DENIED, IMMOVABLE, RESET
from gnomon.game.reference import ReferenceGame
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gnomon.game.engine.compiler import CompiledRule


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


class Referee:
    """Knows the rule, and plays it on one board after another.

    The engine plays what it can; the reference interpreter plays the rest.
    """

    def __init__(self, rule_set: RuleSet, source: BoardSource) -> None:
        self._rule_set = rule_set
        self._engine = _engine_for(rule_set, source)
        self._play: _Engine | _Interpreter | None = None

    @property
    def finish(self) -> int:
        """How the episode stands: 0 in progress, 1 cleared, 2 stalemate."""
        return self._play.finish if self._play else 0

    def begin(self, board: Board) -> None:
        """Begin an episode.

        Raises RulePlayError: the rule cannot be played on this board.
        """
        if self._engine is not None:
            try:
                self._engine.begin(board)
            except NotCompilableError:
                pass
            else:
                self._play = self._engine
                return
        self._play = _Interpreter(self._rule_set, board)

    def attempt(self, piece_id: int, pos: int, bucket: int) -> int:
        """Try to move a piece that is on the board: 0 accepted, 4 denied, 7 immovable.

        Raises RulePlayError: the rule cannot be played any further that way; the attempt has not
        taken place.
        """
        assert self._play is not None
        return self._play.attempt(piece_id, pos, bucket)

    def buckets(self, piece_id: int, pos: int) -> list[int]:
        """Return the buckets into which a piece on the board may go now."""
        return [] if self._play is None else self._play.buckets(piece_id, pos)


class _Engine:
    """One board of the batched engine."""

    def __init__(self, rule: CompiledRule, spec: BoardSpec) -> None:
        import numpy as np

        from gnomon.game.engine.boards_in_play import Boards

        self._spec = spec
        self._deck = np.zeros((1, 36), dtype=np.uint8)
        self._boards = boards = Boards.empty(rule, 1)
        self._step = boards.bound_step(self._deck)
        self._action, self._outcome, self._finish = boards.replies[0], boards.outcome, boards.finish

    def begin(self, board: Board) -> None:
        self._deck[0] = board.codes(self._spec)
        self._action[0] = RESET
        self._step()

    @property
    def finish(self) -> int:
        return int(self._finish[0])

    def attempt(self, piece_id: int, pos: int, bucket: int) -> int:
        self._action[0] = 4 * pos - 4 + bucket
        self._step()
        return int(self._outcome[0])

    def buckets(self, piece_id: int, pos: int) -> list[int]:
        row = self._boards.permitted()[0, 4 * pos - 4 : 4 * pos].tolist()
        return [bucket for bucket in range(N_BUCKETS) if row[bucket]]


class _Interpreter:
    """An episode of the reference interpreter."""

    def __init__(self, rule_set: RuleSet, board: Board) -> None:
        self._look(ReferenceGame(rule_set, board))

    def _look(self, game: ReferenceGame) -> None:
        self._game = game
        self.finish = game.finish
        self._legal: dict[int, list[int]] = {}
        for piece_id, bucket in game.legal_moves():
            self._legal.setdefault(piece_id, []).append(bucket)

    def attempt(self, piece_id: int, pos: int, bucket: int) -> int:
        if bucket not in self._legal.get(piece_id, ()):
            return DENIED if piece_id in self._legal else IMMOVABLE
        # A rule that cannot be played any further shows after the move; so it is made on a copy.
        game = self._game.copy()
        game.attempt(piece_id, bucket)
        self._look(game)
        return ACCEPTED

    def buckets(self, piece_id: int, pos: int) -> list[int]:
        return self._legal.get(piece_id, [])


def _engine_for(rule_set: RuleSet, source: BoardSource) -> _Engine | None:
    """Return the engine for these boards, if there is one for them."""
    if source.crowded or not source.shapes or not source.colors:
        return None
    if len(source.shapes) * len(source.colors) > 255:
        return None
    from gnomon.game.engine.compiler import compile_rule

    spec = BoardSpec(
        pieces=1, shapes=0, colors=0, shape_palette=source.shapes, color_palette=source.colors
    )
    try:
        return _Engine(compile_rule(rule_set, spec), spec)
    except NotCompilableError:
        return None
