"""Tables of human play: studies, their players and what they wrote, games, attempts."""

from __future__ import annotations

import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from gnomon_board.database.columns import (
    AccountId,
    AssignmentId,
    Base,
    BigNumber,
    Id,
    Name,
    Sha256,
    now,
)


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

    ``key`` is the hash of what the player's browser holds: it leads back to the study. Before the
    consent there is no list: a link was made for one person. ``identity`` is a hash, too, of the
    identifier by which a recruiter knows the player; ``identifiers`` are kept as they came, and
    leave the database only when asked for. ``step`` counts the pages after the consent. ``ending``
    is ``finished``, ``left`` or ``screened out``, empty before. ``end_key`` is the hash of what the
    browser holds after the last game: it leads to the pages at the end. ``browser`` and ``device``
    are names such as ``Firefox 128`` and ``phone``.
    """

    __tablename__ = "study_assignments"
    __table_args__ = tuple(UniqueConstraint("study_id", name) for name in ("player", "identity"))
    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    key: Mapped[Sha256] = mapped_column(unique=True)
    player: Mapped[Name]
    rule_list: Mapped[Name]
    n_played: Mapped[int] = mapped_column(default=0)
    consented_at: Mapped[datetime.datetime | None]
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime.datetime | None]
    identity: Mapped[Sha256 | None]
    identifiers: Mapped[dict[str, Any]] = mapped_column(default=dict)
    step: Mapped[int] = mapped_column(default=0)
    ending: Mapped[str] = mapped_column(String(16), default="")
    completion_code: Mapped[Name] = mapped_column(default="")
    excluded_at: Mapped[datetime.datetime | None]
    end_key: Mapped[Sha256 | None] = mapped_column(unique=True)
    browser: Mapped[Name | None]
    device: Mapped[Name | None]
    study: Mapped[Study] = relationship(back_populates="assignments")


class StudyAnswer(Base):
    """What a player wrote: to a quiz, at the end, or a guess after a board of a series.

    Series and board (``episode``) count from 0.
    """

    __tablename__ = "study_answers"
    id: Mapped[Id]
    assignment_id: Mapped[AssignmentId]
    page: Mapped[str] = mapped_column(String(16))
    name: Mapped[Name]
    text: Mapped[str]
    series: Mapped[int | None]
    episode: Mapped[int | None]
    confidence: Mapped[int | None]
    at: Mapped[datetime.datetime] = mapped_column(default=now)


class PlaySession(Base):
    """Somebody at one rule, board after board; ``key`` is the hash of what the browser holds."""

    __tablename__ = "play_sessions"
    id: Mapped[Id]
    key: Mapped[Sha256] = mapped_column(unique=True)
    assignment_id: Mapped[AssignmentId | None]
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


class PlayAttempt(Base):
    """One attempt of a person; ``board`` is the episode's board, on its first attempt only.

    A pick has no bucket. The times of the ``client`` are those of the player's own clock.
    """

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
    client_touch_ms: Mapped[int | None]
    client_action_ms: Mapped[int | None]
    client_away_ms: Mapped[int | None]
    client_animation_ms: Mapped[int | None]
