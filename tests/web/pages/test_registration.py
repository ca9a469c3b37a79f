"""Strangers get an account: by asking for a token, and by a sign-in provider."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sqlalchemy import select

from app_client import AppClient
from gnomon.database.schema import Account, AuditRecord, TokenRequest
from gnomon.errors import LeaderboardError
from gnomon.leaderboard.accounts.accounts import close_account, erase_account
from gnomon.web.app import create_app
from sign_in_provider import sign_in_provider
from small_season import make_account
from submitted import bearer


@pytest.fixture
def moderator(database):
    return bearer(make_account(database, "mo", "moderate"))


def switched(client, moderator, value):
    answer = client.put("/api/registration", json={"registration": value}, headers=moderator)
    assert answer.status_code == 200


def asked(client, name="Grace", **more):
    return client.post("/account/ask", data={"name": name, **more})


def token_on(page):
    found = re.search(r"gnomon_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", page.text)
    return found[0] if found else None


def test_who_asks_gets_a_token_once_a_moderator_agrees(client, moderator):
    answer = asked(client, contact="grace@example.org", reason="A learner\nwith memory")
    assert answer.status_code == 303
    claim = answer.headers["location"]
    assert "waits for a moderator" in client.get(claim).text
    waits = {"name": "Grace", "state": "waiting", "token": ""}
    assert client.get(f"{claim}.json").json() == waits
    assert client.post(claim).status_code == 409
    [request] = client.get("/api/token-requests", headers=moderator).json()
    assert (request["name"], request["contact"]) == ("Grace", "grace@example.org")
    path = f"/api/token-requests/{request['id']}/decision"
    assert client.post(path, json={"grant": True}).status_code == 401
    decided = client.post(path, json={"grant": True}, headers=moderator).json()
    assert (decided["state"], decided["contact"], decided["reason"]) == ("granted", "", "")
    assert token_on(client.get(claim)) is None  # a link that is looked at spends nothing
    token = token_on(client.post(claim))
    who = client.get("/account.json", headers=bearer(token)).json()
    assert (who["account"], who["scopes"]) == ("Grace", ["submit"])
    assert client.post(claim).status_code == 409
    assert "fetched already" in client.get(claim).text
    assert client.post(path, json={"grant": True}, headers=moderator).status_code == 409


def test_who_is_refused_gets_none_and_is_forgotten(client, database, moderator):
    claim = asked(client).headers["location"]
    answer = client.post(
        "/moderation/requests/1", data={"grant": "false"}, headers=moderator | {"Accept": "*/*"}
    )
    assert answer.status_code == 303
    assert "refused" in client.get(claim).text
    with database.reading() as session:  # nothing of who asked is kept
        [request] = session.scalars(select(TokenRequest))
        assert (request.name, request.contact, request.reason) == ("", "", "")
    assert client.post(claim).status_code == 409


def test_the_switch(client, moderator, database):
    assert client.get("/api/registration").json() == {"registration": "asked"}
    switched(client, moderator, "open")
    assert token_on(client.post(asked(client).headers["location"]))
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
    assert problem in answer.text.replace("&#39;", "'")
    assert "<script>" not in answer.text.partition("<main")[2]


def test_ten_requests_an_hour_of_one_address(client):
    statuses = [asked(client, f"Learner {n}").status_code for n in range(11)]
    assert statuses == [303] * 10 + [429]


def test_nobody_guesses_a_claim(client):
    asked(client)
    assert client.get("/account/ask/abc").status_code == 404
    assert client.post("/account/ask/abc").status_code == 404


def test_tokens_of_ones_own(client, database, token):
    client.post("/account/sign-in", data={"token": token})
    page = client.get("/account").text
    csrf = re.search(r'name="csrf" value="(\w+)"', page)[1]
    assert client.post("/account/tokens", data={"label": "x"}).status_code == 403
    made = client.post("/account/tokens", data={"label": "the cluster", "csrf": csrf})
    other = token_on(made)
    assert client.get("/account.json", headers=bearer(other)).json()["scopes"] == ["submit"]
    number = client.get("/account.json").json()["tokens"][-1]["id"]
    assert client.post(f"/account/tokens/{number}/revoke", data={"csrf": csrf}).status_code == 303
    assert client.get("/account.json", headers=bearer(other)).status_code == 401


@pytest.fixture(scope="module")
def provider():
    with sign_in_provider() as found:
        yield found


@pytest.fixture
def signing(settings, database, provider):
    provider.claims, provider.key, provider.forms = {}, provider.__class__.key, []
    provider.keys = None
    ours = {"openid_client": "board", "openid_secret": "hush", "public_url": "http://127.0.0.1"}
    settings = replace(settings, openid_issuer=provider.issuer, **ours)
    with AppClient(create_app(settings, database)) as client:
        yield client


def sign_in(client, provider, begin="/account/openid"):
    sent = client.get(begin)
    assert sent.status_code == 303
    return client.get(provider.come_back(sent.headers["location"]))


def test_a_stranger_signs_in_where_registration_is_open(signing, provider, moderator):
    assert sign_in(signing, provider).status_code == 403
    switched(signing, moderator, "open")
    answer = sign_in(signing, provider)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    who = signing.get("/account.json").json()
    assert (who["account"], who["scopes"]) == ("Ada", ["submit"])
    # Once more, in another browser: the same account.
    signing.cookies.clear()
    sign_in(signing, provider)
    assert signing.get("/account.json").json()["account"] == "Ada"
    # Another person of the same name has another one, and an address of mail is nobody's name.
    names = {"Ada": "Ada 2", "bob@x.org": "player", "\u200b": "player 2"}
    for n, (claimed, name) in enumerate(names.items()):
        signing.cookies.clear()
        provider.claims = {"sub": f"another-{n}", "preferred_username": claimed}
        sign_in(signing, provider)
        assert signing.get("/account.json").json()["account"] == name


def connect(client, provider):
    link = re.search(r"/account/openid\?link=\w{64}", client.get("/account").text)[0]
    return client.get(provider.come_back(client.get(link).headers["location"]))


def test_an_account_is_connected_to_a_sign_in(signing, provider, token):
    signing.post("/account/sign-in", data={"token": token})
    name = signing.get("/account.json").json()["account"]
    assert signing.get("/account/openid?link=0f").status_code == 403
    assert connect(signing, provider).status_code == 303
    signing.cookies.clear()
    assert sign_in(signing, provider).status_code == 303
    assert signing.get("/account.json").json()["account"] == name


@pytest.mark.parametrize("forged", ["", "?link=" + 64 * "a"])
def test_nobody_else_connects_their_sign_in_to_an_account(signing, provider, token, forged):
    """A foreign page leads a signed-in browser, which the provider takes for somebody else."""
    signing.post("/account/sign-in", data={"token": token})
    sent = signing.get(f"/account/openid{forged}")
    if not forged:
        assert signing.get(provider.come_back(sent.headers["location"])).status_code == 303
        assert provider.forms == []
    else:
        assert sent.status_code == 403
    signing.cookies.clear()
    assert sign_in(signing, provider).status_code == 403


def test_a_link_of_one_browser_connects_in_no_other(signing, provider, token, database):
    signing.post("/account/sign-in", data={"token": token})
    link = re.search(r"/account/openid\?link=\w{64}", signing.get("/account").text)[0]
    back = provider.come_back(signing.get(link).headers["location"])
    signing.post("/account/sign-in", data={"token": make_account(database, "eve", "submit")})
    assert signing.get(link).status_code == 403
    assert signing.get(back).status_code == 303
    signing.cookies.clear()
    assert sign_in(signing, provider).status_code == 403


def test_an_address_for_mail_becomes_no_public_name(signing, provider, moderator):
    switched(signing, moderator, "open")
    provider.claims = {"preferred_username": "ada@example.org", "name": "ada@example.org"}
    sign_in(signing, provider)
    assert signing.get("/account.json").json()["account"] == "player"


def test_sign_ins_by_a_provider_are_counted(signing, provider):
    answers = [sign_in(signing, provider).status_code for _ in range(11)]
    assert answers == [403] * 10 + [429]


def test_a_closed_account_stays_closed_and_an_erased_one_is_forgotten(
    signing, provider, moderator, database
):
    switched(signing, moderator, "open")
    sign_in(signing, provider)
    signing.cookies.clear()
    with database.writing() as session:
        account = session.query(Account).filter_by(name="Ada").one()
        erase_account(session, account)
        assert account.disabled_at is not None
    sign_in(signing, provider)
    # The provider's name for the person is gone too: this is a stranger again.
    assert signing.get("/account.json").json()["account"] == "Ada"
    signing.cookies.clear()
    with database.writing() as session:
        close_account(session, session.query(Account).filter_by(name="Ada").one())
    assert sign_in(signing, provider).status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": "-"},
        {"aud": "another board"},
        {"iss": "https://elsewhere.example.org"},
        {"exp": 1.0},
        {"exp": "-"},
        {"sub": "-"},
        {"sub": "s" * 256},
    ],
    ids=str,
)
def test_id_tokens_that_are_not_believed(signing, provider, moderator, claims):
    switched(signing, moderator, "open")
    provider.claims = claims
    answer = sign_in(signing, provider)
    assert answer.status_code == 422
    assert signing.get("/account.json").json()["account"] is None


def test_an_id_token_that_our_own_secret_signs_is_not_believed(signing, provider, moderator):
    switched(signing, moderator, "open")
    provider.key = "hush" * 8
    assert sign_in(signing, provider).status_code == 422


@pytest.mark.parametrize("keys", [[], "x", {}, {"keys": []}, {"keys": ["x"]}, {"keys": 3}], ids=str)
def test_keys_that_are_none_are_no_mistake_of_ours(signing, provider, keys):
    provider.keys = keys
    assert sign_in(signing, provider).status_code == 422


def test_a_sign_in_that_another_browser_began(signing, provider, moderator):
    switched(signing, moderator, "open")
    back = provider.come_back(signing.get("/account/openid").headers["location"])
    signing.cookies.clear()
    assert "begin again" in signing.get(back).json()["detail"]
    assert signing.get("/account/openid/back?state=&code=x").status_code == 422


def test_without_a_provider_there_is_no_such_page(client):
    assert client.get("/account/openid").status_code == 404


def test_settings_of_a_provider(settings, database):
    with pytest.raises(LeaderboardError, match="expected 'openid_client' and 'public_url'"):
        replace(settings, openid_issuer="https://x.example.org")
    plain = {"openid_issuer": "http://x.example.org", "openid_client": "a", "public_url": "b"}
    with pytest.raises(LeaderboardError, match="expected https://"):
        create_app(replace(settings, **plain), database)
    assert "hush" not in repr(replace(settings, openid_secret="hush"))
