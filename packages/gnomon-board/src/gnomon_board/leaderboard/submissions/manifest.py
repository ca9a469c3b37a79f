"""The manifest of a submission: configuration, claimed totals, and hash of the log."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import from_json

from gnomon_board.errors import Refusal

#: Of the configuration, and of the card; real ones have some dozens.
_MOST_VALUES = 10_000
_MOST_TRIALS = 100_000
_DEEPEST = 20
_Name = Annotated[str, Field(min_length=1, max_length=128)]
_Count = Annotated[int, Field(ge=0, le=2**53)]
_Model = TypeVar("_Model", bound=BaseModel)
_Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e15, le=1e15)]


class TrialTotals(BaseModel):
    """What is claimed of one trial."""

    model_config = ConfigDict(extra="forbid")
    rule: _Name
    trial: _Count
    n_attempts: _Count | None = None
    tce: _Number | None = None
    errors_to_learn: _Number | None = None


class Manifest(BaseModel):
    """What is sent before the log.

    ``config`` is the run folder's experiment and ``card`` how it was played; ``totals`` are checked
    against the replay. ``log_sha256`` and ``log_bytes`` announce the log that follows.
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

    @field_validator("config", "card", "learner", "gnomon")
    @classmethod
    def _can_be_kept(cls, value: Any) -> Any:
        """Refuse what a database cannot keep."""
        for n, each in enumerate(_values(value, 0)):
            if n >= _MOST_VALUES:
                raise ValueError(f"expected at most {_MOST_VALUES:,} values")
            if isinstance(each, str):
                if "\x00" in each or any("\ud800" <= letter <= "\udfff" for letter in each):
                    raise ValueError("expected text without null characters and lone surrogates")
            elif isinstance(each, float) and not math.isfinite(each):
                raise ValueError(f"expected finite numbers, found {each}")
            elif isinstance(each, int) and abs(each) > 2**63:
                raise ValueError("expected integers of at most 64 bits")
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
            raise Refusal(
                f"manifest: expected totals of at most {_MOST_TRIALS:,} trials, found {len(rows):,}"
            )
        # One after the other: between them other threads go on.
        sent["totals"] = [_checked(TrialTotals, row, "totals", n) for n, row in enumerate(rows)]
    return _checked(Manifest, sent)


def _checked(model: type[_Model], sent: Any, *place: str | int) -> _Model:
    """Return what was sent at a place of the manifest as a record; refuse its first mistake."""

    def refusal(said: str, *inner: str | int) -> Refusal:
        where = ".".join(map(str, (*place, *inner)))
        return Refusal(f"manifest{f', field {where[:80]!r}' if where else ''}: {said}")

    if isinstance(sent, dict) and len(sent) > len(model.model_fields):
        # Pydantic would make a message for each of what may be hundreds of thousands.
        unknown = next(name for name in sent if name not in model.model_fields)
        raise refusal(f"expected one of {', '.join(model.model_fields)}", unknown)
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise refusal(first["msg"], *first["loc"]) from None


def manifest_schema() -> dict[str, Any]:
    """Return the JSON schema of a manifest, whole in itself."""
    schema = Manifest.model_json_schema()
    schema["properties"]["totals"]["items"] = schema.pop("$defs")["TrialTotals"]
    return schema


def _values(value: Any, depth: int) -> Iterator[Any]:
    """Yield a value as JSON can hold it, and all that is in it."""
    if depth > _DEEPEST:
        raise ValueError(f"expected at most {_DEEPEST} levels of lists and objects")
    yield value
    parts: Iterable[Any] = value if isinstance(value, list) else ()
    if isinstance(value, Mapping):
        parts = chain.from_iterable(value.items())
    for part in parts:
        yield from _values(part, depth + 1)
