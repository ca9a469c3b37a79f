import dataclasses
import json
from functools import partial

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.results import noted
from gnomon.scores import ScoreTable
from gnomon.stats import Estimate, Metric, compare, estimate
from score_tables import censored


def rng():
    return np.random.default_rng(0)


def table(**arrays):
    return ScoreTable.from_arrays(arrays)


def test_one_record_for_each_algorithm_and_metric():
    x = rng().normal(size=(10, 4))
    estimates = estimate(table(a=x, b=x + 1), rng=rng())
    assert [(e.algorithm, e.metric) for e in estimates] == [
        (name, metric) for name in "ab" for metric in ("mean", "median", "iqm", "optimality_gap")
    ]
    for e in estimates:
        assert e.low < e.value < e.high
        assert (e.n_runs, e.n_tasks, e.level) == (10, 4, 0.95)
    names = [field.name for field in dataclasses.fields(Estimate) if not field.metadata]
    assert list(estimates[0].as_record()) == names


def test_one_rule_serves_all_metrics_at_any_number_of_runs():
    for n_runs in (3, 30):
        x = np.random.default_rng(2).normal(size=(n_runs, 9))
        own = Metric.of_matrix("own", lambda scores: float(scores.std()))
        found = estimate(table(a=x), ["mean", "iqm", own, "median"], rng=rng())
        assert [e.method for e in found] == ["student"] * 3 + ["profile"]


def test_a_task_with_most_of_the_variance_is_named():
    x = rng().normal(size=(5, 4)) * [1, 1, 30, 1]
    with pytest.warns(
        DegenerateScoresWarning, match=r"of the variance comes from one task: a .task_2"
    ):
        estimate(table(a=x), ["mean"], rng=rng())


def test_ragged_tables_are_compared_on_shared_tasks():
    x = rng().normal(size=(5, 3))
    x[3:, 0] = np.nan
    x[:, 2] = np.nan
    scores = table(a=x, b=rng().normal(size=(4, 3)))
    for verb in (partial(estimate, metrics="mean"), partial(compare, a="a", b="b", metrics="mean")):
        with noted() as notes:
            verb(scores, rng=rng())
        assert notes == [
            "7 of 27 runs have no score and are left out",
            "1 of 3 tasks left out, since a lacks them: task_2",
            "fewer runs than on other tasks in 1 of 4 cells (a on task_0); all tasks have the "
            "same weight",
        ]
    with noted():
        estimates = estimate(scores, ["mean"], rng=rng())
    assert [(e.n_runs, e.n_tasks) for e in estimates] == [((3, 5), 2), (4, 2)]
    assert estimates[0].as_record()["n_runs"] == [3, 5]


def test_a_single_run_has_no_interval():
    with pytest.warns(DegenerateScoresWarning, match="not estimable from one run per task"):
        (one,) = estimate(table(a=[[1.0, 2.0]]), ["mean"], rng=rng())
    record = one.as_record()
    assert (record["value"], record["low"], record["high"]) == (1.5, None, None)
    json.dumps(record, allow_nan=False)


def test_means_of_infinite_scores_are_not_estimable():
    infinite = censored({"a": np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.inf]]).T})
    with noted() as notes:
        mean, iqm = estimate(infinite, ["mean", "iqm"], rng=rng())
    assert notes[0] == "mean of a: not estimable, some runs are infinite (censored)"
    assert np.isnan(mean.value)
    # Some resamples are infinite, so that they have quantiles and no standard deviation.
    assert (iqm.value, iqm.method) == (4.5, "percentile")


def test_all_scores_missing():
    with pytest.raises(ScoreDataError, match="expected tasks that all algorithms have; a share no"):
        estimate(table(a=[[np.nan]]), rng=rng())


def test_the_gap_needs_a_target_where_lower_is_better():
    lower = ScoreTable.from_arrays({"a": [[1.0], [2.0]]}, higher_is_better=False)
    assert len(estimate(lower, rng=rng())) == 3
    with pytest.raises(ScoreDataError, match="optimality_gap: expected a target gamma"):
        estimate(lower, ["optimality_gap"], rng=rng())
    (gap,) = estimate(lower, ["optimality_gap"], gamma=1.0, rng=rng())
    assert gap.value == 0.5


def test_gaps_are_one_warning_for_all_pairs():
    x = rng().normal(size=(3, 4, 3))
    for i in range(3):
        x[:, i, i] = np.nan
    scores = table(a=x[..., 0], b=x[..., 1], c=x[..., 2])
    for metric in ("mean", "probability_of_improvement"):
        with noted() as notes:
            compare(scores, metrics=metric, rng=rng())
        assert notes[1:] == [
            "no score in 3 of 12 cells (a on task_0, b on task_1, c on task_2); each pair is "
            "compared on the tasks that both have"
        ]


def test_tasks_with_a_single_run_among_others_are_named():
    x = rng().normal(size=(5, 6))
    x[1:, 2] = np.nan
    with noted() as notes:
        (one,) = estimate(table(a=x), ["median"], rng=rng())
    assert notes[1].startswith("a single run in 1 of 6 cells (a on task_2)")
    assert one.low < one.value < one.high


def test_a_target_outside_the_scores_is_named():
    x = rng().normal(size=(10, 4))
    with pytest.warns(DegenerateScoresWarning, match="the target 50 lies outside the scores"):
        estimate(table(a=x), ["optimality_gap"], gamma=50.0, rng=rng())


def test_unknown_metrics_are_answered_with_near_ones():
    with pytest.raises(UnknownNameError, match="unknown metric 'meen'; did you mean 'mean'"):
        estimate(table(a=[[1.0], [2.0]]), ["meen"], rng=rng())
    with pytest.raises(ValueError, match="expected a level between 0 and 1, found 95"):
        estimate(table(a=[[1.0], [2.0]]), level=95, rng=rng())
    with pytest.raises(ValueError, match="unknown method 'bootstrap'"):
        estimate(table(a=[[1.0], [2.0]]), method="bootstrap", rng=rng())


def test_an_interval_with_one_end_is_said():
    """A mean of the middle half passes one censored run, and not two in the same resample."""
    table = censored({"a": np.array([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, np.inf]]).T})
    with pytest.warns(DegenerateScoresWarning, match="iqm of a: interval without an upper end"):
        (found,) = estimate(table, ["iqm"], method="percentile", rng=np.random.default_rng(0))
    assert np.isfinite([found.value, found.low]).all()
    assert np.isposinf(found.high)
    assert found.as_record()["high"] is None


@pytest.mark.parametrize("method", ["auto", "percentile"])
@pytest.mark.parametrize("metric", ["mean", "iqm", "optimality_gap"])
def test_what_only_rounding_moves_does_not_vary(metric, method):
    """Sums of other orders of equal scores differ in the last digit."""
    scores = table(a=np.full((7, 6), 0.1))
    with pytest.warns(DegenerateScoresWarning, match=f"{metric} of a: interval not estimable, the"):
        (found,) = estimate(scores, [metric], method=method, n_resamples=50, rng=rng())
    assert np.isnan(found.low)
    assert np.isnan(found.high)


@pytest.mark.parametrize("verb", [gn.estimate, gn.compare, gn.profile, gn.audit, gn.report])
def test_too_few_resamples_are_refused(verb):
    scores = ScoreTable.from_arrays({"a": [[1.0, 2.0], [3.0, 5.0]], "b": [[2.0, 2.5], [3.5, 5.0]]})
    with pytest.raises(ValueError, match="expected at least 25 resamples, found 1"):
        verb(scores, n_resamples=1)
