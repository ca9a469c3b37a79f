"""Orders by method: places, ties in words, and pairs that are turned round."""

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.ranking.contest import Contest
from gnomon.ranking.ratings.method_orders import (
    MethodOrder,
    in_words,
    order_of,
    orders_by_method,
)
from gnomon.ranking.ratings.methods import METHODS
from gnomon.ranking.tournament import Tournament


def test_equal_ratings_share_a_place_but_for_rounding():
    nan = (float("nan"),) * 4
    order = MethodOrder("hodge", tuple("abcd"), (3.0, 1.0 + 1e-13, 1.0, -5.0), (), nan)
    assert order.places == (1, 2, 2, 4)
    assert in_words(order.names, order.ratings) == "a > b = c > d"
    assert in_words(order.names, order.ratings, most=2) == "a > b > ..."


def test_what_is_equal_keeps_the_order_of_the_reference():
    assert order_of(np.array([1.0, 2.0, 1.0, 2.0]), [3, 2, 1, 0]) == [3, 1, 2, 0]


@pytest.mark.parametrize("value", [7.0, -np.inf])
def test_where_nothing_differs_no_method_gives_an_order(value):
    samples = tuple(tuple(np.full(4, value) for _ in "abc") for _ in "xy")
    contest = Contest(tuple("abc"), tuple("xy"), samples)
    for order in orders_by_method(contest, Tournament.of(contest)):
        assert order.places == (1, 1, 1), order.method
        assert order.reversed_pairs == (), order.method


#: A rotation, and beside it its mirror image: everyone is first, second and third as often.
CIRCLE = [(3, 2, 1), (1, 3, 2), (2, 1, 3)]
EVEN = [*CIRCLE, (1, 2, 3), (3, 1, 2), (2, 3, 1)]


@pytest.mark.parametrize("rows", [CIRCLE, EVEN], ids=["circle", "even"])
@pytest.mark.parametrize("scale", [1.0, 0.1, 1 / 3])
def test_what_is_even_but_for_rounding_is_given_no_order(rows, scale):
    """Three that beat one another alike, or all of whom win as much as they lose."""
    samples = tuple(tuple(np.array([scale * x]) for x in row) for row in rows)
    contest = Contest(tuple("abc"), tuple(map(str, range(len(rows)))), samples)
    for order in orders_by_method(contest, Tournament.of(contest)):
        if order.method != "elo":  # the order of the games is all that it sees here
            assert order.places == (1, 1, 1), order.method
            assert order.reversed_pairs == (), order.method


def test_even_contests_of_many_are_given_no_order():
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = [rng.permutation(5).astype(float) for _ in range(3)]
        samples = tuple(tuple(np.array([x]) for x in row) for row in rows + [-r for r in rows])
        contest = Contest(tuple("abcde"), tuple("uvwxyz"), samples)
        graph = Tournament.of(contest)
        assert not graph.log_odds.any()
        methods = [name for name in METHODS if name != "elo"]
        assert all(o.places == (1,) * 5 for o in orders_by_method(contest, graph, methods))


def test_errors_stand_beside_their_names():
    rng = np.random.default_rng(0)
    samples = tuple(tuple(rng.normal(i, 1, 5) for i in range(3)) for _ in range(4))
    contest = Contest(tuple("abc"), tuple("wxyz"), samples)
    hodge, model = orders_by_method(contest, Tournament.of(contest), ["hodge", "bradley-terry"])
    assert np.isnan(hodge.errors).all()
    assert (np.array(model.errors) > 0).all()


def test_what_is_not_connected_is_refused():
    x, none = np.arange(3.0), np.empty(0)
    contest = Contest(tuple("abcd"), ("x", "y"), ((x, x, none, none), (none, none, x, x)))
    with pytest.raises(ScoreDataError, match="cannot be ordered against each other: a, b; c, d"):
        orders_by_method(contest, Tournament.of(contest))
