"""Does the order depend on the method? What each of them says, compared with the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gnomon.ranking.connection import require_connection
from gnomon.ranking.contest import Contest
from gnomon.ranking.kemeny.order import MOST
from gnomon.ranking.ratings.methods import METHODS, method_named
from gnomon.ranking.tournament import Tournament
from gnomon.scores.table import FloatArray

__all__ = ["MethodOrder", "in_words", "order_of", "orders_by_method", "reversed_pairs", "rounded"]

#: Ratings of which the largest is less are rounding, whatever their unit: log-odds, shares, places.
LARGEST_AT_LEAST = 1e-3


@dataclass(frozen=True)
class MethodOrder:
    """What one method says.

    Parameters
    ----------
    method : str
    names : tuple of str
        Best first; contestants with equal ratings in the order of the reference method.
    ratings : tuple of float
        In the same order.
    reversed_pairs : tuple of (str, str)
        Pairs in the order of the reference method that this one has the other way round.
    errors : tuple of float
        Standard errors of the ratings by the method's own model; NaN where it has none.
    """

    method: str
    names: tuple[str, ...]
    ratings: tuple[float, ...]
    reversed_pairs: tuple[tuple[str, str], ...]
    errors: tuple[float, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """One more than the number that are rated better, for each of the names."""
        places = [1]
        for i, (one, other) in enumerate(pairwise(rounded(np.array(self.ratings))), 1):
            places.append(places[-1] if one == other else i + 1)
        return tuple(places)


def in_words(names: Sequence[str], ratings: Sequence[float], most: int = 20) -> str:
    """Return an order in one line, with ``=`` between those that are rated equal.

    Parameters
    ----------
    names, ratings
        Best first.
    most : int
        How many are named.

    Examples
    --------
    >>> in_words(["dqn", "iqn", "uniform"], [2.0, 2.0, 1.0])
    'dqn = iqn > uniform'
    """
    shown = rounded(np.array(ratings))
    words = list(names[:1])
    for i, name in enumerate(names[1:most], 1):
        words += ["=" if shown[i] == shown[i - 1] else ">", name]
    return " ".join([*words, "> ..."] if len(names) > most else words)


def rounded(ratings: FloatArray) -> FloatArray:
    """Return ratings in units of the largest, those that differ by rounding alone being equal.

    Ratings that all are 0 but for rounding, as those of a pure circle of wins, are all equal.

    Examples
    --------
    >>> rounded(np.array([2.0, 1.0, 1.0 + 1e-15, 1e-120])).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    scale = max(float(np.nanmax(np.abs(ratings), initial=0.0)), LARGEST_AT_LEAST)
    return np.asarray(np.round(ratings / scale, 9))


def order_of(ratings: FloatArray, reference: Sequence[int] | None = None) -> list[int]:
    """Return numbers from the best to the worst rating; what is equal keeps the reference's order.

    Ratings that differ by less than rounding are equal.
    """
    before = list(range(len(ratings))) if reference is None else list(reference)
    keys = -rounded(ratings)
    return sorted(before, key=lambda i: keys[i])


def orders_by_method(
    contest: Contest,
    tournament: Tournament,
    methods: Sequence[str] = tuple(METHODS),
) -> list[MethodOrder]:
    """Rate by several methods, each compared with the first.

    Parameters
    ----------
    contest : Contest
    tournament : Tournament
        Of that contest.
    methods : sequence of str
        Names in :data:`METHODS`; Kemeny's is left out for more than 40 contestants.

    Raises
    ------
    ScoreDataError
        Not everybody is connected by common grounds.

    Examples
    --------
    >>> samples = ((np.array([3.0, 4.0]), np.array([1.0, 2.0])),)
    >>> contest = Contest(("a", "b"), ("clockwise",), samples)
    >>> found = orders_by_method(contest, Tournament.of(contest))
    >>> {order.names for order in found}
    {('a', 'b')}
    """
    require_connection(tournament, "several methods")
    names = contest.names
    reference: tuple[list[int], FloatArray] | None = None
    found = []
    for method in methods:
        if method == "kemeny" and len(names) > MOST:
            continue
        how = method_named(method)
        ratings = how.rate(tournament, contest)
        errors = how.errors(tournament, contest) if how.errors else np.full(len(names), np.nan)
        order = order_of(ratings, reference[0] if reference else None)
        reference = reference or (order, rounded(ratings))
        found.append(
            MethodOrder(
                method,
                tuple(names[i] for i in order),
                tuple(float(ratings[i]) for i in order),
                reversed_pairs(names, *reference, rounded(ratings)),
                tuple(float(errors[i]) for i in order),
            )
        )
    return found


def reversed_pairs(
    names: Sequence[str], order: Sequence[int], before: FloatArray, after: FloatArray
) -> tuple[tuple[str, str], ...]:
    """Return the pairs that are rated strictly one way before, and strictly the other way after.

    Parameters
    ----------
    names : sequence of str
    order : sequence of int
        In which pairs are listed, and named: that of the ratings before.
    before, after : ndarray of float, shape (n,)
        Ratings as :func:`rounded` returns them.

    Examples
    --------
    >>> reversed_pairs("abc", [0, 1, 2], np.array([1.0, 0.5, 0.5]), np.array([0.0, 1.0, 0.5]))
    (('a', 'b'), ('a', 'c'))
    """
    at = np.asarray(order)
    turned = (before[at][:, None] > before[at]) & (after[at][:, None] < after[at])
    return tuple((names[order[i]], names[order[j]]) for i, j in np.argwhere(turned).tolist())
