"""Games of people: their pages, attempts and results. The rule never leaves the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field, TypeAdapter

from gnomon_board.database import Database
from gnomon_board.errors import Conflict, Missing
from gnomon_board.studies.induction import Evidence
from gnomon_board.studies.play import StoredGame, find_game, store_changes, store_guess
from gnomon_board.web.api.dependencies import CsrfChecked, DatabaseOf, ReadSession
from gnomon_board.web.api.records import Form
from gnomon_board.web.page_cache import BoardState, CurrentBoard
from gnomon_board.web.replays import replay_of
from gnomon_board.web.templating import html_response
from gohr.people import ClientTimes, PlaySession, PlayView

router = APIRouter(tags=["play"])

Checked = Annotated[None, CsrfChecked]
#: The key of a player, and the number of the series.
Key = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{32}\.[0-9]{1,2}$", description="Secret of the player.")
]

_Milliseconds = Annotated[int, Field(ge=0, lt=2**31)]


class ClientForm(Form):
    """Times by the player's own clock, in ms since the last reply was on the screen."""

    touch_ms: _Milliseconds
    action_ms: _Milliseconds
    away_ms: _Milliseconds = 0
    animation_ms: _Milliseconds = 0


class AttemptForm(Form):
    """A piece, by its cell, and a bucket.

    ``episode`` and ``number``, both from 1, identify the attempt: one that is sent again, since the
    answer was lost, is answered and not made twice.
    """

    cell: Annotated[int, Field(ge=1, le=36)]
    bucket: Annotated[int, Field(ge=0, le=3)]
    episode: Annotated[int, Field(ge=1, le=2000)] | None = None
    number: Annotated[int, Field(ge=1, le=2000)] | None = None
    client: ClientForm | None = None


class BoardForm(Form):
    """The current board, from 1; a request for the next board that is sent twice counts once."""

    episode: Annotated[int, Field(ge=1, le=2000)] | None = None


class GuessForm(Form):
    """A player's guess at the rule, with a confidence from 1 to 5."""

    guess: Annotated[str, Field(min_length=1, max_length=2000)]
    confidence: Annotated[int, Field(ge=1, le=5)]


@dataclass(frozen=True)
class GamePage:
    """A game as its player may see it.

    ``memory_aid``: whether moved pieces and attempts are shown. ``guess_due``: whether the player
    must guess the rule now. ``over``: whether the study has ended for the player. ``is_test``:
    whether these are test boards, on which every attempt is ``placed`` and has no reply.
    """

    view: PlayView
    memory_aid: bool
    guess_due: bool
    over: bool
    is_test: bool


_PAGE = TypeAdapter(GamePage)


def page_of(game: StoredGame) -> GamePage:
    """Return the player's view of a game."""
    view = game.session.view()
    if game.is_test:
        view = replace(
            view,
            end="placed" if view.end == "cleared" else view.end,
            attempts=tuple({**attempt, "outcome": "placed"} for attempt in view.attempts),
            streak=0,
            mastered=False,
        )
    aid = game.session.game.terms.memory_aid
    return GamePage(view, aid, game.guess_due, game.has_left, game.is_test)


@router.get("/api/play/games/{key}")
def game_record(session: ReadSession, key: Key) -> GamePage:
    """Return the state of a game."""
    return page_of(find_game(session, key))


