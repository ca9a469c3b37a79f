"""The pages: what people see of the leaderboard, and the same as JSON for programs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from fastapi import APIRouter, FastAPI

from gnomon.web.pages.problems import error_page

__all__ = ["error_page", "router"]

#: In the order in which their paths are tried.
_PARTS = (
    "seasons",
    "season_scores",
    "submissions",
    "replays",
    "rules",
    "learners",
    "submit",
    "moderation",
    "account",
    "methods",
    "play",
    "play_season",
    "results",
    "studies",
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
