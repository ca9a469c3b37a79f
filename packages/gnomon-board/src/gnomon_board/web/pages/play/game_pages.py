"""Pages of a game: the board, attempts, and the other actions of a player.

The rule never leaves the server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from gnomon_board.database.engine import Database
from gnomon_board.errors import Conflict
from gnomon_board.studies.languages import texts
from gnomon_board.studies.play import StoredGame, find_game, store_changes, store_guess
from gnomon_board.web.api.dependencies import CsrfChecked, DatabaseOf, ReadSession
from gnomon_board.web.pages.page_cache import BoardState, CurrentBoard
from gnomon_board.web.pages.templating import html_response
from gohr.people import Attempt, ClientTimes, MemoryAids, PlaySession, PlayView

router = APIRouter(tags=["play"])

Checked = Annotated[None, CsrfChecked]
Key = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{32}$", description="What the browser holds.")]

_Milliseconds = Annotated[int, Field(ge=0, lt=2**31)]


class ClientForm(BaseModel):
    """What the player's own clock measured, in ms since the last reply was on the screen."""

    model_config = ConfigDict(extra="forbid")
    touch_ms: _Milliseconds
    action_ms: _Milliseconds
    away_ms: _Milliseconds = 0
    animation_ms: _Milliseconds = 0


class AttemptForm(BaseModel):
    """A piece, by its cell, and a bucket; null for a pick.

    ``episode`` and ``number``, both from 1, say which attempt it is: one that was made already, and
    is asked for again since the answer was lost, is answered and not made twice.
    """

    model_config = ConfigDict(extra="forbid")
    cell: Annotated[int, Field(ge=1, le=36)]
    bucket: Annotated[int, Field(ge=0, le=3)] | None
    episode: Annotated[int, Field(ge=1, le=2000)] | None = None
    number: Annotated[int, Field(ge=1, le=2000)] | None = None
    client: ClientForm | None = None


class BoardForm(BaseModel):
    """Which board, from 1, something is asked for after; asked for twice, it happens once."""

    model_config = ConfigDict(extra="forbid")
    episode: Annotated[int, Field(ge=1, le=2000)] | None = None


class GuessForm(BaseModel):
    """What a player thinks that the rule is, with a confidence from 1 to 5."""

    model_config = ConfigDict(extra="forbid")
    guess: Annotated[str, Field(min_length=1, max_length=2000)]
    confidence: Annotated[int, Field(ge=1, le=5)]


@dataclass(frozen=True)
class GamePage:
    """A game as its player may see it.

    ``memory``: what of the moved pieces may be shown. ``study``: whether the game is part of one.
    ``guess_due``: whether the player is asked now what the rule is. ``over``: whether the study has
    ended for the player.
    """

    view: PlayView
    memory: MemoryAids
    study: bool
    guess_due: bool
    over: bool

    @property
    def has_memory(self) -> bool:
        """Whether there is anything to show, and to hide."""
        return self.memory != MemoryAids.none()


def page_of(game: StoredGame) -> GamePage:
    """Return the player's view of a game."""
    played, in_study = game.session, game.row.assignment_id is not None
    memory = played.game.terms.memory
    return GamePage(played.view(), memory, in_study, game.guess_due, game.is_ended)


def language_of(game: StoredGame) -> dict[str, Any]:
    """Return the template variables for the language of a game's study."""
    player = game.row.assignment
    language = "en" if player is None else player.study.plan.get("language", "en")
    return {"language": language, "t": dict(texts(language))}


def _record(page: GamePage) -> dict[str, Any]:
    """Return a page as a JSON-compatible record."""
    record = {field.name: getattr(page, field.name) for field in fields(page)}
    return record | {"view": page.view.as_record(), "memory": page.memory.model_dump()}


@router.get("/api/play/games/{key}")
def game_record(session: ReadSession, key: Key) -> GamePage:
    """Return the state of a game."""
    return page_of(find_game(session, key))


