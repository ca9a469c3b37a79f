"""Looks of a game: the language of its study, and how its pieces are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from gnomon.leaderboard.refusals import Missing
from gnomon.studies.game_store import StoredGame, find_game
from gnomon.studies.languages import texts
from gnomon.studies.piece_looks import PieceLooks, image_content
from gnomon.web.api.dependencies import ReadSession

router = APIRouter(tags=["play"])

Key = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{32}$", description="What the browser holds.")]
ImageNumber = Annotated[int, Path(ge=0, lt=255)]


def _plan(game: StoredGame) -> Mapping[str, Any]:
    """Return the plan of a game's study, empty outside of one."""
    player = game.row.assignment
    return {} if player is None else player.study.plan


def language_of(game: StoredGame) -> dict[str, Any]:
    """Return what a template needs to speak the language of a game's study."""
    language = _plan(game).get("language", "en")
    return {"language": language, "t": dict(texts(language))}


def looks_of(game: StoredGame) -> PieceLooks:
    """Return how the pieces of a game look, and what they are called in its language."""
    words: Mapping[str, str] = language_of(game)["t"]
    return PieceLooks.of(_plan(game), game.session.game.board, words)


@router.get("/play/games/{key}/images/{number}", include_in_schema=False)
def image(session: ReadSession, key: Key, number: ImageNumber) -> Response:
    """Return a picture that a piece of this game can be."""
    game = find_game(session, key)
    try:
        name = list(game.session.game.board.images)[number]
        kind, content = image_content(_plan(game)["image_files"][name])
    except LookupError:
        raise Missing(f"this game has no image {number}") from None
    # A study is frozen, so that its pictures do not change.
    kept = {"Cache-Control": "private, max-age=86400"}
    return Response(content, media_type=kind, headers=kept)
