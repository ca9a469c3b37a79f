import math

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import Strata, estimate, metric_named
from gnomon.stats.small_samples.task_samples import (
    farthest_task,
    hall_interval,
    order_statistics_interval,
    task_sample_interval,
    trimmed_interval,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def over_tasks(x, metrics, **options):
    return estimate(
        ScoreTable.from_arrays({"a": x}), metrics, resampling="runs_and_tasks", **options
    )


def slow_order_statistics(values, level):
    """Interpolate order statistics as Hettmansperger and Sheather write it, by plain loops."""
    ordered, n = sorted(values), len(values)

    def held(k):
        return 1.0 - 2.0 * sum(math.comb(n, j) for j in range(k)) / 2.0**n

    k = max(k for k in range(1, n // 2 + 1) if held(k) >= level)
    part = (held(k) - level) / (held(k) - held(k + 1))
    weight = (n - k) * part / (k + (n - 2 * k) * part)
    low = (1 - weight) * ordered[k - 1] + weight * ordered[k]
    high = (1 - weight) * ordered[n - k] + weight * ordered[n - k - 1]
    return low, high


@pytest.mark.parametrize("n", [6, 7, 16, 57])
def test_order_statistics_are_those_of_a_slow_loop(n):
    x = rng(n).normal(size=n)
    for level in (0.8, 0.95):
        expected = slow_order_statistics(x.tolist(), level)
        assert order_statistics_interval(x, level) == pytest.approx(expected)
    below, above = order_statistics_interval(-x, 0.9)
    assert (-above, -below) == pytest.approx(order_statistics_interval(x, 0.9))


def test_order_statistics_of_the_exact_levels_are_those_of_the_sign_test():
    """At a level that two order statistics have, they are the ends; scipy knows the level."""
    x = np.sort(rng().normal(size=11))
    for k in (2, 3, 4):
        level = 1.0 - 2.0 * stats.binom.cdf(k - 1, 11, 0.5)
        ends = order_statistics_interval(x, level)
        assert ends == pytest.approx((x[k - 1], x[11 - k]))


def test_too_high_a_level_for_the_tasks():
    assert np.isnan(order_statistics_interval(np.arange(6.0), 0.99)).all()
    x = rng().normal(size=(3, 6))
    with pytest.warns(DegenerateScoresWarning, match="6 tasks are too few for an interval at leve"):
        (found,) = over_tasks(x, "median", level=0.99)
    assert np.isnan(found.low)


def slow_hall(values, level):
    """Solve Hall's cubic for the mean by bisection, instead of inverting it."""
    n, mean = len(values), sum(values) / len(values)
    variance = sum((x - mean) ** 2 for x in values) / (n - 1)
    third = n / (n - 1) / (n - 2) * sum((x - mean) ** 3 for x in values)
    skewness, deviation = third / variance**1.5, variance**0.5
    t = stats.t.ppf((1 + level) / 2, n - 1)

    def statistic(truth):
        u = (mean - truth) / deviation
        bent = u + skewness * u**2 / 3 + skewness**2 * u**3 / 27 + skewness / (6 * n)
        return math.sqrt(n) * bent

    def solved(target):
        low, high = mean - 1000 * deviation, mean + 1000 * deviation
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if statistic(middle) > target else (low, middle)
        return low

    return solved(t), solved(-t)


def test_halls_interval_solves_his_cubic():
    for seed in range(4):
        x = rng(seed).lognormal(size=9)
        assert hall_interval(x, 0.9) == pytest.approx(slow_hall(x.tolist(), 0.9), rel=1e-6)
    even = np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0])  # without skewness: Student's
    ends = stats.ttest_1samp(even, 0).confidence_interval(0.95)
    assert hall_interval(even, 0.95) == pytest.approx(tuple(ends))
    assert hall_interval(np.ones(6), 0.95) == (1.0, 1.0)


def test_the_trimmed_interval_is_yuens():
    """With one run the standard error is that of Yuen's winsorised one-sample test."""
    x = rng(3).normal(size=16)
    winsorised = np.sort(x)
    winsorised[:4], winsorised[-4:] = winsorised[4], winsorised[11]
    error = winsorised.std(ddof=1) / (0.5 * math.sqrt(16))
    half = stats.t.ppf(0.975, 7) * error
    middle = stats.trim_mean(x, 0.25)
    iqm = metric_named("iqm")
    low, high, method = task_sample_interval(iqm, middle, Strata.from_matrix(x[None]), 0.95)
    assert (low, high, method) == (
        pytest.approx(middle - half),
        pytest.approx(middle + half),
        "trimmed_t",
    )
    assert trimmed_interval(1.0, np.full(8, 2.0), 0.9) == (1.0, 1.0)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_estimates_over_tasks_like_these():
    x = rng().normal(size=(5, 8)) + rng(1).normal(size=8)
    names = ["mean", "median", "iqm", "optimality_gap", "share_above:0", "task_iqm"]
    found = over_tasks(x, names)
    methods = ["hall_t", "order_statistics", "trimmed_t", "hall_t", "hall_t", "percentile"]
    assert [one.method for one in found] == methods
    assert all(one.low <= one.value <= one.high for one in found)
    assert found[0].n_resamples == 0
    said = "\n".join(found.warnings)
    assert "mean over tasks like these: no interval holds for all distributions" in said
    assert "optimality_gap over" not in said  # 92 to 99 % on nine pools, giant scores among them
    assert "task_iqm over tasks like these: the interval is from resamples" in said
    assert "median over" not in said
    assert "share_above:0 over" not in said  # which has bounds
    moved = over_tasks(3.0 * x + 7.0, names[:3])
    for one, other in zip(found, moved, strict=False):
        ends = (3.0 * one.low + 7.0, 3.0 * one.high + 7.0)
        assert (other.low, other.high) == pytest.approx(ends)
    assert over_tasks(x, "mean", method="percentile")[0].method == "percentile"


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_a_task_far_away_is_named():
    x = rng().normal(size=(5, 8))
    x[:, 2] += 60
    (*_, said) = over_tasks(x, ["median", "iqm"]).warnings
    assert said.startswith("iqm of a: task_2 lies ")
    assert farthest_task(np.array([1.0, 1.0, 1.0, 1.0, 1.0])) == (0, 0.0)
    assert farthest_task(np.array([1.0, 1.0, 1.0, 1.0, 2.0])) == (4, math.inf)


def test_too_few_tasks_are_refused():
    for method in ("auto", "percentile"):
        with pytest.raises(ScoreDataError, match="runs_and_tasks: expected 6 tasks or more"):
            over_tasks(rng().normal(size=(5, 5)), "median", method=method)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_one_run_a_task_is_enough_and_censored_ones_are_cut():
    x = rng().normal(size=(1, 9))
    (found,) = over_tasks(x, "median")
    assert found.low < found.value < found.high
    rows = [
        {"algorithm": "a", "task": f"t{t}", "run": r, "score": x, "censored": bool(np.isinf(x))}
        for (r, t), x in np.ndenumerate(np.r_[x, x + 0.1, np.r_[[-np.inf], x[0, 1:]][None]])
    ]
    table = ScoreTable.from_records(rows)
    median, iqm = estimate(table, ["median", "iqm"], resampling="runs_and_tasks")
    assert np.isfinite([median.low, median.high, iqm.low, iqm.high]).all()


@pytest.mark.full
@pytest.mark.parametrize("n_tasks", [6, 16])
def test_coverage_over_tasks(n_tasks):
    """A binomial test: tasks drawn from skewed and from heavy-tailed pools."""
    n, draws = 1500, rng(21)
    pools = {"gamma": draws.gamma(1.5, size=3000), "t3": draws.standard_t(3, size=3000)}
    for name, pool in pools.items():
        held = dict.fromkeys(("median", "iqm", "mean"), 0)
        noisy = pool + draws.normal(size=(300, 3000)) * 0.3
        truth = {
            "median": np.median(pool),
            "iqm": stats.trim_mean(noisy.ravel(), 0.25),
            "mean": pool.mean(),
        }
        for _ in range(n):
            tasks = draws.choice(pool, n_tasks)
            strata = Strata.from_matrix(tasks + draws.normal(size=(5, n_tasks)) * 0.3)
            for metric in held:
                one = metric_named(metric)
                low, high, _ = task_sample_interval(one, one.value(strata), strata, 0.95)
                held[metric] += low <= truth[metric] <= high
        for metric, least in (("median", 0.935), ("iqm", 0.9), ("mean", 0.88)):
            test = stats.binomtest(held[metric], n, least, "less")
            assert test.pvalue > 0.01, (name, metric, held[metric] / n)
