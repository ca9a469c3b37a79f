"""The variables of an expression: which ones exist, and which ones a rule uses."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator

from gohr.rules.syntax import (
    Atom,
    Binary,
    Expression,
    ListOf,
    Name,
    Not,
    Number,
    Range,
    RuleSet,
    Text,
)

#: Variables without a dot. ``p`` and ``q`` are also prefixes of a variable, and ``q`` only a
#: prefix.
VARIABLES = ("p", "pc", "ps", "Nearby", "Remotest", "this", "last")
#: Fields that every piece of shape and colour has.
FIELDS = ("shape", "color", "pos", "bucket")

_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

#: Those that have a value at every attempt; all others have none before the first accepted move.
_ALWAYS = frozenset({"Nearby", "Remotest", "this", *(f"this.{field}" for field in FIELDS)})


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that is inside of it."""
    yield expression
    match expression:
        case ListOf(items=items):
            for item in items:
                yield from walk(item)
        case Not(operand=operand):
            yield from walk(operand)
        case Binary(left=left, right=right):
            yield from walk(left)
            yield from walk(right)


def is_literal(clause: Expression | Range) -> bool:
    """Return whether a condition on a property consists of plain names, strings and numbers.

    Names in such a condition are literal; in any other they are variables.
    """
    match clause:
        case Number() | Text() | Range() | Name(parts=(_,)):
            return True
        case ListOf(items=items):
            return not any(isinstance(item, ListOf) for item in items) and all(
                map(is_literal, items)
            )
    return False


def literals_of(clause: Expression) -> list[str]:
    """List the literals of a condition as they are spelt, which matters for properties."""
    items = clause.items if isinstance(clause, ListOf) else (clause,)
    return [item.value if isinstance(item, Text) else str(item) for item in items]


def cells_in(where: Expression) -> set[int]:
    """Return the cells that a position field lists by number."""
    return {node.value for node in walk(where) if isinstance(node, Number)}


def orders_in(where: Expression) -> Iterator[Text]:
    """Yield the names of orders in a position field, quoted or not."""
    for node in walk(where):
        if isinstance(node, Name):
            yield Text(str(node), node.span)
        elif isinstance(node, Text):
            yield node


def expressions_of(atom: Atom) -> Iterator[tuple[str, Expression]]:
    """Yield the clauses of an atom in which names are variables, with their keys."""
    conditions = [("shape", atom.shape), ("color", atom.color)]
    for key, value in conditions:
        if value is not None and not is_literal(value):
            yield key, value
    for clause in atom.properties:
        if not isinstance(clause.value, Range) and not is_literal(clause.value):
            yield clause.key, clause.value
    if atom.buckets is not None:
        yield "bucket", atom.buckets
    if atom.code is not None:
        yield "code", atom.code


def variables_of(rule_set: RuleSet) -> frozenset[str]:
    """Return the variables that a rule uses, as they are written."""
    return frozenset(
        str(node)
        for line in rule_set.lines
        for atom in line.atoms
        for _, expression in expressions_of(atom)
        for node in walk(expression)
        if isinstance(node, Name)
    )


def is_defined(parts: tuple[str, ...]) -> bool:
    """Return whether a dotted name can have a value, for pieces of some kind."""
    match parts:
        case ("p", _) | ("q", _) | ("q", _, _) | ("this", _) | ("last", _):
            return True
        case (one,):
            return one in VARIABLES
    return False


def may_have_value(expression: Expression) -> bool:
    """Return whether an expression can have a value, judging by its text alone."""
    match expression:
        case Name(parts=parts):
            return is_defined(parts)
        case ListOf(items=items):
            return any(map(may_have_value, items))
        case Not(operand=operand):
            return not must_have_value(operand)
        case Binary(operator="/" | "%", right=Number(value=0)):
            return False
        case Binary(operator="+" | "-" | "*" | "/" | "%", left=left, right=right):
            return may_have_value(left) and may_have_value(right)
        case Binary(operator=symbol, left=Number(value=low), right=Number(value=high)):
            return _RELATIONS[symbol](low, high)
        case Binary(left=left):
            return may_have_value(left)
    return True


def must_have_value(expression: Expression) -> bool:
    """Return whether an expression has a value at every attempt."""
    match expression:
        case Name():
            return str(expression) in _ALWAYS
        case ListOf(items=items):
            return any(map(must_have_value, items))
        case Not(operand=operand):
            return not may_have_value(operand)
        case Binary(operator="/" | "%", left=left, right=right):
            return must_have_value(left) and isinstance(right, Number) and right.value != 0
        case Binary(operator="+" | "-" | "*", left=left, right=right):
            return must_have_value(left) and must_have_value(right)
        case Binary(left=left, right=right):
            # A comparison with nothing has the value of its left side.
            return must_have_value(left) and not may_have_value(right)
    return True
