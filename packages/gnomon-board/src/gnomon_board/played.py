"""The end of attempts of the hidden division: they are closed, and submitted for verification.

Closing an attempt plays its rest with moves that the rule rejects, so that its log is complete, is
replayed like any other, and the unplayed part counts as errors. The end of a season closes all open
attempts. Once all trials of an attempt are over, the server stores its own log of them and queues
it for replay.
"""

from __future__ import annotations

import hashlib
import logging

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from gnomon_board.accounts import note
from gnomon_board.assignment import assignment_of
from gnomon_board.database import Database
from gnomon_board.entries import attempt_of, own_entry
from gnomon_board.errors import Conflict
from gnomon_board.evidence import keep_bytes
from gnomon_board.remote_game import RemoteGame
from gnomon_board.schema import Entry, EntryAttempt, Job, RemoteTrial, Season, Submission, now
from gnomon_board.settings import Settings
from gnomon_board.submissions import set_state
from gohr.experiments import write_log

_log = logging.getLogger("gnomon.worker")


def close_attempt(session: Session, entry_id: int, number: int, *, account_id: int) -> None:
    """Close a begun attempt: its unplayed part is scored as errors.

    Raises Refusal: this account has no such attempt, or the attempt was not begun or has no open
    trial.
    """
    attempt = attempt_of(own_entry(session, entry_id, account_id), number)
    if attempt.begun_at is None:
        raise Conflict(f"attempt {number} of entry {entry_id} has no move yet: nothing is counted")
    if _close(session, attempt, by=account_id) == 0:
        raise Conflict(f"attempt {number} of entry {entry_id} is finished or closed already")


def close_unfinished(database: Database) -> int:
    """Close the open attempts of seasons that are over; return their number."""
    with database.reading() as session:
        playing = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
        over = session.scalars(
            select(EntryAttempt.id)
            .join(Entry, EntryAttempt.entry_id == Entry.id)
            .join(Season, Season.id == Entry.season_id)
            .where(
                EntryAttempt.begun_at.is_not(None),
                EntryAttempt.closed_at.is_(None),
                or_(Season.closes_at <= now(), Season.revealed_at.is_not(None)),
                EntryAttempt.id.in_(playing),
            )
            .order_by(EntryAttempt.id)
        ).all()
    for attempt_id in over:
        with database.writing() as session:
            _close(session, session.get_one(EntryAttempt, attempt_id), by=None)
    return len(over)


def _close(session: Session, attempt: EntryAttempt, *, by: int | None) -> int:
    """Fill the rest of an attempt with errors; return the number of open trials."""
    trials = session.scalars(
        select(RemoteTrial)
        .where(RemoteTrial.attempt_id == attempt.id, RemoteTrial.state == "playing")
        .order_by(RemoteTrial.id)
        .with_for_update()
    ).all()
    if not trials:
        return 0
    assignment = assignment_of(attempt)
    for trial in trials:
        game = RemoteGame.of(assignment, trial.rule.name, trial.number, trial.actions, reveal=True)
        game.abandon()
        trial.actions, trial.state = game.actions, "abandoned"
        trial.changed_at = trial.finished_at = now()
    attempt.closed_at = now()
    attempt.entry.season.touch()
    note(
        session,
        "attempt closed",
        "entry",
        attempt.entry_id,
        by=by,
        number=attempt.number,
        trials=len(trials),
    )
    return len(trials)


def queue_played(database: Database, settings: Settings) -> int:
    """Submit every attempt whose trials have all been played; return their number.

    The server's own log is queued and replayed like any other log.
    """
    with database.reading() as session:
        unplayed = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
        submitted = select(Submission.attempt_id)
        ready = session.scalars(
            select(RemoteTrial.attempt_id)
            .where(
                RemoteTrial.attempt_id.not_in(unplayed), RemoteTrial.attempt_id.not_in(submitted)
            )
            .distinct()
        ).all()
    for attempt_id in ready:
        try:
            _submit(database, settings, attempt_id)
        except Exception:
            # Tried again at the next sweep; the other attempts continue.
            _log.exception("attempt %d was played, and cannot be submitted", attempt_id)
    return len(ready)


def _submit(database: Database, settings: Settings, attempt_id: int) -> None:
    """Store the log of an attempt, and queue it."""
    with database.reading() as session:
        attempt = session.get_one(EntryAttempt, attempt_id)
        learner, assignment = attempt.entry.name, assignment_of(attempt)
        trials = {
            (trial.rule.name, trial.number): RemoteGame.of(
                assignment, trial.rule.name, trial.number, trial.actions
            ).log()
            for trial in attempt.remote_trials
        }
    data = write_log(trials)
    sha256 = hashlib.sha256(data).hexdigest()
    keep_bytes(settings, sha256, data)
    with database.writing() as session:
        attempt = session.get_one(EntryAttempt, attempt_id, with_for_update=True)
        if session.scalar(select(Submission.id).where(Submission.attempt_id == attempt_id)):
            return
        submission = Submission(
            season_id=attempt.entry.season_id,
            attempt_id=attempt_id,
            origin="server",
            manifest={"format": 1, "learner": learner, "config": {}, "card": None, "totals": []},
            log_sha256=sha256,
            log_format="zip",
            log_bytes=len(data),
            n_attempts=sum(log.actions.size for log in trials.values()),
        )
        session.add(submission)
        session.flush()
        set_state(session, submission, "queued", "waiting for a worker")
        session.add(Job(submission_id=submission.id))
