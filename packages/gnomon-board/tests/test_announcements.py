"""A log that was announced: nobody's until it comes, and in nobody's way if it never does."""

from __future__ import annotations

import json

import pytest

from small_season import make_account
from submitted import Packed, bearer, play_entry, register, send

pytestmark = pytest.mark.usefixtures("programs_here")

PATH = "/api/entries/{}/attempts/1/submission"


@pytest.fixture
def packed(client, season, token, tmp_path) -> Packed:
    """The run of entry 1, which is announced as submission 1."""
    register(client, token, "Uniform")
    packed = play_entry(client, 1, tmp_path)
    announced = client.put(PATH.format(1), json=packed.manifest, headers=bearer(token))
    assert announced.json()["log_sha256"] is None
    return packed


def test_whose_log_comes_first_has_it(client, database, token, packed):
    eve = make_account(database, "eve", "submit")
    register(client, eve, "Eve's")
    assert client.put(PATH.format(2), json=packed.manifest, headers=bearer(eve)).status_code == 200
    sent = client.put("/api/submissions/1/log", content=packed.log, headers=bearer(token))
    assert (sent.status_code, sent.json()["state"]) == (202, "queued")
    assert sent.json()["log_sha256"] == packed.manifest["log_sha256"]
    late = client.put("/api/submissions/2/log", content=packed.log, headers=bearer(eve))
    assert late.status_code == 409
    assert late.json()["detail"] == "this log was already sent: submission 1"


@pytest.mark.parametrize("end", ["withdraw", "refuse"])
def test_a_log_that_never_comes_is_missed_by_nobody(
    client, database, settings, token, admin_token, packed, tmp_path, end, command, monkeypatch
):
    who = bearer(token if end == "withdraw" else admin_token)
    ended = client.post(f"/api/submissions/1/{end}", json={"reason": "never mind"}, headers=who)
    assert ended.status_code == 200
    monkeypatch.setenv("GNOMON_DATABASE_URL", settings.database)
    where = ["--data", str(settings.data), "--json"]
    made = command("gnomon-board", "backup", str(tmp_path / "backup"), *where)
    assert json.loads(made.out)["results"][0]["logs"] == 0
    again = client.post("/api/submissions/1/requeue", headers=bearer(admin_token))
    assert again.status_code == 409
    assert client.get("/api/submissions/1/log").status_code == 404
    # The hash is nobody's: another account may send this log.
    eve = make_account(database, "eve", "submit")
    register(client, eve, "Eve's")
    assert send(client, eve, 2, packed).status_code == 202


def test_the_number_of_bytes_is_that_of_the_log(client, token, packed):
    lie = packed.manifest | {"log_bytes": 1}
    client.put(PATH.format(1), json=lie, headers=bearer(token))
    sent = client.put("/api/submissions/1/log", content=packed.log, headers=bearer(token))
    assert sent.json()["log_bytes"] == len(packed.log)


def test_more_than_was_announced_is_not_read_to_its_end(client, token, packed):
    much = packed.log + bytes(1 << 20)
    sent = client.put("/api/submissions/1/log", content=much, headers=bearer(token))
    assert sent.status_code == 413
    assert client.get("/api/submissions/1").json()["state"] == "uploading"
