"""The tree of a rule text: frozen records, one for each thing that the language has a word for.

The tree depends on neither arrays nor boards. Every node carries the :class:`Span` of text that it
was read from, for messages; equality leaves spans out, so that ``parse(str(rule_set)) ==
rule_set``. ``str`` of any node is text that parses back to the same node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gnomon.errors import check_type

#: The default palettes, in the order in which the reference's random generator numbers them.
SHAPES = ("SQUARE", "STAR", "CIRCLE", "TRIANGLE")
COLORS = ("RED", "BLACK", "BLUE", "YELLOW")
#: Cells of a board, numbered from 1 at the bottom left.
N_CELLS = 36

ArithmeticOperator = Literal["+", "-", "*", "/", "%"]
ComparisonOperator = Literal["==", "!=", "<", "<=", ">", ">="]

#: How tightly an operator binds; a child that binds less tightly is printed in parentheses.
_PRECEDENCE = {
    **dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], 1),
    **dict.fromkeys(["+", "-"], 2),
    **dict.fromkeys(["*", "/", "%"], 3),
    "!": 4,
}
_PRIMARY = 5


@dataclass(frozen=True, slots=True)
class Span:
    """Position of a node in its text: a line, and the columns from the first to after the last."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Number:
    """An integer literal; negative when a minus sign stood directly before the digits."""

    value: int
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted string. It stays a string even if it spells a number."""

    value: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f'"{self.value}"'


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier or a dotted chain of them: ``red``, ``p``, ``Nearby``, ``last.color``."""

    parts: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A bracketed list, never empty: the union of the values of its items."""

    items: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "[" + ",".join(map(str, self.items)) + "]"


@dataclass(frozen=True, slots=True)
class Not:
    """``!operand``: 1 where the operand has no value, and no value where it has one."""

    operand: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"!{_inside(self.operand, _PRECEDENCE['!'])}"


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right``, arithmetic (over all pairs of values) or a comparison."""

    operator: ArithmeticOperator | ComparisonOperator
    left: Expression
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        binds = _PRECEDENCE[self.operator]
        # Arithmetic associates to the left and comparisons not at all, so that an operand of the
        # same strength needs parentheses on the right always, on the left for comparisons only.
        left = _inside(self.left, binds + (binds == 1))
        return f"{left}{self.operator}{_inside(self.right, binds + 1)}"


Expression: TypeAlias = Number | Text | Name | ListOf | Not | Binary


def _inside(node: Expression, at_least: int) -> str:
    """Print a node as an operand, in parentheses if it binds less tightly than it must."""
    if isinstance(node, Binary):
        binds = _PRECEDENCE[node.operator]
    elif isinstance(node, Not):
        binds = _PRECEDENCE["!"]
    else:
        binds = _PRIMARY
    return str(node) if binds >= at_least else f"({node})"


@dataclass(frozen=True, slots=True)
class Range:
    """``[low..high]``, both ends included: the value of a property as an integer."""

    low: int
    high: int
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"[{self.low}..{self.high}]"


@dataclass(frozen=True, slots=True)
class Property:
    """A condition on a property that is not one of the atom's own fields: ``size:[1..2]``."""

    key: str
    value: Expression | Range
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.key}:{self.value}"


@dataclass(frozen=True, slots=True)
class Atom:
    """One parenthesised clause of a rule line: which pieces may go into which buckets.

    ``None`` means "no condition" (``*``, or a field left out) throughout, and for "not metered" in
    ``count``.

    Parameters
    ----------
    count : int or None
        Number of accepted attempts that the atom allows each time its line becomes active.
    shape, color : Expression or None
        Required shape and colour of the piece.
    positions : tuple of Expression
        Conditions on the cell, all of which must hold. Positional atoms have one at most.
    buckets : Expression or None
        The buckets allowed; any integer counts modulo 4.
    postpos : Expression or None
        A condition on the cell relative to the pieces that the atom could move.
    code : Expression or None
        A condition that holds when it has any value at all.
    properties : tuple of Property
        Conditions on other properties, in the order of the text.
    format : {'positional', 'property'}
        How the atom was written, and is printed: five fields, or ``key:value`` clauses.
    """

    count: int | None = None
    shape: Expression | None = None
    color: Expression | None = None
    positions: tuple[Expression, ...] = ()
    buckets: Expression | None = None
    postpos: Expression | None = None
    code: Expression | None = None
    properties: tuple[Property, ...] = ()
    format: Literal["positional", "property"] = "positional"
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        if self.format == "positional":
            position = self.positions[0] if self.positions else None
            fields = (self.count, self.shape, self.color, position, self.buckets)
            return "(" + ", ".join("*" if f is None else str(f) for f in fields) + ")"
        clauses = [
            f"{key}:{value}"
            for key, value in [
                ("count", self.count),
                ("shape", self.shape),
                ("color", self.color),
                *(("pos", p) for p in self.positions),
                ("bucket", self.buckets),
                ("postpos", self.postpos),
                ("code", self.code),
            ]
            if value is not None
        ]
        return "(" + ", ".join([*clauses, *map(str, self.properties)]) + ")"


@dataclass(frozen=True, slots=True)
class Order:
    r"""A custom order of cells: ranks of cell numbers, a rank with several cells being a tie.

    A rank may be empty (the text had a name where a cell belongs); it never decides anything.
    """

    name: str
    ranks: tuple[tuple[int, ...], ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"Order {self.name}=[{','.join(map(_rank, self.ranks))}]"


def _rank(cells: tuple[int, ...]) -> str:
    """Print one rank; an empty one as a name, for ``[]`` does not parse."""
    if not cells:
        return "_"
    return str(cells[0]) if len(cells) == 1 else "[" + ",".join(map(str, cells)) + "]"


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A line of atoms; ``count`` meters the accepted attempts of the whole line."""

    atoms: tuple[Atom, ...]
    count: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        atoms = " ".join(map(str, self.atoms))
        return atoms if self.count is None else f"{self.count} {atoms}"


@dataclass(frozen=True, slots=True)
class RuleSet:
    r"""A whole rule text: at least one rule line, and the custom orders that it defines.

    Parameters
    ----------
    lines : tuple of RuleLine
        In the order of the text; the first is active when an episode begins.
    orders : tuple of Order
        Custom orders, in the order of the text. A later one replaces an earlier of the same name.
    description : tuple of str
        The comment lines before the first meaningful line, without their ``#``. Not part of
        equality.

    Examples
    --------
    >>> from gohr.rules import parse
    >>> print(parse("(1, *, *, *, 0)\n(1, *, *, *, 2)"), end="")
    (1, *, *, *, 0)
    (1, *, *, *, 2)
    """

    lines: tuple[RuleLine, ...]
    orders: tuple[Order, ...] = ()
    description: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse anything but rule lines."""
        check_type("lines", self.lines, tuple, "a tuple of RuleLine; gohr.parse reads a text")

    def __str__(self) -> str:
        comments = [f"# {c}".rstrip() for c in self.description]
        return "\n".join([*comments, *map(str, self.orders), *map(str, self.lines)]) + "\n"


def check_rule(rule: object) -> None:
    """Raise TypeError unless an argument is the tree of a rule."""
    check_type("rule", rule, RuleSet, "a rule, as gohr.parse and gohr.load_rule return it")
