import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gnomon.stats import difficulty_order, holm, mann_whitney, mann_whitney_table

samples = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=9)


@given(samples, samples)
def test_u_counts_pairs(x, y):
    u, p = mann_whitney(x, y)
    assert u == sum((a > b) + (a == b) / 2 for a in x for b in y)
    assert 0 <= p <= 1
    assert mann_whitney(y, x)[0] == len(x) * len(y) - u


def test_without_infinities_it_is_scipys_test():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), rng.normal(0.5, size=25)
    for alternative in ("two-sided", "less", "greater"):
        expected = stats.mannwhitneyu(x, y, alternative=alternative)
        assert mann_whitney(x, y, alternative=alternative) == tuple(expected)


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


def test_a_one_sided_table_has_both_directions():
    data = {"a": [1, 2], "b": [3, 4], "c": [5, 6]}
    assert len(mann_whitney_table(data)) == 6
    two_sided = mann_whitney_table(data, alternative="two-sided")
    assert [(t.a, t.b) for t in two_sided] == [("a", "b"), ("a", "c"), ("b", "c")]
    np.testing.assert_allclose(
        [t.p_adjusted for t in two_sided], holm([t.p_value for t in two_sided])
    )


def test_groups_may_overlap():
    base = np.arange(30)
    data = {"a": base, "b": base + 5, "c": base + 10}
    order = difficulty_order(data)
    assert order.names == ("c", "b", "a")
    assert order.groups == (("c", "b"), ("b", "a"))
    easiest_first = difficulty_order(data, higher_is_harder=False)
    assert easiest_first.names == ("a", "b", "c")


def test_one_sample_is_an_order():
    order = difficulty_order({"only": [1.0]})
    assert (order.names, order.superiority, order.groups) == (("only",), (0.5,), (("only",),))


@pytest.mark.parametrize("n", [3, 30])
def test_samples_that_are_equal_are_one_group(n):
    order = difficulty_order({name: np.arange(n) for name in "abcd"})
    assert order.groups == (("a", "b", "c", "d"),)
