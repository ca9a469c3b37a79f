"""Accounts: names, creation, registration of strangers, erasure.

Names and texts are plain text; pages escape them. Characters that could deceive a reader (invisible
ones, or ones that change the direction of writing) or break a database are refused.

A moderator's switch grants accounts to strangers at once (``open``), after approval by a moderator
(``asked``, the default), or not at all (``closed``). No mail is sent: a request returns a claim,
which fetches the token once. The number of requests is limited per network and in total; when the
total is reached, the oldest request of the network with the most requests is dropped.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import unicodedata
from collections.abc import Collection, Iterable
from typing import Literal, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.database import ERASES, Database, note
from gnomon_board.errors import Conflict, Missing, NotAllowed, Refusal, TooMany
from gnomon_board.schema import (
    Account,
    Entry,
    EntryAttempt,
    Season,
    ServerValue,
    Submission,
    Token,
    TokenRequest,
    now,
)
from gnomon_board.tokens import digest_of, issue_token, revoke_token


def make_account(session: Session, name: str) -> Account:
    """Add an account."""
    name = clean_name(name)
    other = session.scalar(select(Account).where(Account.name_key == name_key(name)))
    if other is not None:
        raise Conflict(f"name: {name!r} is taken, or looks like {other.name!r}")
    account = Account(name=name, name_key=name_key(name))
    session.add(account)
    session.flush()
    return account


def close_account(session: Session, account: Account) -> None:
    """End an account and all its tokens; its entries stay."""
    account.disabled_at = account.disabled_at or now()
    for token in session.scalars(select(Token).where(Token.account_id == account.id)):
        revoke_token(token)


def erase_account(session: Session, account: Account, *, by: int) -> None:
    """Close an account and erase the person's name and texts; keep the scores under a pseudonym."""
    close_account(session, account)
    session.info[ERASES] = True
    account.name = f"erased-{account.id}"
    account.name_key = name_key(account.name) + secrets.token_hex(4)
    account.erased_at = now()
    for token in session.scalars(select(Token).where(Token.account_id == account.id)):
        token.label = ""
    asked = select(TokenRequest).where(TokenRequest.account_id == account.id)
    for request in session.scalars(asked):
        request.name = account.name
    entries = session.scalars(select(Entry).where(Entry.account_id == account.id)).all()
    for entry in entries:
        entry.description, entry.name = "", f"erased-{entry.id}"
        entry.name_key = name_key(entry.name) + secrets.token_hex(4)
        for submission in session.scalars(
            select(Submission).join(EntryAttempt).where(EntryAttempt.entry_id == entry.id)
        ):
            submission.learner = "erased"
            if submission.state in ("withdrawn", "refused"):
                submission.reason = ""
    for season in {entry.season_id for entry in entries}:
        session.get_one(Season, season).touch()
    note(session, "account erased", "account", account.id, by=by)


def server_secret(session: Session, name: str = "seeds") -> bytes:
    """Return the server's secret of 32 random bytes, which is drawn at the first call."""
    found = session.get(ServerValue, name)
    if found is None:
        found = ServerValue(name=name, value=secrets.token_hex(32))
        session.add(found)
        session.flush()
    return bytes.fromhex(found.value)


def token_for(
    database: Database, name: str, scopes: Iterable[str], *, days: float | None = None
) -> str:
    """Return a new token of an account; create the account if it does not exist."""
    with database.writing() as session:
        key = name_key(clean_name(name))
        account = session.scalar(select(Account).where(Account.name_key == key))
        account = account or make_account(session, name)
        return issue_token(session, account, scopes, days=days)[1]


# -- registration ----------------------------------------------------------------------------------

Registration = Literal["open", "asked", "closed"]
_SWITCH = "registration"
#: Requests that may wait at once, in total and from one network.
_MOST_WAITING, _MOST_OF_NETWORK = 1000, 20
#: Bits of an address that its network has: a site gets 56 or 48 bits of IPv6.
_NETWORK_BITS = {4: 24, 6: 48}
_TOKEN_DAYS = 365


def registration(session: Session) -> Registration:
    """Return the position of the registration switch."""
    found = session.get(ServerValue, _SWITCH)
    return next((each for each in get_args(Registration) if found and found.value == each), "asked")


def set_registration(session: Session, value: Registration, *, by: int) -> None:
    """Set the registration switch, and log the account that did it."""
    session.merge(ServerValue(name=_SWITCH, value=value))
    note(session, "registration", "switch", by=by, public=False, value=value)


