"""Rewards of a game in play: its boards as rewards see them, and what its player is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gnomon.game.board import N_BUCKETS
from gnomon.game.reference import ReferenceGame
from gnomon.studies.plan.series_plan import Likelihood, SeriesTerms
from gnomon.studies.play.play_records import END_WORDS, Attempt, RewardView
from gnomon.studies.play.rewards import (
    BoardEnd,
    PlayedBoard,
    RatedAttempt,
    SeriesReward,
    budget_left,
    points_of,
)
from gnomon.studies.play.turns import Seats


def movable_cells(table: ReferenceGame) -> set[int]:
    """Return the places of the pieces that can be moved now."""
    cells = {piece.id: piece.place for piece in table.pieces}
    return {cells[piece] for piece, _ in table.legal_moves()}


def success_ratio(table: ReferenceGame, cell: int, *, only_movable: bool) -> float:
    """Return r, by how much a success with the piece of a cell speaks for one who knows the rule.

    Pieces that one may try over those that can be moved, times four over the buckets that this
    piece may go to; 0 for a piece that cannot be moved.
    """
    legal = table.legal_moves()
    ids = [piece.id for piece in table.pieces if piece.place == cell]
    n_buckets = sum(piece in ids for piece, _ in legal)
    if not n_buckets:
        return 0.0
    n_movable = len({piece for piece, _ in legal})
    n_tried = n_movable if only_movable else len(table.pieces)
    return n_tried / n_movable * N_BUCKETS / n_buckets


def rated_boards(
    sizes: Sequence[int],
    starts: Sequence[int],
    attempts: Sequence[Attempt],
    ratios: Sequence[float],
    bonus_from: int | None,
) -> list[PlayedBoard]:
    """Return the boards of a game as rewards see them, the last one as if it went on.

    ``sizes`` are the numbers of pieces of the boards that were dealt, ``starts`` how each stood
    before its first attempt, and ``ratios`` those of the attempts.
    """
    rated: list[list[RatedAttempt]] = [[] for _ in sizes]
    ends: list[BoardEnd] = [END_WORDS[start] for start in starts]
    for attempt, ratio in zip(attempts, ratios, strict=True):
        rated[attempt.episode].append(
            RatedAttempt(attempt.accepted, attempt.bucket is None, ratio, attempt.mover)
        )
        ends[attempt.episode] = END_WORDS[attempt.finish]
    ends[-1] = ""
    first = len(sizes) if bonus_from is None else bonus_from
    together = enumerate(zip(sizes, rated, ends, strict=True))
    return [
        PlayedBoard(size, tuple(made), end, episode >= first)
        for episode, (size, made, end) in together
    ]


def own_shares(boards: Sequence[PlayedBoard], seats: Seats | None, seat: int) -> list[PlayedBoard]:
    """Return boards as one of two is rewarded: an adversary for own attempts and own pieces."""
    if seats is None or seats.play == "cooperative":
        return list(boards)
    return [_own_share(board, seat) for board in boards]


def _own_share(board: PlayedBoard, seat: int) -> PlayedBoard:
    own = replace(board, attempts=tuple(each for each in board.attempts if each.mover == seat))
    return replace(own, share=own.n_moved / max(1, board.n_moved))


def reward_view(
    terms: SeriesTerms,
    reward: SeriesReward,
    board: PlayedBoard,
    smiles: Sequence[bool],
    own: Sequence[bool],
) -> RewardView:
    """Return what a player sees of a reward on a board."""
    least = most = None
    if terms.points is not None:
        least = points_of(terms.points, math.inf)
        most = points_of(terms.points, board.errors(terms.pick_cost or 0.0))
    return RewardView(
        None if terms.points is None else reward.total,
        reward.factor,
        reward.promised,
        reward.streak,
        reward.ratio if isinstance(terms.incentive, Likelihood) else None,
        least,
        most,
        budget_left(terms, board) if board.is_bonus else None,
        tuple(smiles),
        tuple(own),
    )
