"""Tests of pairs: against SciPy, and against all ways to deal the runs out."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.ranking.pairwise import Contest
from gnomon.ranking.significance import compare_pairs


def contest(*grounds):
    names = tuple("abcdef"[: len(grounds[0])])
    samples = tuple(tuple(np.asarray(x, dtype=float) for x in row) for row in grounds)
    return Contest(names, tuple(f"r{g}" for g in range(len(grounds))), samples)


def test_exact_p_values_are_scipys():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.8, 1, 9), rng.normal(0, 1, 7)
    for alternative in ("two-sided", "greater"):
        test = compare_pairs(contest([x, y]), alternative=alternative)[0]
        expected = stats.mannwhitneyu(x, y, alternative=alternative, method="exact")
        assert test.exact
        assert test.p_value == pytest.approx(expected.pvalue)
        assert test.probability * 63 == pytest.approx(expected.statistic)


@settings(max_examples=30)
@given(st.integers(1, 14), st.integers(1, 14), st.integers(0, 2**32 - 1))
def test_exact_p_values_of_generated_runs_are_scipys(m, n, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0.4, 1, m), rng.normal(0, 1, n)
    for alternative in ("two-sided", "greater"):
        test = compare_pairs(contest([x, y]), alternative=alternative)[0]
        expected = stats.mannwhitneyu(x, y, alternative=alternative, method="exact")
        assert test.exact
        assert test.p_value == pytest.approx(expected.pvalue)


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 3), min_size=3, max_size=4),
    st.lists(st.integers(0, 3), min_size=3, max_size=4),
)
def test_exact_p_values_with_ties_count_all_ways_to_deal(x, y):
    test = compare_pairs(contest([x, y]), alternative="greater")[0]
    pooled = np.array([*x, *y], dtype=float)

    def won(chosen):
        mine = pooled[list(chosen)]
        other = np.delete(pooled, list(chosen))
        return sum((a > b) + 0.5 * (a == b) for a in mine for b in other)

    dealt = [won(c) for c in itertools.combinations(range(pooled.size), len(x))]
    seen = won(range(len(x)))
    assert test.p_value == pytest.approx(np.mean([w >= seen for w in dealt]))


def test_pooled_exact_p_values_count_all_ways_on_every_rule():
    grounds = [[[3, 4], [1, 2]], [[5, 1], [2, 2]]]
    test = compare_pairs(contest(*grounds))[0]

    def sums(x, y):
        pooled = [*x, *y]
        out = []
        for chosen in itertools.combinations(range(4), 2):
            mine = [pooled[i] for i in chosen]
            other = [pooled[i] for i in range(4) if i not in chosen]
            out.append(sum((a > b) + 0.5 * (a == b) for a in mine for b in other))
        return out

    both = [a + b for a in sums(*grounds[0]) for b in sums(*grounds[1])]
    assert test.exact
    seen = 4 + 2
    assert test.p_value == pytest.approx(np.mean([abs(s - 4) >= abs(seen - 4) for s in both]))


def test_normal_p_values_are_scipys():
    rng = np.random.default_rng(1)
    x, y = np.round(rng.normal(0.3, 1, 60), 1), np.round(rng.normal(0, 1, 40), 1)
    for alternative in ("two-sided", "greater"):
        test = compare_pairs(contest([x, y]), alternative=alternative)[0]
        expected = stats.mannwhitneyu(x, y, alternative=alternative, method="asymptotic").pvalue
        assert not test.exact
        assert test.p_value == pytest.approx(expected, rel=1e-6)


def test_pooled_tests_hold_their_level():
    """Identical learners on rules of different difficulty: 5 % of p-values are below 0.05."""
    rng = np.random.default_rng(2)
    p = [
        compare_pairs(contest(*[rng.normal(g, 1, (2, 8)) for g in range(10)]))[0].p_value
        for _ in range(400)
    ]
    assert stats.binomtest(sum(x <= 0.05 for x in p), 400, 0.05, "greater").pvalue > 0.001
    assert np.mean(np.array(p) <= 0.5) == pytest.approx(0.5, abs=0.1)


def test_one_sided_tests_are_both_ways_round_and_corrected_together():
    tests = compare_pairs(contest([[9, 8, 7, 9], [1, 2, 3, 2]]), alternative="greater")
    assert [(t.a, t.b) for t in tests] == [("a", "b"), ("b", "a")]
    assert tests[0].p_adjusted == pytest.approx(2 * tests[0].p_value)


def test_each_rule_by_itself():
    tests = compare_pairs(contest([[2, 3], [1, 0]], [[1, 1], [1, 1]]), per_ground=True)
    assert [(t.ground, t.probability) for t in tests] == [("r0", 1.0), ("r1", 0.5)]
    assert tests[1].p_value == 1.0


def test_two_that_never_met_are_not_tested():
    tests = compare_pairs(contest([[1.0], [2.0], []], [[], [1.0], [3.0]]))
    lonely = next(t for t in tests if (t.a, t.b) == ("a", "c"))
    assert lonely.n_grounds == 0
    assert lonely.as_record()["p_value"] is None
    assert lonely.as_record()["probability"] is None


def test_censored_runs_take_part():
    tests = compare_pairs(contest([[5.0, -np.inf], [-np.inf, -np.inf]]))
    assert tests[0].probability == 0.75


def test_a_rule_without_weight_takes_no_part():
    worse, better = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    contest = Contest(("a", "b"), ("x", "y"), ((worse, better), (better, worse)))
    (pooled,) = compare_pairs(contest, weights={"x": 0.0})
    assert (pooled.n_grounds, pooled.probability) == (1, 1.0)
    (none,) = compare_pairs(contest, weights={"x": 0.0, "y": 0.0})
    assert none.n_grounds == 0
    assert np.isnan(none.p_value)
    each = compare_pairs(contest, weights={"x": 0.0}, per_ground=True)
    assert [pair.probability for pair in each] == [0.0, 1.0]
