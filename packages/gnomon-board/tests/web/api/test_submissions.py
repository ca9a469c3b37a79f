"""A submission is its attempts: taken in, replayed, and refused at the place where it differs."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from gnomon_board.database import Database
from gnomon_board.schema import Submission, VerifiedTrial
from gnomon_board.worker import work_on_one
from gohr import TrialLog
from gohr.errors import ConfigError
from gohr.experiments import read_log, score_trial
from small_season import make_account
from submitted import Log, Packed, bearer, play_entry, register, repacked, send

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True


@pytest.fixture
def packed(client, season, token, tmp_path) -> Packed:
    """The run of entry 1, a uniform player."""
    assert register(client, token, "Uniform")["id"] == 1
    return play_entry(client, 1, tmp_path)


Verdict = Callable[..., dict[str, Any]]


def trials_of(database: Database, number: int) -> list[tuple[str, int, float, int]]:
    """Return rule, number, errors and attempts of the verified trials of a submission."""
    with database.reading() as session:
        trials = session.get_one(Submission, number).trials
        return [(each.rule.name, each.number, each.tce, each.n_attempts) for each in trials]


@pytest.fixture
def verdict(client, database, settings, programs_here) -> Verdict:
    """Let a worker do what is queued, and return a submission: the first, or that of a number."""

    def worked(number: int = 1) -> dict[str, Any]:
        assert work_on_one(database, settings, "worker")
        record: dict[str, Any] = client.get(f"/api/submissions/{number}").json()
        return record

    return worked


def test_an_honest_run_is_verified(client, database, settings, token, packed):
    """By children with their limits, as a server does it."""
    sent = send(client, token, 1, packed)
    assert sent.status_code == 202
    assert sent.json()["state"] == "queued"
    assert sent.json()["ahead"] == 0
    assert work_on_one(database, settings, "worker")
    record = client.get("/api/submissions/1").json()
    assert record["state"] == "verified", record["reason"]
    trials = trials_of(database, 1)
    log = read_log(packed.log)
    errors = {(*key, score_trial(trial, "tce")) for key, trial in log.items()}
    assert {each[:3] for each in trials} == errors
    assert len(trials) == 4
    assert record["n_attempts"] == sum(n_attempts for *_, n_attempts in trials)
    log = client.get("/api/submissions/1/log")
    assert log.content == packed.log
    assert not work_on_one(database, settings, "worker")


def test_a_flipped_move_is_refused_where_it_stands(client, token, packed, verdict):
    # An accepted one, of a rule that accepts each piece in one bucket alone: a denied attempt may
    # be denied elsewhere too, and then the log tells of another game that is as true.
    log = read_log(packed.log)["color-match", 1]
    row = int(np.flatnonzero(log.outcomes == 0)[10])
    episode = int(np.searchsorted(np.cumsum(log.n_attempts), row, side="right"))
    attempt = row - int(log.n_attempts[:episode].sum()) + 1

    def flipped(trials: Log) -> Log:
        actions = trials["color-match", 1].actions
        actions[row] ^= 1
        return trials

    # All that the attempts come to is told as before.
    assert send(client, token, 1, repacked(packed, flipped)).status_code == 202
    record = verdict()
    assert record["state"] == "refused"
    place = f"rule color-match, trial 1, episode {episode}, attempt {attempt}: "
    assert record["reason"].startswith(place), (record["reason"], place)


def test_more_rows_than_there_can_be_attempts_are_not_read(client, token, packed, verdict):
    """Two rules, two trials, three episodes, and a horizon of 50."""
    log = read_log(packed.log)["clockwise", 0]
    n_attempts = np.array([1000])
    long = TrialLog(log.boards[:1], n_attempts, *np.zeros((2, 1000), np.uint8), log.finish[:1])
    sent = repacked(packed, lambda trials: {("clockwise", 0): long})
    assert send(client, token, 1, sent).status_code == 202
    assert verdict()["reason"] == "expected at most 600 attempts, found more"


@pytest.mark.parametrize("announced", [62 << 20, 1000])
def test_more_bytes_than_so_many_attempts_take_are_not_taken(client, token, packed, announced):
    """A log that is announced as too large is refused then, with the remedy; else as it comes."""
    packed.manifest["log_bytes"] = announced
    answer = send(client, token, 1, replace(packed, log=bytes(62 << 20)))
    assert answer.status_code == 413
    if announced > 1000:
        assert "season spring has at most 600 attempts" in answer.json()["detail"]


def test_one_log_of_an_account_is_taken_at_a_time(app, client, database, token, packed, tmp_path):
    with app.state.intake.uploads.held(1):
        answer = send(client, token, 1, packed)
        assert answer.status_code == 429
        assert answer.headers["Retry-After"] == "5"
        assert answer.json()["detail"].startswith("another log of this account is being sent")
        eve = make_account(database, "eve", "submit")
        register(client, eve, "Eve's")
        assert send(client, eve, 2, play_entry(client, 2, tmp_path / "eve")).status_code == 202
    assert send(client, token, 1, packed).status_code == 202


def test_a_missing_trial_is_refused(client, token, packed, verdict):
    less = repacked(packed, lambda log: {k: x for k, x in log.items() if k != ("clockwise", 1)})
    assert send(client, token, 1, less).status_code == 202
    record = verdict()
    assert record["state"] == "refused"
    assert record["reason"].startswith("rule clockwise, trial 1: missing")


def test_boards_that_were_not_assigned_are_refused(client, token, packed, verdict):
    # The run of entry 1 is sent for entry 2, whose seed is another.
    register(client, token, "Another")
    assert send(client, token, 2, packed).status_code == 202
    record = verdict()
    assert record["state"] == "refused"
    assert record["reason"].startswith("rule clockwise, trial 0, episode 0")
    assert "board" in record["reason"]


@pytest.mark.parametrize("n", [200_000, 105])
def test_a_log_of_many_members_is_refused_before_it_is_opened(client, token, packed, verdict, n):
    """It took 7.4 s and 385 MB; a season of four trials takes four members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for k in range(n):
            archive.writestr(zipfile.ZipInfo(f"{k}"), b"")
    log = out.getvalue()
    sent = Packed.of(packed.config, packed.manifest, log)
    # Of the full number alone the directory is larger than the log of any run of this season.
    if n > 105:
        assert send(client, token, 1, sent).status_code == 413
        began = time.process_time()
        with pytest.raises(ConfigError, match="expected at most 4 trials, found more"):
            read_log(log, max_trials=4)
        assert time.process_time() - began < 1
    else:
        assert send(client, token, 1, sent).status_code == 202
        assert verdict()["reason"] == "expected at most 4 trials, found more"


