"""What a person sees in the end: learners on the very same rule, and never which rule it was."""

from __future__ import annotations

from statistics import median

import pytest
from sqlalchemy import select

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.database import (
    Database,
    Entry,
    EntryAttempt,
    Season,
    SeasonRule,
    Submission,
    VerifiedTrial,
)
from gnomon_board.studies import puzzles

NUMBER = puzzles().index("clockwise") + 1
NOT_MEASURED = ["chance", "frugal", "table", "network"]


@pytest.fixture
def board(own_settings):
    """A board with life in it, and a client of it."""
    database = Database(own_settings.database)
    with AppClient(create_app(own_settings, database)) as client:
        yield database, client
    database.close()


def names_beside(client, n_boards=1, **form):
    return [each["name"] for each in learners_beside(client, n_boards, **form)]


def learners_beside(client, n_boards=1, **form):
    begun = client.post("/api/play/games", json=form).json()
    game, key = begun["game"], begun["key"]
    for board in range(n_boards):
        while board < n_boards - 1 and game["view"]["state"] == "playing":
            piece = game["view"]["pieces"][0]
            for bucket in range(4):
                body = {"cell": piece["cell"], "bucket": bucket}
                game = client.post(f"/api/play/games/{key}/attempts", json=body).json()
                if game["view"]["attempts"][-1]["outcome"] == "accepted":
                    break
        if game["view"]["state"] == "board over":
            game = client.post(f"/api/play/games/{key}/next").json()
    body = {"cell": game["view"]["pieces"][0]["cell"], "bucket": 0}
    client.post(f"/api/play/games/{key}/attempts", json=body)
    client.post(f"/api/play/games/{key}/give-up")
    page = client.get(f"/play/games/{key}/result").text
    result = client.get(f"/api/play/games/{key}/result").json()
    assert len(result["errors"]) == n_boards
    for each in result["learners"]:
        assert each["name"] in page
        assert len(each["median"]) == n_boards
    return result["learners"]


def curves_in_database(database, rule):
    """Return the curves of every learner of the first season on a rule."""
    with database.reading() as session:
        rows = session.execute(
            select(Entry.name, VerifiedTrial.curve)
            .join(EntryAttempt, EntryAttempt.entry_id == Entry.id)
            .join(Submission, Submission.attempt_id == EntryAttempt.id)
            .join(VerifiedTrial, VerifiedTrial.submission_id == Submission.id)
            .join(SeasonRule, VerifiedTrial.rule_id == SeasonRule.id)
            .join(Season, SeasonRule.season_id == Season.id)
            .where(Season.name == "spring-2026", SeasonRule.name == rule)
            .where(Submission.state == "verified")
        )
        found = {}
        for name, curve in rows:
            found.setdefault(name, []).append(curve)
        return found


def test_the_best_learners_of_the_season_stand_beside_a_person(board):
    database, client = board
    learners = learners_beside(client, 3, season="spring-2026", rule="clockwise")
    assert [each["name"] for each in learners[3:]] == ["chance", "network"]
    curves = curves_in_database(database, "clockwise")
    totals = {name: median(curve[2] for curve in own) for name, own in curves.items()}
    assert [each["median"][-1] for each in learners[:3]] == sorted(totals.values())[:3]
    for each in learners[:3]:
        own = curves[each["name"]]
        assert each["n_trials"] == len(own)
        assert each["median"] == [median(curve[i] for curve in own) for i in range(3)]
        assert f"<h1>{each['name']}</h1>" in client.get(f"/entries/{each['entry_id']}").text


def test_a_game_outside_of_seasons_does_not_reveal_its_rule_by_its_learners(board):
    _, client = board
    assert names_beside(client, rule=f"puzzle-{NUMBER}") == NOT_MEASURED


def test_who_withdrew_or_was_refused_stands_beside_nobody(board):
    database, client = board
    best = learners_beside(client, season="spring-2026", rule="clockwise")[0]
    with database.writing() as session:
        session.get(Entry, best["entry_id"]).withdrawn_at = session.get(Season, 1).created_at
    assert best["name"] not in names_beside(client, season="spring-2026", rule="clockwise")
    with database.writing() as session:
        for submission in session.scalars(select(Submission)):
            submission.state = "refused"
    assert names_beside(client, season="spring-2026", rule="clockwise") == NOT_MEASURED


def test_learners_on_other_boards_stand_beside_nobody(board):
    database, client = board
    with database.writing() as session:
        for season in session.scalars(select(Season)):
            season.board = {**season.board, "pieces": [8, 8]}
    assert names_beside(client, rule="clockwise") == NOT_MEASURED
