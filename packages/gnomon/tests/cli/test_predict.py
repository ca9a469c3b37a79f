"""``gnomon predict``, as a command."""

from __future__ import annotations

import json

import pytest

from gnomon.distillation import SubsetModel


def test_a_saved_model_predicts(command, tmp_path):
    model = SubsetModel(
        ("t1", "t2"), (0.5, 0.5), transform="identity", residuals=(-0.1, 0.0, 0.1),
        ranges=((-9.0, 9.0), (-9.0, 9.0)),
    )  # fmt: skip
    model.save(tmp_path / "model.json")
    lines = ["algorithm,task,run,score", "whole,t1,0,4", "whole,t1,1,6", "whole,t2,0,99"]
    (tmp_path / "new.csv").write_text("\n".join([*lines, "half,t1,0,1"]))
    answer = json.loads(command("gnomon predict model.json new.csv --json").out)
    whole, half = sorted(answer["results"], key=lambda r: r["algorithm"], reverse=True)
    assert (whole["value"], whole["outside"]) == (pytest.approx(52.0), ["t2"])
    assert half["value"] is None
    for part in ("half: not estimable, no score on t2", "outside the range"):
        assert any(part in text for text in answer["warnings"])
    (tmp_path / "ends.csv").write_text("task,random,human\nt1,0,10\nt2,0,99\n")
    scaled = command("gnomon predict model.json new.csv --normalize ends.csv --json").results
    assert {r["algorithm"]: r["value"] for r in scaled}["whole"] == pytest.approx(75.0)
    (tmp_path / "model.json").write_text("[]")
    refused = command("gnomon predict model.json new.csv")
    refused.assert_refused("model.json: expected a 'gnomon subset model 5' as JSON")


@pytest.fixture
def fitted(command, suite, tmp_path):
    """Write a model of the suite that was normalised by references, and its raw scores."""
    ends = "".join(f"t{j},0,4\n" for j in range(8))
    (tmp_path / "ends.csv").write_text("task,random,human\n" + ends)
    words = "distill suite.csv --transform identity --size 3 --normalize ends.csv"
    assert command(f"gnomon {words} --model model.json").status == 0
    return tmp_path / "model.json"


def test_a_model_holds_its_references(command, fitted):
    words = "gnomon predict model.json suite.csv"
    assert max(r["value"] for r in command(f"{words} --json").results if r["value"]) > 60
    assert command(f"{words} --normalize ends.csv").status == 0
    assert len(command(f"{words} --normalized --json").results) == 30
    record = json.loads(fitted.read_text())
    assert record["version"]
    assert set(record["references"]) == set(record["tasks"])
    fitted.write_text(json.dumps(record | {"references": None}))
    command(words).assert_refused("expected scores normalised as in the model's training")


def test_which_of_two(command, fitted, tmp_path):
    (one,) = command("gnomon predict model.json suite.csv --pair a00 a01 --json").results
    fields = "a b probability difference low high level verdict"
    assert list(one) == fields.split()
    tasks = json.loads(fitted.read_text())["tasks"]
    lines = [f"{n},{t},0,{v}" for n, v in (("good", 4.0), ("bad", 0.5)) for t in tasks]
    (tmp_path / "two.csv").write_text("algorithm,task,run,score\n" + "\n".join(lines))
    (found,) = command("gnomon predict model.json two.csv --pair good bad --json").results
    assert (found["verdict"], found["probability"] > 0.9) == ("good", True)
