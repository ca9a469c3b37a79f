"""The band of a run-score profile: theory, a second program, invariances, degenerate scores."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.scores import ScoreTable
from gnomon.stats import Strata, profile, run_score_profile, wilson_band
from strategies_scores import ragged_runs

TAU = np.array([-2.0, -1.0, 0.0, 0.5, 2.0])


def twin(runs, tau, level=0.95, multiplier=None):
    """Compute the band from its definition, one threshold and one task at a time."""
    n_tasks, total = len(runs), sum(len(x) for x in runs)
    by_mean = sorted(range(n_tasks), key=lambda t: (np.mean(runs[t]), t))
    width = min(7, n_tasks)
    moderated = {}
    for place, task in enumerate(by_mean):
        first = max(0, min(place - width // 2, n_tasks - width))
        window = by_mean[first : first + width]
        if all(len(runs[t]) == 1 for t in window):
            window = by_mean
        df = sum(len(runs[t]) - 1 for t in window)
        squares = sum(sum((x - np.mean(runs[t])) ** 2 for x in runs[t]) for t in window)
        own = sum((x - np.mean(runs[task])) ** 2 for x in runs[task])
        moderated[task] = (2 * squares / max(df, 1) + own) / (len(runs[task]) + 1)
    c = stats.norm.ppf((1 + level) / 2) if multiplier is None else multiplier
    ends = []
    for edge in tau:
        shares, smooth, variance = [], [], 1 / total**2
        for task, x in enumerate(runs):
            n = len(x)
            p = sum(one > edge for one in x) / n
            scale = math.sqrt(moderated[task] * (1 + 1 / n))
            f = p if scale < 1e-12 else stats.t.sf((edge - np.mean(x)) / scale, n + 1)
            q = (n * p + 2 * f) / (n + 2)
            variance += q * (1 - q) / (n * (1 - n / (n + 2) ** 2)) / n_tasks**2
            shares.append(p)
            smooth.append(q)
        v, q = sum(shares) / n_tasks, sum(smooth) / n_tasks
        q = min(max(q, 1 / total), 1 - 1 / total)
        n = max(1.0, q * (1 - q) / variance)
        # The ends are where the score statistic of a share reaches the multiplier.
        a, b = 1 + c * c / n, v + c * c / (2 * n)
        root = math.sqrt(max(b * b - a * v * v, 0.0))
        low, high, tail = (b - root) / a, (b + root) / a, stats.norm.sf(c)
        if 1e-9 < v * total < 5 + 1e-9:
            low = min(low, stats.beta.ppf(tail, v * total, total - v * total + 1))
        if 1e-9 < (1 - v) * total < 5 + 1e-9:
            high = max(high, stats.beta.isf(tail, v * total + 1, (1 - v) * total))
        ends.append((max(min(low, v), 0.0), min(max(high, v), 1.0)))
    return np.transpose(ends)


@settings(max_examples=60, deadline=None)
@given(ragged_runs(max_runs=5, max_tasks=9), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_band_is_its_definition(runs, level):
    assume(max(x.size for x in runs) > 1)
    found = wilson_band(Strata.from_runs(runs), TAU, level=level)
    np.testing.assert_allclose(found, twin([list(x) for x in runs], TAU, level), atol=1e-7)


def test_with_many_runs_of_one_task_it_is_wilsons_interval():
    x = np.random.default_rng(0).normal(size=4000)
    low, high = wilson_band(x, [0.5, 1.0], level=0.9)
    for i, edge in enumerate((0.5, 1.0)):
        expected = stats.binomtest(int((x > edge).sum()), x.size).proportion_ci(0.9, "wilson")
        assert (low[i], high[i]) == pytest.approx(tuple(expected), abs=2e-4)


def test_the_whole_curve_is_within_what_a_standardized_bridge_keeps_below():
    """Simulate the bridge from 0.1 to 0.9: it leaves 3.05 standard errors in 5 % of cases."""
    rng, t = np.random.default_rng(0), np.linspace(0.1, 0.9, 801)
    steps = np.diff(np.concatenate([[0.0], t, [1.0]]))
    walks = np.cumsum(rng.normal(size=(6000, steps.size)) * np.sqrt(steps), axis=1)
    bridges = walks[:, :-1] - t * walks[:, -1:]
    largest = np.abs(bridges / np.sqrt(t * (1.0 - t))).max(axis=1)
    scores = np.quantile(rng.normal(size=100_000), np.linspace(0.0, 1.0, 20_000))
    tau = np.quantile(scores, np.linspace(0.1, 0.9, 801))
    value = run_score_profile(scores, tau)
    low, high = wilson_band(scores, tau, simultaneous=True)
    c = np.median((high - low) / 2 / np.sqrt(value * (1 - value) / scores.size))
    assert c == pytest.approx(3.05, abs=0.02)
    assert stats.binomtest(int((largest > c).sum()), 6000, 0.05).pvalue > 0.001


def test_few_thresholds_are_a_few_intervals():
    x = np.random.default_rng(0).normal(size=(5, 8))
    np.testing.assert_allclose(
        wilson_band(x, [0.3], simultaneous=True), wilson_band(x, [0.3]), atol=1e-12
    )
    both = wilson_band(x, [-0.4, 0.4, 0.4], simultaneous=True)
    np.testing.assert_allclose(both, wilson_band(x, [-0.4, 0.4, 0.4], level=0.975), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(ragged_runs(max_runs=5), st.booleans(), st.booleans())
def test_the_band_encloses_the_profile_and_has_width_everywhere(runs, simultaneous, higher):
    assume(max(x.size for x in runs) > 1)
    strata, tau = Strata.from_runs(runs), np.linspace(-30.0, 30.0, 41)
    options = {"higher_is_better": higher}
    value = run_score_profile(strata, tau, **options)
    low, high = wilson_band(strata, tau, simultaneous=simultaneous, **options)
    assert (low >= 0.0).all()
    assert (high <= 1.0).all()
    assert (low <= value + 1e-12).all()
    assert (value <= high + 1e-12).all()
    assert (low < high).all()
    if simultaneous:
        pointwise = wilson_band(strata, tau, **options)
        sign = 1.0 if higher else -1.0
        assert (sign * np.diff(low) <= 0.0).all()
        assert (sign * np.diff(high) <= 0.0).all()
        assert np.mean(high - low) > np.mean(pointwise[1] - pointwise[0])


@pytest.mark.parametrize("simultaneous", [False, True])
def test_order_shift_scale_and_direction_do_not_matter(simultaneous):
    rng = np.random.default_rng(0)
    x, tau = rng.normal(size=(4, 12)), np.linspace(-2.0, 2.0, 9)
    found = wilson_band(x, tau, simultaneous=simultaneous)
    mixed = rng.permuted(x, axis=0)[:, rng.permutation(12)]
    for other, edges in ((mixed, tau), (3.0 * x + 7.0, 3.0 * tau + 7.0)):
        np.testing.assert_allclose(
            wilson_band(other, edges, simultaneous=simultaneous), found, atol=1e-10
        )
    low, high = wilson_band(-x, -tau[::-1], simultaneous=simultaneous, higher_is_better=False)
    np.testing.assert_array_equal((low[::-1], high[::-1]), found)


def test_runs_that_are_all_equal_leave_one_run_in_doubt():
    low, high = wilson_band(np.ones((5, 6)), [0.0, 1.0])
    n = 30 * 29 / 30  # the effective number of runs of a share of one in 30
    z = stats.norm.ppf(0.975)
    assert high.tolist() == pytest.approx([1.0, z**2 / (n + z**2)])
    assert low.tolist() == pytest.approx([n / (n + z**2), 0.0])


def test_one_run_per_task_has_no_band():
    assert np.isnan(wilson_band([[1.0, 2.0]], [0.0, 1.5])).all()


def test_censored_runs_stay_where_they_are():
    """A task without a finite run is as it is seen; one with some may have other finite ones."""
    x = np.random.default_rng(0).normal(size=(5, 3))
    x[:, 0], x[0, 1] = np.inf, -np.inf
    low, high = wilson_band(x, [0.0, 1e9])
    assert np.isfinite([low, high]).all()
    assert low[1] < 1 / 3 < high[1]
    assert low[0] < run_score_profile(x, [0.0])[0] < high[0]


def test_a_profile_says_nothing_of_bands_and_draws_nothing():
    rng = np.random.default_rng(1)
    table = ScoreTable.from_arrays({"a": rng.normal(size=(3, 6)), "b": rng.normal(size=(3, 6))})
    for band in ("pointwise", "simultaneous"):
        found = profile(table, band=band, rng=1)
        assert found.warnings == ()
        assert all((one.low < one.high).all() for one in found)
        again = profile(table, band=band, rng=2)
        np.testing.assert_array_equal(found[0].low, again[0].low)


def skewed(rng, n):
    return np.exp(np.linspace(-1.0, 1.0, 14)) * np.exp(0.6 * rng.normal(size=(n, 14)))


def collapsing(rng, n):
    good = np.linspace(0.4, 2.0, 16) + 0.2 * rng.normal(size=(n, 16))
    return np.where(rng.random((n, 16)) < 0.08, 0.05 * rng.random((n, 16)), good)


def success_rates(rng, n):
    return rng.binomial(10, np.linspace(0.05, 0.95, 12), size=(n, 12)) / 10


@pytest.mark.full
@pytest.mark.parametrize("draw", [skewed, collapsing, success_rates])
@pytest.mark.parametrize("n_runs", [2, 3, 5, 10])
def test_coverage(draw, n_runs):
    """At least 94 % on average over thresholds and 85 at each; 90 for the whole, to its ends."""
    large = draw(np.random.default_rng(7), 40_000)
    tau = np.quantile(large, [0.0005, 0.002, 0.01, *np.linspace(0.05, 0.95, 31), 0.99, 0.9995])
    truth = run_score_profile(large, tau)
    rng, n_tables = np.random.default_rng(n_runs), 400
    held, together = np.zeros(tau.size), 0
    for _ in range(n_tables):
        table = Strata.from_matrix(draw(rng, n_runs))
        low, high = wilson_band(table, tau)
        held += (low <= truth) & (truth <= high)
        low, high = wilson_band(table, tau, simultaneous=True)
        together += bool(((low <= truth) & (truth <= high)).all())
    assert held.mean() / n_tables > 0.935
    for wanted, hits in ((0.85, held.min()), (0.90, together)):
        assert stats.binomtest(int(hits), n_tables, wanted, "less").pvalue > 0.01
