"""JSON API of submissions: announcement, upload, state, trials, log."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse

from gnomon_board.database import Database, find_row
from gnomon_board.entries import attempt_of
from gnomon_board.errors import Missing, NotAllowed
from gnomon_board.evidence import receive, receiving, sound_log
from gnomon_board.schema import Entry, Submission
from gnomon_board.settings import MIB, Settings
from gnomon_board.submissions import (
    Manifest,
    announce,
    refuse_later,
    requeue,
    shows_hidden_rules,
    take_in,
    withdraw,
)
from gnomon_board.tokens import Caller
from gnomon_board.web.api.dependencies import (
    Anybody,
    CurrentSettings,
    DatabaseOf,
    IntakeOf,
    ReadSession,
    RowId,
    Submitter,
    WriteSession,
    check_scope,
)
from gnomon_board.web.api.records import Reason, SubmissionRecord
from gnomon_board.web.api.seasons import check_owner
from gnomon_board.web.limits import HOUR_S, Intake
from gnomon_board.web.middleware import address_of

router = APIRouter(prefix="/api", tags=["submissions"])

#: Uploads for each announcement that the hourly limit permits, since answers may be lost.
_SENDS = 3
#: Bytes that are read beyond the announced number, to refuse the log as another one.
_MORE = 1 << 16


@router.put("/entries/{entry}/attempts/{number}/submission")
def announce_submission(
    session: WriteSession,
    settings: CurrentSettings,
    intake: IntakeOf,
    entry: RowId,
    number: RowId,
    manifest: Manifest,
    who: Submitter,
) -> SubmissionRecord:
    """Announce the log of an attempt.

    The log itself follows by ``PUT /api/submissions/{id}/log``. Asking again with the same log
    gives the same submission.
    """
    key, most = f"submit {who.account_id}", settings.submissions_per_hour
    intake.counts.count(key, most=most, window_s=HOUR_S)
    found = find_row(session, Entry, entry)
    check_owner(found, who)
    submission = announce(session, settings, attempt_of(found, number), manifest)
    return SubmissionRecord.waiting(submission, session)


@router.put(
    "/submissions/{submission}/log",
    status_code=202,
    openapi_extra={
        "requestBody": {
            "description": "The bytes of the log, as they were announced.",
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def send_log(
    request: Request,
    database: DatabaseOf,
    settings: CurrentSettings,
    intake: IntakeOf,
    submission: RowId,
    who: Submitter,
) -> SubmissionRecord:
    """Send the log of a submission. It is queued once it is whole; a worker reads it.

    One log of an account is taken at a time.
    """
    with intake.uploads.held(who.account_id):
        address = address_of(request.scope)
        most = await run_in_threadpool(
            _may_send, database, settings, intake, submission, who, address
        )
        with receiving(settings) as incoming:
            await receive(request.stream(), incoming, most)
            await run_in_threadpool(take_in, database, settings, submission, incoming)
    return await run_in_threadpool(_told, database, submission)


@router.get("/submissions/{submission}")
def get_submission(session: ReadSession, submission: RowId) -> SubmissionRecord:
    """Return the state of a submission, with the reason, and its place in the queue."""
    return SubmissionRecord.waiting(find_row(session, Submission, submission), session)


@router.get("/submissions/{submission}/log", response_class=FileResponse)
def get_log(
    session: ReadSession, database: DatabaseOf, settings: CurrentSettings, submission: RowId
) -> FileResponse:
    """Return the log of a submission, as it was sent; not while its rules are hidden."""
    found = find_row(session, Submission, submission)
    if shows_hidden_rules(found):
        raise NotAllowed("the attempts are shown when the hidden rules are revealed")
    if found.log_sha256 is None:
        raise Missing(f"submission {found.id} has no log")
    return FileResponse(
        sound_log(database, settings, found),
        media_type="application/octet-stream",
        filename=f"submission-{found.id}.zip",
        content_disposition_type="attachment",
    )


@router.post("/submissions/{submission}/{action}")
def change_submission(
    session: WriteSession,
    submission: RowId,
    action: Literal["withdraw", "refuse", "requeue"],
    who: Anybody,
    why: Reason | None = None,
) -> SubmissionRecord:
    """Withdraw a submission; as a moderator, refuse it or verify it again.

    The reason is public. The record of the submission stays, and the attempt counts.
    """
    check_scope(who, "submit" if action == "withdraw" else "moderate")
    found, reason = find_row(session, Submission, submission, lock=True), why.reason if why else ""
    if action == "withdraw":
        check_owner(found.attempt.entry, who)
        withdraw(session, found, reason, by=who.account_id)
    elif action == "refuse":
        refuse_later(session, found, reason, by=who.account_id)
    else:
        requeue(session, found, by=who.account_id)
        session.flush()
    return SubmissionRecord.waiting(found, session)


def _may_send(
    database: Database,
    settings: Settings,
    intake: Intake,
    submission_id: int,
    who: Caller,
    address: str,
) -> int:
    """Refuse a submission of another account, or too many; return the limit of bytes."""
    key, most = f"send {who.account_id}", _SENDS * settings.submissions_per_hour
    intake.counts.count(key, most=most, window_s=HOUR_S)
    with database.reading() as session:
        submission = find_row(session, Submission, submission_id)
        check_owner(submission.attempt.entry, who)
        announced = submission.log_bytes
    intake.counts.count(
        *(f"MiB {who.account_id}", f"MiB {address}"),
        most=settings.upload_mib_per_hour,
        window_s=HOUR_S,
        amount=-(-announced // MIB),
    )
    return min(announced + _MORE, settings.max_upload_bytes)


def _told(database: Database, submission_id: int) -> SubmissionRecord:
    with database.reading() as session:
        return SubmissionRecord.waiting(find_row(session, Submission, submission_id), session)
