"""From the tree of a rule to the tables that the engine plays: the first waist.

:class:`CompiledRule` is all that the engine knows of the rule language. What an atom allows is
separable: a condition on the piece's shape and colour, one on its cell, and the set of buckets,
which depends on nothing but the last buckets ``p``, ``pc``, ``ps`` and the quadrant of the cell.
Each becomes a table, by trying all the values that it can depend on.

The compiler shares no code with the reference interpreter, so that their agreement means something.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import NotCompilableError
from gnomon.game.board import DEFAULT_SPEC, N_CELLS, BoardSpec
from gnomon.rules.syntax import (
    Atom,
    Binary,
    Expression,
    ListOf,
    Name,
    Not,
    Number,
    RuleLine,
    RuleSet,
    Text,
)

__all__ = ["FIRST_MEMORY_COLUMN", "N_BUCKET_STATES", "CompiledRule", "compile_rule"]

#: Where the engine's state keeps the last bucket by colour and by shape: after six numbers and the
#: cells of the pieces.
FIRST_MEMORY_COLUMN = 6 + N_CELLS

#: Values of (p, pc, ps, quadrant): three buckets or none, and the bucket nearest to the cell.
N_BUCKET_STATES = 5 * 5 * 5 * 4

#: Seven numbers stand before the tables of a program.
_HEADER_SIZE = 7

#: A metered count above this is as good as none: no more pieces than cells can be removed.
_LARGEST_COUNT = 10_000

#: An expression's value as a function of the variables (p, pc, ps, nearby); None is "undefined".
_Value = frozenset[int]
_Variables = tuple[int | None, int | None, int | None, int]
_Evaluator = Callable[[_Variables], _Value]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledRule:
    """A rule as tables of integers: all that the engine knows of the rule language.

    Parameters
    ----------
    atoms : numpy.ndarray of uint8, shape (n_atoms, n_shapes * n_colors + 36 + 500)
        For each atom in the order of the text, sets of buckets as four bits, whose intersection is
        what the atom allows: all or none for each shape and colour (``shape * n_colors + color``);
        all or none for each cell (0 to 35); and the buckets of its expression, at index
        ``((p * 5 + pc) * 5 + ps) * 4 + quadrant``, where a last bucket is 0 for "none yet" and else
        1 + bucket, and a quadrant is the bucket nearest to the cell.
    lines : numpy.ndarray of int32, shape (n_lines, 3)
        First atom, atom after the last, and count; a count of -1 is "not metered".
    counts : numpy.ndarray of int32, shape (n_atoms,)
        Count of each atom, likewise.
    features : numpy.ndarray of uint16, shape (1 + n_shapes * n_colors, 4)
        For each code of a cell: shape, colour, and the columns of the engine's state that hold the
        last bucket of that colour and of that shape. The row of the empty cell holds, last, the
        first column after those.
    program : numpy.ndarray of int32
        All of the above as one array, which is what the engine takes: the places where ``atoms``,
        ``lines``, ``counts`` and ``features`` begin, the number of lines, the width of a row of
        ``atoms`` and the number of different pieces; then the tables in that order.
    """

    atoms: npt.NDArray[np.uint8]
    lines: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    features: npt.NDArray[np.uint16]
    program: npt.NDArray[np.int32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = [t.ravel().astype(np.int32) for t in self._tables()]
        starts = _HEADER_SIZE + np.cumsum([0, *map(len, tables)])[:-1]
        header = [*starts, len(self.lines), self.atoms.shape[1], len(self.features) - 1]
        program = np.concatenate([np.array(header, dtype=np.int32), *tables])
        object.__setattr__(self, "program", program)

    def _tables(self) -> tuple[npt.NDArray[Any], ...]:
        return self.atoms, self.lines, self.counts, self.features


def compile_rule(rule_set: RuleSet, board_spec: BoardSpec = DEFAULT_SPEC) -> CompiledRule:
    """Translate a rule into the tables that the engine plays.

    Parameters
    ----------
    rule_set : RuleSet
        The tree of the rule.
    board_spec : BoardSpec
        Gives the palettes of shapes and colours.

    Returns
    -------
    CompiledRule

    Raises
    ------
    NotCompilableError
        If the rule uses a part of the language that has no table; the message names the part. The
        reference interpreter plays such a rule.

    Examples
    --------
    >>> from gnomon.rules.parser import parse
    >>> compile_rule(parse("(1,*,*,*,3) (*,star,red,[1,36],p+1)")).counts.tolist()
    [1, -1]
    """
    atoms: list[npt.NDArray[np.uint8]] = []
    lines: list[tuple[int, int, int]] = []
    counts: list[int] = []
    for line in rule_set.lines:
        lines.append((len(atoms), len(atoms) + len(line.atoms), _count(line)))
        for atom in line.atoms:
            atoms.append(_atom_tables(atom, board_spec))
            counts.append(_count(atom))
    return CompiledRule(
        np.stack(atoms),
        np.array(lines, dtype=np.int32),
        np.array(counts, dtype=np.int32),
        _features(len(board_spec.shape_palette), len(board_spec.color_palette)),
    )


def _features(n_shapes: int, n_colors: int) -> npt.NDArray[np.uint16]:
    """Return ``CompiledRule.features``; the memory of the colours comes before the shapes'."""
    by_shape = FIRST_MEMORY_COLUMN + n_colors
    rows = [(0, 0, 0, by_shape + n_shapes)]
    for shape, color in itertools.product(range(n_shapes), range(n_colors)):
        rows.append((shape, color, FIRST_MEMORY_COLUMN + color, by_shape + shape))
    return np.array(rows, dtype=np.uint16)


