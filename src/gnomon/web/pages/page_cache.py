"""Cache of rendered pages with ETags, and the state that pages share in a process."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.encoders import jsonable_encoder
from starlette.requests import HTTPConnection

from gnomon.database.schema import Season
from gnomon.leaderboard.standing_snapshots import StandingsCache
from gnomon.studies.game_store import PlayedGameCache


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A rendered page as bytes, with its ETag."""

    body: bytes
    etag: str
    media_type: str


class PageCache:
    """LRU cache of rendered pages."""

    def __init__(self, size: int = 512) -> None:
        self._size = size
        self._lock = Lock()
        self._pages: OrderedDict[Hashable, CachedPage] = OrderedDict()

    def get(
        self, key: Hashable, make: Callable[[], str], media_type: str = "text/html; charset=utf-8"
    ) -> CachedPage:
        """Return the page of a key, which names all that it depends on; made if it is not there."""
        with self._lock:
            page = self._pages.get(key)
            if page is not None:
                self._pages.move_to_end(key)
                return page
        body = make().encode()
        page = CachedPage(body, f'"{hashlib.sha256(body).hexdigest()[:20]}"', media_type)
        with self._lock:
            self._pages[key] = page
            while len(self._pages) > self._size:
                self._pages.popitem(last=False)
        return page


def json_text(page: Any) -> str:
    """Return a record of a page as JSON, as the framework would write it."""
    return json.dumps(jsonable_encoder(page), allow_nan=False, separators=(",", ":"))


def cached_response(request: Request, page: CachedPage) -> Response:
    """Return a cached page, or 304 if the browser has it already."""
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
    games: PlayedGameCache

    def page(
        self,
        season: Season,
        key: Sequence[Hashable],
        make: Callable[[], str],
        media_type: str = "text/html; charset=utf-8",
    ) -> CachedPage:
        """Return a page of a season, made once for each state of it and of its standings."""
        snapshot = self.standings.get(season.id, season.version)
        shown = snapshot and (snapshot.standings.version, snapshot.is_current)
        whole = (*key, media_type, season.id, season.version, shown)
        return self.pages.get(whole, make, media_type)


async def board_state(connection: HTTPConnection) -> BoardState:
    """Return the state of the application that a request came to, made when first asked for."""
    app = connection.app
    if not hasattr(app.state, "board"):
        folder = app.state.settings.snapshots
        standings = StandingsCache(app.state.database, folder)
        app.state.board = BoardState(standings, PageCache(), PlayedGameCache())
    found: BoardState = app.state.board
    return found


CurrentBoard = Annotated[BoardState, Depends(board_state)]
