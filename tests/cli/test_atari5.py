"""``gnomon atari5``, as the command line calls it."""

from __future__ import annotations

import json

import pytest

from gnomon.scores import ScoreTable, write_scores


def results(said):
    status, out, err = said
    assert status == 0, err
    answer = json.loads(out)
    assert list(answer) == ["gnomon", "command", "results", "warnings"]
    return answer


def test_atari5_score_of_games(gnomon):
    games = ["Battle Zone=37187.5", "Double Dunk=-16.4", "Name This Game=8049"]
    games += ["Phoenix=7242.6", "Q*bert=13455"]
    arguments = [part for game in games for part in ("--game", game)]
    answer = results(gnomon("atari5", "score", *arguments, "--json"))
    values = {r["model"]: r["value"] for r in answer["results"]}
    assert set(values) == {"Atari-1", "Atari-3", "Atari-5"}
    assert values["Atari-5"] == pytest.approx(101**0.9653 - 1)
    assert all(r["low"] < r["value"] < r["high"] for r in answer["results"])
    status, out, _ = gnomon("atari5", "score", *arguments, "--predict")
    assert status == 0
    assert "published: MuZero" in out
    assert "Atari-5: error 21.5%; bankheist, battlezone, berzerk, namethisgame, zaxxon 14.7%" in out
    assert "Tune on Atari-3-Val" in out
    assert "montezumarevenge" in out


def test_atari5_score_of_a_file(gnomon, tmp_path):
    table = ScoreTable.from_arrays({"mine": [[8049.0], [2292.35]]}, tasks=["NameThisGame-v5"])
    write_scores(table, tmp_path / "runs.csv")
    record = results(gnomon("atari5", "score", "runs.csv", "--json"))["results"][0]
    assert (record["algorithm"], record["model"]) == ("mine", "Atari-1")
    assert record["value"] == pytest.approx(51**0.9976 - 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--game", "Pongg=3"), "unknown Atari game 'pongg'; did you mean 'pong'?"),
        (("--game", "Pong=3"), "expected scores on the games of a published set"),
        (("--game", "Pong"), "expected GAME=SCORE, found 'Pong'"),
        (("--game", "Pong=x"), "expected GAME=SCORE, found 'Pong=x'"),
        (("--game", "Pong=nan"), "expected GAME=SCORE, found 'Pong=nan'"),
        (("--game", "Pong=inf"), "expected GAME=SCORE, found 'Pong=inf'"),
        (("--game", "Pong=1", "--game", "ALE/Pong-v5=2"), "'ALE/Pong-v5' is pong again"),
        ((), "expected a file of scores, or --game GAME=SCORE"),
    ],
)
def test_atari5_score_of_nothing(gnomon, arguments, said):
    status, _, err = gnomon("atari5", "score", *arguments)
    assert status == 2
    assert said in err


def test_costs(gnomon):
    answer = results(gnomon("atari5", "cost", "--games", "5", "--hours", "2", "--json"))
    costs = {r["algorithm"]: r for r in answer["results"]}
    assert costs["Rainbow DQN"]["hours"] == 1200
    assert costs["own"]["hours"] == 10
    assert costs["own"]["power_kwh"] is None
    stopped = ("--frames", "2e8", "--frames-per-second", "0")
    assert gnomon("atari5", "cost", *stopped)[0] == 2
    framed = results(
        gnomon("atari5", "cost", "--frames", "2e8", "--frames-per-second", "1000", "--json")
    )
    assert framed["results"][-1]["hours"] == pytest.approx(57 * 2e5 / 3600)


def test_models(gnomon):
    names = [r["name"] for r in results(gnomon("atari5", "models", "--json"))["results"]]
    assert "Atari-5" in names
    assert "DQN-7" in names


def test_case_study(gnomon, tmp_path):
    (tmp_path / "study.csv").write_text("algorithm,median,atari5\na,10,11\nb,20,19\n")
    answer = results(gnomon("atari5", "case-study", "study.csv", "--json"))
    assert [r["scale"] for r in answer["results"]] == ["raw", "raw", "b", "b"]
    status, _, err = gnomon("atari5", "case-study", "study.csv", "--baseline", "c")
    assert status == 2
    assert "unknown algorithm 'c'" in err
    (tmp_path / "study.csv").write_text("algorithm,median,atari5\na,0,1\nb,0,2\n")
    status, _, err = gnomon("atari5", "case-study", "study.csv")
    assert status == 2
    assert "expected a baseline whose scores are not 0; a has 0 and 1" in err


def test_reproduce_a_table(gnomon, atari_folder):
    answer = results(gnomon("atari5", "reproduce", "--only", "table9", "--json"))
    assert len(answer["results"]) == 27
    assert set(answer["results"][0]) == {"table", "item", "published", "ours", "equal", "note"}
    assert all(r["equal"] for r in answer["results"])
    status, out, _ = gnomon("atari5", "reproduce", "--only", "table2", "--differing")
    assert status == 0
    assert "14 equal, 0 not equal, 0 not computable here" in out


def test_reproduce_without_the_data(gnomon, monkeypatch, tmp_path):
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    status, _, err = gnomon("atari5", "reproduce", "--only", "table8")
    assert status == 2
    assert "expected a file of atari5, as GNOMON_DATA says" in err


def test_named_subsets(gnomon, atari_folder):
    rows = {r["name"]: r for r in results(gnomon("atari5", "subsets", "--json"))["results"]}
    assert rows["DQN-7"]["r2"] == pytest.approx(0.756, abs=5e-4)
    assert rows["Atari-5"]["relative_error"] == pytest.approx(0.104, abs=5e-4)
