"""Standings that are ready when asked for: right after a change, or honestly the ones before."""

from __future__ import annotations

import time

import pytest

from populated_board import populate
from remote_play import standings
from small_season import make_account
from submitted import bearer, register

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

LEARNERS = (
    ("Chance", "ada", {"kind": "uniform"}, 2),
    ("Frugal", "grace", {"kind": "frugal"}, 1),
)


@pytest.fixture
def season(database, settings) -> str:
    populate(
        *(database, settings),
        rules=("clockwise", "color-match"),
        learners=LEARNERS,
        trials=3,
        episodes=4,
    )
    return "spring-2026"


def names(record):
    return [line["contender"]["name"] for line in record["ranked"]]


def end(client, verb, number, token):
    path, why = f"/api/submissions/{number}/{verb}", {"reason": "a mistake"}
    assert client.post(path, json=why, headers=bearer(token)).status_code == 200


def test_the_board_has_every_trial_that_counts(client, season):
    found = {line["contender"]["name"]: line for line in standings(client, season)["ranked"]}
    counts = {
        name: (line["contender"]["n_attempts"], line["contender"]["n_verified"], line["n_trials"])
        for name, line in found.items()
    }
    assert counts == {"Chance": (2, 2, 2 * 6), "Frugal": (1, 1, 6)}


def test_an_attempt_that_is_refused_is_held_against_its_entry(client, season, admin_token):
    end(client, "refuse", 2, admin_token)
    lines = {line["contender"]["name"]: line for line in standings(client, season)["unranked"]}
    assert lines["Chance"]["why"] == lines["Too good"]["why"] == "refused attempt"
    assert lines["Chance"]["contender"]["n_verified"] == 1


def test_every_assignment_that_was_dealt_counts_as_begun(client, database, season):
    """Also in a season whose logs are sent: boards are known at registration."""

    def contenders():
        lines = standings(client, season)["ranked"]
        return {line["contender"]["name"]: line["contender"] for line in lines}

    before = contenders()
    token = make_account(database, "ada", "submit")
    for k in range(3):
        register(client, token, f"ada's {k}", season)
    after = contenders()
    ada = after["Chance"]
    assert ada["n_begun"] == before["Chance"]["n_begun"] + 3
    assert after["Frugal"] == before["Frugal"]
    assert f"one of {ada['n_begun']} begun" in client.get(f"/seasons/{season}").text


def test_a_small_board_is_right_at_once_after_a_change(client, season, admin_token):
    assert len(names(standings(client, season))) == 2
    end(client, "refuse", 3, admin_token)
    assert names(standings(client, season)) == ["Chance"]


def test_a_registration_costs_no_computation_unless_the_account_is_on_the_board(
    client, database, season, monkeypatch
):
    before = standings(client, season)
    register(client, make_account(database, "eve", "submit"), "Not here yet", season)

    def never(function, board):
        raise AssertionError("computed again")

    monkeypatch.setattr("gnomon_board.standing_cache.Computation", never)
    after = standings(client, season)
    assert after == before | {"version": before["version"] + 1}
    register(client, make_account(database, "ada", "submit"), "Another", season)
    with pytest.raises(AssertionError, match="computed again"):
        standings(client, season)


def test_a_large_board_is_not_waited_for_long(app, client, season, admin_token):
    path = f"/api/seasons/{season}/standings"
    client.get("/seasons/none")  # the server has begun to keep standings
    app.state.board.standings._patience_s = 0.0

    def computed():
        for _ in range(600):
            if (found := client.get(path).json())["is_current"]:
                return found["standings"]
            time.sleep(0.1)
        raise AssertionError("expected standings within a minute")

    assert client.get(path).json() == {"standings": None, "is_current": False}
    before = computed()
    end(client, "refuse", 3, admin_token)
    assert client.get(path).json() == {"standings": before, "is_current": False}
    assert names(computed()) == ["Chance"]
