"""Standings that are ready when asked for: right after a change, or honestly the ones before."""

from __future__ import annotations

import time

import pytest

from gnomon_board.schema import Season
from gnomon_board.standing_cache import StandingsCache, board_of
from gnomon_board.submissions import find_submission, refuse_later, withdraw
from populated_board import populate
from small_season import make_account
from submitted import register

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

LEARNERS = (
    ("Chance", "ada", {"kind": "uniform"}, 2),
    ("Frugal", "grace", {"kind": "frugal"}, 1),
)


@pytest.fixture
def season_id(database, settings):
    return populate(
        *(database, settings),
        rules=("clockwise", "color-match"),
        learners=LEARNERS,
        trials=3,
        episodes=4,
    )


def version_of(database, season_id):
    with database.reading() as session:
        return session.get_one(Season, season_id).version


def test_the_board_of_the_database_has_every_trial_that_counts(database, season_id):
    with database.reading() as session:
        board = board_of(session, session.get_one(Season, season_id))
    assert [(c.name, c.n_attempts, c.n_verified) for c in board.contenders] == [
        ("Chance", 2, 2),
        ("Frugal", 1, 1),
    ]
    assert len(board.scores) == 2 * (6 + 3)
    assert {row.run for row in board.scores if row.entry == 1} == set(range(6))


def test_an_attempt_that_is_refused_is_held_against_its_entry(database, season_id):
    with database.writing() as session:
        refuse_later(session, find_submission(session, 2), "not what it says", by=1)
    with database.reading() as session:
        board = board_of(session, session.get_one(Season, season_id))
    assert [(c.name, c.n_verified, c.n_refused) for c in board.contenders] == [
        ("Chance", 1, 1),
        ("Frugal", 1, 0),
    ]


def test_every_assignment_that_was_dealt_counts_as_begun(client, database, season_id):
    """Also in a season whose logs are sent: boards are known at registration."""

    def contenders():
        with database.reading() as session:
            return board_of(session, session.get_one(Season, season_id)).contenders

    ada_before, grace_before = contenders()
    token = make_account(database, "ada", "submit")
    for k in range(3):
        register(client, token, f"ada's {k}", "spring-2026")
    ada, grace = contenders()
    assert ada.n_begun == ada_before.n_begun + 3
    assert ada.also_begun[-3:] == ("ada's 0", "ada's 1", "ada's 2")
    assert grace == grace_before
    assert f"one of {ada.n_begun} begun" in client.get("/seasons/spring-2026").text


def test_a_small_board_is_right_at_once_after_a_change(database, season_id):
    cache = StandingsCache(database)
    first = cache.get(season_id, version_of(database, season_id))
    assert first is not None
    assert first.is_current
    assert len(first.standings.ranked) == 2
    with database.writing() as session:
        withdraw(session, find_submission(session, 3), "a mistake", by=1)
    second = cache.get(season_id, version_of(database, season_id))
    assert second is not None
    assert second.is_current
    assert [line.contender.name for line in second.standings.ranked] == ["Chance"]


def test_a_registration_costs_no_computation_unless_the_account_is_on_the_board(
    client, database, season_id, monkeypatch
):
    cache = StandingsCache(database)
    before = cache.get(season_id, version_of(database, season_id))
    register(client, make_account(database, "eve", "submit"), "Not here yet", "spring-2026")

    def never(board):
        raise AssertionError("computed again")

    monkeypatch.setattr("gnomon_board.standing_cache.standings_of", never)
    version = version_of(database, season_id)
    found = cache.get(season_id, version)
    assert (found.is_current, found.standings.version) == (True, version)
    assert found.standings.ranked == before.standings.ranked
    register(client, make_account(database, "ada", "submit"), "Another", "spring-2026")
    with pytest.raises(AssertionError, match="computed again"):
        cache.get(season_id, version_of(database, season_id))


@pytest.mark.full  # it starts processes
def test_a_large_board_is_computed_by_another_process_and_not_waited_for(database, season_id):
    cache = StandingsCache(database, small=0)

    def computed():
        version = version_of(database, season_id)
        for _ in range(600):
            found = cache.get(season_id, version)
            if found is not None and found.is_current:
                return found.standings
            time.sleep(0.1)
        raise AssertionError("expected standings within a minute")

    assert cache.get(season_id, version_of(database, season_id)) is None
    before = computed()
    with database.writing() as session:
        withdraw(session, find_submission(session, 3), "a mistake", by=1)
    stale = cache.get(season_id, version_of(database, season_id))
    assert (stale.is_current, stale.standings) == (False, before)
    assert [line.contender.name for line in computed().ranked] == ["Chance"]
    cache.close()
