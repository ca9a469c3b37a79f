import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownWordError
from gnomon.scores import ScoreTable, at_common_step
from gnomon.stats import curves, estimate, summarize_runs


def rng():
    return np.random.default_rng(0)


X = np.random.default_rng(1).normal(size=(6, 4, 8)).cumsum(axis=2) / 3 + np.arange(8.0)
TABLE = ScoreTable.from_arrays({"a": X}, steps=np.arange(8) * 10)


def test_a_curve_is_the_metric_at_each_step():
    (curve,) = curves(TABLE, ["mean"], method="percentile", rng=rng())
    np.testing.assert_allclose(curve.value, X.mean(axis=(0, 1)))
    assert (curve.low < curve.value).all()
    assert (curve.value < curve.high).all()
    scores = at_common_step(TABLE, 30)
    (point,) = estimate(scores, ["mean"], method="percentile", n_resamples=2000, rng=rng())
    assert (curve.low[3], curve.high[3]) == (point.low, point.high)
    (small,) = curves(TABLE, ["mean"], rng=rng())
    (closed,) = estimate(scores, ["mean"], rng=rng())
    assert (small.low[3], small.high[3]) == (closed.low, closed.high)
    records = curve.as_records()
    assert list(records[0]) == ["algorithm", "metric", "task", "step", "value", "low", "high"]
    assert records[3]["step"] == 30


def test_whole_runs_make_intervals_across_steps_valid():
    """The area of a mean curve is the mean of the runs' areas, and so is its interval."""
    areas = summarize_runs(TABLE, "area")
    for method in ("auto", "percentile"):
        (area,) = curves(TABLE, "mean", summary="area", method=method, rng=rng())
        (expected,) = estimate(areas, ["mean"], method=method, rng=rng())
        assert area.value == pytest.approx(expected.value)
        assert (area.low, area.high) == pytest.approx((expected.low, expected.high))


def test_the_area_of_interquartile_means_moves_with_the_scores():
    x = np.random.default_rng(4).normal(size=(8, 4, 5)).cumsum(axis=2)
    (found,) = curves(ScoreTable.from_arrays({"a": x}), "iqm", summary="area", level=0.9)
    assert found.method == "student"
    assert (found.high + found.low) / 2 == pytest.approx(found.value)
    moved = ScoreTable.from_arrays({"a": 7 - 3 * x}, higher_is_better=False)
    (other,) = curves(moved, "iqm", summary="area", level=0.9)
    assert (other.low, other.high) == pytest.approx((7 - 3 * found.high, 7 - 3 * found.low))
    (wider,) = curves(ScoreTable.from_arrays({"a": x}), "iqm", summary="area", level=0.99)
    assert wider.low < found.low < found.high < wider.high


@pytest.mark.parametrize("metric", ["mean", "iqm", "median"])
def test_final_and_best_have_the_intervals_of_their_steps(metric):
    (curve,) = curves(TABLE, metric)
    (final,) = curves(TABLE, metric, summary="final")
    assert (final.low, final.high) == (curve.low[-1], curve.high[-1])
    (best,) = curves(TABLE, metric, summary="best")
    place = curve.value.argmax()
    assert (best.value, best.low, best.high) == (  # still rising: no other step is nearly as good
        curve.value[place],
        curve.low[place],
        curve.high[place],
    )


def test_the_best_has_no_resamples_however_many_runs_there_are():
    many = ScoreTable.from_arrays({"a": np.random.default_rng(1).normal(size=(25, 3, 4))})
    (best,) = curves(many, "mean", summary="best")
    assert best.method == "student"
    (again,) = curves(many, "mean", summary="best", method="percentile")
    assert again.method == "percentile"


