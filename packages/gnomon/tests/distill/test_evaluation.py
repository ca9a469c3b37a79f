"""How well a subset explains every task."""

import pytest

from gnomon.distillation import explained
from gnomon.errors import ScoreDataError, UnknownNameError


def test_a_subset_explains_itself(make_scores):
    found = explained(make_scores(), ["t01", "t04"])
    assert {one.task for one in found[:2]} == {"t01", "t04"}
    assert found.r2["t01"] == pytest.approx(1.0)
    assert found.models["t04"].weights == pytest.approx([0.0, 1.0], abs=1e-9)
    assert 0 < found.explained_others < found.explained < 1
    assert str(found).endswith("of the others; in-sample")
    assert found.plot().axes[0].get_xlabel() == "R² of the task, from the subset"


def test_nothing_is_said_of_others_if_there_are_none(make_scores):
    data = make_scores(n_tasks=3)
    assert explained(data, data.tasks).notes == ()


def test_tasks_are_chosen_if_none_is_named(make_scores):
    assert len(explained(make_scores(), size=3).subset) == 3


def test_a_subset_has_each_task_once(make_scores):
    with pytest.raises(ScoreDataError, match="expected different tasks, found t01, t01"):
        explained(make_scores(), ["t01", "t01"])
    with pytest.raises(UnknownNameError, match="unknown task 't99'"):
        explained(make_scores(), ["t99"])
