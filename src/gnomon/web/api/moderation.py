"""JSON API of server health, moderation and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import joinedload

from gnomon._version import __version__
from gnomon.database.schema import AuditRecord, Job
from gnomon.leaderboard.accounts.tokens import Caller
from gnomon.leaderboard.submissions.job_queue import place_in_queue
from gnomon.leaderboard.submissions.submission import find_submission, refuse_later, requeue
from gnomon.web.api.dependencies import (
    After,
    Limit,
    MaybeCaller,
    ReadSession,
    RowId,
    WriteSession,
    caller,
)
from gnomon.web.api.records import AuditLine, Reason, SubmissionRecord

__all__ = ["health_router", "router"]

health_router = APIRouter(prefix="/api", tags=["server"])
router = APIRouter(prefix="/api", tags=["moderation"])

Moderator = Annotated[Caller, Depends(caller("moderate"))]


class Health(BaseModel):
    """The version, and how much waits."""

    gnomon: str
    queued: int
    running: int


@health_router.get("/health")
def health(session: ReadSession) -> Health:
    """Tell that the server and its database answer, and how long the queue is."""
    counts = dict(
        session.execute(
            select(Job.state, func.count()).where(Job.finished_at.is_(None)).group_by(Job.state)
        ).all()
    )
    return Health(
        gnomon=__version__, queued=counts.get("queued", 0), running=counts.get("running", 0)
    )


@router.post("/submissions/{submission}/refuse")
def refuse(
    session: WriteSession, submission: RowId, why: Reason, who: Moderator
) -> SubmissionRecord:
    """Refuse what was taken in, with a reason that everybody sees."""
    found = find_submission(session, submission, lock=True)
    refuse_later(session, found, why.reason, by=who.account_id)
    return SubmissionRecord.of(found)


@router.post("/submissions/{submission}/requeue")
def verify_again(session: WriteSession, submission: RowId, who: Moderator) -> SubmissionRecord:
    """Verify a submission again: after an error, or because the verification has changed."""
    found = find_submission(session, submission, lock=True)
    requeue(session, found, by=who.account_id)
    session.flush()
    return SubmissionRecord.of(found, place_in_queue(session, found.id))


@router.get("/audit-log")
def audit_log(
    session: ReadSession, who: MaybeCaller, limit: Limit = 100, after: After = 0
) -> list[AuditLine]:
    """List what was done, in the order in which it was; moderators see all of it."""
    rows = select(AuditRecord).where(AuditRecord.id > after)
    if who is None or not who.may("moderate"):
        rows = rows.where(AuditRecord.public)
    rows = rows.options(joinedload(AuditRecord.account)).order_by(AuditRecord.id).limit(limit)
    return [AuditLine.of(record) for record in session.scalars(rows)]
