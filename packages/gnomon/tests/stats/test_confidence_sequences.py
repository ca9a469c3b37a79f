"""Bets on differences as items arrive: fair, valid at every look, alike from both sides."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.scores import ScoreTable
from gnomon.stats import compare

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")


def looks(x, clusters=None, level=0.95):
    """Return the looks at items whose differences of a and b are these."""
    x = np.asarray(x, dtype=float)
    rows = {"algorithm": ["a"] * x.size + ["b"] * x.size, "task": [*range(x.size)] * 2}
    rows |= {"score": np.concatenate([np.maximum(x, 0.0), np.maximum(-x, 0.0)])}
    if clusters is not None:
        rows["doc"] = [*clusters] * 2
    cluster = None if clusters is None else "doc"
    table = ScoreTable(rows, units="items", cluster=cluster)
    return compare(table, "a", "b", sequential="e", level=level)


def drawn(seed, n, chances=(0.1, 0.6, 0.3)):
    return np.random.default_rng(seed).choice([-1.0, 0.0, 1.0], size=n, p=chances)


@pytest.mark.full
def test_bets_against_no_difference_are_fair():
    """Over all sequences of five items without a difference what is won has mean 1."""
    values, chances = np.array([-1.0, 0.0, 0.5]), np.array([0.2, 0.4, 0.4])
    won = sum(
        looks(values[list(picks)])[-1].e_value * np.prod(chances[list(picks)])
        for picks in itertools.product(range(3), repeat=5)
    )
    assert won == pytest.approx(1.0, abs=1e-12)


def test_a_look_depends_on_the_past_alone():
    x = drawn(0, 50, (0.3, 0.4, 0.3))
    whole = {one.n_items: one for one in looks(x)}
    for n in (5, 20):
        assert looks(x[:n])[-1] == whole[n]


def test_differences_that_are_all_one_have_an_interval():
    last = looks(np.ones(40))[-1]
    assert last.high == 1.0
    assert 0.6 < last.low < 1.0
    assert np.isfinite(last.e_value)
    first = looks([1.0])[-1]
    assert (first.low, first.high) == (-1.0, 1.0)


def test_the_other_way_round_mirrors_everything():
    x = drawn(1, 120)
    one, other = looks(x, level=0.9)[-1], looks(-x, level=0.9)[-1]
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-8)
    assert other.e_value == pytest.approx(one.e_value)


def test_later_looks_never_widen_the_interval():
    x = drawn(2, 400)
    found = looks(x)
    assert [one.n_items for one in found] == [5, 10, 20, 50, 100, 200, 400]
    for one, later in itertools.pairwise(found):
        assert one.low - 1e-6 <= later.low < later.high <= one.high + 1e-6
    assert found[-1].low < x.mean() < found[-1].high


def test_interval_p_value_and_stop_agree():
    x = drawn(3, 400)
    n = looks(x).settings["n_stopped"]["mean"]
    stopped, before = (looks(x[:m])[-1] for m in (n, n - 1))
    assert stopped.p_value <= 0.05 < before.p_value
    assert stopped.low >= -1e-6
    assert before.low < 1e-6


def test_clusters_weigh_by_their_size():
    """Bets on clusters are about the mean of items, not of clusters."""
    sizes = np.tile([1, 9], 200)
    truth = np.repeat(np.where(sizes == 1, 0.6, -0.1), sizes)  # over items: -0.03
    x = truth + np.random.default_rng(4).uniform(-0.05, 0.05, truth.size)
    last = looks(x, np.repeat(np.arange(400), sizes))[-1]
    assert last.low < -0.03 < last.high < 0.2


@pytest.mark.full
@pytest.mark.parametrize("chances", [(0.1, 0.8, 0.1), (0.02, 0.96, 0.02)])
def test_continuous_monitoring_errs_in_at_most_five_per_cent(chances):
    """Somebody looks after each of 500 items, and stops at the first that rejects equality."""
    n = 300
    found = (looks(drawn(seed, 500, chances)) for seed in range(n))
    wrong = sum(one.settings["n_stopped"]["mean"] is not None for one in found)
    assert scipy_stats.binomtest(wrong, n, 0.05, "greater").pvalue > 0.01, wrong / n
