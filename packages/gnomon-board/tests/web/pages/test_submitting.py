"""What becomes of a submission, as the pages show it; and the requests that their forms make."""

from __future__ import annotations

import re

import pytest

from gnomon_board.worker import work_on_one
from submitted import bearer, play_entry, register, send

pytestmark = pytest.mark.full  # whole submissions, verified in processes of their own


@pytest.fixture
def verified(client, season, token, database, settings, tmp_path):
    """Submission 1, verified."""
    register(client, token, "mine")
    assert send(client, token, 1, play_entry(client, 1, tmp_path / "1")).status_code == 202
    assert "queued" in client.get("/submissions/1").text
    assert work_on_one(database, settings, "test")


def standings(client):
    return client.get("/api/seasons/spring/standings").json()["standings"]


@pytest.mark.usefixtures("verified")
def test_a_verified_log_is_shown(client):
    assert 'class="badge verified"' in client.get("/submissions/1").text
    assert client.get("/submissions/1/replay?rule=clockwise").status_code == 200
    assert [line["contender"]["name"] for line in standings(client)["ranked"]] == ["mine"]
    assert ">mine<" in client.get("/seasons/spring").text


def addresses(page):
    return set(re.findall(r'data-api="([^"]+)"', page))


@pytest.mark.usefixtures("verified")
def test_a_moderator_refuses_and_the_reason_is_there_for_all(client, token, admin_token):
    path = "/api/submissions/1/refuse"
    page = client.get("/submissions/1", headers=bearer(admin_token)).text
    assert {f"POST {path}", "POST /api/submissions/1/requeue"} <= addresses(page)
    assert f"POST {path}" not in addresses(client.get("/submissions/1", headers=bearer(token)).text)
    assert client.post(path, json={"reason": ""}, headers=bearer(admin_token)).status_code == 422
    reason = {"reason": "<b>not</b> a learner"}
    assert client.post(path, json=reason, headers=bearer(admin_token)).status_code == 200
    assert "&lt;b&gt;not&lt;/b&gt; a learner" in client.get("/submissions/1").text
    assert "not&lt;" not in client.get("/moderation").text  # the log keeps no such text
    assert standings(client)["ranked"] == []


@pytest.mark.usefixtures("verified")
def test_who_withdraws_has_no_rank(client, token, database, settings, tmp_path):
    assert client.post("/api/entries/1/attempts", headers=bearer(token)).status_code == 201
    packed = play_entry(client, 1, tmp_path / "2", attempt=2)
    send(client, token, 1, packed, attempt=2)
    work_on_one(database, settings, "test")
    line = standings(client)["ranked"][0]
    assert (line["contender"]["n_verified"], line["n_trials"]) == (2, 8)
    path = "/api/submissions/2/withdraw"
    assert f"POST {path}" in addresses(client.get("/submissions/2", headers=bearer(token)).text)
    reason = {"reason": "bad luck"}
    assert client.post(path, json=reason, headers=bearer(token)).status_code == 200
    found = standings(client)
    assert found["ranked"] == []
    assert found["unranked"][0]["why"] == "withdrawn attempt"
    assert "bad luck" in client.get("/entries/1").text
