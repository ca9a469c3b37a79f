"""Dependencies of request handlers: settings, sessions, authentication, CSRF, parameters."""

from __future__ import annotations

import hashlib
import hmac
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

from anyio import CancelScope, CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Depends, HTTPException, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.requests import HTTPConnection
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session

from gnomon_board.accounts import MAX_NAME
from gnomon_board.database import Database
from gnomon_board.settings import Settings
from gnomon_board.tokens import Caller, Scope, caller_of_token, check_scopes
from gnomon_board.web.limits import Intake
from gnomon_board.web.middleware import address_of

if TYPE_CHECKING:
    from starlette.types import Scope as ASGIScope

#: The cookie of a browser that is signed in.
COOKIE = "gnomon_session"
#: Where the script of a form puts the token against forged requests.
CSRF_HEADER = "X-CSRF-Token"

WRONG_TOKEN = "this token is wrong, revoked or expired"

_bearer = HTTPBearer(auto_error=False, description="An API token: gnomon_...")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="Cookie of a signed-in browser.")


def of_app(name: str) -> Callable[[HTTPConnection], Awaitable[Any]]:
    """Return the dependency on a part of the state of the application."""

    # It is ``async`` since it takes no time: the framework calls others in a thread.
    async def found(connection: HTTPConnection) -> Any:
        return getattr(connection.app.state, name)

    return found


def site_of(connection: HTTPConnection) -> str:
    """Return the address of this server as the world sees it, without a final slash."""
    settings: Settings = connection.app.state.settings
    return (settings.public_url or str(connection.base_url)).rstrip("/")


CurrentSettings = Annotated[Settings, Depends(of_app("settings"))]
DatabaseOf = Annotated[Database, Depends(of_app("database"))]
IntakeOf = Annotated[Intake, Depends(of_app("intake"))]


# Handlers wait for the database in threads of a pool. If a session ended in one of these too, a
# pool full of writers that wait would keep the one they wait for from ending.
_ENDINGS = CapacityLimiter(64)


@asynccontextmanager
async def _ended_apart(manager: AbstractContextManager[Session]) -> AsyncIterator[Session]:
    """Open a session in the event loop, and end it in a thread of a pool of its own."""
    session = manager.__enter__()
    try:
        yield session
    except BaseException:
        reason = sys.exc_info()
        with CancelScope(shield=True):
            await run_sync(manager.__exit__, *reason, limiter=_ENDINGS)
        raise
    with CancelScope(shield=True):
        await run_sync(manager.__exit__, None, None, None, limiter=_ENDINGS)


async def reading(database: DatabaseOf) -> AsyncIterator[Session]:
    """Yield a session to read in."""
    async with _ended_apart(database.reading()) as session:
        yield session


async def writing(database: DatabaseOf) -> AsyncIterator[Session]:
    """Yield a session whose work is committed before the answer leaves."""
    async with _ended_apart(database.writing()) as session:
        yield session


# "function": the session ends, and commits, before the answer is sent: what was acknowledged is
# kept.
ReadSession = Annotated[Session, Depends(reading, scope="function")]
WriteSession = Annotated[Session, Depends(writing, scope="function")]


async def maybe_caller(
    connection: HTTPConnection,
    database: DatabaseOf,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    cookie: Annotated[str | None, Depends(_cookie)],
) -> Caller | None:
    """Return the caller; None for an unknown one.

    An invalid token is refused even where none is needed, so that its holder notices. After several
    wrong tokens in a minute, an address has to wait.
    """
    if bearer is None and not cookie:
        return None
    secret = bearer.credentials if bearer else cookie or ""
    found = await run_in_threadpool(_known, database, secret, is_cookie=bearer is None)
    if found is None and bearer is not None:
        key, state = f"wrong-token {address_of(connection.scope)}", connection.app.state
        state.intake.counts.count(key, most=state.settings.sign_ins_per_minute)
        raise HTTPException(401, WRONG_TOKEN, _CHALLENGE)
    return found


def _known(database: Database, secret: str, *, is_cookie: bool) -> Caller | None:
    with database.reading() as session:
        return caller_of_token(session, secret, is_cookie=is_cookie)


def is_known(database: Database, scope: ASGIScope) -> bool:
    """Return whether a request comes with a valid token or cookie; no byte of its body is read."""
    connection = HTTPConnection(scope)
    token = connection.headers.get("authorization", "").removeprefix("Bearer ")
    secrets = ((token, False), (connection.cookies.get(COOKIE, ""), True))
    return any(x and _known(database, x, is_cookie=is_cookie) for x, is_cookie in secrets)


_CHALLENGE = {"WWW-Authenticate": "Bearer"}
MaybeCaller = Annotated[Caller | None, Depends(maybe_caller)]


def csrf_token(cookie: str) -> str:
    """Return the CSRF token of a session cookie, which a form must send back.

    It follows from the cookie, which a foreign page cannot read.
    """
    return hmac.new(cookie.encode(), b"csrf", hashlib.sha256).hexdigest()


async def csrf_checked(request: Request) -> None:
    """Refuse a change that a foreign page may have requested from a signed-in browser.

    Browsers add cookies by themselves; a request with a token of its own needs no check.
    """
    cookie = request.cookies.get(COOKIE)
    has_token = await _bearer(request) is not None
    if not cookie or has_token or request.method in ("GET", "HEAD"):
        return
    given = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(given.encode(), csrf_token(cookie).encode()):
        raise HTTPException(403, "this form is out of date: load the page again")


CsrfChecked = Depends(csrf_checked)


async def identified(found: MaybeCaller, _: Annotated[None, CsrfChecked]) -> Caller:
    """Return the signed-in account, with any scopes; 401 without one."""
    if found is None:
        raise HTTPException(401, "expected a token or a signed-in browser", _CHALLENGE)
    return found


Anybody = Annotated[Caller, Depends(identified)]


async def paced(settings: CurrentSettings, intake: IntakeOf, who: Anybody) -> None:
    """Refuse more creations by one account than the limit."""
    intake.counts.count(f"write {who.account_id}", most=settings.writes_per_minute)


def caller(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """Return the dependency that wants a caller with a scope: 401 without one, 403 without that.

    It includes the check against forged requests.
    """

    async def wanted(found: Annotated[Caller, Depends(identified)]) -> Caller:
        check_scopes(found.scopes, [scope])
        return found

    return wanted


Submitter = Annotated[Caller, Depends(caller("submit"))]
Moderator = Annotated[Caller, Depends(caller("moderate"))]
Admin = Annotated[Caller, Depends(caller("admin"))]

#: The largest number in a column of integers.
MOST = 2**31 - 1

RowId = Annotated[int, Path(ge=1, le=MOST)]
Slug = Annotated[str, Path(min_length=1, max_length=MAX_NAME, pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of records.")]
After = Annotated[int, Query(ge=0, le=MOST, description="Only records with a greater id.")]
