"""The queue of submissions to verify, with leases, heartbeats and bounded retries.

A worker takes a submission with a *lease* and prolongs it with every heartbeat. A submission whose
lease has expired goes to the next worker; after a few tries it ends as an error with a reason. No
submission waits for a dead worker.
"""

from __future__ import annotations

import datetime
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select, tuple_, update
from sqlalchemy.orm import Session

from gnomon_board.database import Database
from gnomon_board.schema import Submission, now
from gnomon_board.settings import Settings
from gnomon_board.submissions import set_state

#: Longest wait of a submission for a worker.
_MAX_WAIT = datetime.timedelta(hours=24)


class LeaseLostError(Exception):
    """The lease of a submission expired, or its state was changed by another process."""


@dataclass(frozen=True)
class HeldJob:
    """A submission that a worker holds; ``n_tries`` counts this try too."""

    submission_id: int
    owner: str
    n_tries: int

    @classmethod
    def of(cls, submission: Submission) -> HeldJob:
        """Return the hold of the current owner of a lease."""
        return cls(submission.id, submission.lease_owner or "", submission.n_tries)

    @property
    def conditions(self) -> tuple[ColumnElement[bool], ...]:
        """What the row of the submission fulfils as long as it is held."""
        return (
            Submission.id == self.submission_id,
            Submission.state == "verifying",
            Submission.lease_owner == self.owner,
            Submission.n_tries == self.n_tries,
        )


def claim(database: Database, owner: str, *, lease_s: float) -> HeldJob | None:
    """Take the submission that has waited longest; None if none waits."""
    waiting = select(Submission).where(Submission.state == "queued")
    first = waiting.order_by(Submission.queued_at, Submission.id).limit(1)
    with database.writing() as session:
        # PostgreSQL skips rows that another worker locks; in SQLite writers take turns.
        submission = session.scalar(first.with_for_update(skip_locked=True))
        if submission is None:
            return None
        submission.lease_owner = owner
        submission.n_tries += 1
        _prolong(submission, lease_s)
        again = f", try {submission.n_tries}" if submission.n_tries > 1 else ""
        set_state(session, submission, "verifying", f"by {owner}{again}")
        return HeldJob.of(submission)


def heartbeat(database: Database, held: HeldJob, *, lease_s: float) -> None:
    """Renew the lease."""
    with database.writing() as session:
        _prolong(held_submission(session, held), lease_s)


def _prolong(submission: Submission, lease_s: float) -> None:
    submission.heartbeat_at = now()
    submission.lease_until = submission.heartbeat_at + datetime.timedelta(seconds=lease_s)


def held_submission(session: Session, held: HeldJob) -> Submission:
    """Return a submission, locked; raise LeaseLostError if it is not held any more."""
    found = session.scalar(select(Submission).where(*held.conditions).with_for_update())
    if found is None:
        raise LeaseLostError(f"submission {held.submission_id}")
    return found


def give_back(database: Database, held: HeldJob, reason: str, *, most: int) -> None:
    """Return a submission to the queue after a failure; after the last try it is an error."""
    with suppress(LeaseLostError), database.writing() as session:
        _retry_or_fail(session, held_submission(session, held), reason, most)


def release(database: Database, owner: str, reason: str, *, most: int) -> None:
    """Return the submissions of a dead worker to the queue."""
    running = Submission.state == "verifying", Submission.lease_owner == owner
    with database.reading() as session:
        held = [HeldJob.of(each) for each in session.scalars(select(Submission).where(*running))]
    for each in held:
        give_back(database, each, reason, most=most)


def see(database: Database, *, anew: bool) -> None:
    """Record that a worker saw the waiting submissions; their age is counted from this time.

    With ``anew``, for a worker that starts, reset the time for those seen before too, so that days
    without a worker do not count.
    """
    unseen = Submission.state == "queued"
    if not anew:
        unseen &= Submission.seen_at.is_(None)
    with database.reading() as session:
        if session.scalar(select(Submission.id).where(unseen).limit(1)) is None:
            return
    with database.writing() as session:
        session.execute(update(Submission).where(unseen).values(seen_at=now()))


def sweep(database: Database, settings: Settings) -> int:
    """Requeue or fail what is stuck, with a reason; return the number of submissions.

    Stuck are submissions whose lease has expired, and those that no worker took within a day of
    seeing them.
    """
    moment = now()
    expired = (Submission.state == "verifying") & (Submission.lease_until < moment)
    overdue = (Submission.state == "queued") & (Submission.seen_at < moment - _MAX_WAIT)
    stuck = select(Submission).where(expired | overdue)
    with database.reading() as session:  # usually there is nothing to write
        if session.scalar(stuck.limit(1)) is None:
            return 0
    with database.writing() as session:
        found = session.scalars(stuck.with_for_update(skip_locked=True)).all()
        for each in found:
            if each.state == "verifying":
                heard = f"{each.heartbeat_at:%H:%M:%S} UTC"
                reason = f"no heartbeat of {each.lease_owner} since {heard}"
                _retry_or_fail(session, each, reason, settings.max_job_attempts)
            else:
                set_state(session, each, "error", "no worker took it within 24 hours")
    return len(found)


def place_in_queue(session: Session, submission: Submission) -> int:
    """Return the number of submissions ahead of a queued one."""
    earlier = tuple_(Submission.queued_at, Submission.id) < (submission.queued_at, submission.id)
    ahead = select(func.count()).where(Submission.state.in_(("queued", "verifying")), earlier)
    return session.scalar(ahead) or 0


def _retry_or_fail(session: Session, submission: Submission, reason: str, most: int) -> None:
    n = submission.n_tries
    if n >= most:
        reason = f"given up after {n} tries; the last: {reason}"
        set_state(session, submission, "error", reason)
    else:
        submission.seen_at = None  # the waiting before this try does not count
        set_state(session, submission, "queued", f"again, after try {n}: {reason}")
