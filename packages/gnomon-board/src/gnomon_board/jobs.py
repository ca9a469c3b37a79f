"""A job queue in the database, with leases, heartbeats and bounded retries.

A worker takes a job with a *lease* and prolongs it with every heartbeat. A job whose lease has
expired goes to the next worker; after a few attempts it ends as an error with a reason. No job
waits for a dead worker.

Every transaction locks the row of the submission before that of its job, to prevent deadlocks.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, select, update
from sqlalchemy.orm import Session

from gnomon_board.database import Database
from gnomon_board.schema import Job, Submission, now
from gnomon_board.settings import Settings
from gnomon_board.submissions import set_state

#: Longest wait of a job for a worker, and of an announced submission for its log.
_MAX_WAIT = datetime.timedelta(hours=24)


class LeaseLostError(Exception):
    """The lease of a job expired, or another process ended the job."""


@dataclass(frozen=True)
class HeldJob:
    """A job that a worker holds; ``n_attempts`` counts this attempt too."""

    job_id: int
    submission_id: int
    owner: str
    n_attempts: int


def claim(database: Database, owner: str, *, lease_s: float) -> HeldJob | None:
    """Take the job that has waited longest; None if none waits."""
    with database.writing() as session:
        waiting = _with_submissions(Job.state == "queued").order_by(Job.id).limit(1)
        # PostgreSQL skips rows that another worker locks; in SQLite writers take turns.
        job = session.scalar(waiting.with_for_update(skip_locked=True))
        if job is None:
            return None
        job.state, job.lease_owner = "running", owner
        job.n_attempts += 1
        job.reason = ""
        job.started_at = job.heartbeat_at = now()
        job.lease_until = now() + datetime.timedelta(seconds=lease_s)
        submission = session.get_one(Submission, job.submission_id)
        again = f", attempt {job.n_attempts}" if job.n_attempts > 1 else ""
        set_state(session, submission, "verifying", f"by {owner}{again}")
        return HeldJob(job.id, job.submission_id, owner, job.n_attempts)


def heartbeat(database: Database, held: HeldJob, *, lease_s: float) -> None:
    """Renew the lease."""
    with database.writing() as session:
        kept = session.execute(
            update(Job)
            .where(Job.id == held.job_id, *_is_held(held))
            .values(heartbeat_at=now(), lease_until=now() + datetime.timedelta(seconds=lease_s))
            .returning(Job.id)
        ).first()
        if kept is None:
            raise LeaseLostError(f"job {held.job_id}")


def finish(session: Session, held: HeldJob) -> Submission:
    """End a job, in the transaction that writes its result."""
    job = _held_job(session, held)
    if job is None:
        raise LeaseLostError(f"job {held.job_id}")
    job.state, job.reason, job.finished_at = "done", "", now()
    job.lease_owner = job.lease_until = None
    return session.get_one(Submission, job.submission_id)


def give_back(database: Database, held: HeldJob, reason: str, *, most: int) -> None:
    """Return a job that failed to the queue; after the last attempt it is an error."""
    with database.writing() as session:
        job = _held_job(session, held)
        if job is not None:
            _retry_or_fail(session, job, reason, most)


def release(database: Database, owner: str, reason: str, *, most: int) -> None:
    """Return the jobs of a dead worker to the queue."""
    with database.reading() as session:
        running = select(Job).where(Job.state == "running", Job.lease_owner == owner)
        jobs = session.scalars(running).all()
    for job in jobs:
        held = HeldJob(job.id, job.submission_id, owner, job.n_attempts)
        give_back(database, held, reason, most=most)


def see(database: Database, *, anew: bool) -> None:
    """Record that a worker saw the waiting jobs; their age is counted from this time.

    With ``anew``, for a worker that starts, reset the time for jobs seen before too, so that days
    without a worker do not count.
    """
    unseen = (Job.state == "queued") if anew else (Job.state == "queued") & Job.seen_at.is_(None)
    with database.reading() as session:
        if session.scalar(select(Job.id).where(unseen).limit(1)) is None:
            return
    with database.writing() as session:
        session.execute(update(Job).where(unseen).values(seen_at=now()))


_NEVER_CAME = "its log was announced but did not arrive within 24 hours"


def sweep(database: Database, settings: Settings) -> int:
    """Requeue or fail what is stuck, with a reason; return the number of jobs and submissions.

    Stuck are jobs whose lease has expired, jobs that no worker took within a day of seeing them,
    and submissions whose log did not arrive within a day of its announcement.
    """
    moment = now()
    expired = (Job.state == "running") & (Job.lease_until < moment)
    overdue = (Job.state == "queued") & (Job.seen_at < moment - _MAX_WAIT)
    silent = (
        (Submission.state == "uploading")
        & (Submission.changed_at < moment - _MAX_WAIT)
        & (Submission.reason != _NEVER_CAME)
    )
    with database.reading() as session:  # usually there is nothing to write
        stuck = select(Job.id).where(expired | overdue).limit(1)
        if not (session.scalar(stuck) or session.scalar(select(Submission.id).where(silent))):
            return 0
    found = 0
    with database.writing() as session:
        for job in session.scalars(_with_submissions(expired).with_for_update(skip_locked=True)):
            reason = f"no heartbeat of {job.lease_owner} since {job.heartbeat_at:%H:%M:%S} UTC"
            _retry_or_fail(session, job, reason, settings.max_job_attempts)
            found += 1
        for job in session.scalars(_with_submissions(overdue).with_for_update(skip_locked=True)):
            _fail(session, job, "no worker took it within 24 hours")
            found += 1
        waiting = select(Submission).where(silent).with_for_update(skip_locked=True)
        for submission in session.scalars(waiting):
            # It stays open: the log may still arrive.
            set_state(session, submission, "uploading", _NEVER_CAME)
            found += 1
    return found


def place_in_queue(session: Session, submission_id: int) -> int | None:
    """Return the number of jobs ahead of a submission's; None if it has no job."""
    job_id = session.scalar(
        select(Job.id).where(Job.submission_id == submission_id, Job.finished_at.is_(None))
    )
    if job_id is None:
        return None
    ahead = select(func.count()).where(Job.finished_at.is_(None), Job.id < job_id)
    return session.scalar(ahead) or 0


