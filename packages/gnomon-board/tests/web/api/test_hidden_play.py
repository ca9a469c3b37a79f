"""The hidden division over HTTP: the rule stays, and no board is played twice."""

from __future__ import annotations

import datetime
import json
import os
import re

import numpy as np
import pytest
from sqlalchemy import select

import gohr
from gnomon_board.schema import AuditRecord, EntryAttempt, RemoteTrial, Season, Submission
from gohr import BoardSpec, ExperimentConfig
from gohr.experiments import read_log, verify_log
from gohr.learners import RulePlayer
from remote_play import (
    SECRET_TEXTS,
    assigned,
    begin,
    hidden_season,
    ids,
    move,
    play_at_random,
    work_off,
)
from small_season import make_account
from submitted import bearer, register

pytestmark = pytest.mark.usefixtures("programs_here")


@pytest.fixture
def play(client, database, token):
    hidden_season(database)
    return begin(client, token)


def test_an_attempt_is_begun_once(client, token, play, database):
    assert play["season"] == "s1"
    assert (play["episodes"], play["horizon"]) == (3, 50)
    trials = play["trials"]
    assert {(t["number"], t["state"], t["position"]) for t in trials} == {(0, "playing", 0)}
    assert len({t["rule"] for t in trials}) == len(trials) == 4
    again = client.post(f"/api/remote/entries/{play['entry']}/attempts/1", headers=bearer(token))
    assert again.json() == play
    with database.reading() as session:
        assert len(session.scalars(select(RemoteTrial.id)).all()) == 4


def test_no_account_is_dealt_a_rule_twice(client, database, token):
    """One learner that kept what it had learned made 203 errors, then 9, 1, 6, 0 on a rule."""
    hidden_season(database)
    other = make_account(database, "other", "submit")
    dealt = [
        [trial["rule"] for trial in begin(client, token, f"learner {k}")["trials"]]
        for k in range(12)
    ]
    assert len({rule for rules in dealt for rule in rules}) == 12 * 4 == len(SECRET_TEXTS)
    refused = client.post(
        "/api/seasons/s1/entries", json={"name": "one more"}, headers=bearer(token)
    )
    assert (refused.status_code, "0 are left" in refused.text) == (403, True)
    # Another account gets rules of its own, by another draw.
    assert [t["rule"] for t in begin(client, other)["trials"]] not in dealt


def test_first_boards_are_told_and_the_boards_are_the_assigned_ones(
    client, token, play, database, tmp_path
):
    answer = move(client, token, *[(trial, 0, []) for trial in ids(play)])
    replies = answer.json()["replies"]
    assignment = assigned(client, database, play["entry"], tmp_path)
    for trial, reply in zip(play["trials"], replies, strict=True):
        rule = next(rule for rule in assignment.rules if rule.name == trial["rule"])
        boards = assignment.deal(rule, trial["number"])
        assert reply["dealt"] == [boards[0].tolist()]
        assert (reply["outcomes"], reply["episode"], reply["over"]) == ([], 0, False)


def test_a_whole_attempt_becomes_a_verified_submission(client, token, play, database, settings):
    made = play_at_random(client, token, ids(play))
    for _ in range(2):
        work_off(database, settings)
    with database.reading() as session:
        submission = session.scalars(select(Submission)).one()
        assert (submission.state, submission.origin) == ("verified", "server"), submission.reason
        assert submission.n_attempts == made
        assert len(submission.trials) == 4
        assert sum(trial.n_attempts for trial in submission.trials) == made
        rows = session.scalars(select(RemoteTrial)).all()
        assert {row.state for row in rows} == {"done"}
        played = {(row.rule_id, row.number, len(row.actions)) for row in rows}
        assert played == {(t.rule_id, t.number, t.n_attempts) for t in submission.trials}
    again = client.post(f"/api/entries/{play['entry']}/attempts", headers=bearer(token))
    assert again.status_code == 201
    assert len(again.json()["attempts"]) == 2


