"""State machine of submissions, from announcement to verdict; rows are never deleted.

::

    uploading -> queued -> verifying -> verified | refused | error
    any of them -> withdrawn

Every step is one transaction with its reason, its audit record and the season's new version.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from gnomon_board.database.columns import now
from gnomon_board.database.schema import EntryAttempt, Job, Season, Submission, SubmissionState
from gnomon_board.errors import Conflict, Missing, NotAllowed, Refusal, TooLarge
from gnomon_board.leaderboard.accounts.audit_log import note
from gnomon_board.leaderboard.accounts.names import clean_text
from gnomon_board.leaderboard.seasons.entry_registration import check_open
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.leaderboard.submissions.manifest import Manifest


def find_submission(session: Session, submission_id: int, *, lock: bool = False) -> Submission:
    """Return a submission, which nobody else changes meanwhile if it is locked.

    Raises Missing: there is none.
    """
    submission = session.get(Submission, submission_id, with_for_update=lock or None)
    if submission is None:
        raise Missing(f"there is no submission {submission_id}")
    return submission


def set_state(
    session: Session,
    submission: Submission,
    state: SubmissionState,
    reason: str = "",
    *,
    by: int | None = None,
) -> None:
    """Bring a submission to a state, with the reason that the page shows.

    The audit log keeps a reason only if the server gave it: what a person wrote can be erased.
    """
    before, submission.state = submission.state, state
    submission.reason, submission.changed_at = reason, now()
    if state == "verified":
        submission.verified_at = submission.changed_at
    session.get_one(Season, submission.season_id).touch()
    detail: dict[str, Any] = {"before": before} | ({"reason": reason} if by is None else {})
    note(session, f"submission {state}", "submission", submission.id, by=by, **detail)


def announce(
    session: Session, settings: Settings, attempt: EntryAttempt, manifest: Manifest
) -> Submission:
    """Open a submission for a log that is to come, or find the one that is open already.

    Announcing the same log again changes nothing: who lost the answer may ask again.

    Raises Refusal: the season takes no logs, or none now; the attempt has been submitted; the log
    was sent before, whose submission is named; or it is too large.
    """
    season = attempt.entry.season
    if season.division != "replayed":
        raise NotAllowed(f"season {season.name} is of the {season.division} division: no logs")
    sha256, n_bytes, log_format = manifest.log_sha256, manifest.log_bytes, manifest.log_format
    if sha256 is None or n_bytes is None or log_format is None:
        raise Refusal("manifest: expected log_sha256, log_bytes and log_format of the log to come")
    if n_bytes > settings.max_upload_bytes:
        raise TooLarge(f"expected a log of at most {settings.max_upload_bytes} bytes")
    submission = _submission_of(session, attempt, lock=True)
    if submission is not None and submission.state != "uploading":
        if announced_sha256(submission) == sha256:
            return submission
        raise Conflict(
            f"attempt {attempt.number} of entry {attempt.entry_id} has been submitted: "
            f"submission {submission.id}, {submission.state}"
        )
    _check_may_submit(attempt)
    _check_not_sent_before(session, season.id, sha256, attempt.id)
    if submission is None:
        submission = Submission(season=season, attempt=attempt)
        session.add(submission)
    submission.manifest = manifest.to_record()
    submission.log_bytes, submission.log_format = n_bytes, log_format
    submission.changed_at, submission.reason = now(), "waiting for its log"
    _flush(session)
    return submission


def announced_sha256(submission: Submission) -> str | None:
    """Return the hash that the log of a submission is to have, or has."""
    announced: str | None = submission.manifest.get("log_sha256")
    return submission.log_sha256 or announced


def log_arrived(
    session: Session, submission: Submission, sha256: str, *, n_bytes: int, n_rows: int
) -> Submission:
    """Put a submission whose log is on the disk into the queue; once, however often it is sent.

    To announce a log claims nothing: of two submissions whose log is the same, the one whose log
    comes first has it.

    Raises Conflict: another log has been announced meanwhile, or another submission has this one.
    """
    if submission.state != "uploading":
        return submission
    if announced_sha256(submission) != sha256:
        raise Conflict("another log has been announced meanwhile")
    _check_not_sent_before(session, submission.season_id, sha256, submission.attempt_id)
    submission.log_sha256, submission.log_bytes = sha256, n_bytes
    submission.n_attempts = n_rows
    _flush(session)
    set_state(session, submission, "queued", "waiting for a worker", by=_owner(submission))
    session.add(Job(submission=submission))
    return submission


def withdraw(session: Session, submission: Submission, reason: str, *, by: int) -> None:
    """Take a submission off the board; a tombstone with the reason stays, and the attempt counts.

    Raises Refusal: it is withdrawn already, or the reason cannot be shown.
    """
    if submission.state == "withdrawn":
        raise Conflict(f"submission {submission.id} is withdrawn already")
    reason = clean_text(reason, "reason")
    submission.withdrawn_at = now()
    _end_jobs(session, submission, "withdrawn")
    set_state(session, submission, "withdrawn", reason, by=by)


def refuse_later(session: Session, submission: Submission, reason: str, *, by: int) -> None:
    """Refuse, as a moderator, what was taken in; the reason is shown to everybody."""
    if submission.state in ("withdrawn", "refused"):
        raise Conflict(f"submission {submission.id} is {submission.state} already")
    reason = clean_text(reason, "reason")
    if not reason:
        raise Refusal("reason: expected one; it is shown to everybody")
    _end_jobs(session, submission, "refused by a moderator")
    set_state(session, submission, "refused", reason, by=by)


def requeue(session: Session, submission: Submission, *, by: int) -> None:
    """Verify a submission again: after an error, or because the verification has changed."""
    if submission.state not in ("error", "refused", "verified"):
        raise Conflict(f"submission {submission.id} is {submission.state}: nothing to verify again")
    if submission.log_sha256 is None:
        raise Conflict(f"submission {submission.id} has no log: it never came")
    set_state(session, submission, "queued", "waiting to be verified again", by=by)
    session.add(Job(submission=submission))


def shows_hidden_rules(submission: Submission) -> bool:
    """Whether its attempts would tell of rules that are still hidden: then they are not shown."""
    season = submission.season
    hidden = any(rule.visibility == "hidden" for rule in season.rules)
    return hidden and season.revealed_at is None


def _submission_of(
    session: Session, attempt: EntryAttempt, *, lock: bool = False
) -> Submission | None:
    found = select(Submission).where(Submission.attempt_id == attempt.id)
    return session.scalar(found.with_for_update() if lock else found)


def _owner(submission: Submission) -> int:
    return submission.attempt.entry.account_id


def _check_may_submit(attempt: EntryAttempt) -> None:
    check_open(attempt.entry.season)
    if attempt.entry.withdrawn_at is not None:
        raise NotAllowed(f"entry {attempt.entry_id} is withdrawn")


def _check_not_sent_before(session: Session, season_id: int, sha256: str, attempt_id: int) -> None:
    """Refuse a log that another submission has, and name that one."""
    earlier = session.scalar(
        select(Submission.id).where(
            Submission.season_id == season_id,
            Submission.log_sha256 == sha256,
            Submission.attempt_id != attempt_id,
        )
    )
    if earlier is not None:
        raise Conflict(f"this very log was sent before: submission {earlier}")


def _end_jobs(session: Session, submission: Submission, reason: str) -> None:
    live = select(Job).where(Job.submission_id == submission.id, Job.finished_at.is_(None))
    for job in session.scalars(live):
        job.state, job.reason, job.finished_at = "done", reason, now()
        job.lease_owner = job.lease_until = None


def _flush(session: Session) -> None:
    """Write now; where two came at once, the second is told so."""
    try:
        session.flush()
    except IntegrityError:
        raise Conflict("the same was sent at the same time; ask again") from None
