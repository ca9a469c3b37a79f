"""Response records of the JSON API (pydantic)."""

from __future__ import annotations

import datetime
from operator import attrgetter
from typing import Annotated, Any, Self

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field
from sqlalchemy.orm import Session

from gnomon_board.jobs import place_in_queue
from gnomon_board.schema import Season, SeasonRule, Submission

_Moment = datetime.datetime
#: The name of a row.
_NameOf = Annotated[str, BeforeValidator(attrgetter("name"))]


class Form(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class _RowRecord(BaseModel):
    """A record of a row of the database, whose attributes have the names of the fields."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, row: object) -> Self:
        """Return the record of a row."""
        return cls.model_validate(row)


class Problem(BaseModel):
    """Why a request was refused, in one line."""

    detail: str


class Reason(Form):
    """Why something is done; it is public."""

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
            # Family and tags would give information about a hidden rule.
            family=rule.family if told else "",
            tags=rule.tags if told else [],
            text=rule.text if told else None,
        )


class SeasonRecord(BaseModel):
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
        salt = season.salt if season.revealed_at is not None else None
        rules = [RuleRecord.of(rule, season) for rule in season.rules]
        names = cls.model_fields.keys() - {"salt", "rules"}
        return cls(**{name: getattr(season, name) for name in names}, salt=salt, rules=rules)


class AttemptRecord(_RowRecord):
    """An assignment of an entry; with the seed of the boards where the player draws them."""

    number: int
    seed: Annotated[int | None, Field(validation_alias="public_seed")]
    created_at: _Moment


class EntryRecord(_RowRecord):
    """A registered learner, with every assignment."""

    id: int
    season: _NameOf
    account: _NameOf
    name: str
    description: str
    created_at: _Moment
    attempts: list[AttemptRecord]


class SubmissionRecord(_RowRecord):
    """A submission and its state; ``ahead`` is the number of submissions before it in the queue.

    ``log_sha256`` is null until the log has come.
    """

    id: int
    season: _NameOf
    entry: Annotated[int, Field(validation_alias=AliasPath("attempt", "entry", "id"))]
    learner: Annotated[str, Field(validation_alias=AliasPath("attempt", "entry", "name"))]
    attempt: Annotated[int, Field(validation_alias=AliasPath("attempt", "number"))]
    n_attempts_of_entry: Annotated[
        int, BeforeValidator(len), Field(validation_alias=AliasPath("attempt", "entry", "attempts"))
    ]
    state: str
    reason: str
    origin: str
    log_sha256: str | None
    log_bytes: int
    n_attempts: int | None
    created_at: _Moment
    changed_at: _Moment
    verified_at: _Moment | None
    ahead: int | None = None

    @classmethod
    def with_place(cls, submission: Submission, session: Session) -> SubmissionRecord:
        """Return the record of a submission, with its place in the queue."""
        record = cls.of(submission)
        if submission.state == "queued":
            record.ahead = place_in_queue(session, submission)
        return record


class TokenRecord(_RowRecord):
    """An API token, without its secret."""

    id: int
    account: _NameOf
    label: str
    scopes: list[str]
    created_at: _Moment
    expires_at: _Moment | None
    revoked_at: _Moment | None


class IssuedToken(TokenRecord):
    """A new API token. ``token`` is shown only once."""

    token: str
