"""What the pages share in a process: the newest standings, kept pages, games in play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from gnomon.leaderboard.standings.cache import StandingsCache
from gnomon.studies.kept_games import GamesInPlay
from gnomon.web.pages.page_cache import PageCache

__all__ = ["BoardState", "CurrentBoard", "board_state"]


@dataclass(frozen=True)
class BoardState:
    """Standings, pages and games of one application."""

    standings: StandingsCache
    pages: PageCache
    games: GamesInPlay


async def board_state(connection: HTTPConnection) -> BoardState:
    """Return the state of the application that a request came to, made when first asked for."""
    app = connection.app
    if not hasattr(app.state, "board"):
        folder = app.state.settings.snapshots
        standings = StandingsCache(app.state.database, folder)
        app.state.board = BoardState(standings, PageCache(), GamesInPlay())
    found: BoardState = app.state.board
    return found


CurrentBoard = Annotated[BoardState, Depends(board_state)]
