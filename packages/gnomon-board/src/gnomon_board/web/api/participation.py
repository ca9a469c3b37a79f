"""JSON API of participants: seasons, entries, play of hidden seasons, submissions."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, PlainTextResponse
from pydantic import Field
from sqlalchemy import select

from gnomon_board.database import Database, find_named, find_row
from gnomon_board.entries import assignment_of, attempt_of, new_attempt, own_entry, register
from gnomon_board.errors import Missing, NotAllowed
from gnomon_board.evidence import received, sound_log
from gnomon_board.hidden import begin, close_attempt, make_moves
from gnomon_board.remote_game import AttemptPlay, Moves, Replies
from gnomon_board.schema import Entry, Season, Submission
from gnomon_board.settings import MIB, Settings
from gnomon_board.submissions import Manifest, announce, change, shows_hidden_rules, take_in
from gnomon_board.tokens import Caller, check_scopes
from gnomon_board.web.api.dependencies import (
    After,
    Anybody,
    CurrentSettings,
    DatabaseOf,
    IntakeOf,
    Limit,
    ReadSession,
    RowId,
    Slug,
    Submitter,
    WriteSession,
    paced,
)
from gnomon_board.web.api.records import EntryRecord, Form, Reason, SeasonRecord, SubmissionRecord
from gnomon_board.web.limits import HOUR_S, Intake
from gnomon_board.web.middleware import address_of
from gnomon_board.web.page_cache import CurrentBoard

router = APIRouter(prefix="/api/seasons", tags=["seasons"])


@router.get("")
def list_seasons(session: ReadSession) -> list[SeasonRecord]:
    """List the seasons, the newest first."""
    return [SeasonRecord.of(s) for s in session.scalars(select(Season).order_by(Season.id.desc()))]


@router.get("/{season}")
def get_season(session: ReadSession, season: Slug) -> SeasonRecord:
    """Return a season."""
    return SeasonRecord.of(find_named(session, Season, season))


@router.get("/{season}/entries")
def list_entries(
    session: ReadSession, season: Slug, limit: Limit = 100, after: After = 0
) -> list[EntryRecord]:
    """List the registered learners of a season in the order of their ids."""
    found = find_named(session, Season, season)
    rows = select(Entry).where(Entry.season_id == found.id, Entry.id > after)
    return [EntryRecord.of(e) for e in session.scalars(rows.order_by(Entry.id).limit(limit))]


@router.get("/{season}/submissions")
def list_submissions(
    session: ReadSession, season: Slug, limit: Limit = 100, after: After = 0
) -> list[SubmissionRecord]:
    """List all submissions of a season with their states, in the order of their ids."""
    found = find_named(session, Season, season)
    rows = select(Submission).where(Submission.season_id == found.id, Submission.id > after)
    listed = session.scalars(rows.order_by(Submission.id).limit(limit))
    return [SubmissionRecord.with_place(each, session) for each in listed]


entries_router = APIRouter(prefix="/api", tags=["entries"])


class NewEntry(Form):
    """A learner that is to be registered. Texts are plain."""

    name: Annotated[str, Field(max_length=200)]
    description: Annotated[str, Field(max_length=8000)] = ""


@entries_router.post("/seasons/{season}/entries", status_code=201, dependencies=[Depends(paced)])
def register_entry(
    session: WriteSession, season: Slug, entry: NewEntry, who: Submitter
) -> EntryRecord:
    """Register a learner in a season, or return one's own entry of this name."""
    found = find_named(session, Season, season)
    made = register(session, found, who.account_id, entry.name, entry.description)
    session.refresh(made)
    return EntryRecord.of(made)


@entries_router.get("/entries/{entry}/attempts/{number}/config", response_class=PlainTextResponse)
def get_config(session: ReadSession, entry: RowId, number: RowId) -> str:
    """Return what an assignment has to play, as the TOML file for ``gohr run``.

    A hidden season returns it only after its reveal, so that anyone can replay its logs.
    """
    attempt = attempt_of(find_row(session, Entry, entry), number)
    season = attempt.entry.season
    if season.division != "replayed" and season.revealed_at is None:
        raise NotAllowed(
            f"season {season.name} is hidden: its learners play through the server (gnomon-board "
            "season play)"
        )
    return assignment_of(attempt).to_toml()


