"""Hints of a bot that knows the rule, and pretends to learn it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gnomon.game.board import N_BUCKETS
from gnomon.game.reference import Move, ReferenceGame
from gnomon.studies.plan.series_plan import BotAssist


@dataclass(frozen=True, slots=True)
class Hint:
    """A move that the bot suggests.

    ``confidence`` is how sure it says to be, in percent, rounded down; None if it keeps that to
    itself.
    """

    cell: int
    bucket: int
    confidence: int | None


def error_rate(plan: BotAssist, n_attempts: int) -> float:
    """Return Q, the chance of a bad hint after so many attempts of a series: it halves in time.

    Examples
    --------
    >>> [error_rate(BotAssist(halftime=8, error_rate=0.75), n) for n in (0, 8, 16)]
    [0.75, 0.375, 0.1875]
    """
    if not plan.halftime:
        return 0.0
    return plan.error_rate * math.exp2(-n_attempts / plan.halftime)


def hint_for(
    table: ReferenceGame,
    plan: BotAssist,
    n_attempts: int,
    *,
    only_movable: bool,
    rng: np.random.Generator,
) -> Hint | None:
    """Return the hint for a board after so many attempts of the series; None if none can be given.

    With chance 1 - Q, or if no move is bad, it is a piece that can be moved, each equally likely,
    and a bucket that it may go to; else a piece with a forbidden bucket, and one of these.
    ``only_movable`` leaves out pieces that cannot be moved at all, which fixed feedback marks.

    References
    ----------
    The reference game server's assistance by a ``pseudo`` bot, as since version 8.025.
    """
    good = table.legal_moves()
    movable = {piece for piece, _ in good}
    tried = [p.id for p in table.pieces if p.id in movable or not only_movable]
    allowed = set(good)
    bad = [(p, b) for p in tried for b in range(N_BUCKETS) if (p, b) not in allowed]
    rate = error_rate(plan, n_attempts)
    is_bad = bool(rng.random() < rate) and bool(bad)
    moves = bad if is_bad else good
    if not moves:
        return None
    piece, bucket = _drawn(moves, rng)
    cell = next(p.place for p in table.pieces if p.id == piece)
    confidence = math.floor(100 * max(0.0, 1 - rate)) if plan.confidence else None
    return Hint(cell, bucket, confidence)


def _drawn(moves: list[Move], rng: np.random.Generator) -> Move:
    """Draw a piece, each equally likely, and then one of its buckets."""
    piece = int(rng.choice(sorted({piece for piece, _ in moves})))
    return piece, int(rng.choice([bucket for each, bucket in moves if each == piece]))
