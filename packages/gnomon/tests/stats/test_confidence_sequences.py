"""Bets on differences: fair at every item, valid at every look, alike from both sides."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.stats import ConfidenceSequence


def bets(x):
    return ConfidenceSequence(np.asarray(x, dtype=float), np.ones(len(x)))


def test_bets_against_the_truth_are_fair():
    """Over all sequences of six items what is won has mean 1, whatever the truth."""
    values, chances = np.array([-1.0, 0.0, 0.5, 1.0]), np.array([0.2, 0.4, 0.3, 0.1])
    truth = float(values @ chances)
    won = 0.0
    for picks in itertools.product(range(4), repeat=6):
        wealth = bets(values[list(picks)]).log_wealth(truth)
        won += np.exp(wealth[-1]) * np.prod(chances[list(picks)])
    assert won == pytest.approx(1.0, abs=1e-12)


def test_what_is_staked_depends_on_the_past_alone():
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 0.0, 1.0], size=50)
    whole = bets(x).log_wealth(0.1)
    for n in (1, 7, 49):
        assert np.array_equal(bets(x[:n]).log_wealth(0.1), whole[:n])


def test_no_bet_loses_everything():
    for delta in (-1.0 + 1e-9, -0.5, 0.0, 0.9, 1.0 - 1e-9):
        for x in (np.ones(60), -np.ones(60), np.tile([1.0, -1.0], 30)):
            assert np.isfinite(bets(x).log_wealth(delta)).all()


def test_differences_that_are_all_one_have_an_interval():
    low, high = bets(np.ones(40)).interval(0.95)
    assert high == 1.0
    assert 0.6 < low < 1.0
    assert bets([1.0]).interval(0.95) == (-1.0, 1.0)


def test_the_other_way_round_mirrors_everything():
    x = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], size=120, p=[0.1, 0.6, 0.3])
    low, high = bets(x).interval(0.9)
    assert np.allclose(bets(-x).interval(0.9), (-high, -low), atol=1e-8)
    assert bets(-x).e_value() == pytest.approx(bets(x).e_value())


def test_later_looks_never_widen_the_interval():
    x = np.random.default_rng(2).choice([-1.0, 0.0, 1.0], size=400, p=[0.1, 0.6, 0.3])
    one, found = bets(x), [bets(x).interval(0.95, n) for n in (5, 20, 100, 400)]
    for (low, high), (later_low, later_high) in itertools.pairwise(found):
        assert low - 1e-6 <= later_low < later_high <= high + 1e-6
    assert one.interval(0.95, 3) == (-1.0, 1.0)
    assert found[-1][0] < x.mean() < found[-1][1]


def test_interval_and_p_value_agree():
    x = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], size=400, p=[0.1, 0.6, 0.3])
    one = bets(x)
    n = one.first_beyond(20.0)
    assert n is not None
    assert one.p_value(n) <= 0.05 < one.p_value(n - 1)
    assert one.interval(0.95, n)[0] >= -1e-6 > one.interval(0.95, n - 1)[0] - 1e-6


def test_clusters_weigh_by_their_size():
    """Bets on clusters are about the mean of items, not of clusters."""
    rng = np.random.default_rng(4)
    sizes = np.tile([1.0, 9.0], 200)
    truth = np.where(sizes == 1.0, 0.6, -0.1)  # over items: -0.03
    x = truth * sizes / 9.0 + rng.uniform(-0.05, 0.05, 400) * sizes / 9.0
    low, high = ConfidenceSequence(x, sizes / 9.0).interval(0.95)
    assert low < -0.03 < high < 0.2


@pytest.mark.full
def test_continuous_monitoring_errs_in_at_most_five_per_cent():
    """Somebody looks after each of 2,000 items, and stops at the first that refutes the truth."""
    rng = np.random.default_rng(5)
    for values, chances in (
        ((-1.0, 0.0, 1.0), (0.1, 0.8, 0.1)),
        ((-1.0, 0.0, 1.0), (0.02, 0.96, 0.02)),
        ((-0.25, 0.75), (0.75, 0.25)),
    ):
        n = 1_000
        wrong = sum(
            bets(rng.choice(values, size=2_000, p=chances)).first_beyond(20.0) is not None
            for _ in range(n)
        )
        assert scipy_stats.binomtest(wrong, n, 0.05, "greater").pvalue > 0.01, (chances, wrong / n)
