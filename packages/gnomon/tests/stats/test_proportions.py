"""Proportions, single, independent and paired: against statsmodels, SciPy and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize
from scipy import stats as scipy_stats

from gnomon.scores import ScoreTable
from gnomon.stats import estimate, mcnemar, tango, wilson

proportion = pytest.importorskip("statsmodels.stats.proportion")

CASES = [(0, 10), (1, 10), (8, 20), (20, 20), (3, 77), (412, 805), (99_000, 100_000)]


def test_wilsons_interval_is_that_of_statsmodels():
    for level in (0.8, 0.95, 0.999):
        for x, n in CASES:
            expected = proportion.proportion_confint(x, n, 1.0 - level, method="wilson")
            assert np.allclose(wilson(x, n, level=level), expected, atol=1e-12), (x, n, level)


def test_arrays_are_taken_one_by_one():
    low, high = wilson([2, 15], [20, 30])
    assert (low[1], high[0]) == (wilson(15, 30)[0], wilson(2, 20)[1])


def test_more_successes_than_observations_are_refused():
    for x, n in ((21, 20), (-1, 20)):
        with pytest.raises(ValueError, match="between 0 and the number of observations"):
            wilson(x, n)


def test_wrong_for_right_mirrors_the_interval():
    for x, n in CASES:
        low, high = wilson(x, n)
        assert np.allclose(wilson(n - x, n), (1 - high, 1 - low), atol=1e-9), (x, n)


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


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_graded_items_follow_the_recipe():
    rng = np.random.default_rng(3)
    for n, s in ((5, 2), (20, 4), (300, 10)):
        for runs in (rng.random((s, n)) < rng.random(n), np.ones((s, n)), np.full((1, n), 0.5)):
            table = ScoreTable.from_arrays({"a": np.asarray(runs, float)}, units="items")
            (found,) = estimate(table)
            expected = np.clip(spelt_out(runs.mean(axis=0).tolist(), runs.size), 0.0, 1.0)
            if found.method == "effective_wilson":
                assert np.allclose((found.low, found.high), expected, atol=1e-12), (n, s)
            else:
                assert found.method == "wilson"


@pytest.mark.full
def test_coverage_by_exact_enumeration():
    """The shares are .02 to .98; the table of the documentation, from 20 items on."""
    least = {20: 0.92, 50: 0.92, 300: 0.93}
    for n, bound in least.items():
        x = np.arange(n + 1)
        low, high = wilson(x, n)
        covered = [
            scipy_stats.binom.pmf(x, n, p)[(low <= p) & (p <= high)].sum()
            for p in np.arange(0.02, 0.985, 0.01)
        ]
        assert min(covered) > bound, n
        assert 0.945 < np.mean(covered) < 0.96, n


def test_coverage_is_what_the_page_says_of_few_items():
    """Enumerated over shares from .02 to .98: how often between 93 and 97 %, and the least."""
    shares = np.linspace(0.02, 0.98, 193)
    for n, reached, attainable, least in ((20, 79, 90, 91), (50, 95, 98, 92)):
        right = np.arange(n + 1)
        chance = scipy_stats.binom.pmf(right[None], n, shares[:, None])
        low, high = (end[None] for end in wilson(right, n))
        covered = (chance * ((low <= shares[:, None]) & (shares[:, None] <= high))).sum(axis=1)
        assert round(100 * np.mean((covered >= 0.93) & (covered <= 0.97))) == reached
        assert round(100 * covered.min()) == least
        total = np.hstack([np.zeros((len(shares), 1)), chance.cumsum(axis=1)])
        sets = total[:, None, :] - total[:, :, None]
        possible = ((sets >= 0.93) & (sets <= 0.97)).any(axis=(1, 2))
        assert round(100 * possible.mean()) == attainable


#: Items that only the first, and only the second, of two models solves, and all items.
TABLES = [(0, 1, 44), (12, 2, 50), (20, 0, 20), (5, 5, 20), (30, 61, 805)]


def test_mcnemar_is_the_binomial_test_without_half_of_what_is_seen():
    assert mcnemar(0, 0) == 1.0
    for b, c in ((1, 6), (5, 5), (12, 2), (150, 190)):
        seen = scipy_stats.binom.pmf(min(b, c), b + c, 0.5)
        half = scipy_stats.binomtest(b, b + c).pvalue - seen if b != c else 1.0
        assert mcnemar(b, c) == pytest.approx(half, abs=1e-9)


def slow_tango(b, c, n, level=0.95):
    """Maximise the likelihood under each difference by a search, and look for where z is passed."""
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

    seen = (b - c) / n
    ends = []
    for sign, bound in ((1, -1.0 + 1e-9), (-1, 1.0 - 1e-9)):
        if abs(seen - bound) < 1e-6 or sign * score(bound) < z:
            ends.append(round(bound))
        else:
            inside = seen - sign * 1e-9
            ends.append(optimize.brentq(lambda d, s=sign: s * score(d) - z, bound, inside))
    return tuple(ends)


def test_tango_is_the_score_interval_of_a_search():
    tables = [*TABLES, (0, 0, 20), (3, 0, 20)]
    low, high = tango(*np.transpose(tables))
    for i, t in enumerate(tables):
        assert np.allclose((low[i], high[i]), slow_tango(*t), atol=2e-6), t


def test_other_levels_and_the_other_way_round():
    for b, c, n in TABLES:
        low, high = tango(b, c, n)
        assert np.allclose(tango(c, b, n), (-high, -low), atol=1e-12)
        wide = tango(b, c, n, level=0.99)
        assert wide[0] <= low <= (b - c) / n <= high <= wide[1]


def test_all_items_solved_by_both_leave_a_small_difference_possible():
    low, high = tango(0, 0, 50)
    assert -0.1 < low < 0.0 < high < 0.1
    assert mcnemar(0, 0) == 1.0


@pytest.mark.full
def test_coverage_and_error_by_exact_enumeration():
    """All tables of 20 and 50 items, shares of discordant items from .01 to .4."""
    for n, least in ((20, 0.925), (50, 0.925)):
        counts = [(b, c) for b, c in itertools.product(range(n + 1), repeat=2) if b + c <= n]
        ends = np.transpose(tango(*np.transpose(counts), n))
        p = mcnemar(*np.transpose(counts))
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
