"""Orders by method: places, ties in words, and pairs that are turned round.

Who leaves, and who changes places then.
"""

import numpy as np
import pytest
from hypothesis import given

from gnomon.errors import ScoreDataError
from gnomon.ranking import METHODS, Contest, MethodOrder, Tournament, orders_by_method, pool_effects
from gnomon.ranking.ratings.method_orders import in_words, order_of
from strategies_ranking import contests


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
    for order in orders_by_method(contest).orders:
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
    for order in orders_by_method(contest).orders:
        if order.method != "elo":  # the order of the games is all that it sees here
            assert order.places == (1, 1, 1), order.method
            assert order.reversed_pairs == (), order.method


def test_even_contests_of_many_are_given_no_order():
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = [rng.permutation(5).astype(float) for _ in range(3)]
        samples = tuple(tuple(np.array([x]) for x in row) for row in rows + [-r for r in rows])
        contest = Contest(tuple("abcde"), tuple("uvwxyz"), samples)
        assert not Tournament.of(contest).log_odds.any()
        methods = [name for name in METHODS if name != "elo"]
        assert all(o.places == (1,) * 5 for o in orders_by_method(contest, methods).orders)


def test_errors_stand_beside_their_names():
    rng = np.random.default_rng(0)
    samples = tuple(tuple(rng.normal(i, 1, 5) for i in range(3)) for _ in range(4))
    contest = Contest(tuple("abc"), tuple("wxyz"), samples)
    hodge, model = orders_by_method(contest, ["hodge", "bradley-terry"]).orders
    assert np.isnan(hodge.errors).all()
    assert (np.array(model.errors) > 0).all()


def test_what_is_not_connected_is_refused():
    x, none = np.arange(3.0), np.empty(0)
    contest = Contest(tuple("abcd"), ("x", "y"), ((x, x, none, none), (none, none, x, x)))
    with pytest.raises(ScoreDataError, match="cannot be ordered against each other: a, b; c, d"):
        orders_by_method(contest)


def left(contest, name):
    """The slow twin of leaving: the runs of the others alone."""
    kept = [i for i, other in enumerate(contest.names) if other != name]
    samples = tuple(tuple(row[i] for i in kept) for row in contest.samples)
    return Contest(tuple(contest.names[i] for i in kept), contest.grounds, samples)


@given(contests(missing=False, min_names=3))
def test_the_others_stand_as_if_the_leaver_had_never_been_there(contest):
    graph = Tournament.of(contest)
    (before,) = orders_by_method(contest, ["borda"]).orders
    for effect in pool_effects(graph, ["borda"]):
        others = left(contest, effect.left_out)
        (after,) = orders_by_method(others, ["borda"]).orders
        rating = dict(zip(after.names, after.ratings, strict=True))
        old = dict(zip(before.names, before.ratings, strict=True))
        turned = {
            (a, b)
            for a in rating
            for b in rating
            if old[a] > old[b] + 1e-9 and rating[a] < rating[b] - 1e-9
        }
        assert turned == {*effect.reversed_pairs}


def test_equal_ones_that_part_are_not_turned_round():
    edges = np.array([[0, -0.5, 1.5], [0.5, 0, 0.5], [-1.5, -0.5, 0]])
    for order in ([0, 1, 2], [1, 0, 2]):
        names = ["abc"[i] for i in order]
        graph = Tournament.from_log_odds(names, edges[np.ix_(order, order)])
        assert all(not e.reversed_pairs for e in pool_effects(graph, ["hodge"], leavers=["c"]))


def test_among_learners_that_are_alike_the_pool_decides():
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        samples = tuple(tuple(rng.normal(0, 1, 6) for _ in "abcd") for _ in "rs")
        found += pool_effects(Tournament.of(Contest(tuple("abcd"), ("r", "s"), samples)))
    assert any(effect.reversed_pairs for effect in found)
    assert all(effect.left_out not in pair for effect in found for pair in effect.reversed_pairs)


def test_hodge_turns_by_an_irrelevant_one():
    """b is just ahead of a by beating the last one more clearly; without it a is ahead."""
    graph = Tournament.from_log_odds("abc", [[0, 0.1, 1], [-0.1, 0, 3], [-1, -3, 0]])
    effects = {e.left_out: e.reversed_pairs for e in pool_effects(graph, ["hodge"])}
    assert effects == {"a": (), "b": (), "c": (("b", "a"),)}


def test_only_those_asked_leave_and_none_who_holds_the_rest_together():
    chain = Tournament.from_log_odds("abc", [[0, 1, 0], [-1, 0, 1], [0, -1, 0]],
                                     [[0, 1, 0], [1, 0, 1], [0, 1, 0]])  # fmt: skip
    assert {e.left_out for e in pool_effects(chain, ["hodge"])} == {"a", "c"}
    assert {e.left_out for e in pool_effects(chain, ["hodge"], leavers=["a"])} == {"a"}


def test_two_have_no_pool():
    assert pool_effects(Tournament.from_log_odds("ab", [[0, 1], [-1, 0]])) == []


def test_methods_that_need_the_runs_are_refused():
    graph = Tournament.from_log_odds("abc", np.zeros((3, 3)))
    with pytest.raises(ValueError, match="expected methods that rate a graph alone, found elo"):
        pool_effects(graph, ["elo"])
