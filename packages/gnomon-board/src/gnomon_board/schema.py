"""Tables: accounts, seasons, entries, submissions, remotely played trials, studies, games.

Column types have the same meaning in SQLite and PostgreSQL. Rows are added and marked, never
deleted: a withdrawn submission keeps its row. Times are UTC.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from sqlalchemy import (
    JSON,
    BigInteger,
    Connection,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    event,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.schema import MetaData
from sqlalchemy.types import TypeDecorator


def now() -> datetime.datetime:
    """Return the current time in UTC."""
    return datetime.datetime.now(datetime.UTC)


class UtcTime(TypeDecorator[datetime.datetime]):
    """A time in UTC, stored without a time zone, which SQLite would lose."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self, value: datetime.datetime | None, dialect: Dialect
    ) -> datetime.datetime | None:
        """Convert to UTC and remove the time zone; reject a time without one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a time with a time zone, found {value}")
        return value.astimezone(datetime.UTC).replace(tzinfo=None)

    def process_result_value(
        self, value: datetime.datetime | None, dialect: Dialect
    ) -> datetime.datetime | None:
        """Restore the time zone."""
        return None if value is None else value.replace(tzinfo=datetime.UTC)


class Base(DeclarativeBase):
    """Declarative base of all tables; constraints have names, so that a migration can drop them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        datetime.datetime: UtcTime(),
        dict[str, Any]: JSON(),
        list[Any]: JSON(),
        list[str]: JSON(),
        bytes: LargeBinary(),
        str: Text(),
    }


Id = Annotated[int, mapped_column(primary_key=True)]
AssignmentId = Annotated[int, mapped_column(ForeignKey("study_assignments.id"), index=True)]
AccountId = Annotated[int, mapped_column(ForeignKey("accounts.id"), index=True)]
Name = Annotated[str, mapped_column(String(128))]
Sha256 = Annotated[str, mapped_column(String(64))]
BigNumber = Annotated[int, mapped_column(BigInteger)]

Division = Literal["hidden", "replayed"]
SubmissionState = Literal[
    "uploading", "queued", "verifying", "verified", "refused", "error", "withdrawn"
]
#: States before a verdict: the log is awaited, in the queue, or being verified.
WAITING: tuple[SubmissionState, ...] = ("uploading", "queued", "verifying")


class Account(Base):
    """A person who submits or moderates. ``erased_at``: the name was replaced on request."""

    __tablename__ = "accounts"
    id: Mapped[Id]
    name: Mapped[Name]
    name_key: Mapped[Name] = mapped_column(unique=True)
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    disabled_at: Mapped[datetime.datetime | None]
    erased_at: Mapped[datetime.datetime | None]


class Token(Base):
    """An API token, known by the hash of its secret; ``key`` is the part that finds the row.

    One that was made by another token is its child, and ends with it. ``is_browser``: it is the
    cookie of a browser that signed in by its parent.
    """

    __tablename__ = "tokens"
    id: Mapped[Id]
    account_id: Mapped[AccountId]
    key: Mapped[str] = mapped_column(String(16), unique=True)
    digest: Mapped[Sha256]
    label: Mapped[Name] = mapped_column(default="")
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime.datetime | None]
    revoked_at: Mapped[datetime.datetime | None]
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("tokens.id"), index=True)
    is_browser: Mapped[bool] = mapped_column(default=False)
    account: Mapped[Account] = relationship()
    parent: Mapped[Token | None] = relationship(remote_side="Token.id", back_populates="children")
    children: Mapped[list[Token]] = relationship(back_populates="parent")


class TokenRequest(Base):
    """A request for a token: ``waiting``, ``granted``, ``claimed``, ``refused`` or ``expired``.

    ``network`` is a keyed hash of the network that it came from; the address is not kept.
    """

    __tablename__ = "token_requests"
    id: Mapped[Id]
    name: Mapped[Name]
    contact: Mapped[str] = mapped_column(default="")
    reason: Mapped[str] = mapped_column(default="")
    claim: Mapped[Sha256] = mapped_column(unique=True)
    network: Mapped[Sha256 | None] = mapped_column(index=True)
    state: Mapped[str] = mapped_column(String(8), default="waiting", index=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)


