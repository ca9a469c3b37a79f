"""Critical differences: Demsar's example, SciPy's tests, and groups."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.ranking import critical_difference, mean_rank, wilcoxon_p_value
from gnomon.scores import ScoreTable
from strategies_ranking import Runs, contests


def contest(matrix, names="abcdef"):
    """From scores (tasks, algorithms)."""
    samples = tuple(tuple(np.atleast_1d(float(x)) for x in row) for row in matrix)
    return Runs(
        tuple(names[: len(matrix[0])]), tuple(f"{g}" for g in range(len(matrix))), samples
    ).table


def test_nemenyis_difference_is_demsars():
    """Four classifiers on 14 data sets: q = 2.569, CD = 1.25 (Demsar 2006, section 3.2.2)."""
    rng = np.random.default_rng(0)
    found = critical_difference(contest(rng.normal(size=(14, 4))), test="nemenyi")
    assert found[0].critical_difference == pytest.approx(1.25, abs=0.005)


def test_friedmans_p_is_scipys():
    matrix = np.round(np.random.default_rng(0).normal(size=(12, 4)), 1)
    expected = stats.friedmanchisquare(*matrix.T).pvalue
    assert critical_difference(contest(matrix))[0].friedman_p == pytest.approx(expected)


def test_wilcoxons_p_is_scipys():
    rng = np.random.default_rng(0)
    d = rng.normal(0.3, 1, 20)
    assert wilcoxon_p_value(d) == pytest.approx(stats.wilcoxon(d).pvalue)
    big = rng.normal(0.3, 1, 60)
    assert wilcoxon_p_value(big) == pytest.approx(stats.wilcoxon(big, method="approx").pvalue)


def test_infinite_and_equal_scores_are_ranked():
    assert wilcoxon_p_value([np.inf, 1, 2, 3, 4, 5]) == wilcoxon_p_value([6, 1, 2, 3, 4, 5])
    assert wilcoxon_p_value([0.0, 0.0, 0.0]) == 1.0
    assert np.isnan(wilcoxon_p_value([1.0, np.nan]))


@pytest.mark.parametrize(("n", "expected"), [(4, 0.125), (5, 0.0625), (6, 0.03125)])
def test_equal_differences_are_a_sign_test(n, expected):
    """All of the same size: two of the 2^n vectors of signs are as far out."""
    assert wilcoxon_p_value([0.5] * n) == expected
    assert wilcoxon_p_value([-0.5] * n) == expected
    assert wilcoxon_p_value([0.0, *[0.5] * n, 0.0]) == expected  # zeros shift all ranks alike


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=25, unique=True), st.data())
def test_wilcoxons_p_without_ties_or_zeros_is_scipys_exact_one(sizes, data):
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    d = np.array(sizes, dtype=float) * signs
    assert wilcoxon_p_value(d) == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-12)


def p_over_all_signs(d):
    """Wilcoxon's p-value with Pratt's zeros, from every vector of signs; ranks by counting."""
    size = [abs(x) for x in d]
    ranks = [
        sum(other < mine for other in size) + (sum(other == mine for other in size) + 1) / 2
        for mine in size
        if mine > 0
    ]
    seen = abs(sum(r * np.sign(x) for r, x in zip(ranks, (x for x in d if x != 0), strict=True)))
    every = [
        abs(sum(r * sign for r, sign in zip(ranks, signs, strict=True))) >= seen
        for signs in itertools.product((-1, 1), repeat=len(ranks))
    ]
    return sum(every) / len(every)


@given(st.lists(st.sampled_from([0, 0.5, -0.5, 1, -1, 2, -3, np.inf, -np.inf]), max_size=9))
def test_wilcoxons_p_with_ties_and_zeros_counts_all_signs(d):
    assert wilcoxon_p_value(d) == pytest.approx(p_over_all_signs(d), rel=1e-12)


def test_wilcoxons_p_is_exact_below_26_differences_however_many_zeros():
    d = np.concatenate([np.zeros(40), np.resize([1.0, 2.0, -2.0], 25)])
    approximate = stats.wilcoxon(d, zero_method="pratt", method="approx").pvalue
    assert wilcoxon_p_value(d) != pytest.approx(approximate, rel=1e-3)
    more = np.append(d, 2.0)
    assert wilcoxon_p_value(more) == pytest.approx(
        stats.wilcoxon(more, zero_method="pratt", method="approx").pvalue
    )


def test_wilcoxons_p_of_ties_and_zeros_holds_its_level():
    """Never more often below a level than the level, over all signs of some sizes."""
    sizes = np.array([0, 0, 1, 1, 1, 2, 2, 3, 5, 5, 5, 5], dtype=float)
    p = [
        wilcoxon_p_value(sizes * np.array((1, 1, *signs)))
        for signs in itertools.product((-1, 1), repeat=10)
    ]
    for level in (0.01, 0.05, 0.1, 0.3):
        assert np.mean(np.array(p) <= level) <= level


def test_a_better_one_stands_alone_and_equals_are_joined():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(30, 1))
    matrix = base + rng.normal(0, 0.3, (30, 3)) + np.array([0.0, 0.0, 2.0])
    found = critical_difference(contest(matrix, "xyz"))
    assert found.names[0] == "z"
    assert [set(g) for g in found.groups] == [{"x", "y"}]
    assert found.mean_ranks.sum() == pytest.approx(6)


def test_wins_need_no_common_scale():
    rng = np.random.default_rng(0)
    samples = tuple(
        (scale * rng.normal(0.8, 1, 6), scale * rng.normal(0, 1, 6))
        for scale in 10.0 ** np.arange(12)
    )
    tasks = tuple(f"{g}" for g in range(12))
    c = Runs(("a", "b"), tasks, samples).table
    bent = Runs(("a", "b"), tasks, tuple(tuple(x**3 for x in row) for row in samples)).table
    for one in (c, bent):
        assert critical_difference(one, differences="wins").p_values[0, 1] == pytest.approx(
            critical_difference(c, differences="wins").p_values[0, 1]
        )


def test_no_common_tasks_no_diagram():
    one, none = np.ones(1), np.empty(0)
    samples = ((one, one, none), (none, one, one))
    with pytest.raises(ScoreDataError, match=r"at least two tasks that all share .* found 0"):
        critical_difference(Runs(("a", "b", "c"), ("x", "y"), samples).table)


def several_runs():
    """By mean scores b leads on each task, by P(better) a: one run of b is very good."""
    a, b = np.array([2.0, 3.0, 4.0]), np.array([0.0, 1.0, 90.0])
    return Runs(("a", "b"), tuple("vwxyz"), ((a, b),) * 5).table


def test_wins_are_drawn_as_the_method_of_mean_ranks_ranks():
    by_wins = critical_difference(several_runs(), differences="wins")
    assert (by_wins.names, by_wins.mean_ranks.tolist()) == (("a", "b"), [1.0, 2.0])
    by_scores = critical_difference(several_runs(), differences="scores")
    assert (by_scores.names, by_scores.mean_ranks.tolist()) == (("b", "a"), [1.0, 2.0])


@given(contests(missing=False, max_grounds=4), st.sampled_from(["wilcoxon-holm", "nemenyi"]))
@settings(max_examples=50)
def test_mean_ranks_by_wins_are_those_of_the_method_of_that_name(contest, test):
    if len(contest.grounds) > 1:
        found = critical_difference(contest.table, test=test, differences="wins")
        rank_of = dict(zip(contest.names, mean_rank(contest.samples), strict=True))
        assert found.mean_ranks == pytest.approx([rank_of[name] for name in found.names])


@given(contests(missing=False, max_runs=1, max_grounds=6))
def test_with_one_run_each_scores_and_wins_rank_alike(contest):
    if len(contest.grounds) > 1:
        wins, scores = (
            critical_difference(contest.table, differences=differences, test="nemenyi")
            for differences in ("wins", "scores")
        )
        assert wins.names == scores.names
        assert wins.mean_ranks == pytest.approx(scores.mean_ranks)
        assert wins[0].friedman_p == pytest.approx(scores[0].friedman_p)
        assert wins.p_values == pytest.approx(scores.p_values, nan_ok=True)


def test_both_tests_take_the_ranks_that_are_drawn():
    """One always first by wins, always second by scores."""
    for differences in ("wins", "scores"):
        found = critical_difference(several_runs(), test="nemenyi", differences=differences)
        # Two ranks that always differ by 1: a z-value of the root of the number of tasks.
        expected = 2 * stats.norm.sf(5**0.5)
        assert found[0].friedman_p == pytest.approx(expected)
        assert found.p_values[0, 1] == pytest.approx(expected)


def test_shares_won_and_lost_alike_are_ties():
    """7 of 10 won here and lost there: 0.7 - 1/2 is not 1/2 - 0.3 in binary fractions."""
    won, lost = np.repeat([2.0, 0.0], [7, 3]), np.repeat([2.0, 0.0], [3, 7])
    one, even = np.ones(1), np.repeat([2.0, 0.0], [9, 1])
    runs = Runs(("a", "b"), tuple("xyz"), ((won, one), (lost, one), (even, one)))
    found = critical_difference(runs.table, differences="wins")
    assert found.p_values[0, 1] == wilcoxon_p_value([2, -2, 4])


def test_what_was_compared_is_told():
    one = contest([[1, 2], [3, 4], [5, 5]])
    taken = critical_difference(one)
    assert taken[0].differences == "scores"
    assert taken.compared == "differences of scores, whose size must mean the same on all tasks"
    assert [record["differences"] for record in taken.as_records()] == ["scores", "scores"]
    several = critical_difference(several_runs())
    assert (several[0].differences, several.compared) == ("wins", "P(better) on each task")
    nemenyi = critical_difference(one, test="nemenyi")
    assert nemenyi.compared == "mean scores on each task"
    harder = critical_difference(several_runs(), by="task")
    assert harder.compared == "P(harder) for each algorithm"
    assert critical_difference(several_runs(), by="task", differences="scores").compared == (
        "differences of scores, whose size must mean the same for all algorithms"
    )


def test_runs_elsewhere_do_not_choose_the_differences():
    """Where all have one run on the shared tasks, more runs on another task say nothing."""
    one, two, none = np.ones(1), np.ones(2), np.empty(0)
    runs = Runs(("a", "b"), tuple("xyz"), ((one, one), (one, one), (two, none)))
    assert critical_difference(runs.table)[0].differences == "scores"


def test_differences_that_tie_in_tenths_tie():
    """In binary 70.3 - 70.0 is not 65.4 - 65.1; in tenths it is."""
    a, b = [70.3, 65.4, 80.2, 55.5, 60.6], [70.0, 65.1, 79.9, 55.2, 60.9]
    rows = tuple((np.array([x]), np.array([y])) for x, y in zip(a, b, strict=True))
    tenths = tuple((np.rint(10 * x), np.rint(10 * y)) for x, y in rows)
    found, whole = (
        critical_difference(Runs(("a", "b"), tuple("vwxyz"), samples).table, differences="scores")
        for samples in (rows, tenths)
    )
    assert found.p_values[0, 1] == whole.p_values[0, 1] == 0.375


def test_the_notes_say_what_is_compared_and_print_no_tiny_p():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(mean, 1, (4, 20)) for name, mean in (("a", 0), ("b", 5), ("c", 9))}
    notes = critical_difference(ScoreTable.from_arrays(scores)).notes
    assert notes == (
        "Compared by P(better) on each task; Holm's correction over 3 pairs. The tasks are the "
        "sample; rank takes the runs as the sample and may separate other pairs.",
        "Friedman's test that all are alike: p < 0.0001",
    )
    nemenyi = critical_difference(ScoreTable.from_arrays(scores), test="nemenyi").notes
    assert "; one distance for 3 pairs." in nemenyi[0]
