"""Compiler from the tree of a rule to the tables that the engine plays.

:class:`CompiledRule` is the engine's only view of the rule language. Most atoms are separable: a
condition on the piece's shape and colour, one on its cell, and the set of buckets, which depends on
nothing but the last buckets ``p``, ``pc``, ``ps`` and the quadrant of the cell. Each becomes a
table, by trying all the values that it can depend on. The rest, orders of cells and expressions
over more of the memory, becomes further conditions (:mod:`gohr.engine.conditions`).

The compiler shares no code with the reference interpreter, so that their agreement means something.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_type
from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.engine.conditions import AtomConditions, OrderTable, position_field, programs_of
from gohr.engine.program import pack
from gohr.engine.value_sets import Value, bucket_bits, value_of
from gohr.errors import RuleError
from gohr.rules.syntax import Atom, Expression, Name, Number, RuleLine, RuleSet, Text, check_rule
from gohr.rules.variables import is_literal, literals_of, walk

#: Values of (p, pc, ps, quadrant): three buckets or none, and the bucket nearest to the cell.
N_BUCKET_STATES = 5 * 5 * 5 * 4

#: A metered count above this is as good as none: no more pieces than cells can be removed.
_LARGEST_COUNT = 10_000

_ALL = np.uint8(0b1111)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledRule:
    """A rule as tables of integers: the engine's only view of the rule language.

    Parameters
    ----------
    atoms : numpy.ndarray of uint8, shape (n_atoms, n_shapes * n_colors + 36 + 500)
        For each atom in the order of the text, sets of buckets as four bits, whose intersection is
        the set of buckets that the atom allows: all or none for each shape and colour (``shape *
        n_colors + color``); all or none for each cell (0 to 35); and the buckets of its expression,
        at index ``((p * 5 + pc) * 5 + ps) * 4 + quadrant``, where a last bucket is 0 for "none yet"
        and else 1 + bucket, and a quadrant is the bucket nearest to the cell.
    lines : numpy.ndarray of int32, shape (n_lines, 3)
        First atom, atom after the last, and count; a count of -1 is "not metered".
    counts : numpy.ndarray of int32, shape (n_atoms,)
        Count of each atom, likewise.
    n_shapes, n_colors : int
        Sizes of the palettes that the codes of a board index.
    conditions : tuple of (AtomConditions or None)
        Conditions of each atom beyond its tables.
    orders : numpy.ndarray of uint8, shape (n_orders, 36)
        The orders that the conditions name: the rank of each cell, 255 for a cell without one.

    Attributes
    ----------
    program : numpy.ndarray of int64
        All of the above as one array, the input of the engine.
    """

    atoms: npt.NDArray[np.uint8]
    lines: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    n_shapes: int
    n_colors: int
    conditions: tuple[AtomConditions | None, ...]
    orders: npt.NDArray[np.uint8]
    program: npt.NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "program", pack(self))


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
    RuleError
        If the rule names an order that does not exist, does arithmetic on a name, or is larger than
        the tables of the engine: an expression that depends on more than 400,000 combinations of
        values or has more than 256 parts, more than 256 orders, or some 30,000 atoms. The message
        names the atom, what was found, and the limit.

    Examples
    --------
    >>> from gohr.rules import parse
    >>> compile_rule(parse("(1,*,*,*,3) (*,star,red,[1,36],p+1)")).counts.tolist()
    [1, -1]
    """
    check_rule(rule_set)
    check_type("board_spec", board_spec, BoardSpec, "a BoardSpec")
    orders = OrderTable(rule_set.orders)
    atoms: list[npt.NDArray[np.uint8]] = []
    conditions: list[AtomConditions | None] = []
    lines: list[tuple[int, int, int]] = []
    counts: list[int] = []
    for line in rule_set.lines:
        lines.append((len(atoms), len(atoms) + len(line.atoms), _count(line)))
        for atom in line.atoms:
            try:
                tables, further = _compile_atom(atom, board_spec, orders)
            except RuleError as error:
                place = (atom.span.line, atom.span.column) if atom.span else ()
                raise RuleError(error.message, *place) from None
            atoms.append(tables)
            conditions.append(further)
            counts.append(_count(atom))
    return CompiledRule(
        np.stack(atoms),
        np.array(lines, dtype=np.int32),
        np.array(counts, dtype=np.int32),
        len(board_spec.shape_palette),
        len(board_spec.color_palette),
        tuple(conditions),
        orders.ranks(),
    )


