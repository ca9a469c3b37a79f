"""What a subset tells of every task, and of whom."""

import numpy as np
import pytest

from gnomon.distill import explained, fairness
from gnomon.distill.evaluation import fairness_tests, thirds
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
    assert len(fairness(make_scores(), size=2).subset) == 2


def test_a_subset_has_each_task_once(make_scores):
    for verb in (explained, fairness):
        with pytest.raises(ScoreDataError, match="expected different tasks, found t01, t01"):
            verb(make_scores(), ["t01", "t01"])
        with pytest.raises(UnknownNameError, match="unknown task 't99'"):
            verb(make_scores(), ["t99"])


def test_fairness_finds_a_difference_that_is_there():
    rng = np.random.default_rng(0)
    true = np.arange(90.0)
    error = rng.normal(0, 0.01, 90) + np.where(true > 60, 0.5, 0.0)
    tests = {(t.a, t.b, t.measure): t for t in fairness_tests(true + error, true, error)}
    assert tests["low", "high", "bias"].welch_p < 1e-6
    assert tests["low", "high", "accuracy"].wilcoxon_p < 1e-6
    assert tests["low", "middle", "bias"].welch_p > 0.01


def test_thirds_are_of_those_predicted():
    groups = thirds(np.array([1.0, np.nan, 1, 1, 1, 1, 1]), np.arange(7.0))
    assert {name: index.tolist() for name, index in groups.items()} == {
        "low": [0, 2],
        "middle": [3, 4],
        "high": [5, 6],
    }


def test_two_in_a_third_are_needed():
    with pytest.raises(ScoreDataError, match=r"at least 6 predicted algorithms .*, found 5"):
        fairness_tests(np.arange(5.0), np.arange(5.0), np.zeros(5))


def test_one_panel_can_be_drawn(make_scores):
    from matplotlib.figure import Figure

    found = fairness(make_scores(), ["t01"])
    ax = Figure().subplots()
    assert found.plot(ax=ax) is ax
    assert len(found.plot().axes) == 2
