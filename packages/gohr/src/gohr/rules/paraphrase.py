"""Paraphrase of a rule: its tree in words, line by line and atom by atom."""

from __future__ import annotations

from collections.abc import Sequence

from gohr.rules.syntax import (
    N_CELLS,
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
    check_rule,
)
from gohr.rules.variables import is_literal, literals_of

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

#: Meaning of the variables, as the object of a sentence.
_VARIABLES = {
    "p": "the last bucket used",
    "pc": "the last bucket used for its colour",
    "ps": "the last bucket used for its shape",
    "Nearby": "the nearest bucket",
    "Remotest": "the farthest bucket",
    "this": "the piece",
    "this.bucket": "the bucket attempted",
    "last": "the last piece accepted",
    "q.bucket": "the last piece in that bucket",
}
#: When a variable has no value, as a time.
_BEFORE = {
    "p": "nothing has been accepted",
    "last": "nothing has been accepted",
    "pc": "nothing of its colour has been accepted",
    "p.color": "nothing of its colour has been accepted",
    "q.color": "nothing of its colour has been accepted",
    "ps": "nothing of its shape has been accepted",
    "p.shape": "nothing of its shape has been accepted",
    "q.shape": "nothing of its shape has been accepted",
    "q.bucket": "nothing has gone to that bucket",
    "p.bucket": "nothing has gone to that bucket",
}
_OWNERS = {"this": "the piece", "last": "the last piece accepted"}
_FIELDS = {"color": "colour", "shape": "shape", "pos": "cell", "bucket": "bucket"}
_STEPS = {
    0: "{}",
    1: "the bucket clockwise from {}",
    2: "the bucket opposite to {}",
    3: "the bucket counterclockwise from {}",
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
    r"""Describe in words the moves that a rule accepts.

    Parameters
    ----------
    rule_set : RuleSet
        Any rule.

    Returns
    -------
    str
        One paragraph per line of the rule, one bullet per atom where there are several, and how the
        lines follow each other. Expressions that have no plain words are spelt out by operators.

    Examples
    --------
    >>> from gohr.rules import parse
    >>> print(explain(parse("(1,*,*,*,[0,1,2,3])\n(*,*,*,*,p+1)")))
    Line 1: once, any piece may go to any bucket.
    Line 2: any piece may go to the bucket clockwise from the last bucket used.
    When a line has accepted all that it may, or accepts none of the pieces left, the next one
    follows, and after the last the first.
    >>> print(explain(parse("(*,star,[red,blue],T,Nearby)")))
    A red or blue star in the highest row that has a piece may go to the nearest bucket.
    """
    check_rule(rule_set)
    parts = [_order(order) for order in rule_set.orders]
    several = len(rule_set.lines) > 1
    for number, line in enumerate(rule_set.lines, start=1):
        text = _line(line)
        parts.append(f"Line {number}: {text}" if several else text[0].upper() + text[1:])
    if several:
        parts.append(
            "When a line has accepted all that it may, or accepts none of the pieces left, "
            "the next one follows, and after the last the first."
        )
    return "\n".join(parts)


# -- lines and atoms -------------------------------------------------------------------------------


def _order(order: Order) -> str:
    ranks = [_series(list(map(str, rank)), "and") for rank in order.ranks if rank]
    if not ranks:
        return f"Order {order.name}: all cells at once."
    rest = ", then all others" if sum(map(len, order.ranks)) < N_CELLS else ""
    return f"Order {order.name}: cell {', then '.join(ranks)}{rest}."


def _line(line: RuleLine) -> str:
    count = f"{_times(line.count)} in all, " if line.count is not None else ""
    if len(line.atoms) == 1:
        return f"{count}{_atom(line.atoms[0])}."
    atoms = ";\n".join(f"  - {_atom(atom)}" for atom in line.atoms)
    return f"{count}any of these:\n{atoms}."


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _atom(atom: Atom) -> str:
    count = f"{_times(atom.count)}, " if atom.count is not None else ""
    places = [f" {_cells(where)}" for where in atom.positions]
    properties = [f" of {_property(clause)}" for clause in atom.properties]
    moved = f", and among these {_cells(atom.postpos)}," if atom.postpos is not None else ""
    code = f", if {_condition(atom.code)}" if atom.code is not None else ""
    piece = _piece(atom) + " and".join(properties) + " and".join(places) + moved
    return f"{count}{piece} may go to {_buckets(atom.buckets)}{code}"


def _piece(atom: Atom) -> str:
    """Describe the appearance of the piece: ``a red or blue star``."""
    noun, article, after = "piece", "any", []
    if atom.shape is not None and is_literal(atom.shape):
        noun = _series(_words(atom.shape), "or")
        article = ""
    elif atom.shape is not None:
        after.append(f" of {_value(atom.shape)}")
    if atom.color is not None and is_literal(atom.color):
        noun = f"{_series(_words(atom.color), 'or')} {noun}"
    elif atom.color is not None:
        after.append(f" of {_value(atom.color)}")
    article = article or ("an" if noun[:1] in "aeiou" else "a")
    return f"{article} {noun}{' and'.join(after)}"


def _property(clause: Property) -> str:
    if isinstance(clause.value, Range):
        return f"{clause.key} {clause.value.low} to {clause.value.high}"
    if is_literal(clause.value):
        return f"{clause.key} {_series(literals_of(clause.value), 'or')}"
    return f"{clause.key} {_value(clause.value)}"


def _words(clause: Expression) -> list[str]:
    """List the literals of a condition on the shape or the colour, whose case does not matter."""
    return [word.lower() for word in literals_of(clause)]


def _cells(where: Expression) -> str:
    """Describe the cell of the piece."""
    items = where.items if isinstance(where, ListOf) else (where,)
    numbers = [str(item) for item in items if isinstance(item, Number)]
    shown = [f"in cell {_series(numbers, 'or')}"] if numbers else []
    for item in items:
        if isinstance(item, ListOf):
            shown.append(_cells(item))
        elif not isinstance(item, Number):
            name = item.value if isinstance(item, Text) else str(item)
            shown.append(_ORDERS.get(name, f"first in the order {name}"))
    return _series(shown, "or")


# -- expressions -----------------------------------------------------------------------------------


def _buckets(buckets: Expression | None) -> str:
    if buckets is None:
        return "any bucket"
    items = buckets.items if isinstance(buckets, ListOf) else (buckets,)
    numbers = sorted({item.value % 4 for item in items if isinstance(item, Number)})
    if numbers == [0, 1, 2, 3] or Name(("this", "bucket")) in items:
        return "any bucket"
    shown = [f"bucket {_series(list(map(str, numbers)), 'or')}"] if numbers else []
    shown += [_bucket(item) for item in items if not isinstance(item, Number)]
    return _series(shown, "or")


def _bucket(item: Expression) -> str:
    """Describe one item of a bucket field."""
    match item:
        case Name(parts=parts) if _is_bucket(parts):
            return _value(item)
        case Binary(operator="+" | "-" as sign, left=Name(parts=parts), right=right) if _is_bucket(
            parts
        ):
            steps = _steps(right, -1 if sign == "-" else 1)
            if steps:
                return _around(_name(parts), steps)
        case Binary(operator="*", left=Not(operand=Name() as absent), right=ListOf() as given):
            return f"{_buckets(given)} as long as {_condition(Not(absent))}"
    return f"the bucket numbered {_value(item)}, modulo 4"


def _is_bucket(parts: tuple[str, ...]) -> bool:
    return parts[0] in ("p", "pc", "ps", "Nearby", "Remotest") or parts[-1] == "bucket"


def _steps(right: Expression, sign: int) -> set[int]:
    """Return the number of steps clockwise in a sum, if given by numbers alone."""
    items = right.items if isinstance(right, ListOf) else (right,)
    if not all(isinstance(item, Number) for item in items):
        return set()
    return {sign * item.value % 4 for item in items if isinstance(item, Number)}


def _around(base: str, steps: set[int]) -> str:
    missing = {0, 1, 2, 3} - steps
    if not missing:
        return f"any bucket, once there is {base}"
    if len(missing) == 1:
        return f"any bucket but {_STEPS[missing.pop()].format(base)}"
    return _series([_STEPS[step].format(base) for step in sorted(steps)], "or")


def _condition(code: Expression) -> str:
    """Describe when an expression has a value."""
    match code:
        case Not(operand=Not(operand=operand)):
            return _condition(operand)
        case Not(operand=Name() as name):
            return _BEFORE.get(str(name), f"there is no {_value(name).removeprefix('the ')}")
        case Name():
            return f"there is {_value(code)}"
        case Not(operand=operand):
            return f"it is not true that {_condition(operand)}"
        case Binary(operator=symbol, left=left, right=right) if symbol in _COMPARISONS:
            return f"{_value(left)} {_COMPARISONS[symbol]} {_value(right)}"
        case ListOf(items=items):
            return _series([_condition(item) for item in items], "or")
    return f"{_value(code)} has a value"


def _value(expression: Expression) -> str:
    """Describe the value of an expression."""
    match expression:
        case Number():
            return str(expression)
        case Text(value=word):
            return word.lower()
        case Name(parts=parts):
            return _name(parts)
        case ListOf(items=items):
            return _series([_value(item) for item in items], "or")
        case Not(operand=operand):
            return f"(1 unless {_condition(operand)})"
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


def _series(words: Sequence[str], conjunction: str) -> str:
    """Join words: ``a, b or c``."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
