"""Critical differences: Demsar's example, SciPy's tests, and groups."""

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.ranking.critical_difference import critical_difference, wilcoxon_p_value
from gnomon.ranking.pairwise import Contest


def contest(matrix, names="abcdef"):
    """From scores (tasks, algorithms)."""
    samples = tuple(tuple(np.atleast_1d(float(x)) for x in row) for row in matrix)
    return Contest(
        tuple(names[: len(matrix[0])]), tuple(f"{g}" for g in range(len(matrix))), samples
    )


def test_nemenyis_difference_is_demsars():
    """Four classifiers on 14 data sets: q = 2.569, CD = 1.25 (Demsar 2006, section 3.2.2)."""
    rng = np.random.default_rng(0)
    found = critical_difference(contest(rng.normal(size=(14, 4))), test="nemenyi")
    assert found.difference == pytest.approx(1.25, abs=0.005)


def test_friedmans_p_is_scipys():
    matrix = np.round(np.random.default_rng(0).normal(size=(12, 4)), 1)
    expected = stats.friedmanchisquare(*matrix.T).pvalue
    assert critical_difference(contest(matrix)).friedman_p == pytest.approx(expected)


def test_wilcoxons_p_is_scipys():
    rng = np.random.default_rng(0)
    d = rng.normal(0.3, 1, 20)
    assert wilcoxon_p_value(d) == pytest.approx(stats.wilcoxon(d).pvalue)
    big = rng.normal(0.3, 1, 60)
    assert wilcoxon_p_value(big) == pytest.approx(stats.wilcoxon(big, method="approx").pvalue)


def test_infinite_and_equal_scores_are_ranked():
    assert wilcoxon_p_value([np.inf, 1, 2, 3, 4, 5]) == wilcoxon_p_value([6, 1, 2, 3, 4, 5])
    assert wilcoxon_p_value([0.0, 0.0, 0.0]) == 1.0


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
    c = Contest(("a", "b"), tuple(f"{g}" for g in range(12)), samples)
    bent = Contest(c.names, c.grounds, tuple(tuple(x**3 for x in row) for row in samples))
    for one in (c, bent):
        assert critical_difference(one, differences="wins").p_values[0, 1] == pytest.approx(
            critical_difference(c, differences="wins").p_values[0, 1]
        )


def test_no_common_tasks_no_diagram():
    samples = ((np.ones(1), np.empty(0)), (np.empty(0), np.ones(1)))
    with pytest.raises(ScoreDataError, match=r"at least two tasks that all share .* found 0"):
        critical_difference(Contest(("a", "b"), ("x", "y"), samples))
