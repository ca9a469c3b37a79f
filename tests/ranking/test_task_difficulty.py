"""Classes of difficulty and generality."""

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.ranking import difficulty_classes, generality
from gnomon.scores import ScoreTable


def errors(means, learners=("dqn", "tabular"), runs=25, seed=0):
    rng = np.random.default_rng(seed)
    scores = {name: rng.poisson(means, (runs, len(means))) for name in learners}
    tasks = [f"rule-{i}" for i in range(len(means))]
    return ScoreTable.from_arrays(scores, tasks=tasks, higher_is_better=False)


def test_clear_classes_are_found_and_stable():
    table = errors([20, 21, 20, 80, 82, 81, 300, 310])
    classes = difficulty_classes(table, n_resamples=50, rng=np.random.default_rng(0))
    found = [{*c.tasks} for c in classes]
    assert found == [
        {"rule-6", "rule-7"},
        {"rule-3", "rule-4", "rule-5"},
        {"rule-0", "rule-1", "rule-2"},
    ]
    assert all(c.stability > 0.9 for c in classes)
    assert classes[0].difficulty > classes[1].difficulty > classes[2].difficulty


def test_classes_without_any_difference_are_unstable():
    table = errors([50] * 8)
    classes = difficulty_classes(table, 3, n_resamples=50, rng=np.random.default_rng(0))
    assert np.mean([c.stability for c in classes]) < 0.7


def test_rules_that_are_hard_for_different_learners_are_no_class():
    rng = np.random.default_rng(0)
    a, b = rng.poisson([20, 200, 20], (20, 3)), rng.poisson([20, 20, 200], (20, 3))
    table = ScoreTable.from_arrays({"a": a, "b": b}, tasks=["x", "y", "z"], higher_is_better=False)
    classes = difficulty_classes(table, 2, n_resamples=20, rng=rng)
    assert {"y", "z"} not in [{*c.tasks} for c in classes]


def test_two_tasks_are_too_few():
    with pytest.raises(ScoreDataError, match="expected at least three tasks to classify, found 2"):
        difficulty_classes(errors([1, 2]), rng=np.random.default_rng(0))


def test_generality_counts_learned_classes():
    rows = [
        ("dqn", "easy", 5),
        ("dqn", "hard", 50),
        ("uniform", "easy", 9),
        ("uniform", "hard", np.inf),
    ]
    table = ScoreTable.from_records(
        [
            {"algorithm": a, "task": t, "run": 0, "score": s, "censored": bool(np.isinf(s))}
            for a, t, s in rows
        ],
        higher_is_better=False,
    )
    dqn, uniform = generality(table)
    assert (dqn.classes_learned, uniform.classes_learned, dqn.n_classes) == (2, 1, 2)
    assert (dqn.learned_share, uniform.learned_share) == (1.0, 0.5)
    assert (dqn.mean_win, uniform.worst_win) == (1.0, 0.0)


def test_a_lonely_algorithm_has_no_wins():
    (found,) = generality(errors([1, 2], learners=("dqn",)))
    assert found.as_record()["mean_win"] is None
    assert found.worst_task is None


@pytest.mark.parametrize("n_classes", [0, 4])
def test_a_number_of_classes_that_cannot_be(n_classes):
    table = ScoreTable.from_arrays({"a": np.arange(12.0).reshape(4, 3)}, higher_is_better=False)
    with pytest.raises(ValueError, match=f"expected 1 to 3 classes, found {n_classes}"):
        difficulty_classes(table, n_classes, rng=np.random.default_rng(0))
