"""Submissions: their announcement, and their states until the verdict.

::

    uploading -> queued -> verifying -> verified | refused | error
    any of them -> withdrawn

Every step is one transaction with its reason, its audit record and the season's new version. Rows
are never deleted.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_text
from gnomon_board.database import Database, find_row, note
from gnomon_board.errors import Conflict, NotAllowed, Refusal, TooLarge
from gnomon_board.evidence import Incoming, LogLimits, keep
from gnomon_board.schema import EntryAttempt, Season, Submission, SubmissionState, now
from gnomon_board.seasons import check_open
from gnomon_board.settings import Settings
from gohr.learners import is_shown_the_rule

_Word = Annotated[str, Field(max_length=128, pattern=r"^[^\x00]+$")]


class LearnerRecord(BaseModel):
    """The name and the kind of a learner, and whether it was shown the rule; more is not kept."""

    name: _Word
    kind: _Word
    reveal: bool = False

    @model_validator(mode="after")
    def _was_not_shown_the_rule(self) -> Self:
        if self.reveal or is_shown_the_rule(self.kind):
            raise ValueError(f"the learner {self.kind[:64]!r} was shown the rule")
        return self


class Manifest(BaseModel):
    """The announcement of a log: its learner, as in the run's configuration, hash and size."""

    model_config = ConfigDict(extra="forbid")
    learner: LearnerRecord
    log_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    log_bytes: Annotated[int, Field(ge=1, le=2**53)]


def set_state(
    session: Session,
    submission: Submission,
    state: SubmissionState,
    reason: str = "",
    *,
    by: int | None = None,
) -> None:
    """Change the state of a submission, with the reason that its page shows.

    The audit log keeps a reason only if the server gave it, since texts of people may be erased.
    """
    before, submission.state = submission.state, state
    submission.reason, submission.changed_at = reason, now()
    if state == "verified":
        submission.verified_at = submission.changed_at
    session.get_one(Season, submission.season_id).touch()
    detail: dict[str, Any] = {"before": before} | ({"reason": reason} if by is None else {})
    note(session, f"submission {state}", "submission", submission.id, by=by, **detail)


def enqueue(
    session: Session, submission: Submission, reason: str, *, by: int | None = None
) -> None:
    """Put a submission at the end of the queue for verification."""
    submission.queued_at, submission.seen_at, submission.n_tries = now(), None, 0
    set_state(session, submission, "queued", reason, by=by)


def announce(
    session: Session, settings: Settings, attempt: EntryAttempt, manifest: Manifest
) -> Submission:
    """Open a submission for a log, or return the one that is open.

    Announcing the same log again changes nothing, so that a client can repeat a request.
    """
    season = attempt.entry.season
    if season.division != "replayed":
        raise NotAllowed(f"season {season.name} is of the {season.division} division: no logs")
    sha256, n_bytes = manifest.log_sha256, manifest.log_bytes
    limits = LogLimits.of(season, settings)
    if n_bytes > (most := min(settings.max_upload_bytes, limits.n_bytes)):
        raise TooLarge(
            f"expected a log of at most {most:,} bytes (season {season.name} has at most "
            f"{limits.rows:,} attempts), found {n_bytes:,}"
        )
    of_attempt = select(Submission).where(Submission.attempt_id == attempt.id)
    submission = session.scalar(of_attempt.with_for_update())
    if submission is not None and submission.state != "uploading":
        if submission.announced == sha256:
            return submission
        raise Conflict(
            f"assignment {attempt.number} of entry {attempt.entry_id} has been submitted: "
            f"submission {submission.id}, {submission.state}"
        )
    check_open(season)
    _check_not_sent_before(session, season.id, sha256, attempt.id)
    if submission is None:
        submission = Submission(season=season, attempt=attempt)
        session.add(submission)
    submission.learner, submission.announced = manifest.learner.name, sha256
    submission.log_bytes, submission.reason = n_bytes, "waiting for its log"
    submission.changed_at = now()
    session.flush()
    return submission


def take_in(database: Database, settings: Settings, submission_id: int, incoming: Incoming) -> None:
    """Store the log of a submission and queue the submission, once, even if sent several times.

    The log is on the disk before a row refers to it: if the server is killed in between, the client
    sends the log again. An announcement reserves nothing: a log belongs to the submission that
    sends it first.
    """
    with database.reading() as session:
        submission = find_row(session, Submission, submission_id)
    if submission.state != "uploading":
        return
    if incoming.sha256 != submission.announced:
        raise Refusal(
            f"log: expected the bytes with SHA-256 {submission.announced}, "
            f"found {incoming.n_bytes} bytes with {incoming.sha256}"
        )
    keep(settings, incoming)
    with database.writing() as session:
        submission = find_row(session, Submission, submission_id, lock=True)
        if submission.state != "uploading":
            return
        if submission.announced != incoming.sha256:
            raise Conflict("another log has been announced meanwhile")
        _check_not_sent_before(
            session, submission.season_id, incoming.sha256, submission.attempt_id
        )
        submission.log_sha256, submission.log_bytes = incoming.sha256, incoming.n_bytes
        session.flush()
        owner = submission.attempt.entry.account_id
        enqueue(session, submission, "waiting for a worker", by=owner)


def change(
    session: Session,
    submission: Submission,
    action: Literal["withdraw", "refuse", "requeue"],
    reason: str,
    *,
    by: int,
) -> None:
    """Withdraw a submission; or, as a moderator, refuse it or queue it again.

    Its row stays with the reason, which is public, and the assignment counts.
    """
    name, state = f"submission {submission.id}", submission.state
    if action == "requeue":
        if state not in ("error", "refused", "verified"):
            raise Conflict(f"{name} is {state}: nothing to verify again")
        if submission.log_sha256 is None:
            raise Conflict(f"{name} has no log: it never arrived")
        enqueue(session, submission, "waiting to be verified again", by=by)
        return
    if state == "withdrawn" or (state, action) == ("refused", "refuse"):
        raise Conflict(f"{name} is {state} already")
    reason = clean_text(reason, "reason")
    if action == "refuse" and not reason:
        raise Refusal("expected a reason, which is public; found none")
    set_state(session, submission, "refused" if action == "refuse" else "withdrawn", reason, by=by)


def shows_hidden_rules(submission: Submission) -> bool:
    """Return whether the attempts of a submission would reveal rules that are still hidden."""
    season = submission.season
    hidden = any(rule.visibility == "hidden" for rule in season.rules)
    return hidden and season.revealed_at is None


def _check_not_sent_before(session: Session, season_id: int, sha256: str, attempt_id: int) -> None:
    """Refuse a log of another submission, and name that submission."""
    earlier = session.scalar(
        select(Submission.id).where(
            Submission.season_id == season_id,
            Submission.log_sha256 == sha256,
            Submission.attempt_id != attempt_id,
        )
    )
    if earlier is not None:
        raise Conflict(f"this log was already sent: submission {earlier}")
