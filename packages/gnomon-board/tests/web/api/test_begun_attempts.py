"""Selection by abandoning: an attempt counts from its first move, whatever becomes of it."""

from __future__ import annotations

import datetime
import re

import pytest
from sqlalchemy import select

from gnomon_board.entries import unfinished_attempts
from gnomon_board.played import close_unfinished, queue_played
from gnomon_board.schema import EntryAttempt, RemoteTrial, Season, Submission, now
from gnomon_board.standing_cache import board_of
from gnomon_board.standings import standings_of
from gnomon_board.worker import work_on_one
from remote_play import begin, hidden_season, move, play_at_random
from small_season import make_account, make_season
from submitted import bearer, register

pytestmark = pytest.mark.usefixtures("programs_here")


@pytest.fixture
def season(database) -> Season:
    return hidden_season(database)


def ids(play) -> list[int]:
    return [trial["trial"] for trial in play["trials"]]


def verify_all(database, settings) -> None:
    queue_played(database, settings)
    while work_on_one(database, settings, "worker"):
        pass


def standings(database, season):
    with database.reading() as session:
        return standings_of(board_of(session, session.get_one(Season, season.id)))


def errors_so_far(client) -> int:
    [found] = re.findall(r"(\d+) errors so far", client.get("/seasons/s1").text)
    return int(found)


def test_an_attempt_that_is_left_is_shown_and_keeps_its_entry_from_a_rank(
    client, database, token, season, settings
):
    play = begin(client, token, "chooser")
    assert standings(database, season).unranked == ()  # nothing was played
    play_at_random(client, token, ids(play)[:-1])
    move(client, token, (ids(play)[-1], 0, [0, 0, 0]))
    line = standings(database, season).unranked[0]
    assert (line.contender.name, line.why) == ("chooser", "unfinished attempt")
    assert (line.contender.n_attempts, line.contender.n_unfinished) == (1, 1)
    page = client.get("/seasons/s1").text
    assert "attempt 1 of 1 unfinished at episode 1 of 3: 3 of 4 trials done" in page
    assert "an attempt was begun and is not finished" in page
    left = errors_so_far(client)
    assert left >= 3
    # The page follows the play, though no version of the season does.
    move(client, token, (ids(play)[-1], 3, [0, 0]))
    assert errors_so_far(client) == left + 2
    assert f"{left + 2} errors so far" in client.get(f"/entries/{play['entry']}").text


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
    verify_all(database, settings)
    found = standings(database, season)
    assert {line.contender.name for line in found.ranked} == {"best", "honest"}
    [shown] = [line.contender for line in found.ranked if line.contender.name == "best"]
    assert (shown.n_begun, shown.also_begun) == (3, ("first", "second"))
    # Nor a fourth, of which the first boards were looked at and left.
    begin(client, token, "looked at")
    found = standings(database, season)
    assert {line.contender.name for line in found.ranked} == {"best", "honest"}
    [shown] = [line.contender for line in found.ranked if line.contender.name == "best"]
    assert (shown.n_begun, shown.also_begun[2:]) == (4, ("looked at",))
    [honest] = [line.contender for line in found.ranked if line.contender.name == "honest"]
    assert (honest.n_begun, honest.also_begun) == (1, ())
    page = client.get("/seasons/s1").text
    assert "ada has begun 4 attempts; other learners: first, second, looked at" in page
    assert "ada has begun 4 attempts in this season" in client.get(f"/entries/{best['entry']}").text


def test_withdrawing_an_entry_does_not_take_it_out_of_the_count(
    client, database, token, season, settings
):
    gone = begin(client, token, "gone")
    move(client, token, (ids(gone)[0], 0, [0]))
    path = f"/api/entries/{gone['entry']}/withdraw"
    answer = client.post(path, json={"reason": "a mistake"}, headers=bearer(token))
    assert answer.status_code in (200, 204), answer.text
    play_at_random(client, token, ids(begin(client, token, "kept")))
    verify_all(database, settings)
    [line] = standings(database, season).ranked
    assert (line.contender.n_begun, line.contender.also_begun) == (2, ("gone",))


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
    verify_all(database, settings)
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
    [line] = standings(database, season).ranked
    assert line.why is None
    assert "abandoned at episode 1 of 3" in client.get("/seasons/s1").text


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
    assert close_unfinished(database) == 0
    with database.writing() as session:
        session.get_one(Season, season.id).closes_at = now() - datetime.timedelta(seconds=1)
    assert close_unfinished(database) == 1
    assert close_unfinished(database) == 0
    verify_all(database, settings)
    with database.reading() as session:
        submission = session.scalars(select(Submission)).one()
        assert submission.state == "verified", submission.reason
        assert sum(trial.tce for trial in submission.trials) >= 4 * 3 * 50 - 1
        attempts = session.scalars(select(EntryAttempt).order_by(EntryAttempt.id)).all()
        assert [attempt.closed_at is not None for attempt in attempts] == [True, False]
        [left] = unfinished_attempts(session, season.id)
        assert (left.entry_id, left.closed) == (play["entry"], True)
    assert untouched["entry"] != play["entry"]


def test_a_moderator_sees_accounts_of_one_address_and_nobody_else_does(
    client, database, token, season
):
    """By the first move in a hidden season, and by what is sent in the others."""
    other = make_account(database, "other", "submit")
    make_season(database, "replayed")
    for k, secret in enumerate((token, other)):
        entry = register(client, secret, f"learner {k}", "replayed")["id"]
        log = {"log_format": "zip", "log_bytes": 1, "log_sha256": f"{k}" * 64}
        path = f"/api/entries/{entry}/attempts/1/submission"
        answer = client.put(path, json={"learner": "x"} | log, headers=bearer(secret))
        assert answer.status_code == 200, answer.text
    for name, secret in (("a", token), ("b", other)):
        move(client, secret, (ids(begin(client, secret, name))[0], 0, [0]))
    moderator = make_account(database, "mod", "moderate")
    page = client.get("/moderation", headers=bearer(moderator)).text
    shown = page.partition("from one address")[2].partition("<h2>")[0]
    assert re.findall(r">(\w+)</a>: ([\w, ]+)<", shown) == [
        ("s1", "ada, other"),
        ("replayed", "ada, other"),
    ]
    assert "from one address" not in client.get("/moderation").text
