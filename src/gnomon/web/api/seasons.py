"""JSON API of seasons, their entries and submissions."""

from __future__ import annotations

from fastapi import APIRouter
from sqlalchemy import select

from gnomon.database.schema import Entry, Season, Submission
from gnomon.leaderboard.seasons.entry_registration import find_season
from gnomon.leaderboard.submissions.job_queue import place_in_queue
from gnomon.web.api.dependencies import After, Limit, ReadSession, Slug
from gnomon.web.api.records import EntryRecord, SeasonRecord, SubmissionRecord

__all__ = ["router"]

router = APIRouter(prefix="/api/seasons", tags=["seasons"])


@router.get("")
def list_seasons(session: ReadSession) -> list[SeasonRecord]:
    """List the seasons, the newest first."""
    return [SeasonRecord.of(s) for s in session.scalars(select(Season).order_by(Season.id.desc()))]


@router.get("/{season}")
def get_season(session: ReadSession, season: Slug) -> SeasonRecord:
    """Tell of a season."""
    return SeasonRecord.of(find_season(session, season))


@router.get("/{season}/entries")
def list_entries(
    session: ReadSession, season: Slug, limit: Limit = 100, after: After = 0
) -> list[EntryRecord]:
    """List the registered learners of a season, withdrawn ones too, in the order of their ids."""
    found = find_season(session, season)
    rows = select(Entry).where(Entry.season_id == found.id, Entry.id > after)
    return [EntryRecord.of(e) for e in session.scalars(rows.order_by(Entry.id).limit(limit))]


@router.get("/{season}/submissions")
def list_submissions(
    session: ReadSession, season: Slug, limit: Limit = 100, after: After = 0
) -> list[SubmissionRecord]:
    """List all submissions of a season with their states, in the order of their ids."""
    found = find_season(session, season)
    rows = select(Submission).where(Submission.season_id == found.id, Submission.id > after)
    return [
        SubmissionRecord.of(each, place_in_queue(session, each.id))
        for each in session.scalars(rows.order_by(Submission.id).limit(limit))
    ]