@pytest.mark.usefixtures("programs_here")
def test_the_same_log_twice_names_the_earlier_submission(client, token, packed):
    assert send(client, token, 1, packed).status_code == 202
    # For the same attempt it is the same submission: whoever lost the answer asks again.
    again = send(client, token, 1, packed)
    assert (again.status_code, again.json()["id"]) == (200, 1)
    register(client, token, "Another")
    other = send(client, token, 2, packed)
    assert other.status_code == 409
    assert other.json()["detail"] == "this log was already sent: submission 1"


def test_the_log_of_another_entry_packed_otherwise_has_other_boards(client, token, packed, verdict):
    register(client, token, "Copy")
    assert send(client, token, 2, repacked(packed, stored=True)).status_code == 202
    record = verdict()
    assert (record["state"], "board" in record["reason"]) == ("refused", True), record


def test_a_name_leads_its_account_alone_to_the_entry(client, season, token, admin_token):
    entry = register(client, token, "Mine")
    assert register(client, token, "Mine") == entry
    path, other = "/api/seasons/spring/entries", bearer(admin_token)
    refused = client.post(path, json={"name": "Mine"}, headers=other)
    assert (refused.status_code, "is taken" in refused.text) == (409, True)
    # Nor does an administrator begin an attempt of another account.
    path = f"/api/entries/{entry['id']}/attempts"
    assert client.post(path, headers=other).status_code == 403


