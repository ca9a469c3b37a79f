"""Profiles of scores: counting, thresholds, bands by theory and a second program, coverage."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import profile
from score_tables import censored
from strategies_scores import ragged_runs

TAU = np.array([-2.0, -1.0, 0.0, 0.5, 2.0])
quiet = pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")


def profile_of(runs, tau=None, kind="run_score", higher=True, **options):
    """Return the profile of one algorithm, from runs (runs, tasks) or an array for each task."""
    if isinstance(runs, list):
        most = max(len(x) for x in runs)
        runs = np.array([[*x, *[np.nan] * (most - len(x))] for x in runs]).T
    table = ScoreTable.from_arrays({"a": runs}, higher_is_better=higher, unit="points")
    return profile(table, kind, tau, **options)[0]


@quiet
@given(ragged_runs())
def test_profiles_by_counting(runs):
    for t, share in zip(TAU, profile_of(runs, TAU).value, strict=True):
        assert share == pytest.approx(np.mean([(x > t).mean() for x in runs]))
    means = np.array([x.mean() for x in runs])
    for t, share in zip(TAU, profile_of(runs, TAU, "average_score").value, strict=True):
        assert share == pytest.approx((means > t).mean())


def test_lower_is_better_mirrors():
    x = np.random.default_rng(0).normal(size=(5, 4))
    for kind, difference in (("run_score", 1e-12), ("average_score", 0.03)):
        one, other = profile_of(x, TAU, kind), profile_of(-x, -TAU[::-1], kind, higher=False)
        np.testing.assert_allclose(one.value, other.value[::-1])
        np.testing.assert_allclose(one.low, other.low[::-1], atol=difference)


@pytest.mark.parametrize("kind", ["run_score", "average_score"])
def test_profiles_of_a_table(kind):
    rng = np.random.default_rng(0)
    table = ScoreTable.from_arrays({"a": rng.normal(size=(5, 6)), "b": rng.normal(size=(4, 6))})
    profiles = profile(table, kind)
    assert [p.algorithm for p in profiles] == ["a", "b"]
    for one in profiles:
        assert one.tau.shape == one.value.shape == (81,)
        assert (np.diff(one.value) <= 0).all()
        assert (one.low <= one.value + 1e-12).all()
        assert (one.value <= one.high + 1e-12).all()
    again = profile(table, kind, rng=2)
    assert np.array_equal(profiles[0].low, again[0].low) == (kind == "run_score")


def test_the_band_of_task_means_is_that_of_a_binomial():
    """Many tasks with the same distribution: the share above its mean has half of them."""
    x = np.random.default_rng(0).normal(size=(9, 400))
    one = profile_of(x, [0.0], "average_score", n_resamples=4000)
    # Of each task the resampled mean is above 0 with probability Phi(mean / sd * 3).
    p = stats.norm.cdf(3 * x.mean(axis=0) / x.std(axis=0))
    expected = 2 * 1.96 * np.sqrt((p * (1 - p)).sum()) / 400
    assert one.high[0] - one.low[0] == pytest.approx(expected, rel=0.1)


def test_numbers_read_off_a_profile():
    one = profile_of(np.array([[1.0], [2.0], [3.0], [4.0]]), np.linspace(0, 5, 5001))
    assert one.reached(0.5) == pytest.approx(3.0, abs=2e-3)
    assert one.area() == pytest.approx(2.5, abs=1e-3)
    assert np.isnan(one.reached(1.1))


@quiet
def test_thresholds():
    even = profile_of([[1.0, 100.0]])
    assert (even.tau[0], even.tau[40], even.tau[-1]) == (0.0, 50.0, 100.0)
    assert profile_of([[-1.0]]).tau[::40].tolist() == [-1.1, -1, -0.9]
    positive = profile_of([[*np.linspace(1.0, 2.0, 9), 100.0]])
    np.testing.assert_allclose(positive.tau[::40], [1, 10, 100])
    never = censored({"a": [[np.inf]]})
    with pytest.raises(ScoreDataError, match="expected at least one finite score"):
        profile(never)


def test_thresholds_hold_ninety_nine_runs_of_a_hundred():
    scores = np.concatenate([np.linspace(1.0, 2.0, 998), [1000.0, -500.0]])
    found = profile(ScoreTable.from_arrays({"a": scores[:, None]}))
    (one,) = found
    assert (one.tau[0], one.tau[-1]) == (0.0, pytest.approx(2.0, abs=0.01))
    assert one.spacing == "linear"
    assert found.notes == ("Read off at 81 thresholds over the range of 99 % of the scores.",)


def test_crowded_scores_have_logarithmic_thresholds():
    few = np.concatenate([np.linspace(-1.0, 3.0, 90), np.linspace(3.0, 60.0, 10)])
    one = profile_of([few])
    steps = np.diff(np.arcsinh(one.tau / np.quantile(np.abs(few), 0.25)))
    np.testing.assert_allclose(steps, steps[0])
    assert (one.tau[0], one.tau[-1], one.spacing) == (-1.0, 60.0, "log")


@quiet
@settings(deadline=None)
@given(st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=30))
def test_thresholds_ascend_whatever_the_scores(scores):
    tau = profile_of([scores]).tau
    assert tau.size == 81
    assert (np.diff(tau) >= 0).all()
    assert tau[0] <= min(scores)
    assert tau[-1] >= max(scores)


def test_a_band_of_task_means_without_width_is_reported():
    table = ScoreTable.from_arrays({"a": np.arange(10.0).reshape(5, 2)})
    tau = [-1.0, 4.0, 5.0, 9.5]
    results = profile(table, "average_score", tau)
    assert "no width" in results.warnings[0]
    assert "(2 of a, of 4 thresholds)" in results.warnings[0]
    (found,) = results
    assert found.low[[0, -1]].tolist() == found.high[[0, -1]].tolist() == [1.0, 0.0]
    (of_runs,) = profile(table, tau=tau)
    assert (of_runs.low < of_runs.high).all()


@pytest.mark.parametrize(
    ("kind", "n_runs", "reason"),
    [
        ("run_score", 1, "one run"),
        ("average_score", 1, "one run"),
        ("average_score", 5, "at every threshold"),
    ],
)
def test_bands_that_cannot_be_are_reported(kind, n_runs, reason):
    """One run shows no spread; runs that are all equal show none of the task means."""
    with pytest.warns(DegenerateScoresWarning, match=f"{kind} profile of a: band not .*{reason}"):
        found = profile_of(np.ones((n_runs, 6)), kind=kind)
    assert np.isnan(found.low).all()
    assert found.as_records()[0]["low"] is None


# Wilson's band


def twin(runs, tau, level=0.95):
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
    c = stats.norm.ppf((1 + level) / 2)
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


@quiet
@settings(max_examples=60, deadline=None)
@given(ragged_runs(max_runs=5, max_tasks=9), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_band_is_its_definition(runs, level):
    assume(max(x.size for x in runs) > 1)
    one = profile_of(runs, TAU, level=level)
    np.testing.assert_allclose(
        [one.low, one.high], twin([list(x) for x in runs], TAU, level), atol=1e-7
    )


def test_with_many_runs_of_one_task_it_is_wilsons_interval():
    x = np.random.default_rng(0).normal(size=4000)
    one = profile_of([x], [0.5, 1.0], level=0.9)
    for i, edge in enumerate((0.5, 1.0)):
        expected = stats.binomtest(int((x > edge).sum()), x.size).proportion_ci(0.9, "wilson")
        assert (one.low[i], one.high[i]) == pytest.approx(tuple(expected), abs=2e-4)


@quiet
@settings(max_examples=60, deadline=None)
@given(ragged_runs(max_runs=5), st.booleans())
def test_the_band_encloses_the_profile_and_has_width_everywhere(runs, higher):
    assume(max(x.size for x in runs) > 1)
    one = profile_of(runs, np.linspace(-30.0, 30.0, 41), higher=higher)
    assert (one.low >= 0.0).all()
    assert (one.high <= 1.0).all()
    assert (one.low <= one.value + 1e-12).all()
    assert (one.value <= one.high + 1e-12).all()
    assert (one.low < one.high).all()


def test_order_shift_and_scale_do_not_matter():
    rng = np.random.default_rng(0)
    x, tau = rng.normal(size=(4, 12)), np.linspace(-2.0, 2.0, 9)
    found = profile_of(x, tau)
    mixed = rng.permuted(x, axis=0)[:, rng.permutation(12)]
    for other, edges in ((mixed, tau), (3.0 * x + 7.0, 3.0 * tau + 7.0)):
        moved = profile_of(other, edges)
        np.testing.assert_allclose([moved.low, moved.high], [found.low, found.high], atol=1e-10)


def test_runs_that_are_all_equal_leave_one_run_in_doubt():
    one = profile_of(np.ones((5, 6)), [0.0, 1.0])
    n = 30 * 29 / 30  # the effective number of runs of a share of one in 30
    z = stats.norm.ppf(0.975)
    assert one.high.tolist() == pytest.approx([1.0, z**2 / (n + z**2)])
    assert one.low.tolist() == pytest.approx([n / (n + z**2), 0.0])


def test_censored_runs_stay_where_they_are():
    """A task without a finite run is as it is seen; one with some may have other finite ones."""
    x = np.random.default_rng(0).normal(size=(5, 3))
    x[:, 0], x[0, 1] = np.inf, -np.inf
    (one,) = profile(censored({"a": x}, higher_is_better=True), tau=[0.0, 1e9])
    assert np.isfinite([one.low, one.high]).all()
    assert one.low[1] < 1 / 3 < one.high[1]
    assert one.low[0] < one.value[0] < one.high[0]


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
    """At least 94 % on average over thresholds, and 85 at each, to the ends of the curve."""
    large = draw(np.random.default_rng(7), 40_000)
    tau = np.quantile(large, [0.0005, 0.002, 0.01, *np.linspace(0.05, 0.95, 31), 0.99, 0.9995])
    truth = np.mean([[(x > t).mean() for t in tau] for x in large.T], axis=0)
    rng, n_tables = np.random.default_rng(n_runs), 400
    held = np.zeros(tau.size)
    for _ in range(n_tables):
        one = profile_of(draw(rng, n_runs), tau)
        held += (one.low <= truth) & (truth <= one.high)
    assert held.mean() / n_tables > 0.935
    assert stats.binomtest(int(held.min()), n_tables, 0.85, "less").pvalue > 0.01


def test_thresholds_may_come_in_any_shape_but_not_be_missing():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert profile_of(x, [[3.0, 1.5]]).tau.tolist() == [1.5, 3.0]
    with pytest.raises(ScoreDataError, match="expected a threshold tau or more, found none"):
        profile_of(x, [])
