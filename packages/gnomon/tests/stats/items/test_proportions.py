"""Intervals of proportions: against statsmodels, SciPy, slow twins and exact enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.stats import clopper_pearson, effective_wilson, jeffreys, wilson

proportion = pytest.importorskip("statsmodels.stats.proportion")

CASES = [(0, 10), (1, 10), (8, 20), (20, 20), (3, 77), (412, 805), (99_000, 100_000)]


def test_intervals_are_those_of_statsmodels():
    methods = {"wilson": wilson, "jeffreys": jeffreys, "beta": clopper_pearson}
    for level in (0.8, 0.95, 0.999):
        for x, n in CASES:
            for name, ours in methods.items():
                expected = proportion.proportion_confint(x, n, 1.0 - level, method=name)
                found = ours(x / n if ours is wilson else x, n, level=level)
                if name == "jeffreys":  # without failures, or successes, an end is the scale's
                    expected = (0.0 if x == 0 else expected[0], 1.0 if x == n else expected[1])
                assert np.allclose(found, expected, atol=1e-12), (name, x, n, level)


def test_the_exact_interval_is_that_of_scipy():
    for x, n in CASES[:-1]:
        expected = scipy_stats.binomtest(x, n).proportion_ci(0.9, "exact")
        assert np.allclose(clopper_pearson(x, n, level=0.9), expected, atol=1e-10), (x, n)


def test_arrays_of_shares_are_shares_one_by_one():
    low, high = wilson([0.1, 0.5], [20, 30])
    assert low[1] == wilson(0.5, 30)[0]
    assert high[0] == wilson(0.1, 20)[1]


def test_wrong_for_right_mirrors_the_interval():
    for interval in (wilson, jeffreys, clopper_pearson):
        for x, n in CASES:
            share = 1.0 if interval is wilson else float(n)
            of = x / n if interval is wilson else float(x)
            low, high = interval(of, n)
            assert np.allclose(interval(share - of, n), (1 - high, 1 - low), atol=1e-9), (x, n)


def spelt_out(y, n_samples, level=0.95):
    """Follow the recipe word by word: one success and one failure added to graded items."""
    n, m = len(y), sum(y) / len(y)
    pm = (n * m + 1) / (n + 2)
    v = (sum((one - m) ** 2 for one in y) + (1 - pm) ** 2 + pm**2) / (n + 2)
    effective = min(max(pm * (1 - pm) / v * n, n), 4 * n_samples)
    c = scipy_stats.t.ppf((1 + level) / 2, n - 1)
    square = c * c / effective
    half = c * math.sqrt(m * (1 - m) / effective + square / (4 * effective))
    return (m + square / 2 - half) / (1 + square), (m + square / 2 + half) / (1 + square)


def test_graded_items_follow_the_recipe():
    rng = np.random.default_rng(3)
    for n, s in ((5, 1), (20, 4), (300, 10)):
        for y in (rng.binomial(s, rng.random(n)) / s, np.ones(n), np.zeros(n), np.full(n, 0.5)):
            found = effective_wilson(y.mean(), y.var(ddof=1) / n, n, df=n - 1, n_samples=n * s)
            expected = np.clip(spelt_out(y.tolist(), n * s), 0.0, 1.0)
            assert np.allclose((found.low, found.high), expected, atol=1e-12), (n, s)


@pytest.mark.full
def test_coverage_by_exact_enumeration():
    """The shares are .02 to .98; the table of the documentation, from 20 items on."""
    least = {20: 0.92, 50: 0.92, 300: 0.93}
    for n, bound in least.items():
        x = np.arange(n + 1)
        low, high = wilson(x / n, n)
        covered = [
            scipy_stats.binom.pmf(x, n, p)[(low <= p) & (p <= high)].sum()
            for p in np.arange(0.02, 0.985, 0.01)
        ]
        assert min(covered) > bound, n
        assert 0.945 < np.mean(covered) < 0.96, n
        low, high = clopper_pearson(x, n)
        exact = [
            scipy_stats.binom.pmf(x, n, p)[(low <= p) & (p <= high)].sum()
            for p in np.arange(0.02, 0.985, 0.01)
        ]
        assert min(exact) >= 0.95


def test_coverage_is_what_the_page_says_of_few_items():
    """Enumerated over shares from .02 to .98: how often between 93 and 97 %, and the least."""
    shares = np.linspace(0.02, 0.98, 193)
    for n, reached, attainable, least in ((20, 79, 90, 91), (50, 95, 98, 92)):
        right = np.arange(n + 1)
        chance = scipy_stats.binom.pmf(right[None], n, shares[:, None])
        low, high = (end[None] for end in wilson(right / n, n))
        covered = (chance * ((low <= shares[:, None]) & (shares[:, None] <= high))).sum(axis=1)
        assert round(100 * np.mean((covered >= 0.93) & (covered <= 0.97))) == reached
        assert round(100 * covered.min()) == least
        total = np.hstack([np.zeros((len(shares), 1)), chance.cumsum(axis=1)])
        sets = total[:, None, :] - total[:, :, None]
        possible = ((sets >= 0.93) & (sets <= 0.97)).any(axis=(1, 2))
        assert round(100 * possible.mean()) == attainable
