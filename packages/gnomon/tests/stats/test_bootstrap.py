import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.stats import METRICS, Resamples, Strata, metric_named
from strategies_scores import ragged_runs


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
def test_resamples_are_runs_of_each_task(runs, key, draw_tasks):
    """The metrics of what is drawn, by a slow loop; whole tasks where tasks are drawn too."""
    strata = Strata.from_runs(runs)
    resamples = Resamples(strata, n_resamples=5, key=np.uint64(key), draw_tasks=draw_tasks)
    for drawn, weights in zip(resamples.drawn(), np.vstack([*resamples.weights()]), strict=True):
        for x, own in zip(drawn.per_task(), runs, strict=True):
            assert any(x.size == y.size and set(x) <= set(y) for y in runs)
            assert draw_tasks or set(x) <= set(own)
        found = [metric_named(name).value(drawn) for name in METRICS]
        expected = slow_aggregates(drawn.per_task(), drawn.n_scores)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-7)
        assert weights.sum() == pytest.approx(1.0)
        assert weights @ strata.values == pytest.approx(expected[0], abs=1e-7)


@pytest.mark.parametrize("counts", [(10, 10, 10, 10, 10), (2, 9, 40, 3, 5)])
def test_fast_replicates_have_the_distribution_of_slow_ones(counts):
    """Quantiles of counted resamples and of drawn ones, by a Kolmogorov-Smirnov test."""
    draws = np.random.default_rng(0)
    strata = Strata.from_runs([draws.normal(t / 3, 1, n) for t, n in enumerate(counts)])
    metrics = [metric_named(name) for name in METRICS]
    slow = list(Resamples(strata, n_resamples=3000, key=np.uint64(1)).drawn())
    fast = Resamples(strata, n_resamples=3000, key=np.uint64(2))
    for metric in metrics:
        drawn = [metric.value(one) for one in slow]
        assert stats.ks_2samp(fast.of(metric).round(9), np.round(drawn, 9)).pvalue > 1e-3


def test_interval_of_a_mean_is_scipys():
    x = np.random.default_rng(1).gamma(2.0, size=12)
    n = 40_000
    replicates = replicates_of("mean", x, n_resamples=n, key=2)
    low, high = np.quantile(replicates, [0.025, 0.975])
    scipys = stats.bootstrap(
        (x,), np.mean, n_resamples=n, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert (low, high) == pytest.approx(scipys, rel=0.02)


def test_moments_of_the_resampled_mean():
    """Theory: the variance of a resampled mean is the population variance over n, per task."""
    runs = [np.array([0.0, 1.0, 5.0]), np.array([2.0, 2.0, 3.0, 9.0])]
    replicates = replicates_of(
        "mean",
        Strata.from_runs(runs),
        n_resamples=100_000,
        key=0,
    )
    variance = sum(x.var() / x.size for x in runs) / 4
    assert replicates.mean() == pytest.approx(np.mean([2.0, 4.0]), abs=5 * (variance / 1e5) ** 0.5)
    assert replicates.var() == pytest.approx(variance, rel=0.03)


def test_coverage_of_a_sample_that_is_large():
    """At 60 runs the percentile interval of a normal mean covers close to its nominal level."""
    rng = np.random.default_rng(5)
    n_tables, hits = 400, 0
    for key in range(n_tables):
        x = rng.normal(size=(60, 2))
        replicates = replicates_of("mean", x, n_resamples=999, key=key)
        low, high = np.quantile(replicates, [0.05, 0.95])
        hits += bool(low <= 0.0 <= high)
    assert stats.binomtest(hits, n_tables, 0.9).pvalue > 0.01


def test_infinite_scores_pass_where_they_are_cut():
    """Of 64 scores 16 are infinite: as many as are cut, so that half of the resamples are too."""
    x = np.random.default_rng(0).normal(size=(8, 8))
    x[:4, :4] = np.inf
    found = replicates_of("iqm", x, n_resamples=200, key=np.uint64(9))
    assert 40 < np.isinf(found).sum() < 160
    assert not np.isnan(found).any()


def test_algorithms_with_one_key_are_drawn_in_pairs():
    x = np.random.default_rng(0).normal(size=(4, 5))
    a, b = (Resamples(y, n_resamples=20, key=np.uint64(3)) for y in (x, x + 10.0))
    difference = b.of(metric_named("median")) - a.of(metric_named("median"))
    np.testing.assert_allclose(difference, 10.0)