@entries_router.post("/entries/{entry}/attempts", status_code=201, dependencies=[Depends(paced)])
def assign_next_attempt(session: WriteSession, entry: RowId, who: Submitter) -> EntryRecord:
    """Make the next assignment of an entry, of other boards. It counts from now on."""
    found = own_entry(session, entry, who.account_id)
    new_attempt(session, found)
    session.refresh(found)
    return EntryRecord.of(found)


# -- play of hidden seasons, in many trials with each request -------------------------------------

remote_router = APIRouter(prefix="/api", tags=["hidden division"])


@remote_router.post("/remote/entries/{entry}/attempts/{number}")
def begin_attempt(
    session: WriteSession, entry: RowId, number: RowId, who: Submitter
) -> AttemptPlay:
    """Begin to play an assignment through the server, or return how far it is."""
    return begin(session, entry, number, account_id=who.account_id)


@remote_router.post("/remote/entries/{entry}/attempts/{number}/close", status_code=204)
def close(session: WriteSession, entry: RowId, number: RowId, who: Submitter) -> None:
    """Close an assignment that was begun: the rest of it is scored as errors."""
    close_attempt(session, entry, number, account_id=who.account_id)


@remote_router.post("/remote/moves")
def post_moves(board: CurrentBoard, database: DatabaseOf, moves: Moves, who: Submitter) -> Replies:
    """Make attempts in several trials; answered ones are counted, and never made twice."""
    made = make_moves(database, board.trials, moves.moves, account_id=who.account_id)
    return Replies(replies=made)


# -- submissions ----------------------------------------------------------------------------------

submissions_router = APIRouter(prefix="/api", tags=["submissions"])

#: Uploads for each announcement that the hourly limit permits, since answers may be lost.
_SENDS = 3
#: Mebibytes of logs that one account, and one address, may send in an hour, each log at least one.
_MIB_PER_HOUR = 8192
#: Bytes that are read beyond the announced number, to refuse the log as another one.
_MORE = 1 << 16


@submissions_router.put("/entries/{entry}/attempts/{number}/submission")
def announce_submission(
    session: WriteSession,
    settings: CurrentSettings,
    intake: IntakeOf,
    entry: RowId,
    number: RowId,
    manifest: Manifest,
    who: Submitter,
) -> SubmissionRecord:
    """Announce the log of an assignment.

    The log itself follows by ``PUT /api/submissions/{id}/log``. Asking again with the same log
    gives the same submission.
    """
    key, most = f"submit {who.account_id}", settings.submissions_per_hour
    intake.counts.count(key, most=most, window_s=HOUR_S)
    found = own_entry(session, entry, who.account_id)
    submission = announce(session, settings, attempt_of(found, number), manifest)
    return SubmissionRecord.with_place(submission, session)


@submissions_router.put(
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
        async with received(settings, request.stream(), most) as incoming:
            await run_in_threadpool(take_in, database, settings, submission, incoming)
    return await run_in_threadpool(_told, database, submission)


@submissions_router.get("/submissions/{submission}")
def get_submission(session: ReadSession, submission: RowId) -> SubmissionRecord:
    """Return the state of a submission, with the reason, and its place in the queue."""
    return SubmissionRecord.with_place(find_row(session, Submission, submission), session)


@submissions_router.get("/submissions/{submission}/log", response_class=FileResponse)
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


@submissions_router.post("/submissions/{submission}/{action}")
def change_submission(
    session: WriteSession,
    submission: RowId,
    action: Literal["withdraw", "refuse", "requeue"],
    who: Anybody,
    why: Reason | None = None,
) -> SubmissionRecord:
    """Withdraw one's own submission; as a moderator, refuse any or verify it again.

    The reason is public. The record of the submission stays, and the assignment counts.
    """
    check_scopes(who.scopes, ["submit" if action == "withdraw" else "moderate"])
    found = find_row(session, Submission, submission, lock=True)
    if action == "withdraw":
        own_entry(session, found.attempt.entry_id, who.account_id)
    change(session, found, action, why.reason if why else "", by=who.account_id)
    session.flush()
    return SubmissionRecord.with_place(found, session)


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
        own_entry(session, submission.attempt.entry_id, who.account_id)
        announced = submission.log_bytes
    intake.counts.count(
        *(f"MiB {who.account_id}", f"MiB {address}"),
        most=_MIB_PER_HOUR,
        window_s=HOUR_S,
        amount=-(-announced // MIB),
    )
    return min(announced + _MORE, settings.max_upload_bytes)


def _told(database: Database, submission_id: int) -> SubmissionRecord:
    with database.reading() as session:
        return SubmissionRecord.with_place(find_row(session, Submission, submission_id), session)