class Season(Base):
    """A board of its own: which rules, on which boards, from when to when.

    ``version`` counts every change that a page of the season can show: what is cached carries it.
    ``salt`` and the hidden rules' texts are secret until ``revealed_at``. In the hidden division an
    assignment has ``rules_per_attempt`` of the rules, all of them if that is NULL.
    """

    __tablename__ = "seasons"
    __mapper_args__ = {"eager_defaults": True}  # noqa: RUF012 - SQLAlchemy reads it from the class
    id: Mapped[Id]
    name: Mapped[Name] = mapped_column(unique=True)
    title: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    division: Mapped[str] = mapped_column(String(16))
    board: Mapped[dict[str, Any]]
    trials: Mapped[int]
    episodes: Mapped[int]
    horizon: Mapped[int]
    rules_per_attempt: Mapped[int | None]
    max_attempts: Mapped[int | None]
    opens_at: Mapped[datetime.datetime | None]
    closes_at: Mapped[datetime.datetime | None]
    commitment: Mapped[str | None] = mapped_column(String(64))
    salt: Mapped[str | None]
    revealed_at: Mapped[datetime.datetime | None]
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    rules: Mapped[list[SeasonRule]] = relationship(order_by="SeasonRule.position")

    @property
    def owed(self) -> int:
        """Trials of an assignment: on each rule, or in the hidden division on all together."""
        if self.division != "hidden":
            return self.trials
        return self.trials * (self.rules_per_attempt or len(self.rules))

    def touch(self) -> None:
        """Count one more version; the database adds, for two may do it at once."""
        self.version = Season.version + 1


class SeasonRule(Base):
    """A rule of a season. ``name`` is public; the text of a hidden rule is not.

    A hidden rule keeps ``visibility == "hidden"`` after the reveal: ``season.revealed_at`` shows
    whether its text is public.
    """

    __tablename__ = "season_rules"
    __table_args__ = (UniqueConstraint("season_id", "name"),)
    id: Mapped[Id]
    season_id: Mapped[int] = mapped_column(ForeignKey("seasons.id"), index=True)
    position: Mapped[int]
    name: Mapped[Name]
    text: Mapped[str]
    family: Mapped[Name] = mapped_column(default="")
    tags: Mapped[list[str]] = mapped_column(default=list)
    visibility: Mapped[str] = mapped_column(String(8), default="public")


class Entry(Base):
    """A learner that an account has registered in a season."""

    __tablename__ = "entries"
    __table_args__ = (UniqueConstraint("season_id", "name_key"),)
    id: Mapped[Id]
    season_id: Mapped[int] = mapped_column(ForeignKey("seasons.id"), index=True)
    account_id: Mapped[AccountId]
    name: Mapped[Name]
    name_key: Mapped[Name]
    description: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    season: Mapped[Season] = relationship()
    account: Mapped[Account] = relationship()
    attempts: Mapped[list[EntryAttempt]] = relationship(order_by="EntryAttempt.number")


class EntryAttempt(Base):
    """An assignment of an entry, from 1; ``seed`` decides the boards it must be played on.

    It is used up by a submission that was taken in, whatever became of that one, and in the hidden
    division by its first move: ``begun_at``. ``closed_at``: what was not played is scored as
    errors.
    """

    __tablename__ = "attempts"
    __table_args__ = (UniqueConstraint("entry_id", "number"),)
    id: Mapped[Id]
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"), index=True)
    number: Mapped[int]
    seed: Mapped[BigNumber]
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    begun_at: Mapped[datetime.datetime | None]
    closed_at: Mapped[datetime.datetime | None]
    entry: Mapped[Entry] = relationship(back_populates="attempts")
    #: In the hidden division: one row for each rule and trial, in the order of play.
    remote_trials: Mapped[list[RemoteTrial]] = relationship(
        back_populates="attempt", order_by="RemoteTrial.id"
    )

    @property
    def public_seed(self) -> int | None:
        """The seed; None while rules are hidden, since it would let guesses at them be tested."""
        season = self.entry.season
        return self.seed if season.division != "hidden" or season.revealed_at else None


