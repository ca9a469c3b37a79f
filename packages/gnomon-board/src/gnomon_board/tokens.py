"""API tokens: 256 random bits, shown once, stored as a hash.

A token reads ``gnomon_KEY_SECRET``. The key finds the row; the secret is compared by its hash in
constant time, so that the time of a refusal reveals nothing. A browser that signs in gets a child
of the token as its cookie.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.database import note
from gnomon_board.errors import LeaderboardError, NotAllowed
from gnomon_board.schema import Account, Token, now

Scope = Literal["submit", "moderate", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
#: Pattern of a token. Other texts are not looked up, since some databases reject some texts.
_FORM = re.compile(r"gnomon_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
#: Compared if no token has the key, so that the time is the same.
_NOBODY = "0" * 64


@dataclass(frozen=True)
class Caller:
    """The authenticated account of a request, with its token; ``admin`` allows everything."""

    account_id: int
    account: str
    token_id: int
    scopes: frozenset[str]

    def may(self, scope: Scope) -> bool:
        """Whether the scope is allowed."""
        return scope in self.scopes or "admin" in self.scopes


def digest_of(secret: str) -> str:
    """Return the stored hash of a secret; the secret is random enough to need no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


def issue_token(
    session: Session,
    account: Account,
    scopes: Iterable[str],
    *,
    label: str = "",
    days: float | None = None,
    parent: Token | None = None,
    is_browser: bool = False,
) -> tuple[Token, str]:
    """Create a token of an account, and return its row and its text, which is not stored.

    A child expires with its ``parent`` at the latest, and has only scopes of the parent.
    """
    wanted = sorted(set(scopes), key=lambda scope: (scope not in SCOPES, scope))
    if not wanted or not set(wanted) <= set(SCOPES):
        raise LeaderboardError(
            f"expected scopes among {', '.join(SCOPES)}, found {', '.join(wanted) or 'none'}"
        )
    key, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    expires = None if days is None else now() + datetime.timedelta(days=days)
    if parent is not None:
        check_scopes(frozenset(parent.scopes), wanted)
        if parent.expires_at is not None:
            expires = min(expires or parent.expires_at, parent.expires_at)
    token = Token(
        account=account,
        key=key,
        digest=digest_of(secret),
        label=label,
        scopes=wanted,
        expires_at=expires,
        parent=parent,
        is_browser=is_browser,
    )
    session.add(token)
    session.flush()
    by = parent.account_id if parent else None
    note(session, "token issued", "token", token.id, by=by, public=False, scopes=wanted)
    return token, f"gnomon_{key}_{secret}"


def own_token(session: Session, caller: Caller) -> Token:
    """Return the token of a caller; of a browser, the one that it signed in by."""
    token = session.get_one(Token, caller.token_id)
    return token.parent if token.is_browser and token.parent else token


def revoke_token(token: Token) -> None:
    """Revoke a token and the tokens created with it, browsers included."""
    token.revoked_at = token.revoked_at or now()
    for child in token.children:
        revoke_token(child)


def check_scopes(held: frozenset[str], wanted: Iterable[str]) -> None:
    """Raise NotAllowed at the first scope that a holder of ``held`` may not grant or revoke."""
    for scope in wanted:
        if scope not in held and "admin" not in held:
            raise NotAllowed(f"this token lacks the scope {scope!r}")


def caller_of_token(session: Session, text: str, *, is_cookie: bool = False) -> Caller | None:
    """Return the caller with a token; None if it is wrong, revoked or expired.

    A cookie must be a browser's token: wrong cookies are not counted, so others could be guessed.
    """
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    key, secret = form.groups()
    token = session.scalar(select(Token).where(Token.key == key))
    known = hmac.compare_digest(digest_of(secret), token.digest if token else _NOBODY)
    if token is None or not known or not is_live(token) or (is_cookie and not token.is_browser):
        return None
    account = token.account
    return Caller(account.id, account.name, token.id, frozenset(token.scopes))


def is_live(token: Token) -> bool:
    """Return whether a token is not revoked or expired, and its account is open."""
    expired = token.expires_at is not None and token.expires_at <= now()
    return token.revoked_at is None and not expired and token.account.disabled_at is None
