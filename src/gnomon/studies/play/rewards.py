"""Points, multipliers and bonuses of a series that a person plays, from its attempts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.studies.plan.series_plan import (
    Bonus,
    Doubling,
    Likelihood,
    Mastery,
    PointsPlan,
    SeriesTerms,
)

#: How a board ended; empty while it goes on.
BoardEnd = Literal[
    "", "cleared", "stalemate", "cut off", "given up", "mastered", "lost", "left by partner"
]

#: Ends that are paid; a stalemate counts as a cleared board.
_PAID = ("cleared", "stalemate", "mastered", "left by partner")


@dataclass(frozen=True, slots=True)
class RatedAttempt:
    """An attempt as far as rewards are concerned.

    ``accepted``: of a pick, whether the piece could be moved. ``ratio``: by how much the success
    speaks for one who knows the rule, against one who tries at random; 1 where it is not needed.
    ``mover``: the seat of who made it, of two at a board.
    """

    accepted: bool
    is_pick: bool = False
    ratio: float = 1.0
    mover: int = 0

    @property
    def counts(self) -> bool:
        """Whether it is a success or an error; an accepted pick is neither."""
        return not (self.is_pick and self.accepted)


@dataclass(frozen=True, slots=True)
class PlayedBoard:
    """A board of a series, with its number of pieces before the first move.

    ``share`` of its points are earned: all, or an adversary's part of the pieces removed.
    """

    n_pieces: int
    attempts: tuple[RatedAttempt, ...] = ()
    end: BoardEnd = ""
    is_bonus: bool = False
    share: float = 1.0

    @property
    def n_moved(self) -> int:
        """Accepted moves."""
        return sum(each.accepted and not each.is_pick for each in self.attempts)

    def cost(self, pick_cost: float) -> float:
        """Return what was spent: a move costs 1."""
        return sum(pick_cost if each.is_pick else 1.0 for each in self.attempts)

    def errors(self, pick_cost: float) -> float:
        """Return the cost beyond the accepted moves."""
        return self.cost(pick_cost) - self.n_moved


@dataclass(frozen=True, slots=True)
class SeriesReward:
    """What a series has earned so far.

    Parameters
    ----------
    board_points : tuple of int
        Of each board, 0 for one that is going on.
    extra : int
        Points of a bonus that was won.
    streak : int
    ratio : float
        Product of the ratios of the streak.
    factor, promised : {1, 2, 4}
        By which the points count, and will count if this board is finished.
    mastered : bool
        Whether the series ends for mastery.
    bonus_over : bool
        Whether the bonus was won or lost.
    """

    board_points: tuple[int, ...]
    extra: int
    streak: int
    ratio: float
    factor: int
    promised: int
    mastered: bool
    bonus_over: bool

    @property
    def total(self) -> int:
        """The points of the series, multiplied."""
        return self.factor * (sum(self.board_points) + self.extra)


def points_of(plan: PointsPlan, errors: float) -> int:
    """Return the points of a board with so many errors, a half rounded up.

    Examples
    --------
    >>> [points_of(PointsPlan(), errors) for errors in (0, 1, 2, 3, 5, float("inf"))]
    [10, 9, 6, 3, 2, 2]
    """
    return math.floor(exact_points(plan, errors) + 0.5)


def exact_points(plan: PointsPlan, errors: float) -> float:
    """Return the points of a board before they are rounded."""
    bent = min(plan.slope * (errors - 2), 700.0)
    return plan.least + (plan.most - plan.least) / (1 + math.exp(bent))


def streaks(attempts: Sequence[RatedAttempt]) -> list[tuple[int, float]]:
    """Return streak and product of ratios after each attempt that counts.

    Examples
    --------
    >>> outcomes = [RatedAttempt(accepted=x == "S", ratio=4.0) for x in "FSFFSSS"]
    >>> streaks(outcomes)[-1]
    (3, 64.0)
    """
    found, streak, ratio = [], 0, 1.0
    for each in attempts:
        if not each.counts:
            continue
        streak, ratio = (streak + 1, ratio * each.ratio) if each.accepted else (0, 1.0)
        found.append((streak, ratio))
    return found


def factor_reached(terms: SeriesTerms, streak: int, ratio: float) -> int:
    """Return the factor that a streak reaches: 4 ends the series, also where nothing is paid."""
    match terms.incentive:
        case Doubling(x2=x2, x4=x4):
            return 4 if streak >= x4 else 2 if streak >= x2 else 1
        case Likelihood(x2=x2, x4=x4):
            return 4 if ratio >= x4 else 2 if ratio >= x2 else 1
        case Mastery(streak=wanted, ratio=least):
            long = wanted is not None and streak >= wanted
            return 4 if long or (least is not None and streak and ratio >= least) else 1
    return 1


def budget_left(terms: SeriesTerms, board: PlayedBoard) -> float:
    """Return how much may still be spent on a bonus board.

    Whole attempts, unless a pick costs a fraction of one.
    """
    assert isinstance(terms.incentive, Bonus)
    cost = terms.pick_cost or 0.0
    left = board.n_pieces * terms.incentive.threshold - board.cost(cost)
    return left if cost % 1 else float(math.trunc(left))


def is_lost(terms: SeriesTerms, board: PlayedBoard) -> bool:
    """Tell whether a bonus board with pieces left can no longer be cleared on its budget."""
    remains = board.n_moved < board.n_pieces
    return board.is_bonus and remains and budget_left(terms, board) < 1


def reward_of(terms: SeriesTerms, boards: Sequence[PlayedBoard]) -> SeriesReward:
    """Return what the boards of a series have earned.

    A streak goes on across boards. That it was long enough is a promise, which a board keeps that
    is finished, and loses that is given up; mastery needs no such promise, since it ends the board.
    """
    streak, ratio, factor, promised = 0, 1.0, 1, 1
    for board in boards:
        promised = factor
        reached = _after(board, streak, ratio)
        promised = max([promised, *(factor_reached(terms, *each) for each in reached)])
        streak, ratio = reached[-1] if reached else (streak, ratio)
        factor = promised if board.end in _PAID else factor
    paid = not isinstance(terms.incentive, Mastery)
    won, over = _bonus(terms, boards)
    return SeriesReward(
        tuple(_board_points(terms, board) for board in boards),
        won,
        streak,
        ratio,
        factor if paid else 1,
        promised if paid else 1,
        promised == 4,
        over,
    )


def _after(board: PlayedBoard, streak: int, ratio: float) -> list[tuple[int, float]]:
    """Return streak and product after each attempt of a board, which inherits both."""
    before = [RatedAttempt(accepted=True)] * (streak - 1)
    before += [RatedAttempt(accepted=True, ratio=ratio)] * (streak > 0)
    return streaks([*before, *board.attempts])[streak:]


def _board_points(terms: SeriesTerms, board: PlayedBoard) -> int:
    if terms.points is None or board.end not in _PAID:
        return 0
    errors = board.errors(terms.pick_cost or 0.0)
    return math.floor(exact_points(terms.points, errors) * board.share + 0.5)


def _bonus(terms: SeriesTerms, boards: Sequence[PlayedBoard]) -> tuple[int, bool]:
    """Return the points of a bonus, and whether it is over."""
    if not isinstance(terms.incentive, Bonus):
        return 0, False
    done = [board for board in boards if board.is_bonus and board.end]
    good = [each.end in _PAID and budget_left(terms, each) >= 0 for each in done]
    if len(good) >= terms.incentive.boards and all(good):
        return terms.incentive.points, True
    return 0, not all(good)
