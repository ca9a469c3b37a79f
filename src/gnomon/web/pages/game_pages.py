"""Pages of human play: puzzles of the library or of a season, games, and their results.

The rule never leaves the server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Path, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from gnomon.database.engine import Database
from gnomon.errors import UnknownNameError
from gnomon.leaderboard.accounts.rate_limits import HOUR_S, count_or_refuse
from gnomon.leaderboard.refusals import Conflict, Missing
from gnomon.leaderboard.seasons.entry_registration import find_rule, find_season
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.studies.game_store import StoredGame, begin_game, find_game, store_changes, store_guess
from gnomon.studies.plan.series_plan import MemoryAids
from gnomon.studies.play_records import Attempt, ClientTimes, PlayView
from gnomon.studies.play_session import PlaySession
from gnomon.studies.playable_rules import Puzzle, puzzle_named, puzzle_of, puzzles
from gnomon.web.api.dependencies import (
    CsrfChecked,
    CurrentSettings,
    DatabaseOf,
    ReadSession,
    Slug,
    WriteSession,
)
from gnomon.web.middleware import address_of
from gnomon.web.pages.game_looks import Key, language_of, looks_of
from gnomon.web.pages.page_cache import BoardState, CurrentBoard
from gnomon.web.pages.rule_page import RuleName as SeasonRuleName
from gnomon.web.pages.templating import html_response, twin

router = APIRouter(tags=["play"])

RuleName = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Checked = Annotated[None, CsrfChecked]


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

    ``memory``: what of that which was moved may be shown. ``study``: whether it is part of one.
    ``first_board``: how many boards came before, in a series that this one continues.
    ``guess_due``: whether the player is asked now what the rule is.
    """

    view: PlayView
    memory: MemoryAids
    study: bool
    first_board: int
    guess_due: bool

    @property
    def has_memory(self) -> bool:
        """Whether there is anything to show, and to hide."""
        return self.memory != MemoryAids.none()


# -- before the game -------------------------------------------------------------------------------


@twin(router, "/play", "play/puzzles.html")
def puzzles_json() -> PuzzlesPage:
    """Tell how many puzzles there are."""
    return PuzzlesPage(len(puzzles()))


def named(name: RuleName) -> Puzzle:
    """Return the puzzle of an address."""
    try:
        return puzzle_named(name)
    except UnknownNameError as error:
        raise Missing(str(error)) from None


Named = Annotated[Puzzle, Depends(named)]


@twin(router, "/play/{name}", "play/puzzle.html")
def puzzle_json(name: RuleName, puzzle: Named) -> PuzzlePage:
    """Tell of a puzzle what may be told: not the rule."""
    return PuzzlePage(name, puzzle.shown, puzzle.episodes, puzzle.horizon)


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
        return begin_game(session, puzzle)


def begun_game(database: Database, key: str) -> BegunGame:
    """Return a game that was just begun."""
    with database.reading() as session:
        return BegunGame(key=key, game=_page(find_game(session, key)))


# -- a public rule of a season, before the game ----------------------------------------------------


def of_season(session: ReadSession, season: Slug, rule: SeasonRuleName) -> Puzzle:
    """Return the puzzle of an address."""
    found = find_season(session, season)
    return puzzle_of(found, find_rule(found, rule))


OfSeason = Annotated[Puzzle, Depends(of_season)]


@twin(router, "/play/seasons/{season}/{rule}", "play/puzzle.html", name="puzzle_json")
def season_puzzle_json(season: Slug, rule: SeasonRuleName, puzzle: OfSeason) -> PuzzlePage:
    """Tell how a rule of a season is played."""
    address = f"seasons/{season}/{rule}"
    return PuzzlePage(address, puzzle.shown, puzzle.episodes, puzzle.horizon, season)


@router.post("/play/seasons/{season}/{rule}.json", status_code=201, name="begin_json")
def begin_season_json(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: OfSeason, _: Checked
) -> BegunGame:
    """Begin a game."""
    return begun_game(database, begun(request, database, settings, puzzle))


@router.post("/play/seasons/{season}/{rule}", include_in_schema=False)
def begin_season(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: OfSeason, _: Checked
) -> Response:
    """Begin a game, and lead to it."""
    return RedirectResponse(f"/play/games/{begun(request, database, settings, puzzle)}", 303)


# -- the game --------------------------------------------------------------------------------------


def _page(game: StoredGame) -> GamePage:
    played = game.session
    return GamePage(
        played.view(),
        played.game.terms.memory,
        game.row.assignment_id is not None,
        game.row.settings.get("offset", 0),
        game.guess_due,
    )


def _record(page: GamePage) -> dict[str, Any]:
    """Return a page as JSON can hold it."""
    record = {field.name: getattr(page, field.name) for field in fields(page)}
    return record | {"view": page.view.as_record(), "memory": page.memory.model_dump()}


@router.get("/play/games/{key}.json")
def game_json(session: ReadSession, key: Key) -> GamePage:
    """Tell how a game stands."""
    return _page(find_game(session, key))


