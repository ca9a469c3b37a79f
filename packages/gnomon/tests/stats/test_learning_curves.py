import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
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


@pytest.mark.parametrize(
    ("summary", "expected"),
    [("area", 4.5), ("best", 6.0), ("final", 4.0), ("time_to_threshold", 10.0)],
)
def test_numbers_about_a_curve(summary, expected):
    runs = np.array([[[1.0, 5.0, 6.0, 4.0]], [[1.0, 5.0, 6.0, 4.0]]])
    table = ScoreTable.from_arrays({"a": runs}, steps=[0, 10, 20, 30])
    found = summarize_runs(table, summary, threshold=5.0)
    assert found.runs("a", "task_0").tolist() == [expected] * 2
    assert found.metric == f"{summary}(score)"


def test_best_is_lowest_where_lower_is_better():
    table = ScoreTable.from_arrays({"a": [[[3.0, 1.0, 2.0]]]}, higher_is_better=False)
    assert summarize_runs(table, "best").runs("a", "task_0").tolist() == [1.0]
    reached = summarize_runs(table, "time_to_threshold", threshold=1.5)
    assert reached.runs("a", "task_0").tolist() == [1.0]


def test_a_threshold_never_reached_is_censored():
    times = summarize_runs(TABLE, "time_to_threshold", threshold=1e9)
    assert not times.higher_is_better
    assert np.isinf(times.runs("a", "task_0")).all()
    assert "24 censored runs" in str(times)


def test_a_run_that_ends_early_does_not_erase_the_others():
    x = X.copy()
    x[2, 1, 5:] = np.nan
    table = ScoreTable.from_arrays({"a": x})
    with pytest.warns(DegenerateScoresWarning, match="a run 2 on task_1 ends at 4 of 7: the curve"):
        (curve,) = curves(table, "mean", rng=rng())
    assert curve.step.tolist() == list(range(8))
    np.testing.assert_allclose(curve.value, np.nanmean(x, axis=0).mean(axis=0))
    with pytest.raises(ScoreDataError, match="areas of unequal lengths are not comparable: a"):
        summarize_runs(table, "area")
    x[:4, 1, 5:] = np.nan
    table = ScoreTable.from_arrays({"a": x})
    with pytest.warns(DegenerateScoresWarning, match="a: 3 of 8 steps left out, not all runs"):
        (curve,) = curves(table, rng=rng())
    assert curve.step.tolist() == [0, 1, 2, 3, 4]


def test_steps_that_some_run_lacks_between_others_are_interpolated_aloud():
    x = X.copy()
    x[2, 1, 5] = np.nan
    table = ScoreTable.from_arrays({"a": x})
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
        summarize_runs(TABLE, "time_to_threshold")


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
    table = ScoreTable(rows, higher_is_better=False)
    with pytest.warns(DegenerateScoresWarning) as caught:
        (curve,) = curves(table, ["mean"], rng=rng())
    assert [str(w.message) for w in caught] == [
        "mean of a at 1 of 4 steps: interval not estimable, the scores that decide it do not vary",
        "mean of a at 1 of 4 steps: not estimable, some runs are infinite (censored)",
    ]
    assert np.isnan(curve.low).tolist() == [True, False, False, True]
    assert np.isnan(curve.value).tolist() == [False, False, False, True]
