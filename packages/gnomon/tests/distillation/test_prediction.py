"""Predictions of new algorithms, the better of two, and the published sets of Atari games."""

from dataclasses import replace

import numpy as np
import pytest

from gnomon.distillation import SubsetModel, distill, predict
from gnomon.distillation.atari import published_models
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, normalize

MODEL = SubsetModel(("u", "v"), (0.5, 0.5), transform="identity", residuals=(-1.0, 0.0, 1.0))


def table(**rows):
    return ScoreTable.from_arrays({name: [row] for name, row in rows.items()}, tasks=["u", "v"])


def test_a_model_or_its_file_predicts(tmp_path):
    MODEL.save(tmp_path / "model.json")
    scores = table(dqn=[2, 4], ppo=[0, 0])
    found = predict(tmp_path / "model.json", scores, level=0.8)
    assert found == predict(MODEL, scores, level=0.8)
    assert [(one.algorithm, one.value) for one in found] == [("dqn", 3.0), ("ppo", 0.0)]
    assert all(one.low < one.value < one.high for one in found)
    runs = ScoreTable.from_arrays({"dqn": [[1, 4], [3, 4]]}, tasks=["u", "v"])
    assert predict(MODEL, runs)[0].value == 3.0


def test_what_is_missing_or_outside_is_told():
    found = predict(MODEL, table(whole=[2, 4], half=[2, np.nan]))
    half = next(one for one in found if one.algorithm == "half")
    assert (half.missing, half.as_record()["value"]) == (("v",), None)
    assert found.warnings == ("half: not estimable, no score on v",)
    narrow = SubsetModel(("u",), (1.0,), transform="identity", ranges=((0.0, 1.0),))
    with pytest.warns(DegenerateScoresWarning, match="outside the range"):
        assert predict(narrow, table(dqn=[2, 4]))[0].outside == ("u",)
    other = ScoreTable.from_arrays({"dqn": [[1.0]]}, tasks=["w"])
    with pytest.raises(ScoreDataError, match="expected an algorithm with scores on u, v"):
        predict(MODEL, other)


def test_scores_become_those_of_the_training():
    ends = {"u": (0.0, 4.0), "v": (4.0, 8.0)}
    raw = table(dqn=[2, 4])
    trained = replace(MODEL, references=ends, normalized="anchors")
    assert predict(MODEL, normalize(raw, ends))[0].value == 25.0
    assert predict(trained, raw) == predict(trained, normalize(raw, ends))
    assert predict(trained, raw, normalized=True)[0].value == 3.0


def suite(n=50, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(2, 0.7, (n, 1)) + rng.normal(0, 0.3, (n, 9))
    return ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(x)})


@pytest.fixture(scope="module")
def fitted():
    return distill(suite(), size=3, transform="identity")


def test_two_directions_are_one_answer(fitted):
    there = predict(fitted.model, suite(), pair=("a00", "a05"))
    back = predict(fitted.model, suite(), pair=("a05", "a00"))[0]
    assert there[0].probability == pytest.approx(1 - back.probability)
    assert (there[0].low, there[0].high) == (-back.high, -back.low)
    better = "a00" if there[0].probability > 0.5 else "a05"
    assert there.notes[0].startswith(better)


def test_two_algorithms_with_different_tasks(fitted):
    u, v, w = fitted.model.tasks
    rows = {"a": [[3.0, 3.0, np.nan]], "b": [[np.nan, np.nan, 1.0]]}
    one = predict(fitted.model, ScoreTable.from_arrays(rows, tasks=[u, v, w]), pair=("a", "b"))[0]
    assert (one.verdict, one.probability > 0.9) == ("a", True)
    with pytest.raises(UnknownNameError, match="unknown algorithm 'a0x'"):
        predict(fitted.model, suite(), pair=("a0x", "a01"))
    with pytest.raises(ScoreDataError, match="found 'a01' twice"):
        predict(fitted.model, suite(), pair=("a01", "a01"))
    with pytest.raises(ScoreDataError, match="of the procedure 'factor'"):
        predict(MODEL, table(dqn=[2, 4], ppo=[1, 1]), pair=("dqn", "ppo"))


def test_probabilities_come_true(fitted):
    held, scale = fitted[0].nested, fitted.model.scale
    known = list(zip(held.forecasts, held.target, strict=True))
    pairs = [(a, b) for i, a in enumerate(known) for b in known[:i]]
    said = np.array([a.difference(b, 0.9, scale)[2] for (a, _), (b, _) in pairs])
    was = np.array([x > y for (_, x), (_, y) in pairs])
    assert np.mean((said - was) ** 2) < np.mean((said > 0.5) != was)
    better, right = np.maximum(said, 1 - said), (said >= 0.5) == was
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        inside = (better >= low) & (better < low + 0.1)
        if inside.sum() > 50:
            assert abs(better[inside].mean() - right[inside].mean()) < 0.12


def test_the_published_sets():
    assert {name: len(m.tasks) for name, m in published_models().items()} == {
        "Atari-1": 1,
        "Atari-3": 3,
        "Atari-5": 5,
        "Atari-10": 10,
        "Atari-3-Val": 3,
        "Atari-5-Val": 5,
    }
    raw = {task: 0.0 for model in published_models().values() for task in model.tasks}
    one = normalize(ScoreTable.from_arrays({"a": [[*raw.values()]]}, tasks=[*raw]), "atari")
    raw = {game: low for game, (low, _) in one.normalization.anchors.items()}
    random = ScoreTable.from_arrays({"random": [[*raw.values()]]}, tasks=[*raw])
    with pytest.warns(match="outside the range"):  # No algorithm of the training is that bad.
        values = [predict(name, random)[0].value for name in published_models()]
    assert values == pytest.approx([0.0] * 6)
    runs = ScoreTable.from_arrays({"mine": [[8049.0], [2292.35]]}, tasks=["NameThisGame-v5"])
    assert predict("atari-1", runs)[0].value == pytest.approx(51**0.9976 - 1)


def test_a_published_set_needs_its_games():
    pong = ScoreTable.from_arrays({"mine": [[3.0]]}, tasks=["pong"])
    with pytest.raises(ScoreDataError, match="expected an algorithm with scores on battlezone"):
        predict("atari-5", pong)
    twice = ScoreTable.from_arrays({"mine": [[3.0, 4.0]]}, tasks=["pong", "ALE/Pong-v5"])
    with pytest.raises(ScoreDataError, match=r"expected each game once; .* is pong again"):
        predict("atari-5", twice)
    with pytest.raises(UnknownNameError, match="unknown Atari game 'pongg'; did you mean 'pong'"):
        predict("atari-5", ScoreTable.from_arrays({"mine": [[3.0]]}, tasks=["Pongg"]))
