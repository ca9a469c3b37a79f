"""What whoever runs a server looks at: health, figures, a disk without room."""

from __future__ import annotations

import datetime
import shutil
import time
from contextlib import suppress
from dataclasses import replace

import httpx
import pytest

from app_client import AppClient
from gnomon import __version__
from gnomon_board import Settings, create_app
from gnomon_board.database import Database
from gnomon_board.schema import Submission, now
from remote_play import begin, hidden_season, move
from serving import serving
from small_season import make_account
from submitted import play_entry, register, repacked, send

ALL_THE_DISK = 1 << 30  # MiB


def test_a_server_that_is_well(client):
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"gnomon": __version__, "faults": [], "queued": 0, "verifying": 0}


def change(database, **values):
    """Change the only submission, as a worker does."""
    with database.writing() as session:
        submission = session.get_one(Submission, 1)
        for name, value in values.items():
            setattr(submission, name, value)


def test_a_worker_that_is_stuck(client, database, settings, season, token, tmp_path):
    register(client, token, "Uniform")
    send(client, token, 1, play_entry(client, 1, tmp_path))
    assert client.get("/healthz").status_code == 200
    long_ago = now() - datetime.timedelta(seconds=settings.verify_timeout_s + settings.lease_s + 1)
    change(database, queued_at=long_ago)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    [fault] = answer.json()["faults"]
    assert fault == f"a submission has waited for a worker since {long_ago:%Y-%m-%d %H:%M} UTC"
    change(database, state="verifying", heartbeat_at=now())
    assert client.get("/healthz").status_code == 200  # somebody does it
    change(database, state="queued")
    # The worker is between two of a long queue.
    assert client.get("/healthz").json()["faults"] == []
    change(database, heartbeat_at=long_ago)
    assert client.get("/healthz").status_code == 503
    change(database, state="verifying", heartbeat_at=now())
    assert client.get("/healthz").status_code == 200
    change(database, heartbeat_at=long_ago)  # it holds the only job there is, and hangs
    assert client.get("/healthz").status_code == 503


def test_a_disk_that_is_nearly_full_takes_no_log(settings, database, season, token, tmp_path):
    with AppClient(create_app(replace(settings, min_free_mib=ALL_THE_DISK), database)) as client:
        answer = client.get("/healthz")
        assert answer.status_code == 503
        assert answer.json()["faults"][0].startswith("the disk has ")
        register(client, token, "Uniform")
        answer = send(client, token, 1, play_entry(client, 1, tmp_path))
        assert answer.status_code == 507
        assert answer.json()["detail"] == "the server's disk is nearly full: no log is taken now"
        assert client.get("/").status_code == 200
    with AppClient(create_app(settings, database)) as client:
        assert client.get("/api/submissions/1").json()["state"] == "uploading"


@pytest.mark.full
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_full_disk_is_told_and_loses_nothing(
    settings, database, season, token, small_disk, tmp_path
):
    """The logs' disk is full, in the middle of one; then there is room again."""
    on_it = replace(settings, data=small_disk, database_url=database.url, min_free_mib=1e-9)
    filler = small_disk / "filler"
    with AppClient(create_app(on_it, database)) as client:
        register(client, token, "Uniform")
        packed = repacked(play_entry(client, 1, tmp_path), stored=True)  # a larger log
        room = shutil.disk_usage(small_disk).free
        filler.write_bytes(bytes(room - 4096))  # that is little, and not nothing
        answer = send(client, token, 1, packed)
        assert answer.status_code == 507, answer.text
        assert answer.json()["detail"].startswith("the server's disk is ")
        assert client.get("/api/submissions/1").json()["state"] == "uploading"
        filler.unlink()
        assert send(client, token, 1, packed).status_code == 202


@pytest.mark.full
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_full_disk_with_the_tables_on_it(database, small_disk):
    """Nothing is kept of what is told so, pages are read, and then all goes on at once."""
    shutil.copy(database.file, small_disk / "leaderboard.sqlite")
    on_it = Settings(small_disk, min_free_mib=1e-9)
    board = Database(on_it.database)
    season, token = hidden_season(board), make_account(board, "ada", "submit")
    filler = small_disk / "filler"
    with AppClient(create_app(on_it, board)) as client:
        trial = begin(client, token)["trials"][0]["trial"]
        assert move(client, token, (trial, 0, [1, 2])).status_code == 200
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1024))
        start = time.monotonic()
        for _ in range(3):
            answer = move(client, token, (trial, 2, [3]))
            assert answer.status_code == 507, answer.text
            assert (
                answer.json()["detail"] == "the server's disk is full: this request was not stored"
            )
        assert client.get("/healthz").status_code == 503
        assert client.get(f"/seasons/{season.name}").status_code == 200
        filler.unlink()
        [reply] = move(client, token, (trial, 2, [3])).json()["replies"]
        assert (reply["trial"], reply["position"]) == (trial, 3)
        assert time.monotonic() - start < 10
    board.close()


def test_figures_are_for_programs_of_this_machine(client, settings, database):
    client.get("/")
    text = client.get("/metrics").text
    assert 'gnomon_requests_total{method="GET",status="200"} 1.0' in text
    assert 'gnomon_jobs{state="queued"} 0.0' in text
    assert "gnomon_disk_free_bytes " in text
    assert "gnomon_request_seconds_bucket" in text
    behind = replace(settings, trusted_proxies=("127.0.0.1",))
    with AppClient(create_app(behind, database)) as proxied:
        answer = proxied.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})
        assert answer.status_code == 403


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_answer_that_fails_after_it_began_is_counted_once(app, client):
    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("in the middle")

    app.mount("/broken", broken)
    with pytest.raises(RuntimeError, match="in the middle"):
        client.get("/broken/off")
    told = client.get("/metrics").text
    assert 'gnomon_requests_total{method="GET",status="200"} 1.0' in told
    assert 'status="500"' not in told


PATHS = ["/", "/rules", "/healthz", "/api/seasons", "/static/board.css", "/nothing"]


@pytest.mark.parametrize("path", PATHS)
def test_head_is_get_without_the_body(client, path):
    asked = {"Accept": "text/html"}
    got, head = client.get(path, headers=asked), client.head(path, headers=asked)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]


@pytest.mark.full
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_real_server_answers_head(settings, database):
    with (
        serving(settings, worker=False) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        for path in PATHS:
            got, head = client.get(path), client.head(path)
            assert (head.status_code, head.content) == (got.status_code, b"")
