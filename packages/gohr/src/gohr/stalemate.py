"""Stalemate search: whether a rule can get stuck, and on which smallest board.

A rule is stuck when pieces are left and no line accepts any of them. Some rules intend this; in
most it is a mistake, and even a learner without errors cannot clear the board.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gnomon.errors import counted
from gnomon.results import generator
from gohr.board import COLORS, N_CELLS, SHAPES, Board, Piece
from gohr.outcomes import STALEMATE
from gohr.reference import Move, ReferenceGame
from gohr.rules.orders import BUILT_IN_ORDERS
from gohr.rules.syntax import Expression, Name, RuleSet, Text
from gohr.rules.variables import FIELDS, cells_in, is_literal, orders_in, variables_of, walk


@dataclass(frozen=True, slots=True)
class StalemateSearch:
    """Result of a search for a stalemate.

    Parameters
    ----------
    board : Board or None
        A board on which the rule can get stuck, with as few pieces as were found to be enough;
        None if no stalemate was found.
    moves : tuple of (piece id, bucket)
        Accepted moves that lead there; empty if the rule is stuck from the start.
    n_pieces_searched : int
        Largest number of pieces for which all boards were searched, up to differences that do not
        affect the rule. A board with one piece more is certainly a smallest one.
    n_boards : int
        Number of boards looked at, the random ones among them.
    """

    board: Board | None
    moves: tuple[Move, ...]
    n_pieces_searched: int
    n_boards: int

    @property
    def is_smallest(self) -> bool:
        """Whether no board with fewer pieces can get stuck."""
        return self.board is not None and len(self.board.pieces) <= self.n_pieces_searched + 1

    def __str__(self) -> str:
        if self.board is None:
            whole = f"all boards of up to {counted(self.n_pieces_searched, 'piece')} and "
            searched = f"{whole if self.n_pieces_searched else ''}{counted(self.n_boards, 'board')}"
            return f"no stalemate found: {searched} in all were searched"
        smallest = "smallest board" if self.is_smallest else "a small board"
        where = {piece.id: piece.pos for piece in self.board.pieces}
        steps = ", then ".join(f"cell {where[i]} to bucket {b}" for i, b in self.moves)
        return f"can get stuck; {smallest}: {self.board}; " + (
            f"after {steps}" if steps else "at once"
        )


def find_stalemate(
    rule_set: RuleSet,
    *,
    shapes: Sequence[str] | None = None,
    colors: Sequence[str] | None = None,
    max_pieces: int = 9,
    max_states: int = 4_000,
    rng: np.random.Generator | int = 0,
) -> StalemateSearch:
    """Search for a board, as small as possible, on which a rule can get stuck.

    Boards of 1, 2, ... pieces are searched exhaustively, up to differences that do not affect the
    rule, as long as `max_states` allows; then random boards of up to `max_pieces` pieces. A board
    found at random is reduced by removing pieces while it still gets stuck.

    Parameters
    ----------
    rule_set : RuleSet
        Any rule for pieces of shape and colour.
    shapes, colors : sequence of str, optional
        Upper-case names of shapes and colours. By default, the default palettes, or the
        names in the rule if it has others.
    max_pieces : int, optional
        Number of pieces on the largest random boards.
    max_states : int, optional
        Number of states of play to look at, at most, in each of the two parts. One takes a
        fraction of a millisecond.
    rng : numpy.random.Generator or int
        Draws the random boards and the moves on them, or is the seed for them; with a seed the
        same rule always gives the same answer.

    Returns
    -------
    StalemateSearch
        With ``board`` None if none was found, which is a proof for boards of
        ``n_pieces_searched`` pieces alone.

    Raises
    ------
    RuleError
        If the rule cannot be played.

    Examples
    --------
    >>> from gohr.rules import parse
    >>> print(find_stalemate(parse("(*,[star,circle,square],*,*,0)")))
    can get stuck; smallest board: red triangle in cell 1; at once
    >>> print(find_stalemate(parse("(1,*,red,*,0) (*,*,[black,blue],*,1) (*,*,yellow,*,2)")).board)
    None
    """
    shapes = shapes or _palette(rule_set, "shape", SHAPES)
    colors = colors or _palette(rule_set, "color", COLORS)
    variables = variables_of(rule_set)
    kinds = [
        (cells, shape, color)
        for cells in _classes_of_cells(rule_set, variables)
        for shape in _representatives(rule_set, "shape", shapes, variables)
        for color in _representatives(rule_set, "color", colors, variables)
    ]
    search = _Search(rule_set, max_states)
    n_boards = n_searched = 0
    try:
        for n_pieces in range(1, max_pieces + 1):
            for board in _boards_of(kinds, n_pieces):
                n_boards += 1
                moves = search.way_to_stalemate(board)
                if moves is not None:
                    return StalemateSearch(board, moves, n_searched, n_boards)
            n_searched = n_pieces
    except _OutOfStates:
        pass
    search = _Search(rule_set, max_states)
    rng = generator(rng)
    for board in _random_boards(shapes, colors, max_pieces, max_states // 20, rng):
        n_boards += 1
        moves = random_way(rule_set, board, rng)
        if moves is not None:
            board, moves = _shrink(search, board, moves)
            return StalemateSearch(board, moves, n_searched, n_boards)
    return StalemateSearch(None, (), n_searched, n_boards)


# -- pieces that the rule distinguishes -----------------------------------------------------------

#: Pieces that a rule treats alike: the equivalent cells, and one shape and color.
_Kind: TypeAlias = tuple[tuple[int, ...], str, str]


def _palette(rule_set: RuleSet, key: str, usual: Sequence[str]) -> Sequence[str]:
    """Return the usual names, unless the rule names others."""
    mentioned = _mentioned(rule_set, key)
    return usual if mentioned <= set(usual) else sorted(mentioned)


def _clauses(rule_set: RuleSet, key: str) -> list[Expression]:
    """Return the conditions of a rule on the shape or the color."""
    clauses = (getattr(atom, key) for line in rule_set.lines for atom in line.atoms)
    return [clause for clause in clauses if clause is not None]


def _mentioned(rule_set: RuleSet, key: str) -> set[str]:
    return {
        str(node).strip('"').upper()
        for clause in _clauses(rule_set, key)
        if is_literal(clause)
        for node in walk(clause)
        if isinstance(node, Name | Text)
    }


def _representatives(
    rule_set: RuleSet, key: str, names: Sequence[str], variables: Iterable[str]
) -> list[str]:
    """Return the names in the rule, and enough of the others to represent all."""
    whole = ({"shape": "ps", "color": "pc"}[key], "this", "last")
    compared = any(v in whole or key in v.split(".") for v in variables)
    if compared or not all(map(is_literal, _clauses(rule_set, key))):
        return list(names)
    mentioned = _mentioned(rule_set, key)
    others = [name for name in names if name not in mentioned]
    return [name for name in names if name in mentioned] + others[:1]


def _classes_of_cells(rule_set: RuleSet, variables: frozenset[str]) -> list[tuple[int, ...]]:
    """Return the cells, grouped by the rule's equivalence."""
    cells = range(1, N_CELLS + 1)
    if any("pos" in variable.split(".") for variable in variables):
        return [(cell,) for cell in cells]
    places = [
        where
        for line in rule_set.lines
        for atom in line.atoms
        for where in (*atom.positions, *([atom.postpos] if atom.postpos is not None else []))
    ]
    orders = {**BUILT_IN_ORDERS, **{order.name: order.ranks for order in rule_set.orders}}
    quadrants = bool(variables & {"Nearby", "Remotest"})

    def seen(cell: int) -> tuple[object, ...]:
        in_numbers = tuple(cell in cells_in(where) for where in places)
        in_orders = tuple(
            next((i for i, rank in enumerate(orders.get(order.value, ())) if cell in rank), None)
            for where in places
            for order in orders_in(where)
        )
        quadrant = ((cell - 1) % 6 < 3, cell <= 18) if quadrants else ()
        return in_numbers, in_orders, quadrant

    alike = itertools.groupby(sorted(cells, key=lambda c: repr(seen(c))), key=seen)
    return sorted(tuple(sorted(group)) for _, group in alike)