@pytest.mark.full
@pytest.mark.parametrize("n_runs", [3, 25])
def test_coverage_of_the_best_of_a_long_plateau(n_runs):
    """A binomial test where 30 steps are equal: their best is lucky by more than a deviation."""
    draws = np.random.default_rng(32)
    held, n = 0, 200
    for _ in range(n):
        noise = draws.normal(size=(n_runs, 6, 30))
        for s in range(1, 30):
            noise[:, :, s] = 0.8 * noise[:, :, s - 1] + 0.6 * noise[:, :, s]
        (one,) = curves(ScoreTable.from_arrays({"a": noise}), "mean", summary="best", rng=draws)
        held += one.low <= 0.0 <= one.high
    assert stats.binomtest(held, n, 0.94).pvalue > 1e-3 or held / n > 0.94


def test_the_best_of_a_falling_curve_mirrors_that_of_a_rising_one():
    falling = ScoreTable.from_arrays({"a": -X}, higher_is_better=False)
    (up,) = curves(TABLE, "mean", summary="best")
    (down,) = curves(falling, "mean", summary="best")
    assert (down.low, down.high) == pytest.approx((-up.high, -up.low))


def test_which_summaries_have_resamples_and_what_they_say():
    (median,) = curves(TABLE, "median", summary="area")
    with pytest.warns(DegenerateScoresWarning, match="time_to_threshold of a: the interval is fr"):
        (time,) = curves(TABLE, "mean", summary="time_to_threshold", threshold=3.0)
    assert (median.method, time.method) == ("student", "percentile")
    assert "area of the curve of the metric" in str(curves(TABLE, "mean", summary="area"))
    with pytest.raises(UnknownWordError, match="unknown method 'bca'"):
        curves(TABLE, "mean", summary="area", method="bca")


def test_the_area_of_censored_runs_that_are_cut_off():
    rows = [
        {"algorithm": "a", "task": f"t{t}", "run": r, "step": s, "score": x[0], "censored": False}
        for (r, t, s), *x in np.ndenumerate(np.random.default_rng(3).normal(size=(6, 4, 3)))
    ]
    rows[0] |= {"score": -np.inf, "censored": True}
    (found,) = curves(ScoreTable.from_records(rows), "iqm", summary="area")
    assert found.low < found.value < found.high


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("n_runs", [3, 5])
def test_coverage_of_summaries(n_runs):
    """A binomial test: curves that rise to a plateau, with noise that whole runs share."""
    draws = np.random.default_rng(31)
    height = draws.lognormal(0.0, 0.5, size=8)
    shape = np.minimum(np.arange(8) / 4, 1.0)
    true = height[:, None] * shape
    truth = {"area": np.trapezoid(true.mean(axis=0)) / 7, "final": height.mean()}
    held, n = dict.fromkeys(truth, 0), 200
    for _ in range(n):
        noise = draws.normal(size=(n_runs, 8, 1)) + 0.5 * draws.normal(size=(n_runs, 8, 8))
        table = ScoreTable.from_arrays({"a": true + 0.3 * height[:, None] * noise})
        for summary in held:
            (found,) = curves(table, "mean", summary=summary)
            held[summary] += found.low <= truth[summary] <= found.high
    for summary, count in held.items():
        assert stats.binomtest(count, n, 0.94, "less").pvalue > 0.01, (summary, count / n)


@pytest.mark.parametrize(
    ("summary", "expected"), [("best", 6.0), ("final", 4.0), ("time_to_threshold", 10.0)]
)
def test_numbers_about_a_curve(summary, expected):
    runs = np.array([[[1.0, 5.0, 6.0, 4.0]], [[1.0, 5.0, 6.0, 4.0]]])
    table = ScoreTable.from_arrays({"a": runs}, steps=[0, 10, 20, 30])
    with pytest.warns(DegenerateScoresWarning, match="the scores that decide it do not vary"):
        (found,) = curves(table, "mean", summary=summary, threshold=5.0, rng=rng())
    assert found.value == expected
    assert found.metric == f"{summary}(mean)"
    assert (
        summarize_runs(table, summary, threshold=5.0).runs("a", "task_0").tolist() == [expected] * 2
    )


