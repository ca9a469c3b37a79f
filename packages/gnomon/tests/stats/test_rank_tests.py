from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.stats import holm, mann_whitney

samples = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=9)


@given(samples, samples)
def test_u_counts_pairs(x, y):
    u, p = mann_whitney(x, y)
    assert u == sum((a > b) + (a == b) / 2 for a in x for b in y)
    assert 0 <= p <= 1
    assert mann_whitney(y, x)[0] == len(x) * len(y) - u


def test_without_infinities_it_is_scipys_test():
    rng = np.random.default_rng(0)
    for case in range(120):
        n, m = (rng.integers(1, 12) if case % 3 else rng.integers(21, 90)), rng.integers(21, 90)
        noise, shift = case % 2 * 0.5, rng.integers(0, 4)
        x = rng.integers(0, rng.integers(1, 40), n) + noise * rng.random(n)
        y = rng.integers(0, rng.integers(1, 40), m) + noise * rng.random(m) + shift
        for alternative in ("two-sided", "greater"):
            expected = stats.mannwhitneyu(x, y, alternative=alternative)
            found = mann_whitney(x, y, alternative=alternative)
            wanted = expected if np.isfinite(expected.pvalue) else (n * m / 2, 1.0)
            assert found == pytest.approx(tuple(wanted), rel=1e-12, abs=1e-300), case


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
)
def test_few_values_are_dealt_out_in_all_ways(x, y):
    """Ties as they are: count the ways one by one."""
    both, n = x + y, len(x)

    def won(chosen):
        rest = [both[i] for i in range(len(both)) if i not in chosen]
        return sum((both[i] > b) + (both[i] == b) / 2 for i in chosen for b in rest)

    ways = [won(chosen) for chosen in combinations(range(len(both)), n)]
    u = won(range(n))
    greater, less = np.mean(np.array(ways) >= u), np.mean(np.array(ways) <= u)
    for alternative, p in (
        ("greater", greater),
        ("two-sided", min(1.0, 2 * min(greater, less))),
    ):
        assert mann_whitney(x, y, alternative=alternative) == pytest.approx((u, p))


def test_without_ties_up_to_twenty_are_scipys_exact_test():
    rng = np.random.default_rng(0)
    for m, n in ((1, 20), (3, 3), (5, 4), (10, 10), (20, 20), (19, 2)):
        x, y = rng.normal(size=m), rng.normal(0.8, size=n)
        for alternative in ("two-sided", "greater"):
            expected = stats.mannwhitneyu(x, y, alternative=alternative, method="exact")
            found = mann_whitney(x, y, alternative=alternative)
            assert found == pytest.approx(tuple(expected), rel=1e-9), (m, n)


def test_ties_do_not_inflate_the_exact_test():
    """Five runs of success in ten episodes, both alike: at most the level, where the normal is."""
    rng, n_tables = np.random.default_rng(0), 600
    p = np.array(
        [mann_whitney(*(rng.binomial(10, 0.8, size=(2, 5)) / 10))[1] for _ in range(n_tables)]
    )
    for level in (0.01, 0.05):
        rejected = int((p <= level).sum())
        assert stats.binomtest(rejected, n_tables, level, "greater").pvalue > 0.01


def test_infinities_are_tied_with_each_other():
    x, y = [1.0, np.inf, np.inf], [0.0, np.inf]
    assert mann_whitney(x, y) == mann_whitney([1.0, 9.0, 9.0], [0.0, 9.0])


def test_degenerate_samples():
    assert mann_whitney([1, 1], [1, 1, 1]) == (3.0, 1.0)
    assert np.isnan(mann_whitney([], [1.0])).all()
    assert mann_whitney([np.nan, 2.0], [1.0])[0] == 1.0


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.9]), [0.03, 0.04, 0.9])
    np.testing.assert_allclose(holm([0.5, np.nan, 0.4]), [0.8, np.nan, 0.8])
