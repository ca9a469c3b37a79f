"""Sensitivity of an order: to the rating method, and to the pool of competitors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking.contest import By, Contest, contest_of
from gnomon.ranking.kemeny.kemeny_order import MOST
from gnomon.ranking.ratings.game_theory import alpha_rank
from gnomon.ranking.ratings.methods import METHODS, method_named
from gnomon.ranking.tournament import Tournament, require_connection
from gnomon.results import FieldRecord, Results, Row, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable

#: Ratings of which the largest is less are rounding, whatever their unit: log-odds, shares, places.
LARGEST_AT_LEAST = 1e-3


@dataclass(frozen=True)
class MethodOrder:
    """The order by one method, and the pairs that it reverses.

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

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3.0], [4.0]], "b": [[1.0], [2.0]]})
    >>> found = orders_by_method(scores).orders[0]
    >>> found.method, found.names
    ('hodge', ('a', 'b'))
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


@dataclass(frozen=True)
class MethodRating(FieldRecord):
    """Place and rating of one contestant by one method.

    Parameters
    ----------
    method : str
    place : int
        One more than the number that are rated better.
    name : str
    rating, standard_error : float
        The error by the method's own model; NaN where it has none.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3.0], [4.0]], "b": [[1.0], [2.0]]})
    >>> found = orders_by_method(scores)[0]
    >>> found.method, found.place, found.name
    ('hodge', 1, 'a')
    """

    method: str
    place: int
    name: str
    rating: float
    standard_error: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MethodOrders(Results[MethodRating]):
    """Places by each method, method by method, the best first; people see an order a row.

    Parameters
    ----------
    orders : tuple of MethodOrder
        The same, and the pairs that each has the other way round than the first.
    sweep : str
        How far alpha-Rank's selection was made stronger, and whether it settled; empty if it was
        not asked.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3.0], [4.0]], "b": [[1.0], [2.0]]})
    >>> found = orders_by_method(scores)
    >>> {order.names for order in found.orders}
    {('a', 'b')}
    """

    orders: tuple[MethodOrder, ...]
    sweep: str

    title = "order by method"

    @property
    def notes(self) -> tuple[str, ...]:
        """When to use which method, and when not."""
        hints = [METHODS[order.method] for order in self.orders]
        words = [f"{how.name}: {how.use}; not {how.avoid}" for how in hints]
        return (*([f"alpha-rank: {self.sweep}"] if self.sweep else []), *words)

    def rows(self) -> list[Row]:
        """Return a row for each method."""
        return [
            {
                "method": order.method,
                "order": in_words(order.names, order.ratings),
                "reversed pairs": len(order.reversed_pairs),
            }
            for order in self.orders
        ]


def orders_by_method(
    scores: ScoreTable | Contest,
    methods: Sequence[str] = tuple(METHODS),
    *,
    by: By = "algorithm",
) -> MethodOrders:
    """Rate by several methods, each order compared with that of the first.

    Parameters
    ----------
    scores : ScoreTable or Contest
    methods : sequence of str
        Names in :data:`gnomon.ranking.METHODS`; Kemeny's is left out for more than 40 contestants.
    by : str
        ``algorithm``, or ``task`` for orders of difficulty.

    Returns
    -------
    MethodOrders
        A sequence of :class:`MethodRating`; the orders are in its ``orders``.

    Raises
    ------
    ScoreDataError
        Not everybody is connected by common grounds.

    Warns
    -----
    DegenerateScoresWarning
        Kemeny's order was not asked for, or is not proven to be the best.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[3.0], [4.0]], "b": [[1.0], [2.0]]})
    >>> found = orders_by_method(table, ["hodge", "borda"])
    >>> [(one.method, one.place, one.name) for one in found]
    [('hodge', 1, 'a'), ('hodge', 2, 'b'), ('borda', 1, 'a'), ('borda', 2, 'b')]
    """
    with recorded() as warned:
        contest = contest_of(scores, by)
        tournament = Tournament.of(contest)
        orders = orders_of(contest, tournament, methods)
        for method in sorted({*methods} - {order.method for order in orders}):
            n = len(contest.names)
            text = f"{method}: not asked of {n} competitors, more than {MOST}"
            warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
    records = tuple(
        MethodRating(order.method, *row)
        for order in orders
        for row in zip(order.places, order.names, order.ratings, order.errors, strict=True)
    )
    swept = "alpha-rank" in methods
    sweep = alpha_rank(tournament.probability).sweep_in_words() if swept else ""
    settings = made_by(None, by=contest.by, methods=tuple(methods))
    return MethodOrders(records, settings, tuple(warned), orders=tuple(orders), sweep=sweep)


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


def orders_of(
    contest: Contest,
    tournament: Tournament,
    methods: Sequence[str] = tuple(METHODS),
) -> list[MethodOrder]:
    """Return the orders of a contest, of which the tournament is given, by several methods.

    As :func:`orders_by_method`, without a word where Kemeny's is left out.
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


#: What methods that rate a graph alone are given in the place of its contest.
NOBODY = Contest((), (), ())


@dataclass(frozen=True)
class PoolEffect:
    """The pairs of others that change order if one contestant leaves the pool.

    Parameters
    ----------
    left_out : str
    method : str
    reversed_pairs : tuple of (str, str)
        Pairs of others that are rated one way before, and the other way after.

    Examples
    --------
    >>> PoolEffect("c", "borda", (("a", "b"),)).left_out
    'c'
    """

    left_out: str
    method: str
    reversed_pairs: tuple[tuple[str, str], ...]


def pool_effects(
    tournament: Tournament,
    methods: Sequence[str] = ("hodge", "borda"),
    *,
    leavers: Sequence[str] | None = None,
) -> list[PoolEffect]:
    """Return who changes places when a contestant leaves the pool, for each and each method.

    Parameters
    ----------
    tournament : Tournament
        Its edges do not depend on who else is there.
    methods : sequence of str
        Of those that look at the tournament graph alone.
    leavers : sequence of str, optional
        Who leaves, one at a time; by default everyone. One without whom the others fall into
        groups that cannot be ordered is left out.

    Examples
    --------
    >>> graph = Tournament.from_log_odds("abc", [[0, 1, 9], [-1, 0, 9], [-9, -9, 0]])
    >>> [effect.reversed_pairs for effect in pool_effects(graph, ["hodge"])]
    [(), (), ()]
    """
    if len(tournament.names) < 3:
        return []
    rules = [method_named(name) for name in methods]
    if not all(rule.pooled for rule in rules):
        raise ValueError(f"expected methods that rate a graph alone, found {', '.join(methods)}")
    before = [rule.rate(tournament, NOBODY) for rule in rules]
    found = []
    for name in tournament.names if leavers is None else leavers:
        at = tournament.names.index(name)
        others = tournament.without(name)
        if len(others.components) > 1:
            continue
        for rule, ratings in zip(rules, before, strict=True):
            old, new = rounded(np.delete(ratings, at)), rounded(rule.rate(others, NOBODY))
            pairs = reversed_pairs(others.names, order_of(old), old, new)
            found.append(PoolEffect(name, rule.name, pairs))
    return found
