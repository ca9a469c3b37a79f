"""Response records of the JSON API (pydantic)."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from gnomon_board.jobs import place_in_queue
from gnomon_board.schema import (
    AuditRecord,
    Entry,
    Season,
    SeasonRule,
    Submission,
    Token,
    TokenRequest,
    VerifiedTrial,
)

_Moment = datetime.datetime


class _RowRecord(BaseModel):
    """A record of a row of the database: what is not given comes from the row by its name."""

    @classmethod
    def _of_row(cls, row: object, **given: Any) -> Self:
        names = set(cls.model_fields) - set(given)
        return cls(**{name: getattr(row, name) for name in names}, **given)


class Problem(BaseModel):
    """Why a request was refused, in one line."""

    detail: str


class Reason(BaseModel):
    """Why something is done; it is public."""

    model_config = ConfigDict(extra="forbid")
    reason: Annotated[str, Field(max_length=4000)] = ""


class RuleRecord(BaseModel):
    """A rule of a season; the text of a hidden one is null until the season is revealed."""

    name: str
    visibility: str
    family: str
    tags: list[str]
    text: str | None

    @classmethod
    def of(cls, rule: SeasonRule, season: Season) -> RuleRecord:
        """Return the public fields of a rule."""
        told = rule.visibility == "public" or season.revealed_at is not None
        return cls(
            name=rule.name,
            visibility=rule.visibility,
            # What a hidden rule is like would tell of it.
            family=rule.family if told else "",
            tags=rule.tags if told else [],
            text=rule.text if told else None,
        )


class SeasonRecord(_RowRecord):
    """A season: what is played, when, and what was promised of its hidden rules."""

    name: str
    title: str
    description: str
    division: str
    rules: list[RuleRecord]
    board: dict[str, Any]
    trials: int
    episodes: int
    horizon: int
    rules_per_attempt: int | None
    max_attempts: int | None
    opens_at: _Moment | None
    closes_at: _Moment | None
    commitment: str | None
    salt: str | None
    revealed_at: _Moment | None
    version: int

    @classmethod
    def of(cls, season: Season) -> SeasonRecord:
        """Return the public fields of a season."""
        return cls._of_row(
            season,
            salt=season.salt if season.revealed_at is not None else None,
            rules=[RuleRecord.of(rule, season) for rule in season.rules],
        )


class AttemptRecord(_RowRecord):
    """One go of an entry; with the seed of the boards where the player draws them."""

    number: int
    seed: int | None
    created_at: _Moment


class EntryRecord(_RowRecord):
    """A registered learner, with every attempt it was given."""

    id: int
    season: str
    account: str
    name: str
    description: str
    link: str
    created_at: _Moment
    withdrawn_at: _Moment | None
    withdrawn_reason: str
    attempts: list[AttemptRecord]

    @classmethod
    def of(cls, entry: Entry) -> EntryRecord:
        """Return an entry."""
        # Boards are drawn from the seed and the rule's text: it would let guesses be tested.
        seeds = entry.season.division != "hidden" or entry.season.revealed_at is not None
        return cls._of_row(
            entry,
            season=entry.season.name,
            account=entry.account.name,
            attempts=[
                AttemptRecord._of_row(each, seed=each.seed if seeds else None)
                for each in entry.attempts
            ],
        )


class SubmissionRecord(_RowRecord):
    """A submission and its state; ``ahead`` is the number of submissions before it in the queue.

    ``log_sha256`` is null until the log has come.
    """

    id: int
    season: str
    entry: int
    learner: str
    attempt: int
    n_attempts_of_entry: int
    state: str
    reason: str
    origin: str
    log_sha256: str | None
    log_bytes: int
    n_attempts: int | None
    created_at: _Moment
    changed_at: _Moment
    verified_at: _Moment | None
    withdrawn_at: _Moment | None
    ahead: int | None = None

    @classmethod
    def of(cls, submission: Submission, session: Session | None = None) -> SubmissionRecord:
        """Return a submission; its place in the queue too, if there is a session to ask by."""
        entry, place = submission.attempt.entry, None
        if session is not None and submission.state in ("queued", "verifying"):
            place = place_in_queue(session, submission)
        return cls._of_row(
            submission,
            season=submission.season.name,
            entry=entry.id,
            learner=entry.name,
            attempt=submission.attempt.number,
            n_attempts_of_entry=len(entry.attempts),
            ahead=place,
        )


class TrialRecord(_RowRecord):
    """The scores of a trial, from the replay."""

    rule: str
    trial: int
    tce: float
    errors_to_learn: float | None
    n_episodes: int
    n_attempts: int
    n_moves: int
    n_cleared: int
    log_sha256: str

    @classmethod
    def of(cls, trial: VerifiedTrial) -> TrialRecord:
        """Return a trial."""
        return cls._of_row(trial, rule=trial.rule.name, trial=trial.number)


class TokenRecord(_RowRecord):
    """An API token, without its secret."""

    id: int
    account: str
    label: str
    scopes: list[str]
    created_at: _Moment
    expires_at: _Moment | None
    revoked_at: _Moment | None

    @classmethod
    def of(cls, token: Token) -> TokenRecord:
        """Return a token."""
        return cls._of_row(token, account=token.account.name)


class IssuedToken(TokenRecord):
    """A new API token. ``token`` is shown only once."""

    token: str


class TokenRequestRecord(_RowRecord):
    """A request for a token; contact and reason only while it waits.

    ``network`` is the same for requests from one network.
    """

    id: int
    name: str
    contact: str
    reason: str
    state: str
    network: str
    created_at: _Moment

    @classmethod
    def of(cls, request: TokenRequest) -> TokenRequestRecord:
        """Return a request."""
        return cls._of_row(request, network=(request.network or "")[:12])


class AuditLine(_RowRecord):
    """A line of the audit log."""

    id: int
    at: _Moment
    account: str | None
    action: str
    subject: str
    subject_id: int | None
    detail: dict[str, Any]

    @classmethod
    def of(cls, record: AuditRecord) -> AuditLine:
        """Return a line."""
        return cls._of_row(record, account=record.account.name if record.account else None)