def _count(metered: Atom | RuleLine) -> int:
    """Return a count with -1 for "not metered", which any negative count means too."""
    count = metered.count
    return -1 if count is None or count < 0 else min(count, _LARGEST_COUNT)


def _compile_atom(
    atom: Atom, spec: BoardSpec, orders: OrderTable
) -> tuple[npt.NDArray[np.uint8], AtomConditions | None]:
    """Return one row of ``CompiledRule.atoms``, and the conditions that it cannot hold."""
    # Conditions on other properties never bind a piece that is a shape and a colour.
    shapes = _names_table(atom.shape, spec.shape_palette)
    colors = _names_table(atom.color, spec.color_palette)
    cells = np.ones(N_CELLS, dtype=np.uint8)
    positions = []
    for position in atom.positions:
        where = position_field(position, orders)
        if where.orders:
            positions.append(where)
        else:
            cells &= np.array(where.cells, dtype=np.uint8)
    buckets = _buckets_table(atom.buckets)
    programs = programs_of(atom, spec, simple_buckets=buckets is not None)
    postpos = None if atom.postpos is None else position_field(atom.postpos, orders)
    further = AtomConditions(tuple(positions), postpos, programs)
    if buckets is None:
        buckets = np.full(N_BUCKET_STATES, _ALL)
    tables = np.concatenate([_ALL * np.outer(shapes, colors).ravel(), _ALL * cells, buckets])
    return tables, further if positions or postpos or programs else None


def _names_table(field: Expression | None, palette: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    """Return 1 for each name of the palette that a shape or color field accepts."""
    if field is None or not is_literal(field):
        return np.ones(len(palette), dtype=np.uint8)
    spelt = literals_of(field)
    if not any(isinstance(item, Number) for item in walk(field)):
        # A list with a number in it is matched as it is spelt, any other in upper case.
        spelt = [name.upper() for name in spelt]
    return np.array([name in spelt for name in palette], dtype=np.uint8)


#: The variables that a table of buckets is over, and their axes: p, pc, ps and the quadrant.
_AXES = {"p": 0, "pc": 1, "ps": 2, "Nearby": 3, "Remotest": 3}
#: The values of a last bucket: none yet, or a bucket.
_LAST = [frozenset[Value](), *(frozenset[Value]([bucket]) for bucket in range(N_BUCKETS))]


def _buckets_table(field: Expression | None) -> npt.NDArray[np.uint8] | None:
    """Return the set of buckets, as bits, for each state of (p, pc, ps, quadrant).

    None for an expression that depends on more than these.
    """
    if field is None:
        return np.full(N_BUCKET_STATES, _ALL)
    names = {str(node) for node in walk(field) if isinstance(node, Name | Text)}
    if not names <= _AXES.keys():
        return None
    axes = {_AXES[name] for name in names}
    shape = (5, 5, 5, N_BUCKETS)
    table = np.empty([n if axis in axes else 1 for axis, n in enumerate(shape)], np.uint8)
    for state in np.ndindex(table.shape):
        p, pc, ps, quadrant = state
        variables = {
            **{"p": _LAST[p], "pc": _LAST[pc], "ps": _LAST[ps]},
            "Nearby": frozenset([quadrant]),
            "Remotest": frozenset([(quadrant + 2) % N_BUCKETS]),
        }
        table[state] = bucket_bits(value_of(field, variables))
    return np.broadcast_to(table, shape).ravel()
