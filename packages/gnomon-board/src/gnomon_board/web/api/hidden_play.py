"""JSON API of the hidden division: requests for many trials, or a websocket for a whole run."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, WebSocket, WebSocketDisconnect
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from sqlalchemy.exc import OperationalError

from gnomon.errors import GnomonError
from gnomon_board.database.engine import Database
from gnomon_board.errors import TooMany
from gnomon_board.leaderboard.hidden.begun_attempts import close_attempt
from gnomon_board.leaderboard.hidden.protocol import AttemptPlay, Moves, Replies, TrialView
from gnomon_board.leaderboard.hidden.remote_trials import RemoteGameCache, begin, make_moves, view
from gnomon_board.leaderboard.seasons import find_season, reveal_of
from gnomon_board.leaderboard.server_health import no_room
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.tokens import Caller, caller_of_token
from gnomon_board.web.api.dependencies import (
    CurrentSettings,
    DatabaseOf,
    ReadSession,
    RowId,
    Slug,
    WriteSession,
    caller,
)
from gnomon_board.web.api.records import status_of
from gnomon_board.web.limits import Intake, Turns
from gnomon_board.web.middleware import address_of

router = APIRouter(prefix="/api", tags=["hidden division"])

Submitter = Annotated[Caller, Depends(caller("submit"))]

#: How long a websocket goes on without its token being looked at again, in seconds.
_TRUST_S = 10.0
#: The close code of a connection that breaks the server's rules.
_POLICY = 1008


def _live(connection: Request | WebSocket) -> RemoteGameCache:
    """Return the games in play of this process."""
    state = connection.app.state
    if not hasattr(state, "live_games"):
        state.live_games = RemoteGameCache()
    games: RemoteGameCache = state.live_games
    return games


@router.post("/remote/entries/{entry}/attempts/{number}")
def begin_attempt(
    session: WriteSession, entry: RowId, number: RowId, who: Submitter
) -> AttemptPlay:
    """Begin to play an attempt through the server, or find how far it is. It may be asked again."""
    return begin(session, entry, number, account_id=who.account_id)


@router.post("/remote/entries/{entry}/attempts/{number}/close", status_code=204)
def close(session: WriteSession, entry: RowId, number: RowId, who: Submitter) -> None:
    """Close an attempt that was begun: what is left of it is scored as errors."""
    close_attempt(session, entry, number, account_id=who.account_id)


@router.get("/remote/trials/{trial}")
def get_trial(session: ReadSession, trial: RowId, who: Submitter) -> TrialView:
    """Tell what the player of a trial sees now; only its own player may ask."""
    return view(session, trial, account_id=who.account_id)


@router.post("/remote/moves")
def post_moves(request: Request, database: DatabaseOf, moves: Moves, who: Submitter) -> Replies:
    """Make attempts in several trials. What was answered is counted, and never made twice."""
    replies = make_moves(
        *(database, _live(request), moves.moves),
        account_id=who.account_id,
        address=address_of(request.scope),
    )
    return Replies(replies=replies)


@router.get("/seasons/{season}/reveal")
def get_reveal(session: ReadSession, season: Slug) -> dict[str, Any]:
    """Return the hidden rules and the salt of a season that has been revealed."""
    return reveal_of(find_season(session, season)).to_record()


@router.websocket("/remote/play")
async def play(websocket: WebSocket, database: DatabaseOf, settings: CurrentSettings) -> None:
    """Take moves, and answer each message with the replies, or with why it is refused.

    The token comes in the header ``Authorization: Bearer ...``. A connection over which nobody has
    moved for long is closed.
    """
    secret = websocket.headers.get("authorization", "").removeprefix("Bearer ")
    who = await run_in_threadpool(_submitter, database, secret)
    if who is None:
        await websocket.close(_POLICY)
        return
    intake: Intake = websocket.app.state.intake
    try:
        with intake.websockets.held(who.account_id, address_of(websocket.scope)):
            await websocket.accept()
            await _play(websocket, database, settings, secret, who)
    except TooMany as error:
        # Before it is accepted; told as HTTP, so that a player comes again instead of giving up.
        headers = {"Retry-After": str(error.retry_after_s)}
        refusal = JSONResponse({"detail": str(error)}, 429, headers)
        await websocket.send_denial_response(refusal)
    except TimeoutError:
        await websocket.close()


async def _play(
    websocket: WebSocket,
    database: Database,
    settings: Settings,
    secret: str,
    who: Caller | None,
) -> None:
    """Answer messages until one side has had enough; TimeoutError if none comes for long."""
    looked = time.monotonic()
    turns: Turns = websocket.app.state.intake.turns
    try:
        while True:
            text = await asyncio.wait_for(websocket.receive_text(), settings.idle_websocket_s)
            if time.monotonic() - looked > _TRUST_S:
                who = await run_in_threadpool(_submitter, database, secret)
                looked = time.monotonic()
            if who is None:
                await websocket.close(_POLICY)
                return
            async with turns.of(address_of(websocket.scope)):
                answer = await run_in_threadpool(_answer, websocket, database, text, who)
            await websocket.send_text(answer)
    except WebSocketDisconnect:
        pass
    except KeyError:
        # Bytes where text was expected.
        await websocket.close(_POLICY)


def _submitter(database: Database, secret: str) -> Caller | None:
    """Return who holds a token, if it allows to submit."""
    with database.reading() as session:
        found = caller_of_token(session, secret)
    return found if found is not None and found.may("submit") else None


def _answer(websocket: WebSocket, database: Database, text: str, who: Caller) -> str:
    """Return the answer to one message; a refusal is one, and the connection goes on."""
    try:
        moves = Moves.model_validate_json(text)
        replies = make_moves(
            *(database, _live(websocket), moves.moves),
            account_id=who.account_id,
            address=address_of(websocket.scope),
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"]) or "message"
        return _refused(f"{where}: {first['msg']}", status_of(error))
    except GnomonError as error:
        return _refused(str(error), status_of(error))
    except (OperationalError, OSError) as error:
        refusal = no_room(error)
        if refusal is None:
            raise
        return _refused(str(refusal), status_of(refusal))
    return Replies(replies=replies).model_dump_json()


def _refused(detail: str, status: int) -> str:
    return json.dumps({"detail": detail.splitlines()[0], "status": status})
