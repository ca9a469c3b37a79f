"""Nothing can be stuck without a word: leases, heartbeats, attempts, reasons."""

from __future__ import annotations

import datetime
import threading
from dataclasses import replace

import pytest
from sqlalchemy import update

from gnomon_board import Settings, token_for
from gnomon_board import jobs as queue
from gnomon_board.database import Database
from gnomon_board.schema import Season, Submission, now
from gnomon_board.worker import work_on_one
from small_season import add_submission, make_account
from submitted import bearer

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True


@pytest.fixture
def queued(database, settings, season) -> list[int]:
    """Three submissions that wait."""
    make_account(database, "ada", "submit")
    return [queue_one(database, settings, season, k) for k in range(3)]


def queue_one(database: Database, settings: Settings, season: Season, k: int) -> int:
    number = add_submission(database, settings, season, k).id
    with database.writing() as session:
        submission = session.get_one(Submission, number)
        submission.state, submission.queued_at = "queued", now()
    return number


def look(database: Database, number: int) -> tuple[str, str]:
    with database.reading() as session:
        submission = session.get_one(Submission, number)
        return submission.state, submission.reason


def age(database: Database, **columns: datetime.timedelta) -> None:
    """Let the submissions be older than they are."""
    with database.writing() as session:
        for name, by in columns.items():
            session.execute(update(Submission).values({name: now() - by}))


def test_first_come_first_served_and_each_once(database, queued):
    claims = [queue.claim(database, f"w{k}", lease_s=60) for k in range(4)]
    assert [held.submission_id for held in claims if held] == queued
    assert claims[3] is None
    assert look(database, queued[0]) == ("verifying", "by w0")


def test_many_workers_at_once_share_without_a_double(database, settings, season, queued):
    more = queued + [queue_one(database, settings, season, k) for k in range(3, 12)]
    taken: list[int] = []

    def take(name: str) -> None:
        while (held := queue.claim(database, name, lease_s=60)) is not None:
            taken.append(held.submission_id)

    threads = [threading.Thread(target=take, args=(f"w{k}",)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(taken) == more


def test_the_place_in_the_queue(database, queued):
    for in_one_moment in (False, True):
        if in_one_moment:
            age(database, queued_at=datetime.timedelta())
        with database.reading() as session:
            waiting = [session.get_one(Submission, number) for number in queued]
            assert [queue.place_in_queue(session, each) for each in waiting] == [0, 1, 2]


def test_a_lease_that_ran_out_goes_to_the_next_worker(database, settings, queued):
    held = queue.claim(database, "dead", lease_s=60)
    assert held is not None
    assert queue.sweep(database, settings) == 0
    age(database, lease_until=datetime.timedelta(seconds=1))
    assert queue.sweep(database, settings) == 1
    state, reason = look(database, queued[0])
    assert state == "queued"
    assert reason.startswith("again, after try 1: no heartbeat of dead since")
    second = queue.claim(database, "alive", lease_s=60)
    assert second is not None
    assert (second.submission_id, second.n_tries) == (queued[0], 2)
    # The first one, should it live after all, may neither go on nor write.
    with pytest.raises(queue.LeaseLostError):
        queue.heartbeat(database, held, lease_s=60)
    with pytest.raises(queue.LeaseLostError), database.writing() as session:
        queue.held_submission(session, held)
    queue.heartbeat(database, second, lease_s=60)


def test_after_three_attempts_it_is_an_error_with_the_reason(database, settings, queued):
    for _ in range(settings.max_job_attempts):
        held = queue.claim(database, "w", lease_s=60)
        assert held is not None
        assert held.submission_id == queued[0]
        queue.give_back(database, held, "it ran out of memory", most=settings.max_job_attempts)
    assert look(database, queued[0]) == (
        "error",
        "given up after 3 tries; the last: it ran out of memory",
    )
    held = queue.claim(database, "w", lease_s=60)
    assert held is not None
    assert held.submission_id == queued[1]


def test_what_no_worker_takes_is_an_error_after_a_day(database, settings, queued):
    age(database, seen_at=datetime.timedelta(hours=25))
    assert queue.sweep(database, settings) == 3
    assert look(database, queued[2]) == ("error", "no worker took it within 24 hours")


def test_the_waiting_before_a_failed_attempt_does_not_count(database, settings, queued):
    age(database, seen_at=datetime.timedelta(hours=25))
    held = queue.claim(database, "w", lease_s=60)
    assert held is not None
    queue.give_back(database, held, "it was killed", most=settings.max_job_attempts)
    assert queue.sweep(database, settings) == 2
    assert look(database, queued[0]) == ("queued", "again, after try 1: it was killed")


def test_days_without_a_worker_do_not_count(database, settings, queued):
    """A job that was queued three days ago is done by the worker that starts today."""
    for columns in ("queued_at",), ("queued_at", "seen_at"):
        age(database, **dict.fromkeys(columns, datetime.timedelta(days=3)))
        queue.see(database, anew=True)
        assert queue.sweep(database, settings) == 0
    queue.see(database, anew=False)
    age(database, seen_at=datetime.timedelta(hours=25))
    queue.see(database, anew=False)
    assert queue.sweep(database, settings) == 3


def test_a_server_without_a_worker_lets_jobs_wait(database, settings, queued):
    age(database, queued_at=datetime.timedelta(days=3))
    assert queue.sweep(database, settings) == 0
    assert look(database, queued[0])[0] == "queued"


def test_what_is_withdrawn_meanwhile_is_not_written(client, database, queued):
    held = queue.claim(database, "w", lease_s=60)
    assert held is not None
    token = token_for(database, "ada", ["submit"])
    path, why = f"/api/submissions/{queued[0]}/withdraw", {"reason": "mine"}
    assert client.post(path, json=why, headers=bearer(token)).status_code == 200
    with pytest.raises(queue.LeaseLostError), database.writing() as session:
        queue.held_submission(session, held)
    assert look(database, queued[0]) == ("withdrawn", "mine")


def test_a_failure_of_the_server_is_told_and_tried_again(database, settings, queued):
    settings = replace(settings, max_job_attempts=2, verify_memory_mb=300)
    for _ in range(2):
        assert work_on_one(database, settings, "w")
    state, reason = look(database, queued[0])
    assert state == "error"
    assert reason.startswith("given up after 2 tries; the last: it ")


def test_a_worker_that_is_stopped_costs_a_submission_no_attempt(database, settings, queued):
    settings = replace(settings, heartbeat_s=0.05, max_job_attempts=1)
    stopped = threading.Event()
    stopped.set()
    for _ in range(2):
        assert work_on_one(database, settings, "w", stopped)
        state, reason = look(database, queued[0])
        assert state == "queued"
        assert reason.endswith("the worker was stopped")
