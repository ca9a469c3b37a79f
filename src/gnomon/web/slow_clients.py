"""Connections that say nothing, or very slowly: they are closed, for there is only so many.

The server's library waits for ever for the end of a request's head. A proxy would not; but a board
may stand without one.
"""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["impatient"]


def impatient(seconds: float) -> type[asyncio.Protocol]:
    """Return the protocol of a connection that is closed if a head takes longer than this.

    Parameters
    ----------
    seconds : float
        The first head has one of these spans, each later one has one to two. Between two requests
        the library's own limit is shorter.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    # Whichever of the library's protocols it is, `cycle` is the request whose head has come.
    # The library chooses that one at run time, by what is installed, and keeps it in a variable; as
    # a base class mypy takes only what a class statement names.
    class Impatient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            # As if it had been looked at, with no request yet.
            self._look_again((None,))

        def _look_again(self, seen: object) -> None:
            self.loop.call_later(seconds, self._look, seen)

        def _look(self, seen: Any) -> None:
            gone = self.transport.is_closing()
            # A websocket goes on under another protocol.
            if gone or self.transport.get_protocol() is not self:
                return
            waits = self.cycle is None or self.cycle.response_complete
            if waits and seen is not None and seen[0] is self.cycle:
                self.transport.close()
            else:
                self._look_again((self.cycle,) if waits else None)

    return Impatient