class Submission(Base):
    """A log under its SHA-256, the evidence of an assignment; the name of its learner; its state.

    ``verified`` is what was replayed.
    ``log_sha256`` is empty until the log has come; ``announced`` is the one that must come.
    ``origin`` is ``upload``, or ``server`` for a log that the server wrote while it was played.
    ``damaged_at`` is when the log was found missing or damaged.
    It has been in the queue since ``queued_at``; a worker has seen it there since ``seen_at``.
    The worker that verifies it, for the ``n_tries``-th time, prolongs ``lease_until``.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("season_id", "log_sha256"),
        Index("ix_submissions_season_state", "season_id", "state"),
        Index("ix_submissions_state_queued", "state", "queued_at"),
    )
    id: Mapped[Id]
    season_id: Mapped[int] = mapped_column(ForeignKey("seasons.id"))
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), unique=True)
    state: Mapped[str] = mapped_column(String(16), default="uploading")
    reason: Mapped[str] = mapped_column(default="")
    origin: Mapped[str] = mapped_column(String(8), default="upload")
    learner: Mapped[Name]
    announced: Mapped[Sha256 | None]
    log_sha256: Mapped[Sha256 | None]
    log_bytes: Mapped[BigNumber]
    damaged_at: Mapped[datetime.datetime | None]
    n_attempts: Mapped[int | None] = mapped_column(default=None)
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    changed_at: Mapped[datetime.datetime] = mapped_column(default=now)
    verified_at: Mapped[datetime.datetime | None]
    queued_at: Mapped[datetime.datetime | None]
    seen_at: Mapped[datetime.datetime | None]
    n_tries: Mapped[int] = mapped_column(default=0)
    lease_owner: Mapped[Name | None]
    lease_until: Mapped[datetime.datetime | None]
    heartbeat_at: Mapped[datetime.datetime | None]
    season: Mapped[Season] = relationship()
    attempt: Mapped[EntryAttempt] = relationship()
    trials: Mapped[list[VerifiedTrial]] = relationship(back_populates="submission")


class VerifiedTrial(Base):
    """The scores of one trial of a submission, computed from the replay and nothing else.

    ``errors_to_learn`` is empty where the rule was not learned.
    """

    __tablename__ = "trials"
    __table_args__ = (UniqueConstraint("submission_id", "rule_id", "number"),)
    id: Mapped[Id]
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), index=True)
    rule_id: Mapped[int] = mapped_column(ForeignKey("season_rules.id"), index=True)
    number: Mapped[int]
    tce: Mapped[float]
    errors_to_learn: Mapped[float | None]
    n_episodes: Mapped[int]
    n_attempts: Mapped[int]
    n_moves: Mapped[int]
    n_cleared: Mapped[int]
    curve: Mapped[list[Any]] = mapped_column(default=list)
    log_sha256: Mapped[Sha256]
    submission: Mapped[Submission] = relationship(back_populates="trials")
    rule: Mapped[SeasonRule] = relationship()


class AuditRecord(Base):
    """Who did what to which; rows can neither be changed nor deleted (a trigger sees to it)."""

    __tablename__ = "audit_log"
    id: Mapped[Id]
    at: Mapped[datetime.datetime] = mapped_column(default=now, index=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    action: Mapped[Name]
    subject: Mapped[Name] = mapped_column(default="")
    subject_id: Mapped[int | None] = mapped_column(Integer)
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)
    public: Mapped[bool] = mapped_column(default=True)
    account: Mapped[Account | None] = relationship()


_APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER audit_log_no_{change} BEFORE {change} ON audit_log "
        "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END"
        for change in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log only grows'; END $$",
        "CREATE TRIGGER audit_log_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows()",
    ],
}


@event.listens_for(AuditRecord.__table__, "after_create")
def _make_append_only(table: object, connection: Connection, **_: Any) -> None:
    for statement in _APPEND_ONLY[connection.dialect.name]:
        connection.exec_driver_sql(statement)


class ServerValue(Base):
    """A value of this server: a key that it drew, or a setting that moderators change."""

    __tablename__ = "server_values"
    name: Mapped[Name] = mapped_column(primary_key=True)
    value: Mapped[str]


class RemoteTrial(Base):
    """A trial that a learner plays through the server; ``actions`` is every attempt so far.

    ``state`` is ``playing``, ``done`` or ``abandoned``; boards and outcomes follow from the
    assignment's seed, the rule and the number, so that the actions are all there is to keep. Of one
    that was abandoned, ``n_attempts`` counts the learner's own; the actions go on with the refused
    attempts that fill its remaining episodes.
    """

    __tablename__ = "remote_trials"
    __table_args__ = (UniqueConstraint("attempt_id", "rule_id", "number"),)
    id: Mapped[Id]
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), index=True)
    rule_id: Mapped[int] = mapped_column(ForeignKey("season_rules.id"))
    number: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), default="playing")
    n_attempts: Mapped[int] = mapped_column(default=0)
    actions: Mapped[bytes] = mapped_column(default=b"")
    finished_at: Mapped[datetime.datetime | None]
    attempt: Mapped[EntryAttempt] = relationship(back_populates="remote_trials")
    rule: Mapped[SeasonRule] = relationship()


# -- studies and games ----------------------------------------------------------------------------


class Study(Base):
    """A study with its plan; ``invitation`` is the hash of the key in the invitation's address."""

    __tablename__ = "studies"
    id: Mapped[Id]
    name: Mapped[Name] = mapped_column(unique=True)
    title: Mapped[str]
    plan: Mapped[dict[str, Any]]
    invitation: Mapped[Sha256] = mapped_column(unique=True)
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    closes_at: Mapped[datetime.datetime | None]
    assignments: Mapped[list[StudyAssignment]] = relationship(
        back_populates="study", order_by="StudyAssignment.id"
    )

    @property
    def is_closed(self) -> bool:
        """Whether the study takes no more participants."""
        return self.closes_at is not None and self.closes_at <= now()

    @property
    def n_finished(self) -> int:
        """Number of players who finished."""
        return sum(player.finished_at is not None for player in self.assignments)


