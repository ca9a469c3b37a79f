"""Equivalence of two rules: whether they accept the same attempts on all boards of a kind.

Two cases are certain: the rules are equivalent if their compiled tables are equal in normal form,
and different if a play is found in which only one rule accepts an attempt. Otherwise the answer
is limited to the boards and plays that were searched.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_count
from gnomon.results import generator
from gohr.board import (
    DEFAULT_SPEC,
    N_BUCKETS,
    N_CELLS,
    Board,
    BoardSpec,
    draw_boards,
    nearest_bucket,
)
from gohr.engine.boards import Boards
from gohr.engine.compiler import CompiledRule, compile_rule
from gohr.outcomes import IN_PROGRESS, RESET
from gohr.rules.parser import parse
from gohr.rules.syntax import RuleSet

_Codes: TypeAlias = npt.NDArray[np.uint8]
#: Buckets that a line accepts as bits, by piece, cell, and last buckets p, pc, ps (0 for none).
_Accepts: TypeAlias = npt.NDArray[np.uint8]

#: Boards played side by side; and states of play in which small boards are searched whole.
_TOGETHER, _MOST_STATES = 2_000, 60_000
_QUADRANTS = [nearest_bucket(1 + cell) for cell in range(N_CELLS)]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether two rules accept the same attempts, and how that is known; true if they do.

    Parameters
    ----------
    equivalent : bool
        False if a difference was found.
    exact : bool
        Whether that is certain for all boards: by equal tables, or by a difference. If not, it
        holds for the plays that were searched.
    board : Board or None
        A board on which they differ, with as few pieces as were found to be enough.
    moves : tuple of (cell, bucket)
        Moves that both accept, after which they differ; cells from 1.
    attempt : (cell, bucket) or None
        The attempt that one of them then accepts, and the other does not.
    accepted_by : {"a", "b"} or None
        Which one accepts it.
    n_pieces_searched : int
        Largest number of pieces for which all plays on all boards were searched.
    n_boards : int
        Number of boards looked at, those drawn at random included.
    """

    equivalent: bool
    exact: bool
    board: Board | None = None
    moves: tuple[tuple[int, int], ...] = ()
    attempt: tuple[int, int] | None = None
    accepted_by: str | None = None
    n_pieces_searched: int = 0
    n_boards: int = 0

    def __bool__(self) -> bool:
        return self.equivalent

    @property
    def is_smallest(self) -> bool:
        """Whether no board of the kind with fewer pieces distinguishes the rules."""
        return self.board is not None and len(self.board.pieces) <= self.n_pieces_searched + 1

    def __str__(self) -> str:
        if self.board is None or self.attempt is None:
            if self.exact:
                return "equivalent: their tables are identical"
            return (
                f"no difference found: all boards of up to {self.n_pieces_searched} pieces and "
                f"{self.n_boards} boards in all were searched"
            )
        steps = ", then ".join(f"cell {cell} to bucket {b}" for cell, b in self.moves)
        cell, bucket = self.attempt
        return (
            f"different; {'smallest board' if self.is_smallest else 'a board'}: {self.board}; "
            f"{f'after {steps} ' if steps else ''}only {self.accepted_by} accepts cell {cell} to "
            f"bucket {bucket}"
        )


