"""The percentile interval: theory, SciPy, slow resamples by hand, coverage, infinite scores."""

import numpy as np
import pytest
from scipy import stats

from gnomon.scores import ScoreTable
from gnomon.stats import METRICS, Metric, compare, estimate, metric_named

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")


def percentile(x, metric="mean", **options):
    x = np.asarray(x, dtype=float)
    table = ScoreTable.from_arrays({"a": x if x.ndim > 1 else x[:, None]})
    return estimate(table, metric, method="percentile", **options)[0]


def ragged(counts, rng):
    x = np.full((max(counts), len(counts)), np.nan)
    for t, n in enumerate(counts):
        x[:n, t] = rng.normal(t / 3, 1, n)
    return x


@pytest.mark.parametrize("counts", [(10, 10, 10, 10, 10), (2, 9, 40, 3, 5)])
@pytest.mark.parametrize("metric", METRICS)
def test_counted_resamples_are_like_drawn_ones(counts, metric):
    """A metric by name is computed from counts of runs, a metric of one's own from draws."""
    x, own = ragged(counts, np.random.default_rng(0)), Metric("own", metric_named(metric).value)
    for level in (0.5, 0.95):
        fast, slow = (percentile(x, of, n_resamples=6_000, level=level) for of in (metric, own))
        width = fast.high - fast.low
        assert (slow.low, slow.high) == pytest.approx((fast.low, fast.high), abs=0.08 * width)


def test_tasks_are_drawn_too_with_their_runs():
    """Of tasks without noise the resampled mean is that of tasks drawn with replacement."""
    means = np.random.default_rng(2).normal(size=9)
    found = percentile(np.tile(means, (3, 1)), resampling="runs_and_tasks", n_resamples=20_000)
    draws = np.random.default_rng(3).choice(means, (20_000, 9)).mean(axis=1)
    assert (found.low, found.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.03)
    x = ragged((2, 3, 4, 2, 3, 5), np.random.default_rng(4))
    uneven = percentile(x, resampling="runs_and_tasks", n_resamples=500)
    assert uneven.low < uneven.value < uneven.high


def test_interval_of_a_mean_is_scipys():
    x, n = np.random.default_rng(1).gamma(2.0, size=12), 40_000
    found = percentile(x, n_resamples=n)
    scipys = stats.bootstrap(
        (x,), np.mean, n_resamples=n, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx(scipys, rel=0.02)


@pytest.mark.full
def test_coverage_of_a_sample_that_is_large():
    """At 60 runs the percentile interval of a normal mean covers close to its nominal level."""
    rng, n_tables, hits = np.random.default_rng(5), 400, 0
    for _ in range(n_tables):
        found = percentile(rng.normal(size=(60, 2)), n_resamples=999, level=0.9)
        hits += found.low <= 0.0 <= found.high
    assert stats.binomtest(hits, n_tables, 0.9).pvalue > 0.01


def test_pairs_are_drawn_together():
    x = np.random.default_rng(0).normal(size=(4, 5))
    table = ScoreTable.from_arrays({"a": x, "b": x + np.array([1.0, 2.0, 3.0, 4.0, 5.0])})
    (one,) = compare(table, "b", "a", "mean", paired=True, method="percentile", n_resamples=50)
    assert one.value == pytest.approx(3.0)
    assert np.isnan(one.low)  # the differences of pairs do not vary
