"""Random rules from a grammar of elements: which piece may move, and to which buckets.

Every rule that is drawn here is the product of two answers, each an element or more of the task
(:mod:`gnomon.leaderboard.seasons.rule_generation` says which, and tries what is drawn).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.game.board import N_BUCKETS, N_CELLS, BoardSpec
from gnomon.rules.orders import BUILT_IN_ORDERS

__all__ = ["ELEMENTS", "RuleDraft", "draw_draft"]

#: What a rule may look at. The first three decide where a piece goes, and so does memory, by the
#: bucket of a piece that went before; of the last three, which decide whose turn it is, a rule has
#: one at most.
ELEMENTS = ("shape", "color", "place", "memory", "order", "priority", "turns")

_FEATURES = frozenset({"shape", "color", "place"})
_TURNS = frozenset({"order", "priority", "turns"})
#: More than two features at a time make a table that nobody learns.
_MOST_FEATURES = 2

#: Clauses of an atom, and the buckets of the pieces that meet them.
_Clauses = tuple[str, ...]
_Table = list[tuple[_Clauses, str]]


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A rule text, and the elements that it was made of."""

    text: str
    elements: tuple[str, ...]


def draw_draft(
    n_elements: int,
    *,
    allowed: Collection[str] = ELEMENTS,
    n_buckets: tuple[int, int] = (1, 2),
    board_spec: BoardSpec,
    rng: np.random.Generator,
) -> RuleDraft | None:
    """Draw a rule of so many elements; None if those that were drawn do not go together.

    ``allowed`` are some of `ELEMENTS`; ``n_buckets`` is the least and most number of buckets that a
    piece may go to, 1 to 4.
    """
    listed = [name for name in ELEMENTS if name in allowed]
    if len(listed) < n_elements:
        return None
    chosen = frozenset(str(x) for x in rng.choice(listed, n_elements, replace=False))
    features, who = chosen & _FEATURES, chosen & _TURNS
    if len(who) > 1 or len(features) > _MOST_FEATURES or {"turns", "memory"} <= chosen:
        return None
    if "priority" in chosen and features == _FEATURES:
        return None
    draw = _Draw(n_buckets, board_spec, rng)
    lines = _lines(draw, sorted(features), next(iter(who), ""), memory="memory" in chosen)
    text = "\n".join(" ".join(line) for line in lines)
    return RuleDraft(text, tuple(name for name in ELEMENTS if name in chosen))


@dataclass(frozen=True, slots=True)
class _Draw:
    """The random choices, one a method."""

    n_buckets: tuple[int, int]
    spec: BoardSpec
    rng: np.random.Generator

    def pick(self, n: int) -> int:
        return int(self.rng.integers(n))

    def buckets(self, variable: str) -> str:
        """Return buckets; with a variable, steps from the bucket that it names."""
        low, high = self.n_buckets
        size = int(self.rng.integers(low, high + 1))
        numbers = sorted(int(b) for b in self.rng.choice(N_BUCKETS, size, replace=False))
        if not variable:
            return _listed([str(number) for number in numbers])
        steps = [f"{variable}+{number}" if number else variable for number in numbers]
        # Before there is such a piece, any bucket will do.
        return _listed([*steps, f"!{variable}*[0,1,2,3]"])

    def groups(self, feature: str, *, halves: bool) -> list[str]:
        """Return clauses that split all pieces by a feature; into two groups if need be."""
        if feature == "place":
            partitions = [p for p in _PARTITIONS if len(p) == 2 or not halves]
            places = partitions[self.pick(len(partitions))]
            return [f"pos:{_listed([str(cell) for cell in place])}" for place in places]
        palette = self.spec.shape_palette if feature == "shape" else self.spec.color_palette
        names = [name.lower() if name.isidentifier() else f'"{name}"' for name in palette]
        if not halves or len(names) == 1:
            return [f"{feature}:{name}" for name in names]
        order = self.rng.permutation(len(names))
        cut = 1 + self.pick(len(names) - 1)
        parts = [[names[i] for i in sorted(part)] for part in (order[:cut], order[cut:])]
        return [f"{feature}:{_listed(part)}" for part in parts]


