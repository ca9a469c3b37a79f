"""Two at a board, in the browser: news by a websocket, waiting for the other, messages.

The server decides whose turn it is from the attempts. The websocket only says that something is
new; the page asks for the game then, as it does from time to time without a websocket.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Response, WebSocket
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from gnomon.database.engine import Database
from gnomon.leaderboard.accounts.rate_limits import MINUTE_S, count_or_refuse
from gnomon.leaderboard.accounts.tokens import digest_of
from gnomon.leaderboard.refusals import Missing, TooMany
from gnomon.studies.game_store import find_game, row_of
from gnomon.studies.partners import MOST_MESSAGE, await_partner, send_message
from gnomon.web.api.dependencies import CurrentSettings, DatabaseOf
from gnomon.web.client_limits import Intake
from gnomon.web.middleware import address_of
from gnomon.web.pages.page_cache import CurrentBoard
from gnomon.web.pages.play.game_looks import Key
from gnomon.web.pages.play.game_pages import Checked, GamePage, page_of

router = APIRouter(tags=["play"])

#: Messages a minute that one player may send.
_MESSAGES_PER_MINUTE = 60
#: The close code of a connection to a game that there is not.
_POLICY = 1008


class TurnForm(BaseModel):
    """Which attempt of a bot is asked for, both from 1; asked for twice, it is made once."""

    model_config = ConfigDict(extra="forbid")
    episode: Annotated[int, Field(ge=1, le=2000)] | None = None
    number: Annotated[int, Field(ge=1, le=2000)] | None = None


class MessageForm(BaseModel):
    """What is written to the partner; sent twice under one name, it is kept once."""

    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, Field(min_length=1, max_length=MOST_MESSAGE)]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{0,64}$")] = ""


@router.post("/play/games/{key}/partner.json")
def partner_json(
    board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked, form: TurnForm | None = None
) -> GamePage:
    """Do what is due of the other side.

    Who waits for a partner says so by this, and is paired; a bot makes its attempt; a partner who
    was waited for long enough has gone.
    """
    place = None
    if form is not None and form.episode is not None and form.number is not None:
        place = form.episode, form.number
    with database.writing() as session:
        game, is_new = await_partner(session, key, place)
        page = page_of(game, session)
    if is_new:
        board.news.tell(game.row)
    return page


@router.post("/play/games/{key}/partner", include_in_schema=False)
def partner_form(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> Response:
    """Do it, and show the game again."""
    partner_json(board, database, key, None)
    return RedirectResponse(f"/play/games/{key}", 303)


@router.post("/play/games/{key}/chat.json")
def chat_json(
    board: CurrentBoard, database: DatabaseOf, key: Key, form: MessageForm, _: Checked
) -> GamePage:
    """Keep what is written to the partner."""
    with database.writing() as session:
        who = f"chat {digest_of(key)[:32]}"
        count_or_refuse(session, who, _MESSAGES_PER_MINUTE, MINUTE_S)
        game = find_game(session, key)
        send_message(session, game, form.text, form.name)
        page = page_of(game, session)
    board.news.tell(game.row)
    return page


@router.post("/play/games/{key}/chat", include_in_schema=False)
def chat_form(
    board: CurrentBoard,
    database: DatabaseOf,
    key: Key,
    text: Annotated[str, Form(min_length=1, max_length=MOST_MESSAGE)],
    _: Checked,
) -> Response:
    """Keep it, and show the game again."""
    chat_json(board, database, key, MessageForm(text=text), None)
    return RedirectResponse(f"/play/games/{key}", 303)


@router.websocket("/play/games/{key}/news")
async def news(
    websocket: WebSocket,
    board: CurrentBoard,
    database: DatabaseOf,
    settings: CurrentSettings,
    key: Key,
) -> None:
    """Say each time that something is new in a game; nothing else, and nothing is taken."""
    if not await run_in_threadpool(_there_is, database, key):
        await websocket.close(_POLICY)
        return
    intake: Intake = websocket.app.state.intake
    digest = digest_of(key)
    try:
        with (
            intake.websockets.held(address_of(websocket.scope)),
            board.news.listening(digest) as event,
        ):
            await websocket.accept()
            await _tell(websocket, event, settings.idle_websocket_s)
    except TooMany as error:
        # The page asks from time to time instead.
        headers = {"Retry-After": str(error.retry_after_s)}
        await websocket.send_denial_response(JSONResponse({"detail": str(error)}, 429, headers))


def _there_is(database: Database, key: str) -> bool:
    with database.reading() as session:
        try:
            return row_of(session, key) is not None
        except Missing:
            return False


async def _tell(websocket: WebSocket, event: asyncio.Event, patience_s: float) -> None:
    """Send a number, one higher each time, until the page closes, or for long nothing is new."""
    number = 0
    closed = asyncio.create_task(websocket.receive())
    try:
        while True:
            await websocket.send_text(str(number))
            event.clear()
            heard = asyncio.create_task(event.wait())
            await asyncio.wait(
                (closed, heard), timeout=patience_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not event.is_set():
                heard.cancel()
                break
            number += 1
        if not closed.done():
            await websocket.close()
    finally:
        closed.cancel()
