"""Seasons at the command line: made, played through a server, revealed, and checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon_board.cli import main
from gnomon_board.leaderboard.server_settings import ServerSettings
from gnomon_board.web.server import prepare
from serving import serving
from small_season import make_account

FILE = """
name = "s1"
division = "hidden"
rules = ["clockwise"]
trials = 1
episodes = 3
horizon = 30

[hidden]
rules = ["mine.txt"]
"""


@pytest.fixture
def gnomon(monkeypatch, capsys):
    """Run the command line, and return its status, its JSON and its error output."""

    def run(*arguments: str | Path) -> tuple[int, dict, str]:
        monkeypatch.setattr("sys.argv", ["gnomon-board", *map(str, arguments), "--json"])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), json.loads(out) if out else {}, err

    return run


@pytest.fixture
def data(tmp_path) -> Path:
    database, _ = prepare(ServerSettings(tmp_path / "data"))
    database.close()
    (tmp_path / "s1.toml").write_text(FILE)
    rule = "(shape:star, bucket:0) (shape:[square,circle,triangle], bucket:3)"
    (tmp_path / "mine.txt").write_text(rule)
    return tmp_path / "data"


def test_a_season_from_its_file_to_its_reveal(gnomon, data, tmp_path):
    status, made, _ = gnomon("leaderboard", "season", "new", tmp_path / "s1.toml", "--data", data)
    assert status == 0
    (season,) = made["results"]
    assert (season["season"], season["n_rules"], season["n_hidden"]) == ("s1", 2, 1)
    again, _, err = gnomon("leaderboard", "season", "new", tmp_path / "s1.toml", "--data", data)
    assert (again, "there is a season 's1' already" in err) == (2, True)

    reveal = ("leaderboard", "season", "reveal", "s1", "--data", data)
    status, _, err = gnomon(*reveal)
    assert (status, "season s1 is open; revealing would end it" in err) == (2, True)
    out = tmp_path / "reveal.json"
    status, told, _ = gnomon(*reveal, "--early", "--out", out)
    assert status == 0
    assert told["results"] == [json.loads(out.read_text())]
    assert told["results"][0]["rules"][0]["name"] == "s1-h01"

    check = ("leaderboard", "check-reveal", out)
    status, checked, _ = gnomon(*check, "--commitment", season["commitment"])
    assert (status, checked["results"][0]["holds"], checked["warnings"]) == (0, True, [])
    status, checked, _ = gnomon(*check)
    assert status == 0
    assert "use --commitment" in checked["warnings"][0]
    status, checked, _ = gnomon(*check, "--commitment", "0" * 64)
    assert (status, checked["results"][0]["holds"]) == (1, False)
    record = json.loads(out.read_text())
    record["rules"][0]["text"] = "(*,*,*,*,0)"
    out.write_text(json.dumps(record))
    assert gnomon(*check, "--commitment", season["commitment"])[0] == 1
    out.write_text("{}")
    assert gnomon(*check)[0] == 2


def test_a_learner_plays_a_season_by_one_command(gnomon, data, tmp_path):
    gnomon("leaderboard", "season", "new", tmp_path / "s1.toml", "--data", data)
    settings = ServerSettings(data)
    database, _ = prepare(settings)
    token = make_account(database, "ada", "submit")
    database.close()
    plan = tmp_path / "plan.toml"
    plan.write_text('season = "s1"\nentry = "Mine"\nlearner = "uniform"\n')
    with serving(settings) as server:
        run = ("run", plan, "--server", server.url, "--token", token)
        status, answer, _ = gnomon(*run)
        assert status == 0
        (summary,) = answer["results"]
        assert (summary["season"], summary["attempt"], summary["done"]) == ("s1", 1, 2)
        status, answer, _ = gnomon(*run)
        assert (answer["results"][0]["done"], answer["results"][0]["skipped"]) == (0, 2)
        status, _, err = gnomon(*run[:-1], "gnomon_0_0")
        assert (status, "401" in err) == (2, True)
        status, _, err = gnomon(*run, "--trials", "3")
        assert (status, "the season says what is played" in err) == (2, True)
        address = f"{server.url}/api/seasons/s1"
        status, _, err = gnomon("leaderboard", "check-reveal", address)
        assert (status, "has not been revealed" in err) == (2, True)
        gnomon("leaderboard", "season", "reveal", "s1", "--early", "--data", data)
        assert gnomon("leaderboard", "check-reveal", address)[0] == 0
        status, _, err = gnomon(*run, "--seed", "4")
        assert (status, "403" in err) == (2, True)


def test_what_is_no_plan(gnomon, tmp_path):
    plan = tmp_path / "plan.toml"
    for text, message in [("x = 1", "field 'season': "), ("x = ", "not a TOML file")]:
        plan.write_text(text)
        status, _, err = gnomon("run", plan, "--server", "http://127.0.0.1:1", "--token", "t")
        assert (status, message in err, err.count("\n")) == (2, True, 1)
    status, _, err = gnomon("run", tmp_path / "none", "--server", "http://127.0.0.1:1")
    assert (status, "cannot read this" in err) == (2, True)