def test_an_attempt_is_used_up_and_the_next_one_has_other_boards(
    client, database, settings, token, packed, tmp_path, verdict
):
    early = client.post("/api/entries/1/attempts", headers=bearer(token))
    assert early.status_code == 409
    send(client, token, 1, packed)
    second = client.post("/api/entries/1/attempts", headers=bearer(token)).json()
    seeds = [attempt["seed"] for attempt in second["attempts"]]
    assert len(set(seeds)) == 2
    other = repacked(packed, stored=True)
    assert send(client, token, 1, other).status_code == 409
    packed = play_entry(client, 1, tmp_path / "2", attempt=2)
    assert send(client, token, 1, packed, attempt=2).status_code == 202
    work_on_one(database, settings, "worker")
    record = verdict(2)
    assert (record["state"], record["attempt"], record["n_attempts_of_entry"]) == ("verified", 2, 2)


def test_a_withdrawn_submission_stays(client, database, token, admin_token, packed, verdict):
    send(client, token, 1, packed)
    verdict()
    stranger = bearer(make_account(database, "eve", "submit"))
    path, why = "/api/submissions/1/withdraw", {"reason": "a bug in my learner"}
    for other in (stranger, bearer(admin_token)):
        assert client.post(path, json=why, headers=other).status_code == 403
    record = client.post(path, json=why, headers=bearer(token)).json()
    assert (record["state"], record["reason"]) == ("withdrawn", "a bug in my learner")
    assert client.post(path, json=why, headers=bearer(token)).status_code == 409
    assert len(trials_of(database, 1)) == 4
    assert client.get("/api/seasons/spring/submissions").json()[0]["state"] == "withdrawn"
    assert "submission withdrawn" in client.get("/moderation").text


def test_moderators_refuse_and_verify_again(client, database, token, packed, verdict):
    send(client, token, 1, packed)
    verdict()
    moderator = bearer(make_account(database, "mo", "moderate"))
    path = "/api/submissions/1/refuse"
    assert client.post(path, json={"reason": "x"}, headers=bearer(token)).status_code == 403
    assert client.post(path, json={"reason": ""}, headers=moderator).status_code == 422
    record = client.post(path, json={"reason": "under review"}, headers=moderator).json()
    assert (record["state"], record["reason"]) == ("refused", "under review")
    record = client.post("/api/submissions/1/requeue", headers=moderator).json()
    assert record["state"] == "queued"
    assert verdict()["state"] == "verified"
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(VerifiedTrial)) == 4


def test_every_change_is_a_new_version_of_the_season(client, token, packed, verdict):
    def version() -> int:
        found: int = client.get("/api/seasons/spring").json()["version"]
        return found

    versions = [version()]
    send(client, token, 1, packed)
    versions.append(version())
    verdict()
    versions.append(version())
    client.post("/api/submissions/1/withdraw", json={}, headers=bearer(token))
    versions.append(version())
    assert versions == sorted(set(versions))


@pytest.mark.usefixtures("programs_here")
def test_what_is_not_the_announced_log_is_refused_and_the_attempt_stays(
    client, settings, token, packed
):
    path = "/api/entries/1/attempts/1/submission"
    client.put(path, json=packed.manifest, headers=bearer(token))
    for wrong in (packed.log[:-1], b"", packed.log + b"\n"):
        answer = client.put("/api/submissions/1/log", content=wrong, headers=bearer(token))
        assert answer.status_code == 422
        assert "expected the bytes with SHA-256" in answer.json()["detail"]
    assert client.get("/api/submissions/1").json()["state"] == "uploading"
    assert client.get("/api/submissions/1/log").status_code == 404
    assert send(client, token, 1, packed).status_code == 202
    assert not list(settings.incoming.iterdir())
    sha256 = packed.manifest["log_sha256"]
    assert [path.name for path in settings.evidence.glob("*/*")] == [sha256]
