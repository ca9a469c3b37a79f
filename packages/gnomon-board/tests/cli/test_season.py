"""Seasons at the command line: made, played through a server, revealed, and checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon_board import Settings
from gnomon_board.cli import main
from serving import serving
from small_season import empty_board

FILE = """
name = "s1"
division = "hidden"
episodes = 3
horizon = 30

[hidden]
rules = ["mine.txt"]
"""


@pytest.fixture
def board(monkeypatch, capsys):
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
    empty_board(tmp_path / "data")
    (tmp_path / "s1.toml").write_text(FILE)
    rule = "(shape:star, bucket:0) (shape:[square,circle,triangle], bucket:3)"
    (tmp_path / "mine.txt").write_text(rule)
    return tmp_path / "data"


def test_a_season_from_its_file_to_its_reveal(board, data, tmp_path):
    status, made, _ = board("season", "new", tmp_path / "s1.toml", "--data", data)
    assert status == 0
    (season,) = made["results"]
    assert (season["season"], season["n_rules"], season["n_hidden"]) == ("s1", 1, 1)
    again, _, err = board("season", "new", tmp_path / "s1.toml", "--data", data)
    assert (again, "there is a season 's1' already" in err) == (2, True)

    reveal = ("season", "reveal", "s1", "--data", data)
    status, _, err = board(*reveal)
    assert (status, "season s1 is open" in err) == (2, True)
    out = tmp_path / "reveal.json"
    close = ("season", "close", "s1", "--data", data)
    assert board(*close)[1]["results"] == [{"season": "s1", "closed": True}]
    status, _, err = board(*close)
    assert (status, "UTC already" in err) == (2, True)
    status, told, _ = board(*reveal, "--out", out)
    assert status == 0
    assert told["results"] == [json.loads(out.read_text())]
    assert told["results"][0]["rules"][0]["name"] == "s1-h01"

    check = ("season", "check-reveal", out)
    status, checked, _ = board(*check, "--commitment", season["commitment"])
    assert (status, checked["results"][0]["holds"], checked["warnings"]) == (0, True, [])
    status, checked, _ = board(*check)
    assert status == 0
    assert "use --commitment" in checked["warnings"][0]
    status, checked, _ = board(*check, "--commitment", "0" * 64)
    assert (status, checked["results"][0]["holds"]) == (1, False)
    record = json.loads(out.read_text())
    record["rules"][0]["text"] = "(*,*,*,*,0)"
    out.write_text(json.dumps(record))
    assert board(*check, "--commitment", season["commitment"])[0] == 1
    out.write_text("{}")
    assert board(*check)[0] == 2


@pytest.mark.full
def test_a_learner_plays_a_season_by_one_command(board, data, tmp_path):
    board("season", "new", tmp_path / "s1.toml", "--data", data)
    (made,) = board("token", "ada", "--data", data)[1]["results"]
    token = made["token"]
    plan = tmp_path / "plan.toml"
    plan.write_text('season = "s1"\nentry = "Mine"\nlearner = "uniform"\n')
    with serving(Settings(data)) as server:
        run = ("season", "play", plan, "--to", server.url, "--token", token)
        status, answer, _ = board(*run)
        assert status == 0
        (summary,) = answer["results"]
        assert (summary["season"], summary["attempt"], summary["done"]) == ("s1", 1, 1)
        status, answer, _ = board(*run)
        assert (answer["results"][0]["done"], answer["results"][0]["skipped"]) == (0, 1)
        assert "nothing was played" in answer["warnings"][0]
        status, _, err = board(*run[:-1], "gnomon_0_0")
        assert (status, "401" in err) == (2, True)
        address = f"{server.url}/api/seasons/s1"
        status, _, err = board("season", "check-reveal", address)
        assert (status, "has not been revealed" in err) == (2, True)
        board("season", "close", "s1", "--data", data)
        board("season", "reveal", "s1", "--data", data)
        assert board("season", "check-reveal", address)[0] == 0
        status, _, err = board(*run)
        assert (status, "403" in err) == (2, True)


def test_what_is_no_plan(board, tmp_path):
    plan = tmp_path / "plan.toml"
    for text, message in [("x = 1", "field 'x': unknown field"), ("x = ", "not a TOML file")]:
        plan.write_text(text)
        status, _, err = board("season", "play", plan, "--to", "http://127.0.0.1:1", "--token", "t")
        assert (status, message in err, err.count("\n")) == (2, True, 1)
    status, _, err = board(
        "season", "play", tmp_path / "none", "--to", "http://127.0.0.1:1", "--token", "t"
    )
    assert (status, "cannot read this" in err) == (2, True)
