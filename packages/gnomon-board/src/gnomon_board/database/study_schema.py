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
    """A study with its plan; ``invitation`` is the hash of the key in the invitation's address."""

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

    @property
    def is_closed(self) -> bool:
        """Whether the study takes no more participants."""
        return self.closes_at is not None and self.closes_at <= now()


class StudyAssignment(Base):
    """A player of a study by pseudonym, with the assigned list of the plan.

    ``key`` is the hash of the key in the player's browser, which leads back to the study. A player
    for whom a personal link was made has no list before the consent. ``identity`` is the hash of
    the recruiter's identifier of the player; ``identifiers`` are stored as received, and exported
    only on request. ``step`` counts the pages after the consent. ``ending`` is ``finished``,
    ``left`` or ``screened out``, and empty before the end. ``browser`` and ``device``
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
    browser: Mapped[Name | None]
    device: Mapped[Name | None]
    study: Mapped[Study] = relationship(back_populates="assignments")
    games: Mapped[list[PlaySession]] = relationship(back_populates="assignment")

    @property
    def points(self) -> int:
        """Points of all games."""
        return sum(int(game.settings.get("points", 0)) for game in self.games)


class StudyAnswer(Base):
    """A player's answer: to a quiz, to a final question, or a guess after a board of a series.

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
    """A game of one person on one rule.

    ``key`` is the hash of the key in the browser; the game of a study is found by its player's.
    """

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
    assignment: Mapped[StudyAssignment | None] = relationship(back_populates="games")


class PlayAttempt(Base):
    """One attempt of a person; only the first of an episode has the ``board``.

    A pick has no bucket. The ``client`` times are measured by the player's own clock.
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
