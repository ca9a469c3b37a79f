import numpy as np
import pytest
from scipy import stats

from gnomon.scores import ScoreTable
from gnomon.stats import (
    METRICS,
    Influences,
    Metric,
    Strata,
    delta_error,
    delta_interval,
    estimate,
    metric_named,
)
from gnomon.stats.intervals import acceleration, influence_of
from gnomon.stats.small_samples.small_sample import noise_floor


def suite(rng, n_runs, n_tasks=9):
    return rng.normal(size=(n_runs, n_tasks)) + np.arange(n_tasks) / 3


def test_delta_t_of_one_task_is_students_interval():
    x = np.random.default_rng(0).normal(size=7)
    low, high = delta_interval(x.mean(), Influences(Strata.from_matrix(x), x), 0.9)
    expected = stats.ttest_1samp(x, 0).confidence_interval(0.9)
    assert (low, high) == pytest.approx(tuple(expected))


def test_delta_t_of_a_difference_is_welchs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=5), 3 * rng.normal(size=8)
    parts = [Influences(Strata.from_matrix(z), z) for z in (x, y)]
    error = delta_error(*parts)
    welch = stats.ttest_ind(x, y, equal_var=False)
    assert error.df == pytest.approx(welch.df)
    assert error.p_value(x.mean() - y.mean()) == pytest.approx(welch.pvalue)


def test_a_single_run_borrows_its_variance():
    strata = Strata.from_runs([[0.0, 2.0], [5.0]])
    # Variance 2 in both tasks, over 2 runs and over 1, each task weighing a half.
    assert delta_error(Influences(strata, strata.values)).variance == pytest.approx(
        (2 / 2 + 2 / 1) / 4
    )


def test_a_cut_that_hides_the_noise_does_not_hide_its_variance():
    """Both runs are above the target, but not by more than their spread."""
    strata = Strata.from_runs([[1.5, 4.5], [0.2, 0.4]])
    metric = metric_named("optimality_gap")
    floor = noise_floor(strata, metric.response(strata))
    noise = np.random.default_rng(0).standard_t(4, 4_000_000) / np.sqrt(2.0)
    for t, (m, s) in enumerate(((3.0, np.sqrt(4.5)), (0.3, np.sqrt(0.02)))):
        # No gap is deeper than the worst that was seen, 0.8.
        draws = np.clip(1.0 - (m + s * noise), 0.0, 0.8)
        assert floor[t] == pytest.approx(draws.var(), rel=0.05)
    assert metric.influences(strata).variances()[0] == floor[0] / 2


def test_a_gap_of_bounded_scores_is_not_wider_than_they_are():
    """One task is far above the target, and its spread is fifty times any gap that was seen."""
    x = np.array([[0.0, 50.0], [0.2, 90.0], [0.1, 10.0]])
    strata, metric = Strata.from_matrix(x), metric_named("optimality_gap")
    floor = noise_floor(strata, metric.response(strata))
    assert (floor > 0.0).all()
    assert (floor <= 0.25).all()  # as any variance of gaps between 0 and 1
    low, high = delta_interval(metric.value(strata), metric.influences(strata), 0.95)
    assert high - low < 1.5
    mirrored = metric_named("optimality_gap", gamma=-1.0, higher_is_better=False)
    other = Strata.from_matrix(-x)
    assert noise_floor(other, mirrored.response(other)).tolist() == pytest.approx(floor.tolist())


def test_where_no_run_misses_the_target_others_may():
    """There is no worst gap to cut at, and the spread says that a run may miss."""
    strata, metric = Strata.from_matrix([[1.1, 1.5], [2.5, 3.0]]), metric_named("optimality_gap")
    low, high = delta_interval(metric.value(strata), metric.influences(strata), 0.95)
    assert (metric.value(strata), low) == (0.0, 0.0)
    assert high > 0.0


def test_tiny_scores_keep_their_degrees_of_freedom():
    x = suite(np.random.default_rng(0), 4)
    dfs = [
        delta_error(Influences(s, s.values)).df for s in map(Strata.from_matrix, (x, x * 1e-100))
    ]
    assert dfs[0] == pytest.approx(dfs[1])