@router.get("/play/games/{key}", include_in_schema=False)
def game_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show a game."""
    game = find_game(session, key)
    page = _page(game)
    shown = {"key": key, "record": _record(page), **language_of(game)}
    return html_response(request, "play/game.html", page, looks=looks_of(game), **shown)


def _check_takes_part(game: StoredGame) -> None:
    """Refuse what comes of a player who has left: nothing more is kept."""
    player = game.row.assignment
    if player is not None and player.ending == "left":
        raise Conflict("this study is over for you")


def _done(
    board: BoardState,
    database: Database,
    key: str,
    do: Callable[[PlaySession], Attempt | None],
    *,
    after_guess: bool = True,
) -> GamePage:
    """Do something in a game; what comes after a guess waits for it.

    The game is found and played in one session, and what came of it is put down in another: while
    it writes nobody else can, and to write takes a fraction of the time.
    """
    with database.reading() as session:
        game = board.games.take(session, key)
        _check_takes_part(game)
    if after_guess and game.guess_due:
        raise Conflict("expected a guess at the rule first")
    before = _progress(game.session)
    made = do(game.session)
    if _progress(game.session) == before:
        board.games.put_back(game, game.row.changed_at)
        return _page(game)
    with database.noting() as session:
        changed_at = store_changes(session, game, made)
    page = _page(game)
    board.games.put_back(game, changed_at)
    return page


def _progress(played: PlaySession) -> tuple[object, ...]:
    """Return what changes with everything that is done."""
    return len(played.attempts), played.n_boards, played.gave_up, played.bonus_from


def _made(played: PlaySession, episode: int, number: int) -> Attempt | None:
    """Return an attempt that was made already, by its place; None if there is none."""
    places = ((each, (each.episode, each.number)) for each in played.attempts)
    return next((each for each, place in places if place == (episode, number)), None)


def _attempted(form: AttemptForm) -> Callable[[PlaySession], Attempt | None]:
    """Return what makes an attempt, unless it was made already."""

    def attempt(played: PlaySession) -> Attempt | None:
        if form.episode is not None and form.number is not None:
            known = _made(played, form.episode - 1, form.number)
            if known is not None and (known.cell, known.bucket) == (form.cell, form.bucket):
                return None
            if known is not None or (form.episode, form.number) != played.next_attempt:
                raise Conflict("this game has gone on meanwhile")
        client = None if form.client is None else ClientTimes(**form.client.model_dump())
        return played.attempt(form.cell, form.bucket, client=client)

    return attempt


@router.post("/play/games/{key}/attempts.json", response_model=GamePage)
def attempt_json(
    board: CurrentBoard, database: DatabaseOf, key: Key, form: AttemptForm, _: Checked
) -> Response:
    """Try to move a piece into a bucket; the answer tells what came of it."""
    page = _done(board, database, key, _attempted(form), after_guess=False)
    # Somebody waits for this, so the record is not checked against its own type once more.
    return JSONResponse(_record(page))


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


def _after(
    form: BoardForm | None, do: Callable[[PlaySession], None]
) -> Callable[[PlaySession], None]:
    """Return what does something after a board, unless the game has gone on from it already."""

    def once(played: PlaySession) -> None:
        if form is None or form.episode is None or form.episode == played.n_boards:
            do(played)

    return once


@router.post("/play/games/{key}/next.json")
def next_json(
    board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked, form: BoardForm | None = None
) -> GamePage:
    """Deal the next board."""
    return _done(board, database, key, _after(form, lambda played: played.next_board()))


@router.post("/play/games/{key}/next", include_in_schema=False)
def next_form(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> Response:
    """Deal the next board, and show it."""
    next_json(board, database, key, None)
    return RedirectResponse(f"/play/games/{key}", 303)


@router.post("/play/games/{key}/bonus.json")
def bonus_json(
    board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked, form: BoardForm | None = None
) -> GamePage:
    """Begin the bonus, with this board or the next."""

    def begin(played: PlaySession) -> None:
        if form is None or form.episode is None or played.bonus_from is None:
            played.begin_bonus()

    return _done(board, database, key, begin)


@router.post("/play/games/{key}/bonus", include_in_schema=False)
def bonus_form(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> Response:
    """Begin the bonus, and show it."""
    bonus_json(board, database, key, None)
    return RedirectResponse(f"/play/games/{key}", 303)


@router.post("/play/games/{key}/guess.json")
def guess_json(session: WriteSession, key: Key, form: GuessForm, _: Checked) -> GamePage:
    """Keep what a player thinks that the rule is; sent twice, it is kept once."""
    game = find_game(session, key)
    if game.has_guessed:
        return _page(game)
    _check_takes_part(game)
    store_guess(session, game, form.guess, form.confidence)
    session.flush()
    return _page(find_game(session, key))


@router.post("/play/games/{key}/guess", include_in_schema=False)
def guess_form(
    session: WriteSession,
    key: Key,
    _: Checked,
    guess: Annotated[str, Form(min_length=1, max_length=2000)],
    confidence: Annotated[int, Form(ge=1, le=5)],
) -> Response:
    """Keep it, and show the game again."""
    guess_json(session, key, GuessForm(guess=guess, confidence=confidence), None)
    return RedirectResponse(f"/play/games/{key}", 303)


@router.post("/play/games/{key}/give-up.json")
def give_up_json(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> GamePage:
    """End the game here."""
    return _done(board, database, key, lambda played: played.give_up())


@router.post("/play/games/{key}/give-up", include_in_schema=False)
def give_up_form(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> Response:
    """End the game, and show what it was worth."""
    if give_up_json(board, database, key, None).guess_due:
        return RedirectResponse(f"/play/games/{key}", 303)
    return RedirectResponse(f"/play/games/{key}/result", 303)
