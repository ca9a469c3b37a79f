import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable
from gnomon.stats import Comparison, Metric, compare, compare_all

IMPROVEMENT = "probability_of_improvement"
X = np.random.default_rng(0).normal(size=(8, 6))
Y = np.random.default_rng(1).normal(size=(6, 6)) - 1.0
TABLE = ScoreTable.from_arrays({"a": X, "b": Y})


def rng():
    return np.random.default_rng(3)


def one(metric, table=TABLE, **options):
    return compare(table, "a", "b", [metric], rng=rng(), **options)[0]


@pytest.mark.parametrize("method", ["small_sample", "percentile"])
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
    found = compare(TABLE, "a", "b", ["mean"], per_task=True, rng=rng())
    welch = stats.ttest_ind(X[:, 2], Y[:, 2], equal_var=False)
    assert found[3].task == "task_2"
    assert found[3].p_value == pytest.approx(welch.pvalue)
    ends = welch.confidence_interval()
    assert (found[3].low, found[3].high) == pytest.approx((ends.low, ends.high))
    assert found[3].p_adjusted >= found[3].p_value
    assert found[0].task is None


def test_pairs_are_kept_together():
    noise = np.random.default_rng(2).normal(size=(8, 6))
    table = ScoreTable.from_arrays({"a": 10 * noise + 0.2 * X, "b": 10 * noise})
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
    assert {c.method for c in tasks} == {whole.method} == {"percentile"}
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
        one("mean", ScoreTable.from_records(rows), paired=True)


def test_any_metric_can_be_compared():
    worst = Metric.of_matrix("worst", lambda x: float(x.min()))
    found = one(worst)
    assert found.low <= found.value <= found.high
    assert (found.method, found.n_resamples) == ("scaled_bootstrap", 2000)


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
    found = compare_all(table, "mean", rng=rng())
    assert [(c.a, c.b) for c in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(c.p_adjusted >= c.p_value for c in found)
    assert [c.p_adjusted < 0.05 for c in found] == [False, True, True]
    assert [c.low <= 0 <= c.high for c in found] == [True, False, False]


def test_degenerate_scores_are_said():
    flat = ScoreTable.from_arrays({"a": [[1.0], [1.0]], "b": [[2.0], [2.0]]})
    with pytest.warns(DegenerateScoresWarning, match="the scores that decide it do not vary"):
        found = one("mean", flat)
    assert np.isnan([found.low, found.high, found.p_value]).all()
    single = ScoreTable.from_arrays({"a": [[1.0]], "b": [[2.0]]})
    with pytest.warns(DegenerateScoresWarning, match="not estimable from one run per task"):
        assert one("mean", single).as_record()["p_value"] is None
    half = ScoreTable.from_arrays({"a": X, "b": Y[:1]})
    for metric in ("median", "iqm", IMPROVEMENT):
        with pytest.warns(DegenerateScoresWarning, match="from one run per task of b"):
            assert np.isnan(one(metric, half).low)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="unknown algorithm 'c'"):
        compare(TABLE, "a", "c", rng=rng())
    with pytest.raises(UnknownNameError, match="unknown metric 'probability_of_improvment'"):
        one("probability_of_improvment")


def test_a_comparison_is_a_record():
    assert isinstance(one("mean"), Comparison)


def test_a_difference_that_only_rounding_makes_is_not_estimable():
    table = ScoreTable.from_arrays({"a": np.full((7, 6), 0.1), "b": np.full((7, 6), 0.8)})
    for method in ("auto", "percentile"):
        with pytest.warns(DegenerateScoresWarning, match="iqm of a and b: interval not estimable"):
            found = one("iqm", table, method=method)
        assert np.isnan(found.low)
        assert np.isnan(found.p_value)


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
    (found,) = compare_all(ScoreTable.from_records(rows), "mean", paired=True)
    assert -0.15 < found.low < found.high < -0.05


def test_what_was_corrected_together_is_said():
    scores = ScoreTable.from_arrays({"a": [[3, 1], [4, 2]], "b": [[1, 1], [2, 4]]})
    assert compare(scores, "a", "b", "mean").settings["family"] == "not corrected, one test"
    several = compare(scores, "a", "b", ["mean", "iqm"])
    assert several.notes[-1] == "p_adjusted: not corrected, one test for each metric."
    tasks = compare(scores, "a", "b", ["mean", "iqm"], per_task=True)
    assert tasks.notes[-1] == (
        "p_adjusted: Holm's correction over 2 tasks, for each of 2 metrics by itself; of all tasks "
        "together, not corrected."
    )
    assert not any("gnomon rank" in note for note in tasks.notes)  # two alone have no places
