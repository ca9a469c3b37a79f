"""Accounts: one name each, closed and erased without a score being lost."""

from __future__ import annotations

import io
import zipfile

import pytest
from sqlalchemy import inspect, select, text

from app_client import AppClient
from gnomon_board import create_app, token_for
from gnomon_board.schema import Account, Entry, ServerValue, Submission, VerifiedTrial
from small_season import fill
from submitted import bearer, register

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True


def erase(client, admin_token, number):
    answer = client.post(f"/api/accounts/{number}/erase", headers=bearer(admin_token))
    assert answer.status_code == 204


def test_an_erased_account_leaves_scores_and_no_text(
    client, database, settings, admin_token, token
):
    """Reasons of withdrawals are texts too: no page, table, archive or log keeps one."""
    fill(database, settings)
    with database.writing() as session:
        ada = session.scalars(select(Account).where(Account.name == "ada")).one()
        number = ada.id
        ada.name = "Ada Personal"
        for entry in session.scalars(select(Entry)):
            entry.account_id, entry.description = number, "by Ada Personal"
            entry.name, entry.link = f"Personal {entry.id}", "https://personal.example.org"
        for submission in session.scalars(select(Submission)):
            submission.learner = "personal-laptop"
    headers, why = bearer(token), {"reason": "Personal: call me at +49 123"}
    assert client.post("/api/submissions/1/withdraw", json=why, headers=headers).status_code == 200
    assert client.post("/api/submissions/2/withdraw", json=why, headers=headers).status_code == 200
    refused = client.post("/api/submissions/3/refuse", json=why, headers=bearer(admin_token))
    assert refused.status_code == 200
    assert why["reason"] in client.get("/submissions/2").text
    assert "Personal:" not in client.get("/moderation").text
    assert client.get("/seasons/filled/season.zip").status_code == 200
    before = client.get("/api/seasons/filled").json()["version"]
    erase(client, admin_token, number)
    assert client.get("/api/seasons/filled").json()["version"] > before
    with database.engine.connect() as connection:
        for table in inspect(database.engine).get_table_names():
            rows = str(connection.execute(text(f"SELECT * FROM {table}")).all())
            assert "ersonal" not in rows, table
    with zipfile.ZipFile(io.BytesIO(client.get("/seasons/filled/season.zip").content)) as packed:
        assert not [name for name in packed.namelist() if b"ersonal" in packed.read(name)]
    pages = ("/submissions/2", "/entries/1", "/seasons/filled", "/api/seasons/filled/entries")
    assert not [page for page in pages if "ersonal" in client.get(page).text]
    with database.reading() as session:
        assert len(session.scalars(select(VerifiedTrial)).all()) == 12
        assert set(session.scalars(select(Submission.learner))) == {"erased"}
    entries = client.get("/api/seasons/filled/entries").json()
    assert [entry["name"] for entry in entries] == ["erased-1", "erased-2", "erased-3"]
    assert {entry["account"] for entry in entries} == {f"erased-{number}"}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_erased_text_is_not_in_the_file(client, database, settings, admin_token):
    fill(database, settings, n_entries=1)
    headers, why = bearer(admin_token), {"reason": "call me at +49 123"}
    assert client.post("/api/submissions/1/withdraw", json=why, headers=headers).status_code == 200
    with database.reading() as session:
        number = session.get_one(Entry, 1).account_id
    erase(client, admin_token, number)  # the server goes on with its files open
    left = b"".join(path.read_bytes() for path in database.file.parent.glob("board.sqlite*"))
    assert b"+49 123" not in left


def test_two_accounts_do_not_look_alike(client, database):
    token_for(database, "Paypal", ["submit"])
    again = client.post("/api/token-requests", json={"name": "Раураl"})
    assert again.status_code == 409
    assert "is taken, or looks like another account's" in again.json()["detail"]


def test_a_token_on_the_servers_machine(client, database):
    first = token_for(database, "Grace", ["submit"])
    second = token_for(database, "grace ", ["moderate"], days=1)
    told = client.get("/api/tokens", headers=bearer(second)).json()
    assert [(row["account"], row["scopes"]) for row in told] == [
        ("Grace", ["submit"]),
        ("Grace", ["moderate"]),
    ]
    assert client.get("/api/tokens", headers=bearer(first)).status_code == 200


def test_the_secret_of_the_seeds_is_drawn_once(client, database, settings, season, token):
    register(client, token, "First")
    with AppClient(create_app(settings, database)) as other:
        register(other, token, "Second")
    with database.reading() as session:
        assert len(session.get_one(ServerValue, "seeds").value) == 64
