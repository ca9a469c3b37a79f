"""Strangers get an account by asking for a token."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.schema import AuditRecord, TokenRequest
from small_season import make_account
from submitted import CSRF, bearer, csrf_of


@pytest.fixture
def moderator(database):
    return bearer(make_account(database, "mo", "moderate"))


def switched(client, moderator, value):
    answer = client.put("/api/registration", json={"registration": value}, headers=moderator)
    assert answer.status_code == 204


def asked(client, name="Grace", **more):
    return client.post("/api/token-requests", json={"name": name, **more})


def fetched(client, claim):
    return client.post(f"/api/token-requests/{claim}/token")


DECISIONS = "/api/token-requests/decisions"


def decided_by(client, moderator, requests, *, grant):
    """Return the numbers of the requests that a moderator has decided."""
    answer = client.post(DECISIONS, json={"requests": requests, "grant": grant}, headers=moderator)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_who_asks_gets_a_token_once_a_moderator_agrees(client, moderator):
    answer = asked(client, contact="grace@example.org", reason="A learner\nwith memory")
    assert answer.status_code == 201
    claim = answer.json()["claim"]
    page = f"/account?claim={claim}"
    assert "waits for a moderator" in client.get(page).text
    assert fetched(client, claim).status_code == 409
    listed = client.get("/moderation", headers=moderator).text
    assert "Grace" in listed
    assert "grace@example.org" in listed
    assert client.post(DECISIONS, json={"requests": [1], "grant": True}).status_code == 401
    assert decided_by(client, moderator, [1], grant=True) == [1]
    assert "gnomon_" not in client.get(page).text  # a link that is looked at spends nothing
    told = fetched(client, claim).json()
    assert told["name"] == "Grace"
    [own] = client.get("/api/tokens", headers=bearer(told["token"])).json()
    assert (own["account"], own["scopes"]) == ("Grace", ["submit"])
    assert fetched(client, claim).status_code == 409
    assert "fetched already" in client.get(page).text
    assert decided_by(client, moderator, [1], grant=False) == []


def test_who_is_refused_gets_none_and_is_forgotten(client, database, moderator):
    claim = asked(client).json()["claim"]
    assert len(decided_by(client, moderator, [1], grant=False)) == 1
    assert "refused" in client.get(f"/account?claim={claim}").text
    with database.reading() as session:  # nothing of who asked is kept
        [request] = session.scalars(select(TokenRequest))
        assert (request.name, request.contact, request.reason) == ("", "", "")
    assert fetched(client, claim).status_code == 409


def test_the_switch(client, moderator, database):
    assert fetched(client, asked(client).json()["claim"]).status_code == 409
    switched(client, moderator, "open")
    assert fetched(client, asked(client, "Ada Two").json()["claim"]).status_code == 200
    switched(client, moderator, "closed")
    assert asked(client, "Linus").status_code == 403
    assert "takes no new accounts" in client.get("/account").text
    assert client.put("/api/registration", json={"registration": "open"}).status_code == 401
    with database.reading() as session:
        done = [record.action for record in session.query(AuditRecord)]
    assert done.count("registration") == 2


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "expected 1 to 64 characters"),
        ("m\u043e", "looks like"),
        ("a\u200bb", "visible characters"),
    ],
)
def test_names_that_are_refused(client, moderator, name, problem):
    answer = asked(client, name, reason="<script>")
    assert answer.status_code in (409, 422)
    assert problem in answer.json()["detail"]


def test_ten_requests_an_hour_of_one_address(client):
    statuses = [asked(client, f"Learner {n}").status_code for n in range(11)]
    assert statuses == [201] * 10 + [429]


@pytest.fixture
def behind_proxy(settings, database):
    """A client whose requests come from the address that a proxy names."""
    settings = replace(settings, trusted_proxies=("127.0.0.1",))
    with AppClient(create_app(settings, database)) as client:
        yield client


def asked_from(client, address, name):
    headers = {"X-Forwarded-For": address}
    return client.post("/api/token-requests", json={"name": name}, headers=headers)


@pytest.mark.parametrize("network", ["127.0.1.{}", "2001:db8:1:{}::1"])
def test_a_network_has_twenty_places(behind_proxy, database, network):
    """Registration was shut by 999 requests from 101 addresses of one network."""
    statuses = [
        asked_from(behind_proxy, network.format(n), f"Junk {n}").status_code for n in range(1, 26)
    ]
    assert statuses == [201] * 20 + [429] * 5
    assert asked_from(behind_proxy, "192.0.2.7", "Grace").status_code == 201
    with database.reading() as session:
        rows = session.scalars(select(TokenRequest)).all()
        kept = str([vars(row) for row in rows])
        assert len({row.network for row in rows}) == 2
    assert "127.0.1" not in kept
    assert "2001:" not in kept


def test_a_full_list_loses_the_oldest_of_the_largest_network(behind_proxy, database, moderator):
    claim = asked_from(behind_proxy, "192.0.2.7", "Grace").json()["claim"]
    with database.writing() as session:
        session.add_all(
            TokenRequest(name=f"Junk {n}", contact="c", claim=f"{n:064}", network=f"{n // 20:064}")
            for n in range(999)
        )
    assert asked_from(behind_proxy, "198.51.100.7", "Linus").status_code == 201
    with database.reading() as session:
        states = session.scalars(select(TokenRequest.state).order_by(TokenRequest.id)).all()
        expired = session.get_one(TokenRequest, 2)
    assert (states.count("waiting"), states[1]) == (1000, "expired")
    assert (expired.name, expired.contact) == ("", "")
    assert "waits for a moderator" in behind_proxy.get(f"/account?claim={claim}").text
    listed = behind_proxy.get("/moderation", headers=moderator).text
    assert max(listed.index("Grace"), listed.index("Linus")) < listed.index("Junk")
    assert "Refuse these 19" in listed  # of the network that lost one


def test_a_moderator_refuses_many_at_once(client, database, moderator, token):
    claims = [asked(client, f"Learner {n}").json()["claim"] for n in range(4)]
    page = client.get("/moderation", headers=moderator).text
    assert "Refuse all 4 requests below" in page
    assert 'value="[1, 2, 3, 4]"' in page
    body = {"requests": [1, 2, 3, 999], "grant": False}
    assert client.post(DECISIONS, json=body, headers=bearer(token)).status_code == 403
    assert decided_by(client, moderator, [1, 2, 3, 999], grant=False) == [1, 2, 3]
    assert decided_by(client, moderator, [1, 2, 3, 999], grant=False) == []
    assert "refused" in client.get(f"/account?claim={claims[0]}").text
    with database.reading() as session:
        names = session.scalars(select(TokenRequest.name).order_by(TokenRequest.id)).all()
    assert names == ["", "", "", "Learner 3"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_refused_contact_is_not_in_the_file(client, database, moderator):
    asked(client, "Junk", contact="call +49 123")
    decided_by(client, moderator, [1], grant=False)
    left = b"".join(path.read_bytes() for path in database.file.parent.glob("board.sqlite*"))
    assert b"+49 123" not in left


def test_nobody_guesses_a_claim(client):
    asked(client)
    assert client.get("/account?claim=abc").status_code == 404
    assert fetched(client, "abc").status_code == 404


def test_tokens_of_ones_own(client, database, token):
    client.post("/api/session", json={"token": token})
    headers = {CSRF: csrf_of(client, "/account")}
    wanted = {"label": "the cluster"}
    assert client.post("/api/tokens", json=wanted).status_code == 403
    made = client.post("/api/tokens", json=wanted, headers=headers).json()
    assert made["scopes"] == ["submit"]
    who = bearer(made["token"])
    assert client.get("/api/tokens", headers=who).status_code == 200
    page = client.get("/account").text
    assert "the cluster" in page
    assert f'data-api="DELETE /api/tokens/{made["id"]}"' in page
    assert client.delete(f"/api/tokens/{made['id']}", headers=headers).status_code == 200
    assert client.get("/api/tokens", headers=who).status_code == 401
