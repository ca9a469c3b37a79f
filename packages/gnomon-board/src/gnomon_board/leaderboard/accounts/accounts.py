"""Accounts: creation, closing, and erasure of personal data on request."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.database.columns import now
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import (
    Account,
    Entry,
    EntryAttempt,
    Season,
    ServerSecret,
    Submission,
    Token,
    TokenRequest,
)
from gnomon_board.errors import Conflict, Missing
from gnomon_board.leaderboard.accounts.audit_log import note
from gnomon_board.leaderboard.accounts.names import clean_name, name_key
from gnomon_board.leaderboard.accounts.tokens import issue_token, revoke_token
from gnomon_board.leaderboard.server_settings import Settings

#: The fields of a run's config that the server assigned; the others are the participant's own.
_ASSIGNED = ("rules", "trials", "episodes", "horizon", "seed", "board")


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


def erase_account(database: Database, settings: Settings, account_id: int, *, by: int) -> None:
    """Close an account and erase the person's name and texts; the scores stay, under a pseudonym.

    What is left of a manifest is needed to verify the log again: the learner's name, which the log
    has too, and what was assigned. Archives and standings that show the name are deleted.
    """
    with database.writing() as session:
        account = find_account(session, account_id)
        close_account(session, account)
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
            entry.description = entry.link = entry.withdrawn_reason = ""
            entry.name = f"erased-{entry.id}"
            entry.name_key = name_key(entry.name) + secrets.token_hex(4)
            for submission in session.scalars(
                select(Submission).join(EntryAttempt).where(EntryAttempt.entry_id == entry.id)
            ):
                _erase_texts(submission)
        seasons = {entry.season_id for entry in entries}
        for season in seasons:
            session.get_one(Season, season).touch()
        note(session, "account erased", "account", account.id, by=by)
    for season in seasons:
        files = [*settings.archives.glob(f"{season}-*.zip"), settings.snapshots / f"{season}.json"]
        for path in files:
            path.unlink(missing_ok=True)


def _erase_texts(submission: Submission) -> None:
    if submission.state in ("withdrawn", "refused"):
        submission.reason = ""
    sent = submission.manifest
    config = sent.get("config", {}) if submission.state == "verified" else {}
    assigned = {name: config[name] for name in _ASSIGNED if name in config}
    submission.manifest = sent | {"config": assigned, "card": None}


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
