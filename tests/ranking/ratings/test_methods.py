"""All methods together: a clear case, relabelling, and the page that describes them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from gnomon.errors import DegenerateScoresWarning, UnknownNameError
from gnomon.ranking import METHODS, Contest, Tournament, method_named, orders_by_method
from strategies_ranking import contests

PAGE = Path(__file__).parents[3] / "docs" / "ranking.md"


def clear(n=4, seed=0):
    rng = np.random.default_rng(seed)
    samples = tuple(tuple(rng.normal(2.0 * i, 1, 12) for i in range(n)) for _ in range(3))
    return Contest(tuple("abcdefgh"[:n]), ("x", "y", "z"), samples)


def test_all_methods_agree_where_all_is_clear():
    contest = clear()
    for order in orders_by_method(contest).orders:
        assert order.names[0] == "d", order.method
        assert not order.reversed_pairs, order.method


@pytest.mark.parametrize("name", [n for n in METHODS if n != "elo"])
def test_names_do_not_matter(name):
    """Elo is left out: it depends on the order of games, and so on that of the names."""
    rng = np.random.default_rng(1)
    samples = tuple(tuple(rng.normal(0.5 * i, 1, 8) for i in range(5)) for _ in range(4))
    contest = Contest(tuple("abcde"), tuple("wxyz"), samples)
    order = [3, 0, 4, 1, 2]
    moved = Contest(
        tuple("abcde"[i] for i in order), contest.grounds,
        tuple(tuple(row[i] for i in order) for row in samples),
    )  # fmt: skip
    ratings = METHODS[name].rate(Tournament.of(contest), contest)
    assert METHODS[name].rate(Tournament.of(moved), moved) == pytest.approx(
        ratings[order], abs=1e-6
    )


def test_forty_one_leave_kemeny_out():
    rng = np.random.default_rng(0)
    names = tuple(f"{i}" for i in range(41))
    contest = Contest(names, ("r",), (tuple(rng.normal(size=(41, 3))),))
    with pytest.warns(DegenerateScoresWarning, match="not asked of 41 competitors, more than 40"):
        found = orders_by_method(contest, ("hodge", "kemeny"))
    assert [order.method for order in found.orders] == ["hodge"]
    assert found.warnings == ("kemeny: not asked of 41 competitors, more than 40",)


def test_an_unknown_method_is_named():
    with pytest.raises(
        UnknownNameError, match="unknown ranking method 'hogde'; did you mean 'hodge'"
    ):
        method_named("hogde")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_on_the_page(name):
    method = METHODS[name]
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for part in (f"`{name}`", method.source, method.use, method.avoid):
        assert part in text, part


@settings(max_examples=25)
@given(contests(missing=False, min_names=2, max_names=4, max_runs=4))
def test_a_learner_with_the_same_runs_shares_the_rating(contest):
    """Through the whole chain, from runs on; but for Elo, which sees games in an order."""
    samples = tuple((*row, row[0]) for row in contest.samples)
    twins = Contest((*contest.names, "copy"), contest.grounds, samples)
    graph = Tournament.of(twins)
    for name in METHODS:
        if name != "elo":
            ratings = METHODS[name].rate(graph, twins)
            assert ratings[-1] == pytest.approx(ratings[0], abs=1e-6), name