def _count(metered: Atom | RuleLine) -> int:
    """Return a count with -1 for "not metered", which any negative count means too."""
    count = metered.count
    return -1 if count is None or count < 0 else min(count, _LARGEST_COUNT)


def _atom_tables(atom: Atom, spec: BoardSpec) -> npt.NDArray[np.uint8]:
    """Return one row of ``CompiledRule.atoms``."""
    if atom.code is not None or atom.postpos is not None:
        raise NotCompilableError("not compilable: a code or postpos clause")
    # Conditions on other properties never bind a piece that is a shape and a colour.
    shapes = _names_table(atom.shape, spec.shape_palette)
    colors = _names_table(atom.color, spec.color_palette)
    cells = np.ones(N_CELLS, dtype=np.uint8)
    for position in atom.positions:
        cells &= _cells_table(position)
    pieces = np.outer(shapes, colors).ravel()
    every = np.uint8(0b1111)
    return np.concatenate([every * pieces, every * cells, _buckets_table(atom.buckets)])


def _names_table(field: Expression | None, palette: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    """Return 1 for each name of the palette that a shape or color field accepts."""
    if field is None:
        return np.ones(len(palette), dtype=np.uint8)
    accepted = {_plain_name(item).upper() for item in _items(field)}
    return np.array([name in accepted for name in palette], dtype=np.uint8)


def _items(field: Expression) -> tuple[Expression, ...]:
    return field.items if isinstance(field, ListOf) else (field,)


def _plain_name(item: Expression) -> str:
    match item:
        case Name(parts=(name,)):
            return name
        case Text(value=name):
            return name
    raise NotCompilableError(f"not compilable: {item} as a shape or color")


def _cells_table(position: Expression) -> npt.NDArray[np.uint8]:
    """Return 1 for each cell that a position field accepts."""
    cells = np.zeros(N_CELLS, dtype=np.uint8)
    for item in _items(position):
        match item:
            case Number(value=pos):
                if 1 <= pos <= N_CELLS:
                    cells[pos - 1] = 1
            case ListOf():
                cells |= _cells_table(item)
            case _:
                raise NotCompilableError(f"not compilable: {item} as a position")
    return cells


def _buckets_table(field: Expression | None) -> npt.NDArray[np.uint8]:
    """Return the set of buckets, as bits, for each state of (p, pc, ps, quadrant)."""
    if field is None:
        return np.full(N_BUCKET_STATES, 0b1111, dtype=np.uint8)
    evaluate = _evaluator(field)
    last = (None, 0, 1, 2, 3)
    states = itertools.product(last, last, last, range(4))
    return np.array([sum({1 << (v % 4) for v in evaluate(s)}) for s in states], dtype=np.uint8)


def _evaluator(node: Expression) -> _Evaluator:
    """Translate an expression into a function of the variables that a table can depend on."""
    match node:
        case Number(value=value):
            constant = frozenset([value])
            return lambda _: constant
        case Name(parts=(name,)):
            return _variable(name)
        case ListOf(items=items):
            parts = [_evaluator(i) for i in items]
            return lambda v: frozenset().union(*(part(v) for part in parts))
        case Not(operand=operand):
            inner = _evaluator(operand)
            return lambda v: frozenset() if inner(v) else frozenset([1])
        case Binary(operator=operator, left=a, right=b):
            left, right = _evaluator(a), _evaluator(b)
            if operator in _RELATIONS:
                return lambda v: _compare(_RELATIONS[operator], left(v), right(v))
            combine = _ARITHMETIC[operator]
            return lambda v: frozenset(
                _wrap(c) for x in left(v) for y in right(v) if (c := combine(x, y)) is not None
            )
    raise NotCompilableError(f"not compilable: {node} in a bucket expression")


def _variable(name: str) -> _Evaluator:
    """Return the value of a variable; one that the game does not know is never defined."""
    if name in ("this", "last", "q"):
        raise NotCompilableError(f"not compilable: the variable {name}")
    known: dict[str, _Evaluator] = {
        "p": lambda v: _defined(v[0]),
        "pc": lambda v: _defined(v[1]),
        "ps": lambda v: _defined(v[2]),
        "Nearby": lambda v: _defined(v[3]),
        "Remotest": lambda v: _defined((v[3] + 2) % 4),
    }
    return known.get(name, lambda _: frozenset())


def _defined(value: int | None) -> _Value:
    return frozenset() if value is None else frozenset([value])


def _wrap(value: int) -> int:
    """Wrap to 32 bits with sign, as the integers of the game do."""
    return (value + 2**31) % 2**32 - 2**31


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
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": _quotient,
    "%": _remainder,
}

_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def _compare(holds: Callable[[int, int], bool], left: _Value, right: _Value) -> _Value:
    """Compare two sets; against nothing, a comparison gives its left side."""
    if not left or not right:
        return left
    return frozenset([1]) if any(holds(x, y) for x in left for y in right) else frozenset()