def equivalent(
    a: RuleSet | str,
    b: RuleSet | str,
    spec: BoardSpec = DEFAULT_SPEC,
    *,
    n_boards: int = 10_000,
    rng: np.random.Generator | int = 0,
) -> Equivalence:
    """Decide whether two rules accept the same attempts on all boards of a specification.

    Rules whose tables come to the same form are equivalent; the form leaves out the order of atoms
    without counts, atoms that others cover, and, of a rule of one line, states of the memory that
    no play can reach. Otherwise a difference is searched for: on all boards of the fewest pieces,
    with every play, as long as there are at most 60,000 states, and then on boards drawn at random
    with moves drawn at random.

    Parameters
    ----------
    a, b : RuleSet or str
        Rules, or their texts.
    spec : BoardSpec
        Which boards there are.
    n_boards : int
        Number of random boards, at least 0.
    rng : numpy.random.Generator or int
        Draws the boards and moves, or is the seed for them.

    Returns
    -------
    Equivalence
        Its truth value is whether they are equivalent.

    Raises
    ------
    RuleSyntaxError
        If a text does not parse.
    RuleError
        If a rule cannot be played.
    ValueError
        If `n_boards` is negative.

    Notes
    -----
    A play continues as long as both rules accept the same attempts, so their behaviour after a
    difference is irrelevant. A board that is stuck is stuck for both.

    Examples
    --------
    >>> print(equivalent("(*,*,*,*,0)", "(*,*,*,[1,2],0)", BoardSpec((1, 9), 0, 0)))
    different; smallest board: red square in cell 3; only a accepts cell 3 to bucket 0
    >>> equivalent("(*,star,*,*,0) (*,*,red,*,1)", "(*,*,red,*,1) (*,star,*,*,[0])").exact
    True
    """
    check_count("n_boards", n_boards, 0)
    trees = [parse(rule) if isinstance(rule, str) else rule for rule in (a, b)]
    rules = [compile_rule(tree, spec) for tree in trees]
    if _have_one_form(*rules):
        return Equivalence(True, True)
    pair = _Pair(rules, spec)
    n_looked, n_searched = 0, spec.pieces[0] - 1
    for n_pieces in range(spec.pieces[0], spec.pieces[1] + 1):
        if _n_states(n_pieces, spec) > _MOST_STATES:
            break
        boards = np.array([*_boards_of(n_pieces, spec)], dtype=np.uint8).reshape(-1, N_CELLS)
        n_looked += len(boards)
        found = pair.difference(boards)
        if found is not None:
            return pair.told(*found, n_searched, n_looked)
        n_searched = n_pieces
    rng, exact = generator(rng), n_searched == spec.pieces[1]
    left = 0 if exact else n_boards
    while left > 0:
        some = draw_boards(min(left, _TOGETHER), spec, rng=rng)
        left, n_looked = left - len(some), n_looked + len(some)
        found = pair.difference(some, rng)
        if found is not None:
            return pair.told(*found, n_searched, n_looked)
    return Equivalence(True, exact, n_pieces_searched=n_searched, n_boards=n_looked)


#: A board and the moves after which two rules differ, as actions from 0 to 143.
_Found: TypeAlias = tuple[_Codes, list[int]]


class _Pair:
    """Two rules, played side by side on the same boards."""

    def __init__(self, rules: list[CompiledRule], spec: BoardSpec) -> None:
        self._rules, self._spec = rules, spec

    def difference(self, boards: _Codes, rng: np.random.Generator | None = None) -> _Found | None:
        """Return one of the shortest plays on some boards after which the rules differ.

        All plays are searched; with a generator, one on each board, of random moves.
        """
        plays: list[_Found] = [(board, []) for board in boards]
        while plays:
            after: list[_Found] = []
            for first in range(0, len(plays), _TOGETHER):
                some = plays[first : first + _TOGETHER]
                masks, on = self._after(some)
                for play, mask in zip(some, masks[0] != masks[1], strict=True):
                    if mask.any():
                        return play
                moves = masks[0] != 0
                if rng is not None:
                    drawn = (rng.random(moves.shape) * moves).argmax(axis=1)
                    moves = np.eye(moves.shape[1], dtype=np.bool_)[drawn]
                for (board, made), mask, goes_on in zip(some, moves, on, strict=True):
                    if goes_on:
                        after += [(board, [*made, int(k)]) for k in np.flatnonzero(mask)]
            plays = after
        return None

    def told(self, board: _Codes, moves: list[int], n_searched: int, n_looked: int) -> Equivalence:
        """Return the result of a search."""
        masks, _ = self._after([(board, moves)])
        action = int(np.flatnonzero(masks[0][0] != masks[1][0])[0])
        return Equivalence(
            False,
            True,
            Board.from_codes(board.tolist(), self._spec),
            tuple(_place(move) for move in moves),
            _place(action),
            "a" if masks[0][0, action] else "b",
            n_searched,
            n_looked,
        )

    def _after(
        self, plays: list[_Found]
    ) -> tuple[list[npt.NDArray[np.int8]], npt.NDArray[np.bool_]]:
        """Return what each rule accepts after some plays of the same length, and which go on."""
        boards = np.stack([board for board, _ in plays])
        players = [self._player(k, boards) for k in range(2)]
        for step in range(len(plays[0][1])):
            for player in players:
                player.advance([moves[step] for _, moves in plays], boards)
        on = players[0].finish == IN_PROGRESS
        return [player.permitted() for player in players], on

    def _player(self, k: int, boards: _Codes) -> Boards:
        player = Boards.empty(self._rules[k], len(boards))
        player.advance(RESET, boards)
        return player


