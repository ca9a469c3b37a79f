"""Hypothesis strategies for rule sets and boards, from the paper's language to the whole of it.

Rule sets are built as trees, in the form that the parser gives back, so that
``parse(str(rule_set)) == rule_set``. Names mostly come from the default palettes, so that play gets
somewhere.
"""

from __future__ import annotations

from hypothesis import strategies as st

from gohr import N_CELLS, Board, BoardSpec, Piece
from gohr.rules import RuleSet
from gohr.rules.syntax import (
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
    Text,
)

SHAPES, COLORS = BoardSpec().shape_palette, BoardSpec().color_palette

BUILT_IN_ORDERS = ("B", "T", "L", "R", "L1", "L2", "L3", "L4", "NearestObject", "Farthest")
CUSTOM_ORDERS = ("Mine", "Spiral", "T")
PROPERTIES = {"kind": ("cat", "dog", "3"), "size": ("0", "1", "2", "010")}

cells = st.integers(1, N_CELLS)
buckets = st.integers(0, 3)


def _names(words: tuple[str, ...]) -> st.SearchStrategy[Name]:
    """Names in any case (they match regardless), now and then one that no piece has."""
    spelt = st.sampled_from(words).flatmap(
        lambda w: st.sampled_from([w, w.lower(), w.capitalize()])
    )
    return (spelt | spelt | spelt | st.just("pentagon")).map(lambda w: Name((w,)))


def _lists(items: st.SearchStrategy[Expression], max_size: int = 4) -> st.SearchStrategy[ListOf]:
    return st.lists(items, min_size=1, max_size=max_size).map(lambda each: ListOf(tuple(each)))


def counts(most: int = 4) -> st.SearchStrategy[int | None]:
    """Meters: mostly none, sometimes 0, which is exhausted from birth."""
    return st.none() | st.none() | st.integers(1, most) | st.integers(0, most)


def shapes() -> st.SearchStrategy[Expression | None]:
    """The shape field of a paper rule."""
    return st.none() | st.none() | _names(SHAPES) | _lists(_names(SHAPES))


def colors() -> st.SearchStrategy[Expression | None]:
    """The colour field of a paper rule."""
    return st.none() | st.none() | _names(COLORS) | _lists(_names(COLORS))


numbers = st.integers(-3, 7).map(Number)
cell_numbers = st.integers(-1, N_CELLS + 2).map(Number)
paper_variables = st.sampled_from(["p", "pc", "ps", "Nearby", "Remotest", "near"]).map(
    lambda name: Name((name,))
)


def _arithmetic(children: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "%"]), children, children)


def paper_buckets() -> st.SearchStrategy[Expression | None]:
    """The bucket field of a paper rule: numbers, variables, lists and arithmetic on them."""
    simple: st.SearchStrategy[Expression] = numbers | paper_variables
    compound = st.recursive(simple, lambda c: _lists(c) | _arithmetic(c), max_leaves=5)
    return st.none() | numbers | _lists(numbers) | simple | compound


def paper_positions() -> st.SearchStrategy[tuple[Expression, ...]]:
    """The position field of a paper rule: cell numbers alone."""
    one = cell_numbers | _lists(cell_numbers, max_size=18)
    return st.just(()) | st.just(()) | one.map(lambda e: (e,))


def paper_atoms() -> st.SearchStrategy[Atom]:
    """Five-field atoms."""
    return st.builds(
        Atom,
        count=counts(),
        shape=shapes(),
        color=colors(),
        positions=paper_positions(),
        buckets=paper_buckets(),
    )


def _rule_sets(
    atoms: st.SearchStrategy[Atom],
    max_lines: int,
    max_atoms: int,
    orders: st.SearchStrategy[tuple[Order, ...]] | None = None,
) -> st.SearchStrategy[RuleSet]:
    lines = st.builds(
        RuleLine,
        atoms=st.lists(atoms, min_size=1, max_size=max_atoms).map(tuple),
        count=counts(),
    )
    return st.builds(
        RuleSet,
        lines=st.lists(lines, min_size=1, max_size=max_lines).map(tuple),
        orders=st.just(()) if orders is None else orders,
    )


def paper_rule_sets(max_lines: int = 3, max_atoms: int = 4) -> st.SearchStrategy[RuleSet]:
    """Rule sets in the language that the paper describes."""
    return _rule_sets(paper_atoms(), max_lines, max_atoms)


# -- orders ----------------------------------------------------------------------------------------


