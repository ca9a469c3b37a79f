"""Logs as they lie on the disk and as they come back; damaged ones are found at every reading."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from sqlalchemy import select

from gnomon_board.schema import Submission
from gnomon_board.worker import work_on_one
from remote_play import standings
from small_season import fill
from submitted import bearer, play_entry, register, send

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True


def test_a_log_comes_back_as_an_attachment(client, database, settings):
    """Whatever is in it, and whatever type the sender gave it, no browser shows it as a page."""
    fill(database, settings)
    with database.writing() as session:
        submission = session.scalars(select(Submission)).first()
        assert submission is not None
        submission.learner = "text/html"
    answer = client.get("/api/submissions/1/log", headers={"Accept": "text/html"})
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="submission-1.zip"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_nothing_in_the_data_folder_is_served(client, database, settings):
    fill(database, settings)
    (settings.evidence / "ab").mkdir(exist_ok=True)
    (settings.evidence / "ab" / ("ab" * 32)).write_bytes(b"the evidence")
    names = ["ab/" + "ab" * 32, "leaderboard.sqlite", "../leaderboard.sqlite", "evidence/ab"]
    for name in names:
        for root in ("/static/", "/evidence/", "/data/", "/static/../../../data/", "/"):
            for text in (name, name.replace("/", "%2f"), name.replace("..", "%2e%2e")):
                answer = client.get(root + text)
                assert answer.status_code in (307, 400, 404), (root, text)
                assert b"evidence" not in answer.content.replace(b"/evidence", b"")


def test_other_methods_are_refused(client, database, settings):
    fill(database, settings)
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        assert client.request(method, "/api/seasons/filled").status_code == 405


@pytest.fixture
def sent(client, token, season, settings, tmp_path, programs_here) -> Path:
    """The log of submission 1, which waits in the queue, as it lies on the disk."""
    register(client, token, "Uniform")
    packed = play_entry(client, 1, tmp_path)
    assert send(client, token, 1, packed).status_code == 202
    [log] = settings.evidence.glob("*/*")
    return log


def flip(path: Path) -> bytes:
    """Change one bit in the middle of a file; return what was in it."""
    data = path.read_bytes()
    at = len(data) // 2
    path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
    return data


def replay(episode: int) -> str:
    """Return the path of a page that is not kept yet."""
    return f"/submissions/1/replay?episode={episode}"


def test_a_damaged_log_is_no_fault_of_the_participant(
    client, database, settings, sent, admin_token, caplog
):
    data = flip(sent)
    with caplog.at_level(logging.ERROR):
        assert work_on_one(database, settings, "worker")
    record = client.get("/api/submissions/1").json()
    assert record["state"] == "error"
    assert "not a fault of the participant" in record["reason"]
    [line] = standings(client, "spring")["unranked"]
    assert line["why"] == "unverified attempt"
    assert sent.name in caplog.text
    told = client.get("/healthz")
    assert told.status_code == 503
    assert "submissions 1: restore them" in told.json()["faults"][0]
    assert client.get("/api/submissions/1/log").status_code == 503
    # The operator does, and lets it be verified.
    sent.write_bytes(data)
    client.post("/api/submissions/1/requeue", headers=bearer(admin_token))
    assert work_on_one(database, settings, "worker")
    assert client.get("/api/submissions/1").json()["state"] == "verified"
    assert standings(client, "spring")["unranked"] == []
    assert client.get("/healthz").status_code == 200
    assert client.get("/api/submissions/1/log").content == data


def test_a_replay_of_a_damaged_log_is_told_to_the_operator(client, database, settings, sent):
    """What was verified stays verified; the attempts are shown again when the log is restored."""
    assert work_on_one(database, settings, "worker")
    assert client.get(replay(0)).status_code == 200
    data = flip(sent)
    answer = client.get(replay(1))
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("the server's copy of the log of submission 1 is")
    assert client.get("/healthz").status_code == 503
    sent.write_bytes(data)
    assert client.get(replay(2)).status_code == 200
    assert client.get("/healthz").status_code == 200
