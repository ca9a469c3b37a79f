"""Submitting, withdrawing and moderating through the forms of the pages."""

from __future__ import annotations

import json
import re

import pytest

from gnomon.leaderboard.submissions.worker import work_on_one
from small_season import make_account
from submitted import play_entry

pytestmark = pytest.mark.full  # whole submissions, verified in processes of their own


def csrf_of(client, path):
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get(path).text)
    assert found, path
    return found[1]


@pytest.fixture
def ada(client, season, token):
    """A browser in which somebody is signed in who may submit."""
    client.post("/account/sign-in", data={"token": token})
    return client


def register(client, name="mine"):
    form = {"season": "spring", "name": name, "csrf": csrf_of(client, "/submit")}
    answer = client.post("/submit/register", data=form)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def send(client, address, packed, *, manifest=True, **form):
    files = {"log": ("run.parquet", packed.log)}
    if manifest:
        files["manifest"] = ("manifest.json", json.dumps(packed.manifest))
    form = {"csrf": csrf_of(client, address), "learner": "uniform", **form}
    return client.post(address, data=form, files=files)


@pytest.mark.parametrize("manifest", [True, False])
def test_a_log_is_sent_verified_and_shown(ada, database, settings, tmp_path, manifest):
    address = register(ada)
    assert address == "/entries/1/attempts/1/submit"
    packed = play_entry(ada, 1, tmp_path)
    answer = send(ada, address, packed, manifest=manifest)
    assert answer.status_code == 303, answer.text
    assert "queued" in ada.get(answer.headers["location"]).text
    assert work_on_one(database, settings, "test")
    page = ada.get(answer.headers["location"]).text
    assert 'class="badge verified"' in page
    assert ada.get("/submissions/1/replay.json?rule=clockwise").status_code == 200
    standings = ada.get("/seasons/spring.json").json()["standings"]
    assert [line["contender"]["name"] for line in standings["ranked"]] == ["mine"]
    assert ">mine<" in ada.get("/seasons/spring").text


def test_claims_are_compared_with_the_replay(ada, database, settings, tmp_path):
    address = register(ada)
    packed = play_entry(ada, 1, tmp_path)
    packed.manifest["totals"][0]["tce"] += 1
    location = send(ada, address, packed).headers["location"]
    work_on_one(database, settings, "test")
    page = ada.get(location).text
    assert 'class="badge refused"' in page
    assert "rule clockwise, trial 0" in page


@pytest.mark.parametrize(
    ("change", "status"),
    [({"log_format": "exe"}, 422), ({"log_format": "csv"}, 422), ({"csrf": "x"}, 403)],
)
def test_what_is_no_log_is_refused(ada, tmp_path, change, status):
    address = register(ada)
    packed = play_entry(ada, 1, tmp_path)
    assert send(ada, address, packed, **change).status_code == status


def test_the_log_of_another_is_not_taken(ada, database, tmp_path):
    address = register(ada)
    packed = play_entry(ada, 1, tmp_path)
    other = make_account(database, "eve", "submit")
    ada.cookies.clear()
    ada.post("/account/sign-in", data={"token": other})
    assert "Only the account that registered" in ada.get(address).text
    form = {"csrf": csrf_of(ada, "/account")}
    files = {"log": ("run.parquet", packed.log)}
    assert ada.post(address, data=form, files=files).status_code == 403


def test_a_moderator_refuses_and_the_reason_is_there_for_all(
    ada, database, settings, admin_token, tmp_path
):
    address = register(ada)
    send(ada, address, play_entry(ada, 1, tmp_path))
    work_on_one(database, settings, "test")
    ada.cookies.clear()
    ada.post("/account/sign-in", data={"token": admin_token})
    csrf = csrf_of(ada, "/submissions/1")
    assert ada.post("/submissions/1/refuse", data={"csrf": csrf}).status_code == 422
    form = {"csrf": csrf, "reason": "<b>not</b> a learner"}
    assert ada.post("/submissions/1/refuse", data=form).status_code == 303
    ada.cookies.clear()
    assert "&lt;b&gt;not&lt;/b&gt; a learner" in ada.get("/submissions/1").text
    assert "&lt;b&gt;not&lt;/b&gt; a learner" in ada.get("/moderation").text
    assert ada.get("/seasons/spring.json").json()["standings"]["ranked"] == []


def test_withdrawing_leaves_a_tombstone_and_no_rank(ada, database, settings, tmp_path):
    address = register(ada)
    send(ada, address, play_entry(ada, 1, tmp_path / "1"))
    work_on_one(database, settings, "test")
    second = ada.post("/entries/1/attempts", data={"csrf": csrf_of(ada, "/account")})
    address = second.headers["location"]
    assert address == "/entries/1/attempts/2/submit"
    send(ada, address, play_entry(ada, 1, tmp_path / "2", attempt=2))
    work_on_one(database, settings, "test")
    line = ada.get("/seasons/spring.json").json()["standings"]["ranked"][0]
    assert (line["contender"]["n_verified"], line["n_trials"]) == (2, 8)
    form = {"csrf": csrf_of(ada, "/submissions/2"), "reason": "bad luck"}
    assert ada.post("/submissions/2/withdraw", data=form).status_code == 303
    standings = ada.get("/seasons/spring.json").json()["standings"]
    assert standings["ranked"] == []
    assert standings["unranked"][0]["why"] == "withdrawn attempt"
    assert "bad luck" in ada.get("/entries/1").text
