"""Tests of pairs: against SciPy, and against all ways to deal the runs out."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.ranking import Contest, compare_pairs
from gnomon.scores import ScoreTable


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


def p_over_all_relabellings(grounds, weights, alternative):
    """The p-value from every way to deal the runs of each ground out; no ranks, no grid."""

    def chance(mine, other):
        won = sum(2 * (a > b) + (a == b) for a in mine for b in other)
        return Fraction(won, 2 * len(mine) * len(other)) - Fraction(1, 2)

    each = []
    for x, y in grounds:
        pooled, places = [*x, *y], range(len(x) + len(y))
        each.append(
            [
                chance([pooled[i] for i in c], [pooled[i] for i in places if i not in c])
                for c in itertools.combinations(places, len(x))
            ]
        )

    def total(chances):
        return sum(w * p for w, p in zip(weights, chances, strict=True))

    seen = total([chance(x, y) for x, y in grounds])
    every = [total(one) for one in itertools.product(*each)]
    if alternative == "two-sided":
        return np.mean([abs(one) >= abs(seen) for one in every])
    return np.mean([one >= seen for one in every])


few = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(few, few), min_size=1, max_size=3),
    st.lists(st.integers(1, 5), min_size=3, max_size=3),
    st.sampled_from(["two-sided", "greater"]),
)
def test_pooled_p_values_count_all_relabellings_whatever_the_sizes(grounds, weights, alternative):
    weights = weights[: len(grounds)]
    one = contest(*grounds)
    for these in (weights, [1] * len(grounds)):
        named = {name: float(w) / 10 for name, w in zip(one.grounds, these, strict=True)}
        test = compare_pairs(one, alternative=alternative, weights=named)[0]
        assert test.exact
        expected = p_over_all_relabellings(grounds, these, alternative)
        assert test.p_value == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([(3, 3), (3, 2)], 2 / (20 * 10)),
        ([(5, 5), (5, 4)], 2 / (252 * 126)),
        ([(1, 3), (3, 1)], 2 / (4 * 4)),
        ([(4, 4), (4, 4), (4, 3)], 2 / (70 * 70 * 35)),
        ([(2, 5)] * 8 + [(5, 2)] * 9 + [(6, 6)] * 3 + [(5, 6)], 2 / (21**17 * 924**3 * 462)),
    ],
)
def test_complete_separation_is_two_of_all_relabellings(sizes, expected):
    grounds = [[np.arange(m) + 100.0, np.arange(n)] for m, n in sizes]
    test = compare_pairs(contest(*grounds))[0]
    assert test.exact
    assert test.p_value == pytest.approx(expected, rel=1e-9, abs=0)
    one_sided = compare_pairs(contest(*grounds), alternative="greater")
    assert one_sided[0].p_value == pytest.approx(expected / 2, rel=1e-9, abs=0)
    assert one_sided[1].p_value == pytest.approx(1.0)


def test_a_common_scale_of_weights_changes_nothing():
    rng = np.random.default_rng(3)
    one = contest([rng.normal(1, 1, 3), rng.normal(0, 1, 4)], [rng.normal(size=4)] * 2)
    plain = compare_pairs(one)[0]
    scaled = compare_pairs(one, weights={"r0": 0.3, "r1": 0.3})[0]
    assert scaled.exact
    assert scaled.p_value == plain.p_value


def test_weights_without_a_common_measure_are_left_to_the_normal_distribution():
    one = contest([[5, 6, 7], [1, 2, 3]], [[5, 6, 7], [1, 2, 8]])
    test = compare_pairs(one, weights={"r0": 1.0, "r1": math.pi})[0]
    assert not test.exact
    near = compare_pairs(one, weights={"r0": 7.0, "r1": 22.0})[0]
    assert near.exact
    assert test.p_value == pytest.approx(near.p_value, rel=0.5)


def test_sizes_without_a_small_common_measure_are_left_to_the_normal_distribution():
    """11, 13, 17, 19 and 23 pairs of runs: their least common multiple is above a million."""
    rng = np.random.default_rng(4)
    one = contest(*[[rng.normal(size=1), rng.normal(size=n)] for n in (11, 13, 17, 19, 23)])
    assert not compare_pairs(one)[0].exact
    assert all(test.exact for test in compare_pairs(one, per_ground=True))


def test_grounds_on_which_all_tie_have_no_say():
    """Whatever their number of pairs of runs: no relabelling changes anything there."""
    apart = [[4, 5, 6], [1, 2, 3]]
    tied = [[[1], [1] * n] for n in (11, 13, 17, 19, 23)]
    test = compare_pairs(contest(apart, *tied))[0]
    assert (test.exact, test.p_value) == (True, pytest.approx(0.1))
    none = compare_pairs(contest(*tied))[0]
    assert (none.exact, none.p_value) == (True, 1.0)


def test_normal_p_values_are_scipys():
    rng = np.random.default_rng(1)
    x, y = np.round(rng.normal(0.3, 1, 60), 1), np.round(rng.normal(0, 1, 40), 1)
    for alternative in ("two-sided", "greater"):
        test = compare_pairs(contest([x, y]), alternative=alternative)[0]
        expected = stats.mannwhitneyu(x, y, alternative=alternative, method="asymptotic").pvalue
        assert not test.exact
        assert test.p_value == pytest.approx(expected, rel=1e-6)


@pytest.mark.full
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


def test_the_family_that_is_corrected_is_said():
    table = ScoreTable.from_arrays({name: [[1.0, 2.0], [3.0, 5.0]] for name in "abc"})
    head = "two-sided Mann-Whitney tests, Holm's correction over "
    assert compare_pairs(table).title == f"{head}3 pairs"
    by_task = compare_pairs(table, per_ground=True)
    assert by_task.title == f"{head}all {len(by_task)} tests of 3 pairs on 2 tasks"
    assert compare_pairs(table).notes == (
        "probability: how often a run of a beats one of b on the same task; by how much does not "
        "count.",
    )
    assert "a run of a is harder than one of b" in compare_pairs(table, by="task").notes[0]