@st.composite
def custom_orders(draw: st.DrawFn, name: str) -> Order:
    """An order of some cells, with ties, perhaps with an empty rank."""
    listed = draw(st.lists(cells, min_size=1, max_size=20, unique=True))
    ranks: list[tuple[int, ...]] = []
    while listed:
        size = draw(st.sampled_from([1, 1, 1, 2, 3]))
        ranks.append(tuple(listed[:size]))
        listed = listed[size:]
    if draw(st.integers(0, 9)) == 0:
        ranks.insert(draw(st.integers(0, len(ranks))), ())
    return Order(name, tuple(ranks))


def order_names(defined: tuple[str, ...] = CUSTOM_ORDERS) -> st.SearchStrategy[Expression]:
    """Names of orders that exist, plain or quoted."""
    names = st.sampled_from(BUILT_IN_ORDERS + defined)
    return names.map(lambda n: Name((n,))) | names.map(lambda n: Name((n,))) | names.map(Text)


def positions() -> st.SearchStrategy[Expression]:
    """One position condition: cells and orders, in lists of lists."""
    simple = order_names() | cell_numbers
    return order_names() | st.recursive(simple, lambda c: _lists(c, max_size=5), max_leaves=6)


def _all_custom_orders() -> st.SearchStrategy[tuple[Order, ...]]:
    return st.tuples(*(custom_orders(name) for name in CUSTOM_ORDERS))


def order_rule_sets(max_lines: int = 3, max_atoms: int = 4) -> st.SearchStrategy[RuleSet]:
    """Paper rules with orders, built in and custom, among the positions."""
    atoms = st.builds(
        Atom,
        count=counts(),
        shape=shapes(),
        color=colors(),
        positions=positions().map(lambda e: (e,)) | paper_positions(),
        buckets=paper_buckets(),
    )
    return _rule_sets(atoms, max_lines, max_atoms, _all_custom_orders())


# -- the whole language ----------------------------------------------------------------------------

_INTEGER_VARIABLES = [
    "p",
    "pc",
    "ps",
    "Nearby",
    "Remotest",
    "this.pos",
    "this.bucket",
    "last.pos",
    "last.bucket",
    "q.color.pos",
    "q.shape.bucket",
    "q.bucket.pos",
    "q.color.bucket",
    "q.pos.pos",
    "p.color",
    "p.shape",
    "p.pos",
    "p.bucket",
    "undefined",
    "this.nothing",
]
_OTHER_VARIABLES = [
    "this.color",
    "this.shape",
    "last.color",
    "last.shape",
    "q.bucket.color",
    "q.color.shape",
    "q.shape.color",
    "this",
    "last",
    "q.color",
    "q.bucket",
    "q.shape",
    "red",
]


def _variables(names: list[str]) -> st.SearchStrategy[Name]:
    return st.sampled_from(names).map(lambda n: Name(tuple(n.split("."))))


def expressions(*, may_fail: bool = False) -> st.SearchStrategy[Expression]:
    """Expressions of the whole language.

    Unless ``may_fail``, all operands of arithmetic are integers, so that evaluation raises nothing.
    """
    whole = st.recursive(
        numbers | _variables(_INTEGER_VARIABLES),
        lambda c: _lists(c) | _arithmetic(c) | st.builds(Not, c) | _comparisons(c),
        max_leaves=5,
    )
    other = _variables(_OTHER_VARIABLES) | st.sampled_from(["RED", "star", "3"]).map(Text)
    top = whole | whole | other | _lists(whole | other) | _comparisons(whole | other)
    if not may_fail:
        # The left side of a comparison with nothing is its value: strings could reach arithmetic
        # only through a comparison of them, which stands at the top here or inside of a `!`.
        return top | st.builds(Not, top)
    return st.recursive(top, lambda c: _arithmetic(c) | _lists(c) | st.builds(Not, c), max_leaves=4)


