"""The value of an expression: a set of integers, names and piece records.

Everything is a set. A literal is a set of one, a list is a union, an unknown variable is the empty
set, and an operator works on all combinations of its operands' elements.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gohr.errors import RuleError
from gohr.rules.syntax import Binary, Expression, ListOf, Name, Not, Number, Text

_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_MIN, _MAX = -(2**31), 2**31 - 1


@dataclass(frozen=True, slots=True)
class PieceRecord:
    """A piece as used in expressions: its properties, its cell ``pos``, and a ``bucket``."""

    fields: frozenset[tuple[str, int | str]]

    def field(self, name: str) -> int | str | None:
        """Return the value of a field, or None if the piece does not have it."""
        return next((value for key, value in self.fields if key == name), None)


Value: TypeAlias = int | str | PieceRecord
Values: TypeAlias = frozenset[Value]
#: Values of a variable, empty if it is undefined. Names may be dotted (``p.size``).
Scope: TypeAlias = Callable[[str], Values]

NOTHING: Values = frozenset()
_ONE: Values = frozenset({1})


def integer_of(text: str) -> int | None:
    """Read a string as Java reads an ``int``; None if it is none."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if _MIN <= value <= _MAX else None


def evaluate(expression: Expression, scope: Scope) -> Values:
    """Return the set of values of an expression.

    ``scope`` gives the values of a variable by its name, the empty set for one that is not defined.

    Raises RuleError: for arithmetic on anything but integers (where both operands have a
    value).

    Returns
    -------
    frozenset of int, str or PieceRecord
        Integers have 32 bits and wrap, as in Java.

    Notes
    -----
    ⚠ A comparison of which one side is empty has the value of its *left*
    side, so that ``p == nonsense`` holds wherever ``p`` is defined. ⚠ ``!=`` holds if *some* pair
    of values differs.
    """
    match expression:
        case Number(value=value) | Text(value=value):
            return frozenset({value})
        case Name(parts=parts):
            return _variable(parts, scope)
        case ListOf(items=items):
            return NOTHING.union(*(evaluate(item, scope) for item in items))
        case Not(operand=operand):
            return NOTHING if evaluate(operand, scope) else _ONE
        case Binary(operator=symbol, left=left, right=right):
            values = evaluate(left, scope), evaluate(right, scope)
            if symbol in ("+", "-", "*", "/", "%"):
                return _calculate(expression, *values)
            return _compare(symbol, *values)


def _variable(parts: tuple[str, ...], scope: Scope) -> Values:
    """Return the variable of this dotted name, and the last field of the value of the rest."""
    values = scope(".".join(parts))
    if len(parts) == 1:
        return values
    owners = _variable(parts[:-1], scope)
    fields = (owner.field(parts[-1]) for owner in owners if isinstance(owner, PieceRecord))
    return values | {value for value in fields if value is not None}


_ORDERINGS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _compare(symbol: str, left: Values, right: Values) -> Values:
    """Return 1 if some pair of elements is in the relation."""
    if not left or not right:
        return left  # ⚠ for `p == nonsense` this means that it holds
    holds = any(_related(symbol, a, b) for a in left for b in right)
    return _ONE if holds else NOTHING


def _related(symbol: str, a: Value, b: Value) -> bool:
    """Compare two elements. Only integers have an order; 3 and "3" are different."""
    if symbol == "==":
        return a == b
    if symbol == "!=":
        return a != b
    return isinstance(a, int) and isinstance(b, int) and _ORDERINGS[symbol](a, b)


def _calculate(node: Binary, left: Values, right: Values) -> Values:
    """Apply an arithmetic operator to all pairs of elements."""
    results: set[Value] = set()
    for a in left:
        for b in right:
            if not (isinstance(a, int) and isinstance(b, int)):
                raise _not_a_number(node, a if isinstance(b, int) else b)
            result = _arithmetic(node.operator, a, b)
            if result is not None:
                results.add(result)
    return frozenset(results)


def _arithmetic(symbol: str, a: int, b: int) -> int | None:
    """Calculate as Java does with an ``int``; None for a division by zero."""
    if symbol == "+":
        return _wrap(a + b)
    if symbol == "-":
        return _wrap(a - b)
    if symbol == "*":
        return _wrap(a * b)
    if b == 0:
        return None
    # Java truncates toward zero, and a remainder has the sign of the dividend.
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return _wrap(quotient if symbol == "/" else a - quotient * b)


def _wrap(value: int) -> int:
    """Let an integer overflow to 32 bits."""
    return (value - _MIN) % 2**32 + _MIN


def _not_a_number(node: Binary, value: Value) -> RuleError:
    shown = "a piece" if isinstance(value, PieceRecord) else repr(value)
    message = (
        f"arithmetic needs numbers, found {shown} in '{node}'; fields such as this.color are names"
    )
    return RuleError(message, *(node.span.line, node.span.column) if node.span else ())
