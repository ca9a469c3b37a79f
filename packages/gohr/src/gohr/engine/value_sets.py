"""Expressions that no small table holds, as short programs of table look-ups.

The value of an expression is a set of integers, names and pieces. Its leaves depend on one piece
each (the candidate, the last one accepted, the last of the candidate's shape, colour or bucket), so
the sets that a leaf can be are few, and can be numbered; so are the sets that an operator makes of
them. A program is a list of look-ups that turn numbers of sets into numbers of sets, the last of
which is a set of buckets. It is made by trying all the values there are, with the arithmetic of the
language: integers of 32 bits, and sets compared.

This shares no code with ``rules/expressions.py``, which the reference interpreter uses.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gohr.board import N_BUCKETS, N_CELLS, BoardSpec, nearest_bucket
from gohr.errors import RuleError
from gohr.rules.syntax import Binary, Expression, ListOf, Name, Not, Number, Text


def _quotient(x: int, y: int) -> int | None:
    """Divide toward zero; nothing comes of a division by zero."""
    if y == 0:
        return None
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _remainder(x: int, y: int) -> int | None:
    """Return the remainder with the sign of the dividend."""
    q = _quotient(x, y)
    return None if q is None else x - q * y


_ARITHMETIC: dict[str, Callable[[int, int], int | None]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": _remainder,
}
_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

# The pieces that a leaf can look at.
THIS, LAST, BY_COLOR, BY_SHAPE, BY_BUCKET = range(5)

# Effect of an instruction on the numbers of the sets before it.
_LEAF, _UNARY, _BINARY = range(3)

_ALL_BUCKETS = 0b1111
#: A table larger than this costs more time than it can save.
_LARGEST_TABLE = 400_000
#: Maximum number of instructions of a program in the kernel that runs it.
MOST_INSTRUCTIONS = 256

#: A piece as a value: shape, colour, cell number and bucket. Kept apart from integers and names.
_Piece: TypeAlias = tuple[int, int, int, int]
Value: TypeAlias = int | str | _Piece
Values: TypeAlias = frozenset[Value]
_NOTHING: Values = frozenset()
_ONE: Values = frozenset([1])

_Field = Literal["shape", "color", "pos", "bucket", "shape name", "color name", "whole"]


def bucket_bits(values: Values) -> int:
    """Return a set of buckets as four bits; any integer counts modulo 4."""
    return sum({1 << (v % N_BUCKETS) for v in values if isinstance(v, int)})


def value_of(expression: Expression, variables: Mapping[str, Values]) -> Values:
    """Evaluate an expression whose names are all among the variables."""
    match expression:
        case Number(value=value):
            return frozenset([value])
        case ListOf(items=items):
            return _NOTHING.union(*(value_of(item, variables) for item in items))
        case Not(operand=operand):
            return _NOTHING if value_of(operand, variables) else _ONE
        case Binary(operator=symbol, left=left, right=right):
            return _operation(symbol)(value_of(left, variables), value_of(right, variables))
        case Name() | Text():
            return variables[str(expression)]


@dataclass(frozen=True, slots=True)
class Program:
    """Look-ups that give a set of buckets, as four bits.

    Parameters
    ----------
    instructions : tuple of (kind, a, b, n_b, table)
        Instruction ``k`` gives number ``k``. A leaf looks up the record of piece ``a``; a unary
        instruction the number ``a``; a binary one ``number_a * n_b + number_b``.
    tables : tuple of tuples of int
        Tables that the instructions look up.
    by_bucket : bool
        Whether the result depends on the bucket that is tried.
    """

    instructions: tuple[tuple[int, int, int, int, int], ...]
    tables: tuple[tuple[int, ...], ...]
    by_bucket: bool


@dataclass(frozen=True, slots=True)
class _Node:
    """The possible sets of an expression, and the place of its number (None: it is constant)."""

    sets: tuple[Values, ...]
    at: int | None
    by_bucket: bool = False


@dataclass(slots=True)
class ProgramBuilder:
    """Builds the program of one condition.

    A piece is represented by its *record*: 0 for none, else
    ``1 + ((shape * n_colors + color) * 36 + cell) * 4 + bucket``.
    """

    spec: BoardSpec
    _instructions: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    _tables: list[tuple[int, ...]] = field(default_factory=list)
    _leaves: dict[tuple[int, _Field], _Node] = field(default_factory=dict)

    def buckets(self, expression: Expression) -> Program:
        """Return the buckets that an expression allows, any integer counting modulo 4."""
        return self._finish(self._node(expression), bucket_bits)

    def truth(self, expression: Expression) -> Program:
        """Return all buckets where an expression has any value, else none."""
        return self._finish(self._node(expression), lambda values: _ALL_BUCKETS if values else 0)

    def names(self, expression: Expression, field: Literal["shape", "color"]) -> Program:
        """Return all buckets where a value is spelt as the candidate's shape or colour is."""
        name = self._leaf(THIS, "shape name" if field == "shape" else "color name")

        def spelt(values: Values, names: Values) -> Values:
            found = {str(v) for v in values if not isinstance(v, tuple)} & names
            return _ONE if found else _NOTHING

        node = self._binary(self._node(expression), name, spelt)
        return self._finish(node, lambda values: _ALL_BUCKETS if values else 0)

    # -- nodes -----------------------------------------------------------------------------------

    def _node(self, expression: Expression) -> _Node:
        match expression:
            case Number(value=value) | Text(value=value):
                return _Node((frozenset([value]),), None)
            case Name(parts=parts):
                return self._name(parts)
            case ListOf(items=items):
                first, *rest = [self._node(item) for item in items]
                for node in rest:
                    first = self._binary(first, node, frozenset.union)
                return first
            case Not(operand=operand):
                return self._unary(self._node(operand), lambda v: _NOTHING if v else _ONE)
            case Binary(operator=symbol, left=left, right=right):
                return self._binary(self._node(left), self._node(right), _operation(symbol))

    def _name(self, parts: tuple[str, ...]) -> _Node:
        """Return a variable: a piece, one of its fields, or an undefined name."""
        short: dict[tuple[str, ...], tuple[int, _Field]] = {
            ("p",): (LAST, "bucket"),
            ("pc",): (BY_COLOR, "bucket"),
            ("ps",): (BY_SHAPE, "bucket"),
            ("p", "color"): (BY_COLOR, "bucket"),
            ("p", "shape"): (BY_SHAPE, "bucket"),
            ("p", "bucket"): (BY_BUCKET, "bucket"),
        }
        if parts in short:
            return self._leaf(*short[parts])
        if parts in (("Nearby",), ("Remotest",)):
            turn = 0 if parts == ("Nearby",) else 2
            return self._unary(self._leaf(THIS, "pos"), lambda v: _quadrant(v, turn))
        if parts in _PIECES:
            return self._leaf(_PIECES[parts], "whole")
        *owner, last = parts
        if tuple(owner) in _PIECES and last in ("shape", "color", "pos", "bucket"):
            # Only the four are ever fields of a piece of shape and colour.
            return self._leaf(_PIECES[tuple(owner)], last)  # type: ignore[arg-type]  # checked above
        return _Node((_NOTHING,), None)

    def _leaf(self, piece: int, field: _Field) -> _Node:
        if (piece, field) not in self._leaves:
            values = [_NOTHING, *(frozenset([v]) for v in self._fields(field))]
            by_bucket = piece == BY_BUCKET or (piece == THIS and field in ("bucket", "whole"))
            self._leaves[piece, field] = self._look_up(values, (_LEAF, piece, 0, 0), by_bucket)
        return self._leaves[piece, field]

    def _fields(self, field: _Field) -> Iterable[Value]:
        """List a field of every piece that there can be, in the order of the records."""
        for shape, shape_name in enumerate(self.spec.shape_palette):
            for color, color_name in enumerate(self.spec.color_palette):
                for pos in range(1, N_CELLS + 1):
                    for bucket in range(N_BUCKETS):
                        yield {
                            "shape": _as_value(shape_name),
                            "color": _as_value(color_name),
                            "pos": pos,
                            "bucket": bucket,
                            "shape name": shape_name,
                            "color name": color_name,
                            "whole": (shape, color, pos, bucket),
                        }[field]

    def _unary(self, node: _Node, apply: Callable[[Values], Values]) -> _Node:
        values = [apply(v) for v in node.sets]
        if node.at is None:
            return _Node((values[0],), None)
        return self._look_up(values, (_UNARY, node.at, 0, 0), node.by_bucket)

    def _binary(
        self, left: _Node, right: _Node, apply: Callable[[Values, Values], Values]
    ) -> _Node:
        if left.at is None:
            return self._unary(right, lambda v: apply(left.sets[0], v))
        if right.at is None:
            return self._unary(left, lambda v: apply(v, right.sets[0]))
        n_right = len(right.sets)
        if len(left.sets) * n_right > _LARGEST_TABLE:
            raise RuleError(
                "an expression depends on too many things at once: expected at most "
                f"{_LARGEST_TABLE:,} combinations of values, found {len(left.sets) * n_right:,}"
            )
        values = [apply(a, b) for a in left.sets for b in right.sets]
        by_bucket = left.by_bucket or right.by_bucket
        return self._look_up(values, (_BINARY, left.at, right.at, n_right), by_bucket)

    def _look_up(
        self, values: list[Values], how: tuple[int, int, int, int], by_bucket: bool
    ) -> _Node:
        """Give numbers to the sets, and add an instruction that looks them up."""
        if len(self._instructions) == MOST_INSTRUCTIONS:
            raise RuleError(
                f"expected an expression of at most {MOST_INSTRUCTIONS} parts, found more"
            )
        number: dict[Values, int] = {}
        table = tuple(number.setdefault(v, len(number)) for v in values)
        self._instructions.append((*how, len(self._tables)))
        self._tables.append(table)
        return _Node(tuple(number), len(self._instructions) - 1, by_bucket)

    def _finish(self, node: _Node, bits: Callable[[Values], int]) -> Program:
        """End with a look-up of the bits themselves: the last table gives them at once."""
        masks = tuple(bits(v) for v in node.sets)
        if node.at is None:
            # A leaf with the same value for every piece.
            table = masks * (1 + (self.spec.n_codes - 1) * N_CELLS * N_BUCKETS)
            return Program(((_LEAF, THIS, 0, 0, 0),), (table,), False)
        *tables, last = self._tables
        assert node.at == len(tables)  # all that comes before is part of it
        final = tuple(masks[number] for number in last)
        return Program(tuple(self._instructions), (*tables, final), node.by_bucket)


