"""Points of a board that a person plays, and how a board ends."""

from __future__ import annotations

import math
from typing import Literal

from gohr.people.series_plan import PointsPlan

#: How a board ended; empty while it is in progress.
BoardEnd = Literal["", "cleared", "stalemate", "cut off", "given up", "mastered"]

_PAID = ("cleared", "stalemate", "mastered")


def points_of(plan: PointsPlan, errors: float) -> int:
    """Return the points of a finished board, a half rounded up.

    ``errors`` is the cost beyond the accepted moves: 1 for an error, its cost for a pick.

    Examples
    --------
    >>> [points_of(PointsPlan(), errors) for errors in (0, 1, 2, 3, 5, float("inf"))]
    [10, 9, 6, 3, 2, 2]
    """
    bent = min(plan.slope * (errors - 2), 700.0)
    return math.floor(plan.least + (plan.most - plan.least) / (1 + math.exp(bent)) + 0.5)


def earned(plan: PointsPlan | None, end: BoardEnd, errors: float) -> int:
    """Return what a board earned; a stalemate counts as a cleared board, no other end is paid.

    Examples
    --------
    >>> earned(PointsPlan(), "cleared", 1), earned(PointsPlan(), "given up", 1)
    (9, 0)
    """
    return 0 if plan is None or end not in _PAID else points_of(plan, errors)
