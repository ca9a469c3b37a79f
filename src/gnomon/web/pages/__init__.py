"""Pages of the application: each as HTML for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from fastapi import APIRouter, FastAPI

from gnomon.web.pages.rendering.templating import error_page

__all__ = ["error_page", "router"]

#: In the order in which their paths are tried.
_PARTS = (
    "board.season_pages",
    "board.submission_pages",
    "board.replay_page",
    "board.rule_page",
    "board.learner_page",
    "board.submit_pages",
    "board.moderation_pages",
    "account_pages",
    "play.game_pages",
    "play.season_game_pages",
    "play.result_page",
    "play.study_pages",
)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """End with the server what computes for the pages."""
    yield
    if hasattr(app.state, "board"):
        app.state.board.standings.close()


router = APIRouter(lifespan=_lifespan)
for _part in _PARTS:
    router.include_router(import_module(f"gnomon.web.pages.{_part}").router)
