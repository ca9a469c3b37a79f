import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from gnomon.scores import ScoreTable
from gnomon.stats import Strata, estimate
from score_tables import quietly
from strategies_scores import ragged_runs


def median_profile_interval(strata, level):
    """Return the interval of a median by `estimate`, equal to the median where there is none."""
    rows = [
        {"algorithm": "a", "task": f"t{t}", "run": r, "score": float(score)}
        for t, runs in enumerate(strata.per_task())
        for r, score in enumerate(runs)
    ]
    (one,) = quietly(estimate, ScoreTable(rows, unit="points"), "median", level=level)
    return (one.value, one.value) if np.isnan(one.low) else (one.low, one.high)


@given(ragged_runs(max_runs=5), st.floats(0.1, 5), st.floats(-10, 10))
def test_the_median_interval_moves_with_shift_and_scale(runs, scale, shift):
    assume(len(runs) > 2 and any(x.size > 1 and np.ptp(x) > 1e-3 for x in runs))
    strata = Strata.from_runs(runs)
    low, high = median_profile_interval(strata, 0.95)
    assert low <= np.median(strata.task_means) <= high
    moved = median_profile_interval(Strata(strata.values * scale + shift, strata.starts), 0.95)
    size = max(1.0, np.abs(strata.values).max(), high - low) * max(scale, 1.0)
    assert moved == pytest.approx((low * scale + shift, high * scale + shift), abs=1e-6 * size)
    mirrored = median_profile_interval(Strata(-strata.values, strata.starts), 0.95)
    assert mirrored == pytest.approx((-high, -low), abs=1e-6 * size)


@pytest.mark.parametrize("gap", [0.0, 1 / 3, 5.0])
def test_the_median_interval_by_a_grid(gap):
    """An independent reading of the definition: scan c, count the cheapest moves."""
    x = np.random.default_rng(3).normal(size=(3, 7)) + gap * np.arange(7)
    means, variances = x.mean(axis=0), x.var(axis=0, ddof=1)
    moderated = (2 * 0.75 * variances.mean() + 2 * variances) / 4
    errors, df = np.sqrt(moderated / 3), 4
    crowd = 0.0
    for m, error in zip(means, errors, strict=True):
        below = stats.norm.cdf(np.median(means), loc=m, scale=error)
        crowd += np.sqrt(np.pi) * below * (1 - below)
    critical = stats.chi2.ppf(0.95, 1) / np.sqrt(1 + crowd / 3)
    scale = ((8 * df + 1) / (8 * df + 3)) ** 2 * df
    high = -np.inf
    for c in np.linspace(np.median(means), means.max() + 5, 20001):
        missing = 4 - np.sum(means >= c)
        costs = np.sort(scale * np.log1p(((c - means[means < c]) / errors[means < c]) ** 2 / df))
        if costs[: max(missing, 0)].sum() <= critical:
            high = c
    found = median_profile_interval(Strata.from_matrix(x), 0.95)[1]
    assert found == pytest.approx(high, abs=2e-3)


def test_an_isolated_median_is_one_tasks_interval():
    """Alone within its error (p = 1/2, the other tasks far away), n is sqrt(pi)/4."""
    x = np.array([[0.0, 100.0, 200.0], [1.0, 102.0, 201.0], [2.0, 101.0, 199.0]])
    low, high = median_profile_interval(Strata.from_matrix(x), 0.95)
    df, error = 4, np.sqrt((2 * 0.75 + 2) / 4 / 3)
    critical = stats.chi2.ppf(0.95, 1) / np.sqrt(1 + np.sqrt(np.pi) / 12)
    wallace = ((8 * df + 1) / (8 * df + 3)) ** 2 * df
    half = error * np.sqrt(df * np.expm1(critical / wallace))
    assert (low, high) == pytest.approx((101.0 - half, 101.0 + half), abs=1e-3 * half)


@pytest.mark.full
@pytest.mark.parametrize("n_runs", [2, 3, 5, 10])
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_coverage(n_runs, spread):
    """At least 92 % of skewed tasks, equal ones among them."""
    means = np.exp(spread * np.random.default_rng(4).normal(size=17))
    rng, n_tables, hits = np.random.default_rng(n_runs), 400, 0
    for _ in range(n_tables):
        x = means * np.exp(0.5 * rng.normal(size=(n_runs, 17)) - 0.125)
        low, high = median_profile_interval(Strata.from_matrix(x), 0.95)
        hits += low <= np.median(means) <= high
    assert stats.binomtest(hits, n_tables, 0.92, "less").pvalue > 0.01


def test_runs_that_do_not_vary_beside_some_that_do():
    still = np.tile(np.r_[np.zeros(8), np.ones(8)], (4, 1))
    assert median_profile_interval(Strata.from_matrix(still), 0.95) == (0.5, 0.5)
    moving = np.random.default_rng(0).normal(0.5, 0.1, size=(4, 9))
    found = median_profile_interval(Strata.from_matrix(np.c_[still, moving]), 0.95)
    assert found == pytest.approx((0.4389743528, 0.5329660358), abs=1e-5)  # by bisection
