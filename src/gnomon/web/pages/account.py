"""Signing a browser in by pasting a token, and out; what the account has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select

from gnomon.database.tables import Entry
from gnomon.leaderboard.refusals import TooMany
from gnomon.web.api.dependencies import (
    CsrfChecked,
    CurrentSettings,
    DatabaseOf,
    MaybeCaller,
    ReadSession,
)
from gnomon.web.api.records import EntryRecord
from gnomon.web.middleware import address_of
from gnomon.web.pages.templating import html_response
from gnomon.web.sign_in import WrongToken, sign_in, sign_out

__all__ = ["router"]

router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class AccountPage:
    """Who is signed in, with what scopes, and the entries of the account."""

    account: str | None
    scopes: list[str]
    entries: list[EntryRecord]


@router.get("/account.json")
def account_json(session: ReadSession, who: MaybeCaller) -> AccountPage:
    """Tell who asks, by the token or the cookie."""
    if who is None:
        return AccountPage(None, [], [])
    query = select(Entry).where(Entry.account_id == who.account_id).order_by(Entry.id)
    entries = [EntryRecord.of(entry) for entry in session.scalars(query)]
    return AccountPage(who.account, sorted(who.scopes), entries)


@router.get("/account", include_in_schema=False)
def account_html(request: Request, session: ReadSession, who: MaybeCaller) -> Response:
    """Show who is signed in, or the form to sign in by."""
    return html_response(request, "account.html", account_json(session, who), problem="")


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
            request, "account.html", page, status=refusal.status, problem=str(refusal)
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
