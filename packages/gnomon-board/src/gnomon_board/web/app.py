"""The ASGI application: routers, middleware, error handlers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import IntegrityError, OperationalError
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute

from gnomon import __version__
from gnomon.errors import GnomonError
from gnomon_board.database import Database
from gnomon_board.errors import Damaged, Refusal, TooMany
from gnomon_board.settings import Settings
from gnomon_board.standing_cache import StandingsCache
from gnomon_board.web import (
    account_pages,
    board_pages,
    learner_pages,
    monitoring,
    play_pages,
    study_pages,
)
from gnomon_board.web.api import administration, participation
from gnomon_board.web.api.dependencies import is_known
from gnomon_board.web.api.records import Problem
from gnomon_board.web.limits import Intake
from gnomon_board.web.middleware import AT_ONCE, HEADERS, Gate
from gnomon_board.web.page_cache import AnswerCache, BoardState
from gnomon_board.web.request_log import CURRENT
from gnomon_board.web.request_log import HEADER as REQUEST_ID
from gnomon_board.web.templating import STATIC, error_page

#: In the order in which their paths are tried: first those of players, who ask most often.
_ROUTERS = (
    play_pages.router,
    study_pages.router,
    monitoring.router,
    participation.router,
    participation.entries_router,
    participation.submissions_router,
    administration.router,
    administration.moderation_router,
    participation.remote_router,
    board_pages.router,
    learner_pages.router,
    account_pages.router,
)
_log = logging.getLogger("gnomon.server")
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 401, 403, 404, 409, 413, 422, 429)
}


def create_app(settings: Settings, database: Database | None = None) -> FastAPI:
    """Return the application.

    ``database`` is an open database at the newest version; without it, the application opens that
    of the settings, and closes it at the end.
    """
    opened = database or Database(settings.database)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = AT_ONCE
        yield
        app.state.board.standings.close()
        if database is None:
            opened.close()

    app = FastAPI(
        title="Gnomon leaderboard",
        version=__version__,
        lifespan=lifespan,
        # Its pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings, app.state.database = settings, opened
    app.state.intake, app.state.figures = Intake(), monitoring.Figures()
    app.state.board = BoardState(StandingsCache(opened))
    app.add_middleware(AnswerCache, mark=opened.change_mark)
    app.add_middleware(
        Gate,
        settings=settings,
        turns=app.state.intake.turns,
        told=app.state.figures.told,
        knows=partial(is_known, opened),
    )
    for refusal in (GnomonError, AnyHTTPException, RequestValidationError):
        app.add_exception_handler(refusal, _refused)
    app.add_exception_handler(ClientDisconnect, _left)
    for kind in (IntegrityError, OperationalError, OSError):
        app.add_exception_handler(kind, _stuck)
    app.add_exception_handler(Exception, _failed)
    app.router.routes.extend(_routes())
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Return the routes of all applications; their signatures are analysed only once."""
    router = APIRouter(responses=_REFUSALS)
    for each in _ROUTERS:
        router.include_router(each)
    return router.routes


def _refused(request: Request, error: Exception) -> Response:
    """Answer a refused request with one sentence."""
    headers: dict[str, str] = {}
    status = error.status if isinstance(error, Refusal) else 422
    if isinstance(error, AnyHTTPException):
        status, headers = error.status_code, dict(error.headers or {})
        detail = str(error.detail)
    elif isinstance(error, RequestValidationError):
        # The first invalid field and the reason, without the value.
        first = error.errors()[0]
        detail = f"{'.'.join(str(part)[:80] for part in first['loc'])}: {first['msg']}"
    else:
        detail = str(error).splitlines()[0]
    if isinstance(error, Damaged):
        _log.error(detail)
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(error.retry_after_s)
    return _told(request, status, detail, headers)


def _left(request: Request, error: Exception) -> Response:
    """Log a request whose client disconnected before its end (status 499, as proxies do)."""
    return Response(status_code=499)


def _stuck(request: Request, error: Exception) -> Response:
    """Answer if two requests collided, the database is unavailable or the disk is full."""
    if (refusal := monitoring.no_room(error)) is not None:
        _log.error("the disk is full")
        return _refused(request, refusal)
    if isinstance(error, IntegrityError):  # another request has created a unique row
        return _told(request, 409, "the same request was sent at the same time; try again", {})
    if isinstance(error, OperationalError):
        _log.error("the database does not answer: %s", type(error).__name__)
        detail = "the database does not respond; try again"
        return _told(request, 503, detail, {"Retry-After": "2"})
    # Not the path: it may contain the key of a player or of a request.
    route = getattr(request.scope.get("route"), "path", "-")
    _log.exception("answering %s", route, exc_info=error)
    return _failed(request, error)


def _failed(request: Request, error: Exception) -> Response:
    """Answer an internal error; the reason is logged, and not shown."""
    # This answer does not pass through the gate.
    headers = {**HEADERS, REQUEST_ID: CURRENT.get()}
    detail = f"internal error; logged as {CURRENT.get()}"
    return _told(request, 500, detail, headers)


def _told(request: Request, status: int, detail: str, headers: dict[str, str]) -> Response:
    path, wanted = request.url.path, request.headers.get("accept", "")
    if path.startswith("/api") or "text/html" not in wanted:
        return JSONResponse({"detail": detail}, status, headers)
    answer = error_page(request, status, detail)
    answer.headers.update(headers)
    return answer
