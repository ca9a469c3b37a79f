"""Fields of an atom and ranks of an order: what each may hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from gohr.rules.syntax import (
    N_CELLS,
    Atom,
    Binary,
    Expression,
    ListOf,
    Name,
    Not,
    Number,
    Property,
    Range,
    Span,
    Text,
)

_POSITIONAL = ("count", "shape", "color", "pos", "bucket")
#: The clauses that are the language's own; every other key is a property of the piece.
CLAUSES = (*_POSITIONAL, "postpos", "code")


class FieldError(Exception):
    """A field that parses but is not allowed in its place; the parser adds the line of text."""

    def __init__(self, message: str, span: Span, remedy: str | None = None) -> None:
        self.span = span
        self.remedy = remedy
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Argument:
    """Text between two commas of an atom; ``value`` is None for ``*``."""

    key: str | None
    value: Expression | Range | None
    span: Span


def build_atom(arguments: tuple[Argument, ...], span: Span) -> Atom:
    """Make an atom of its arguments: five without keys, or any number with keys."""
    keyed = sum(a.key is not None for a in arguments)
    if 0 < keyed < len(arguments):
        bare = next(a for a in arguments if a.key is None)
        raise FieldError(
            "expected a key:value clause, found a field without a key",
            bare.span,
            "an atom has keys everywhere or nowhere",
        )
    style: Literal["positional", "property"] = "property"
    if keyed < len(arguments):
        if len(arguments) != len(_POSITIONAL):
            raise FieldError(
                "expected five fields, (count, shapes, colors, positions, buckets), "
                f"found {len(arguments)}",
                span,
                "write * for a field without condition",
            )
        style, pairs = "positional", zip(_POSITIONAL, arguments, strict=True)
        arguments = tuple(replace(argument, key=key) for key, argument in pairs)
    fields: dict[str, Any] = {}
    positions: list[Expression] = []
    properties: dict[str, Property] = {}
    for argument in arguments:
        key = argument.key
        assert key is not None
        if key in fields or key in properties:
            raise FieldError(
                f"expected each clause once, found '{key}' again",
                argument.span,
                "only pos may be repeated",
            )
        if key not in CLAUSES:
            assert argument.value is not None
            properties[key] = Property(key, argument.value, argument.span)
        elif key != "pos":
            fields[key] = _field(key, argument)
        elif (position := _field(key, argument)) is not None:
            positions.append(position)
    buckets = fields.pop("bucket", None)
    return Atom(
        **fields,
        positions=tuple(positions),
        buckets=buckets,
        properties=tuple(properties.values()),
        format=style,
        span=span,
    )


def _field(key: str, argument: Argument) -> Any:
    """Check the value of one of the language's own clauses, and return it as the atom keeps it."""
    value = argument.value
    if isinstance(value, Range):
        raise FieldError(
            f"expected no range in '{key}', found {value}",
            argument.span,
            "write the numbers as a list",
        )
    if value is None:
        return None
    if key == "count":
        return _count(value, argument.span)
    if key in ("pos", "postpos"):
        _check_position(value, argument.span)
    return _with_paper_words(value) if key in ("bucket", "code") else value


def _with_paper_words(value: Expression) -> Expression:
    """Read the paper's ``nearby`` and ``remotest``, where names are variables.

    ⚠ In the reference they are variables without a value, of which no rule can have use.
    """
    match value:
        case Name(parts=("nearby" | "remotest" as word,)):
            return replace(value, parts=(word.capitalize(),))
        case ListOf(items=items):
            return replace(value, items=tuple(map(_with_paper_words, items)))
        case Not(operand=operand):
            return replace(value, operand=_with_paper_words(operand))
        case Binary(left=left, right=right):
            return replace(value, left=_with_paper_words(left), right=_with_paper_words(right))
    return value


def _count(value: Expression, span: Span) -> int | None:
    """Read a meter. Any negative number means the same as ``*``: not metered."""
    if not isinstance(value, Number):
        raise FieldError(
            f"expected a whole number or * as the count, found {value}",
            span,
            "an expression can stand in the field of the buckets",
        )
    return None if value.value < 0 else value.value


def _check_position(value: Expression, span: Span) -> None:
    """Require cell numbers and names of orders, in lists of any depth."""
    match value:
        case Number() | Text() | Name(parts=(_,)):
            return
        case ListOf(items=items):
            for item in items:
                _check_position(item, item.span or span)
        case _:
            raise FieldError(
                f"expected cell numbers and names of orders, found the expression {value}",
                value.span or span,
                "conditions on the cell can be written as code:this.pos==...",
            )


def order_ranks(cells: ListOf) -> tuple[tuple[int, ...], ...]:
    """Read the ranks of a custom order: a number, or a list of numbers that are tied.

    ⚠ Anything else in the outer list, such as a name, is silently an empty rank. An empty rank has
    no effect, but the reference accepts such texts, and so does this parser; lint reports them.
    """
    ranks: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for item in cells.items:
        tied = item.items if isinstance(item, ListOf) else (item,) * isinstance(item, Number)
        ranks.append(tuple(_cell(each, seen) for each in tied))
    return tuple(ranks)


def _cell(item: Expression, seen: set[int]) -> int:
    """Check one cell number of an order, and note it as used."""
    assert item.span is not None
    if not isinstance(item, Number):
        raise FieldError(f"expected a cell number in a tied rank, found {item}", item.span)
    if not 1 <= item.value <= N_CELLS:
        raise FieldError(f"expected a cell number from 1 to 36, found {item.value}", item.span)
    if item.value in seen:
        raise FieldError(f"expected each cell once, found {item.value} again", item.span)
    seen.add(item.value)
    return item.value
