"""Pages of the board: home, the standings of a season, and the files of a season."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from threading import Lock
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon.text_files import csv_text
from gnomon_board.database import find_named
from gnomon_board.errors import Conflict, Missing
from gnomon_board.schema import WAITING, Season, Submission
from gnomon_board.seasons import why_closed
from gnomon_board.settings import Settings
from gnomon_board.standing_cache import board_of
from gnomon_board.standings import Order, Standings, score_table, select_lines
from gnomon_board.web.api.dependencies import CurrentSettings, ReadSession, Slug
from gnomon_board.web.api.records import SeasonRecord
from gnomon_board.web.page_cache import BoardState, CurrentBoard
from gnomon_board.web.templating import PageLinks, rendered

router = APIRouter(tags=["pages"])

PageNumber = Annotated[int, Query(ge=1, le=100_000, description="Number of the page, from 1.")]
_TOP = 5


@router.get("/", include_in_schema=False)
def home(request: Request, session: ReadSession, board: CurrentBoard) -> Response:
    """Show the top of the current season, and the list of seasons."""
    seasons = session.scalars(select(Season).order_by(Season.id.desc())).all()
    closed = {each.name: why_closed(each) for each in seasons}
    # The newest season that takes entries now, else the newest.
    season = max(seasons, key=lambda each: not closed[each.name], default=None)

    def make() -> str:
        ranked = board.standings.get(season).ranked if season else ()
        return rendered(
            "board/home.html",
            "/",
            current=season,
            closed=closed,
            top=ranked[:_TOP],
            n_ranked=len(ranked),
            seasons=seasons,
        )

    return board.answer(
        request, season, make, state=tuple((each.version, closed[each.name]) for each in seasons)
    )


# -- standings -------------------------------------------------------------------------------------


@router.get("/seasons/{name}", include_in_schema=False)
def standings(
    request: Request,
    session: ReadSession,
    settings: CurrentSettings,
    board: CurrentBoard,
    name: Slug,
    q: Annotated[str, Query(max_length=128)] = "",
    verified: Annotated[str, Query(pattern="^(yes)?$")] = "",
    by: Order = "rank",
    page: PageNumber = 1,
) -> Response:
    """Show the standings of a season, fifty at a time: estimates, rank intervals, tiers."""
    season = find_named(session, Season, name)
    closed = why_closed(season)
    asked: dict[str, Any] = {"search": q.strip(), "verified": bool(verified), "by": by}

    def make() -> str:
        whole = board.standings.get(season)
        found = select_lines(whole.ranked, **asked, page=page)
        waiting = select(func.count(Submission.id)).where(
            Submission.season_id == season.id, Submission.state.in_(WAITING)
        )
        # The learners without a rank stand below the first page.
        below = page == 1 and not verified
        values = {"q": q.strip(), "verified": verified, "by": by, "page": found.page}
        defaults = {"q": "", "verified": "", "by": "rank", "page": 1}
        return rendered(
            "board/standings.html",
            f"/seasons/{season.name}",
            season=SeasonRecord.of(season),
            closed=closed,
            standings=whole if whole.version else None,
            is_current=whole.version >= season.version,
            lines=found.lines,
            n_found=found.n_found,
            page=found.page,
            n_pages=found.n_pages,
            asked=asked,
            unranked=select_lines(whole.unranked if below else (), search=q.strip()),
            waiting=session.scalar(waiting) or 0,
            links=PageLinks(f"/seasons/{season.name}", values, defaults),
            bibtex=_bibtex(season, settings),
        )

    return board.answer(request, season, make, state=closed)


class SeasonStandings(BaseModel):
    """The standings of a season; null while the first ones are computed.

    ``is_current`` is false while newer ones are computed.
    """

    standings: Standings | None
    is_current: bool


@router.get("/api/seasons/{name}/standings", response_model=SeasonStandings, tags=["seasons"])
def standings_record(
    request: Request, session: ReadSession, board: CurrentBoard, name: Slug
) -> Response:
    """Return the standings of a season: estimates, rank intervals, tiers."""
    season = find_named(session, Season, name)

    def make() -> str:
        found = board.standings.get(season)
        record = {
            "standings": asdict(found) if found.version else None,
            "is_current": found.version >= season.version,
        }
        return json.dumps(record, allow_nan=False)

    return board.answer(request, season, make, "application/json")


# -- files of a season -----------------------------------------------------------------------------

#: Values that are the same in all rows, so that the table is self-describing.
_ABOUT = {"metric": "tce", "unit": "errors", "direction": "lower"}
_SCORES = ("algorithm", "task", "run", "score", "ranked", "account", "begun", *_ABOUT)


@router.get("/seasons/{name}/{file}", response_class=Response)
def season_file(
    request: Request,
    session: ReadSession,
    settings: CurrentSettings,
    board: CurrentBoard,
    name: Slug,
    file: Annotated[str, Path(max_length=64, description="scores.csv or season.zip.")],
) -> Response:
    """Return the scores of a season as a tidy table, or the archive of the season.

    A row of ``scores.csv`` is a trial of a learner on a rule, with its errors; ``ranked`` marks
    entries with a rank, and ``begun`` counts the assignments of the account. ``season.zip``
    holds the season with its rules, the scores, and its reference in BibTeX. The same version of a
    season gives the same bytes; the ETag is their SHA-256.
    """
    season = find_named(session, Season, name)
    if file == "scores.csv":
        answer = board.answer(
            request, season, lambda: _scores(session, board, season), "text/csv; charset=utf-8"
        )
        saved_as = f"{season.name}-scores.csv"
    elif file == "season.zip":
        if board.standings.get(season).version < season.version:
            raise Conflict("the standings are being computed; ask for the archive again later")
        answer = board.answer(
            request, season, lambda: _archive(session, settings, board, season), "application/zip"
        )
        saved_as = f"{season.name}-v{season.version}.zip"
    else:
        raise Missing(f"season {season.name} has the files scores.csv and season.zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{saved_as}"'
    return answer


def _scores(session: Session, board: BoardState, season: Season) -> str:
    """Return the table of scores in the order of the standings' computation, as resamples need."""
    ranked = {line.contender.name for line in board.standings.get(season).ranked}
    scores = board_of(session, season)
    contenders = {each.name: each for each in scores.contenders}
    entries = {each.entry_id for each in scores.contenders}
    scored = any(row.entry in entries for row in scores.scores)
    table = score_table(scores, scores.contenders) if scored else None
    return csv_text(
        (
            row
            | {
                "ranked": "yes" if row["algorithm"] in ranked else "no",
                "account": contenders[row["algorithm"]].account,
                "begun": contenders[row["algorithm"]].n_begun,
                **_ABOUT,
            }
            for row in (table.rows.records() if table else ())
        ),
        _SCORES,
    )


