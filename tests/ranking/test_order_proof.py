"""The proof of the best order: against a dynamic program over all subsets, on weak limits too."""

import itertools
import math

import numpy as np
import pytest

from gnomon.ranking.kemeny import kemeny_order
from gnomon.ranking.linear_ordering import OrderProgram, order_search, worth
from gnomon.ranking.order_patterns import CIRCLE, PATTERNS
from gnomon.ranking.order_proof import best_order


def most_worth(margins):
    """The slow twin: the worth of the best order, by who stands in front of all others."""
    n = len(margins)
    best = np.full(2**n, -math.inf)
    best[0] = 0.0
    inside = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    gain = (1 - inside) @ margins.T  # [front, i]: over those behind, i itself among them
    for front in range(2**n):
        for i in range(n):
            if not front >> i & 1:
                more = front | 1 << i
                best[more] = max(best[more], best[front] + gain[front, i])
    return best[-1]


def antisymmetric(upper):
    upper = np.triu(upper, 1).astype(float)
    return upper - upper.T


def drawn(kind, n, rng):
    """Margins of which many or none are equal or nothing, and such that lean one way."""
    draws = {
        "normal": lambda: rng.normal(size=(n, n)),
        "signs": lambda: rng.choice([-1, 1], (n, n)),
        "ties": lambda: rng.integers(-2, 3, (n, n)),
        "sparse": lambda: rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.3),
        "leaning": lambda: rng.normal(0.3, 1.0, (n, n)),
    }
    return antisymmetric(draws[kind]())


KINDS = ["normal", "signs", "ties", "sparse", "leaning"]


def proven(margins, order, least=1e-6):
    program = OrderProgram(margins)
    program.relaxed(-math.inf, math.inf)
    return best_order(program, order, least, math.inf)


@pytest.mark.parametrize("kind", KINDS)
def test_no_order_is_worth_more(kind):
    rng = np.random.default_rng(0)
    for n in [3, 4, 5, 6, 7, 8, 9, 10] * 3:
        margins = drawn(kind, n, rng)
        order, limit = proven(margins, rng.permutation(n).tolist())
        assert sorted(order) == list(range(n))
        assert worth(order, margins) == pytest.approx(most_worth(margins), abs=1e-5)
        assert limit == worth(order, margins)


@pytest.mark.parametrize("kind", KINDS)
def test_without_linear_programs_the_branches_alone_find_the_best(kind, monkeypatch):
    """So that they are tried in earnest: the weakest limits leave the whole search to them."""
    monkeypatch.setattr(OrderProgram, "relaxed", lambda *_: None)
    monkeypatch.setattr(OrderProgram, "tightened", lambda *_: None)
    rng = np.random.default_rng(1)
    for n in [3, 4, 5, 6, 7, 8] * 4:
        margins = drawn(kind, n, rng)
        order, limit = proven(margins, rng.permutation(n).tolist())
        assert worth(order, margins) == pytest.approx(most_worth(margins), abs=1e-5)
        assert limit == worth(order, margins)


@pytest.mark.parametrize("slight", [0.0, 1e-5, 1e-3, 0.5])
def test_margins_that_are_nearly_multiples_are_told_apart(slight):
    rng = np.random.default_rng(6)
    for _ in range(5):
        upper = rng.choice([-1.0, 1.0], (9, 9)) * rng.integers(1, 4, (9, 9))
        margins = antisymmetric(upper + slight * rng.integers(-1, 2, (9, 9)))
        found = kemeny_order(margins)
        least = (np.abs(margins).sum() / 2.0 - most_worth(margins)) / 2.0
        assert found.proven
        assert found.disagreement == pytest.approx(least, abs=4e-6)


@pytest.mark.parametrize("kind", ["normal", "signs"])
def test_with_circles_alone_twelve_need_branches_and_are_proven(kind, monkeypatch):
    monkeypatch.setattr(OrderProgram, "tightened", lambda *_: None)
    rng = np.random.default_rng(2)
    for _ in range(3):
        margins = drawn(kind, 12, rng)
        order, _ = proven(margins, list(range(12)))
        assert worth(order, margins) == pytest.approx(most_worth(margins), abs=1e-5)


def test_more_than_the_best_is_worth_is_never_claimed(monkeypatch):
    """Stopped anywhere, what is said that no order exceeds is no less than the best."""
    margins = drawn("signs", 11, np.random.default_rng(3))
    best = most_worth(margins)
    monkeypatch.setattr(OrderProgram, "relaxed", lambda *_: None)
    monkeypatch.setattr(OrderProgram, "tightened", lambda *_: None)
    limits = []
    for ticks in (0, 1, 2, 5, 20, 100, 400):
        clock = itertools.count()
        monkeypatch.setattr("gnomon.ranking.order_proof.time.monotonic", lambda c=clock: next(c))
        order, limit = best_order(OrderProgram(margins), list(range(11)), 2.0 - 1e-6, ticks)
        assert worth(order, margins) <= best <= limit
        limits.append(limit)
    assert limits[0] > limits[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_prices_say_what_a_pair_costs(kind):
    """Of any order: it is worth at most the limit and the prices of its pairs."""
    rng = np.random.default_rng(4)
    for n in (6, 9):
        margins = drawn(kind, n, rng)
        program = OrderProgram(margins)
        program.relaxed(-math.inf, math.inf)
        program.tightened(-math.inf, math.inf, 200)
        for _ in range(50):
            order = order_search(rng.permutation(n).tolist(), rng.normal() * margins)
            paid = np.minimum(np.triu(program.price[np.ix_(order, order)], 1), 0.0).sum()
            assert worth(order, margins) <= program.limit + paid + 1e-9


def test_a_program_without_one_is_that_of_the_others():
    margins = drawn("normal", 14, np.random.default_rng(5))
    program = OrderProgram(margins)
    program.relaxed(-math.inf, math.inf)
    program.tightened(-math.inf, math.inf, 200)
    rest = np.delete(np.arange(14), 4)
    inner = program.without(4)
    assert (inner.margins == margins[np.ix_(rest, rest)]).all()
    inner.relaxed(-math.inf, math.inf)
    alone = OrderProgram(margins[np.ix_(rest, rest)])
    alone.relaxed(-math.inf, math.inf)
    assert inner.limit <= alone.limit + 1e-6
    assert most_worth(inner.margins) <= inner.limit + 1e-9


def test_a_circle_of_three_is_bounded():
    sums = [np.triu(CIRCLE.signs[np.ix_(o, o)]).sum() / 2 for o in itertools.permutations(range(3))]
    assert max(sums) == CIRCLE.bound
    assert all(len(pattern.signs) == 6 for pattern in PATTERNS)
