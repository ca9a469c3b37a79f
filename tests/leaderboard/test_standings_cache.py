"""Standings that are ready when asked for: right after a change, or honestly the ones before."""

from __future__ import annotations

import time

import pytest

from gnomon.leaderboard.database.tables import Season, Submission
from gnomon.leaderboard.standings_cache import StandingsCache, board_of
from gnomon.leaderboard.submissions import find_submission, withdraw
from populated_board import populate

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
    assert board.scores.height == 2 * (6 + 3)
    assert board.scores.filter(board.scores["entry"] == 1)["run"].unique().sort().to_list() == [
        *range(6)
    ]


def test_a_small_board_is_right_at_once_after_a_change(database, settings, season_id):
    cache = StandingsCache(database, settings.data / "standings")
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


def test_what_was_computed_is_found_by_the_next_server(database, settings, season_id, monkeypatch):
    folder, version = settings.data / "standings", version_of(database, season_id)
    first = StandingsCache(database, folder).get(season_id, version)

    def never(board):
        raise AssertionError("computed again")

    monkeypatch.setattr("gnomon.leaderboard.standings_cache.standings_of", never)
    assert StandingsCache(database, folder).get(season_id, version) == first


@pytest.mark.parametrize("text", ["", "{", '{"format": 0}', '{"format": 1, "standings": {}}'])
def test_a_file_that_is_no_snapshot_is_computed_again(database, settings, season_id, text):
    folder = settings.data / "standings"
    folder.mkdir()
    (folder / f"{season_id}.json").write_text(text)
    found = StandingsCache(database, folder).get(season_id, version_of(database, season_id))
    assert found is not None
    assert len(found.standings.ranked) == 2


def test_a_large_board_is_shown_as_it_was_while_another_process_computes(
    database, settings, season_id
):
    folder = settings.data / "standings"
    version = version_of(database, season_id)
    before = StandingsCache(database, folder).get(season_id, version)
    with database.writing() as session:
        withdraw(session, find_submission(session, 3), "a mistake", by=1)
    cache = StandingsCache(database, folder, small=0)
    version = version_of(database, season_id)
    stale = cache.get(season_id, version)
    assert stale is not None
    assert before is not None
    assert (stale.is_current, stale.standings) == (False, before.standings)
    for _ in range(600):
        found = cache.get(season_id, version)
        assert found is not None
        if found.is_current:
            break
        time.sleep(0.1)
    cache.close()
    assert found.is_current
    assert [line.contender.name for line in found.standings.ranked] == ["Chance"]


def test_a_large_board_that_was_never_computed_is_not_waited_for(database, settings, season_id):
    cache = StandingsCache(database, settings.data / "standings", small=0)
    assert cache.get(season_id, version_of(database, season_id)) is None
    cache.close()


def test_reported_scores_count_in_the_open_division(database, settings):
    season_id = populate(
        *(database, settings),
        division="open",
        rules=("clockwise",),
        learners=LEARNERS,
        trials=2,
        episodes=2,
    )
    with database.writing() as session:
        for submission in session.query(Submission).filter_by(state="verified"):
            submission.state = "reported"
    found = StandingsCache(database, settings.data / "s").get(season_id, 2)
    assert found is not None
    assert len(found.standings.ranked) == 2
