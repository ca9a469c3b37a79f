"""The append-only audit log of actions; it never holds a secret."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from gnomon_board.database.schema import AuditRecord


def note(
    session: Session,
    action: str,
    subject: str = "",
    subject_id: int | None = None,
    *,
    by: int | None = None,
    public: bool = True,
    **detail: Any,
) -> None:
    """Append a record of an action to the audit log.

    In a writing session, so that the record stands or falls with the deed. ``by`` is the account,
    None for the server itself; the moderation page shows to everybody what is ``public``.
    ``detail`` is whatever else there is to say, as JSON can hold it.
    """
    session.add(
        AuditRecord(
            account_id=by,
            action=action,
            subject=subject,
            subject_id=subject_id,
            detail=detail,
            public=public,
        )
    )
