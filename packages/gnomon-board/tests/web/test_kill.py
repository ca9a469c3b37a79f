"""kill -9, of the worker and of the server, at the worst moments: nothing lost, nothing doubled."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, text

from gnomon_board import Client, submit
from gnomon_board.database import Database
from gnomon_board.schema import AuditRecord, PlayAttempt, Submission, VerifiedTrial
from playing import begin, invite
from serving import Server, serving
from submitted import play_entry, register, send

pytestmark = pytest.mark.full  # servers and workers are killed

N = 8


def wait_until(true: Callable[[], bool], most_s: float = 90.0) -> None:
    end = time.monotonic() + most_s
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def workers_of(server: Server) -> list[int]:
    """The workers that the server itself started."""
    children = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    pids = [int(pid) for path in children for pid in path.read_text().split()]
    return [
        pid for pid in pids if b"gnomon_board.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def states(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(Submission.state).order_by(Submission.id)))


def test_the_worker_is_killed_while_it_verifies(settings, database, season, token, tmp_path):
    with serving(settings) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        register(client, token, "Uniform")
        packed = play_entry(client, 1, tmp_path)
        wait_until(lambda: len(workers_of(server)) == 1)
        [worker] = workers_of(server)
        assert send(client, token, 1, packed).status_code == 202
        wait_until(lambda: states(database) == ["verifying"])
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: states(database) == ["verified"])
        log = client.get("/moderation").text
    assert "again, after try 1: the worker died (signal 9)" in log
    with database.reading() as session:
        assert session.scalars(select(Submission.n_tries)).all() == [2]
        assert len(session.scalars(select(VerifiedTrial)).all()) == 4


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_server_killed_in_the_middle_of_a_game_loses_nothing_and_counts_nothing_twice(settings):
    made: list[dict[str, object]] = []
    with closing(Database(settings.database)) as database:
        invitation = invite(database, "anything-goes")
    game = ""
    for _ in range(2):
        with serving(settings) as server, httpx.Client(base_url=server.url, timeout=60) as client:
            game = game or begin(client, invitation)
            # Whose answer was lost with the server asks for it again.
            for again in made[-2:]:
                assert client.post(f"/api{game}/attempts", json=again).status_code == 200
            view = client.get(f"/api{game}").json()["view"]
            assert len(view["attempts"]) == len(made)
            for piece in view["pieces"][:3]:
                made.append({"cell": piece["cell"], "bucket": len(made) % 4, "episode": 1})
                made[-1] |= {"number": len(made), "client": {"touch_ms": 1, "action_ms": 2}}
                assert client.post(f"/api{game}/attempts", json=made[-1]).status_code == 200
            server.kill()
    with closing(Database(settings.database)) as database, database.reading() as session:
        rows = session.scalars(select(PlayAttempt).order_by(PlayAttempt.id)).all()
        kept = [(row.number, row.cell, row.bucket) for row in rows]
    assert kept == [(each["number"], each["cell"], each["bucket"]) for each in made]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_eight_at_once_with_the_server_killed_twice(settings, database, season, token, tmp_path):
    # A worker that dies with the server lets go of its job soon.
    settings = replace(settings, lease_s=3.0, heartbeat_s=0.5, max_job_attempts=10)
    with serving(settings) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        entries = [register(client, token, f"Learner {k}")["id"] for k in range(N)]
        for entry in entries:
            play_entry(client, entry, tmp_path / str(entry))
        port = server.port
    begin = threading.Barrier(N + 1)

    def send_one(k: int) -> str:
        asking = Client(f"http://127.0.0.1:{port}", token, patience_s=120)
        begin.wait(60)
        run = tmp_path / str(entries[k]) / "run"
        return str(submit(asking, run, wait_s=240, anyway=True)["state"])

    with ThreadPoolExecutor(N) as pool:
        verdicts = [pool.submit(send_one, k) for k in range(N)]
        with serving(settings, port=port) as server:
            begin.wait(60)
            # Some have been taken in, others are on their way.
            wait_until(lambda: len([*filter("uploading".__ne__, states(database))]) >= 2)
            server.kill()
        with serving(settings, port=port) as server:
            wait_until(lambda: "verified" in states(database) or "verifying" in states(database))
            server.kill()
        with serving(settings, port=port) as server:
            found = [verdict.result(300) for verdict in verdicts]
    assert found == ["verified"] * N
    with database.reading() as session:
        submissions = session.scalars(select(Submission)).all()
        assert sorted(each.attempt.entry_id for each in submissions) == sorted(entries)
        trials = Counter(session.scalars(select(VerifiedTrial.submission_id)))
        assert trials == {each.id: 4 for each in submissions}
        ends = session.scalars(
            select(AuditRecord.subject_id).where(AuditRecord.action == "submission verified")
        )
        assert sorted(ends) == sorted(each.id for each in submissions)
        if database.is_sqlite:
            assert session.scalar(text("PRAGMA integrity_check")) == "ok"
            assert session.execute(text("PRAGMA foreign_key_check")).all() == []
