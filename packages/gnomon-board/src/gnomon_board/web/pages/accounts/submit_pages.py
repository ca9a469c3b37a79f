"""Pages that show how a learner gets onto the board: registration, and what an attempt plays."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from sqlalchemy import select

from gnomon_board.database.schema import Season
from gnomon_board.leaderboard.entries import attempt_of, find_entry
from gnomon_board.leaderboard.seasons import takes_entries
from gnomon_board.leaderboard.standings import LEVEL
from gnomon_board.web.api.dependencies import MaybeCaller, ReadSession, RowId, site_of
from gnomon_board.web.pages.templating import html_response

router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class OpenSeason:
    """A season that takes entries now."""

    name: str
    title: str
    division: str


@dataclass(frozen=True)
class SubmitPage:
    """The seasons that take entries now, and the level of intervals."""

    seasons: list[OpenSeason]
    level: float = LEVEL


@dataclass(frozen=True)
class AttemptPage:
    """An attempt that waits for its log."""

    entry: int
    learner: str
    attempt: int
    season: str
    season_title: str
    division: str


@router.get("/submit", include_in_schema=False)
def submit_html(request: Request, session: ReadSession, who: MaybeCaller) -> Response:
    """Show how a learner gets onto the board, with the form to register one."""
    seasons = session.scalars(select(Season).order_by(Season.id.desc()))
    page = SubmitPage(
        [OpenSeason(s.name, s.title, s.division) for s in seasons if takes_entries(s)]
    )
    may = who is not None and who.may("submit")
    return html_response(request, "board/submit.html", page, may=may, server=site_of(request))


@router.get("/entries/{entry_id}/attempts/{number}/submit", include_in_schema=False)
def attempt_html(
    request: Request, session: ReadSession, entry_id: RowId, number: RowId
) -> Response:
    """Show how an attempt is played and sent."""
    entry = find_entry(session, entry_id)
    attempt, season = attempt_of(entry, number), entry.season
    page = AttemptPage(
        *(entry.id, entry.name, attempt.number, season.name, season.title, season.division)
    )
    return html_response(request, "board/attempt.html", page, server=site_of(request))
