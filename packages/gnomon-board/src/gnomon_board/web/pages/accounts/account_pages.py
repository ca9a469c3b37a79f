"""Pages of an account: sign-in, tokens, and the way to ask for one."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from sqlalchemy import select

from gnomon_board.accounts import Registration, registration, request_of
from gnomon_board.database.schema import Entry, Token
from gnomon_board.tokens import is_live
from gnomon_board.web.api.dependencies import MaybeCaller, ReadSession
from gnomon_board.web.api.records import EntryRecord, TokenRecord
from gnomon_board.web.pages.templating import page

router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class AccountPage:
    """The signed-in account with its scopes, entries and live tokens."""

    account: str | None
    scopes: list[str]
    entries: list[EntryRecord]
    tokens: list[TokenRecord]


@page(router, "/account", "account.html")
def account_page(session: ReadSession, who: MaybeCaller) -> AccountPage:
    """Return who asks, by the token or the cookie."""
    if who is None:
        return AccountPage(None, [], [], [])
    entries = select(Entry).where(Entry.account_id == who.account_id).order_by(Entry.id)
    tokens = select(Token).where(Token.account_id == who.account_id).order_by(Token.id)
    return AccountPage(
        who.account,
        sorted(who.scopes),
        [EntryRecord.of(entry) for entry in session.scalars(entries)],
        [TokenRecord.of(token) for token in session.scalars(tokens) if is_live(token)],
    )


@dataclass(frozen=True)
class AskPage:
    """Whether a token may be asked for."""

    registration: Registration


@page(router, "/account/ask", "ask.html")
def ask_page(session: ReadSession) -> AskPage:
    """Return whether a token may be asked for; the page holds the form."""
    return AskPage(registration(session))


@dataclass(frozen=True)
class ClaimPage:
    """The state of a request: ``waiting``, ``granted``, ``claimed``, ``refused`` or ``expired``."""

    name: str
    state: str


@page(router, "/account/ask/{claim}", "claim.html")
def claim_page(session: ReadSession, claim: str) -> ClaimPage:
    """Return the state of a request; the token itself is fetched by a POST."""
    found = request_of(session, claim)
    return ClaimPage(found.name, found.state)