#: One at a time: for a season with thousands of entries it takes seconds.
_BUILDING = Lock()
_README = """{title}

Season {season} of a Gnomon leaderboard at version {version}; citation.bib is its reference.
A row of scores.csv is a trial; `gnomon rank scores.csv --where ranked=yes` compares the learners.
On the board each account counts once. `sha256sum --check SHA256SUMS` checks the files.
"""


def _archive(session: Session, settings: Settings, board: BoardState, season: Season) -> bytes:
    # Other requests do not wait: hundreds of waiting ones would hold all threads.
    if not _BUILDING.acquire(blocking=False):
        raise Conflict("an archive is being made; ask again in a minute")
    try:
        readme = _README.format(title=season.title, season=season.name, version=season.version)
        files = {
            "README.md": readme,
            "citation.bib": _bibtex(season, settings),
            "season.json": SeasonRecord.of(season).model_dump_json(indent=1) + "\n",
            "scores.csv": _scores(session, board, season),
        }
        return _packed(f"{season.name}-v{season.version}", files)
    finally:
        _BUILDING.release()


def _packed(folder: str, files: Mapping[str, str]) -> bytes:
    """Return a ZIP file, with checksums, that depends on the files only: no dates, no owners."""
    data = {name: text.encode() for name, text in files.items()}
    sums = "".join(f"{hashlib.sha256(x).hexdigest()}  {name}\n" for name, x in data.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in {**data, "SHA256SUMS": sums.encode()}.items():
            info = zipfile.ZipInfo(f"{folder}/{name}", (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(info, content)
    return out.getvalue()


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def _bibtex(season: Season, settings: Settings) -> str:
    """Return the BibTeX entry of the current version of a season."""
    site = settings.public_url.rstrip("/")
    title = "".join(_LATEX.get(letter, letter) for letter in re.sub(r"\s+", " ", season.title))
    fields = {
        "title": f"{{{title}}}: standings of a season of the Game of Hidden Rules",
        "author": f"{{{urlsplit(site).netloc or 'Gnomon leaderboard'}}}",
        "year": str((season.closes_at or season.created_at).year),
        "version": str(season.version),
        "howpublished": rf"\url{{{site}/seasons/{season.name}}}" if site else "",
    }
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    return f"@misc{{gnomon-{season.name}-v{season.version},\n{''.join(lines)}}}\n"
