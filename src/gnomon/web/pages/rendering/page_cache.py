"""Pages that are the same for everybody, kept as bytes until what they show has changed.

What the pages share in a process: the newest standings, kept pages, games in play.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.encoders import jsonable_encoder
from starlette.requests import HTTPConnection

from gnomon.leaderboard.standings.snapshots import StandingsCache
from gnomon.studies.game_store import GamesInPlay

__all__ = [
    "BoardState",
    "CurrentBoard",
    "KeptPage",
    "PageCache",
    "board_state",
    "json_text",
    "kept_response",
]


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it goes over the wire, and a name that changes with it."""

    body: bytes
    etag: str
    media_type: str


class PageCache:
    """The pages asked for last.

    Parameters
    ----------
    size : int
        How many are kept.

    Examples
    --------
    >>> cache = PageCache()
    >>> cache.get("a", lambda: "first").body, cache.get("a", lambda: "second").body
    (b'first', b'first')
    """

    def __init__(self, size: int = 512) -> None:
        self._size = size
        self._lock = Lock()
        self._pages: OrderedDict[Hashable, KeptPage] = OrderedDict()

    def get(
        self, key: Hashable, make: Callable[[], str], media_type: str = "text/html; charset=utf-8"
    ) -> KeptPage:
        """Return the page of a key, which names all that it depends on; made if it is not there."""
        with self._lock:
            page = self._pages.get(key)
            if page is not None:
                self._pages.move_to_end(key)
                return page
        body = make().encode()
        page = KeptPage(body, f'"{hashlib.sha256(body).hexdigest()[:20]}"', media_type)
        with self._lock:
            self._pages[key] = page
            while len(self._pages) > self._size:
                self._pages.popitem(last=False)
        return page


def json_text(page: Any) -> str:
    """Return a record of a page as JSON, as the framework would write it."""
    return json.dumps(jsonable_encoder(page), allow_nan=False, separators=(",", ":"))


def kept_response(request: Request, page: KeptPage) -> Response:
    """Return a kept page, or only the word that the browser has it already."""
    # The browser asks each time whether there is a newer one: a board that lies is worse than slow.
    headers = {"ETag": page.etag, "Cache-Control": "no-cache"}
    if page.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(page.body, media_type=page.media_type, headers=headers)


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
