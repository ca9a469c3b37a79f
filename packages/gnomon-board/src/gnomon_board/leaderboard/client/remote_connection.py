"""Connections to a leaderboard for remote play, by websocket or HTTP request."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from gnomon_board.errors import LeaderboardError, RefusedError
from gnomon_board.http_client import Client
from gnomon_board.leaderboard.hidden.protocol import AttemptPlay, Move, Replies, Reply, TrialView

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

#: Most bytes of an answer.
_LARGEST = 8 << 20


class Connection(Protocol):
    """Interface of a connection that carries moves to the server and replies back."""

    def move(self, moves: Sequence[Move]) -> list[Reply]:
        """Make moves in different trials, and return a reply to each."""

    def close(self) -> None:
        """End the connection."""


class HttpConnection:
    """Connection by one HTTP request per message: slower, but needs only HTTP."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def move(self, moves: Sequence[Move]) -> list[Reply]:
        """Make moves; raise GnomonError if the server refuses or cannot be reached."""
        value = {"moves": [move.model_dump() for move in moves]}
        answer = self._client.ask("POST", "/api/remote/moves", value)
        return Replies.model_validate(answer).replies

    def close(self) -> None:
        """Do nothing, since each request has its own connection."""


class WebsocketConnection:
    """Connection by websocket; when it breaks, it is reopened and the message sent again.

    ``url`` is that of the leaderboard, ``http://...`` or ``https://...``; ``patience_s`` is the
    time to wait for an unavailable server.

    Raises ModuleNotFoundError if websockets is not installed.
    """

    def __init__(self, url: str, token: str, *, patience_s: float = 30.0) -> None:
        # The thread that opens the connection imports it again; if it is missing, the error must
        # be raised here, where the caller sees it, and not in the thread.
        import_module("websockets.sync.client")

        self._url = "ws" + url.removeprefix("http") + "/api/remote/play"
        self._token, self._patience_s = token, patience_s
        self._connection: ClientConnection | None = None
        self._opened = ExitStack()

    def move(self, moves: Sequence[Move]) -> list[Reply]:
        """Make moves; raise GnomonError if the server refuses or cannot be reached."""
        text = json.dumps({"moves": [move.model_dump() for move in moves]})
        answer = json.loads(self._ask(text))
        if "detail" in answer:
            raise RefusedError(
                f"{self._url}: {answer['status']}: {answer['detail']}", answer["status"]
            )
        return Replies.model_validate(answer).replies

    def close(self) -> None:
        """Close the connection."""
        self._connection = None
        self._opened.close()

    def _ask(self, text: str) -> str | bytes:
        """Send a message until it is answered or ``patience_s`` is over; it may be sent twice."""
        from websockets.exceptions import InvalidStatus, WebSocketException

        end, pause = time.monotonic() + self._patience_s, 0.1
        while True:
            try:
                connection = self._connection or self._open()
                self._connection = connection
                connection.send(text)
                return connection.recv(timeout=self._patience_s)
            except InvalidStatus as refusal:
                status = refusal.response.status_code
                if status not in (429, 502, 503, 504):
                    raise RefusedError(f"{self._url}: {status}: refused", status) from None
                failure: Exception = refusal
            except (OSError, WebSocketException) as error:
                failure = error
            self.close()
            if time.monotonic() + pause > end:
                what = str(failure) or type(failure).__name__
                raise LeaderboardError(f"{self._url}: cannot be reached: {what}") from None
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    def _open(self) -> ClientConnection:
        from websockets.sync.client import connect

        opening = connect(
            self._url,
            additional_headers={"Authorization": f"Bearer {self._token}"},
            # No proxy of the environment: a token must not pass through it.
            proxy=None,
            max_size=_LARGEST,
            compression=None,
        )
        return self._opened.enter_context(opening)


class RemoteBoard:
    """A leaderboard with a hidden division, as a player sees it.

    Its methods need the server to run; its creation does not contact the server.

    Parameters
    ----------
    url : str
        ``http://...`` or ``https://...``.
    token : str
        An API token with the scope ``submit``.
    patience_s : float
        Time to wait for an unavailable server.
    websocket : bool, optional
        Whether to play over a websocket; by default if websockets is installed.
    insecure : bool
        Whether to send the token over ``http://`` to another machine.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        patience_s: float = 90.0,
        websocket: bool | None = None,
        insecure: bool = False,
    ) -> None:
        self.client = Client(url, token, patience_s=patience_s, insecure=insecure)
        self._token, self._patience_s, self._websocket = token, patience_s, websocket

    def connect(self) -> Connection:
        """Return a new connection for play."""
        if self._websocket is not False:
            try:
                return WebsocketConnection(
                    self.client.url, self._token, patience_s=self._patience_s
                )
            except ModuleNotFoundError:
                if self._websocket:
                    raise LeaderboardError(
                        "a websocket needs websockets, which is not installed; "
                        "pip install websockets"
                    ) from None
        return HttpConnection(self.client)

    def entry(
        self, season: str, name: str, *, description: str = "", link: str = ""
    ) -> dict[str, Any]:
        """Return the entry of a name in a season; register it if there is none."""
        path = f"/api/seasons/{quote(season, safe='')}/entries"
        after = 0
        while page := self.client.get(f"{path}?limit=500&after={after}"):
            for entry in page:
                if entry["name"] == name:
                    found: dict[str, Any] = entry
                    return found
            after = page[-1]["id"]
        value = {"name": name, "description": description, "link": link}
        made: dict[str, Any] = self.client.ask("POST", path, value)
        return made

    def next_attempt(self, entry: int) -> dict[str, Any]:
        """Request another attempt, on other boards; it is counted."""
        made: dict[str, Any] = self.client.ask("POST", f"/api/entries/{entry}/attempts")
        return made

    def begin(self, entry: int, attempt: int) -> AttemptPlay:
        """Begin an attempt, or continue it."""
        path = f"/api/remote/entries/{entry}/attempts/{attempt}"
        return AttemptPlay.model_validate(self.client.ask("POST", path))

    def view(self, trial: int) -> TrialView:
        """Return the current view of a trial."""
        return TrialView.model_validate(self.client.get(f"/api/remote/trials/{trial}"))
