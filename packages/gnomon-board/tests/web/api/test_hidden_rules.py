"""No endpoint tells a hidden rule, or what it permits, before the season is revealed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from sqlalchemy import select

from gnomon_board.schema import EntryAttempt, Season, SeasonRule, Submission, now
from small_season import add_submission, make_account, make_season
from submitted import bearer

TEXT = "(*, star, *, *, [0,3]) (*, circle, *, *, 1)"
SECRETS = ("star, *, *", "[0,3]", "peculiar-family", "peculiar-tag", "the salt of it")


@pytest.fixture
def hidden(database, settings) -> Season:
    """A season whose second rule is hidden, with a submission."""
    make_account(database, "ada", "submit")
    season = make_season(database, "secret", "hidden", salt="the salt of it", commitment="c" * 64)
    with database.writing() as session:
        rule = session.get_one(SeasonRule, season.rules[1].id)
        rule.text, rule.family, rule.tags = TEXT, "peculiar-family", ["peculiar-tag"]
    add_submission(database, settings, season, 1)
    return season


def paths_of(app: FastAPI) -> Iterator[str]:
    """Every path that can be read, with numbers and names of things that are there."""
    filled = {
        "season": "secret",
        "entry": "1",
        "submission": "1",
        "number": "1",
        "token": "1",
        "rule": "s1-h01",
        "trial": "0",
        "episode": "0",
        "account": "1",
    }
    for path, operations in app.openapi()["paths"].items():
        if "get" in operations:
            for name, value in filled.items():
                path = path.replace(f"{{{name}}}", value)
            yield path


@pytest.mark.parametrize("scopes", [(), ("submit",), ("moderate",), ("admin",)], ids=str)
def test_no_endpoint_tells_a_hidden_rule(app, client, database, hidden, scopes):
    headers = bearer(make_account(database, "eve", *scopes)) if scopes else {}
    with database.reading() as session:
        seed = str(session.scalars(select(EntryAttempt.seed)).one())
    asked = list(paths_of(app))
    assert len(asked) > 10
    for path in asked:
        for kind in ("application/json", "text/html"):
            answer = client.get(path, headers=headers | {"Accept": kind})
            for secret in (*SECRETS, seed):
                assert secret not in answer.text, (path, secret)
            # Nor what a rule permits, as the reference's captive server tells it.
            assert '"buckets"' not in answer.text, path
            assert '"mask"' not in answer.text, path


def test_what_is_hidden_is_refused_by_name(client, hidden):
    assert client.get("/api/entries/1/attempts/1/config").status_code == 403
    log = client.get("/api/submissions/1/log")
    assert (log.status_code, log.json()["detail"]) == (
        403,
        "the attempts are shown when the hidden rules are revealed",
    )
    rules = client.get("/api/seasons/secret").json()["rules"]
    assert [(rule["name"], rule["text"] is None) for rule in rules] == [
        ("clockwise", False),
        ("s1-h01", True),
    ]


def test_the_commitment_is_told_first_and_the_rest_after_the_reveal(client, database, hidden):
    before = client.get("/api/seasons/secret").json()
    assert (before["commitment"], before["salt"]) == ("c" * 64, None)
    with database.writing() as session:
        session.get_one(Season, hidden.id).revealed_at = now()
    after = client.get("/api/seasons/secret").json()
    assert (after["commitment"], after["salt"]) == ("c" * 64, "the salt of it")
    assert after["rules"][1]["text"] == TEXT
    assert client.get("/api/submissions/1/log").status_code == 200


def test_the_schema_has_no_field_for_what_is_permitted(app):
    records = app.openapi()["components"]["schemas"].values()
    names = {name for record in records for name in record.get("properties", {})}
    assert len(names) > 50
    assert not names & {"permitted", "legal_moves", "buckets", "mask", "action_mask", "oracle"}


def test_a_hidden_seasons_seed_is_kept_and_others_are_told(client, database, settings, hidden):
    [entry] = client.get(f"/api/seasons/{hidden.name}/entries").json()
    assert entry["attempts"][0]["seed"] is None
    add_submission(database, settings, make_season(database), 2)
    [entry] = client.get("/api/seasons/spring/entries").json()
    assert entry["attempts"][0]["seed"] is not None
    with database.reading() as session:
        assert len(session.scalars(select(Submission)).all()) == 2
