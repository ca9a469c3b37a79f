"""Registration in a browser: asking for a token, fetching it, and signing in with a provider."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from gnomon.leaderboard.accounts.rate_limits import HOUR_S, MINUTE_S, count_or_refuse
from gnomon.leaderboard.accounts.registration import (
    Registration,
    ask_for_token,
    claim_token,
    decide,
    registration,
    request_of,
    set_registration,
    sign_in_identity,
)
from gnomon.leaderboard.refusals import Missing, NotAllowed, Refusal
from gnomon.web.api.administration import Moderator
from gnomon.web.api.dependencies import (
    COOKIE,
    CurrentSettings,
    DatabaseOf,
    MaybeCaller,
    ReadSession,
    RowId,
    WriteSession,
    csrf_token,
    link_token,
)
from gnomon.web.api.records import status_of
from gnomon.web.middleware import address_of
from gnomon.web.openid import Begun, Provider
from gnomon.web.pages.accounts.account_pages import keep_signed_in
from gnomon.web.pages.templating import html_response, twin

router = APIRouter(tags=["pages"])

#: Requests for a token that one address may send in an hour.
_ASKS_PER_HOUR = 10
_COOKIE, _COOKIE_PATH, _COOKIE_S = "gnomon_openid", "/account/openid", 600


@dataclass(frozen=True)
class AskPage:
    """Whether a token may be asked for, and what was wrong with the form that was sent."""

    registration: Registration
    name: str = ""
    contact: str = ""
    reason: str = ""
    problem: str = ""


@dataclass(frozen=True)
class ClaimPage:
    """What became of a request: ``waiting``, ``granted``, ``refused``, ``claimed``; its token."""

    name: str
    state: str
    token: str = ""


@twin(router, "/account/ask", "ask.html")
def ask_json(session: ReadSession) -> AskPage:
    """Tell whether a token may be asked for; the page holds the form."""
    return AskPage(registration(session))


@router.post("/account/ask", include_in_schema=False)
def ask_form(
    request: Request,
    database: DatabaseOf,
    name: Annotated[str, Form(max_length=200)] = "",
    contact: Annotated[str, Form(max_length=300)] = "",
    reason: Annotated[str, Form(max_length=4000)] = "",
) -> Response:
    """Take a request, and lead to the page that tells what became of it."""
    with database.writing() as session:
        address = address_of(request.scope)
        count_or_refuse(session, f"ask {address}", _ASKS_PER_HOUR, HOUR_S)
    try:
        with database.writing() as session:
            claim = ask_for_token(session, name, contact, reason)
    except Refusal as refusal:
        with database.reading() as session:
            page = AskPage(registration(session), name, contact, reason, str(refusal))
        return html_response(request, "ask.html", page, json=False, status=status_of(refusal))
    return RedirectResponse(f"/account/ask/{claim}", 303)


@twin(router, "/account/ask/{claim}", "claim.html")
def claim_json(session: ReadSession, claim: str) -> ClaimPage:
    """Tell what became of a request, and never its token: that is shown once, to who posts."""
    found = request_of(session, claim)
    return ClaimPage(found.name, found.state)


@router.post("/account/ask/{claim}", include_in_schema=False)
def claim_form(request: Request, session: WriteSession, claim: str) -> Response:
    """Show the token of a request that was granted, this once."""
    page = ClaimPage(request_of(session, claim).name, "claimed", claim_token(session, claim))
    return html_response(request, "claim.html", page, json=False)


@router.post("/moderation/registration", include_in_schema=False)
def switch_form(
    session: WriteSession, who: Moderator, value: Annotated[Registration, Form()]
) -> Response:
    """Turn the switch of registration."""
    set_registration(session, value, by=who.account_id)
    return RedirectResponse("/moderation", 303)


@router.post("/moderation/requests/{number}", include_in_schema=False)
def decide_form(
    session: WriteSession, number: RowId, who: Moderator, grant: Annotated[bool, Form()]
) -> Response:
    """Grant a request for a token, or refuse it."""
    decide(session, number, grant=grant, by=who.account_id)
    return RedirectResponse("/moderation", 303)


def provider_of(request: Request) -> Provider:
    """Return the provider of sign-in; Missing if the server has none."""
    found: Provider | None = request.app.state.provider
    if found is None:
        raise Missing("this board has no sign-in but by token")
    return found


CurrentProvider = Annotated[Provider, Depends(provider_of)]


@router.get("/account/openid", include_in_schema=False)
async def openid_begin(
    request: Request,
    provider: CurrentProvider,
    settings: CurrentSettings,
    link: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Send a browser to the provider; ``link`` is that of the page of the account to connect."""
    if link and not _is_link(request, link):
        raise NotAllowed("this link is out of date: load the page again")
    begun = Begun.new(link)
    answer = RedirectResponse(await run_in_threadpool(provider.address, begun), 303)
    answer.set_cookie(
        _COOKIE,
        begun.to_cookie(),
        max_age=_COOKIE_S,
        path=_COOKIE_PATH,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
    return answer


def _is_link(request: Request, link: str) -> bool:
    """Whether a page of the signed-in browser gave a link, and no page of somebody else.

    Else who had signed a browser in with a provider of theirs could lead it here, and have their
    own sign-in connected to the account of the browser.
    """
    cookie = request.cookies.get(COOKIE, "")
    return bool(cookie) and secrets.compare_digest(
        link_token(csrf_token(cookie)).encode(), link.encode()
    )


@router.get("/account/openid/back", include_in_schema=False)
def openid_back(
    request: Request,
    database: DatabaseOf,
    settings: CurrentSettings,
    provider: CurrentProvider,
    who: MaybeCaller,
    code: Annotated[str, Query(max_length=4000)] = "",
    state: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    """Sign in whoever the provider sends back."""
    begun = Begun.of_cookie(request.cookies.get(_COOKIE, ""))
    if begun is None or not secrets.compare_digest(begun.state.encode(), state.encode()):
        raise Refusal("this sign-in was not begun in this browser, or long ago: begin again")
    if not code:
        raise Refusal("the sign-in was not completed")
    answer = RedirectResponse("/account", 303)
    answer.delete_cookie(_COOKIE, path=_COOKIE_PATH, httponly=True, samesite="lax")
    if who is not None and not (begun.link and _is_link(request, begun.link)):
        # Signed in already; nothing is connected that was not asked for.
        return answer
    with database.writing() as session:
        most = settings.sign_ins_per_minute
        count_or_refuse(session, f"sign-in {address_of(request.scope)}", most, MINUTE_S)
    person = provider.person(code, begun)
    signed_in = None if who is None else who.account_id
    with database.writing() as session:
        found = sign_in_identity(
            session, provider.issuer, person.subject, person.name, account_id=signed_in
        )
        if who is None:
            keep_signed_in(session, settings, answer, found)
    return answer
