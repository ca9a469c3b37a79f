import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import Metric, compare
from score_tables import censored

IMPROVEMENT = "probability_of_improvement"
X = np.random.default_rng(0).normal(size=(8, 6))
Y = np.random.default_rng(1).normal(size=(6, 6)) - 1.0
TABLE = ScoreTable.from_arrays({"a": X, "b": Y})


def rng():
    return np.random.default_rng(3)


def one(metric, table=TABLE, **options):
    return compare(table, "a", "b", [metric], rng=rng(), **options)[0]


@pytest.mark.parametrize("method", ["auto", "percentile"])
@pytest.mark.parametrize("metric", ["mean", "median", "iqm", "optimality_gap", IMPROVEMENT])
def test_a_difference_has_interval_and_test(metric, method):
    found = one(metric, method=method)
    neutral = 0.5 if metric == IMPROVEMENT else 0.0
    assert found.low < found.value < found.high
    assert 0 < found.p_value <= 1
    assert (found.p_value < 0.05) == (not found.low <= neutral <= found.high)
    mirrored = compare(TABLE, "b", "a", [metric], method=method, rng=rng())[0]
    assert mirrored.value == pytest.approx((1.0 if metric == IMPROVEMENT else 0.0) - found.value)
    record = found.as_record()
    assert " ".join(record).startswith("a b metric task value low high p_value p_adjusted ")


def test_the_mean_on_one_task_is_welchs_test():
    found = compare(TABLE, "a", "b", ["mean"], per_task=True, variances="own")
    welch = stats.ttest_ind(X[:, 2], Y[:, 2], equal_var=False)
    assert found[3].task == "task_2"
    assert found[3].p_value == pytest.approx(welch.pvalue)
    ends = welch.confidence_interval()
    assert (found[3].low, found[3].high) == pytest.approx((ends.low, ends.high))
    assert found[3].p_adjusted >= found[3].p_value
    assert found[0].task is None


def test_the_improvement_on_one_task_has_the_exact_test():
    """Either algorithm is the better one in some of the pairs of runs; there are no ties."""
    x, y = X[:, 2], Y[:, 2]
    assert x.min() < y.max()
    found = one(IMPROVEMENT, ScoreTable.from_arrays({"a": x[:, None], "b": y[:, None]}))
    expected = stats.mannwhitneyu(x, y, method="exact")
    assert (found.value, found.p_value) == pytest.approx((expected.statistic / 48, expected.pvalue))


def test_the_median_on_one_task_is_that_of_its_runs():
    """A run of a is an outlier: the medians of the runs differ by -1, the means by +11."""
    a = np.array([1, 1.1, 1.2, 0.9, 0.8, 1.05, 100, 0.95])
    b = np.array([2, 2.1, 1.9, 2.2, 2.05, 1.95, 1.8, 2.15])
    table = ScoreTable.from_arrays({"a": np.c_[a, a], "b": np.c_[b, b]})
    _, *tasks = compare(table, "a", "b", "median", per_task=True)
    assert [(c.value, c.better) for c in tasks] == [(pytest.approx(-1.0), "b")] * 2
    alone = table.select(tasks=["task_0"])
    assert compare(alone, "a", "b", "median")[0].value == pytest.approx(-1.0)


@pytest.mark.parametrize("higher", [True, False])
def test_the_better_algorithm_is_named(higher):
    table = ScoreTable.from_arrays({"a": X + 5, "b": X[::-1]}, higher_is_better=higher)
    metrics = ["mean", IMPROVEMENT, "optimality_gap"]
    found = compare(table, "a", "b", metrics, gamma=6.0)
    assert {c.better for c in found} == {"a" if higher else "b"}
    assert str(found).splitlines()[2].endswith("ahead")  # by the value, which is no verdict
    assert [c.value > 0.0 for c in found[:2]] == [True, higher]
    same = ScoreTable.from_arrays({"a": X, "b": X[::-1]})
    assert compare(same, "a", "b", "iqm")[0].better is None


def test_pairs_are_kept_together():
    noise, apart = np.random.default_rng(2).normal(size=(2, 8, 6))
    table = ScoreTable.from_arrays({"a": 10 * noise + apart, "b": 10 * noise})
    alone, paired = one("mean", table), one("mean", table, paired=True)
    assert paired.value == alone.value
    assert paired.high - paired.low < (alone.high - alone.low) / 10
    resampled = one("mean", table, paired=True, method="percentile")
    assert resampled.high - resampled.low == pytest.approx(paired.high - paired.low, rel=0.4)