@pytest.mark.parametrize(
    "name",
    ["mean", "iqm", "optimality_gap", "task_iqm", "trimmed_mean:0.1", "difficulty_progress:0.5"],
)
def test_influences_are_derivatives(name):
    """Moving one score a little moves the metric by as much as its influence says."""
    metric = metric_named(name)
    runs = [np.random.default_rng(t).normal(size=n) for t, n in enumerate((8, 5, 6))]
    strata = Strata.from_runs(runs)
    step = 1e-6
    tested = 0
    for i, n_runs in enumerate(np.repeat(strata.counts, strata.counts)):
        shifted = Strata(strata.values + step * (np.arange(19) == i), strata.starts)
        before, after = metric.influence(strata), metric.influence(shifted)
        n_moved = np.count_nonzero(np.abs(after - before) > 1e-9)
        at_an_end = n_moved == 1 and before[i] in (before.min(), before.max())
        if n_moved > 1 or (at_an_end and not metric.additive):
            continue  # the score at the edge of what is cut: there is no derivative
        slope = (metric.value(shifted) - metric.value(strata)) / step
        assert slope == pytest.approx((after - before)[i] / step / (3 * n_runs), abs=1e-4)
        tested += 1
    assert tested >= 12


def test_acceleration_of_one_task_is_efrons():
    x = np.random.default_rng(0).gamma(1.0, size=15)
    strata = Strata.from_matrix(x)
    jackknife = np.array([np.delete(x, i).mean() for i in range(x.size)])
    d = jackknife.mean() - jackknife
    expected = np.sum(d**3) / (6 * np.sum(d**2) ** 1.5)
    assert acceleration(strata, x) == pytest.approx(expected)
    own = Metric("own", metric_named("mean").value)
    assert acceleration(strata, influence_of(own, strata)) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("n_runs", [3, 5])
def test_coverage_with_few_runs(name, n_runs):
    """At least nominal minus noise on a suite of normal scores; the percentile covers 70-89 %."""
    rng = np.random.default_rng(11)
    hits = 0
    n_tables = 150
    # The pooled IQM and the gap of noisy scores are not those of the true means: many runs say.
    truth = metric_named(name).value(Strata.from_matrix(suite(rng, 20_000)))
    for _ in range(n_tables):
        table = ScoreTable.from_arrays({"a": suite(rng, n_runs)})
        (one,) = estimate(table, [name], rng=rng)
        hits += one.low <= truth <= one.high
    assert stats.binomtest(int(hits), n_tables, 0.95, alternative="less").pvalue > 0.01


def test_equal_runs_have_no_variance_whatever_rounding_says():
    strata = Strata.from_matrix(np.full((7, 6), 0.1))
    assert strata.task_means[0] != 0.1
    for name in METRICS:
        found = metric_named(name).influences(strata)
        assert found is None or not found.variances().any()


def test_the_interval_of_a_trimmed_mean_lies_around_that_of_the_exact_share():
    """Of 5 runs on 11 tasks 13 scores are cut from each end, and a quarter is 13.75."""
    x = np.random.default_rng(0).gamma(0.5, size=(5, 11))
    strata, metric = Strata.from_matrix(x), metric_named("iqm")
    ordered = np.sort(x, axis=None)
    exact = (ordered[14:41].sum() + 0.25 * (ordered[13] + ordered[41])) / 27.5
    low, high = delta_interval(metric.value(strata), metric.influences(strata), 0.95)
    assert (low + high) / 2 == pytest.approx(exact)
    assert metric.value(strata) == pytest.approx(ordered[13:42].mean())
    # Sixteen scores are cut by exactly a quarter, and three not at all.
    for shape in ((4, 4), (3, 1)):
        other = Strata.from_matrix(x[: shape[0], : shape[1]])
        assert metric.influences(other).shift == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("name", "bounds"), [("optimality_gap", (0, 9)), ("share_above:0", (0, 1))]
)
def test_intervals_keep_to_what_a_metric_can_be(name, bounds):
    """Three runs a little above the target, of a spread that lets others miss it."""
    strata, metric = Strata.from_matrix([[1.1, 1.5], [2.5, 3.0], [1.3, 4.0]]), metric_named(name)
    low, high = delta_interval(metric.value(strata), metric.influences(strata), 0.95)
    assert bounds[0] <= low < high <= bounds[1]
    assert metric.value(strata) in (low, high)
