"""The scores behind a board as a file: from it every rank and every number can be made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from sqlalchemy.orm import Session

from gnomon.database.tables import Season
from gnomon.leaderboard.csv_cells import csv_text
from gnomon.leaderboard.seasons.entries import find_season
from gnomon.leaderboard.standings.cache import board_of
from gnomon.leaderboard.standings.compute import score_table
from gnomon.web.api.dependencies import ReadSession
from gnomon.web.api.paging import Slug
from gnomon.web.pages.board_state import BoardState, CurrentBoard
from gnomon.web.pages.page_cache import kept_response

__all__ = ["router"]

router = APIRouter(tags=["pages"])

#: What every row says of the whole table, so that who reads it need not be told.
_ABOUT = {"metric": "tce", "unit": "errors", "direction": "lower"}
_COLUMNS = ("algorithm", "task", "run", "score", "ranked", "hidden", "account", *_ABOUT)


@router.get("/seasons/{name}/scores.csv", response_class=PlainTextResponse)
def scores_csv(request: Request, session: ReadSession, board: CurrentBoard, name: Slug) -> Response:
    """Return the scores of a season as a tidy table: learners, rules, trials, errors.

    ``ranked`` tells who has a rank, ``hidden`` which rules were hidden; ``gnomon rank FILE --where
    ranked=yes`` makes the ranks again.
    """
    season = find_season(session, name)
    snapshot = board.standings.get(season.id, season.version)
    shown = None if snapshot is None else snapshot.standings.version
    key = ("scores", season.id, season.version, shown)
    kept = board.pages.get(key, lambda: _text(session, board, season), "text/csv; charset=utf-8")
    answer = kept_response(request, kept)
    answer.headers["Content-Disposition"] = f'attachment; filename="{season.name}-scores.csv"'
    return answer


def _text(session: Session, board: BoardState, season: Season) -> str:
    return csv_text(_rows(session, board, season), _COLUMNS)


def _rows(session: Session, board: BoardState, season: Season) -> Iterator[Mapping[str, Any]]:
    snapshot = board.standings.get(season.id, season.version)
    ranked = {line.contender.name for line in snapshot.standings.ranked} if snapshot else set()
    scores = board_of(session, season)
    if scores.scores.is_empty():
        return
    accounts = {each.name: each.account for each in scores.contenders}
    # In the order in which the standings are computed: resamples depend on it.
    for row in score_table(scores, scores.contenders).frame.iter_rows(named=True):
        algorithm, task = row["algorithm"], row["task"]
        yield {
            "algorithm": algorithm,
            "task": task,
            "run": row["run"],
            "score": row["score"],
            "ranked": "yes" if algorithm in ranked else "no",
            "hidden": "yes" if scores.rules[task] else "no",
            "account": accounts[algorithm],
            **_ABOUT,
        }
