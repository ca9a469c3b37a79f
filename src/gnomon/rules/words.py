"""A rule in words, made from its tree: what each line and each atom accepts."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.rules.syntax import (
    Atom,
    Binary,
    Expression,
    ListOf,
    Name,
    Not,
    Number,
    Order,
    Property,
    Range,
    RuleLine,
    RuleSet,
    Text,
)
from gnomon.rules.variables import is_literal

__all__ = ["explain"]

_ORDERS = {
    "B": "in the lowest row that has a piece",
    "T": "in the highest row that has a piece",
    "L": "in the leftmost column that has a piece",
    "R": "in the rightmost column that has a piece",
    "L1": "first as one reads English",
    "L2": "first as one reads from right to left",
    "L3": "first going down the columns from the right",
    "L4": "first going down the columns from the left",
    "NearestObject": "nearest to a corner",
    "Farthest": "farthest from all corners",
}

#: What the variables stand for, as the object of a sentence.
_VARIABLES = {
    "p": "the last bucket used",
    "pc": "the last bucket used for its colour",
    "ps": "the last bucket used for its shape",
    "Nearby": "the nearest bucket",
    "Remotest": "the farthest bucket",
    "this": "the piece",
    "last": "the last piece accepted",
}
_OWNERS = {"this": "the piece", "last": "the last piece accepted"}
_FIELDS = {"color": "colour", "shape": "shape", "pos": "cell", "bucket": "bucket"}
_STEPS = {
    0: "{}",
    1: "the one after {}, clockwise",
    2: "the one opposite to {}",
    3: "the one before {}, clockwise",
}
_COMPARISONS = {
    "==": "equals",
    "!=": "differs from",
    "<": "is less than",
    "<=": "is at most",
    ">": "is greater than",
    ">=": "is at least",
}
_OPERATIONS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "%": "modulo"}


def explain(rule_set: RuleSet) -> str:
    """Say in words what a rule accepts.

    Parameters
    ----------
    rule_set : RuleSet
        Any rule.

    Returns
    -------
    str
        One paragraph a line of the rule, one bullet an atom where there are several, and how the
        lines follow each other. Expressions that have no plain words are spelt out by operators.

    Examples
    --------
    >>> from gnomon.rules.parser import parse
    >>> print(explain(parse("(1,*,*,*,[0,1,2,3])\\n(*,*,*,*,p+1)")))
    Line 1: 1 piece, any piece may go to any bucket.
    Line 2: any piece may go to the one after the last bucket used, clockwise.
    A line is left when it has accepted its number of pieces, or when no piece is left that it accepts; the
    next one follows, and the first one after the last.
    >>> print(explain(parse("(*,star,[red,blue],T,Nearby)")))
    A star that is red or blue and in the highest row that has a piece may go to the nearest bucket.
    """
    parts = [_order(order) for order in rule_set.orders]
    several = len(rule_set.lines) > 1
    for number, line in enumerate(rule_set.lines, start=1):
        text = _line(line)
        parts.append(f"Line {number}: {text}" if several else text[0].upper() + text[1:])
    if several:
        parts.append(
            "A line is left when it has accepted its number of pieces, or when no piece is left "
            "that it accepts; the next one follows, and the first one after the last."
        )
    return "\n".join(parts)


# -- lines and atoms -------------------------------------------------------------------------------


def _order(order: Order) -> str:
    ranks = [_series(list(map(str, rank)), "and") for rank in order.ranks if rank]
    return f"Order {order.name}: cells {', then '.join(ranks)}, then all others."


def _line(line: RuleLine) -> str:
    count = f"{_pieces(line.count)} in all, " if line.count is not None else ""
    if len(line.atoms) == 1:
        return f"{count}{_atom(line.atoms[0])}."
    atoms = ";\n".join(f"  - {_atom(atom)}" for atom in line.atoms)
    return f"{count}any of these:\n{atoms}."


def _pieces(count: int | None) -> str:
    return "1 piece" if count == 1 else f"{count} pieces"


def _atom(atom: Atom) -> str:
    count = f"{_pieces(atom.count)}, " if atom.count is not None else ""
    conditions = [
        *_color(atom.color),
        *(f"in {_cells(where)}" if _is_cells(where) else _cells(where) for where in atom.positions),
        *map(_property, atom.properties),
    ]
    that_is = f" that is {' and '.join(conditions)}" if conditions else ""
    moved = f", of those {_cells(atom.postpos)}" if atom.postpos is not None else ""
    code = f", if {_condition(atom.code)}" if atom.code is not None else ""
    return f"{count}{_shape(atom.shape)}{that_is}{moved} may go to {_buckets(atom.buckets)}{code}"


def _shape(shape: Expression | None) -> str:
    if shape is None:
        return "any piece"
    if not is_literal(shape):
        return f"a piece of the shape {_value(shape)}"
    return _series([f"{_article(word)} {word}" for word in _words(shape)], "or")


def _color(color: Expression | None) -> list[str]:
    if color is None:
        return []
    if not is_literal(color):
        return [f"of the colour {_value(color)}"]
    return [_series(_words(color), "or")]


def _property(clause: Property) -> str:
    if isinstance(clause.value, Range):
        return f"of {clause.key} {clause.value.low} to {clause.value.high}"
    if is_literal(clause.value):
        return f"of {clause.key} {_series(_words(clause.value), 'or')}"
    return f"of {clause.key} {_value(clause.value)}"


def _words(clause: Expression | Range) -> list[str]:
    """List the literals of a condition."""
    items = clause.items if isinstance(clause, ListOf) else (clause,)
    return [item.value if isinstance(item, Text) else str(item).lower() for item in items]


def _is_cells(where: Expression) -> bool:
    """Tell whether a position field begins with a cell number."""
    first = where.items[0] if isinstance(where, ListOf) else where
    return isinstance(first, Number)


def _cells(where: Expression) -> str:
    match where:
        case Number(value=value):
            return f"cell {value}"
        case ListOf(items=items) if all(isinstance(item, Number) for item in items):
            return f"cell {_series([str(item) for item in items], 'or')}"
        case ListOf(items=items):
            return _series([_cells(item) for item in items], "or")
        case Text(value=name):
            return _ORDERS.get(name, f"first in the order {name}")
    return _ORDERS.get(str(where), f"first in the order {where}")


# -- expressions -----------------------------------------------------------------------------------


def _buckets(buckets: Expression | None) -> str:
    if buckets is None:
        return "any bucket"
    items = buckets.items if isinstance(buckets, ListOf) else (buckets,)
    numbers = sorted({item.value % 4 for item in items if isinstance(item, Number)})
    if numbers == [0, 1, 2, 3]:
        return "any bucket"
    shown = [f"bucket {_series(list(map(str, numbers)), 'or')}"] if numbers else []
    shown += [_bucket(item) for item in items if not isinstance(item, Number)]
    return _series(shown, "or")


def _bucket(item: Expression) -> str:
    """Say one item of a bucket field."""
    match item:
        case Name():
            return _value(item)
        case Binary(operator="+" | "-" as sign, left=Name() as base, right=Number(value=value)):
            return _STEPS[(value if sign == "+" else -value) % 4].format(_value(base))
        case Binary(operator="+", left=Name() as base, right=ListOf(items=steps)):
            return _series([_bucket(Binary("+", base, step)) for step in steps], "or")
        case Binary(operator="*", left=Not(operand=Name() as absent), right=ListOf() as given):
            return f"{_buckets(given)} while there is no {_value(absent).removeprefix('the ')}"
    return f"the bucket {_value(item)}"


def _condition(code: Expression) -> str:
    """Say when an expression has a value."""
    match code:
        case Not(operand=Not(operand=operand)):
            return _condition(operand)
        case Not(operand=Name() as name):
            return f"there is no {_value(name).removeprefix('the ')}"
        case Name():
            return f"there is {_value(code)}"
        case Not(operand=operand):
            return f"it is not so that {_condition(operand)}"
        case Binary(operator=symbol, left=left, right=right) if symbol in _COMPARISONS:
            return f"{_value(left)} {_COMPARISONS[symbol]} {_value(right)}"
        case Number() | Text():
            return "anything"
        case ListOf(items=items):
            return _series([_condition(item) for item in items], "or")
    return f"there is a value of {_value(code)}"


def _value(expression: Expression) -> str:
    """Say what an expression stands for."""
    match expression:
        case Number() | Text():
            return str(expression)
        case Name(parts=parts):
            return _name(parts)
        case ListOf(items=items):
            return _series([_value(item) for item in items], "or")
        case Not(operand=operand):
            return f"(1 if not {_condition(operand)})"
        case Binary(operator=symbol, left=left, right=right):
            verb = _OPERATIONS.get(symbol) or _COMPARISONS[symbol]
            return f"({_value(left)} {verb} {_value(right)})"


def _name(parts: tuple[str, ...]) -> str:
    name = ".".join(parts)
    if name in _VARIABLES:
        return _VARIABLES[name]
    match parts:
        case ("p", shared):
            return f"the last bucket used for its {_FIELDS.get(shared, shared)}"
        case ("this" | "last" as owner, field):
            return f"the {_FIELDS.get(field, field)} of {_OWNERS[owner]}"
        case ("q", shared):
            return f"the last piece accepted of the same {_FIELDS.get(shared, shared)}"
        case ("q", shared, field):
            return (
                f"the {_FIELDS.get(field, field)} of the last piece accepted of the same "
                f"{_FIELDS.get(shared, shared)}"
            )
    return f"the unknown '{name}'"


def _article(word: str) -> str:
    return "an" if word[:1].lower() in "aeiou" else "a"


def _series(words: Sequence[str], conjunction: str) -> str:
    """Join words: ``a, b or c``."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
