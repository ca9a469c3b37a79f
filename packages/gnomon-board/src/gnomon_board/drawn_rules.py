"""Generation of hidden rules of a given difficulty, by drawing drafts and testing them.

A rule is composed of two parts: which pieces can be moved (any piece, the first in an order, one
group before the rest, or each line in turn), and which buckets accept a piece (by its shape, colour
or place, or by where a piece went before). Each feature that a rule depends on is an *element*; the
more elements, the harder the rule.

A draft is rejected if it cannot be compiled, can get stuck, accepts random attempts too often or
too rarely, cannot be cleared within the horizon by a player who knows it, or behaves like a rule of
the library or another drawn rule.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from gnomon.errors import UnknownWordError, check_word
from gnomon_board.errors import LeaderboardError
from gohr import (
    N_BUCKETS,
    N_CELLS,
    BoardSpec,
    Learner,
    TrialLog,
    available_rules,
    compile_rule,
    draw_boards,
    find_stalemate,
    load_rule,
    parse,
    play,
)
from gohr.errors import RuleError
from gohr.learners import RulePlayer, Uniform, chance_of_success
from gohr.outcomes import CLEARED, STALEMATE
from gohr.rules import BUILT_IN_ORDERS, RuleSet

#: A function that is given how many steps are done, and how many there are.
Progress = Callable[[int, int], object]
#: Features that a rule may depend on. The first three determine the bucket of a piece, and so does
#: memory, by the bucket of an earlier piece. The last three determine which pieces can be moved; a
#: rule has at most one of them.
ELEMENTS = ("shape", "color", "place", "memory", "order", "priority", "turns")
_BOARDS = BoardSpec()
#: Boards on which a rule is tested.
_N_BOARDS = 60
#: Most drafts for each requested rule; if they are used up, the difficulty is too narrow.
_MOST_DRAFTS = 200


class Difficulty(BaseModel):
    """Difficulty of drawn rules; each pair is an inclusive range.

    A rule combines ``n_elements`` of ``elements``; ``n_buckets`` accept a movable piece. ``chance``
    is the probability that a random attempt is accepted: at 0.03 a board of nine pieces takes some
    300 of them.

    Raises LeaderboardError for an unknown element, and for a range that is too wide or reversed.
    """

    model_config = ConfigDict(extra="forbid")
    elements: tuple[str, ...] = ELEMENTS
    n_elements: tuple[int, int] = (1, 3)
    n_buckets: tuple[int, int] = (1, 2)
    chance: tuple[float, float] = (0.03, 0.6)

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        for name in self.elements:
            try:
                check_word("element", name, ELEMENTS)
            except UnknownWordError as error:
                raise LeaderboardError(str(error)) from None
        _check_range("n_elements", self.n_elements, 1, 4)
        _check_range("n_buckets", self.n_buckets, 1, N_BUCKETS - 1)
        _check_range("chance", self.chance, 0.001, 0.999)
        return self


def _check_range(name: str, found: tuple[float, float], least: float, most: float) -> None:
    if not least <= found[0] <= found[1] <= most:
        raise LeaderboardError(
            f"field {name!r}: expected a range within {least} to {most}, found {list(found)}"
        )


@dataclass(frozen=True, slots=True)
class DrawnRule:
    """A rule text, and the features that it depends on, in the order of `ELEMENTS`."""

    text: str
    elements: tuple[str, ...]


def generate_rules(
    n_rules: int,
    difficulty: Difficulty | None = None,
    *,
    board_spec: BoardSpec = _BOARDS,
    horizon: int = 100,
    not_like: Collection[RuleSet] = (),
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> list[DrawnRule]:
    """Draw new rules, none of which behaves like a rule of the library or of ``not_like``.

    The same ``rng`` gives the same rules: for hidden rules its seed must not be guessable.
    ``progress`` is called with the number of rules found, and ``n_rules``.

    Raises LeaderboardError if there are not enough rules of this difficulty.
    """
    difficulty = difficulty or Difficulty()
    known = set(_known_behaviours(board_spec))
    known |= {behaviour(rule_set, board_spec) for rule_set in not_like}
    found: list[DrawnRule] = []
    for _ in range(_MOST_DRAFTS * n_rules):
        if len(found) == n_rules:
            break
        draft = _draft(difficulty, board_spec, rng)
        if draft is None:
            continue
        rule_set = parse(draft.text)
        if reason_against(rule_set, difficulty, board_spec=board_spec, horizon=horizon):
            continue
        does = behaviour(rule_set, board_spec)
        if does not in known:
            known.add(does)
            found.append(draft)
            if progress is not None:
                progress(len(found), n_rules)
    if len(found) == n_rules:
        return found
    raise LeaderboardError(
        f"expected {n_rules} rules of this difficulty, found {len(found)} in "
        f"{_MOST_DRAFTS * n_rules} drafts; allow more elements or a wider chance"
    )


def reason_against(
    rule_set: RuleSet,
    difficulty: Difficulty,
    *,
    board_spec: BoardSpec = _BOARDS,
    horizon: int = 100,
) -> str | None:
    """Return why a rule is not suitable for a season; None if it is."""
    try:
        compile_rule(rule_set, board_spec)
    except RuleError as error:
        return str(error)
    knows = _played(rule_set, RulePlayer(rng=np.random.default_rng(0)), board_spec, horizon)
    if (knows.finish == STALEMATE).any():
        return "it can get stuck"
    if (knows.finish != CLEARED).any():
        return f"a player who knows it does not clear a board in {horizon} attempts"
    chance = chance_at_random(rule_set, board_spec, horizon)
    low, high = difficulty.chance
    if not low <= chance <= high:
        return f"an attempt at random is accepted with probability {chance:.3f}"
    # The exhaustive search comes last, since it takes longest.
    search = find_stalemate(
        rule_set,
        shapes=board_spec.shape_palette,
        colors=board_spec.color_palette,
        max_pieces=board_spec.pieces[1],
        max_states=400,
    )
    return None if search.board is None else "it can get stuck"


def chance_at_random(rule_set: RuleSet, board_spec: BoardSpec, horizon: int) -> float:
    """Return the probability that a random attempt is accepted.

    It is the mean over the attempts of a random player; 0 if there were none.
    """
    log = _played(rule_set, Uniform(rng=np.random.default_rng(1)), board_spec, horizon)
    if not log.outcomes.size:
        return 0.0
    return float(chance_of_success(rule_set, log, board_spec=board_spec).mean())


def behaviour(rule_set: RuleSet, board_spec: BoardSpec) -> str:
    """Return a fingerprint of the behaviour of a rule, equal for equivalent rules.

    It is the hash of a game of random attempts on fixed boards, so rules that differ only in rare
    situations may have the same fingerprint.
    """
    log = _played(rule_set, Uniform(rng=np.random.default_rng(2)), board_spec, 60)
    return hashlib.sha256(log.actions.tobytes() + b"|" + log.outcomes.tobytes()).hexdigest()


def _played(rule_set: RuleSet, player: Learner, board_spec: BoardSpec, horizon: int) -> TrialLog:
    boards = _boards(board_spec)
    return play(boards, player, rule_set, horizon=horizon, board_spec=board_spec)


@lru_cache(maxsize=8)
def _boards(board_spec: BoardSpec) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    boards = draw_boards(_N_BOARDS, board_spec, rng=np.random.default_rng(3))
    return boards.reshape(_N_BOARDS, -1)


@lru_cache(maxsize=8)
def _known_behaviours(board_spec: BoardSpec) -> frozenset[str]:
    """Return the fingerprints of the rules of the library, which are public."""
    return frozenset(behaviour(load_rule(name), board_spec) for name in available_rules())


# -- drafts: rules drawn from a grammar of elements ------------------------------------------------


_FEATURES = frozenset({"shape", "color", "place"})
_TURNS = frozenset({"order", "priority", "turns"})
#: A table of more than two features cannot be learned in practice.
_MOST_FEATURES = 2

#: Clauses of an atom, and the buckets of the pieces that meet them.
_Clauses = tuple[str, ...]
_Table = list[tuple[_Clauses, str]]


def _draft(
    difficulty: Difficulty, board_spec: BoardSpec, rng: np.random.Generator
) -> DrawnRule | None:
    """Draw a rule; None if the drawn elements are incompatible."""
    low, high = difficulty.n_elements
    n_elements = int(rng.integers(low, high + 1))
    listed = [name for name in ELEMENTS if name in difficulty.elements]
    if len(listed) < n_elements:
        return None
    chosen = frozenset(str(x) for x in rng.choice(listed, n_elements, replace=False))
    features, who = chosen & _FEATURES, chosen & _TURNS
    if len(who) > 1 or len(features) > _MOST_FEATURES or {"turns", "memory"} <= chosen:
        return None
    if "priority" in chosen and features == _FEATURES:
        return None
    draw = _Draw(difficulty.n_buckets, board_spec, rng)
    lines = _lines(draw, sorted(features), next(iter(who), ""), memory="memory" in chosen)
    text = "\n".join(" ".join(line) for line in lines)
    return DrawnRule(text, tuple(name for name in ELEMENTS if name in chosen))


@dataclass(frozen=True, slots=True)
class _Draw:
    """The random choices, one per method."""

    n_buckets: tuple[int, int]
    spec: BoardSpec
    rng: np.random.Generator

    def pick(self, n: int) -> int:
        return int(self.rng.integers(n))

    def buckets(self, variable: str) -> str:
        """Return buckets; with a variable, as steps from the bucket that it names."""
        low, high = self.n_buckets
        size = int(self.rng.integers(low, high + 1))
        numbers = sorted(int(b) for b in self.rng.choice(N_BUCKETS, size, replace=False))
        if not variable:
            return _listed([str(number) for number in numbers])
        steps = [f"{variable}+{number}" if number else variable for number in numbers]
        # Before there is such a piece, any bucket is accepted.
        return _listed([*steps, f"!{variable}*[0,1,2,3]"])

    def groups(self, feature: str, *, halves: bool) -> list[str]:
        """Return clauses that split all pieces by a feature, into two groups if required."""
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
    """Return the atoms of each line, preceded by the line's count if it has one."""
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
    """Return the buckets of each group: none is empty, and not all groups have the same."""
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