def _boards_of(kinds: Sequence[_Kind], n_pieces: int) -> Iterator[Board]:
    """Yield one board for each choice of kinds that fits on it, one piece in a cell."""
    for chosen in itertools.combinations_with_replacement(kinds, n_pieces):
        free = {cells: iter(cells) for cells, _, _ in chosen}
        placed = [(next(free[cells], 0), shape, color) for cells, shape, color in chosen]
        if all(cell for cell, _, _ in placed):
            yield _board(sorted(placed))


def _board(placed: Sequence[tuple[int, str, str]]) -> Board:
    return Board(tuple(Piece(number, *each) for number, each in enumerate(placed)))


# -- playing ---------------------------------------------------------------------------------------


class _OutOfStates(Exception):  # noqa: N818 - ends a search, reports no error
    """The search has reached its maximum number of states."""


class _Search:
    """A search through all that can be played on a board, with a limit for all boards together."""

    def __init__(self, rule_set: RuleSet, max_states: int) -> None:
        self.rule_set = rule_set
        self._states_left = max_states
        # A rule that has no memory is in the same state whichever way it came there.
        visible = {"Nearby", "Remotest", *(f"this.{field}" for field in FIELDS)}
        self._forgets = variables_of(rule_set) <= visible

    def way_to_stalemate(self, board: Board) -> tuple[Move, ...] | None:
        """Try all accepted moves, the shortest ways first; None if none leads to a stalemate."""
        waiting: list[tuple[ReferenceGame, tuple[Move, ...]]] = []
        waiting.append((ReferenceGame(self.rule_set, board), ()))
        seen: set[object] = set()
        for game, moves in waiting:
            if game.finish == STALEMATE:
                return moves
            if self._states_left <= 0:
                raise _OutOfStates
            self._states_left -= 1
            for move in game.legal_moves():
                following = game.copy()
                following.attempt(*move)
                state = self._state(following)
                if state not in seen:
                    seen.add(state)
                    waiting.append((following, (*moves, move)))
        return None

    def _state(self, game: ReferenceGame) -> object:
        left = tuple(piece.id for piece in game.pieces)
        memory = () if self._forgets else game.memory
        return left, game.finish, game.line, game.counters(), memory


