"""JSON API of seasons and their entries: registration, attempts, play of hidden seasons."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from gnomon_board.database import find_named, find_row
from gnomon_board.entries import assignment_of, attempt_of, new_attempt, register, withdraw_entry
from gnomon_board.errors import NotAllowed
from gnomon_board.hidden import GameCache, begin, close_attempt, make_moves
from gnomon_board.remote_game import AttemptPlay, Moves, Replies
from gnomon_board.schema import Entry, Season, Submission
from gnomon_board.tokens import Caller
from gnomon_board.web.api.dependencies import (
    After,
    DatabaseOf,
    Limit,
    ReadSession,
    RowId,
    Slug,
    Submitter,
    WriteSession,
    paced,
)
from gnomon_board.web.api.records import EntryRecord, Reason, SeasonRecord, SubmissionRecord

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
    """List the registered learners of a season, withdrawn ones too, in the order of their ids."""
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
    return [SubmissionRecord.waiting(each, session) for each in listed]


entries_router = APIRouter(prefix="/api", tags=["entries"])


class NewEntry(BaseModel):
    """A learner that is to be registered. Texts are plain."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=200)]
    description: Annotated[str, Field(max_length=8000)] = ""


def check_owner(entry: Entry, who: Caller) -> None:
    """Refuse with a :class:`NotAllowed` what only the entry's account, or a moderator, may do."""
    if entry.account_id != who.account_id and not who.may("moderate"):
        raise NotAllowed(f"entry {entry.id} is another account's")


@entries_router.post("/seasons/{season}/entries", status_code=201, dependencies=[Depends(paced)])
def register_entry(
    session: WriteSession,
    season: Slug,
    entry: NewEntry,
    who: Submitter,
) -> EntryRecord:
    """Register a learner in a season; the answer says on which boards it has to play."""
    found = find_named(session, Season, season)
    made = register(session, found, who.account_id, entry.name, entry.description)
    session.refresh(made)
    return EntryRecord.of(made)


@entries_router.get("/entries/{entry}/attempts/{number}/config", response_class=PlainTextResponse)
def get_config(session: ReadSession, entry: RowId, number: RowId) -> str:
    """Return what an attempt has to play, as the TOML file for ``gohr run``.

    Of a hidden season it is told when that has been revealed, so that anyone can replay its logs.
    """
    attempt = attempt_of(find_row(session, Entry, entry), number)
    season = attempt.entry.season
    if season.division != "replayed" and season.revealed_at is None:
        raise NotAllowed(
            f"season {season.name} is of the {season.division} division, which assigns no file; "
            f"what to do instead: /submit?entry={entry}"
        )
    return assignment_of(attempt).to_toml()


@entries_router.post("/entries/{entry}/attempts", status_code=201, dependencies=[Depends(paced)])
def assign_next_attempt(session: WriteSession, entry: RowId, who: Submitter) -> EntryRecord:
    """Assign the next attempt of an entry, on other boards. It counts from now on."""
    found = find_row(session, Entry, entry)
    check_owner(found, who)
    new_attempt(session, found)
    session.refresh(found)
    return EntryRecord.of(found)


@entries_router.post("/entries/{entry}/withdraw")
def withdraw(session: WriteSession, entry: RowId, why: Reason, who: Submitter) -> EntryRecord:
    """Take an entry off the board. It stays as a tombstone, with the reason."""
    found = find_row(session, Entry, entry)
    check_owner(found, who)
    withdraw_entry(session, found, why.reason, by=who.account_id)
    return EntryRecord.of(found)


# -- attempts of hidden seasons, in many trials with each request ---------------------------------

remote_router = APIRouter(prefix="/api", tags=["hidden division"])


@remote_router.post("/remote/entries/{entry}/attempts/{number}")
def begin_attempt(
    session: WriteSession, entry: RowId, number: RowId, who: Submitter
) -> AttemptPlay:
    """Begin to play an attempt through the server, or return how far it is."""
    return begin(session, entry, number, account_id=who.account_id)


@remote_router.post("/remote/entries/{entry}/attempts/{number}/close", status_code=204)
def close(session: WriteSession, entry: RowId, number: RowId, who: Submitter) -> None:
    """Close an attempt that was begun: the rest of it is scored as errors."""
    close_attempt(session, entry, number, account_id=who.account_id)


@remote_router.post("/remote/moves")
def post_moves(request: Request, database: DatabaseOf, moves: Moves, who: Submitter) -> Replies:
    """Make attempts in several trials; answered ones are counted, and never made twice."""
    live: GameCache = request.app.state.live_games
    return Replies(replies=make_moves(database, live, moves.moves, account_id=who.account_id))
