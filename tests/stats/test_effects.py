import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import (
    almost_stochastic_order,
    cliffs_delta,
    hedges_g,
    permutation_test,
    task_tests,
    violation_ratio,
)


def rng():
    return np.random.default_rng(0)


def test_violation_ratio_at_its_ends():
    x = rng().normal(size=7)
    assert violation_ratio(x + 1, x) == 0.0
    assert violation_ratio(x, x + 1) == 1.0
    assert np.isnan(violation_ratio(x, x))
    y = rng().normal(size=5)
    assert violation_ratio(x, y) + violation_ratio(y, x) == pytest.approx(1.0)


def test_order_is_decided_by_a_clear_difference_only():
    x, y = rng().normal(2.0, size=20), np.random.default_rng(1).normal(size=20)
    assert almost_stochastic_order(x, y, rng=rng())[1] < 0.5
    assert almost_stochastic_order(y, x, rng=rng())[1] > 0.5


def test_effect_sizes():
    x, y = rng().normal(size=9), np.random.default_rng(1).normal(size=6)
    assert cliffs_delta(x, y) == pytest.approx(np.mean([np.sign(a - b) for a in x for b in y]))
    assert cliffs_delta(x, y) == -cliffs_delta(y, x)
    assert np.isnan(hedges_g([1.0], y))
    assert np.isnan(hedges_g([1.0, 1.0], [1.0, 1.0]))
    with pytest.raises(ScoreDataError, match="expected finite scores for a test of means"):
        hedges_g([np.inf, 1.0], y)


def test_permutation_test_is_scipys():
    x, y = rng().normal(size=6), rng().normal(1.5, size=7)
    expected = stats.permutation_test(
        (x, y), lambda a, b, axis: a.mean(axis) - b.mean(axis), n_resamples=np.inf, vectorized=True
    ).pvalue
    assert permutation_test(x, y, rng=rng()) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("test", ["welch", "mann_whitney", "permutation", "wilcoxon"])
def test_task_tests_find_the_task_that_differs(test):
    x = rng().normal(size=(12, 3))
    y = np.random.default_rng(1).normal(size=(12, 3)) + np.array([0, 0, 4])
    table = ScoreTable.from_arrays({"x": x, "y": y})
    found = task_tests(table, "x", "y", test, rng=rng())
    assert [t.p_adjusted < 0.05 for t in found.values()] == [False, False, True]
    if test == "welch":
        p = stats.ttest_ind(x[:, 0], y[:, 0], equal_var=False).pvalue
        assert found["task_0"].p_value == pytest.approx(p)
    if test == "wilcoxon":
        assert found["task_0"].p_value == pytest.approx(stats.wilcoxon(x[:, 0], y[:, 0]).pvalue)
