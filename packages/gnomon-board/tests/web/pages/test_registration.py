"""Strangers get an account by asking for a token."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from gnomon_board.database import AuditRecord, TokenRequest
from gnomon_board.web import CSRF_HEADER
from small_season import make_account
from submitted import bearer


@pytest.fixture
def moderator(database):
    return bearer(make_account(database, "mo", "moderate"))


def switched(client, moderator, value):
    answer = client.put("/api/registration", json={"registration": value}, headers=moderator)
    assert answer.status_code == 200


def asked(client, name="Grace", **more):
    return client.post("/api/token-requests", json={"name": name, **more})


def fetched(client, claim):
    return client.post(f"/api/token-requests/{claim}/token")


def test_who_asks_gets_a_token_once_a_moderator_agrees(client, moderator):
    answer = asked(client, contact="grace@example.org", reason="A learner\nwith memory")
    assert answer.status_code == 201
    claim = answer.json()["claim"]
    page = f"/account/ask/{claim}"
    assert "waits for a moderator" in client.get(page).text
    assert fetched(client, claim).status_code == 409
    [request] = client.get("/api/token-requests", headers=moderator).json()
    assert (request["name"], request["contact"]) == ("Grace", "grace@example.org")
    path = f"/api/token-requests/{request['id']}/decision"
    assert client.post(path, json={"grant": True}).status_code == 401
    decided = client.post(path, json={"grant": True}, headers=moderator).json()
    assert (decided["state"], decided["contact"], decided["reason"]) == ("granted", "", "")
    assert "gnomon_" not in client.get(page).text  # a link that is looked at spends nothing
    told = fetched(client, claim).json()
    assert told["name"] == "Grace"
    who = client.get("/api/session", headers=bearer(told["token"])).json()
    assert who == {"account": "Grace", "scopes": ["submit"]}
    assert fetched(client, claim).status_code == 409
    assert "fetched already" in client.get(page).text
    assert client.post(path, json={"grant": True}, headers=moderator).status_code == 409


def test_who_is_refused_gets_none_and_is_forgotten(client, database, moderator):
    claim = asked(client).json()["claim"]
    path = "/api/token-requests/1/decision"
    assert client.post(path, json={"grant": False}, headers=moderator).status_code == 200
    assert "refused" in client.get(f"/account/ask/{claim}").text
    with database.reading() as session:  # nothing of who asked is kept
        [request] = session.scalars(select(TokenRequest))
        assert (request.name, request.contact, request.reason) == ("", "", "")
    assert fetched(client, claim).status_code == 409


def test_the_switch(client, moderator, database):
    assert client.get("/api/registration").json() == {"registration": "asked"}
    switched(client, moderator, "open")
    assert fetched(client, asked(client).json()["claim"]).status_code == 200
    switched(client, moderator, "closed")
    assert asked(client, "Linus").status_code == 403
    assert "takes no new accounts" in client.get("/account/ask").text
    assert client.put("/api/registration", json={"registration": "open"}).status_code == 401
    with database.reading() as session:
        done = [record.action for record in session.query(AuditRecord)]
    assert done.count("registration") == 2


@pytest.mark.parametrize(
    ("name", "problem"),
    [("", "expected 1 to 64 letters"), ("m\u043e", "looks like"), ("a\u200bb", "can be seen")],
)
def test_names_that_are_refused(client, moderator, name, problem):
    answer = asked(client, name, reason="<script>")
    assert answer.status_code in (409, 422)
    assert problem in answer.json()["detail"]


def test_ten_requests_an_hour_of_one_address(client):
    statuses = [asked(client, f"Learner {n}").status_code for n in range(11)]
    assert statuses == [201] * 10 + [429]


def test_nobody_guesses_a_claim(client):
    asked(client)
    assert client.get("/account/ask/abc").status_code == 404
    assert fetched(client, "abc").status_code == 404


def test_tokens_of_ones_own(client, database, token):
    client.post("/api/session", json={"token": token})
    page = client.get("/account").text
    headers = {CSRF_HEADER: re.search(r'name="csrf" value="(\w+)"', page)[1]}
    wanted = {"label": "the cluster"}
    assert client.post("/api/tokens", json=wanted).status_code == 403
    made = client.post("/api/tokens", json=wanted, headers=headers).json()
    assert made["scopes"] == ["submit"]
    who = bearer(made["token"])
    assert client.get("/api/session", headers=who).json()["account"] == "ada"
    page = client.get("/account").text
    assert "the cluster" in page
    assert f'data-api="DELETE /api/tokens/{made["id"]}"' in page
    assert client.delete(f"/api/tokens/{made['id']}", headers=headers).status_code == 200
    assert client.get("/api/session", headers=who).status_code == 401