def _with_submissions(*conditions: ColumnElement[bool]) -> Select[Job]:
    """Return the query for jobs with their submissions, so that both are locked."""
    return select(Job).join(Submission, Job.submission_id == Submission.id).where(*conditions)


def _held_job(session: Session, held: HeldJob) -> Job | None:
    """Return a job if it is still held, locked after its submission."""
    session.get_one(Submission, held.submission_id, with_for_update=True)
    return session.scalar(
        select(Job).where(Job.id == held.job_id, *_is_held(held)).with_for_update()
    )


def _is_held(held: HeldJob) -> tuple[ColumnElement[bool], ...]:
    return (
        Job.state == "running",
        Job.lease_owner == held.owner,
        Job.n_attempts == held.n_attempts,
    )


def _retry_or_fail(session: Session, job: Job, reason: str, most: int) -> None:
    if job.n_attempts >= most:
        _fail(session, job, f"given up after {job.n_attempts} attempts; the last: {reason}")
        return
    job.state, job.reason = "queued", reason
    job.lease_owner = job.lease_until = None
    submission = session.get_one(Submission, job.submission_id)
    set_state(session, submission, "queued", f"again, after attempt {job.n_attempts}: {reason}")


def _fail(session: Session, job: Job, reason: str) -> None:
    job.state, job.reason, job.finished_at = "error", reason, now()
    job.lease_owner = job.lease_until = None
    submission = session.get_one(Submission, job.submission_id)
    set_state(session, submission, "error", reason)
