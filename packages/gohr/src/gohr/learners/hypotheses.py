"""Rules that an ideal learner thinks possible: families of rule texts, made from their elements.

Each family varies one element of the rule language while the rest stays simple. The families
contain the rules of the templates of :mod:`gohr.rules.templates` and more, and the library is added
to them. All hypotheses are compiled, with their prior, to be played side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations, permutations, product

import numpy as np
import numpy.typing as npt

from gohr.board import BoardSpec
from gohr.engine.compiler import CompiledRule, compile_rule
from gohr.engine.program import N_COLUMNS
from gohr.rules.catalogue import available_rules, load_rule_text
from gohr.rules.orders import BUILT_IN_ORDERS
from gohr.rules.parser import parse

_BUCKETS = ("0", "1", "2", "3")
#: More names than these make more tables than can be listed.
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A rule that might be the hidden one.

    ``lines`` has the atoms of each rule line, none for a rule of the library.
    """

    family: str
    lines: tuple[tuple[str, ...], ...]
    name: str
    text: str


_Lines = tuple[tuple[str, ...], ...]


def _hypotheses_of(board_spec: BoardSpec) -> Iterator[Hypothesis]:
    """Yield the hypotheses about boards of these palettes, family after family, each text once."""
    shapes = tuple(name.lower() for name in board_spec.shape_palette)
    colors = tuple(name.lower() for name in board_spec.color_palette)
    for name in available_rules():
        yield Hypothesis("library", (), name, load_rule_text(name))
    for family, rules in _families(shapes, colors):
        seen: set[_Lines] = set()
        for lines in rules:
            if lines not in seen:
                seen.add(lines)
                rows = [" ".join(line) for line in lines]
                yield Hypothesis(family, lines, " / ".join(rows), "\n".join(rows))


def check_palettes(board_spec: BoardSpec) -> None:
    """Raise ValueError if there are more than four shapes or colours."""
    for kind, names in (
        ("shapes", board_spec.shape_palette),
        ("colors", board_spec.color_palette),
    ):
        if len(names) > _MOST_NAMES:
            raise ValueError(
                f"expected at most {_MOST_NAMES} {kind} in the palette, found {len(names)}"
            )


def _atom(
    buckets: str, *, count: str = "*", shape: str = "*", color: str = "*", cells: str = "*"
) -> str:
    return f"({count},{shape},{color},{cells},{buckets})"


