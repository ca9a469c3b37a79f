import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from gnomon.stats import Strata, median_profile_interval
from strategies_scores import ragged_runs


@given(ragged_runs(max_runs=5), st.floats(0.1, 5), st.floats(-10, 10))
def test_the_median_interval_moves_with_shift_and_scale(runs, scale, shift):
    assume(any(x.size > 1 and np.ptp(x) > 1e-3 for x in runs))
    strata = Strata.from_runs(runs)
    low, high = median_profile_interval(strata, 0.95)
    assert low <= np.median(strata.task_means) <= high
    moved = median_profile_interval(Strata(strata.values * scale + shift, strata.starts), 0.95)
    size = max(1.0, np.abs(strata.values).max()) * max(scale, 1.0)
    assert moved == pytest.approx((low * scale + shift, high * scale + shift), abs=1e-6 * size)
    mirrored = median_profile_interval(Strata(-strata.values, strata.starts), 0.95)
    assert mirrored == pytest.approx((-high, -low), abs=1e-6 * size)


def test_the_median_interval_by_a_grid():
    """An independent reading of the definition: scan c, count the cheapest moves."""
    x = np.random.default_rng(3).normal(size=(3, 7)) + np.arange(7) / 3
    means, variances = x.mean(axis=0), x.var(axis=0, ddof=1)
    moderated = (2 * 0.75 * variances.mean() + 2 * variances) / 4
    errors, df = np.sqrt(moderated / 3), 4
    critical = stats.chi2.ppf(0.95, 1)
    scale = ((8 * df + 1) / (8 * df + 3)) ** 2 * df
    high = -np.inf
    for c in np.linspace(np.median(means), means.max() + 5, 20001):
        missing = 4 - np.sum(means >= c)
        costs = np.sort(scale * np.log1p(((c - means[means < c]) / errors[means < c]) ** 2 / df))
        if costs[: max(missing, 0)].sum() <= critical:
            high = c
    assert median_profile_interval(Strata.from_matrix(x), 0.95)[1] == pytest.approx(high, abs=1e-3)
