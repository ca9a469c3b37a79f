import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.stats import (
    METRICS,
    Metric,
    Resamples,
    Strata,
    draw_key,
    metric_named,
    percentile_interval,
    quantiles,
)
from strategies_scores import ragged_runs

MASK = 2**64 - 1
STRIDE = 0x9E3779B97F4A7C15


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def slow_samples(key, replicate, runs, draw_tasks=False):
    """The documented draws, in Python's whole numbers: one list of scores for each task."""
    state = mix((int(key) + (replicate + 1) * STRIDE) & MASK)

    def below(n):
        nonlocal state
        state = (state + STRIDE) & MASK
        return n * (mix(state) >> 32) >> 32

    samples = []
    for task in runs:
        x = runs[below(len(runs))] if draw_tasks else task
        samples.append([float(x[below(len(x))]) for _ in x])
    return samples


def slow_aggregates(samples, n_scores, gamma=1.0):
    """Mean, median, interquartile mean and gap, from sorted lists of weighted scores."""
    means = sorted(sum(x) / len(x) for x in samples)
    middle = len(means) // 2
    median = means[middle] if len(means) % 2 else (means[middle - 1] + means[middle]) / 2
    weighted = sorted((v, n_scores / len(samples) / len(x)) for x in samples for v in x)
    cut, seen, total, mass = n_scores // 4, 0.0, 0.0, 0.0
    for value, weight in weighted:
        kept = max(0.0, min(seen + weight, n_scores - cut) - max(seen, cut))
        total, mass, seen = total + kept * value, mass + kept, seen + weight
    gap = np.mean([np.mean([max(gamma - v, 0) for v in x]) for x in samples])
    return np.mean(means), median, total / mass, gap


def replicates_of(name, x, **options):
    return Resamples(x, **options).of(metric_named(name))


@settings(max_examples=50, deadline=None)
@given(ragged_runs(), st.integers(0, 2**64 - 1), st.booleans())
def test_replicates_are_those_of_a_slow_loop_with_the_same_draws(runs, key, draw_tasks):
    strata = Strata.from_runs(runs)
    resamples = Resamples(strata, n_resamples=5, key=np.uint64(key), draw_tasks=draw_tasks)
    found = np.stack([resamples.of(metric_named(name)) for name in METRICS], axis=1)
    drawn = list(resamples.drawn())
    for b in range(5):
        samples = slow_samples(key, b, runs, draw_tasks)
        expected = slow_aggregates(samples, strata.values.size)
        np.testing.assert_allclose(found[b], expected, rtol=1e-12, atol=1e-7)
        assert [x.tolist() for x in drawn[b].per_task()] == samples