class StudyAssignment(Base):
    """A player of a study by pseudonym, with the assigned list of the plan.

    ``key`` is the hash of the key in the player's browser, which leads back to the study.
    ``created_at`` is the time of the consent. ``identity`` is the hash of the recruiter's
    identifier of the player; ``identifiers`` are stored as received, and exported only on request.
    ``step`` counts the pages after the consent. ``ending`` is ``finished``, ``left`` or ``screened
    out``, and empty before the end. ``browser`` and ``device`` are names such as ``Firefox 128``
    and ``phone``.
    """

    __tablename__ = "study_assignments"
    __table_args__ = tuple(UniqueConstraint("study_id", name) for name in ("player", "identity"))
    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"), index=True)
    key: Mapped[Sha256] = mapped_column(unique=True)
    player: Mapped[Name]
    rule_list: Mapped[Name]
    n_played: Mapped[int] = mapped_column(default=0)
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
    def has_left(self) -> bool:
        """Whether the player stopped taking part without finishing."""
        return self.ending not in ("", "finished")

    @property
    def points(self) -> int:
        """Points of all games."""
        return sum(game.points for game in self.games)


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
    """A game of a player on one rule: the series with this number in the player's list.

    ``game`` is a :class:`gohr.people.Game`, whose ``rule_name`` players see instead of ``rule``;
    ``evidence`` is what is shown before test boards; ``guessed`` are the boards with a guess.
    """

    __tablename__ = "play_sessions"
    __table_args__ = (UniqueConstraint("assignment_id", "series"),)
    id: Mapped[Id]
    assignment_id: Mapped[AssignmentId]
    series: Mapped[int]
    rule: Mapped[Name]
    game: Mapped[dict[str, Any]]
    evidence: Mapped[dict[str, Any] | None]
    guessed: Mapped[list[Any]] = mapped_column(default=list)
    gave_up: Mapped[bool] = mapped_column(default=False)
    points: Mapped[int] = mapped_column(default=0)
    state: Mapped[str] = mapped_column(String(16), default="playing")
    n_episodes: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime.datetime] = mapped_column(default=now)
    changed_at: Mapped[datetime.datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime.datetime | None]
    assignment: Mapped[StudyAssignment] = relationship(back_populates="games")


class PlayAttempt(Base):
    """One attempt of a person; the boards follow from the game's seed.

    The ``client`` times are measured by the player's own clock.
    """

    __tablename__ = "play_attempts"
    __table_args__ = (UniqueConstraint("session_id", "episode", "number"),)
    id: Mapped[Id]
    session_id: Mapped[int] = mapped_column(ForeignKey("play_sessions.id"), index=True)
    episode: Mapped[int]
    number: Mapped[int]
    cell: Mapped[int | None]
    bucket: Mapped[int]
    outcome: Mapped[int]
    finish: Mapped[int]
    at: Mapped[datetime.datetime] = mapped_column(default=now)
    reaction_ms: Mapped[int | None]
    client_touch_ms: Mapped[int | None]
    client_action_ms: Mapped[int | None]
    client_away_ms: Mapped[int | None]
    client_animation_ms: Mapped[int | None]
