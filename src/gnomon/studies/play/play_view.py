"""View of a game that its player may see: the board and what came of attempts, not the rule."""

from __future__ import annotations

import math

from gnomon.experiments.scoring.mastery import attempts_to_master
from gnomon.studies.play.play_progress import PlayProgress
from gnomon.studies.play.play_records import (
    PartnerView,
    PlayView,
    RewardView,
    shown_piece,
    streak_at_end,
    told_attempt,
)
from gnomon.studies.play.play_rewards import movable_cells, reward_view


def view_of(played: PlayProgress, seat: int) -> PlayView:
    """Return all that the player of a seat may see now."""
    here, state = played.here(), played.state
    mine = played.attempts_of(seat)
    good = [attempt.accepted for attempt in mine if attempt.counts]
    moves = sum(good)
    movable = movable_cells(played.table) if played.is_fixed else None
    return PlayView(
        played.game.rule_name,
        state,
        "" if state in ("playing", "waiting") else played.end(),
        played.n_boards,
        played.n_boards_to_come(),
        played.game.horizon - len(here),
        tuple(
            shown_piece(p.place, p) | ({} if movable is None else {"movable": p.place in movable})
            for p in played.table.pieces
            if state != "waiting"
        ),
        tuple(
            shown_piece(m.piece.place, m.piece) | {"bucket": m.bucket, "order": order}
            for order, m in enumerate(played.table.memory, 1)
        ),
        tuple(
            told_attempt(each, played.cells.get(each.cell))
            | ({} if played.game.seats is None else {"mine": each.mover == seat})
            for each in here
        ),
        len(good) - moves,
        played.errors_by_board(seat)[played.episode],
        moves,
        streak_at_end(good),
        math.isfinite(attempts_to_master(good)) if good else False,
        played.may,
        _reward_view(played, seat),
        played.hint if played.turn == seat else None,
        _partner_view(played, seat),
    )


def _reward_view(played: PlayProgress, seat: int) -> RewardView | None:
    if played.game.terms.points is None and played.game.terms.incentive is None:
        return None
    board = played.rated_boards(seat)[-1]
    counted = [each for each in played.attempts if each.counts]
    own = [] if played.game.seats is None else [each.mover == seat for each in counted]
    smiles = [each.accepted for each in counted]
    return reward_view(played.game.terms, played.reward(seat), board, smiles, own)


def _partner_view(played: PlayProgress, seat: int) -> PartnerView | None:
    seats, other = played.game.seats, 1 - seat
    if seats is None:
        return None
    counted = [each for each in played.attempts if each.mover == other and each.counts]
    moves = sum(each.accepted for each in counted)
    paid = seats.play == "adversarial" and played.game.terms.points is not None
    return PartnerView(
        seats.play,
        seats.bot == other,
        seats.gone == other,
        played.state == "playing" and played.turn == seat,
        len(counted) - moves,
        moves,
        played.reward(other).total if paid else None,
    )
