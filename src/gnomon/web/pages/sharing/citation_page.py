"""Pages by which a season is cited: BibTeX, an archive, and its checksum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse
from sqlalchemy.orm import Session

from gnomon._io.csv_cells import csv_text
from gnomon.database.schema import Season
from gnomon.leaderboard.refusals import Conflict
from gnomon.leaderboard.seasons.entry_registration import find_season
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.web.api.dependencies import CurrentSettings, ReadSession, Slug
from gnomon.web.pages.page_cache import BoardState, CurrentBoard
from gnomon.web.pages.season_pages import SCORE_COLUMNS, score_rows
from gnomon.web.pages.sharing.citation_texts import Citation
from gnomon.web.pages.sharing.season_archive import Archive, season_archive
from gnomon.web.pages.templating import twin

router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class CitationPage:
    """A season as it may be cited now; the archive's checksum is null while it cannot be made."""

    season: str
    season_title: str
    division: str
    version: int
    bibtex: str
    archive: str
    archive_name: str | None
    archive_bytes: int | None
    archive_sha256: str | None


def citation_of(season: Season, settings: ServerSettings) -> Citation:
    """Return the citation of a season as it is now, whoever asks."""
    site = settings.public_url.rstrip("/")
    return Citation(
        season.name,
        season.title,
        season.version,
        (season.closes_at or season.created_at).date(),
        f"{site}/seasons/{season.name}" if site else "",
        urlsplit(site).netloc or "Gnomon leaderboard",
    )


@twin(router, "/seasons/{name}/cite", "sharing/cite.html", public=True)
def citation_json(
    session: ReadSession,
    settings: CurrentSettings,
    board: CurrentBoard,
    name: Slug,
) -> CitationPage:
    """Tell how a season is cited: BibTeX, and the archive with its SHA-256."""
    season = find_season(session, name)
    try:
        made = _archive(session, settings, board, season)
    except Conflict:
        made = None
    return CitationPage(
        *(season.name, season.title, season.division, season.version),
        citation_of(season, settings).bibtex,
        f"/seasons/{season.name}/archive.zip",
        made.name if made else None,
        made.n_bytes if made else None,
        made.sha256 if made else None,
    )


@router.get("/seasons/{name}/citation.bib", response_class=PlainTextResponse)
def bibtex(session: ReadSession, settings: CurrentSettings, name: Slug) -> PlainTextResponse:
    """Return the BibTeX entry of a season."""
    text = citation_of(find_season(session, name), settings).bibtex
    return PlainTextResponse(text, media_type="application/x-bibtex; charset=utf-8")


@router.get("/seasons/{name}/archive.zip", response_class=FileResponse)
def archive(
    session: ReadSession,
    settings: CurrentSettings,
    board: CurrentBoard,
    name: Slug,
) -> FileResponse:
    """Return the archive of a season: its tables, standings and citation."""
    made = _archive(session, settings, board, find_season(session, name))
    headers = {"ETag": f'"{made.sha256}"', "Cache-Control": "no-cache"}
    return FileResponse(
        made.path, media_type="application/zip", filename=made.name, headers=headers
    )


@router.get("/seasons/{name}/archive.zip.sha256", response_class=PlainTextResponse)
def archive_checksum(
    session: ReadSession,
    settings: CurrentSettings,
    board: CurrentBoard,
    name: Slug,
) -> str:
    """Return the SHA-256 of the archive, as ``sha256sum --check`` reads it."""
    made = _archive(session, settings, board, find_season(session, name))
    return f"{made.sha256}  {made.name}\n"


def _archive(
    session: Session, settings: ServerSettings, board: BoardState, season: Season
) -> Archive:
    def scores() -> Iterator[str]:
        yield csv_text(score_rows(session, board, season), SCORE_COLUMNS)

    citation = citation_of(season, settings)
    return season_archive(session, settings, season, board.snapshot(season), scores(), citation)
