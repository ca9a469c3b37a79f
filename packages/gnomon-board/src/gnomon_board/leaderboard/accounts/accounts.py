"""Accounts: creation, closing, and erasure of personal data on request."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.database.columns import now
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import Account, Entry, Season, ServerSecret, Token, TokenRequest
from gnomon_board.errors import Conflict, Missing
from gnomon_board.leaderboard.accounts.audit_log import note
from gnomon_board.leaderboard.accounts.names import clean_name, name_key
from gnomon_board.leaderboard.accounts.tokens import issue_token, revoke_token


def make_account(session: Session, name: str) -> Account:
    """Add an account.

    Raises Refusal: the name cannot be one, or looks like that of another account.
    """
    name = clean_name(name)
    other = session.scalar(select(Account).where(Account.name_key == name_key(name)))
    if other is not None:
        raise Conflict(f"name: {name!r} is taken, or looks like {other.name!r}")
    account = Account(name=name, name_key=name_key(name))
    session.add(account)
    session.flush()
    return account


def find_account(session: Session, account_id: int) -> Account:
    """Return an account; a :class:`Missing` tells that there is none."""
    account = session.get(Account, account_id)
    if account is None:
        raise Missing(f"there is no account {account_id}")
    return account


def close_account(session: Session, account: Account) -> None:
    """End an account and all its tokens; its entries stay."""
    account.disabled_at = account.disabled_at or now()
    for token in session.scalars(select(Token).where(Token.account_id == account.id)):
        revoke_token(token)


def erase_account(session: Session, account: Account) -> None:
    """Close an account and take the person off it: the scores stay, under a pseudonym."""
    close_account(session, account)
    account.name = f"erased-{account.id}"
    account.name_key = name_key(account.name) + secrets.token_hex(4)
    account.erased_at = now()
    for token in session.scalars(select(Token).where(Token.account_id == account.id)):
        token.label = ""
    asked = select(TokenRequest).where(TokenRequest.account_id == account.id)
    for request in session.scalars(asked):
        request.name = account.name
    for entry in session.scalars(select(Entry).where(Entry.account_id == account.id)):
        entry.description = entry.link = ""
        entry.name = f"erased-{entry.id}"
        entry.name_key = name_key(entry.name) + secrets.token_hex(4)
        session.get_one(Season, entry.season_id).touch()


def server_secret(session: Session, name: str = "seeds") -> bytes:
    """Return 32 random bytes that only this server knows; they are drawn when first asked for."""
    found = session.get(ServerSecret, name)
    if found is None:
        found = ServerSecret(name=name, value=secrets.token_bytes(32))
        session.add(found)
        session.flush()
    return found.value


def token_for(
    database: Database, name: str, scopes: Iterable[str], *, days: float | None = None
) -> str:
    """Return a new token of an account, which is made if there is none of this name."""
    with database.writing() as session:
        key = name_key(clean_name(name))
        account = session.scalar(select(Account).where(Account.name_key == key))
        account = account or make_account(session, name)
        token, text = issue_token(session, account, scopes, days=days)
        note(session, "token issued", "token", token.id, public=False, scopes=token.scopes)
        return text


def no_accounts(session: Session) -> bool:
    """Return whether there is no account yet: a new server."""
    return not session.scalar(select(func.count()).select_from(Account))
