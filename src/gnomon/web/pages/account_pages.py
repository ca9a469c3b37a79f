"""Sign-in and sign-out of a browser by an API token, and the account page.

A token is pasted once, and a cookie stands for it from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select

from gnomon.database.engine import Database
from gnomon.database.schema import Entry
from gnomon.leaderboard.accounts.audit_log import note
from gnomon.leaderboard.accounts.rate_limits import MINUTE_S, count_or_refuse
from gnomon.leaderboard.accounts.tokens import (
    Caller,
    caller_of_token,
    end_browser_session,
    start_browser_session,
)
from gnomon.leaderboard.refusals import Refusal, TooMany
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.web.api.dependencies import (
    COOKIE,
    CsrfChecked,
    CurrentSettings,
    DatabaseOf,
    MaybeCaller,
    ReadSession,
)
from gnomon.web.api.records import EntryRecord, status_of
from gnomon.web.middleware import address_of
from gnomon.web.pages.templating import html_response, twin


class WrongToken(Refusal):
    """A token that is not valid."""

    kind = "unauthenticated"


def sign_in(
    database: Database, settings: ServerSettings, response: Response, text: str, address: str
) -> Caller:
    """Sign a browser in, and put the cookie into the answer.

    Every try counts for the address. Raises WrongToken or TooMany.
    """
    with database.writing() as session:
        limit = settings.sign_ins_per_minute
        count_or_refuse(session, f"sign-in {address}", limit, MINUTE_S)
    with database.writing() as session:
        caller = caller_of_token(session, text.strip())
        if caller is None:
            raise WrongToken("this token is wrong, revoked or expired")
        _, cookie = start_browser_session(session, caller, hours=settings.session_hours)
        note(session, "signed in", "account", caller.account_id, by=caller.account_id, public=False)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=round(settings.session_hours * 3600),
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
    return caller


def sign_out(database: Database, response: Response, caller: Caller) -> None:
    """Sign a browser out, on the server as well as in the browser."""
    with database.writing() as session:
        end_browser_session(session, caller)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")


router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class AccountPage:
    """Who is signed in, with what scopes, and the entries of the account."""

    account: str | None
    scopes: list[str]
    entries: list[EntryRecord]


@twin(router, "/account", "account.html", problem="")
def account_json(session: ReadSession, who: MaybeCaller) -> AccountPage:
    """Tell who asks, by the token or the cookie."""
    if who is None:
        return AccountPage(None, [], [])
    query = select(Entry).where(Entry.account_id == who.account_id).order_by(Entry.id)
    entries = [EntryRecord.of(entry) for entry in session.scalars(query)]
    return AccountPage(who.account, sorted(who.scopes), entries)


@router.post("/account/sign-in", include_in_schema=False)
def sign_in_form(
    request: Request,
    database: DatabaseOf,
    settings: CurrentSettings,
    token: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    """Sign in, or say why not."""
    answer = RedirectResponse("/account", 303)
    try:
        sign_in(database, settings, answer, token, address_of(request.scope))
    except (WrongToken, TooMany) as refusal:
        page = AccountPage(None, [], [])
        return html_response(
            request, "account.html", page, status=status_of(refusal), problem=str(refusal)
        )
    return answer


@router.post("/account/sign-out", include_in_schema=False)
def sign_out_form(
    database: DatabaseOf, who: MaybeCaller, _: Annotated[None, CsrfChecked]
) -> Response:
    """Sign out."""
    answer = RedirectResponse("/account", 303)
    if who is not None:
        sign_out(database, answer, who)
    return answer
