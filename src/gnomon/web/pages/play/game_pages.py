"""Pages of human play under ``/play``: puzzles and games; the rule never leaves the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from gnomon.database.engine import Database
from gnomon.errors import UnknownNameError
from gnomon.leaderboard.accounts.rate_limits import HOUR_S, count_or_refuse
from gnomon.leaderboard.refusals import Missing
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.studies.game_store import StoredGame, begin_game, find_game, store_changes
from gnomon.studies.play_session import Attempt, PlaySession, PlayView
from gnomon.studies.playable_rules import Puzzle, puzzle_named, puzzles
from gnomon.web.api.dependencies import CsrfChecked, CurrentSettings, DatabaseOf, ReadSession
from gnomon.web.middleware import address_of
from gnomon.web.pages.rendering.page_cache import BoardState, CurrentBoard
from gnomon.web.pages.rendering.templating import html_response

__all__ = ["router"]

router = APIRouter(tags=["play"])

Key = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{32}$", description="What the browser holds.")]
RuleName = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Checked = Annotated[None, CsrfChecked]


class AttemptForm(BaseModel):
    """A piece, by its cell, and a bucket."""

    model_config = ConfigDict(extra="forbid")
    cell: Annotated[int, Field(ge=1, le=36)]
    bucket: Annotated[int, Field(ge=0, le=3)]


@dataclass(frozen=True)
class PuzzlePage:
    """A rule before it is played: its address, what it is called, and what a game of it is.

    ``season``: whose learners play it too; empty for a rule of the library.
    """

    name: str
    shown: str
    episodes: int
    horizon: int
    season: str = ""


@dataclass(frozen=True)
class PuzzlesPage:
    """How many puzzles there are; ``/play/puzzle-1`` is the first."""

    n_puzzles: int


@dataclass(frozen=True)
class GamePage:
    """A game as its player may see it.

    ``memory_aid``: whether what was moved may be shown. ``study``: whether it is part of one.
    """

    view: PlayView
    memory_aid: bool
    study: bool


# -- before the game -------------------------------------------------------------------------------


@router.get("/play.json")
def puzzles_json() -> PuzzlesPage:
    """Tell how many puzzles there are."""
    return PuzzlesPage(len(puzzles()))


@router.get("/play", include_in_schema=False)
def puzzles_html(request: Request) -> Response:
    """Show the puzzles."""
    return html_response(request, "play/puzzles.html", puzzles_json())


def named(name: RuleName) -> Puzzle:
    """Return the puzzle of an address."""
    try:
        return puzzle_named(name)
    except UnknownNameError as error:
        raise Missing(str(error)) from None


Named = Annotated[Puzzle, Depends(named)]


@router.get("/play/{name}.json")
def puzzle_json(name: RuleName, puzzle: Named) -> PuzzlePage:
    """Tell of a puzzle what may be told: not the rule."""
    return PuzzlePage(name, puzzle.shown, puzzle.episodes, puzzle.horizon)


@router.get("/play/{name}", include_in_schema=False)
def puzzle_html(request: Request, name: RuleName, puzzle: Named) -> Response:
    """Show what is going to be played."""
    return html_response(request, "play/puzzle.html", puzzle_json(name, puzzle))


class BegunGame(BaseModel):
    """A game that was begun: its key, known to nobody else, and the first board."""

    key: str
    game: Any


@router.post("/play/{name}.json", status_code=201)
def begin_json(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: Named, _: Checked
) -> BegunGame:
    """Begin a game."""
    return begun_game(database, begun(request, database, settings, puzzle))


@router.post("/play/{name}", include_in_schema=False)
def begin(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: Named, _: Checked
) -> Response:
    """Begin a game, and lead to it."""
    return RedirectResponse(f"/play/games/{begun(request, database, settings, puzzle)}", 303)


def begun(request: Request, database: Database, settings: ServerSettings, puzzle: Puzzle) -> str:
    """Begin a game, unless this address has begun too many, and return its key."""
    most = settings.max_play_sessions_per_hour
    with database.noting() as session:
        count_or_refuse(session, f"play {address_of(request.scope)}", most, HOUR_S)
        return begin_game(
            session,
            puzzle,
            episodes=puzzle.episodes,
            horizon=puzzle.horizon,
            board=puzzle.board,
        )


def begun_game(database: Database, key: str) -> BegunGame:
    """Return a game that was just begun."""
    with database.reading() as session:
        return BegunGame(key=key, game=_page(find_game(session, key)))


# -- the game --------------------------------------------------------------------------------------


def _page(game: StoredGame) -> GamePage:
    return GamePage(game.session.view(), game.memory_aid, game.row.assignment_id is not None)


@router.get("/play/games/{key}.json")
def game_json(session: ReadSession, key: Key) -> GamePage:
    """Tell how a game stands."""
    return _page(find_game(session, key))


@router.get("/play/games/{key}", include_in_schema=False)
def game_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show a game."""
    game = find_game(session, key)
    return html_response(request, "play/game.html", _page(game), key=key)


def _done(
    board: BoardState,
    database: Database,
    key: str,
    do: Callable[[PlaySession], Attempt | None],
) -> GamePage:
    """Do something in a game.

    The game is found and played in one session, and what came of it is put down in another: while
    it writes nobody else can, and to write takes a fraction of the time.
    """
    with database.reading() as session:
        game = board.games.take(session, key)
    made = do(game.session)
    with database.noting() as session:
        changed_at = store_changes(session, game, made)
    page = _page(game)
    board.games.put_back(game, changed_at)
    return page


@router.post("/play/games/{key}/attempts.json", response_model=GamePage)
def attempt_json(
    board: CurrentBoard, database: DatabaseOf, key: Key, form: AttemptForm, _: Checked
) -> Response:
    """Try to move a piece into a bucket; the answer tells what came of it."""
    page = _done(board, database, key, lambda played: played.attempt(form.cell, form.bucket))
    # Somebody waits for this, so the record is not checked against its own type once more.
    return JSONResponse(asdict(page))


@router.post("/play/games/{key}/attempts", include_in_schema=False)
def attempt_form(
    board: CurrentBoard,
    database: DatabaseOf,
    key: Key,
    cell: Annotated[int, Form(ge=1, le=36)],
    bucket: Annotated[int, Form(ge=0, le=3)],
    _: Checked,
) -> Response:
    """Try, and show the game again."""
    attempt_json(board, database, key, AttemptForm(cell=cell, bucket=bucket), None)
    return RedirectResponse(f"/play/games/{key}", 303)


@router.post("/play/games/{key}/next.json")
def next_json(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> GamePage:
    """Deal the next board."""
    return _done(board, database, key, lambda played: played.next_board())


@router.post("/play/games/{key}/next", include_in_schema=False)
def next_form(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> Response:
    """Deal the next board, and show it."""
    next_json(board, database, key, None)
    return RedirectResponse(f"/play/games/{key}", 303)


@router.post("/play/games/{key}/give-up.json")
def give_up_json(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> GamePage:
    """End the game here."""
    return _done(board, database, key, lambda played: played.give_up())


@router.post("/play/games/{key}/give-up", include_in_schema=False)
def give_up_form(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> Response:
    """End the game, and show what it was worth."""
    give_up_json(board, database, key, None)
    return RedirectResponse(f"/play/games/{key}/result", 303)