def _listed(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"[{','.join(values)}]"


def _subsets(values: Sequence[str], least: int = 1, most: int | None = None) -> list[str]:
    """Return the subsets with a minimum and maximum number of members, as lists of the language."""
    most = len(values) if most is None else most
    sizes = range(least, most + 1)
    return [_listed(part) for n in sizes for part in combinations(values, n)]


def _splits(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the ways to part names in two, each way once: the first part has the first name."""
    rest = range(1, len(names))
    parts = []
    for n in range(len(names) - 1):
        for others in combinations(rest, n):
            inside = [names[0], *(names[i] for i in others)]
            parts.append((_listed(inside), _listed([x for x in names if x not in inside])))
    return parts


def _cells(inside: Callable[[int, int], bool]) -> tuple[str, str]:
    """Return the cells for which a condition on column and row holds, and the others."""
    both: tuple[list[str], list[str]] = ([], [])
    for cell in range(36):
        both[not inside(cell % 6 + 1, cell // 6 + 1)].append(str(cell + 1))
    return _listed(both[0]), _listed(both[1])


_PLACES = (
    _cells(lambda x, _: x <= 3),
    _cells(lambda _, y: y >= 4),
    _cells(lambda x, y: x in (1, 6) or y in (1, 6)),
    _cells(lambda x, y: (x + y) % 2 == 0),
    _cells(lambda x, y: y > x),
    _cells(lambda x, y: x + y < 7),
)
_QUADRANTS = (
    _cells(lambda x, y: x <= 3 and y >= 4)[0],
    _cells(lambda x, y: x >= 4 and y >= 4)[0],
    _cells(lambda x, y: x >= 4 and y <= 3)[0],
    _cells(lambda x, y: x <= 3 and y <= 3)[0],
)

_SETS = tuple(_subsets(_BUCKETS))
_PAIRS = tuple(_subsets(_BUCKETS, 2, 2))
_ANYWHERE = "[0,1,2,3]"
_TARGETS = ("*", *_BUCKETS, "Nearby", "Remotest")


#: The reading orders backwards, with their definitions: they begin at the bottom.
_BACKWARDS = {
    f"RevOf{name}": f"Order RevOf{name}=[{','.join(str(cell) for (cell,) in ranks[::-1])}]"
    for name, ranks in BUILT_IN_ORDERS.items()
    if name in ("L1", "L2", "L3", "L4")
}


def _families(
    shapes: Sequence[str], colors: Sequence[str]
) -> Iterator[tuple[str, Iterator[_Lines]]]:
    """Yield the families beside the library, with the rules of each."""
    # Each shape has a bucket; each colour has one; each shape, or each colour, has two.
    yield "shape", _each("shape", shapes, _BUCKETS)
    yield "color", _each("color", colors, _BUCKETS)
    yield "pairs", chain(_each("shape", shapes, _PAIRS), _each("color", colors, _PAIRS))
    # Two groups of shapes by two of colours, with a bucket for each.
    groups = product(_splits(shapes), _splits(colors))
    yield "shape-and-color", (r for s, c in groups for r in _quarters("shape", s, "color", c))
    # Two parts of the board, each with some buckets.
    yield (
        "place",
        (
            ((_atom(a, cells=inside), _atom(b, cells=outside)),)
            for (inside, outside), (a, b) in product(_PLACES, permutations(_SETS, 2))
        ),
    )
    # Each quadrant has a bucket, or some at fixed steps from it.
    steps_away = (((_atom(f"Nearby+{steps}"),),) for steps in _SETS)
    yield "quadrant", chain(_each("cells", _QUADRANTS, _BUCKETS), steps_away)
    # A name, against the rest, and a part of the board choose between two buckets.
    alone = [
        (kind, parts)
        for kind, names in (("shape", shapes), ("color", colors))
        for parts in _splits(names)
        if not all(part.startswith("[") for part in parts)
    ]
    yield (
        "feature-and-place",
        (
            rule
            for (kind, parts), places in product(alone, _PLACES)
            for pair in combinations(_BUCKETS, 2)
            for rule in _quarters(kind, parts, "cells", places, pair)
        ),
    )
    # Cells give the order, and some buckets are allowed; or row by row, column by column, from the
    # bottom.
    allowed = [*_SETS, *(f"Nearby+{steps}" for steps in _SETS)]
    yield "order", (((_atom(b, cells=order),),) for order, b in product(BUILT_IN_ORDERS, allowed))
    yield (
        "order-backwards",
        (
            ((definition,), (_atom(target, cells=name),))
            for (name, definition), target in product(_BACKWARDS.items(), _TARGETS)
        ),
    )
    # One to four buckets take turns; two or three sets of buckets do.
    yield "cycle", _turns(turns for n in range(1, 5) for turns in product(_BUCKETS, repeat=n))
    yield "cycle-of-sets", _turns(chain(product(_SETS, repeat=2), product(_PAIRS, repeat=3)))
    yield "step", _step()
    yield "count", _count()
    yield "priority", _priority(shapes, colors)
    # Shapes, or colours, go in an order, each to its own bucket; or take turns with a piece each.
    names = {"shape": shapes, "color": colors}
    yield "priority-and-bucket", _to_buckets(names, "*")
    yield "turn", chain(_to_buckets(names, "1"), _in_turn(names))


def _each(kind: str, names: Sequence[str], choices: Sequence[str]) -> Iterator[_Lines]:
    """Yield the rules of one line in which each name of a kind has one of the choices."""
    for buckets in product(choices, repeat=len(names)):
        yield (tuple(_atom(b, **{kind: name}) for name, b in zip(names, buckets, strict=True)),)


def _quarters(
    kind: str,
    parts: tuple[str, str],
    other: str,
    others: tuple[str, str],
    buckets: Sequence[str] = _BUCKETS,
) -> Iterator[_Lines]:
    """Yield the rules of two parts of a kind by two of another, with a bucket for each."""
    for b in product(buckets, repeat=4):
        if b[:2] != b[2:] and b[::2] != b[1::2]:  # else one of the two would do
            both = zip(b, product(parts, others), strict=True)
            yield (tuple(_atom(k, **{kind: x, other: y}) for k, (x, y) in both),)


def _turns(cycles: Iterable[tuple[str, ...]]) -> Iterator[_Lines]:
    """Yield the rules whose buckets take turns, without cycles that are shorter ones repeated."""
    for turns in cycles:
        n = len(turns)
        if not any(n % k == 0 and turns == turns[:k] * (n // k) for k in range(1, n)):
            yield tuple((_atom(b, count="1"),) for b in turns)


def _step() -> Iterator[_Lines]:
    """Yield the rules of fixed steps from the last bucket, of all or of that colour or shape."""
    for start, steps in product((_ANYWHERE, *_BUCKETS), _SETS):
        yield (_atom(start, count="1"),), (_atom(f"p+{steps}"),)
    for variable, steps in product(("p", "pc", "ps"), _SETS):
        yield ((_atom(f"[{variable}+{steps},!{variable}*{_ANYWHERE}]"),),)


def _count() -> Iterator[_Lines]:
    """Yield the rules in which buckets take turns after one to five pieces each."""
    for n, turns in product("1234", permutations(_BUCKETS)):
        yield tuple((_atom(b, count=n),) for b in turns)
    for n, m in product("12345", repeat=2):
        for a, b in permutations((*_BUCKETS, "Nearby", "Remotest"), 2):
            yield (_atom(a, count=n),), (_atom(b, count=m),)
    for n in "1234":
        yield (tuple(_atom(b, count=n) for b in _BUCKETS),)


def _one_first(kind: str, splits: Iterable[tuple[str, str]]) -> Iterator[_Lines]:
    """Yield the rules in which one of two parts goes first, for each target."""
    for parts, target in product(splits, _TARGETS):
        for first, second in (parts, parts[::-1]):
            yield (_atom(target, **{kind: first}),), (_atom(target, **{kind: second}),)


def _priority(shapes: Sequence[str], colors: Sequence[str]) -> Iterator[_Lines]:
    """Yield the rules in which some shapes, colours, pieces or parts of the board go first."""
    for kind, names in (("shape", shapes), ("color", colors)):
        for turns, target in product(permutations(names), _TARGETS):
            yield tuple((_atom(target, **{kind: name}),) for name in turns)
        yield from _one_first(kind, _splits(names))
    for shape, color, target in product(shapes, colors, _TARGETS):
        yield (_atom(target, shape=shape, color=color),), (_atom("*"),)
    yield from _one_first("cells", _PLACES)


def _to_buckets(names: Mapping[str, Sequence[str]], count: str) -> Iterator[_Lines]:
    """Yield the rules whose lines let names go in an order, each to its own bucket."""
    for kind, all_names in names.items():
        for turns in permutations(all_names):
            for buckets in permutations(_BUCKETS, len(turns)):
                yield tuple(
                    (_atom(b, count=count, **{kind: name}),)
                    for name, b in zip(turns, buckets, strict=True)
                )


def _in_turn(names: Mapping[str, Sequence[str]]) -> Iterator[_Lines]:
    """Yield the rules in which names take turns, to any bucket, in any order or in a given one."""
    for kind, all_names in names.items():
        for turns in permutations(all_names):
            yield tuple((_atom("*", count="1", **{kind: name}),) for name in turns)
            for order in BUILT_IN_ORDERS:
                yield tuple((f"(count:1, {kind}:{name}, postpos:{order})",) for name in turns)


@dataclass(frozen=True, slots=True, eq=False)
class HypothesisSpace:
    """The rules that an ideal learner thinks possible, compiled one behind the other.

    Every family is as probable as any other, and within a family every rule: ``log_prior`` has the
    natural logarithms. Rule ``k`` is ``programs[starts[k] : starts[k + 1]]``.
    """

    hypotheses: tuple[Hypothesis, ...]
    log_prior: npt.NDArray[np.float64]
    programs: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    n_columns: int

    def __len__(self) -> int:
        return len(self.hypotheses)


def hypothesis_space(board_spec: BoardSpec) -> HypothesisSpace:
    """Return the space for boards of these palettes; it is made once in a process.

    That takes some seconds, and 150 MB for four shapes and four colours.
    """
    check_palettes(board_spec)
    return _space(board_spec.shape_palette, board_spec.color_palette)


@lru_cache(maxsize=2)
def _space(shapes: tuple[str, ...], colors: tuple[str, ...]) -> HypothesisSpace:
    spec = BoardSpec(1, 0, 0, shapes, colors)
    found = tuple(_hypotheses_of(spec))
    atom = cache(lambda text: compile_rule(parse(text), spec))
    programs = [_program(hypothesis, spec, atom).program for hypothesis in found]
    sizes = Counter(hypothesis.family for hypothesis in found)
    prior = np.array([-np.log(len(sizes) * sizes[hypothesis.family]) for hypothesis in found])
    starts = np.cumsum([0, *map(len, programs)])
    n_columns = max(int(program[N_COLUMNS]) for program in programs)
    return HypothesisSpace(found, prior, np.concatenate(programs), starts, n_columns)


def _program(
    hypothesis: Hypothesis, spec: BoardSpec, atom: Callable[[str], CompiledRule]
) -> CompiledRule:
    """Compile a hypothesis from its atoms, which it shares with many others."""
    if hypothesis.family == "order-backwards":  # its first line is a definition
        return compile_rule(parse(hypothesis.text), spec)
    atoms = [atom(text) for line in hypothesis.lines for text in line]
    if not atoms or any(part.conditions[0] for part in atoms):
        return compile_rule(parse(hypothesis.text), spec)
    stops = np.cumsum([len(line) for line in hypothesis.lines])
    starts = np.concatenate([[0], stops[:-1]])
    return CompiledRule(
        np.concatenate([part.atoms for part in atoms]),
        np.stack([starts, stops, np.full(len(stops), -1)], axis=1).astype(np.int32),
        np.concatenate([part.counts for part in atoms]),
        atoms[0].n_shapes,
        atoms[0].n_colors,
        (None,) * len(atoms),
        atoms[0].orders,
    )
