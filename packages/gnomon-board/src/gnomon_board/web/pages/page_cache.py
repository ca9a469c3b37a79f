"""Cache of rendered pages with ETags, packed by gzip, and the state that pages share in a process.

Only what is the same for every reader is packed. A page with a form of somebody who is signed in is
not: from the length of a packed page its token could be guessed (BREACH).
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
#: Fewer bytes are not worth packing.
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
        """Return what was rendered."""
        body = made.encode() if isinstance(made, str) else made
        is_text = isinstance(made, str) and len(body) >= _LEAST_PACKED
        packed = gzip.compress(body, 6, mtime=0) if is_text else b""
        return cls(body, packed, hashlib.sha256(body).hexdigest()[:20], media_type)


class PageCache:
    """LRU cache of rendered pages, of so many bytes; of each page, as it was last asked for."""

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
        """Return the page of a key in a state; made if it is not there, in place of an older one.

        Key and state together name all that the page depends on. What has gone by comes not again,
        so that a page of another state is not worth its room.
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
    """Return a page, packed if the browser takes that, with its ETag."""
    # The browser asks each time whether there is a newer one: a board that lies is worse than slow.
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    packed = bool(page.packed) and takes_gzip(request.headers.get("accept-encoding", ""))
    # Other bytes have another name; by either a browser that has the page gets 304 (AnswerCache).
    headers["ETag"] = f'"{page.etag}-gzip"' if packed else f'"{page.etag}"'
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(
        page.packed if packed else page.body, media_type=page.media_type, headers=headers
    )


def takes_gzip(accepted: str) -> bool:
    """Whether a client takes what is packed by gzip.

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
        """Return the standings of a season, new or as they were before; None if none are ready."""
        return self.standings.get(season.id, season.version)

    def page(
        self,
        season: Season | None,
        key: Sequence[Hashable],
        make: Callable[[], str | bytes],
        media_type: str = HTML,
        state: Hashable = None,
    ) -> CachedPage:
        """Return a page of a season, made once for each state of it and of its standings.

        ``state`` is what else the page depends on and may change.
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
        """Answer with a page that is kept as by :meth:`page`; without a key it is not kept."""
        kept = self.page(season, key, make, HTML, state) if key else CachedPage.of(make())
        return cached_response(request, kept)


async def board_state(connection: HTTPConnection) -> BoardState:
    """Return the state of the application that a request came to, made when first asked for."""
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
