"""Tolerance intervals of single runs: against tables, SciPy, plain counting and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import (
    normal_factor,
    runs_for_tolerance,
    share_of_range,
    tolerance,
    tolerance_ranks,
)


def table(**runs):
    return ScoreTable.from_arrays({name: np.reshape(x, (-1, 1)) for name, x in runs.items()})


def test_numbers_of_runs_are_those_of_published_tables():
    # Wilks (1941, 1942); ISO 16269-6:2014, annexes.
    two_sided = {(0.90, 0.95): 46, (0.95, 0.95): 93, (0.99, 0.95): 473, (0.90, 0.90): 38}
    one_sided = {(0.90, 0.95): 29, (0.95, 0.95): 59, (0.99, 0.99): 459, (0.90, 0.90): 22}
    for (share, level), n in two_sided.items():
        assert runs_for_tolerance(share, level) == n
    for (share, level), n in one_sided.items():
        assert runs_for_tolerance(share, level, side="lower") == n


def test_normal_factors_are_those_of_published_tables():
    # ISO 16269-6:2014, annexes B (one end) and D (two ends); share and confidence 0.95.
    two_sided = {2: 36.5193, 3: 9.7888, 5: 5.0769, 10: 3.3935, 20: 2.7604, 50: 2.3816}
    one_sided = {2: 26.260, 5: 4.203, 10: 2.911, 20: 2.396}
    for n, factor in two_sided.items():
        assert normal_factor(n, 0.95, 0.95) == pytest.approx(factor, abs=2e-4)
    for n, factor in one_sided.items():
        assert normal_factor(n, 0.95, 0.95, side="lower") == pytest.approx(factor, abs=1e-3)


def test_normal_factors_agree_with_scipy():
    for n, share, level in ((2, 0.5, 0.9), (7, 0.9, 0.95), (40, 0.99, 0.5)):
        exact = stats.nct.ppf(level, n - 1, stats.norm.ppf(share) * math.sqrt(n)) / math.sqrt(n)
        assert normal_factor(n, share, level, side="upper") == pytest.approx(exact, rel=1e-9)
        factor = normal_factor(n, share, level)

        def held(mean, n=n, share=share, factor=factor):
            half = math.sqrt(stats.ncx2.ppf(share, 1, mean**2))
            deep = stats.chi2.sf((n - 1) * (half / factor) ** 2, n - 1)
            return deep * stats.norm.pdf(mean, scale=1 / math.sqrt(n))

        assert 2.0 * integrate.quad(held, 0, 8 / math.sqrt(n))[0] == pytest.approx(level, abs=1e-6)


def test_ranks_agree_with_counting():
    """The slow twin: try every pair of ranks, with the confidence of each from SciPy's beta."""
    for n, share, level in ((46, 0.9, 0.95), (61, 0.8, 0.9), (200, 0.9, 0.99)):
        low, high = tolerance_ranks(n, share, level)
        enough = [
            (s - r, abs((r - 1) - (n - s)), r, s)
            for r in range(1, n)
            for s in range(r + 1, n + 1)
            if stats.beta.sf(share, s - r, n - s + r + 1) >= level
        ]
        gap, uneven, _, _ = min(enough)
        assert (high - low, abs((low - 1) - (n - high))) == (gap, uneven)
        assert low - 1 <= n - high
        r, top = tolerance_ranks(n, share, level, side="lower")
        bottom, s = tolerance_ranks(n, share, level, side="upper")
        assert (top, bottom, s) == (n + 1, 0, n + 1 - r)
        assert stats.binom.cdf(n - r, n, share) >= level > stats.binom.cdf(n - r - 1, n, share)


def test_the_range_of_few_runs_holds_what_the_text_says():
    for n in (2, 5, 10, 46):
        share = share_of_range(n, 0.95)
        assert stats.beta.sf(share, n - 1, 2) == pytest.approx(0.95)
    assert share_of_range(1, 0.95) == 0.0
    assert share_of_range(46, 0.95) >= 0.9 > share_of_range(45, 0.95)


