"""Registration of strangers, who ask for a token.

A moderator's switch says whether strangers get an account at once (``open``), once a moderator has
agreed (``asked``, the default), or not (``closed``). No mail is sent: whoever asks is given a
claim, and fetches the token with it, once.
"""

from __future__ import annotations

import secrets
from typing import Literal, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.database.columns import now
from gnomon_board.database.schema import Account, ServerSwitch, TokenRequest
from gnomon_board.errors import Conflict, Missing, NotAllowed, TooMany
from gnomon_board.leaderboard.accounts.accounts import make_account
from gnomon_board.leaderboard.accounts.audit_log import note
from gnomon_board.leaderboard.accounts.names import clean_name, clean_text, name_key
from gnomon_board.leaderboard.accounts.tokens import digest_of, issue_token

Registration = Literal["open", "asked", "closed"]
_SWITCH = "registration"
#: Requests that may wait at once.
_MOST_WAITING = 1000
_TOKEN_DAYS = 365


def registration(session: Session) -> Registration:
    """Return what the switch says."""
    found = session.get(ServerSwitch, _SWITCH)
    return next((each for each in get_args(Registration) if found and found.value == each), "asked")


def set_registration(session: Session, value: Registration, *, by: int) -> None:
    """Turn the switch; the audit log tells who did."""
    session.merge(ServerSwitch(name=_SWITCH, value=value))
    note(session, "registration", "switch", by=by, public=False, value=value)


def ask_for_token(session: Session, name: str, contact: str, reason: str) -> str:
    """Keep a request, and return the claim by which its token is fetched; it is kept nowhere.

    Raises Refusal: registration is closed, the name is taken or cannot be one, too many wait.
    """
    switch = registration(session)
    if switch == "closed":
        raise NotAllowed("this board takes no new accounts now; ask whoever runs it")
    name = clean_name(name)
    if session.scalar(select(Account.id).where(Account.name_key == name_key(name))):
        raise Conflict(f"name: {name!r} is taken, or looks like another account's")
    waiting = select(func.count()).select_from(TokenRequest).where(TokenRequest.state == "waiting")
    if (session.scalar(waiting) or 0) >= _MOST_WAITING:
        raise TooMany("too many requests wait for a moderator; come again another day", 86_400)
    claim = secrets.token_urlsafe(32)
    request = TokenRequest(
        name=name,
        contact=clean_text(contact, "contact"),
        reason=clean_text(reason, "reason"),
        claim=digest_of(claim),
    )
    session.add(request)
    session.flush()
    if switch == "open":
        decide(session, request.id, grant=True, by=None)
    return claim


def waiting_requests(session: Session) -> list[TokenRequest]:
    """Return the requests that nobody has decided on, at most the 200 oldest, in their order."""
    waiting = select(TokenRequest).where(TokenRequest.state == "waiting")
    return [*session.scalars(waiting.order_by(TokenRequest.id).limit(200))]


def decide(session: Session, request_id: int, *, grant: bool, by: int | None) -> TokenRequest:
    """Grant a request, which makes the account, or refuse it; ``by`` is None for the open switch.

    How to reach the person, and why they asked, are kept no longer; of who is refused, no name.

    Raises Refusal: there is no such request, it is decided, or the name has been taken meanwhile.
    """
    request = session.get(TokenRequest, request_id, with_for_update=True)
    if request is None:
        raise Missing(f"there is no request {request_id}")
    if request.state != "waiting":
        raise Conflict(f"request {request_id} is {request.state} already")
    if grant:
        request.account_id = make_account(session, request.name).id
    request.state, request.decided_at = ("granted" if grant else "refused"), now()
    request.contact = request.reason = ""
    if not grant:
        request.name = ""
    action = "token request " + request.state
    note(session, action, "token request", request.id, by=by, public=False)
    return request


def request_of(session: Session, claim: str) -> TokenRequest:
    """Return the request that a claim belongs to; Missing if there is none."""
    wanted = select(TokenRequest).where(TokenRequest.claim == digest_of(claim))
    found = session.scalar(wanted.with_for_update())
    if found is None:
        raise Missing("there is no such request")
    return found


def claim_token(session: Session, claim: str) -> str:
    """Return the token of a request that was granted, the first time it is asked for.

    Raises Refusal: there is no such request, or its token was fetched, refused, or still waits.
    """
    request = request_of(session, claim)
    if request.state != "granted":
        raise Conflict(f"this request is {request.state}")
    account = session.get_one(Account, request.account_id)
    token, text = issue_token(session, account, ["submit"], label="asked for", days=_TOKEN_DAYS)
    request.state = "claimed"
    note(session, "token issued", "token", token.id, public=False, scopes=token.scopes)
    return text
