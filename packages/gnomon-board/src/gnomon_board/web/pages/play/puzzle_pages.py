"""Pages of puzzles before they are played: rules of the library, by number, or of a season."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel

from gnomon.errors import UnknownNameError
from gnomon_board.database.engine import Database
from gnomon_board.errors import Missing
from gnomon_board.leaderboard.seasons import find_rule, find_season
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.studies.play import begin_game, find_game
from gnomon_board.studies.puzzle import Puzzle, puzzle_named, puzzle_of, puzzles
from gnomon_board.web.api.dependencies import CurrentSettings, DatabaseOf, ReadSession, Slug
from gnomon_board.web.limits import HOUR_S
from gnomon_board.web.middleware import address_of
from gnomon_board.web.pages.play.game_pages import Checked, page_of
from gnomon_board.web.pages.rule_page import RuleName as SeasonRuleName
from gnomon_board.web.pages.templating import page

router = APIRouter(tags=["play"])

RuleName = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]


@dataclass(frozen=True)
class PuzzlePage:
    """A rule before it is played: its address, what it is called, and what a game of it is.

    ``season``: whose learners play it too, and its title; empty for a rule of the library.
    """

    name: str
    shown: str
    episodes: int
    horizon: int
    season: str = ""
    season_title: str = ""


@dataclass(frozen=True)
class PuzzlesPage:
    """How many puzzles there are; ``/play/puzzle-1`` is the first."""

    n_puzzles: int


@page(router, "/play", "play/puzzles.html")
def puzzles_page() -> PuzzlesPage:
    """Return the number of puzzles."""
    return PuzzlesPage(len(puzzles()))


def named(name: RuleName) -> Puzzle:
    """Return the puzzle of an address."""
    try:
        return puzzle_named(name)
    except UnknownNameError as error:
        raise Missing(str(error)) from None


Named = Annotated[Puzzle, Depends(named)]


@page(router, "/play/{name}", "play/puzzle.html")
def puzzle_page(name: RuleName, puzzle: Named) -> PuzzlePage:
    """Describe a puzzle without its rule."""
    return PuzzlePage(name, puzzle.shown, puzzle.episodes, puzzle.horizon)


class BegunGame(BaseModel):
    """A game that was begun: its secret key, its page, and the first board."""

    key: str
    address: str
    game: Any


@router.post("/api/play/{name}", status_code=201)
def begin(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: Named, _: Checked
) -> BegunGame:
    """Begin a game."""
    return begun(request, database, settings, puzzle)


def begun(request: Request, database: Database, settings: Settings, puzzle: Puzzle) -> BegunGame:
    """Begin a game, unless this address has begun too many."""
    most = settings.max_play_sessions_per_hour
    counts = request.app.state.intake.counts
    counts.count(f"play {address_of(request.scope)}", most=most, window_s=HOUR_S)
    with database.noting() as session:
        key = begin_game(session, puzzle)
    with database.reading() as session:
        game = page_of(find_game(session, key))
    return BegunGame(key=key, address=f"/play/games/{key}", game=game)


# -- a public rule of a season, before the game ----------------------------------------------------


def of_season(session: ReadSession, season: Slug, rule: SeasonRuleName) -> Puzzle:
    """Return the puzzle of an address."""
    found = find_season(session, season)
    return puzzle_of(found, find_rule(found, rule))


OfSeason = Annotated[Puzzle, Depends(of_season)]


@page(router, "/play/seasons/{season}/{rule}", "play/puzzle.html")
def season_puzzle_page(
    session: ReadSession, season: Slug, rule: SeasonRuleName, puzzle: OfSeason
) -> PuzzlePage:
    """Describe how a rule of a season is played."""
    address = f"seasons/{season}/{rule}"
    title = find_season(session, season).title
    return PuzzlePage(address, puzzle.shown, puzzle.episodes, puzzle.horizon, season, title)


@router.post("/api/play/seasons/{season}/{rule}", status_code=201)
def begin_season(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: OfSeason, _: Checked
) -> BegunGame:
    """Begin a game."""
    return begun(request, database, settings, puzzle)
