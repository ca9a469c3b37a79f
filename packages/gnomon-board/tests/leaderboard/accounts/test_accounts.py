"""Accounts: one name each, closed and erased without a score being lost."""

from __future__ import annotations

import pytest
from sqlalchemy import inspect, select, text

from gnomon_board.database import Account, Entry, VerifiedTrial
from gnomon_board.errors import Conflict
from gnomon_board.leaderboard import token_for
from gnomon_board.leaderboard.accounts.accounts import make_account as add_account
from gnomon_board.leaderboard.accounts.accounts import server_secret
from small_season import fill
from submitted import bearer


def test_an_erased_account_leaves_scores_and_no_name(client, database, settings, admin_token):
    fill(database, settings)
    with database.writing() as session:
        ada = session.scalars(select(Account).where(Account.name == "ada")).one()
        number = ada.id
        ada.name = "Ada Personal"
        for entry in session.scalars(select(Entry)):
            entry.account_id, entry.description = number, "by Ada Personal"
            entry.name, entry.link = f"Personal {entry.id}", "https://personal.example.org"
    before = client.get("/api/seasons/filled").json()["version"]
    path = f"/api/accounts/{number}/erase"
    assert client.post(path, headers=bearer(admin_token)).status_code == 204
    assert client.get("/api/seasons/filled").json()["version"] > before
    with database.engine.connect() as connection:
        for table in inspect(database.engine).get_table_names():
            rows = str(connection.execute(text(f"SELECT * FROM {table}")).all())
            assert "ersonal" not in rows, table
    with database.reading() as session:
        assert len(session.scalars(select(VerifiedTrial)).all()) == 12
    entries = client.get("/api/seasons/filled/entries").json()
    assert [entry["name"] for entry in entries] == ["erased-1", "erased-2", "erased-3"]
    assert {entry["account"] for entry in entries} == {f"erased-{number}"}


def test_two_accounts_do_not_look_alike(database):
    with database.writing() as session:
        add_account(session, "Paypal")
    taken = "is taken, or looks like 'Paypal'"
    with pytest.raises(Conflict, match=taken), database.writing() as session:
        add_account(session, "Раураl")


def test_a_token_on_the_servers_machine(client, database):
    first = token_for(database, "Grace", ["submit"])
    second = token_for(database, "grace ", ["moderate"], days=1)
    told = client.get("/api/tokens", headers=bearer(second)).json()
    assert [(row["account"], row["scopes"]) for row in told] == [
        ("Grace", ["submit"]),
        ("Grace", ["moderate"]),
    ]
    assert client.get("/api/tokens", headers=bearer(first)).status_code == 200


def test_a_secret_is_drawn_once(database):
    with database.writing() as session:
        first = server_secret(session)
    with database.writing() as session:
        assert server_secret(session) == first
        assert len(first) == 32
        assert server_secret(session, "another") != first
