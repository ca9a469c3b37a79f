"""The manifest of a submission: configuration, claimed totals, and hash of the log."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import from_json

from gnomon.leaderboard.refusals import Refusal

#: Of the configuration, and of the card; real ones have some dozens.
_MOST_VALUES = 10_000
_MOST_TRIALS = 100_000
_Name = Annotated[str, Field(min_length=1, max_length=128)]
_Count = Annotated[int, Field(ge=0, le=2**53)]
_Model = TypeVar("_Model", bound=BaseModel)
_Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e15, le=1e15)]


class TrialTotals(BaseModel):
    """What is claimed of one trial; in the open division this is all there is."""

    model_config = ConfigDict(extra="forbid")
    rule: _Name
    trial: _Count
    n_attempts: _Count | None = None
    tce: _Number | None = None
    errors_to_learn: _Number | None = None


class Manifest(BaseModel):
    """What is sent before the log.

    ``config`` is the run folder's experiment and ``card`` how it was played; ``totals`` are checked
    against the replay. ``log_sha256`` and ``log_bytes`` announce the log that follows; the open
    division has none.
    """

    model_config = ConfigDict(extra="forbid")
    format: Literal[1] = 1
    gnomon: Annotated[str, Field(max_length=64)] = ""
    learner: _Name
    config: dict[str, Any] = Field(default_factory=dict)
    card: dict[str, Any] | None = None
    totals: Annotated[list[TrialTotals], Field(max_length=_MOST_TRIALS)] = Field(
        default_factory=list
    )
    log_format: Literal["parquet", "csv", "csv.gz", "jsonl", "jsonl.gz"] | None = None
    log_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    log_bytes: Annotated[int, Field(ge=1, le=2**53)] | None = None

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON can hold it; of the totals what was claimed, a null included."""
        totals = [row.model_dump(mode="json", exclude_unset=True) for row in self.totals]
        return self.model_dump(mode="json") | {"totals": totals}

    @field_validator("config", "card")
    @classmethod
    def _plain(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        """Refuse what a database cannot keep: numbers that are none, letters that are none."""
        _check_plain(value)
        return value

    @field_validator("learner", "gnomon")
    @classmethod
    def _plain_text(cls, value: str) -> str:
        _check_plain(value)
        return value


def read_manifest(data: bytes) -> Manifest:
    """Read a manifest from JSON.

    Raises Refusal: one line, with the first field that is wrong.
    """
    try:
        sent = from_json(data)
    except ValueError:
        raise Refusal("manifest: expected JSON, found something else") from None
    if isinstance(sent, dict) and isinstance(rows := sent.get("totals"), list):
        if len(rows) > _MOST_TRIALS:
            raise Refusal(f"manifest: expected totals of at most {_MOST_TRIALS:,} trials")
        # One after the other: between them other threads go on.
        sent["totals"] = [_checked(TrialTotals, row, f"totals.{n}.") for n, row in enumerate(rows)]
    return _checked(Manifest, sent)


def _checked(model: type[_Model], sent: Any, prefix: str = "") -> _Model:
    """Return a record; refuse it with its first mistake, and not after hundreds of thousands."""
    if isinstance(sent, dict) and len(sent) > len(model.model_fields):
        unknown = next(name for name in sent if name not in model.model_fields)
        raise Refusal(f"manifest, field {prefix + unknown[:80]!r}: expected no such field")
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = prefix + ".".join(str(part) for part in first["loc"])
        raise Refusal(f"manifest, field {where[:80]!r}: {first['msg']}") from None


def manifest_schema() -> dict[str, Any]:
    """Return the JSON schema of a manifest, whole in itself."""
    schema = Manifest.model_json_schema()
    schema["properties"]["totals"]["items"] = schema.pop("$defs")["TrialTotals"]
    return schema


def _check_plain(value: Any) -> None:
    for n, each in enumerate(_values(value, 0)):
        if n >= _MOST_VALUES:
            raise ValueError(f"holds more than {_MOST_VALUES:,} values")
        if isinstance(each, str):
            if "\x00" in each or any("\ud800" <= letter <= "\udfff" for letter in each):
                raise ValueError("holds letters that are none")
        elif isinstance(each, float) and not math.isfinite(each):
            raise ValueError("holds a number that is none")
        elif isinstance(each, int) and abs(each) > 2**63:
            raise ValueError("holds a number that is too large")


def _values(value: Any, depth: int) -> Iterator[Any]:
    """Yield a value as JSON can hold it, and all that is in it."""
    if depth > 20:
        raise ValueError("nested too deeply")
    yield value
    parts: Iterable[Any] = value if isinstance(value, list) else ()
    if isinstance(value, Mapping):
        parts = chain.from_iterable(value.items())
    for part in parts:
        yield from _values(part, depth + 1)
