"""Pages of an account, of moderation, and of how to submit a learner."""

from __future__ import annotations

import itertools
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from gnomon_board.accounts import registration, request_of, waiting_requests
from gnomon_board.database import find_row
from gnomon_board.schema import WAITING, AuditRecord, Entry, Season, Submission, Token
from gnomon_board.seasons import why_closed
from gnomon_board.tokens import is_live
from gnomon_board.web.api.dependencies import MOST, MaybeCaller, ReadSession, site_of
from gnomon_board.web.api.records import SubmissionRecord
from gnomon_board.web.templating import html_response

router = APIRouter(tags=["pages"])

_PAGE = 100
_OPEN = (*WAITING, "error")


@router.get("/moderation", include_in_schema=False)
def moderation(
    request: Request,
    session: ReadSession,
    who: MaybeCaller,
    before: Annotated[int | None, Query(ge=1, le=MOST)] = None,
) -> Response:
    """List the newest records of the log, a hundred at a time, and first the submissions that wait.

    Moderators also see requests for tokens by network, and the switch of registration.
    """
    moderates = who is not None and who.may("moderate")
    query = select(AuditRecord).options(joinedload(AuditRecord.account))
    if not moderates:
        query = query.where(AuditRecord.public)
    if before is not None:
        query = query.where(AuditRecord.id < before)
    found = session.scalars(query.order_by(AuditRecord.id.desc()).limit(_PAGE + 1)).all()
    waiting = session.scalars(
        select(Submission).where(Submission.state.in_(_OPEN)).order_by(Submission.id).limit(_PAGE)
    )
    asked = waiting_requests(session) if moderates else ()
    return html_response(
        request,
        "board/moderation.html",
        public=True,
        lines=found[:_PAGE],
        older_before=found[_PAGE - 1].id if len(found) > _PAGE else None,
        waiting=[SubmissionRecord.with_place(x, session) for x in waiting if before is None],
        moderates=moderates,
        registration=registration(session),
        requests=[[*group] for _, group in itertools.groupby(asked, lambda each: each.network)],
    )


@router.get("/account", include_in_schema=False)
def account(
    request: Request,
    session: ReadSession,
    who: MaybeCaller,
    claim: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show the signed-in account, or the forms to sign in and to request a token.

    With ``claim``, show the state of this request for a token, which a POST fetches.
    """
    if claim:
        asked = request_of(session, claim)
        return html_response(request, "claim.html", claim=claim, name=asked.name, state=asked.state)
    if who is None:
        shown = registration(session)
        return html_response(request, "sign_in.html", registration=shown)
    entries = select(Entry).where(Entry.account_id == who.account_id).order_by(Entry.id)
    tokens = select(Token).where(Token.account_id == who.account_id).order_by(Token.id)
    return html_response(
        request,
        "account.html",
        account=who.account,
        scopes=sorted(who.scopes),
        entries=session.scalars(entries).all(),
        tokens=[token for token in session.scalars(tokens) if is_live(token)],
    )


@router.get("/submit", include_in_schema=False)
def submit(
    request: Request,
    session: ReadSession,
    who: MaybeCaller,
    entry: Annotated[int | None, Query(ge=1, le=MOST)] = None,
) -> Response:
    """Show how a learner is registered, played and submitted; with ``entry``, for this one."""
    seasons = session.scalars(select(Season).order_by(Season.id.desc()))
    return html_response(
        request,
        "board/submit.html",
        seasons=[season for season in seasons if not why_closed(season)],
        entry=None if entry is None else find_row(session, Entry, entry),
        may=who is not None and who.may("submit"),
        server=site_of(request),
    )
