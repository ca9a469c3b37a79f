"""Differences on the same items: against statsmodels, SciPy, closed forms and a slow twin."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize
from scipy import stats as scipy_stats

from gnomon.stats import (
    PairCounts,
    bonett_price,
    mcnemar,
    newcombe_paired,
    newcombe_unpaired,
    tango,
)

TABLES = [
    PairCounts(*counts)
    for counts in ((43, 0, 1, 0), (36, 12, 2, 0), (0, 20, 0, 0), (5, 5, 5, 5), (400, 30, 61, 314))
]


def test_mcnemar_is_that_of_statsmodels_and_the_binomial_test():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for b, c in ((0, 0), (1, 6), (5, 5), (12, 2), (150, 190)):
        expected = tables.mcnemar([[10, b], [c, 10]], exact=True).pvalue
        assert mcnemar(b, c, mid=False) == pytest.approx(expected, abs=1e-12)
        if b + c:
            exact = scipy_stats.binomtest(b, b + c).pvalue
            assert mcnemar(b, c, mid=False) == pytest.approx(exact, abs=1e-9)
            seen = scipy_stats.binom.pmf(min(b, c), b + c, 0.5)
            half = exact - seen if b != c else 1.0
            assert mcnemar(b, c) == pytest.approx(half, abs=1e-9)


def test_unpaired_differences_are_those_of_statsmodels():
    two = pytest.importorskip("statsmodels.stats.proportion")
    for x, n, y, m in ((56, 70, 48, 80), (10, 10, 0, 20), (3, 500, 9, 400)):
        expected = two.confint_proportions_2indep(x, n, y, m, method="newcomb")
        assert np.allclose(newcombe_unpaired(x / n, n, y / m, m), expected, atol=1e-12)


def test_bonett_and_price_is_walds_interval_with_two_more_items():
    for t in TABLES:
        d = np.repeat([1.0, -1.0, 0.0], [t.only_a + 1, t.only_b + 1, t.both + t.neither])
        half = scipy_stats.norm.ppf(0.975) * d.std() / math.sqrt(d.size)
        expected = max(d.mean() - half, -1), min(d.mean() + half, 1)
        assert np.allclose(bonett_price(t), expected, atol=1e-12)


def test_newcombe_is_as_published():
    # Newcombe (1998), table of examples, method 10: 36, 12, 2, 0.
    assert np.allclose(newcombe_paired(PairCounts(36, 12, 2, 0)), (0.0569, 0.3404), atol=5e-5)


def slow_tango(t, level=0.95):
    """Maximise the likelihood under each difference by a search, and look for where z is passed."""
    n, b, c = t.n, t.only_a, t.only_b
    z = scipy_stats.norm.ppf((1 + level) / 2)

    def score(delta):
        # q is the share that only b solves, q + delta that only a does.
        low, high = max(0.0, -delta), (1.0 - delta) / 2.0

        def loss(q):
            parts = (b, q + delta), (c, q), (n - b - c, 1.0 - 2.0 * q - delta)
            return -sum(k * math.log(max(p, 1e-300)) for k, p in parts if k)

        grid = np.linspace(low, high, 401)
        at = grid[int(np.argmin([loss(q) for q in grid]))]
        step = (high - low) / 400
        bounds = max(low, at - step), min(high, at + step)
        q = optimize.minimize_scalar(
            loss, bounds=bounds, method="bounded", options={"xatol": 1e-13}
        ).x
        variance = n * (2.0 * q + delta * (1.0 - delta))
        return (b - c - n * delta) / math.sqrt(max(variance, 1e-300))

    seen = t.difference
    ends = []
    for sign, bound in ((1, -1.0 + 1e-9), (-1, 1.0 - 1e-9)):
        if abs(seen - bound) < 1e-6 or sign * score(bound) < z:
            ends.append(round(bound))
        else:
            inside = seen - sign * 1e-9
            ends.append(optimize.brentq(lambda d, s=sign: s * score(d) - z, bound, inside))
    return tuple(ends)


def test_tango_is_the_score_interval_of_a_search():
    for t in (*TABLES, PairCounts(9, 0, 0, 11), PairCounts(2, 3, 0, 15)):
        assert np.allclose(tango(t), slow_tango(t), atol=2e-6), t


def test_other_levels_and_the_other_way_round():
    for t in TABLES:
        swapped = PairCounts(t.both, t.only_b, t.only_a, t.neither)
        for interval in (tango, bonett_price, newcombe_paired):
            low, high = interval(t)
            assert np.allclose(interval(swapped), (-high, -low), atol=1e-12)
            wide = interval(t, level=0.99)
            assert wide[0] <= low <= t.difference + 0.05
            assert wide[1] >= high


def test_all_items_solved_by_both_leave_a_small_difference_possible():
    low, high = tango(PairCounts(50, 0, 0, 0))
    assert -0.1 < low < 0.0 < high < 0.1
    assert mcnemar(0, 0) == 1.0


@pytest.mark.full
def test_coverage_and_error_by_exact_enumeration():
    """All tables of 20 and 50 items, shares of discordant items from .01 to .4."""
    for n, least in ((20, 0.925), (50, 0.925)):
        counts = [(b, c) for b, c in itertools.product(range(n + 1), repeat=2) if b + c <= n]
        ends = np.array([tango(PairCounts(n - b - c, b, c, 0)) for b, c in counts])
        p = np.array([mcnemar(b, c) for b, c in counts])
        for only_a, only_b in ((0.02, 0.01), (0.1, 0.05), (0.2, 0.2), (0.3, 0.1), (0.4, 0.02)):
            shares = [only_a, only_b, 1.0 - only_a - only_b]
            chance = np.array(
                [scipy_stats.multinomial.pmf([b, c, n - b - c], n, shares) for b, c in counts]
            )
            truth = only_a - only_b
            held = (ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1])
            assert chance[held].sum() > least, (n, shares)
            if truth == 0.0:
                assert chance[p <= 0.05].sum() < 0.061, (n, shares)