@router.get("/play/games/{key}", include_in_schema=False)
def game_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show a game."""
    game = find_game(session, key)
    page = page_of(game)
    return html_response(
        request,
        "play/game.html",
        key=key,
        player=key.partition(".")[0],
        page=page,
        view=page.view,
        record=_PAGE.dump_python(page),
    )


@router.get("/play/games/{key}/evidence", include_in_schema=False)
def evidence_html(
    request: Request,
    session: ReadSession,
    key: Key,
    board: Annotated[int, Query(ge=0, le=2000)] = 0,
    step: Annotated[int, Query(ge=0, le=2000)] = 0,
) -> Response:
    """Show the attempts from which a player concludes, board by board."""
    game = find_game(session, key)
    shown = Evidence.of(game)
    if shown is None:
        raise Missing("this game has no evidence to show")
    address, played = f"/play/games/{key}", game.session.game
    if not len(shown.log.boards):
        return RedirectResponse(address, 303)
    return html_response(
        request,
        "play/evidence.html",
        replay=replay_of(shown.log, played.board, shown.source, played.rule_name, board, step),
        n_tests=played.episodes,
        address=f"{address}/evidence",
        game=address,
    )


@contextmanager
def _acting(
    board: BoardState, database: Database, key: str, *, guess_first: bool = True
) -> Iterator[StoredGame]:
    """Find a game for an action, and store what the action has changed.

    The game is found and played in one session, and the result is stored in another, to hold the
    write lock for a fraction of the time.
    """
    with database.reading() as session:
        game = find_game(session, key, board.games)
    if game.has_left:
        raise Conflict("this study is over for you")
    if guess_first and game.guess_due:
        raise Conflict("expected a guess at the rule first")
    played, changed_at = game.session, game.row.changed_at
    n_attempts, before = len(played.attempts), (played.n_boards, played.gave_up)
    yield game
    made = played.attempts[n_attempts] if len(played.attempts) > n_attempts else None
    if made is not None or (played.n_boards, played.gave_up) != before:
        with database.writing(lasting=False) as session:
            changed_at = store_changes(session, game, made)
    board.games.put_back(game.row.id, (changed_at, played))


@router.post("/api/play/games/{key}/attempts", response_model=GamePage)
def make_attempt(
    board: CurrentBoard, database: DatabaseOf, key: Key, form: AttemptForm, _: Checked
) -> Response:
    """Try to move a piece into a bucket; the answer has the outcome."""
    with _acting(board, database, key, guess_first=False) as game:
        if not _is_made(game.session, form):
            client = None if form.client is None else ClientTimes(**form.client.model_dump())
            game.session.attempt(form.cell, form.bucket, client=client)
        # For speed the page is not validated against its own type.
        return Response(_PAGE.dump_json(page_of(game)), media_type="application/json")


def _is_made(played: PlaySession, form: AttemptForm) -> bool:
    """Return whether an attempt was made already. Raises Conflict: another one was."""
    place = form.episode, form.number
    if None in place or place == played.next_attempt:
        return False
    known = (each for each in played.attempts if (each.episode + 1, each.number) == place)
    if any((each.cell, each.bucket) == (form.cell, form.bucket) for each in known):
        return True
    raise Conflict("this game has changed in the meantime")


@router.post("/api/play/games/{key}/next")
def deal_next(
    board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked, form: BoardForm | None = None
) -> GamePage:
    """Deal the next board."""
    with _acting(board, database, key) as game:
        if form is None or form.episode in (None, game.session.n_boards):
            game.session.next_board()
        return page_of(game)


@router.post("/api/play/games/{key}/guess")
def send_guess(database: DatabaseOf, key: Key, form: GuessForm, _: Checked) -> GamePage:
    """Store a player's guess at the rule; sent twice, it is stored once."""
    with database.writing() as session:
        game = find_game(session, key)
        if game.has_guessed:
            return page_of(game)
        if game.has_left:
            raise Conflict("this study is over for you")
        store_guess(session, game, form.guess, form.confidence)
        session.flush()
        return page_of(find_game(session, key))


@router.post("/api/play/games/{key}/give-up")
def give_up(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> GamePage:
    """End the game here."""
    with _acting(board, database, key) as game:
        game.session.give_up()
        return page_of(game)


@router.get("/play/games/{key}/result", include_in_schema=False)
def result_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show the errors and moves of a game that is over."""
    game = find_game(session, key)
    if game.session.state != "ended":
        raise Conflict("expected a game that is over; this one is in progress")
    player, page = key.partition(".")[0], page_of(game)
    return html_response(request, "play/result.html", player=player, page=page, view=page.view)
