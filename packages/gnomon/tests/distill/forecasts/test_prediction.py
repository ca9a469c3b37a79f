"""Predictions of new algorithms from a saved model."""

import numpy as np
import pytest

from gnomon.distillation import SubsetModel, predict
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable

MODEL = SubsetModel(("u", "v"), (0.5, 0.5), transform="identity", residuals=(-1.0, 0.0, 1.0))


def table(**rows):
    return ScoreTable.from_arrays({name: [row] for name, row in rows.items()}, tasks=["u", "v"])


def test_a_saved_model_is_read(tmp_path):
    MODEL.save(tmp_path / "model.json")
    scores = table(dqn=[2, 4], ppo=[0, 0])
    found = predict(tmp_path / "model.json", scores, level=0.8)
    assert found == predict(str(tmp_path / "model.json"), scores, level=0.8)
    assert [(one.algorithm, one.value) for one in found] == [("dqn", 3.0), ("ppo", 0.0)]
    assert all(one.low < one.value < one.high for one in found)
    assert found[0].level == 0.8


def test_several_runs_count_by_their_mean():
    scores = ScoreTable.from_arrays({"dqn": [[1, 4], [3, 4]]}, tasks=["u", "v"])
    assert predict(MODEL, scores)[0].value == 3.0


def test_what_is_missing_is_told():
    found = predict(MODEL, table(whole=[2, 4], half=[2, np.nan]))
    by_name = {one.algorithm: one for one in found}
    assert np.isnan(by_name["half"].value)
    assert by_name["half"].missing == ("v",)
    assert by_name["half"].as_record()["value"] is None
    assert found.warnings == ("half: not estimable, no score on v",)


def test_what_lies_outside_the_training_is_told():
    narrow = SubsetModel(("u",), (1.0,), transform="identity", ranges=((0.0, 1.0),))
    with pytest.warns(DegenerateScoresWarning, match="outside the range"):
        found = predict(narrow, table(dqn=[2, 4]))
    assert found[0].outside == ("u",)
    assert "outside the range" in found.warnings[0]


def test_scores_become_those_of_the_training():
    ends = {"u": (0.0, 4.0), "v": (4.0, 8.0)}
    assert predict(MODEL, table(dqn=[2, 4]), references=ends)[0].value == 25.0
    with pytest.raises(ScoreDataError, match="expected a reference score of v; there is none"):
        predict(MODEL, table(dqn=[2, 4]), references={"u": (0.0, 4.0)})


def test_no_algorithm_has_the_scores():
    other = ScoreTable.from_arrays({"dqn": [[1.0]]}, tasks=["w"])
    with pytest.raises(ScoreDataError, match="expected an algorithm with scores on u, v"):
        predict(MODEL, other)