#: Names that denote a piece. ``q.pos`` never does: no cell is filled twice in an episode.
_PIECES: dict[tuple[str, ...], int] = {
    ("this",): THIS,
    ("last",): LAST,
    ("q", "color"): BY_COLOR,
    ("q", "shape"): BY_SHAPE,
    ("q", "bucket"): BY_BUCKET,
}


def _as_value(name: str) -> int | str:
    """Return the name as expressions see it: a string that spells a Java int is an integer."""
    if re.fullmatch(r"[+-]?[0-9]{1,20}", name) and -(2**31) <= int(name) < 2**31:
        return int(name)
    return name


def _quadrant(positions: Values, turn: int) -> Values:
    """Return the bucket of the quadrant of a cell, or one a number of steps further on."""
    cells = (pos for pos in positions if isinstance(pos, int))
    return frozenset((nearest_bucket(pos) + turn) % N_BUCKETS for pos in cells)


def _operation(symbol: str) -> Callable[[Values, Values], Values]:
    if symbol in _ARITHMETIC:
        return lambda a, b: _calculated(symbol, a, b)
    return lambda a, b: _compared(symbol, a, b)


def _compared(symbol: str, left: Values, right: Values) -> Values:
    """Compare two sets; against nothing, a comparison gives its left side."""
    if not left or not right:
        return left

    def holds(x: Value, y: Value) -> bool:
        if symbol in ("==", "!="):
            return (x == y) == (symbol == "==")
        return isinstance(x, int) and isinstance(y, int) and _RELATIONS[symbol](x, y)

    return _ONE if any(holds(x, y) for x in left for y in right) else _NOTHING


def _calculated(symbol: str, left: Values, right: Values) -> Values:
    """Combine the integers of two sets, which wrap to 32 bits with sign."""
    results: set[Value] = set()
    for x in left:
        for y in right:
            if not (isinstance(x, int) and isinstance(y, int)):
                raise RuleError(f"arithmetic needs numbers, found {x!r} {symbol} {y!r}")
            result = _ARITHMETIC[symbol](x, y)
            if result is not None:
                results.add((result + 2**31) % 2**32 - 2**31)
    return frozenset(results)
