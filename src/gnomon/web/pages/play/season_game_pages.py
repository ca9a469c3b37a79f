"""Pages of human play on public rules of a season, under ``/play/seasons``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from gnomon.leaderboard.seasons.entry_registration import find_rule, find_season
from gnomon.studies.playable_rules import Puzzle, puzzle_of
from gnomon.web.api.dependencies import CurrentSettings, DatabaseOf, ReadSession, Slug
from gnomon.web.pages.board.rule_page import RuleName
from gnomon.web.pages.play.game_pages import BegunGame, Checked, PuzzlePage, begun, begun_game
from gnomon.web.pages.rendering.templating import html_response

__all__ = ["router"]

router = APIRouter(tags=["play"])


def of_season(session: ReadSession, season: Slug, rule: RuleName) -> Puzzle:
    """Return the puzzle of an address."""
    found = find_season(session, season)
    return puzzle_of(found, find_rule(found, rule))


Named = Annotated[Puzzle, Depends(of_season)]


@router.get("/play/seasons/{season}/{rule}.json")
def puzzle_json(season: Slug, rule: RuleName, puzzle: Named) -> PuzzlePage:
    """Tell how a rule of a season is played."""
    address = f"seasons/{season}/{rule}"
    return PuzzlePage(address, puzzle.shown, puzzle.episodes, puzzle.horizon, season)


@router.get("/play/seasons/{season}/{rule}", include_in_schema=False)
def puzzle_html(request: Request, season: Slug, rule: RuleName, puzzle: Named) -> Response:
    """Show what is going to be played."""
    return html_response(request, "play/puzzle.html", puzzle_json(season, rule, puzzle))


@router.post("/play/seasons/{season}/{rule}.json", status_code=201)
def begin_json(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: Named, _: Checked
) -> BegunGame:
    """Begin a game."""
    return begun_game(database, begun(request, database, settings, puzzle))


@router.post("/play/seasons/{season}/{rule}", include_in_schema=False)
def begin(
    request: Request, database: DatabaseOf, settings: CurrentSettings, puzzle: Named, _: Checked
) -> Response:
    """Begin a game, and lead to it."""
    return RedirectResponse(f"/play/games/{begun(request, database, settings, puzzle)}", 303)
