"""What a player who knows nothing could expect at each attempt of a board that a person played.

The board is played again under its rule, by the interpreter, which shares no code with the engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.errors import ScoreDataError
from gnomon.experiments.series.transcript_files import RecordedAttempt
from gnomon.game.board import N_BUCKETS, Board, Piece
from gnomon.game.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gnomon.game.reference import ReferenceGame
from gnomon.rules.syntax import RuleSet

#: A player who knows nothing: one who may try everything, or who repeats no known failure.
NaivePlayer = Literal["random", "mcp1"]
_REJECTED = (DENIED, IMMOVABLE)


@dataclass(frozen=True, slots=True)
class AttemptChances:
    """Chances of a success at one attempt.

    Parameters
    ----------
    random, mcp1 : (float, float)
        Of the player who tries anything, and of the one who leaves out what is known to fail since
        the last removal: p0, the chance that this attempt succeeds, and mu, the attempts to be
        expected until a piece is removed (infinite if none can be).
    likelihood_ratio : float
        r, by how much the attempt speaks for one who knows: pieces that one may try over those that
        can be moved, times four over the buckets that this piece may go to; 0 of a piece that
        cannot be moved, 1 of an accepted pick.

    Examples
    --------
    >>> AttemptChances((0.25, 4.0), (0.25, 3.5), 4.0).of("mcp1")
    (0.25, 3.5)
    """

    random: tuple[float, float]
    mcp1: tuple[float, float]
    likelihood_ratio: float

    def of(self, player: NaivePlayer) -> tuple[float, float]:
        """Return p0 and mu of one of the two players."""
        return self.random if player == "random" else self.mcp1


class _KnownFailures:
    """What has failed since the last removal: attempts, and pieces of which none is left to try."""

    def __init__(self) -> None:
        self._denied: dict[int, set[int]] = {}

    def add(self, piece: int, bucket: int | None) -> None:
        """Note a denied move, or a failed pick, which speaks for all four buckets."""
        buckets = range(N_BUCKETS) if bucket is None else (bucket,)
        self._denied.setdefault(piece, set()).update(buckets)

    @property
    def n_attempts(self) -> int:
        """F, of 4 times the pieces."""
        return sum(map(len, self._denied.values()))

    @property
    def n_pieces(self) -> int:
        """f, of the pieces."""
        return sum(len(denied) == N_BUCKETS for denied in self._denied.values())


def attempt_chances(
    rule_set: RuleSet,
    pieces: Sequence[Piece],
    attempts: Sequence[RecordedAttempt],
    *,
    only_movable: bool = False,
) -> list[AttemptChances]:
    """Return the chances at each attempt of an episode, accepted picks included.

    Parameters
    ----------
    rule_set : RuleSet
    pieces : sequence of Piece
        The board as it was dealt.
    attempts : sequence of RecordedAttempt
    only_movable : bool
        Whether the page let nobody try what cannot be moved (feedback ``fixed``).

    Raises
    ------
    ScoreDataError
        An attempt names no piece of the board, or the rule replies otherwise than the file says.

    Examples
    --------
    >>> from gnomon.rules import parse
    >>> attempt = RecordedAttempt("p", "e", 0, "", 0, 0, 8, 2, 0, "a.csv, row 2", {})
    >>> board = [Piece(0, 8, "STAR", "RED"), Piece(1, 9, "STAR", "BLUE")]
    >>> attempt_chances(parse("(*,*,*,*,[0,2])"), board, [attempt])[0].random
    (0.5, 2.0)
    """
    return list(_replayed(rule_set, pieces, attempts, only_movable))


def _replayed(
    rule_set: RuleSet,
    pieces: Sequence[Piece],
    attempts: Sequence[RecordedAttempt],
    only_movable: bool,
) -> Iterator[AttemptChances]:
    game, known = ReferenceGame(rule_set, Board(tuple(pieces))), _KnownFailures()
    for attempt in attempts:
        piece = _piece_of(game, attempt)
        yield _chances(game, known, attempt, piece, only_movable)
        bucket = attempt.bucket
        code = game.pick(piece) if bucket is None else game.attempt(piece, bucket)
        # Before 5.007 an immovable piece was recorded as denied.
        if code != attempt.code and not {code, attempt.code} <= {*_REJECTED}:
            raise ScoreDataError(
                f"{attempt.where}: the rule replies {code} to this attempt, found {attempt.code}"
            )
        if code != ACCEPTED:
            known.add(piece, bucket)
        elif attempt.removed:
            known = _KnownFailures()


def _piece_of(game: ReferenceGame, attempt: RecordedAttempt) -> int:
    """Return the piece that an attempt names: by its number, if it lies where it should."""
    here = [piece.id for piece in game.pieces if piece.pos == attempt.cell]
    if attempt.piece in here:
        return attempt.piece
    if len(here) != 1:
        raise ScoreDataError(
            f"{attempt.where}: expected one piece in the cell at row "
            f"{(attempt.cell - 1) // 6 + 1}, column {(attempt.cell - 1) % 6 + 1}, found {len(here)}"
        )
    return here[0]


def _chances(
    game: ReferenceGame,
    known: _KnownFailures,
    attempt: RecordedAttempt,
    piece: int,
    only_movable: bool,
) -> AttemptChances:
    legal = game.legal_moves()
    movable = {mover for mover, _ in legal}
    n_pieces = len(movable) if only_movable else len(game.pieces)
    n_possible, n_permitted = N_BUCKETS * n_pieces, len(legal)
    n_destinations = sum(mover == piece for mover, _ in legal)
    ratio = n_pieces / len(movable) * N_BUCKETS / n_destinations if n_destinations else 0.0
    if attempt.is_accepted_pick:
        ratio = 1.0
        # All pieces, even where the page lets only those be tried that can be moved.
        random_p0 = _ratio(len(movable), len(game.pieces))
        mcp1_p0 = _ratio(len(movable), len(game.pieces) - known.n_pieces)
    else:
        random_p0 = _ratio(n_permitted, n_possible)
        mcp1_p0 = _ratio(n_permitted, n_possible - known.n_attempts)
    return AttemptChances(
        (random_p0, _ratio(n_possible, n_permitted, none=math.inf)),
        (mcp1_p0, (n_possible - known.n_attempts + 1) / (n_permitted + 1)),
        ratio,
    )


def _ratio(a: int, b: int, none: float = 0.0) -> float:
    return a / b if b > 0 else none
