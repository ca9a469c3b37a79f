"""The table of trials that are played through the server."""

from __future__ import annotations

import datetime

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from gnomon.database.columns import (
    Base,
    Id,
    Sha256,
    now,
)
from gnomon.database.tables import EntryAttempt, SeasonRule

__all__ = ["RemoteTrial"]


class RemoteTrial(Base):
    """A trial that a learner plays through the server; ``actions`` is every attempt so far.

    ``state`` is ``playing``, ``done`` or ``abandoned``; boards and outcomes follow from the
    attempt's seed, the rule and the number, so that the actions are all there is to keep.
    """

    __tablename__ = "remote_trials"
    __table_args__ = (UniqueConstraint("attempt_id", "rule_id", "number"),)
    id: Mapped[Id]
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), index=True)
    rule_id: Mapped[int] = mapped_column(ForeignKey("season_rules.id"))
    number: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), default="playing")
    episode: Mapped[int] = mapped_column(default=0)
    n_attempts: Mapped[int] = mapped_column(default=0)
    actions: Mapped[bytes] = mapped_column(default=b"")
    log_sha256: Mapped[Sha256 | None]
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    changed_at: Mapped[datetime.datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime.datetime | None]
    attempt: Mapped[EntryAttempt] = relationship()
    rule: Mapped[SeasonRule] = relationship()
