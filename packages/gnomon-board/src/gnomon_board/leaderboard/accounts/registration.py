"""Registration: strangers request a token, and moderators decide.

A moderator's switch gives accounts to strangers at once (``open``), once a moderator has agreed
(``asked``, the default), or not at all (``closed``). No mail is sent: a request returns a claim,
which fetches the token once. Requests of one network, and all together, are limited; when all
places are taken, the network with the most requests loses its oldest one.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Collection
from typing import Literal, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.database.columns import now
from gnomon_board.database.schema import Account, ServerSwitch, TokenRequest
from gnomon_board.errors import Conflict, Missing, NotAllowed, TooMany
from gnomon_board.leaderboard.accounts.accounts import make_account, server_secret
from gnomon_board.leaderboard.accounts.audit_log import note
from gnomon_board.leaderboard.accounts.names import clean_name, clean_text, name_key
from gnomon_board.leaderboard.accounts.tokens import digest_of, issue_token

Registration = Literal["open", "asked", "closed"]
_SWITCH = "registration"
#: Requests that may wait at once, in total and from one network.
_MOST_WAITING, _MOST_OF_NETWORK = 1000, 20
#: Bits of an address that its network has: a site gets 56 or 48 bits of IPv6.
_NETWORK_BITS = {4: 24, 6: 48}
_TOKEN_DAYS = 365


def registration(session: Session) -> Registration:
    """Return what the switch says."""
    found = session.get(ServerSwitch, _SWITCH)
    return next((each for each in get_args(Registration) if found and found.value == each), "asked")


def set_registration(session: Session, value: Registration, *, by: int) -> None:
    """Turn the switch; the audit log tells who did."""
    session.merge(ServerSwitch(name=_SWITCH, value=value))
    note(session, "registration", "switch", by=by, public=False, value=value)


def ask_for_token(session: Session, name: str, contact: str, reason: str, address: str) -> str:
    """Keep a request, and return the claim that fetches its token; only its hash is kept.

    Of the address a keyed hash of its network is kept.

    Raises Refusal: registration is closed, the name is taken or not allowed, or too many requests
    of this network wait.
    """
    switch = registration(session)
    if switch == "closed":
        raise NotAllowed("this board takes no new accounts now; ask whoever runs it")
    name = clean_name(name)
    if session.scalar(select(Account.id).where(Account.name_key == name_key(name))):
        raise Conflict(f"name: {name!r} is taken, or looks like another account's")
    network = _network_of(session, address)
    _make_room(session, network)
    claim = secrets.token_urlsafe(32)
    request = TokenRequest(
        name=name,
        contact=clean_text(contact, "contact"),
        reason=clean_text(reason, "reason"),
        claim=digest_of(claim),
        network=network,
    )
    session.add(request)
    session.flush()
    if switch == "open":
        decide(session, request.id, grant=True, by=None)
    return claim


def _network_of(session: Session, address: str) -> str:
    """Return a keyed hash of the network that an address belongs to."""
    try:
        found = ipaddress.ip_address(address)
        address = str(ipaddress.ip_network((found, _NETWORK_BITS[found.version]), strict=False))
    except ValueError:
        pass  # Not an address: a socket of the machine itself.
    key = server_secret(session, "networks")
    return hmac.new(key, address.encode(), hashlib.sha256).hexdigest()


def _make_room(session: Session, network: str) -> None:
    """Refuse one request too many of a network; where all places are taken, free one."""
    n_waiting = func.count().label("n_waiting")
    counts = (
        select(TokenRequest.network, n_waiting)
        .where(TokenRequest.state == "waiting")
        .group_by(TokenRequest.network)
        .order_by(n_waiting.desc(), func.min(TokenRequest.id))
    )
    found = session.execute(counts).all()
    if dict(found).get(network, 0) >= _MOST_OF_NETWORK:
        raise TooMany(
            f"{_MOST_OF_NETWORK} requests from your network wait for a moderator; try again "
            "tomorrow",
            86_400,
        )
    if sum(n for _, n in found) >= _MOST_WAITING:
        largest = TokenRequest.network.is_not_distinct_from(found[0][0])
        waiting = select(TokenRequest).where(TokenRequest.state == "waiting", largest)
        oldest = session.scalars(waiting.order_by(TokenRequest.id).limit(1)).one()
        _close(oldest, "expired")


def waiting_requests(session: Session) -> list[TokenRequest]:
    """Return up to 200 requests that wait for a decision, networks with few requests first.

    Those of one network follow each other, the oldest first: a flood hides nobody else's request.
    """
    of_network = func.count().over(partition_by=TokenRequest.network)
    waiting = select(TokenRequest).where(TokenRequest.state == "waiting")
    ordered = waiting.order_by(of_network, TokenRequest.network, TokenRequest.id)
    return [*session.scalars(ordered.limit(200))]


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
    _close(request, "granted" if grant else "refused")
    action = "token request " + request.state
    note(session, action, "token request", request.id, by=by, public=False)
    return request


def refuse_requests(session: Session, requests: Collection[int], *, by: int) -> int:
    """Refuse those of some requests that still wait, and return their number."""
    waiting = select(TokenRequest).where(
        TokenRequest.id.in_(requests), TokenRequest.state == "waiting"
    )
    found = session.scalars(waiting.with_for_update()).all()
    for request in found:
        _close(request, "refused")
    note(session, "token requests refused", by=by, public=False, n=len(found))
    return len(found)


def _close(request: TokenRequest, state: Literal["granted", "refused", "expired"]) -> None:
    """End a request; keep a name only if it is granted, and nothing else that was sent."""
    request.state, request.decided_at = state, now()
    request.contact = request.reason = ""
    if state != "granted":
        request.name = ""


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
