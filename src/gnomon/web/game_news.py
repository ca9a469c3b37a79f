"""Publish and subscribe within a process: that something is new in a game, not what.

Whoever hears of it asks for the game, as everybody does. A listener in another process hears
nothing, and asks from time to time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from gnomon.database.schema import PlaySession


class GameNews:
    """Who listens to which game, by the hash of a key to it.

    Told from any thread; each listener is an event of the loop that it waits in.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}

    @contextmanager
    def listening(self, digest: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set whenever there is news; who has heard of it clears it."""
        listener = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            self._listeners.setdefault(digest, set()).add(listener)
        try:
            yield listener[1]
        finally:
            with self._lock:
                left = self._listeners[digest]
                left.discard(listener)
                if not left:
                    del self._listeners[digest]

    def tell(self, row: PlaySession) -> None:
        """Tell the players of a game that something is new; what was new must be committed."""
        with self._lock:
            found = [
                listener
                for digest in (row.key, row.partner_key)
                for listener in self._listeners.get(digest or "", ())
            ]
        for loop, event in found:
            loop.call_soon_threadsafe(event.set)
