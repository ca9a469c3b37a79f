"""Histograms of scores: every run is counted once, in bins that a task's algorithms share."""

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.plot import histogram_panels
from gnomon.scores import ScoreTable
from gnomon.stats import score_histograms

SCORES = np.random.default_rng(0).gamma(2.0, 3.0, (3, 30, 2))
TABLE = ScoreTable.from_arrays(dict(zip("abc", SCORES, strict=True)), tasks=["t", "u"])


def test_each_run_is_in_one_bin():
    found = score_histograms(TABLE)
    assert [(one.task, one.algorithm) for one in found[:3]] == [("t", "a"), ("t", "b"), ("t", "c")]
    for one in found:
        assert one.counts.sum() == 30
        inside = (one.scores >= one.edges[0]) & (one.scores <= one.edges[-1])
        assert inside.all()
    assert np.array_equal(found[0].edges, found[1].edges)
    assert sum(record["count"] for record in found.as_records()) == 180


def test_equal_scores_stand_in_the_middle():
    (one,) = score_histograms(ScoreTable.from_arrays({"a": [[7.0], [7.0]]}))
    assert one.edges[0] < 7.0 < one.edges[-1]
    assert one.counts.sum() == 2


def test_runs_that_never_got_there_are_counted_apart():
    rows = [
        {"algorithm": "a", "task": "t", "run": i, "score": x, "censored": np.isinf(x)}
        for i, x in enumerate([1.0, np.inf])
    ]
    found = score_histograms(ScoreTable.from_records(rows, higher_is_better=False))
    assert (found[0].counts.sum(), found[0].n_infinite) == (1, 1)
    assert "1 runs that never got there are not drawn" in found.figure().caption
    never = ScoreTable.from_records(rows[1:], higher_is_better=False)
    with pytest.raises(ScoreDataError, match="expected at least one finite score"):
        score_histograms(never)


def test_a_panel_a_task_and_given_axes_take_one():
    found = score_histograms(TABLE)
    drawing = histogram_panels(found)
    assert [ax.get_title("left") for ax in drawing.axes] == ["t", "u"]
    ax = drawing.axes[0]
    with pytest.raises(ValueError, match="expected one task for given axes, found 2"):
        found.plot(ax)
    assert found.where(task="u").plot(ax) is ax


@pytest.mark.full
def test_of_many_tasks_the_first_are_drawn():
    for n_algorithms, n_tasks, drawn in ((1, 70, 60), (2, 57, 57), (8, 57, 24), (20, 57, 12)):
        x = np.random.default_rng(0).normal(size=(n_algorithms, 2, n_tasks))
        many = ScoreTable.from_arrays({f"a{i}": scores for i, scores in enumerate(x)})
        figure = score_histograms(many).figure()
        assert len(figure.drawing.axes) == drawn
        assert figure.drawing.get_size_inches()[1] < 18
        told = f"The first {drawn} of {n_tasks} tasks are drawn, which fit on a sheet"
        assert (told in figure.caption) is (drawn < n_tasks)