def test_one_attempt_that_cannot_be_submitted_keeps_no_other_back(
    client, token, play, database, settings, monkeypatch
):
    play_at_random(client, token, ids(play))
    other = begin(client, token, "other")
    play_at_random(client, token, ids(other))
    whole, disk = os.replace, iter([OSError("the disk is gone")])

    def broken(*paths):
        for error in disk:
            raise error
        whole(*paths)

    monkeypatch.setattr(os, "replace", broken)
    work_off(database, settings)
    with database.reading() as session:
        (submission,) = session.scalars(select(Submission)).all()
        assert submission.learner == "other"
    work_off(database, settings)
    assert len(client.get("/api/seasons/s1/submissions").json()) == 2


def test_attempts_are_played_on_other_boards_each_time(client, token, play, database, settings):
    first = move(client, token, (ids(play)[0], 0, [])).json()["replies"][0]["dealt"]
    play_at_random(client, token, ids(play))
    work_off(database, settings)
    client.post(f"/api/entries/{play['entry']}/attempts", headers=bearer(token))
    second = client.post(
        f"/api/remote/entries/{play['entry']}/attempts/2", headers=bearer(token)
    ).json()
    assert not set(ids(second)) & set(ids(play))
    dealt = move(client, token, (ids(second)[0], 0, [])).json()["replies"][0]["dealt"]
    assert dealt != first


def test_an_attempt_that_is_half_played_is_not_submitted(client, token, play, database, settings):
    play_at_random(client, token, ids(play)[:3])
    work_off(database, settings)
    assert client.get("/api/seasons/s1/submissions").json() == []


def test_a_move_that_is_sent_twice_is_made_once(client, token, play, database):
    trial = ids(play)[0]
    first = move(client, token, (trial, 0, [0, 1, 2, 3, 4])).json()
    again = move(client, token, (trial, 0, [0, 1, 2, 3, 4])).json()
    assert first == again
    overlapping = move(client, token, (trial, 3, [3, 4, 5, 6])).json()["replies"][0]
    assert overlapping["position"] == 7
    assert overlapping["outcomes"][:2] == first["replies"][0]["outcomes"][3:]
    with database.reading() as session:
        row = session.get_one(RemoteTrial, trial)
        assert (row.n_attempts, row.actions) == (7, bytes(range(7)))


def test_first_boards_are_told_at_any_time(client, token, play):
    """So that a run that was stopped can be begun again."""
    begun, played = ids(play)[:2]
    before = move(client, token, (begun, 0, []), (played, 0, [])).json()
    move(client, token, (begun, 0, [5, 6, 7]))
    play_at_random(client, token, [played])
    assert move(client, token, (begun, 0, []), (played, 0, [])).json() == before


def test_what_was_attempted_cannot_be_taken_back(client, token, play):
    trial = ids(play)[0]
    move(client, token, (trial, 0, [0, 1, 2]))
    other = move(client, token, (trial, 1, [7]))
    assert other.status_code == 409
    assert "expected action 1 as at first at position 1, found 7" in other.json()["detail"]
    ahead = move(client, token, (trial, 5, [7]))
    assert ahead.status_code == 409
    assert "expected a move at position 3 or before, found 5" in ahead.json()["detail"]


def test_a_message_is_carried_out_whole_or_not_at_all(client, token, play, database):
    first, second = ids(play)[:2]
    refused = move(client, token, (first, 0, [0, 1]), (second, 9, [0]))
    assert refused.status_code == 409
    with database.reading() as session:
        assert session.get_one(RemoteTrial, first).n_attempts == 0
    # Memory was not left ahead of the database.
    assert move(client, token, (first, 0, [3])).json()["replies"][0]["position"] == 1
    twice = move(client, token, (first, 1, [0]), (first, 1, [0]))
    assert twice.status_code == 409


def test_a_server_that_forgets_goes_on_where_it_was(client, app, token, play):
    """As after a kill: memory is gone, and the database has it all."""
    trial = ids(play)[2]
    rng = np.random.default_rng(5)
    position, told = 0, []
    while True:
        app.state.board.trials.take(trial) if position else None
        reply = move(client, token, (trial, position, rng.integers(144, size=7).tolist()))
        told.append(reply.json()["replies"][0])
        position = told[-1]["position"]
        if told[-1]["over"]:
            break
    assert told[-1]["episode"] == 3
    assert sum(each["ended"] for each in told) == 3


# -- whose trial it is, and when -------------------------------------------------------------------


