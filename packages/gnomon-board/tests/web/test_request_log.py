"""The log of a server: which request a line belongs to, and nothing that is secret."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import httpx
import pytest

from app_client import AppClient
from gnomon_board import create_app


def test_every_answer_bears_an_id_of_its_own(client):
    ids = {client.get(path).headers["X-Request-ID"] for path in ("/", "/healthz", "/nowhere")}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)


def test_a_request_is_logged_by_its_route(client, caplog):
    caplog.set_level("INFO", "gnomon.requests")
    answer = client.get("/api/seasons/a-secret-name?token=hush")
    [record] = [each for each in caplog.records if each.name == "gnomon.requests"]
    line = record.fields
    assert (line["method"], line["status"]) == ("GET", answer.status_code)
    assert line["route"] == "/api/seasons/{season}"
    assert 0 < line["seconds"] < 60
    for secret in ("secret", "hush"):
        assert secret not in f"{record.getMessage()} {line}"


def test_whom_a_panel_sent_is_not_logged(client, caplog):
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", "gnomon.requests")
    client.get("/join/a-secret-code?PROLIFIC_PID=5f3a9c&STUDY_ID=s1")
    lines = [
        f"{each.getMessage()} {vars(each)}" for each in caplog.records if "gnomon" in each.name
    ]
    assert lines
    assert not [line for line in lines if "5f3a9c" in line or "a-secret-code" in line]


def test_a_mistake_of_ours_bears_the_id_that_was_told(settings, database, monkeypatch, caplog):
    caplog.set_level("INFO", "gnomon.requests")
    monkeypatch.setattr("gnomon_board.web.monitoring.jobs_by_state", lambda session: 1 / 0)
    with AppClient(create_app(settings, database), raise_app_exceptions=False) as client:
        answer = client.get("/healthz")
    assert answer.status_code == 500
    assert answer.headers["X-Request-ID"] in answer.json()["detail"]
    assert [each.fields["status"] for each in caplog.records if hasattr(each, "fields")] == [500]


@pytest.mark.full  # a server is started as a process
def test_lines_for_programs(tmp_path):
    command = [sys.executable, "-m", "gnomon_board", "serve", "--port", "0", "--json"]
    with (tmp_path / "log").open("w") as errors:
        serve = [*command, "--log-format", "json", "--no-worker"]
        pipes = {"stdout": subprocess.PIPE, "stderr": errors, "text": True}
        process = subprocess.Popen(serve, cwd=tmp_path, **pipes)
    with closing(process.stdout):
        url = next(line for line in process.stdout if '"url"' in line).split('"')[3]
        with closing(sqlite3.connect(tmp_path / "board-data" / "leaderboard.sqlite")) as broken:
            row = "INSERT INTO audit_log (at, action, subject, detail, public)"
            broken.execute(f"{row} VALUES ('2026-01-01 00:00:00.000000', '', '', '{{', 1)")
            broken.commit()
        number = httpx.get(f"{url}/moderation").headers["X-Request-ID"]
        process.terminate()
        process.wait(60)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    told = {
        key: value for each in lines if each.get("request") == number for key, value in each.items()
    }
    assert (told["route"], told["status"]) == ("/moderation", 500)
    assert "JSONDecodeError" in told["traceback"]
