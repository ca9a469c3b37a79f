"""A study after it was made: found by its name, invited to anew, closed, opened again."""

from __future__ import annotations

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon.database.columns import now
from gnomon.database.play_tables import Study
from gnomon.database.tables import Account
from gnomon.leaderboard.accounts.audit_log import note
from gnomon.leaderboard.accounts.tokens import digest_of
from gnomon.leaderboard.refusals import Conflict, Missing

__all__ = ["close_study", "first_account", "invite_anew", "study_named"]


def study_named(session: Session, name: str) -> Study:
    """Return a study; a :class:`Missing` tells that there is none."""
    study = session.scalar(select(Study).where(Study.name == name))
    if study is None:
        raise Missing(f"there is no study {name[:64]!r}")
    return study


def first_account(session: Session) -> int:
    """Return the account that the server began with: whoever sits at its machine acts for it."""
    found = session.scalar(select(Account.id).order_by(Account.id).limit(1))
    if found is None:
        raise Missing("there is no account yet; start the server once with gnomon serve")
    return found


def invite_anew(session: Session, study: Study, *, by: int) -> str:
    """Return the key of a new invitation; the one before leads nowhere from now on.

    Whoever has begun is not touched: players have keys of their own.
    """
    key = secrets.token_urlsafe(24)
    study.invitation = digest_of(key)
    study.closes_at = None
    note(session, "study invites anew", "study", study.id, by=by, public=False, name=study.name)
    return key


def close_study(session: Session, study: Study, *, by: int) -> None:
    """Let nobody else join; whoever has begun may play to the end.

    Raises
    ------
    Conflict
        It is closed.
    """
    if study.closes_at is not None and study.closes_at <= now():
        raise Conflict(f"study {study.name!r} is closed already")
    study.closes_at = now()
    note(session, "study closed", "study", study.id, by=by, public=False, name=study.name)
