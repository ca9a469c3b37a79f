"""What the pages share in a process: the newest standings, kept pages, games in play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from gnomon.leaderboard.pages.page_cache import PageCache
from gnomon.leaderboard.play.kept_games import GamesInPlay
from gnomon.leaderboard.standings_cache import StandingsCache

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
