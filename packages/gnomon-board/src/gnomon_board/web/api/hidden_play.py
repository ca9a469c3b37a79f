"""JSON API of the hidden division: attempts in many trials with each request."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from gnomon_board.leaderboard.hidden import GameCache, begin, make_moves
from gnomon_board.leaderboard.played import close_attempt
from gnomon_board.leaderboard.remote_game import AttemptPlay, Moves, Replies
from gnomon_board.tokens import Caller
from gnomon_board.web.api.dependencies import DatabaseOf, RowId, WriteSession, caller
from gnomon_board.web.middleware import address_of

router = APIRouter(prefix="/api", tags=["hidden division"])

Submitter = Annotated[Caller, Depends(caller("submit"))]


@router.post("/remote/entries/{entry}/attempts/{number}")
def begin_attempt(
    session: WriteSession, entry: RowId, number: RowId, who: Submitter
) -> AttemptPlay:
    """Begin to play an attempt through the server, or return how far it is."""
    return begin(session, entry, number, account_id=who.account_id)


@router.post("/remote/entries/{entry}/attempts/{number}/close", status_code=204)
def close(session: WriteSession, entry: RowId, number: RowId, who: Submitter) -> None:
    """Close an attempt that was begun: the rest of it is scored as errors."""
    close_attempt(session, entry, number, account_id=who.account_id)


@router.post("/remote/moves")
def post_moves(request: Request, database: DatabaseOf, moves: Moves, who: Submitter) -> Replies:
    """Make attempts in several trials; answered ones are counted, and never made twice."""
    live: GameCache = request.app.state.live_games
    address = address_of(request.scope)
    made = make_moves(database, live, moves.moves, account_id=who.account_id, address=address)
    return Replies(replies=made)