def test_many_pairs_of_runs_on_each_task():
    noise = np.random.default_rng(2).normal(size=(22, 3))
    table = ScoreTable.from_arrays({"a": noise + 0.2, "b": noise})
    whole, *tasks = compare(table, "a", "b", IMPROVEMENT, paired=True, per_task=True)
    assert [c.task for c in tasks] == ["task_0", "task_1", "task_2"]
    assert {c.method for c in tasks} == {whole.method} == {"student"}
    assert whole.value == pytest.approx(np.mean([c.value for c in tasks]))


def test_runs_without_partner_are_left_out():
    with pytest.warns(DegenerateScoresWarning, match="a and b: 12 runs left out that have no par"):
        one("mean", paired=True)
    rows = [
        {"algorithm": name, "task": "t", "run": f"{name}{i}", "score": i}
        for name in "ab"
        for i in range(3)
    ]
    with pytest.raises(ScoreDataError, match="task t: a and b have no run label in common to pai"):
        one("mean", ScoreTable(rows), paired=True)


def test_any_metric_can_be_compared():
    worst = Metric.of_matrix("worst", lambda x: float(x.min()))
    found = one(worst)
    assert found.low <= found.value <= found.high
    assert found.method == "student"


@pytest.mark.full
def test_size_of_the_tests_under_no_difference():
    """A binomial test: no more than 5 % false findings, with 4 runs."""
    draws = np.random.default_rng(5)
    hits = {"mean": 0, "iqm": 0, "median": 0, IMPROVEMENT: 0}
    n = 60
    for _ in range(n):
        x, y = draws.normal(size=(2, 4, 5)) + np.arange(5)
        table = ScoreTable.from_arrays({"a": x, "b": y})
        for found in compare(table, "a", "b", list(hits), rng=draws):
            hits[found.metric] += found.p_value < 0.05
    for metric, count in hits.items():
        test = stats.binomtest(count, n, 0.06, alternative="greater")
        assert test.pvalue > 0.01, (metric, count)


def test_all_pairs_are_corrected():
    table = ScoreTable.from_arrays({"a": X, "b": X[::-1] + 0.1, "c": X + 5})
    found = compare(table, metrics=["mean", "iqm"])
    assert [(c.a, c.b) for c in found][:3] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [c.p_adjusted < 0.05 for c in found] == [False, True, True] * 2
    assert [c.low <= 0 <= c.high for c in found] == [True, False, False] * 2
    for metric in ("mean", "iqm"):
        p = [c.p_value for c in found.where(metric=metric)]
        adjusted = [c.p_adjusted for c in found.where(metric=metric)]
        assert adjusted == pytest.approx(slow_holm(p))
    tasks = compare(table, metrics="mean", per_task=True)
    assert [c.task for c in tasks[:8]] == [None, *table.tasks, None]
    each = [c for c in tasks if c.task]
    assert [c.p_adjusted for c in each] == pytest.approx(slow_holm([c.p_value for c in each]))


def slow_holm(p_values):
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    found, largest = {}, 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[i]))
        found[i] = largest
    return [found[i] for i in range(len(p_values))]


def test_zero_variance_is_no_certainty():
    """The p-value is that of a permutation of the runs, and there is no interval."""
    for n, p_value, paired in ((2, 1 / 3, False), (5, 2 / 252, False), (5, 2.0**-4, True)):
        flat = ScoreTable.from_arrays({"a": np.full((n, 2), 1.0), "b": np.full((n, 2), 2.0)})
        with pytest.warns(DegenerateScoresWarning, match="the scores that decide it do not vary"):
            found = one("mean", flat, paired=paired)
        assert np.isnan([found.low, found.high]).all()
        assert found.p_value == pytest.approx(p_value)
        with pytest.warns(DegenerateScoresWarning):
            assert one("iqm", flat, paired=paired).p_value == pytest.approx(p_value)


def test_single_runs_have_no_interval():
    single = ScoreTable.from_arrays({"a": [[1.0]], "b": [[2.0]]})
    with pytest.warns(DegenerateScoresWarning, match="not estimable from one run per task"):
        assert one("mean", single).as_record()["p_value"] is None
    half = ScoreTable.from_arrays({"a": X, "b": Y[:1]})
    for metric in ("median", "iqm", IMPROVEMENT):
        with pytest.warns(DegenerateScoresWarning, match="from one run per task of b"):
            assert np.isnan(one(metric, half).low)


