"""Atom feeds (RFC 4287): what was verified last, on the board or in a season."""

from __future__ import annotations

from xml.etree import ElementTree

from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from gnomon.database.schema import Entry, EntryAttempt, Season, Submission
from gnomon.leaderboard.seasons.entry_registration import find_season
from gnomon.leaderboard.standing_snapshots import COUNTED
from gnomon.web.api.dependencies import CurrentSettings, ReadSession, Slug, site_of
from gnomon.web.pages.page_cache import CachedPage, cached_response

router = APIRouter(tags=["pages"])

_ATOM = "http://www.w3.org/2005/Atom"
_NEWEST = 50
_KIND = "application/atom+xml; charset=utf-8"


@router.get("/feed.atom", response_class=Response)
def board_feed(request: Request, session: ReadSession, settings: CurrentSettings) -> Response:
    """Return what was verified last on the whole board, as an Atom feed."""
    text = _feed(session, site_of(request), None)
    return cached_response(request, CachedPage.of(text, _KIND))


@router.get("/seasons/{name}/feed.atom", response_class=Response)
def season_feed(request: Request, session: ReadSession, name: Slug) -> Response:
    """Return what was verified last in a season, as an Atom feed."""
    text = _feed(session, site_of(request), find_season(session, name))
    return cached_response(request, CachedPage.of(text, _KIND))


def _feed(session: Session, site: str, season: Season | None) -> str:
    path = f"/seasons/{season.name}" if season else ""
    feed = ElementTree.Element("feed", xmlns=_ATOM)
    _add(feed, "id", f"{site}{path}/feed.atom")
    _add(feed, "title", season.title if season else "Gnomon leaderboard")
    _add(feed, "link", rel="self", href=f"{site}{path}/feed.atom")
    _add(feed, "link", rel="alternate", type="text/html", href=f"{site}{path or '/'}")
    newest = _newest(session, season)
    began = season.created_at if season else None
    moments = [each.verified_at or each.changed_at for each in newest]
    updated = max([*moments, *([began] if began else [])], default=None)
    _add(feed, "updated", updated.isoformat() if updated else "1970-01-01T00:00:00+00:00")
    for submission in newest:
        _entry(feed, site, submission)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(
        feed, encoding="unicode"
    )


def _newest(session: Session, season: Season | None) -> list[Submission]:
    query = select(Submission).where(Submission.state.in_(COUNTED))
    if season is not None:
        query = query.where(Submission.season_id == season.id)
    of_entry = joinedload(Submission.attempt).joinedload(EntryAttempt.entry)
    query = query.options(of_entry.joinedload(Entry.account), joinedload(Submission.season))
    return list(session.scalars(query.order_by(Submission.id.desc()).limit(_NEWEST)))


def _entry(feed: ElementTree.Element, site: str, submission: Submission) -> None:
    learner, season = submission.attempt.entry, submission.season
    entry = ElementTree.SubElement(feed, "entry")
    _add(entry, "id", f"{site}/submissions/{submission.id}")
    _add(entry, "title", f"{learner.name} in {season.title}: {submission.state}")
    _add(entry, "link", rel="alternate", type="text/html", href=f"{site}/entries/{learner.id}")
    _add(entry, "updated", (submission.verified_at or submission.changed_at).isoformat())
    author = ElementTree.SubElement(entry, "author")
    _add(author, "name", learner.account.name)
    attempt = f"Attempt {submission.attempt.number} of {learner.name}"
    _add(entry, "summary", f"{attempt}, season {season.title}, {season.division} division.")


def _add(parent: ElementTree.Element, name: str, text: str = "", **attributes: str) -> None:
    ElementTree.SubElement(parent, name, attributes).text = text or None