def random_way(
    rule_set: RuleSet, board: Board, rng: np.random.Generator | int = 0
) -> tuple[Move, ...] | None:
    """Play accepted moves at random to the end.

    Examples
    --------
    >>> import gohr
    >>> board = Board((Piece(0, 1, "STAR", "RED"), Piece(1, 2, "SQUARE", "RED")))
    >>> random_way(gohr.parse("(shape:star, bucket:0)"), board)
    ((0, 0),)
    """
    game, rng = ReferenceGame(rule_set, board), generator(rng)
    moves: list[Move] = []
    while legal := game.legal_moves():
        moves.append(legal[int(rng.integers(len(legal)))])
        game.attempt(*moves[-1])
    return tuple(moves) if game.finish == STALEMATE else None


def _random_boards(
    shapes: Sequence[str],
    colors: Sequence[str],
    max_pieces: int,
    n_boards: int,
    rng: np.random.Generator,
) -> Iterator[Board]:
    for _ in range(n_boards):
        n_pieces = rng.integers(1, max_pieces + 1)
        cells = np.sort(rng.choice(N_CELLS, n_pieces, replace=False)) + 1
        looks = [(str(rng.choice(shapes)), str(rng.choice(colors))) for _ in cells]
        yield _board([(int(c), *look) for c, look in zip(cells, looks, strict=True)])


def _shrink(
    search: _Search, board: Board, moves: tuple[Move, ...]
) -> tuple[Board, tuple[Move, ...]]:
    """Remove pieces one by one while the rule can still get stuck and the search may continue."""
    try:
        while True:
            placed = [(p.pos, p.shape or "", p.color or "") for p in board.pieces]
            for k in range(len(placed)):
                fewer = _board(placed[:k] + placed[k + 1 :])
                way = search.way_to_stalemate(fewer)
                if way is not None:
                    board, moves = fewer, way
                    break
            else:
                return board, moves
    except _OutOfStates:
        return board, moves