def test_sorted_runs_are_named_and_make_no_pairs():
    table = ScoreTable.from_arrays({"a": np.sort(X, axis=0), "b": X[::-1]})
    with pytest.warns(DegenerateScoresWarning, match="a: the runs of every task are in order of"):
        found = one("mean", table)
    plain = one("mean", ScoreTable.from_arrays({"a": X, "b": X[::-1]}), variances="own")
    assert found.value == pytest.approx(plain.value)
    with pytest.raises(ScoreDataError, match="paired: the runs of a are in order of their scores"):
        one("mean", table, paired=True)


def test_resamples_that_could_separate_no_pair_are_named():
    far = X[:, :1] + 9.0 * np.arange(12)
    table = ScoreTable.from_arrays({f"a{i}": far[:, i : i + 1] for i in range(12)})
    with pytest.warns(DegenerateScoresWarning, match="give no p-value below 0.01, which corrected"):
        asked = compare(table, metrics="mean", method="percentile", n_resamples=200)
    assert all(c.p_adjusted > 0.05 for c in asked)
    assert asked.warnings[-1].endswith("take 2,640 resamples or more")


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_one_censored_algorithm_leaves_the_others_compared():
    scores = censored({"a": X, "b": X[::-1], "c": np.full((8, 6), np.inf)})
    found = compare(scores, metrics="mean")
    assert [np.isnan(c.p_value) for c in found] == [False, True, True]


def test_families_of_medians_are_warned_of():
    table = ScoreTable.from_arrays({"a": X, "b": X[::-1] + 0.1, "c": X + 5})
    with pytest.warns(DegenerateScoresWarning, match="take iqm for tests"):
        compare(table, metrics="median")


def test_a_difference_that_only_rounding_makes_is_not_estimable():
    table = ScoreTable.from_arrays({"a": np.full((7, 6), 0.1), "b": np.full((7, 6), 0.8)})
    for method in ("auto", "percentile"):
        with pytest.warns(DegenerateScoresWarning, match="iqm of a and b: interval not estimable"):
            found = one("iqm", table, method=method)
        assert np.isnan(found.low)
        assert found.p_value > 1e-4


def test_pairs_of_all_algorithms_go_by_their_labels():
    x = np.random.default_rng(5).normal(size=(8, 3))
    rows = [
        {"algorithm": name, "task": f"t{t}", "run": order[r], "score": x[order[r], t] + shift}
        for name, shift, order in (("a", 0.0, range(8)), ("b", 0.1, range(7, -1, -1)))
        for t in range(3)
        for r in range(8)
    ]
    noise = np.random.default_rng(6).normal(size=24) * 0.01
    for row, e in zip(rows[24:], noise, strict=True):
        row["score"] += e
    (found,) = compare(ScoreTable(rows), metrics="mean", paired=True)
    assert -0.15 < found.low < found.high < -0.05


def test_what_was_corrected_together_is_said():
    scores = ScoreTable.from_arrays({"a": X, "b": X[::-1], "c": X[::2].repeat(2, 0)})
    families = {
        "not corrected, one test": compare(scores, "a", "b", "mean"),
        "not corrected, one test for each metric": compare(scores, "a", "b", ["mean", "iqm"]),
        "Holm's correction over 6 tasks; all tasks together: not corrected": compare(
            scores, "a", "b", "mean", per_task=True
        ),
        "Holm's correction over 3 pairs, for each of 2 metrics by itself": compare(
            scores, metrics=["mean", "iqm"]
        ),
    }
    for family, found in families.items():
        assert found.settings["family"] == family
        assert f"p_adjusted: {family}." in found.notes
        assert "Variances are moderated over the algorithms of the table." in found.notes


def test_metrics_that_are_not_reported_leave_no_notes():
    table = ScoreTable.from_arrays({"a": [[1.0, 900.0]], "b": [[2.0, 800.0]]})
    with pytest.warns(DegenerateScoresWarning) as said:
        found = compare(table, "a", "b")
    assert [one.metric for one in found] == [IMPROVEMENT]
    assert not any(f"{one.message}".startswith(("mean of", "median of", "iqm of")) for one in said)