def _partition(group: Callable[[int, int], int]) -> list[list[int]]:
    """Return the cells of each group, by a function of column and row, from 1."""
    parts: dict[int, list[int]] = {}
    for pos in range(1, N_CELLS + 1):
        parts.setdefault(int(group((pos - 1) % 6 + 1, (pos - 1) // 6 + 1)), []).append(pos)
    return [parts[number] for number in sorted(parts)]


def _ring(x: int, y: int) -> int:
    """Return the distance from the four cells in the middle."""
    return max(abs(2 * x - 7), abs(2 * y - 7)) // 2


_PARTITIONS = (
    _partition(lambda x, y: x > 3),  # left, right
    _partition(lambda x, y: y < 4),  # top, bottom
    _partition(lambda x, y: _ring(x, y) == 2),  # inside, at the edge
    _partition(lambda x, y: (x + y) % 2),  # white, black
    _partition(lambda x, y: x % 2 == 0),  # odd, even columns
    _partition(lambda x, y: y % 2 == 0),  # odd, even rows
    _partition(lambda x, y: y <= x),  # above the diagonal or not
    _partition(_ring),
    _partition(lambda x, y: (y <= x) + (y < x)),  # above, on, below the diagonal
    _partition(lambda x, y: (x - 1) // 2),  # pairs of columns
    _partition(lambda x, y: (y > 2) + (y > 4)),  # pairs of rows
    _partition(lambda x, y: 2 * (y < 4) + (x > 3)),  # quadrants
)
