"""The referee of a served game: it judges each attempt under the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import NotCompilableError
from gnomon.game.board import N_BUCKETS, Board, BoardSpec
from gnomon.game.formats.board_source import BoardSource
from gnomon.game.outcomes import ACCEPTED, DENIED, IMMOVABLE, RESET
from gnomon.game.reference import ReferenceGame
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gnomon.game.engine.compiler import CompiledRule

__all__ = ["Referee"]


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