def test_another_account_neither_sees_nor_plays_a_trial(client, database, play):
    other = make_account(database, "eve", "submit")
    trial = ids(play)[0]
    answer = move(client, other, (trial, 0, [1]))
    assert answer.status_code == 404
    assert answer.json()["detail"] == f"there is no trial {trial} of this account"
    missing = move(client, other, (9999, 0, [1]))
    assert missing.json()["detail"] == "there is no trial 9999 of this account"
    path = f"/api/remote/entries/{play['entry']}/attempts/1"
    assert client.post(path, headers=bearer(other)).status_code == 403


def test_nobody_plays_without_a_token(client, play):
    trial = ids(play)[0]
    body = {"moves": [{"trial": trial, "position": 0, "actions": []}]}
    assert client.post("/api/remote/moves", json=body).status_code == 401
    assert client.post(f"/api/remote/entries/{play['entry']}/attempts/1").status_code == 401


def change_season(database, **changes):
    with database.writing() as session:
        season = session.scalars(select(Season)).one()
        for name, value in changes.items():
            setattr(season, name, value)


EARLIER, LATER = (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) for year in (2020, 2999))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"closes_at": EARLIER}, "closed on 2020-01"),
        ({"opens_at": LATER}, "opens on 2999-01"),
        ({"opens_at": LATER, "closes_at": EARLIER}, "closed on 2020-01"),
    ],
)
def test_nobody_plays_when_the_season_is_not_open(client, token, play, database, changes, reason):
    assert move(client, token, (ids(play)[0], 0, [1])).status_code == 200
    change_season(database, **changes)
    answer = move(client, token, (ids(play)[0], 1, [1]))
    assert answer.status_code == 403
    assert reason in answer.json()["detail"]
    path = f"/api/remote/entries/{play['entry']}/attempts/1"
    assert client.post(path, headers=bearer(token)).status_code == 403


def test_other_divisions_are_not_played_here(client, token, season):
    entry = register(client, token, "player")
    path = f"/api/remote/entries/{entry['id']}/attempts/1"
    answer = client.post(path, headers=bearer(token))
    assert answer.status_code == 403
    assert "of the replayed division" in answer.json()["detail"]
    assert client.post(f"{path}9", headers=bearer(token)).status_code in (403, 404)


# -- what is no move -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "move",
    [
        {"trial": 1, "position": 0, "actions": [144]},
        {"trial": 1, "position": 0, "actions": [-1]},
        {"trial": 1, "position": 0, "actions": [1.5]},
        {"trial": 1, "position": 0, "actions": [True]},
        {"trial": 1, "position": 0, "actions": ["1"]},
        {"trial": 1, "position": 0, "actions": [None]},
        {"trial": 1, "position": 0, "actions": [10**400]},
        {"trial": 1, "position": 0, "actions": [1] * 257},
        {"trial": 1, "position": 0, "actions": {}},
        {"trial": 1, "position": -1, "actions": []},
        {"trial": 1, "position": 2**31, "actions": []},
        {"trial": 0, "position": 0, "actions": []},
        {"trial": 2**31, "position": 0, "actions": []},
        {"trial": 1.0, "position": 0, "actions": []},
        {"trial": 1, "position": 0},
        {"trial": 1, "position": 0, "actions": [], "rule": "x"},
        [],
        None,
    ],
)
def test_what_is_no_move_is_refused(client, token, move):
    answer = client.post("/api/remote/moves", json={"moves": [move]}, headers=bearer(token))
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]


def test_too_many_attempts_in_a_message_are_refused(client, token):
    moves = [{"trial": i, "position": 0, "actions": [1] * 256} for i in range(1, 18)]
    answer = client.post("/api/remote/moves", json={"moves": moves}, headers=bearer(token))
    assert answer.status_code == 422
    assert "expected at most 4096 attempts, found 4352" in answer.json()["detail"]


@pytest.mark.parametrize("body", [b"", b"{}", b"[", b'{"moves": []}', b'{"moves": [NaN]}'])
def test_what_is_no_message_is_refused(client, token, body):
    headers = bearer(token) | {"Content-Type": "application/json"}
    assert client.post("/api/remote/moves", content=body, headers=headers).status_code == 422


# -- what must not be told -------------------------------------------------------------------------


