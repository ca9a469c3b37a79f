"""Errors of a board, and of its clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_origin

from gnomon.errors import GnomonError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import BaseModel, ValidationError


class LeaderboardError(GnomonError):
    """Base of all errors: of a season file, a submission, a token, a missing extra."""


class Refusal(LeaderboardError):  # noqa: N818 - its subclasses are named for the answer: Missing, Conflict
    """Invalid input; ``status`` is that of the answer in HTTP."""

    status: ClassVar[int] = 422


class NotAllowed(Refusal):
    """An action that is not allowed for the caller, or not at this time."""

    status = 403


class Missing(Refusal):
    """Something that does not exist."""

    status = 404


class Conflict(Refusal):
    """An action that conflicts with existing data."""

    status = 409


class TooLarge(Refusal):
    """Input with more bytes than the limit."""

    status = 413


class NoRoom(Refusal):
    """Input for which the server's disk has no room."""

    status = 507


class Damaged(Refusal):
    """Evidence or a database that is missing or damaged on the server; not the caller's fault."""

    status = 503


class TooMany(Refusal):
    """More requests than the limit in a window of time."""

    status = 429

    def __init__(self, message: str, retry_after_s: int = 60) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RefusedError(GnomonError):
    """An answer with a status of 300 or more, which ``status`` holds."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def wrong_field(
    errors: ValidationError, model: type[BaseModel], also: Iterable[str] = ()
) -> LeaderboardError:
    """Return an error that names an invalid field of a file and the reason; items count from 1.

    An unknown field comes first, since it may be the cause of a missing one. It is compared with
    the fields of its own table, and at the top level with those of `also`, which `model` lacks.
    """
    first = min(errors.errors(), key=lambda each: each["type"] != "extra_forbidden")
    place = [str(part + 1) if isinstance(part, int) else part for part in first["loc"]]
    reason = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        known = {*_table_of(model, first["loc"]), *(also if len(place) == 1 else ())}
        reason = str(UnknownNameError("field", place[-1], known))
    return LeaderboardError(f"field {'.'.join(place)!r}: {reason}" if place else reason)


def _table_of(model: type[BaseModel], place: Sequence[int | str]) -> Iterable[str]:
    """Return the names of the fields of the table that has the field at a place."""
    is_key = False
    for part in place[:-1]:
        if not is_key and part in model.model_fields:
            annotation = model.model_fields[str(part)].annotation
            is_key = get_origin(annotation) is dict  # a key may have the name of a field
            model = next(_models_in(annotation), model)
        else:
            is_key = False
    return model.model_fields


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if hasattr(annotation, "model_fields"):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