def test_best_is_lowest_where_lower_is_better():
    table = ScoreTable.from_arrays({"a": [[[3.0, 1.0, 2.0]]]}, higher_is_better=False)
    assert summarize_runs(table, "best").runs("a", "task_0").tolist() == [1.0]
    reached = summarize_runs(table, "time_to_threshold", threshold=1.5)
    assert reached.runs("a", "task_0").tolist() == [1.0]


def test_a_threshold_never_reached_is_censored():
    times = summarize_runs(TABLE, "time_to_threshold", threshold=1e9)
    assert not times.higher_is_better
    assert np.isinf(times.runs("a", "task_0")).all()
    assert "24 censored runs" in times.describe()


def test_a_run_that_ends_early_does_not_erase_the_others():
    x = X.copy()
    x[2, 1, 5:] = np.nan
    table = ScoreTable.from_arrays({"a": x})
    with pytest.warns(DegenerateScoresWarning, match="a run 2 on task_1 ends at 4 of 7: the curve"):
        (curve,) = curves(table, "mean", rng=rng())
    assert curve.step.tolist() == list(range(8))
    np.testing.assert_allclose(curve.value, np.nanmean(x, axis=0).mean(axis=0))
    with pytest.raises(ScoreDataError, match="areas of unequal lengths do not compare: a"):
        curves(table, "mean", summary="area", rng=rng())
    x[:4, 1, 5:] = np.nan
    table = ScoreTable.from_arrays({"a": x})
    with pytest.warns(DegenerateScoresWarning, match="a: 3 of 8 steps left out, not all runs"):
        (curve,) = curves(table, rng=rng())
    assert curve.step.tolist() == [0, 1, 2, 3, 4]


def test_steps_that_some_run_lacks_between_others_are_left_out_aloud():
    x = X.copy()
    x[2, 1, 5] = np.nan
    table = ScoreTable.from_arrays({"a": x})
    with pytest.warns(DegenerateScoresWarning, match="a: 1 of 8 steps left out, not all runs"):
        (curve,) = curves(table, grid="shared", rng=rng())
    assert curve.step.tolist() == [0, 1, 2, 3, 4, 6, 7]
    with pytest.warns(DegenerateScoresWarning, match="do not share all their steps: gaps between"):
        (curve,) = curves(table, rng=rng())
    assert curve.step.tolist() == list(range(8))


def test_one_run_has_no_band():
    table = ScoreTable.from_arrays({"a": X[:1]})
    with pytest.warns(DegenerateScoresWarning, match="band not estimable from one run per task"):
        (curve,) = curves(table, rng=rng())
    assert np.isnan(curve.low).all()
    assert curve.as_records()[0]["low"] is None


def test_misuse():
    with pytest.raises(ScoreDataError, match="expected a table with several steps for curves"):
        curves(ScoreTable.from_arrays({"a": [[1.0]]}), rng=rng())
    with pytest.raises(ScoreDataError, match="time_to_threshold: expected a threshold; found none"):
        curves(TABLE, summary="time_to_threshold", rng=rng())


def test_steps_without_a_band_are_named():
    """At the first step nothing varies, at the last some runs are censored."""
    x = np.random.default_rng(0).normal(size=(5, 3, 4))
    x[:, :, 0] = 0.1
    rows = [
        {"algorithm": "a", "task": f"t{t}", "run": r, "step": s, "score": x[r, t, s]}
        | ({"score": np.inf, "censored": True} if (r, s) == (0, 3) else {"censored": False})
        for r in range(5)
        for t in range(3)
        for s in range(4)
    ]
    table = ScoreTable.from_records(rows, higher_is_better=False)
    with pytest.warns(DegenerateScoresWarning) as caught:
        (curve,) = curves(table, ["mean"], rng=rng())
    assert [str(w.message) for w in caught] == [
        "mean of a at 1 of 4 steps: interval not estimable, the scores that decide it do not vary",
        "mean of a at 1 of 4 steps: not estimable, some runs are infinite (censored)",
    ]
    assert np.isnan(curve.low).tolist() == [True, False, False, True]
    assert np.isnan(curve.value).tolist() == [False, False, False, True]
