import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.stats import Resamples, Strata, placements, probability_of_improvement
from gnomon.stats.comparisons.improvement import resampled_improvement

scores = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=5)
suites = st.integers(1, 4).flatmap(
    lambda n: st.tuples(*[st.lists(scores, min_size=n, max_size=n)] * 2)
)


def by_pairs(x, y):
    tasks = zip(x, y, strict=True)
    return np.mean([np.mean([(a > b) + (a == b) / 2 for a in p for b in q]) for p, q in tasks])


@given(suites)
def test_pairs_are_counted(both):
    x, y = (Strata.from_runs(runs) for runs in both)
    assert probability_of_improvement(x, y) == pytest.approx(by_pairs(*both))
    assert probability_of_improvement(y, x) == pytest.approx(1 - by_pairs(*both))
    lower = probability_of_improvement(x, y, higher_is_better=False)
    assert lower == pytest.approx(1 - by_pairs(*both))


@settings(max_examples=40, deadline=None)
@given(suites, st.booleans())
def test_resamples_are_those_of_the_bootstrap(both, higher):
    x, y = (Strata.from_runs(runs) for runs in both)
    keys = (np.uint64(5), np.uint64(6))
    found = resampled_improvement(x, y, n_resamples=4, keys=keys, higher_is_better=higher)
    drawn = [
        [one.per_task() for one in Resamples(s, n_resamples=4, key=key).drawn()]
        for s, key in zip((x, y), keys, strict=True)
    ]
    expected = [by_pairs(p, q) for p, q in zip(*drawn, strict=True)]
    np.testing.assert_allclose(found if higher else 1 - found, expected)


def test_the_error_is_that_of_brunner_and_munzel():
    """One task: their statistic is (P - 1/2) over the error of the placements."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=12), rng.normal(1.0, size=9)
    found = placements(x, y)
    expected = stats.brunnermunzel(x, y)
    t = (found.value - 0.5) / np.sqrt(found.error().variance)
    assert abs(t) == pytest.approx(abs(expected.statistic))
    assert found.error().p_value(found.value - 0.5) == pytest.approx(expected.pvalue, rel=1e-6)


def test_different_tasks_are_refused():
    with pytest.raises(ValueError, match="expected the same tasks, found 1 and 2"):
        probability_of_improvement([[1.0]], [[1.0, 2.0]])
