"""JSON API of administration: accounts, tokens, sign-in, moderation."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import select

from gnomon_board.accounts import (
    Registration,
    ask_for_token,
    claim_token,
    clean_text,
    close_account,
    decide,
    erase_account,
    request_of,
    set_registration,
)
from gnomon_board.database import find_row, note
from gnomon_board.errors import Missing
from gnomon_board.schema import Account, Token
from gnomon_board.tokens import (
    Scope,
    caller_of_token,
    check_scopes,
    issue_token,
    own_token,
    revoke_token,
)
from gnomon_board.web.api.dependencies import (
    COOKIE,
    WRONG_TOKEN,
    Admin,
    After,
    Anybody,
    CsrfChecked,
    CurrentSettings,
    DatabaseOf,
    IntakeOf,
    Limit,
    Moderator,
    ReadSession,
    RowId,
    WriteSession,
    paced,
)
from gnomon_board.web.api.records import Form, IssuedToken, TokenRecord
from gnomon_board.web.limits import HOUR_S
from gnomon_board.web.middleware import address_of

router = APIRouter(prefix="/api", tags=["accounts and tokens"])

_Label = Annotated[str, Field(max_length=128)]
_Days = Annotated[float, Field(gt=0, le=3650, allow_inf_nan=False)]
_Scopes = Annotated[tuple[Scope, ...], Field(min_length=1, max_length=3)]


#: Requests for a token that one address may send in an hour.
_ASKS_PER_HOUR = 10
#: Hours that a browser stays signed in.
_BROWSER_HOURS = 12


class NewToken(Form):
    """A new token: its scopes, label and days until it ends."""

    scopes: _Scopes = ("submit",)
    label: _Label = ""
    days: _Days | None = 90


@router.get("/tokens")
def list_tokens(
    session: ReadSession, who: Anybody, limit: Limit = 100, after: After = 0
) -> list[TokenRecord]:
    """List the tokens of the account, without their secrets; an admin sees all."""
    rows = select(Token).where(Token.id > after).order_by(Token.id).limit(limit)
    if not who.may("admin"):
        rows = rows.where(Token.account_id == who.account_id)
    return [TokenRecord.of(token) for token in session.scalars(rows)]


@router.post("/tokens", status_code=201, dependencies=[Depends(paced)])
def make_token(session: WriteSession, wanted: NewToken, who: Anybody) -> IssuedToken:
    """Make another token of the account.

    It has at most the scopes of the calling token, expires with it at the latest, and is revoked
    with it.
    """
    token, text = issue_token(
        session,
        find_row(session, Account, who.account_id),
        wanted.scopes,
        label=clean_text(wanted.label, "label"),
        days=wanted.days,
        parent=own_token(session, who),
    )
    return IssuedToken.model_construct(**TokenRecord.of(token).model_dump(), token=text)


@router.delete("/tokens/{token}")
def revoke(session: WriteSession, token: RowId, who: Anybody) -> TokenRecord:
    """Revoke a token of the account (with the scope admin any token), and those made by it.

    A token with scopes that the caller lacks is not revoked.
    """
    found = session.get(Token, token)
    if found is None or not (found.account_id == who.account_id or who.may("admin")):
        raise Missing(f"there is no token {token}, or it is another account's")
    check_scopes(who.scopes, found.scopes)
    revoke_token(found)
    note(session, "token revoked", "token", found.id, by=who.account_id, public=False)
    return TokenRecord.of(found)


@router.post("/accounts/{account}/{action}", status_code=204)
def end_account(
    session: WriteSession, account: RowId, action: Literal["close", "erase"], who: Admin
) -> None:
    """Close an account and revoke its tokens; its entries stay.

    ``erase`` also erases the person's name and texts everywhere except in backups.
    """
    found = find_row(session, Account, account)
    if action == "erase":
        erase_account(session, found, by=who.account_id)
    else:
        close_account(session, found)
        note(session, "account closed", "account", account, by=who.account_id)


moderation_router = APIRouter(prefix="/api", tags=["moderation"])


class TokenAsked(Form):
    """A request for a token: name, contact and reason."""

    name: Annotated[str, Field(max_length=200)]
    contact: Annotated[str, Field(max_length=300)] = ""
    reason: Annotated[str, Field(max_length=4000)] = ""


class Claim(BaseModel):
    """The secret that fetches a token once its request is granted; shown only here."""

    claim: str


class ClaimedToken(BaseModel):
    """A requested token; shown only here."""

    name: str
    token: str


@router.post("/token-requests", status_code=201)
def ask(request: Request, intake: IntakeOf, database: DatabaseOf, wanted: TokenAsked) -> Claim:
    """Request an account and a token; ten requests an hour from one address are taken."""
    address = address_of(request.scope)
    intake.counts.count(f"ask {address}", most=_ASKS_PER_HOUR, window_s=HOUR_S)
    with database.writing() as session:
        told = (wanted.name, wanted.contact, wanted.reason)
        return Claim(claim=ask_for_token(session, *told, address))


@router.post("/token-requests/{claim}/token")
def claim(session: WriteSession, claim: Annotated[str, Path(max_length=64)]) -> ClaimedToken:
    """Fetch the token of a request that was granted, once."""
    name = request_of(session, claim).name
    return ClaimedToken(name=name, token=claim_token(session, claim))


@router.post("/session", status_code=204)
def sign_in(
    request: Request,
    response: Response,
    database: DatabaseOf,
    settings: CurrentSettings,
    intake: IntakeOf,
    token: Annotated[str, Body(embed=True, max_length=300)],
) -> None:
    """Sign a browser in: a cookie stands for the token until it is signed out."""
    intake.counts.count(f"sign-in {address_of(request.scope)}", most=settings.sign_ins_per_minute)
    with database.writing() as session:
        who = caller_of_token(session, token.strip())
        if who is None:
            raise HTTPException(401, WRONG_TOKEN)
        parent = own_token(session, who)
        _, cookie = issue_token(
            session,
            parent.account,
            parent.scopes,
            label="browser",
            days=_BROWSER_HOURS / 24,
            parent=parent,
            is_browser=True,
        )
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=_BROWSER_HOURS * 3600,
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )


@router.delete("/session", status_code=204)
def sign_out(
    request: Request, response: Response, session: WriteSession, _: Annotated[None, CsrfChecked]
) -> None:
    """Sign a browser out, on the server as well as in the browser."""
    who = caller_of_token(session, request.cookies.get(COOKIE, ""), is_cookie=True)
    if who is not None:
        revoke_token(session.get_one(Token, who.token_id))
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")


@moderation_router.put("/registration", status_code=204)
def put_registration(
    session: WriteSession, registration: Annotated[Registration, Body(embed=True)], who: Moderator
) -> None:
    """Set whether strangers get accounts: at once, once a moderator has agreed, or not."""
    set_registration(session, registration, by=who.account_id)


class Decision(Form):
    """The numbers of requests for a token, and whether they are granted."""

    requests: Annotated[list[Annotated[int, Field(ge=1, lt=2**31)]], Field(max_length=1000)]
    grant: bool


@moderation_router.post("/token-requests/decisions")
def decide_requests(session: WriteSession, decision: Decision, who: Moderator) -> list[int]:
    """Grant requests, which makes the accounts, or refuse them; return those that waited."""
    return decide(session, decision.requests, grant=decision.grant, by=who.account_id)