class _Form(NamedTuple):
    """The meaning of a rule line."""

    line_count: int
    #: Atoms with counts or further conditions, in their order if there are counts.
    others: list[tuple[object, ...]]
    #: Moves of the other atoms.
    plain: _Accepts


def _form(rule: CompiledRule, k: int) -> _Form:
    """Bring a line of a rule to its form, regardless of the order of its atoms."""
    first, stop, count = rule.lines[k].tolist()
    n_pieces = rule.n_shapes * rule.n_colors
    plain = np.zeros((n_pieces, N_CELLS, 5, 5, 5), dtype=np.uint8)
    others: list[tuple[object, ...]] = []
    metered = bool((rule.counts[first:stop] >= 0).any())
    for atom in range(first, stop):
        tables, further = rule.atoms[atom], rule.conditions[atom]
        if metered or further is not None:
            orders = rule.orders.tobytes() if further is not None else b""
            others.append((tables.tobytes(), int(rule.counts[atom]), repr(further), orders))
            continue
        pieces, cells = tables[:n_pieces], tables[n_pieces : n_pieces + N_CELLS]
        buckets = tables[n_pieces + N_CELLS :].reshape(5, 5, 5, N_BUCKETS)
        there = np.moveaxis(buckets[..., _QUADRANTS], -1, 0)
        plain |= (pieces[:, None] & cells)[:, :, None, None, None] & there
    return _Form(count, others if metered else sorted(set(others), key=repr), plain)


def _have_one_form(a: CompiledRule, b: CompiledRule) -> bool:
    """Return whether the tables of two rules come to the same form."""
    one, other = ([_form(rule, k) for k in range(len(rule.lines))] for rule in (a, b))
    if [(x.line_count, x.others) for x in one] != [(x.line_count, x.others) for x in other]:
        return False
    if len(one) == 1 and one[0].line_count < 0 and not one[0].others:
        return _alike_where_reachable(one[0].plain, other[0].plain)
    return all(np.array_equal(x.plain, y.plain) for x, y in zip(one, other, strict=True))


def _alike_where_reachable(a: _Accepts, b: _Accepts) -> bool:
    """Return whether two lines accept the same in all states that a play may reach.

    After the first move the last buckets are any that the lines accept, or none for a color or a
    shape. Some of these states may be unreachable.
    """
    reached = np.zeros((5, 5, 5), dtype=np.bool_)
    after = reached.copy()
    after[0, 0, 0] = True
    while (after != reached).any():
        reached = after.copy()
        accepted = int(np.bitwise_or.reduce(a[..., reached], axis=None))
        last = [1 + bucket for bucket in range(N_BUCKETS) if accepted >> bucket & 1]
        after[np.ix_(last, [0, *last], [0, *last])] = True
    return np.array_equal(a[..., reached], b[..., reached])


def _place(action: int) -> tuple[int, int]:
    return action // N_BUCKETS + 1, action % N_BUCKETS


def _n_states(n_pieces: int, spec: BoardSpec) -> int:
    """Return an upper bound on the number of plays on boards with this number of pieces."""
    n_boards: int = math.comb(N_CELLS, n_pieces) * (spec.n_codes - 1) ** n_pieces
    plays: list[int] = [math.perm(n_pieces, n) * N_BUCKETS**n for n in range(n_pieces)]
    return n_boards * sum(plays)


def _boards_of(n_pieces: int, spec: BoardSpec) -> Iterator[_Codes]:
    """Yield every board with this number of pieces that the specification allows."""
    for cells in itertools.combinations(range(N_CELLS), n_pieces):
        for codes in itertools.product(range(1, spec.n_codes), repeat=n_pieces):
            board = np.zeros(N_CELLS, dtype=np.uint8)
            board[list(cells)] = codes
            if _is_of(board, spec):
                yield board


def _is_of(board: _Codes, spec: BoardSpec) -> bool:
    """Return whether a board can be drawn."""
    codes = board[board > 0].astype(int) - 1
    shapes, colors = divmod(codes, len(spec.color_palette))
    bounds = (
        (len(codes), spec.pieces, False),
        (len(set(shapes.tolist())), spec.shapes, True),
        (len(set(colors.tolist())), spec.colors, True),
    )
    return all((free and high == 0) or low <= n <= high for n, (low, high), free in bounds)
