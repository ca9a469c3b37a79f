"""Tokens: shown once, kept as hashes, compared in constant time, with scopes and an end."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import json
import re
from dataclasses import replace

import pytest
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.errors import LeaderboardError
from gnomon_board.schema import Account, Token, now
from small_season import make_account
from submitted import bearer, csrf_of

JSON = {"Content-Type": "application/json"}


def test_a_token_has_256_bits_and_only_its_hash_is_kept(database, token):
    match = re.fullmatch(r"gnomon_[0-9a-f]{16}_([A-Za-z0-9_-]{43})", token)
    assert match is not None
    with database.engine.connect() as connection:
        kept = ""
        for table in inspect(database.engine).get_table_names():
            kept += str(connection.execute(text(f"SELECT * FROM {table}")).all())
    assert match[1] not in kept
    assert hashlib.sha256(match[1].encode()).hexdigest() in kept
    assert len({make_account(database, f"a{k}", "submit") for k in range(20)}) == 20


def test_no_two_accounts_share_a_key(database, token):
    make_account(database, "other", "submit")
    with database.reading() as session:
        ada, other = session.scalars(select(Account).order_by(Account.id))
        key = session.scalars(select(Token.key).where(Token.account_id == ada.id)).one()
    with pytest.raises(IntegrityError), database.writing() as session:
        session.add(Token(account_id=other.id, key=key, digest="0" * 64, scopes=["submit"]))


def test_the_interface_never_tells_a_secret_again(client, admin_token):
    made = client.post("/api/tokens", json={}, headers=bearer(admin_token))
    assert made.status_code == 201
    secret = made.json()["token"]
    assert client.get("/api/tokens", headers=bearer(secret)).status_code == 200
    for path in ("/api/tokens", "/moderation"):
        told = client.get(path, headers=bearer(admin_token)).text
        assert secret.split("_", 2)[2] not in told
        assert hashlib.sha256(secret.encode()).hexdigest() not in told
        assert "digest" not in told


@pytest.mark.parametrize("known", [True, False], ids=["known key", "unknown key"])
def test_comparison_takes_constant_time(client, token, known, monkeypatch):
    """One comparison of two hashes of one length, whether or not there is such a token."""
    compared: list[tuple[int, int]] = []
    original = hmac.compare_digest

    def spy(a: str, b: str) -> bool:
        compared.append((len(a), len(b)))
        return original(a, b)

    monkeypatch.setattr(hmac, "compare_digest", spy)
    key = token.split("_")[1] if known else "0" * 16
    wrong = bearer(f"gnomon_{key}_{'x' * 43}")
    assert client.get("/api/tokens", headers=wrong).status_code == 401
    assert compared == [(64, 64)]


@pytest.mark.parametrize(
    "change",
    ["", "x", "prefix", "key", "secret", "\u00e9", "gnomon__", "gnomon_\0_x", "gnomon_\ud800_x"],
)
def test_what_is_almost_a_token_is_none(client, token, change):
    prefix, key, secret = token.split("_", 2)
    changed = {
        "prefix": f"gnomom_{key}_{secret}",
        "key": f"{prefix}_{key[:-1]}g_{secret}",
        "secret": token[:-1] + ("A" if token[-1] != "A" else "B"),
    }.get(change, change)
    for text_, status in ((token, 204), (changed, 422 if "\ud800" in changed else 401)):
        body = json.dumps({"token": text_})
        assert client.post("/api/session", content=body, headers=JSON).status_code == status


def test_scopes(client, database, token, admin_token):
    moderator = make_account(database, "mo", "moderate")
    wanted = {"submit": token, "moderate": moderator, "admin": admin_token}
    requests = {
        "submit": lambda who: client.post("/api/seasons/none/entries", json={"name": "x"}, **who),
        "moderate": lambda who: client.post("/api/submissions/9/requeue", **who),
        "admin": lambda who: client.post("/api/accounts/99/erase", **who),
    }
    for scope, request in requests.items():
        assert request({}).status_code == 401
        for held, text_ in wanted.items():
            status = request({"headers": bearer(text_)}).status_code
            assert status == (404 if held in (scope, "admin") else 403), (scope, held)


def test_nobody_gives_more_than_he_has(client, token):
    more = client.post("/api/tokens", json={"scopes": ["admin"]}, headers=bearer(token))
    assert more.status_code == 403
    same = client.post("/api/tokens", json={"scopes": ["submit"]}, headers=bearer(token))
    assert same.status_code == 201
    # Nor revokes, nor sees, what is another's.
    assert client.delete("/api/tokens/999", headers=bearer(token)).status_code == 404


def test_a_child_neither_outlives_nor_outranks_its_parent(client, database):
    parent = make_account(database, "ada", "submit")
    with database.writing() as session:
        row = session.scalars(select(Token)).one()
        row.expires_at = end = now() + datetime.timedelta(days=1)
    for days in (None, 3650):
        child = client.post("/api/tokens", json={"days": days}, headers=bearer(parent)).json()
        assert datetime.datetime.fromisoformat(child["expires_at"]) == end
    grandchild = client.post("/api/tokens", json={}, headers=bearer(child["token"])).json()["token"]
    assert client.get("/api/tokens", headers=bearer(grandchild)).status_code == 200
    assert client.delete(f"/api/tokens/{row.id}", headers=bearer(parent)).status_code == 200
    for each in (parent, child["token"], grandchild):
        assert client.get("/api/tokens", headers=bearer(each)).status_code == 401


def test_a_token_revokes_none_of_more_scopes(client, database):
    low = make_account(database, "ada", "submit")
    high = make_account(database, "ada", "moderate")
    assert client.delete("/api/tokens/2", headers=bearer(low)).status_code == 403
    assert client.get("/api/tokens", headers=bearer(high)).status_code == 200


def test_an_unknown_scope_is_refused(database):
    with pytest.raises(LeaderboardError, match="expected scopes among submit, moderate, admin"):
        make_account(database, "x", "everything")


def test_expired_revoked_and_closed(client, database, admin_token):
    def status(text_: str) -> int:
        return client.get("/api/tokens", headers=bearer(text_)).status_code

    late, gone, closed = (make_account(database, name, "submit") for name in ("a", "b", "c"))
    assert [status(each) for each in (late, gone, closed)] == [200] * 3
    with database.writing() as session:
        rows = {t.account.name: t for t in session.scalars(select(Token))}
        rows["a"].expires_at = now() - datetime.timedelta(seconds=1)
        numbers = {name: (t.id, t.account_id) for name, t in rows.items()}
    revoked = client.delete(f"/api/tokens/{numbers['b'][0]}", headers=bearer(admin_token))
    assert revoked.json()["revoked_at"] is not None
    path = f"/api/accounts/{numbers['c'][1]}/close"
    assert (
        client.post(path, json={"reason": "spam"}, headers=bearer(admin_token)).status_code == 204
    )
    assert [status(each) for each in (late, gone, closed)] == [401] * 3


def test_a_browser_ends_with_its_token(database, client):
    text_ = make_account(database, "ada", "submit")
    answer = client.post("/api/session", json={"token": f"  {text_}\n"})
    assert answer.status_code == 204
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    value = cookie.partition("=")[2].partition(";")[0]
    with database.reading() as session:
        number, browser = session.scalars(select(Token).order_by(Token.id)).all()
    assert browser.expires_at < now() + datetime.timedelta(hours=13)
    assert value.split("_", 2)[2] not in browser.digest
    assert client.get("/api/tokens").status_code == 200
    # A token that is made in a browser outlives the browser.
    csrf = {"X-CSRF-Token": csrf_of(client, "/account")}
    made = client.post("/api/tokens", json={"days": 90}, headers=csrf).json()
    assert datetime.datetime.fromisoformat(made["expires_at"]) > now() + datetime.timedelta(days=89)
    assert client.delete("/api/session", headers=csrf).status_code == 204
    assert client.get("/api/tokens", headers=bearer(made["token"])).status_code == 200
    answer = client.post("/api/session", json={"token": text_})
    cookie = answer.headers["set-cookie"]
    client.cookies.clear()
    revoked = client.delete(f"/api/tokens/{number.id}", headers=bearer(text_))
    assert revoked.status_code == 200
    assert (
        client.get("/api/tokens", headers={"Cookie": cookie.partition(";")[0]}).status_code == 401
    )


def test_a_secure_cookie_behind_https(database, settings):
    text_ = make_account(database, "ada", "submit")
    with AppClient(create_app(replace(settings, secure_cookies=True), database)) as client:
        answer = client.post("/api/session", json={"token": text_})
    assert "Secure" in answer.headers["set-cookie"]


def test_a_signed_out_browser_is_nobody(client, token):
    answer = client.post("/api/session", json={"token": token})
    cookie = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
    page = client.get("/account", headers={"Accept": "text/html"}).text
    csrf = re.search(r'name="csrf" value="(\w+)"', page)[1]
    signed_out = client.delete("/api/session", headers={"X-CSRF-Token": csrf})
    assert signed_out.status_code == 204
    client.cookies.clear()
    assert client.get("/api/tokens", headers=cookie).status_code == 401


def test_a_token_is_no_cookie(client, token):
    """Else tokens could be guessed as fast as pages are asked for."""
    cookie = {"Cookie": f"gnomon_session={token}"}
    assert client.get("/api/tokens", headers=cookie).status_code == 401


def test_guessing_a_token_is_slow(database, settings):
    """Ten tries a minute of one address."""
    settings = replace(settings, trusted_proxies=("127.0.0.1",))

    def status(client, text_: str, address: str = "192.0.2.1") -> int:
        headers = {"X-Forwarded-For": address}
        return client.post("/api/session", json={"token": text_}, headers=headers).status_code

    with AppClient(create_app(settings, database)) as client:
        tries = settings.sign_ins_per_minute
        assert [status(client, "gnomon_0_0") for _ in range(tries)] == [401] * tries
        good = make_account(database, "ada", "submit")
        assert status(client, good) == 429
        assert status(client, good, "192.0.2.2") == 204


def test_guessing_by_the_interface_is_slow(database, settings):
    good = make_account(database, "ada", "submit")
    with AppClient(create_app(settings, database)) as client:
        statuses = [
            client.get("/api/tokens", headers=bearer(f"gnomon_{k:016x}_x")).status_code
            for k in range(settings.sign_ins_per_minute + 3)
        ]
        assert statuses == [401] * settings.sign_ins_per_minute + [429] * 3
        # Who has a good one is not kept out by somebody at the same address.
        assert client.get("/api/tokens", headers=bearer(good)).status_code == 200