def test_ends_are_scores_or_deviations_from_the_mean():
    runs = np.random.default_rng(0).normal(10, 2, 50)
    (one,) = tolerance(table(a=runs))
    assert (one.low, one.high) == (runs.min(), runs.max())
    (one,) = tolerance(table(a=runs), method="normal")
    reach = normal_factor(50, 0.9, 0.95) * runs.std(ddof=1)
    assert (one.low, one.high) == pytest.approx((runs.mean() - reach, runs.mean() + reach))
    for side in ("lower", "upper"):
        for method in ("order", "normal"):
            (one,) = tolerance(table(a=runs), side=side, method=method)
            assert math.isinf(one.high if side == "lower" else one.low)
            assert math.isfinite(one.low if side == "lower" else one.high)
            assert one.as_record()["high" if side == "lower" else "low"] is None


def test_scores_moved_and_stretched_move_and_stretch_the_interval():
    runs = np.random.default_rng(0).gamma(2.0, size=60)
    for method in ("order", "normal"):
        (one,) = tolerance(table(a=runs), method=method)
        (other,) = tolerance(table(a=3 * runs[::-1] - 7), method=method)
        assert (other.low, other.high) == pytest.approx((3 * one.low - 7, 3 * one.high - 7))


def test_too_few_runs_are_told_once_with_how_many_are_needed():
    scores = ScoreTable.from_arrays({"a": np.ones((5, 3)), "b": [[1.0, 2.0, 3.0]]})
    expected = "90 % with confidence 95 % needs 46 runs, .* at most 5, whose range holds 34 %"
    with pytest.warns(DegenerateScoresWarning, match=expected) as said:
        found = tolerance(scores)
    assert len(said) == 1
    assert "a on task_0, b on task_0" in str(said[0].message)
    assert all(math.isnan(one.low) and math.isnan(one.high) for one in found)
    assert found[0].as_record()["low"] is None


def test_normal_intervals_of_degenerate_runs_are_refused():
    cases = {"scores do not vary": [1.0, 1.0], "needs 2 runs": [1.0]}
    for text, runs in cases.items():
        with pytest.warns(DegenerateScoresWarning, match=text):
            (one,) = tolerance(table(a=runs), method="normal")
        assert math.isnan(one.low)
    rows = [{"algorithm": "a", "task": "t", "run": i, "score": i} for i in range(60)]
    rows[3] |= {"score": math.inf, "censored": True}
    censored = ScoreTable.from_records(
        [{"censored": False, **row} for row in rows], higher_is_better=False
    )
    with pytest.warns(DegenerateScoresWarning, match="some runs are infinite"):
        tolerance(censored, method="normal")
    (one,) = tolerance(censored)
    assert (one.low, one.high) == (0.0, math.inf)


def test_what_is_no_share_is_refused():
    for name in ("share", "level"):
        with pytest.raises(ScoreDataError, match=f"{name}: expected a number between 0 and 1"):
            tolerance(table(a=[1.0, 2.0]), **{name: 1.0})
    with pytest.raises(ScoreDataError, match="more than 1,000,000 runs would be needed"):
        tolerance(table(a=[1.0, 2.0]), share=0.999999999)
    with pytest.raises(ValueError, match="5 runs are too few"):
        tolerance_ranks(5, 0.9, 0.95)


def _share(center, reach):
    return stats.norm.cdf(center + reach) - stats.norm.cdf(center - reach)


@pytest.mark.full
def test_intervals_hold_the_share_as_often_as_they_say():
    draws, n, trials = np.random.default_rng(1), 60, 4000
    factor = normal_factor(5, 0.9, 0.95)
    held = {"order": 0, "normal": 0, "exponential": 0}
    for _ in range(trials):
        runs = np.sort(draws.normal(size=n))
        low, high = tolerance_ranks(n, 0.9, 0.95)
        held["order"] += stats.norm.cdf(runs[high - 1]) - stats.norm.cdf(runs[low - 1]) >= 0.9
        few = draws.normal(size=5)
        reach = factor * few.std(ddof=1)
        held["normal"] += _share(few.mean(), reach) >= 0.9
        runs = np.sort(draws.exponential(size=n))
        held["exponential"] += math.exp(-runs[low - 1]) - math.exp(-runs[high - 1]) >= 0.9
    exact = stats.beta.sf(0.9, high - low, n - high + low + 1)
    for name, level in (("order", exact), ("normal", 0.95), ("exponential", exact)):
        assert stats.binomtest(held[name], trials, level).pvalue > 1e-3, name
