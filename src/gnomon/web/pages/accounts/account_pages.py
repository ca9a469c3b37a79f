"""Sign-in and sign-out of a browser by an API token, and the account page.

A token is pasted once, and a cookie stands for it from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon.database.engine import Database
from gnomon.database.schema import Entry, Token
from gnomon.leaderboard.accounts.audit_log import note
from gnomon.leaderboard.accounts.rate_limits import MINUTE_S, count_or_refuse
from gnomon.leaderboard.accounts.tokens import (
    Caller,
    caller_of_token,
    end_browser_session,
    is_live,
    start_browser_session,
)
from gnomon.leaderboard.refusals import Refusal, TooMany
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.web.api.administration import Anybody, NewToken, make_token, revoke
from gnomon.web.api.dependencies import (
    COOKIE,
    CsrfChecked,
    CurrentSettings,
    DatabaseOf,
    MaybeCaller,
    ReadSession,
    RowId,
    WriteSession,
    paced,
)
from gnomon.web.api.records import EntryRecord, TokenRecord, status_of
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
        keep_signed_in(session, settings, response, caller)
    return caller


def keep_signed_in(
    session: Session, settings: ServerSettings, response: Response, caller: Caller
) -> None:
    """Sign a browser in for a caller: put the cookie into the answer."""
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


def sign_out(database: Database, response: Response, caller: Caller) -> None:
    """Sign a browser out, on the server as well as in the browser."""
    with database.writing() as session:
        end_browser_session(session, caller)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")


router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class AccountPage:
    """Who is signed in, with what scopes, and the account's entries and live tokens.

    ``provider`` is the issuer of another way to sign in, if there is one.
    """

    account: str | None
    scopes: list[str]
    entries: list[EntryRecord]
    tokens: list[TokenRecord]
    provider: str


@twin(router, "/account", "account.html", problem="", token="")
def account_json(session: ReadSession, settings: CurrentSettings, who: MaybeCaller) -> AccountPage:
    """Tell who asks, by the token or the cookie."""
    return _account_page(session, settings, who)


def _account_page(session: Session, settings: ServerSettings, who: Caller | None) -> AccountPage:
    provider = urlsplit(settings.openid_issuer).hostname or ""
    if who is None:
        return AccountPage(None, [], [], [], provider)
    entries = select(Entry).where(Entry.account_id == who.account_id).order_by(Entry.id)
    tokens = select(Token).where(Token.account_id == who.account_id).order_by(Token.id)
    return AccountPage(
        who.account,
        sorted(who.scopes),
        [EntryRecord.of(entry) for entry in session.scalars(entries)],
        [TokenRecord.of(token) for token in session.scalars(tokens) if is_live(token)],
        provider,
    )


@router.post("/account/tokens", include_in_schema=False, dependencies=[Depends(paced)])
def make_token_form(
    request: Request,
    session: WriteSession,
    settings: CurrentSettings,
    who: Anybody,
    label: Annotated[str, Form(max_length=128)] = "",
) -> Response:
    """Make a token to submit with, and show it, this once."""
    made = make_token(session, NewToken(scopes=["submit"], label=label), who)
    page = _account_page(session, settings, who)
    return html_response(request, "account.html", page, problem="", token=made.token)


@router.post("/account/tokens/{token}/revoke", include_in_schema=False)
def revoke_token_form(session: WriteSession, token: RowId, who: Anybody) -> Response:
    """Revoke a token of one's own."""
    revoke(session, token, who)
    return RedirectResponse("/account", 303)


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
        with database.reading() as session:
            page = _account_page(session, settings, None)
        return html_response(
            request, "account.html", page, status=status_of(refusal), problem=str(refusal), token=""
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
