"""Cache of rendered pages with ETags, packed by gzip, and the state that pages share in a process.

Only pages that are the same for all readers are packed. A page with a form of a signed-in reader is
not: its token could be guessed from the length of the packed page (BREACH).
"""

from __future__ import annotations

import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Self

from fastapi import Depends, Request, Response
from starlette.requests import HTTPConnection

from gnomon_board.database.schema import Season
from gnomon_board.leaderboard.standing_snapshots import Snapshot, StandingsCache
from gnomon_board.studies.play import PlayedGameCache

HTML = "text/html; charset=utf-8"
#: Fewest bytes of a page that is packed.
_LEAST_PACKED = 500


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as bytes, as it is and packed, with its ETag; ``packed`` is empty if it is small."""

    body: bytes
    packed: bytes
    etag: str
    media_type: str

    @classmethod
    def of(cls, made: str | bytes, media_type: str = HTML) -> Self:
        """Return the cached form of a rendered page."""
        body = made.encode() if isinstance(made, str) else made
        is_text = isinstance(made, str) and len(body) >= _LEAST_PACKED
        packed = gzip.compress(body, 6, mtime=0) if is_text else b""
        return cls(body, packed, hashlib.sha256(body).hexdigest()[:20], media_type)


class PageCache:
    """LRU cache of rendered pages, limited in bytes, with the newest state of each page."""

    def __init__(self, max_bytes: int = 64 << 20) -> None:
        self._most, self._held = max_bytes, 0
        self._lock = Lock()
        self._pages: OrderedDict[Hashable, tuple[Hashable, CachedPage]] = OrderedDict()

    def get(
        self,
        key: Hashable,
        make: Callable[[], str | bytes],
        media_type: str = HTML,
        state: Hashable = None,
    ) -> CachedPage:
        """Return the page of a key in a state; if it is missing, make it and replace an older one.

        The page depends on key and state only. Earlier states do not return, so a page of another
        state is not kept.
        """
        with self._lock:
            kept = self._pages.get(key)
            if kept is not None and kept[0] == state:
                self._pages.move_to_end(key)
                return kept[1]
        page = CachedPage.of(make(), media_type)
        with self._lock:
            before = self._pages.pop(key, None)
            self._pages[key] = state, page
            self._held += _size(page) - (_size(before[1]) if before else 0)
            while self._held > self._most:
                self._held -= _size(self._pages.popitem(last=False)[1][1])
        return page


def _size(page: CachedPage) -> int:
    return len(page.body) + len(page.packed)


def cached_response(request: Request, page: CachedPage) -> Response:
    """Return a page with its ETag, packed if the browser accepts that."""
    # The browser revalidates the page each time: an outdated board is worse than a slow one.
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    packed = bool(page.packed) and takes_gzip(request.headers.get("accept-encoding", ""))
    # The packed page has another ETag; AnswerCache answers 304 to either.
    headers["ETag"] = f'"{page.etag}-gzip"' if packed else f'"{page.etag}"'
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(
        page.packed if packed else page.body, media_type=page.media_type, headers=headers
    )


def takes_gzip(accepted: str) -> bool:
    """Return whether a client accepts gzip.

    Examples
    --------
    >>> [takes_gzip(x) for x in ("gzip, br", "br;q=1, gzip;q=0.5", "gzip;q=0", "*", "identity")]
    [True, True, False, False, False]
    """
    for part in accepted.lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


@dataclass(frozen=True)
class BoardState:
    """Standings, pages and games of one application."""

    standings: StandingsCache
    pages: PageCache
    games: PlayedGameCache

    def snapshot(self, season: Season) -> Snapshot | None:
        """Return the current or previous standings of a season; None if none are ready."""
        return self.standings.get(season.id, season.version)

    def page(
        self,
        season: Season | None,
        key: Sequence[Hashable],
        make: Callable[[], str | bytes],
        media_type: str = HTML,
        state: Hashable = None,
    ) -> CachedPage:
        """Return a page of a season, made once for each state of the season and its standings.

        ``state`` holds the other changing values that the page depends on.
        """
        if season is None:
            return self.pages.get((*key, media_type), make, media_type, state)
        snapshot = self.snapshot(season)
        shown = snapshot and (snapshot.standings.version, snapshot.is_current)
        whole = (*key, media_type, season.id)
        return self.pages.get(whole, make, media_type, (season.version, shown, state))

    def answer(
        self,
        request: Request,
        season: Season | None,
        key: Sequence[Hashable],
        make: Callable[[], str],
        state: Hashable = None,
    ) -> Response:
        """Answer with a page cached as by :meth:`page`; without a key it is not cached."""
        kept = self.page(season, key, make, HTML, state) if key else CachedPage.of(make())
        return cached_response(request, kept)


async def board_state(connection: HTTPConnection) -> BoardState:
    """Return the state of the application of a request, created at the first call."""
    app = connection.app
    if not hasattr(app.state, "board"):
        folder = app.state.settings.snapshots
        standings = StandingsCache(app.state.database, folder)
        app.state.board = BoardState(
            standings,
            PageCache(),
            PlayedGameCache(),
        )
    found: BoardState = app.state.board
    return found


CurrentBoard = Annotated[BoardState, Depends(board_state)]
