"""``gnomon predict``, as a command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gnomon.distillation import SubsetModel
from gnomon.scores import ScoreTable, normalize, write_scores


@pytest.fixture
def suite(tmp_path):
    """Write the scores of 30 algorithms on 8 tasks."""
    rng = np.random.default_rng(0)
    scores = rng.normal(2, 1, (30, 1)) + rng.normal(0, 0.4, (30, 8))
    rows = {f"a{i:02}": [row] for i, row in enumerate(scores)}
    tasks = [f"t{j}" for j in range(8)]
    write_scores(ScoreTable.from_arrays(rows, tasks=tasks), tmp_path / "suite.csv")


def records(said):
    status, out, err = said
    assert status == 0, err
    return json.loads(out)["results"]


def test_a_saved_model_predicts(command, suite, tmp_path):
    model = SubsetModel(
        ("t1", "t2"), (0.5, 0.5), transform="identity", residuals=(-0.1, 0.0, 0.1),
        ranges=((-9.0, 9.0), (-9.0, 9.0)),
    )  # fmt: skip
    model.save(tmp_path / "model.json")
    found = records(command("gnomon", "predict", "model.json", "suite.csv", "--json"))
    assert len(found) == 30
    assert all(r["low"] < r["value"] < r["high"] for r in found)
    lines = [
        "algorithm,task,run,score",
        "whole,t1,0,4",
        "whole,t1,1,6",
        "whole,t2,0,99",
        "half,t1,0,1",
    ]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    status, out, _ = command("gnomon", "predict", "model.json", "new.csv", "--json")
    whole, half = sorted(json.loads(out)["results"], key=lambda r: r["algorithm"], reverse=True)
    assert status == 0
    assert (whole["value"], whole["outside"]) == (pytest.approx(52.0), ["t2"])
    assert half["value"] is None
    warnings = json.loads(out)["warnings"]
    assert any("half: not estimable, no score on t2" in text for text in warnings)
    assert any("outside the range" in text for text in warnings)
    (tmp_path / "ends.csv").write_text("task,random,human\nt1,0,10\nt2,0,99\n")
    scaled = records(
        command("gnomon", "predict", "model.json", "new.csv", "--normalize", "ends.csv", "--json")
    )
    assert {r["algorithm"]: r["value"] for r in scaled}["whole"] == pytest.approx(75.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "model.json: expected a 'gnomon subset model 5' as JSON"),
        ('{"format": "other"}', "model.json: expected a 'gnomon subset model 5' as JSON"),
        ("nonsense", "model.json: expected a 'gnomon subset model 5' as JSON"),
    ],
)
def test_what_is_no_model_is_refused(command, suite, tmp_path, text, said):
    (tmp_path / "model.json").write_text(text)
    status, out, err = command("gnomon", "predict", "model.json", "suite.csv")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.fixture
def fitted(command, suite, tmp_path):
    """Write a model of the suite that was normalised by references, and its raw scores."""
    ends = "".join(f"t{j},0,4\n" for j in range(8))
    (tmp_path / "ends.csv").write_text("task,random,human\n" + ends)
    arguments = ("--size", "3", "--normalize", "ends.csv", "--model", "model.json")
    status, _, err = command(
        "gnomon", "distill", "suite.csv", "--transform", "identity", *arguments
    )
    assert status == 0, err
    return tmp_path / "model.json"


def test_a_suite_is_normalised_by_the_name_or_the_file_that_other_verbs_take(command, tmp_path):
    games, draws = ["pong", "qbert", "boxing", "freeway"], np.random.default_rng(0)
    one = ScoreTable.from_arrays({"a": np.ones((1, 4))}, tasks=games)
    ends = normalize(one, "atari").normalization.anchors
    rows = [
        f"a{i},{game},0,{low + (high - low) * np.exp(draws.normal()):.4f}"
        for i in range(12)
        for game, (low, high) in ends.items()
    ]
    (tmp_path / "raw.csv").write_text("\n".join(["algorithm,task,run,score", *rows]) + "\n")
    lines = [f"{game},{low},{high}" for game, (low, high) in ends.items()]
    (tmp_path / "ends.csv").write_text("\n".join(["task,low,high", *lines]) + "\n")
    found = [
        records(command("gnomon", "distill", "raw.csv", "--size", "2", "--json", *by))
        for by in (("--normalize", "atari"), ("--normalize", "ends.csv"))
    ]
    assert found[0] == found[1]
    for name, said in (("atri", "unknown normalization 'atri'; did you mean 'atari'?"),
                       ("dmc", "dmc: expected returns from 0 to 1000")):  # fmt: skip
        status, _, err = command("gnomon", "distill", "raw.csv", "--normalize", name)
        assert (status, said in err) == (2, True), err


def test_a_model_holds_its_references(command, fitted):
    raw = records(command("gnomon", "predict", "model.json", "suite.csv", "--json"))
    given = command("gnomon", "predict", "model.json", "suite.csv", "--normalize", "ends.csv")
    assert given[0] == 0
    scaled = command("gnomon", "predict", "model.json", "suite.csv", "--normalized", "--json")
    assert len(records(scaled)) == 30
    assert max(r["value"] for r in raw if r["value"]) > 60
    record = json.loads(fitted.read_text())
    assert record["version"]
    assert set(record["references"]) == set(record["tasks"])
    fitted.write_text(json.dumps(record | {"references": None}))
    status, _, err = command("gnomon", "predict", "model.json", "suite.csv")
    assert status == 2
    assert "expected scores normalised as in the model's training" in err


def test_which_of_two(command, fitted, tmp_path):
    said = command("gnomon", "predict", "model.json", "suite.csv", "--pair", "a00", "a01", "--json")
    (one,) = records(said)
    assert list(one) == [
        *("a", "b", "probability", "difference", "low", "high", "level", "verdict"),
    ]
    tasks = json.loads(fitted.read_text())["tasks"]
    lines = [f"{n},{t},0,{v}" for n, v in (("good", 4.0), ("bad", 0.5)) for t in tasks]
    (tmp_path / "two.csv").write_text("algorithm,task,run,score\n" + "\n".join(lines))
    (found,) = records(
        command("gnomon", "predict", "model.json", "two.csv", "--pair", "good", "bad", "--json")
    )
    assert (found["verdict"], found["probability"] > 0.9) == ("good", True)
    status, _, err = command("gnomon", "predict", "model.json", "two.csv", "--pair", "good", "best")
    assert status == 2
    assert "unknown algorithm 'best'" in err


def test_items_are_refused(command, suite):
    assert command("gnomon", "read", "suite.csv", "--units", "items", "--out", "x.csv")[0] == 0
    status, out, err = command("gnomon", "distill", "x.csv")
    assert (status, out) == (2, "")
    assert "expected a suite of tasks, found items of an evaluation" in err


def test_a_published_set_of_games_by_its_name(command, tmp_path):
    games = {"Battle Zone": 37187.5, "Double Dunk": -16.4, "Name This Game": 8049.0}
    games |= {"ALE/Phoenix-v5": 7242.6, "Q*bert": 13455.0}
    lines = [f"mine,{game},0,{score}" for game, score in games.items()]
    (tmp_path / "mine.csv").write_text("algorithm,task,run,score\n" + "\n".join(lines) + "\n")
    (one,) = records(command("gnomon", "predict", "atari-5", "mine.csv", "--json"))
    assert one["value"] == pytest.approx(101**0.9653 - 1)
    assert one["low"] < one["value"] < one["high"]
    assert (
        records(command("gnomon", "predict", "Atari-3", "mine.csv", "--json"))[0]["missing"] == []
    )
    status, _, err = command("gnomon", "predict", "atari-10", "mine.csv")
    assert status == 2
    assert "expected an algorithm with scores on amidar" in err
    (tmp_path / "mine.csv").write_text("algorithm,task,run,score\na,Pongg,0,3\n")
    status, _, err = command("gnomon", "predict", "atari-5", "mine.csv")
    assert status == 2
    assert "unknown Atari game 'pongg'; did you mean 'pong'?" in err


def test_few_algorithms_are_told_what_they_do_to_the_error(command, tmp_path):
    rows = np.random.default_rng(0).normal(3, 1, (6, 8))
    table = ScoreTable.from_arrays({f"a{i}": [row] for i, row in enumerate(rows)})
    write_scores(table, tmp_path / "six.csv")
    status, _, err = command("gnomon", "distill", "six.csv", "--size", "2")
    assert status == 0
    assert "6 algorithms are few to choose tasks by: the error is" in err
