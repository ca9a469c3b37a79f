"""Who leaves, and who changes places then."""

import numpy as np
import pytest
from hypothesis import given

from gnomon.ranking.contest import Contest
from gnomon.ranking.ratings.method_orders import orders_by_method, pool_effects
from gnomon.ranking.tournament import Tournament
from strategies_ranking import contests


def left(contest, name):
    """The slow twin of leaving: the runs of the others alone."""
    kept = [i for i, other in enumerate(contest.names) if other != name]
    samples = tuple(tuple(row[i] for i in kept) for row in contest.samples)
    return Contest(tuple(contest.names[i] for i in kept), contest.grounds, samples)


@given(contests(missing=False, min_names=3))
def test_the_others_stand_as_if_the_leaver_had_never_been_there(contest):
    graph = Tournament.of(contest)
    (before,) = orders_by_method(contest, graph, ["borda"])
    for effect in pool_effects(graph, ["borda"]):
        others = left(contest, effect.left_out)
        (after,) = orders_by_method(others, Tournament.of(others), ["borda"])
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
