"""Studies at the command line: made of a plan, joined, exported, closed, invited to anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import gohr
from app_client import AppClient
from gnomon_board import Settings, create_app
from gnomon_board.cli import main
from gnomon_board.database import Database
from gnomon_board.studies import read_plan
from gohr.experiments import score_trial
from gohr.people import read_transcripts
from playing import begin
from small_season import empty_board

PLAN = """
name = "pilot"
title = "Which rules do people find?"
consent = "Every attempt is kept."
episodes = 1
horizon = 4
[lists]
a = ["anything-goes"]
b = ["clockwise"]
"""


@pytest.fixture
def data(tmp_path) -> Path:
    empty_board(tmp_path / "data")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "data"


@pytest.fixture
def study(monkeypatch, capsys, data):
    """Run a verb of studies, and return its status, its records and its error output."""

    def run(*arguments: str | Path) -> tuple[int, list[dict], str]:
        words = ["gnomon-board", "study", *map(str, arguments), "--data", str(data)]
        monkeypatch.setattr("sys.argv", [*words, "--json"])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), json.loads(out)["results"] if out else [], err

    return run


@contextmanager
def browser(data: Path) -> Iterator[AppClient]:
    """Serve the board of a folder to a browser in this process."""
    database = Database(Settings(data).database)
    with AppClient(create_app(Settings(data), database)) as client:
        yield client
    database.close()


def play(client: AppClient, invitation: str) -> None:
    """Join a study, and play its only game to the end."""
    player = client.post(f"/api{invitation}", json={"agree": True}).json()["address"]
    game = client.post(f"/api{player}/go-on").json()["address"]
    view = client.get(f"/api{game}").json()["view"]
    while view["state"] == "playing":
        body = {"cell": view["pieces"][0]["cell"], "bucket": 0}
        view = client.post(f"/api{game}/attempts", json=body).json()["view"]
    end = client.post(f"/api{player}/go-on").json()["address"]
    assert "Thank you" in client.get(end).text


def test_a_study_from_its_plan_to_its_files(study, data, tmp_path):
    status, (made,), _ = study("new", tmp_path / "plan.toml", "--public-url", "http://b.example/")
    assert (status, made["study"]) == (0, "pilot")
    assert list(made) == ["id", "study", "invitation"]
    assert made["invitation"].startswith("http://b.example/join/")
    assert study("export", "pilot", tmp_path / "none")[0] == 2
    with browser(data) as client:
        play(client, made["invitation"].removeprefix("http://b.example"))
    _, (line,), _ = study("list")
    assert line == {
        "id": 1,
        "name": "pilot",
        "title": "Which rules do people find?",
        "n_players": 1,
        "n_finished": 1,
        "closed": False,
    }
    status, paths, _ = study("export", "pilot", tmp_path / "out")
    assert status == 0
    found = {Path(each["path"]).name: Path(each["path"]) for each in paths}
    (series,) = read_transcripts(found["pilot-transcript.csv"])
    assert series.player == "pilot-0001"
    scores = gohr.score(found["run"], "tce")
    assert scores.runs("people", series.rule).tolist() == [score_trial(series.log, "tce")]
    assert {"anything-goes.txt", "clockwise.txt"} <= set(found), "also what nobody has played yet"
    again = read_plan(found["study_plan.json"])
    assert again.rules == ("anything-goes", "clockwise")


def test_a_closed_study_takes_nobody_until_it_invites_anew(study, data, tmp_path):
    _, (made,), _ = study("new", tmp_path / "plan.toml")
    assert study("close", "pilot")[:2] == (0, [{"study": "pilot", "closed": True}])
    status, _, err = study("close", "pilot")
    assert (status, "study 'pilot' is closed already" in err) == (2, True)
    _, (again,), _ = study("invite", "pilot")
    assert list(again) == ["study", "invitation"]
    with browser(data) as client:
        assert client.get("/join/" + made["invitation"].split("/join/")[1]).status_code == 404
        assert client.get("/join/" + again["invitation"].split("/join/")[1]).status_code == 200


def test_what_is_not_there_is_told_in_a_line(study, tmp_path):
    status, _, err = study("export", "none", tmp_path / "out")
    assert (status, err.strip()) == (2, "gnomon-board: there is no study 'none'")
    (tmp_path / "bad.toml").write_text(PLAN.replace("anything-goes", "nothing-goes"))
    status, _, err = study("new", tmp_path / "bad.toml")
    assert status == 2
    assert "nothing-goes" in err
    assert len(err.splitlines()) == 1


def test_a_plan_is_checked_without_a_server(monkeypatch, capsys, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)

    def check(*arguments: str | Path) -> tuple[int, list[dict]]:
        words = ["gnomon-board", "study", "check", *map(str, arguments), "--json"]
        monkeypatch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as stop:
            main()
        out = capsys.readouterr().out
        return int(stop.value.code or 0), json.loads(out)["results"] if out else []

    status, records = check(tmp_path / "plan.toml")
    assert (status, [each["kind"] for each in records]) == (
        0,
        ["consent", "start", "series", "result", "end"] * 2,
    )
    assert list(records[0]) == ["record", "rule_list", "number", "kind", "text"]
    (tmp_path / "odd.toml").write_text(PLAN.replace("anything-goes", "nothing-goes"))
    status, records = check(tmp_path / "odd.toml")
    assert status == 1
    assert list(records[-1]) == ["record", "severity", "where", "message"]
    assert check()[0] == 2


def test_the_first_study_makes_the_board(command, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "bad.toml").write_text(PLAN.replace("episodes", "epsodes"))
    assert command("gnomon-board", "study", "new", "bad.toml").status == 2
    assert not (tmp_path / "board-data").exists()
    first = command("gnomon-board", "study", "new", "plan.toml", "--json")
    assert first.status == 0
    assert "/join/" in json.loads(first.out)["results"][0]["invitation"]
    assert "first admin token, shown only now: gnomon_" in first.err
    listed = command("gnomon-board", "study", "list")
    assert (listed.status, listed.out.split(":")[0]) == (0, "pilot")


def test_a_lost_link_is_renewed(study, data, tmp_path):
    _, (made,), _ = study("new", tmp_path / "plan.toml", "--public-url", "http://b.example")
    with browser(data) as client:
        game = begin(client, made["invitation"].removeprefix("http://b.example"))
        _, (renewed,), _ = study("link", "pilot", "pilot-0001", "--public-url", "http://b.example")
        assert client.get(game).status_code == 404
        found = renewed["link"].removeprefix("http://b.example")
        again = client.post(f"/api{found}/go-on").json()["address"]
        assert again != game
        assert client.get(again).status_code == 200
    status, _, err = study("link", "pilot", "pilot-0003")
    assert (status, "study 'pilot' has no player 'pilot-0003'" in err) == (2, True)


def test_a_player_is_excluded_and_included_again(study, data, tmp_path):
    _, (made,), _ = study("new", tmp_path / "plan.toml", "--public-url", "http://b.example")
    with browser(data) as client:
        begin(client, made["invitation"].removeprefix("http://b.example"))
    for expected in (True, False):
        _, found, _ = study("exclude", "pilot", "pilot-0001")
        assert found == [{"player": "pilot-0001", "excluded": expected}]
    assert study("exclude", "pilot", "nobody")[0] == 2
