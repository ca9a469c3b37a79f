"""View of a game that its player may see: the board and what came of attempts, not the rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gohr.people.mastery import attempts_to_master
from gohr.people.play_records import PlayView, PointsView, shown_piece, streak_at_end, told_attempt
from gohr.people.rewards import points_of

if TYPE_CHECKING:
    from gohr.people.play_session import PlaySession


def view_of(played: PlaySession) -> PlayView:
    """Return all that the player may see now."""
    here, state = played.here(), played.state
    good = [attempt.accepted for attempt in played.attempts if attempt.counts]
    moves = sum(good)
    movable = played.movable_cells() if played.is_fixed else None
    return PlayView(
        played.game.rule_name,
        state,
        "" if state == "playing" else played.end(),
        played.n_boards,
        played.game.episodes,
        played.game.horizon - len(here),
        tuple(
            shown_piece(p.pos, p) | ({} if movable is None else {"movable": p.pos in movable})
            for p in played.table.pieces
        ),
        tuple(
            shown_piece(m.piece.pos, m.piece) | {"bucket": m.bucket, "order": order}
            for order, m in enumerate(played.table.memory, 1)
        ),
        tuple(told_attempt(each, played.cells.get(each.cell)) for each in here),
        len(good) - moves,
        played.errors_by_board()[played.episode],
        moves,
        streak_at_end(good),
        _found(good) and played.game.terms.mastery is None,
        played.may,
        _points_view(played),
    )


def _found(good: list[bool]) -> bool:
    """Tell whether there were ten successes in a row."""
    return bool(good) and math.isfinite(attempts_to_master(good))


def _points_view(played: PlaySession) -> PointsView | None:
    plan = played.game.terms.points
    if plan is None:
        return None
    cost = played.costs_by_board()[played.episode]
    total = sum(played.points_by_board())
    return PointsView(total, points_of(plan, math.inf), points_of(plan, cost))
