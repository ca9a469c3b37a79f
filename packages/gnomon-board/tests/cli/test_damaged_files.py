"""Damaged and hostile files: one line on standard error, exit status 2, no traceback."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from app_client import AppClient
from gnomon_board import Settings, create_app
from gnomon_board.database import Database
from small_season import empty_board

DEEP = {
    "nested": "x = " + "[" * 50_000,
    "long key": "x" + ".x" * 50_000 + " = 1",
    "nested json": '{"name": ' + "[" * 100_000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize(
    "words",
    [
        ("gnomon-board", "study", "check"),
        ("gnomon-board", "study", "new"),
        ("gnomon-board", "season", "new"),
        ("gnomon-board", "season", "play", "--to", "http://127.0.0.1:9", "--token", "t"),
        ("gohr", "run"),
    ],
    ids=" ".join,
)
def test_deep_toml_is_one_line(command, tmp_path, words, text):
    (tmp_path / "deep.toml").write_text(text)
    found = command(*words, "deep.toml")
    assert (found.status, found.out) == (2, "")
    (line,) = found.err.splitlines()
    assert line.startswith(f"{words[0]}: deep.toml: ")


def test_a_deep_plan_in_json_is_one_line(command, tmp_path):
    (tmp_path / "deep.json").write_text('{"name": ' + "[" * 50_000 + "]" * 50_000 + "}")
    found = command("gnomon-board study check deep.json")
    assert (found.status, found.out) == (2, "")
    assert found.err == ("gnomon-board: deep.json: not a JSON file: values are nested too deeply\n")


@pytest.fixture(params=["first page", "other pages"])
def damaged(request, tmp_path):
    """A data folder whose SQLite file is damaged."""
    empty_board(tmp_path / "data")
    path = tmp_path / "data" / "leaderboard.sqlite"
    with path.open("r+b") as file:
        size = path.stat().st_size
        if request.param == "first page":
            file.write(b"\xff" * 4096)
        else:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
    return tmp_path / "data"


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--port", "0"),
        ("worker",),
        ("migrate",),
        ("backup", "out"),
        ("study", "new", "plan.toml"),
    ],
    ids=" ".join,
)
def test_a_damaged_database_is_one_line(command, tmp_path, damaged, words):
    plan = 'name = "p"\ntitle = "P"\nconsent = "Yes."\nlists = { a = ["clockwise"] }\n'
    (tmp_path / "plan.toml").write_text(plan)
    found = command("gnomon-board", *words, "--data", str(damaged))
    assert found.status == 2, found
    assert "Traceback" not in found.err
    (line,) = found.err.splitlines()
    assert line.startswith("gnomon-board: leaderboard.sqlite: the database is damaged")
    assert "restore a backup" in line


def test_damage_that_only_the_migration_meets_is_one_line(command, tmp_path):
    empty_board(tmp_path / "data")
    path = tmp_path / "data" / "leaderboard.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'tokens'")
        [page] = pages.fetchone()
    with path.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    found = command("gnomon-board migrate --data data")
    assert (found.status, found.out) == (2, "")
    (line,) = found.err.splitlines()
    assert "the database is damaged" in line


def test_a_server_with_a_damaged_database_answers_in_one_line(damaged):
    settings = Settings(damaged)
    database = Database(settings.database)
    with AppClient(create_app(settings, database)) as client:
        answer = client.get("/api/seasons")
        assert answer.status_code == 503
        assert "the database is damaged" in answer.json()["detail"]
        assert "the database is damaged" in client.get("/", headers={"Accept": "text/html"}).text
    database.close()
