"""The proof of the best order: against a dynamic program over all subsets, on weak limits too."""

import itertools
import math

import numpy as np
import pytest

from gnomon.ranking import kemeny_order
from gnomon.ranking.kemeny import linear_ordering_kernels
from gnomon.ranking.kemeny.branch_and_bound import best_order
from gnomon.ranking.kemeny.linear_ordering import circle_relaxation, worth
from gnomon.ranking.kemeny.linear_ordering_kernels import limit_of_middle


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
    return best_order(margins, order, np.abs(margins).sum() / 2.0, least, math.inf)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_no_order_is_worth_more(kind):
    rng = np.random.default_rng(0)
    for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] * 3:
        margins = drawn(kind, n, rng)
        order, limit = proven(margins, rng.permutation(n).tolist())
        assert sorted(order) == list(range(n))
        assert worth(order, margins) == pytest.approx(most_worth(margins), abs=1e-5)
        assert limit == worth(order, margins)


def no_limit(margins, who, taken, ahead, enough, without):
    """The weakest limits that there are: everybody gets whatever they want."""
    inside = np.abs(margins[np.ix_(who, who)])
    without[:] = inside.sum() / 2.0 - inside.sum(axis=1)
    return inside.sum() / 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_with_hardly_a_limit_the_branches_alone_find_the_best(kind, monkeypatch):
    """So that they are tried in earnest: the weakest limits leave the whole search to them."""
    monkeypatch.setattr(linear_ordering_kernels, "limit_of_middle", no_limit)
    rng = np.random.default_rng(1)
    for n in [3, 4, 5, 6, 7, 8, 9] * 4:
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


def test_more_than_the_best_is_worth_is_never_claimed(monkeypatch):
    """Stopped anywhere, what is said that no order exceeds is no less than the best."""
    margins = drawn("signs", 11, np.random.default_rng(3))
    best = most_worth(margins)
    monkeypatch.setattr(linear_ordering_kernels, "limit_of_middle", no_limit)
    limits = []
    for ticks in (0, 1, 2, 5, 20, 100, 400):
        clock = itertools.count()
        monkeypatch.setattr(
            "gnomon.ranking.kemeny.branch_and_bound.time.monotonic", lambda c=clock: next(c)
        )
        order, limit = best_order(margins, list(range(11)), 55.0, 2.0 - 1e-6, ticks)
        assert worth(order, margins) <= best <= limit
        limits.append(limit)
    assert limits[0] > limits[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_limits_of_a_middle_hold_and_come_near_those_of_the_linear_program(kind):
    """HiGHS is the slow twin; from a start that has nothing to do with the case they hold too."""
    rng = np.random.default_rng(4)
    for n in (3, 6, 9, 12):
        margins = drawn(kind, n, rng)
        margins /= np.abs(margins).max() or 1.0
        taken = rng.normal(0.0, 0.1, (n, n, n)).astype(np.float32)
        ahead = rng.uniform(-1.0, 1.0, (n, n)).astype(np.float32)
        for _ in range(3):
            k = int(rng.integers(min(n, 4), n + 1))
            who = np.sort(rng.permutation(n)[:k])
            inside, without = margins[np.ix_(who, who)], np.empty(k)
            least = circle_relaxation(inside).limit
            limit = limit_of_middle(margins, who, taken, ahead, least - 1e-3, without)
            assert least - 1e-6 <= limit <= least + 0.01 * np.abs(inside).sum() / 2.0 + 1e-6
            assert most_worth(inside) <= limit + 1e-9
            for one in range(k):
                rest = np.delete(np.arange(k), one)
                assert most_worth(inside[np.ix_(rest, rest)]) <= without[one] + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_a_relaxation_is_exact_where_no_three_run_in_a_circle(kind):
    rng = np.random.default_rng(5)
    for n in (3, 6, 9):
        margins = drawn(kind, n, rng)
        found = circle_relaxation(margins)
        assert most_worth(margins) <= found.limit + 1e-9
        assert (found.ahead == -found.ahead.T).all()
        places = rng.permutation(n)
        straight = np.sign(places[:, None] - places) * np.abs(margins)
        assert circle_relaxation(straight).limit == pytest.approx(np.abs(margins).sum() / 2.0)


def test_a_limit_that_is_low_enough_is_not_lowered_further():
    margins = drawn("normal", 12, np.random.default_rng(6))
    taken, ahead = np.zeros((12, 12, 12), np.float32), np.zeros((12, 12), np.float32)
    without = np.full(12, np.nan)
    best = circle_relaxation(margins).limit
    limit = limit_of_middle(margins, np.arange(12), taken, ahead, 1.2 * best, without)
    assert best < limit <= 1.2 * best
    assert np.isnan(without).all()