def _comparisons(children: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    operators = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    return st.builds(Binary, operators, children, children)


def _features(plain: st.SearchStrategy[Expression | None]) -> st.SearchStrategy[Expression | None]:
    """Shape and colour fields beyond names: quoted, with numbers, or from memory."""
    odd = st.sampled_from(
        [
            Text("Red"),
            Text("STAR"),
            Number(3),
            ListOf((Name(("RED",)), Number(3))),
            ListOf((Name(("red",)), Number(3))),
            Name(("last", "color")),
            Name(("last", "shape")),
            Name(("q", "bucket", "color")),
            ListOf((Name(("last", "shape")), Name(("q", "bucket", "shape")))),
            ListOf((Name(("last", "color")), Text("RED"), Name(("blue",)))),
        ]
    )
    return plain | plain | plain | odd


def _property_clauses() -> st.SearchStrategy[tuple[Property, ...]]:
    literals = st.sampled_from(
        [
            Name(("cat",)),
            Number(1),
            Text("*"),
            Text("dog"),
            Range(0, 1),
            Range(1, 10),
            ListOf((Name(("cat",)), Number(3))),
            ListOf((Number(0), Number(1), Number(2))),
            Name(("this", "size")),
            Name(("last", "kind")),
            ListOf((Name(("last", "size")), Number(1))),
        ]
    )
    clause = st.builds(Property, st.sampled_from(["kind", "size", "Bucket"]), literals)
    return st.lists(clause, max_size=2, unique_by=lambda c: c.key).map(tuple)


def atoms(*, properties: bool = False, may_fail: bool = False) -> st.SearchStrategy[Atom]:
    """Atoms of the whole language; with conditions on further properties if asked for."""
    values = expressions(may_fail=may_fail)
    rarely = st.none() | st.none() | st.none()
    keyed = st.builds(
        Atom,
        count=counts(),
        shape=_features(shapes()),
        color=_features(colors()),
        positions=st.lists(positions(), max_size=2).map(tuple),
        buckets=paper_buckets() | values,
        postpos=rarely | positions(),
        code=rarely | values,
        properties=_property_clauses() if properties else st.just(()),
        format=st.just("property"),
    )
    positional = st.builds(
        Atom,
        count=counts(),
        shape=_features(shapes()),
        color=_features(colors()),
        positions=positions().map(lambda e: (e,)) | paper_positions(),
        buckets=paper_buckets() | values,
    )
    return keyed | positional


def rule_sets(
    max_lines: int = 3, max_atoms: int = 3, *, properties: bool = False, may_fail: bool = False
) -> st.SearchStrategy[RuleSet]:
    """Rule sets of the whole language."""
    return _rule_sets(
        atoms(properties=properties, may_fail=may_fail), max_lines, max_atoms, _all_custom_orders()
    )


# -- boards ----------------------------------------------------------------------------------------


def _looks(n_shapes: int, n_colors: int) -> st.SearchStrategy[tuple[str, str]]:
    return st.tuples(st.sampled_from(SHAPES[:n_shapes]), st.sampled_from(COLORS[:n_colors]))


def boards(
    min_pieces: int = 1, max_pieces: int = 9, *, n_shapes: int = 4, n_colors: int = 4
) -> st.SearchStrategy[Board]:
    """Boards of shape-and-colour pieces, one a cell; ids count from 0 in the order of the cells."""
    return st.dictionaries(
        cells, _looks(n_shapes, n_colors), min_size=min_pieces, max_size=max_pieces
    ).map(
        lambda placed: Board(
            tuple(Piece(number, pos, *placed[pos]) for number, pos in enumerate(sorted(placed)))
        )
    )


def crowded_boards(max_pieces: int = 9, max_cell: int = 8) -> st.SearchStrategy[Board]:
    """Boards on which cells may hold several pieces."""
    placed = st.lists(
        st.tuples(st.integers(1, max_cell), _looks(4, 4)), min_size=1, max_size=max_pieces
    )
    return placed.map(
        lambda each: Board(
            tuple(
                Piece(number, pos, *looks)
                for number, (pos, looks) in enumerate(sorted(each, key=lambda p: p[0]))
            )
        )
    )


@st.composite
def property_boards(draw: st.DrawFn, max_pieces: int = 8) -> Board:
    """Boards of pieces that are known by their properties."""
    placed = draw(st.lists(cells, min_size=1, max_size=max_pieces, unique=True))
    pieces = []
    for number, pos in enumerate(sorted(placed)):
        chosen = {key: draw(st.sampled_from(values)) for key, values in PROPERTIES.items()}
        chosen["color"] = draw(st.sampled_from(["red", "black", "RED"]))
        chosen["shape"] = draw(st.sampled_from(["star", "square"]))
        for key in draw(st.sets(st.sampled_from(sorted(chosen)), max_size=1)):
            del chosen[key]
        pieces.append(Piece(number, pos, properties=chosen))
    return Board(tuple(pieces))
