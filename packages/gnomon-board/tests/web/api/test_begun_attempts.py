"""Selection by abandoning: an attempt counts from its first move, whatever becomes of it."""

from __future__ import annotations

import datetime

import pytest
from sqlalchemy import select

from gnomon_board.schema import EntryAttempt, RemoteTrial, Season, Submission, now
from remote_play import begin, hidden_season, ids, move, play_at_random, standings, work_off
from small_season import make_account
from submitted import bearer

pytestmark = pytest.mark.usefixtures("programs_here")


@pytest.fixture
def season(database) -> Season:
    return hidden_season(database)


def ranked(client):
    """Return the ranked learners by name."""
    return {line["contender"]["name"]: line["contender"] for line in standings(client)["ranked"]}


def test_an_attempt_that_is_left_is_shown_and_keeps_its_entry_from_a_rank(
    client, database, token, season, settings
):
    play = begin(client, token, "chooser")
    assert standings(client)["unranked"] == []  # nothing was played
    play_at_random(client, token, ids(play)[:-1])
    move(client, token, (ids(play)[-1], 0, [0, 0, 0]))
    [line] = standings(client)["unranked"]
    assert (line["contender"]["name"], line["why"]) == ("chooser", "unfinished attempt")
    assert line["contender"]["n_attempts"] == 1
    page = client.get("/seasons/s1").text
    assert "an assignment was begun and is not finished" in page


def test_the_best_of_three_does_not_hide_the_other_two(client, database, token, season, settings):
    """Three learners of one account: two stopped before their last episode, the best finished."""
    for name in ("first", "second"):
        play = begin(client, token, name)
        play_at_random(client, token, ids(play)[:-1])
        move(client, token, (ids(play)[-1], 0, [0]))
    best = begin(client, token, "best")
    play_at_random(client, token, ids(best))
    other = make_account(database, "other", "submit")
    play_at_random(client, other, ids(begin(client, other, "honest")))
    work_off(database, settings)
    found = ranked(client)
    assert set(found) == {"best", "honest"}
    assert found["best"]["n_begun"] == 3
    # Nor a fourth, of which the first boards were looked at and left.
    begin(client, token, "looked at")
    found = ranked(client)
    assert set(found) == {"best", "honest"}
    assert found["best"]["n_begun"] == 4
    assert found["honest"]["n_begun"] == 1
    assert "one of 4 begun" in client.get("/seasons/s1").text
    assert (
        "ada has begun 4 assignments in this season" in client.get(f"/entries/{best['entry']}").text
    )


def test_withdrawing_an_attempt_does_not_take_it_out_of_the_count(
    client, database, token, season, settings
):
    gone = begin(client, token, "gone")
    move(client, token, (ids(gone)[0], 0, [0]))
    path = f"/api/remote/entries/{gone['entry']}/attempts/1/close"
    assert client.post(path, headers=bearer(token)).status_code == 204
    work_off(database, settings)
    answer = client.post("/api/submissions/1/withdraw", json={}, headers=bearer(token))
    assert answer.status_code == 200, answer.text
    play_at_random(client, token, ids(begin(client, token, "kept")))
    work_off(database, settings)
    [line] = ranked(client).values()
    assert line["n_begun"] == 2


def test_what_is_left_of_a_closed_attempt_is_errors(client, database, token, season, settings):
    play = begin(client, token)
    *played, left = ids(play)
    play_at_random(client, token, played)
    move(client, token, (left, 0, [0, 1, 2]))
    path = f"/api/remote/entries/{play['entry']}/attempts/1/close"
    assert client.post(path, headers=bearer(token)).status_code == 204
    assert client.post(path, headers=bearer(token)).status_code == 409
    refused = move(client, token, (left, 3, [0]))
    assert (refused.status_code, "was closed" in refused.text) == (403, True)
    work_off(database, settings)
    with database.reading() as session:
        submission = session.scalars(select(Submission)).one()
        assert submission.state == "verified", submission.reason
        row = session.get_one(RemoteTrial, left)
        assert (row.state, row.n_attempts) == ("abandoned", 3)
        [trial] = [
            t for t in submission.trials if t.rule_id == row.rule_id and t.number == row.number
        ]
        # Three boards of fifty attempts, of which at most the three that were made are none.
        assert 3 * 50 - 3 <= trial.tce <= 3 * 50
    assert len(ranked(client)) == 1


def test_an_attempt_without_a_move_is_not_closed(client, token, season):
    play = begin(client, token)
    answer = client.post(
        f"/api/remote/entries/{play['entry']}/attempts/1/close", headers=bearer(token)
    )
    assert (answer.status_code, "no move yet" in answer.text) == (409, True)


def test_nobody_closes_another_account_s_attempt(client, database, token, season):
    play = begin(client, token)
    move(client, token, (ids(play)[0], 0, [0]))
    other = make_account(database, "other", "submit")
    path = f"/api/remote/entries/{play['entry']}/attempts/1/close"
    assert client.post(path, headers=bearer(other)).status_code == 403


def test_the_end_of_the_season_closes_what_is_open(client, database, token, season, settings):
    play = begin(client, token)
    untouched = begin(client, token, "untouched")
    move(client, token, (ids(play)[0], 0, [0]))
    work_off(database, settings)
    assert client.get("/api/seasons/s1/submissions").json() == []
    with database.writing() as session:
        session.get_one(Season, season.id).closes_at = now() - datetime.timedelta(seconds=1)
    work_off(database, settings)
    with database.reading() as session:
        submission = session.scalars(select(Submission)).one()
        assert submission.state == "verified", submission.reason
        assert sum(trial.tce for trial in submission.trials) >= 4 * 3 * 50 - 1
        attempts = session.scalars(select(EntryAttempt).order_by(EntryAttempt.id)).all()
        assert [attempt.closed_at is not None for attempt in attempts] == [True, False]
    assert untouched["entry"] != play["entry"]
