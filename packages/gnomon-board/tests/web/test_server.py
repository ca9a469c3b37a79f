"""``gnomon-board serve``: one command, one file, the first token once, and no secret in any log."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

import playing
import remote_play
from gnomon_board import Settings
from gnomon_board.database import Database
from gnomon_board.errors import LeaderboardError
from gnomon_board.schema import Submission
from gnomon_board.web.server import prepare, serve
from playing import invite
from private_postgresql import fresh_database
from remote_play import hidden_season
from serving import serving
from submitted import bearer, play_entry, register, send

pytestmark = pytest.mark.full  # servers are started as processes


GNOMON = [sys.executable, "-m", "gnomon_board"]


def test_the_first_start_makes_everything_and_tells_one_token(postgresql, tmp_path):
    with fresh_database(postgresql) as url:
        for settings in (Settings(tmp_path / "a"), Settings(tmp_path / "b", url)):
            database, token = prepare(settings)
            database.close()
            assert token is not None
            assert settings.data.stat().st_mode & 0o777 == 0o700
            database, again = prepare(settings)
            database.close()
            assert again is None


@pytest.mark.usefixtures("database")
def test_servers_that_start_at_once_tell_one_token(settings):
    with ThreadPoolExecutor(8) as pool:
        started = [*pool.map(prepare, [settings] * 8)]
    for database, _ in started:
        database.close()
    assert sum(token is not None for _, token in started) == 1


def test_one_command(tmp_path):
    command = [*GNOMON, "serve", "--data", "board", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            text = ""
            while not text.endswith("\n}\n"):
                line = process.stdout.readline()
                assert line, text
                text += line
            [result] = json.loads(text)["results"]
            assert result["url"].startswith("http://127.0.0.1:")
            with httpx.Client(base_url=result["url"], timeout=60) as client:
                assert client.get("/healthz").json()["queued"] == 0
                made = client.post("/api/tokens", json={}, headers=bearer(result["first_token"]))
                assert made.status_code == 201
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
    assert sorted(path.name for path in (tmp_path / "board").glob("*.sqlite")) == [
        "leaderboard.sqlite"
    ]


def test_people_and_hidden_seasons_play_without_numba(settings, database, token):
    """Numba would take 110 MiB of the server, and 20 s to compile at its first start."""
    hidden_season(database)
    shown = {"rule": "clockwise", "evidence": "random", "episodes": 1}
    invitation = invite(database, "clockwise", shown)
    with serving(settings) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        game = playing.begin(client, invitation)
        cell = client.get(f"/api{game}").json()["view"]["pieces"][0]["cell"]
        move = {"cell": cell, "bucket": 0}
        assert client.post(f"/api{game}/attempts", json=move).status_code == 200
        assert client.post(f"/api{game}/give-up").status_code == 200
        player = game.replace("/play/games", "/players").partition(".")[0]
        tests = client.post(f"/api{player}/go-on").json()["address"]
        assert "These moves were tried before" in client.get(tests).text
        client.cookies.clear()
        trial = remote_play.begin(client, token)["trials"][0]["trial"]
        assert remote_play.move(client, token, (trial, 0, [0])).status_code == 200
        libraries = Path(f"/proc/{server.process.pid}/maps").read_text()
        assert "sqlite" in libraries
        assert "llvmlite" not in libraries
        assert server.memory_mib() < 238  # 250 MB


def test_no_secret_is_logged(settings, token):
    with serving(settings) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        client.get("/api/tokens", headers=bearer(token))
        client.get(f"/api/tokens?token={token}", headers=bearer(token + "x"))
        client.post("/api/session", json={"token": token})
        client.get(f"/study/{'k' * 43}")
        client.get("/api/submissions/x")
    log = server.log.read_text()
    assert "gnomon.server: worker" in log
    for secret in (token, token.split("_", 2)[2], "k" * 43, settings.database_url or "-none-"):
        assert secret not in log


def test_an_error_of_the_database_tells_no_values(database):
    """They go to the log with its statement, and may be a hidden rule or the hash of a token."""
    query = text("SELECT text FROM nowhere WHERE digest = :digest")
    with pytest.raises(DBAPIError, match="nowhere") as raised, database.reading() as session:
        session.execute(query, {"digest": "s3cret"})
    assert "s3cret" not in str(raised.value)


def test_the_address_of_the_database_is_not_shown(tmp_path):
    settings = Settings(tmp_path, "postgresql://board:hush@db.example.org/board")
    assert "hush" not in repr(settings)
    assert Settings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize("name", ["max_body_bytes", "lease_s", "sign_ins_per_minute"])
def test_settings_that_make_no_sense(name, tmp_path):
    with pytest.raises(LeaderboardError, match=f"setting '{name}': expected more than 0, found 0"):
        Settings(tmp_path, **{name: 0})
    with pytest.raises(LeaderboardError, match="setting 'heartbeat_s': expected less than"):
        Settings(tmp_path, heartbeat_s=60)


@pytest.mark.usefixtures("database", "newer_program")
def test_a_database_of_another_version_is_not_served(settings):
    with pytest.raises(LeaderboardError, match="run: gnomon-board migrate"):
        prepare(settings)


def test_a_port_that_is_taken(server, tmp_path):
    with pytest.raises(LeaderboardError, match=rf"cannot listen on 127.0.0.1, port {server.port}"):
        serve(Settings(tmp_path / "x"), "127.0.0.1", server.port, on_start=print)


def test_the_verbs(server, token, command, monkeypatch):
    """Register, play, verify at home, submit; then token, backup, restore, migrate."""
    from small_season import make_season

    database = Database(server.settings.database)
    make_season(database)
    database.close()
    plan = 'name = "p"\ntitle = "P"\nconsent = "Yes."\nlists = { a = ["clockwise"] }\n'
    Path("plan.toml").write_text(plan)
    monkeypatch.setenv("GNOMON_SERVER", server.url)
    monkeypatch.setenv("GNOMON_TOKEN", token)
    monkeypatch.setenv("GNOMON_DATABASE_URL", server.settings.database_url)

    def call(name: str, *arguments: str, status: int = 0) -> str:
        done = command(name, *arguments)
        assert done.status == status, (arguments, done.out, done.err)
        return done.out + done.err

    board, data = "gnomon-board", ("--data", str(server.settings.data))
    call(board, "register", "spring", "Mine", "--out", "mine.toml")
    call("gohr", "run", "mine.toml", "--out", "run")
    told = json.loads(command(board, "submit", "run", "--json").out)
    assert told["results"][0]["state"] == "verified"
    assert "1: verified" in call(board, "submit", "run")
    call(board, "register", "spring", "Other", "--out", "other.toml")
    # What the server is bound to refuse is not sent, and uses no attempt up.
    other = Path("other.toml")
    other.write_text(re.sub(r"(?m)^seed = \d+", "seed = 1", other.read_text()))
    call("gohr", "run", "other.toml", "--out", "other")
    said = call(board, "submit", "other", status=1)
    assert "not sent: differs from the assignment: seed" in said
    assert "2: refused" in call(board, "submit", "other", "--anyway", status=1)
    told = json.loads(command(board, "study", "new", "plan.toml", *data, "--json").out)
    assert told["results"][0]["invitation"].startswith(f"{server.url}/join/")
    assert call(board, "token", "Eve", *data).startswith("gnomon_")
    call(board, "backup", "backup", *data)
    monkeypatch.delenv("GNOMON_DATABASE_URL")
    restore = (board, "backup", "backup", "--restore", "--data", "restored")
    call(*restore)
    assert "expected no logs yet" in call(*restore, status=2)
    told = json.loads(command(board, "migrate", "--data", "restored", "--json").out)
    assert told["results"][0]["before"] == told["results"][0]["after"]
    said = call(board, "backup", "none", "--data", "nowhere", status=2)
    assert "there is no leaderboard" in said


def test_what_is_acknowledged_is_committed(settings, token, season, tmp_path):
    """The answer leaves after the commit: kill -9 right behind it loses nothing."""
    for k in range(3):
        with serving(settings, worker=False) as server:
            with httpx.Client(base_url=server.url, timeout=60) as client:
                entry = register(client, token, f"Learner {k}")["id"]
                packed = play_entry(client, entry, tmp_path / str(k))
                answer = send(client, token, entry, packed)
                server.kill()
            assert answer.status_code == 202
        database = Database(settings.database)
        with database.reading() as session:
            assert session.get_one(Submission, answer.json()["id"]).state == "queued"
        database.close()


#: Prints how often an answer loads a kernel, in a new process; "warm": after the preparation.
LOADED = """
import json, sys
from numba.core.event import install_recorder
from gnomon_board.verification import answer, load_kernels
if sys.argv[1] == "warm":
    load_kernels()
with install_recorder("numba:compiler_lock") as loaded:
    assert len(answer(json.load(sys.stdin))["trials"]) == 4
print(len(loaded.buffer))
"""


def test_the_engine_is_loaded_before_a_log_comes(client, season, token, tmp_path):
    """Then no verdict waits for it."""
    register(client, token, "Uniform")
    packed = play_entry(client, 1, tmp_path)
    (tmp_path / "log").write_bytes(packed.log)
    request = {
        "log": str(tmp_path / "log"),
        "sha256": packed.manifest["log_sha256"],
        "assignment": packed.config.to_record(),
        "learner": "uniform",
        "max_rows": 600,
        "max_bytes": 1 << 20,
    }

    def n_loaded(word):
        run = [sys.executable, "-c", LOADED, word]
        return int(
            subprocess.run(
                run, input=json.dumps(request).encode(), capture_output=True, check=True
            ).stdout
        )

    assert n_loaded("cold") > 0
    assert n_loaded("warm") == 0