@router.get("/play/games/{key}", include_in_schema=False)
def game_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show a game."""
    game = find_game(session, key)
    page = page_of(game)
    shown = {"key": key, "record": _record(page), **language_of(game)}
    return html_response(request, "play/game.html", page, **shown)


def _check_takes_part(game: StoredGame) -> None:
    """Refuse all actions of a player who has left."""
    if game.is_ended:
        raise Conflict("this study is over for you")


def _done(
    board: BoardState,
    database: Database,
    key: str,
    do: Callable[[StoredGame], Attempt | None],
    *,
    after_guess: bool = True,
) -> GamePage:
    """Execute an action in a game; other actions are refused while a guess is due.

    The game is found and played in one session, and the result is stored in another, to hold the
    write lock for a fraction of the time.
    """
    with database.reading() as session:
        game = board.games.take(session, key)
        _check_takes_part(game)
    if after_guess and game.guess_due:
        raise Conflict("expected a guess at the rule first")
    before = _progress(game.session)
    made = do(game)
    if _progress(game.session) == before:
        board.games.put_back(game, game.row.changed_at)
        return page_of(game)
    with database.noting() as session:
        changed_at = store_changes(session, game, made)
    page = page_of(game)
    board.games.put_back(game, changed_at)
    return page


def _progress(played: PlaySession) -> tuple[object, ...]:
    """Return a value that changes with every action."""
    return len(played.attempts), played.n_boards, played.gave_up


def _made(played: PlaySession, episode: int, number: int) -> Attempt | None:
    """Return the attempt already made at a position; None if there is none."""
    places = ((each, (each.episode, each.number)) for each in played.attempts)
    return next((each for each, place in places if place == (episode, number)), None)


def _attempted(form: AttemptForm) -> Callable[[StoredGame], Attempt | None]:
    """Return an action that makes an attempt, unless it was already made."""

    def attempt(game: StoredGame) -> Attempt | None:
        played = game.session
        if form.episode is not None and form.number is not None:
            known = _made(played, form.episode - 1, form.number)
            if known is not None and (known.cell, known.bucket) == (form.cell, form.bucket):
                return None
            if known is not None or (form.episode, form.number) != played.next_attempt:
                raise Conflict("this game has gone on meanwhile")
        client = None if form.client is None else ClientTimes(**form.client.model_dump())
        return played.attempt(form.cell, form.bucket, client=client)

    return attempt


@router.post("/api/play/games/{key}/attempts", response_model=GamePage)
def make_attempt(
    board: CurrentBoard, database: DatabaseOf, key: Key, form: AttemptForm, _: Checked
) -> Response:
    """Try to move a piece into a bucket; the answer has the outcome."""
    page = _done(board, database, key, _attempted(form), after_guess=False)
    # For speed the record is not validated against its own type.
    return JSONResponse(_record(page))


def _after(
    form: BoardForm | None, do: Callable[[PlaySession], None]
) -> Callable[[StoredGame], None]:
    """Return an action after a board, for a game that has not moved on from it."""

    def once(game: StoredGame) -> None:
        if form is None or form.episode is None or form.episode == game.session.n_boards:
            do(game.session)

    return once


@router.post("/api/play/games/{key}/next")
def deal_next(
    board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked, form: BoardForm | None = None
) -> GamePage:
    """Deal the next board."""
    return _done(board, database, key, _after(form, lambda played: played.next_board()))


@router.post("/api/play/games/{key}/guess")
def send_guess(database: DatabaseOf, key: Key, form: GuessForm, _: Checked) -> GamePage:
    """Keep what a player thinks that the rule is; sent twice, it is kept once."""
    with database.writing() as session:
        game = find_game(session, key)
        if game.has_guessed:
            return page_of(game)
        _check_takes_part(game)
        store_guess(session, game, form.guess, form.confidence)
        session.flush()
        return page_of(find_game(session, key))


@router.post("/api/play/games/{key}/give-up")
def give_up(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> GamePage:
    """End the game here."""
    return _done(board, database, key, lambda game: game.session.give_up())
