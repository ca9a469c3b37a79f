"""The append-only audit log of actions; it never holds a secret."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from gnomon.database.schema import AuditRecord

__all__ = ["note"]


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

    Parameters
    ----------
    session : Session
        A writing one: the record stands or falls with the deed.
    action : str
        Such as ``submission refused``.
    subject, subject_id : str, int, optional
        The kind of thing, and which.
    by : int, optional
        The account; None for the server itself, or for nobody known.
    public : bool
        Whether the moderation page shows it to everybody.
    **detail
        What else there is to say, as JSON can hold it.
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