def ask_for_token(session: Session, name: str, contact: str, reason: str, address: str) -> str:
    """Store a request for a token, and return the claim that fetches the token.

    Only the hash of the claim and a keyed hash of the address's network are stored.
    """
    switch = registration(session)
    if switch == "closed":
        raise NotAllowed("this board takes no new accounts now; ask its operator")
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
        decide(session, [request.id], grant=True, by=None)
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
    """Refuse a request above the limit of its network; free a place if all are taken."""
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

    Requests of one network are adjacent, the oldest first, so that a flood hides no other request.
    """
    of_network = func.count().over(partition_by=TokenRequest.network)
    waiting = select(TokenRequest).where(TokenRequest.state == "waiting")
    ordered = waiting.order_by(of_network, TokenRequest.network, TokenRequest.id)
    return [*session.scalars(ordered.limit(200))]


def decide(
    session: Session, requests: Collection[int], *, grant: bool, by: int | None
) -> list[int]:
    """Grant requests and create the accounts, or refuse them; ``by`` is None for the open switch.

    The contact and the reason are erased, and the name too if the request is refused. Returns the
    numbers of the requests that were waiting; any others remain unchanged.
    """
    waiting = select(TokenRequest).where(
        TokenRequest.id.in_(requests), TokenRequest.state == "waiting"
    )
    found = session.scalars(waiting.order_by(TokenRequest.id).with_for_update()).all()
    session.info[ERASES] = by is not None  # not with each of many requests at the open switch
    for request in found:
        if grant:
            request.account_id = make_account(session, request.name).id
        _close(request, "granted" if grant else "refused")
        action = "token request " + request.state
        note(session, action, "token request", request.id, by=by, public=False)
    return [request.id for request in found]


def _close(request: TokenRequest, state: Literal["granted", "refused", "expired"]) -> None:
    """End a request and erase what was sent, except the name of a granted request."""
    request.state = state
    request.contact = request.reason = ""
    if state != "granted":
        request.name = ""


def request_of(session: Session, claim: str) -> TokenRequest:
    """Return the request that a claim belongs to; raise Missing if there is none."""
    wanted = select(TokenRequest).where(TokenRequest.claim == digest_of(claim))
    found = session.scalar(wanted.with_for_update())
    if found is None:
        raise Missing("there is no such request")
    return found


def claim_token(session: Session, claim: str) -> str:
    """Return the token of a granted request, once."""
    request = request_of(session, claim)
    if request.state != "granted":
        raise Conflict(f"this request is {request.state}")
    account = session.get_one(Account, request.account_id)
    request.state = "claimed"
    return issue_token(session, account, ["submit"], label="asked for", days=_TOKEN_DAYS)[1]


# -- names and texts -------------------------------------------------------------------------------

MAX_NAME = 64
MAX_TEXT = 4000

#: Control, format (bidi marks, zero-width letters), surrogates, private use, not assigned.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")
#: Characters that Unicode classes as letters, marks or signs, and that are invisible.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
#: Most marks on one letter; more would cover the lines above and below.
_MOST_MARKS = 4
#: Letters of other alphabets that look like Latin ones in most typefaces, and the digits 0 and 1.
_LOOKALIKES = str.maketrans(
    "абвгдезіјкӏмнорѕтухԁԛԝьαβγεικνορτυχωø01|", "a6bгдe3ijklmhopstyxdqwbaβyeiκvoptuxwooll"
)


def clean_name(text: str, what: str = "name") -> str:
    """Return a name in its normal form (NFC, single spaces)."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not 1 <= len(name) <= MAX_NAME:
        raise Refusal(f"{what}: expected 1 to {MAX_NAME} characters, found {len(name)}")
    _refuse_hidden(name, what, but="")
    if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
        raise Refusal(f"{what}: expected at least one letter or digit")
    return name


def name_key(name: str) -> str:
    """Return a key that is equal for names that look the same to a reader."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = "".join(letter for letter in bare if letter.isalnum() or letter == "|")
    # A name of signs alone is its own key.
    return (words.translate(_LOOKALIKES) or folded)[:128]


def clean_text(text: str, what: str = "description") -> str:
    """Return a description of at most 4000 characters in normal form; errors as for a name."""
    cleaned = unicodedata.normalize("NFC", text.replace("\r\n", "\n").strip())
    if len(cleaned) > MAX_TEXT:
        raise Refusal(f"{what}: expected at most {MAX_TEXT} characters, found {len(cleaned)}")
    _refuse_hidden(cleaned, what, but="\n\t")
    return cleaned


def _refuse_hidden(text: str, what: str, but: str) -> None:
    marks = 0
    for letter in text:
        category = unicodedata.category(letter)
        if (category in _HIDDEN or letter in _BLANK) and letter not in but:
            raise Refusal(f"{what}: expected visible characters, found U+{ord(letter):04X}")
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks > _MOST_MARKS:
            raise Refusal(f"{what}: expected at most {_MOST_MARKS} marks on a letter, found more")
