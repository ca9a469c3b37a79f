"""Each task by itself: the median is that of the runs."""

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores import ScoreTable
from gnomon.stats import estimate, median_interval
from score_tables import censored

X = np.random.default_rng(4).exponential(size=(11, 2))


def test_the_median_of_a_task_is_that_of_its_runs():
    table = ScoreTable.from_arrays({"a": X})
    found = estimate(table, per_task=True, level=0.9, n_resamples=500, rng=1)
    assert [one.task for one in found] == ["task_0", "task_1"]
    for column, one in zip(X.T, found, strict=True):
        alone = median_interval(column, level=0.9)
        assert (one.value, one.low, one.high) == alone
        assert one.value == np.median(column)
        assert (one.n_runs, one.n_tasks) == (11, 1)


def test_other_metrics_are_those_of_a_table_of_one_task():
    table = ScoreTable.from_arrays({"a": X, "b": X + 1})
    how = {"variances": "own", "rng": 1}
    found = estimate(table, ["mean", "iqm"], per_task=True, **how)
    alone = [
        one.as_record() | {"task": task}
        for task in table.tasks
        for metric in ("mean", "iqm")
        for one in estimate(table.select(tasks=[task]), metric, **how)
    ]
    assert found.as_records() == alone
    assert "task" in str(found)


@pytest.mark.parametrize(
    ("runs", "said"),
    [([0.1] * 3, "median of a on t: interval not estimable"), ([2.0], "not estimable from one")],
)
def test_equal_runs_and_a_single_run_have_no_interval(runs, said):
    table = ScoreTable.from_arrays({"a": np.array(runs)[:, None]}, tasks=["t"])
    with pytest.warns(DegenerateScoresWarning, match=said):
        (found,) = estimate(table, "median", per_task=True)
    assert np.isnan([found.low, found.high]).all()


def test_runs_that_never_got_there_have_no_median():
    table = censored({"a": [[1.0], [np.inf], [np.inf]]}, ["t"])
    with pytest.warns(DegenerateScoresWarning, match="of a on t: not estimable, half of the runs"):
        found = estimate(table, per_task=True)
    assert not np.isfinite(found[0].value)
    (said,) = found.warnings
    assert said == "median of a on t: not estimable, half of the runs are infinite (censored)"