def _lines(draw: _Draw, features: Sequence[str], who: str, *, memory: bool) -> list[list[str]]:
    """Return the atoms of each line, the line's own count before them if it has one."""
    variable = ("p", "pc", "ps")[draw.pick(3)] if memory else ""
    if who == "turns":
        n_lines = 2 + draw.pick(3)
        return [["1", *_atoms(_table(draw, features, ""))] for _ in range(n_lines)]
    table = _table(draw, features, variable)
    if who == "order":
        names = list(BUILT_IN_ORDERS)
        return [_atoms(table, f"pos:{names[draw.pick(len(names))]}")]
    if who == "priority":
        others = sorted(_FEATURES - set(features))
        groups = draw.groups(others[draw.pick(len(others))], halves=True)
        if draw.pick(2):
            groups.reverse()
        return [_atoms(table, group) for group in groups]
    return [_atoms(table)]


def _table(draw: _Draw, features: Sequence[str], variable: str) -> _Table:
    """Return which pieces go where: every piece somewhere, and not all to the same buckets."""
    groups = [draw.groups(feature, halves=len(features) > 1) for feature in features]
    cells = list(itertools.product(*groups))
    for _ in range(100):
        table = [(cell, draw.buckets(variable)) for cell in cells]
        if len(cells) == 1 or len({buckets for _, buckets in table}) > 1:
            break
    return table


def _atoms(table: _Table, *more: str) -> list[str]:
    return [f"({', '.join((*more, *clauses, f'bucket:{b}'))})" for clauses, b in table]


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"[{','.join(items)}]"


def _partition(*tests: str) -> list[list[int]]:
    """Return the cells for which each expression in column x and row y, from 1, first holds."""
    parts: list[list[int]] = [[] for _ in range(len(tests))]
    for pos in range(1, N_CELLS + 1):
        x, y = (pos - 1) % 6 + 1, (pos - 1) // 6 + 1
        parts[[_PLACES[test](x, y) for test in tests].index(True)].append(pos)
    return parts


_PLACES: Mapping[str, Callable[[int, int], bool]] = {
    "left": lambda x, y: x <= 3,
    "top": lambda x, y: y >= 4,
    "top left": lambda x, y: x <= 3 and y >= 4,
    "top right": lambda x, y: x >= 4 and y >= 4,
    "bottom left": lambda x, y: x <= 3 and y <= 3,
    "inside": lambda x, y: x in range(2, 6) and y in range(2, 6),
    "middle": lambda x, y: x in (3, 4) and y in (3, 4),
    "white": lambda x, y: (x + y) % 2 == 0,
    "odd column": lambda x, y: x % 2 == 1,
    "odd row": lambda x, y: y % 2 == 1,
    "above the diagonal": lambda x, y: y > x,
    "on the diagonal": lambda x, y: y == x,
    "left third": lambda x, y: x <= 2,
    "middle columns": lambda x, y: x in (3, 4),
    "lower third": lambda x, y: y <= 2,
    "middle rows": lambda x, y: y in (3, 4),
    "rest": lambda x, y: True,
}

_PARTITIONS = (
    _partition("left", "rest"),
    _partition("top", "rest"),
    _partition("inside", "rest"),
    _partition("white", "rest"),
    _partition("odd column", "rest"),
    _partition("odd row", "rest"),
    _partition("above the diagonal", "rest"),
    _partition("middle", "inside", "rest"),
    _partition("above the diagonal", "on the diagonal", "rest"),
    _partition("left third", "middle columns", "rest"),
    _partition("lower third", "middle rows", "rest"),
    _partition("top left", "top right", "bottom left", "rest"),
)
