"""Accounts: one name each, closed and erased without a score being lost."""

from __future__ import annotations

from sqlalchemy import inspect, select, text

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.database import Account, Entry, ServerSecret, VerifiedTrial
from gnomon_board.leaderboard import token_for
from small_season import fill
from submitted import bearer, register


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


def test_two_accounts_do_not_look_alike(client, admin_token):
    made, again = (
        client.post("/api/accounts", json={"name": name}, headers=bearer(admin_token))
        for name in ("Paypal", "Раураl")
    )
    assert (made.status_code, again.status_code) == (201, 409)
    assert "is taken, or looks like 'Paypal'" in again.json()["detail"]


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
        assert len(session.scalars(select(ServerSecret)).one().value) == 32