def told_by_every_endpoint(client, token, play) -> str:
    """Return all that the server says about the season, to its player and to anybody."""
    entry = play["entry"]
    answers = [
        json.dumps(play),
        move(client, token, *[(t, 0, list(range(20))) for t in ids(play)]).text,
    ]
    for path in (
        "/api/seasons",
        "/api/seasons/s1",
        "/api/seasons/s1/entries",
        "/api/seasons/s1/submissions",
        f"/api/entries/{entry}/attempts/1/config",
        "/openapi.json",
    ):
        answers.append(client.get(path, headers=bearer(token)).text)
    return "\n".join(answers)


def test_no_endpoint_tells_the_rule_or_the_seed(client, token, play, database):
    told = told_by_every_endpoint(client, token, play)
    with database.reading() as session:
        seed = session.scalars(select(EntryAttempt.seed)).one()
        kept = [json.dumps(r.detail) for r in session.scalars(select(AuditRecord))]
    for secret in (*SECRET_TEXTS, "shape:star", "bucket:[1,3]", str(seed), "5a" * 32):
        assert secret not in told
        assert all(secret not in text for text in kept)


def test_no_message_tells_more_than_the_outcomes(client, token, play):
    """The fields of a reply are these, and each is what the game tells a player."""
    reply = move(client, token, (ids(play)[1], 0, [0, 1, 2])).json()["replies"][0]
    fields = {"trial", "position", "outcomes", "finish", "ended", "episode", "dealt", "over"}
    assert set(reply) == fields
    assert set(reply["outcomes"]) <= {0, 3, 4, 7}


def test_two_rules_that_answer_alike_are_told_alike(client, token, database, tmp_path):
    """A message depends on the outcomes alone: a rule that answers the same gets the same bytes."""
    hidden_season(database)
    play = begin(client, token)
    trial = play["trials"][1]["trial"]
    assignment = assigned(client, database, play["entry"], tmp_path)
    rule = next(each for each in assignment.rules if each.name == play["trials"][1]["rule"])
    boards = assignment.deal(rule, 0)
    log = gohr.play(
        boards, RulePlayer(rng=np.random.default_rng(0)), rule.rule_set, board_spec=BoardSpec()
    )
    reply = move(client, token, (trial, 0, log.actions[:9].tolist())).json()["replies"][0]
    assert reply == {
        "trial": trial,
        "position": 9,
        "outcomes": [0] * 9,
        "finish": 1,
        "ended": True,
        "episode": 1,
        "dealt": [boards[1].tolist()],
        "over": False,
    }


def test_after_the_reveal_anybody_can_replay(client, token, play, database, settings, tmp_path):
    play_at_random(client, token, ids(play))
    work_off(database, settings)
    config = f"/api/entries/{play['entry']}/attempts/1/config"
    assert client.get(config).status_code == 403
    (submission,) = client.get("/api/seasons/s1/submissions").json()
    log = f"/api/submissions/{submission['id']}/log"
    assert client.get(log).status_code == 403
    moment = datetime.datetime.now(datetime.UTC)
    change_season(database, revealed_at=moment, closes_at=moment)
    (tmp_path / "assigned.toml").write_text(client.get(config).text)
    assigned = ExperimentConfig.from_toml(tmp_path / "assigned.toml", trusted=False)
    verdicts = list(verify_log(read_log(client.get(log).content), assigned))
    assert len(verdicts) == 4
    assert all(verdict.ok for verdict in verdicts)
    # A replay without a choice shows the first of the rules that were dealt, and offers these.
    dealt = sorted(trial["rule"] for trial in play["trials"])
    assert dealt[0] != "s1-h00"
    page = client.get(f"/submissions/{submission['id']}/replay").text
    assert f"<h1>{dealt[0]}, trial 0</h1>" in page
    assert re.findall(r">(s1-h\d+)</option>", page) == dealt


def test_after_the_reveal_everything_is_told(client, database, play):
    assert client.get("/api/seasons/s1").json()["salt"] is None
    moment = datetime.datetime.now(datetime.UTC)
    change_season(database, revealed_at=moment, closes_at=moment)
    told = client.get("/api/seasons/s1").json()
    assert [rule["text"] for rule in told["rules"]] == SECRET_TEXTS
    assert told["salt"] == "5a" * 32
