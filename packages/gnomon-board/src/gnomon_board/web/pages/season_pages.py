"""Seasons: their list for the first page, standings as JSON, scores as CSV, archives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from gnomon.files import csv_text
from gnomon_board.database.schema import Entry, Season, Submission
from gnomon_board.leaderboard.seasons import find_season, takes_entries
from gnomon_board.leaderboard.standing_snapshots import COUNTED, board_of
from gnomon_board.leaderboard.standings import Standings, score_table
from gnomon_board.web.api.dependencies import CurrentSettings, ReadSession, Slug
from gnomon_board.web.pages.page_cache import BoardState, CurrentBoard, cached_response
from gnomon_board.web.pages.season_archive import Citation, season_archive

router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class SeasonLine:
    """A season among others; ``is_open``: it takes entries now."""

    name: str
    title: str
    division: str
    description: str
    n_rules: int
    n_entries: int
    n_verified: int
    is_open: bool


@dataclass(frozen=True)
class SeasonsPage:
    """All seasons, the newest first."""

    seasons: list[SeasonLine]


def seasons_page(session: ReadSession) -> SeasonsPage:
    """List the seasons."""
    seasons = session.scalars(select(Season).order_by(Season.id.desc())).all()
    entries = _counts(session, select(Entry.season_id, func.count()).group_by(Entry.season_id))
    verified = _counts(
        session,
        select(Submission.season_id, func.count())
        .where(Submission.state.in_(COUNTED))
        .group_by(Submission.season_id),
    )
    return SeasonsPage(
        [
            SeasonLine(
                *(s.name, s.title, s.division, s.description),
                *(len(s.rules), entries.get(s.id, 0), verified.get(s.id, 0), takes_entries(s)),
            )
            for s in seasons
        ]
    )


def _counts(session: Session, query: Select[int, int]) -> dict[int, int]:
    return {row[0]: row[1] for row in session.execute(query)}


Seasons = Annotated[SeasonsPage, Depends(seasons_page)]


@dataclass(frozen=True)
class SeasonStandings:
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
    season = find_season(session, name)

    def make() -> str:
        snapshot = board.snapshot(season)
        record = {
            "standings": snapshot.standings.as_record() if snapshot else None,
            "is_current": snapshot is not None and snapshot.is_current,
        }
        return json.dumps(record, allow_nan=False)

    kept = board.page(season, ("standings record",), make, "application/json")
    return cached_response(request, kept)


#: Values that are the same in all rows, so that the table is self-describing.
_ABOUT = {"metric": "tce", "unit": "errors", "direction": "lower"}
SCORE_COLUMNS = (
    "algorithm",
    "task",
    "run",
    "score",
    "ranked",
    "account",
    "begun",
    *_ABOUT,
)


@router.get("/seasons/{name}/scores.csv", response_class=PlainTextResponse)
def scores_csv(request: Request, session: ReadSession, board: CurrentBoard, name: Slug) -> Response:
    """Return the scores of a season as a tidy table: learners, rules, trials, errors.

    ``ranked`` marks entries with a rank; ``begun`` counts the attempts dealt to the account.
    """
    season = find_season(session, name)

    def make() -> str:
        return csv_text(score_rows(session, board, season), SCORE_COLUMNS)

    kept = board.page(season, ("scores",), make, "text/csv; charset=utf-8")
    answer = cached_response(request, kept)
    answer.headers["Content-Disposition"] = f'attachment; filename="{season.name}-scores.csv"'
    return answer


def score_rows(session: Session, board: BoardState, season: Season) -> Iterator[Mapping[str, Any]]:
    """Return the rows of the table of scores, in the order of the standings' computation."""
    snapshot = board.standings.get(season.id, season.version)
    ranked = {line.contender.name for line in snapshot.standings.ranked} if snapshot else set()
    scores = board_of(session, season)
    if not scores.scores:
        return
    contenders = {each.name: each for each in scores.contenders}
    # In the order in which the standings are computed: resamples depend on it.
    for row in score_table(scores, scores.contenders).iter_records():
        algorithm = row["algorithm"]
        yield {
            "algorithm": algorithm,
            "task": row["task"],
            "run": row["run"],
            "score": row["score"],
            "ranked": "yes" if algorithm in ranked else "no",
            "account": contenders[algorithm].account,
            "begun": contenders[algorithm].n_begun,
            **_ABOUT,
        }


@router.get("/seasons/{name}/season.zip", response_class=FileResponse)
def season_zip(
    session: ReadSession, settings: CurrentSettings, board: CurrentBoard, name: Slug
) -> FileResponse:
    """Return the archive of a season: its tables, standings and citation.

    The ETag is the SHA-256 of the file.
    """
    season = find_season(session, name)

    def scores() -> Iterator[str]:
        yield csv_text(score_rows(session, board, season), SCORE_COLUMNS)

    citation, snapshot = Citation.of(season, settings), board.snapshot(season)
    made = season_archive(session, settings, season, snapshot, scores(), citation)
    headers = {"ETag": f'"{made.sha256}"', "Cache-Control": "no-cache"}
    return FileResponse(
        made.path, media_type="application/zip", filename=made.name, headers=headers
    )
