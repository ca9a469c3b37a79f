"""The tables of human play: sessions with every attempt, studies and whom they invited."""

from __future__ import annotations

import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from gnomon.database.columns import (
    AccountId,
    Base,
    BigNumber,
    Id,
    Name,
    Sha256,
    now,
)

__all__ = ["PlayAttempt", "PlaySession", "Study", "StudyAssignment"]


class Study(Base):
    """A plan by which invited players meet rules; ``invitation`` is the hash of the link's key."""

    __tablename__ = "studies"
    id: Mapped[Id]
    account_id: Mapped[AccountId]
    name: Mapped[Name] = mapped_column(unique=True)
    title: Mapped[str]
    consent: Mapped[str]
    plan: Mapped[dict[str, Any]]
    invitation: Mapped[Sha256] = mapped_column(unique=True)
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    closes_at: Mapped[datetime.datetime | None]
    assignments: Mapped[list[StudyAssignment]] = relationship(back_populates="study")


class StudyAssignment(Base):
    """A player of a study, by a pseudonym, and which of the plan's lists of rules is theirs.

    ``key`` is the hash of what the player's browser holds: it leads back to the study.
    """

    __tablename__ = "study_assignments"
    __table_args__ = (UniqueConstraint("study_id", "player"),)
    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    key: Mapped[Sha256] = mapped_column(unique=True)
    player: Mapped[Name]
    rule_list: Mapped[Name]
    n_played: Mapped[int] = mapped_column(default=0)
    consented_at: Mapped[datetime.datetime | None]
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime.datetime | None]
    study: Mapped[Study] = relationship(back_populates="assignments")


class PlaySession(Base):
    """Somebody at one rule, board after board; ``key`` is the hash of what the browser holds."""

    __tablename__ = "play_sessions"
    id: Mapped[Id]
    key: Mapped[Sha256] = mapped_column(unique=True)
    assignment_id: Mapped[int | None] = mapped_column(
        ForeignKey("study_assignments.id"), index=True
    )
    season_rule_id: Mapped[int | None] = mapped_column(ForeignKey("season_rules.id"), index=True)
    rule: Mapped[Name]
    series: Mapped[int] = mapped_column(default=0)
    seed: Mapped[BigNumber]
    board: Mapped[dict[str, Any]]
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(String(16), default="playing")
    n_episodes: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    changed_at: Mapped[datetime.datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime.datetime | None]
    assignment: Mapped[StudyAssignment | None] = relationship()
    attempts: Mapped[list[PlayAttempt]] = relationship(back_populates="session")


class PlayAttempt(Base):
    """One attempt of a person; ``board`` is the episode's board, on its first attempt only."""

    __tablename__ = "play_attempts"
    __table_args__ = (UniqueConstraint("session_id", "episode", "number"),)
    id: Mapped[Id]
    session_id: Mapped[int] = mapped_column(ForeignKey("play_sessions.id"), index=True)
    episode: Mapped[int]
    number: Mapped[int]
    cell: Mapped[int | None]
    bucket: Mapped[int | None]
    outcome: Mapped[int]
    finish: Mapped[int]
    board: Mapped[bytes | None] = mapped_column(LargeBinary)
    at: Mapped[datetime.datetime] = mapped_column(default=now)
    reaction_ms: Mapped[int | None]
    session: Mapped[PlaySession] = relationship(back_populates="attempts")
