"""Each task by itself: the median is that of the runs."""

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores.table import ScoreTable
from gnomon.stats.bootstrap.resamples import median_interval
from gnomon.stats.estimates import estimate, estimate_tasks

X = np.random.default_rng(4).exponential(size=(11, 2))


def test_the_median_of_a_task_is_that_of_its_runs():
    table = ScoreTable.from_arrays({"a": X})
    found = estimate_tasks(table, level=0.9, n_resamples=500, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    assert [task for task, _ in found] == ["task_0", "task_1"]
    for column, (_, estimate) in zip(X.T, found, strict=True):
        alone = median_interval(column, level=0.9, n_resamples=500, rng=rng)
        assert (estimate.value, estimate.low, estimate.high) == alone
        assert estimate.value == np.median(column)
        assert (estimate.n_runs, estimate.n_tasks, estimate.n_resamples) == (11, 1, 500)


def test_other_metrics_are_those_of_a_table_of_one_task():
    table = ScoreTable.from_arrays({"a": X, "b": X + 1})
    found = estimate_tasks(table, ["mean", "iqm"], rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    alone = [
        (task, estimate)
        for task in table.tasks
        for metric in ("mean", "iqm")
        for estimate in estimate(table.select(tasks=[task]), [metric], rng=rng)
    ]
    assert found == alone


def test_runs_that_never_got_there_have_no_median():
    rows = [
        {"algorithm": "a", "task": "t", "run": i, "score": s, "censored": s == np.inf}
        for i, s in enumerate([1.0, np.inf, np.inf])
    ]
    table = ScoreTable.from_records(rows, higher_is_better=False)
    with pytest.warns(DegenerateScoresWarning, match="of a on t: not estimable, half of the runs"):
        ((_, estimate),) = estimate_tasks(table, rng=np.random.default_rng(0))
    assert not np.isfinite(estimate.value)