def test_interval_of_a_mean_is_scipys():
    x = np.random.default_rng(1).gamma(2.0, size=12)
    n = 40_000
    replicates = replicates_of("mean", x, n_resamples=n, key=draw_key(np.random.default_rng(2)))
    low, high, mc_error = percentile_interval(replicates, 0.95)
    scipys = stats.bootstrap(
        (x,), np.mean, n_resamples=n, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    # Two independent Monte Carlo errors, four of their standard deviations.
    assert abs(low - scipys.low) < 4 * np.sqrt(2) * mc_error
    assert abs(high - scipys.high) < 4 * np.sqrt(2) * mc_error


def test_monte_carlo_error_is_the_deviation_over_repetitions():
    x = np.random.default_rng(1).normal(size=(8, 5))
    rng = np.random.default_rng(4)
    ends = [
        percentile_interval(replicates_of("iqm", x, n_resamples=1000, key=draw_key(rng)), 0.9)
        for _ in range(200)
    ]
    low, high, mc_error = np.array(ends).T
    assert mc_error.mean() == pytest.approx(max(low.std(), high.std()), rel=0.25)


def test_moments_of_the_resampled_mean():
    """Theory: the variance of a resampled mean is the population variance over n, per task."""
    runs = [np.array([0.0, 1.0, 5.0]), np.array([2.0, 2.0, 3.0, 9.0])]
    replicates = replicates_of(
        "mean",
        Strata.from_runs(runs),
        n_resamples=100_000,
        key=draw_key(np.random.default_rng(0)),
    )
    variance = sum(x.var() / x.size for x in runs) / 4
    assert replicates.mean() == pytest.approx(np.mean([2.0, 4.0]), abs=5 * (variance / 1e5) ** 0.5)
    assert replicates.var() == pytest.approx(variance, rel=0.03)


def test_coverage_of_a_sample_that_is_large():
    """At 60 runs the percentile interval of a normal mean covers close to its nominal level."""
    rng = np.random.default_rng(5)
    n_tables, hits = 400, 0
    for _ in range(n_tables):
        replicates = replicates_of(
            "mean", rng.normal(size=(60, 2)), n_resamples=999, key=draw_key(rng)
        )
        low, high, _ = percentile_interval(replicates, 0.9)
        hits += bool(low <= 0.0 <= high)
    assert stats.binomtest(hits, n_tables, 0.9).pvalue > 0.01


@pytest.mark.parametrize("draw_tasks", [False, True])
def test_infinite_scores_pass_where_they_are_cut(draw_tasks):
    """Of 64 scores 16 are infinite: as many as are cut, so that half of the resamples are too."""
    x = np.random.default_rng(0).normal(size=(8, 8))
    x[:4, :4] = np.inf
    resamples = Resamples(x, n_resamples=200, key=np.uint64(9), draw_tasks=draw_tasks)
    found = resamples.of(metric_named("iqm"))
    expected = [metric_named("iqm").value(drawn) for drawn in resamples.drawn()]
    assert 40 < np.isinf(expected).sum() < 160
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_threads_and_blocks_change_nothing(monkeypatch):
    x = np.random.default_rng(0).normal(size=(5, 7))
    key = np.uint64(99)
    whole = replicates_of("iqm", x, n_resamples=1000, key=key)
    monkeypatch.setattr("gnomon.stats.bootstrap.resamples.BLOCK", 37)
    for n_threads in (1, 2, 4):
        parts = replicates_of("iqm", x, n_resamples=1000, key=key, n_threads=n_threads)
        np.testing.assert_array_equal(parts, whole)


def test_the_global_random_state_has_no_part():
    x = np.random.default_rng(0).normal(size=(6, 3))

    def draw():
        rng = np.random.default_rng(7)
        replicates = replicates_of("median", x, n_resamples=50, key=draw_key(rng))
        return replicates.tolist()

    first = draw()
    np.random.seed(123)  # noqa: NPY002 - the point is to disturb it
    random.seed(4)
    assert draw() == first


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=30),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_quantiles_are_numpys_where_numpy_has_them(values, probabilities):
    x = np.array(values)
    np.testing.assert_allclose(
        quantiles(x, probabilities), np.quantile(x, probabilities), rtol=1e-12, atol=1e-12
    )


def test_quantiles_of_infinities():
    x = np.array([1.0, 2.0, np.inf, np.inf])
    assert quantiles(x, [0.0, 1 / 3, 0.5, 0.9]).tolist() == [1.0, 2.0, np.inf, np.inf]
    assert np.isnan(quantiles(np.array([1.0, np.nan]), [0.0])).all()


def test_any_metric_sees_the_same_resamples():
    x = np.random.default_rng(0).normal(size=(4, 5))
    resamples = Resamples(x, n_resamples=30, key=np.uint64(5))
    by_hand = Metric.of_matrix("by hand", lambda scores: float(scores.mean()))
    resamples.of_all([by_hand, metric_named("share_above:0"), metric_named("trimmed_mean:0.25")])
    np.testing.assert_allclose(resamples.of(by_hand), resamples.of(metric_named("mean")))
    trimmed = resamples.of(metric_named("trimmed_mean:0.25"))
    np.testing.assert_allclose(trimmed, resamples.of(metric_named("iqm")))
    shares = [np.mean(drawn.values > 0) for drawn in resamples.drawn()]
    np.testing.assert_allclose(resamples.of(metric_named("share_above:0")), shares)


def test_algorithms_with_one_key_are_drawn_in_pairs():
    x = np.random.default_rng(0).normal(size=(4, 5))
    a, b = (Resamples(y, n_resamples=20, key=np.uint64(3)) for y in (x, x + 10.0))
    difference = b.of(metric_named("median")) - a.of(metric_named("median"))
    np.testing.assert_allclose(difference, 10.0)
