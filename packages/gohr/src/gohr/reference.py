"""One board, one attempt at a time, straight from the tree of the rule: slow, obvious, complete.

This module defines the meaning of the rule language. It plays everything that parses, with pieces
of any kind, and the engine is tested against it; the two share no code. ⚠ marks behaviour of the
reference game server that its documentation omits or contradicts.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from gnomon.errors import UnknownNameError
from gohr.board import N_BUCKETS, Board, Piece
from gohr.errors import RuleError
from gohr.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    STALEMATE,
)
from gohr.rules.expressions import PieceRecord, Scope, Values, evaluate, integer_of
from gohr.rules.orders import BUILT_IN_ORDERS, Ranks, eligible
from gohr.rules.syntax import Atom, Expression, ListOf, Name, Number, Property, Range, RuleSet, Text

# Codes of an attempt that the engine cannot meet.
NO_SUCH_PIECE = -10
SEVERAL_PIECES = -11

#: A piece's id and a bucket.
Move = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AcceptedMove:
    """A piece that has left the board, and the bucket that it went to."""

    piece: Piece
    bucket: int


class ReferenceGame:
    r"""An episode: a rule, a board, and the moves accepted so far.

    Parameters
    ----------
    rule_set : RuleSet
        Any rule that parses.
    board : Board
        Pieces with distinct ids. A cell may hold several ("crowded").

    Attributes
    ----------
    line : int
        Index of the active rule line, from 0. At a stalemate, the line at which the search for a
        line with a move began.
    finish : int
        0 going on, 1 cleared, 2 stalemate. A board without pieces is cleared from the start, and a
        stalemate can exist before the first move.
    n_attempts : int
        Moves, denials and picks so far. An attempt on no piece, or after the end, does not count.

    Raises
    ------
    RuleError
        Where the reference server crashes: an undefined order, arithmetic on a name. Both show only
        when an atom must really be tested, here or after a move.

    Examples
    --------
    >>> from gohr.rules import parse
    >>> rule = parse("(1,*,*,*,[0,1]) \n (*,*,*,*,p+2)")
    >>> board = Board((Piece(0, 8, "STAR", "RED"), Piece(1, 29, "CIRCLE", "BLUE")))
    >>> game = ReferenceGame(rule, board)
    >>> game.legal_moves()
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> game.attempt(0, 2), game.attempt_at(8, 1), game.legal_moves(), game.counters()
    (4, 0, [(1, 3)], '* / *')
    >>> game.attempt_at(8, 3), game.attempt(1, 3), game.finish
    (3, 0, 1)
    """

    def __init__(self, rule_set: RuleSet, board: Board) -> None:
        self._rule_set = rule_set
        self._orders = {**BUILT_IN_ORDERS, **{o.name: o.ranks for o in rule_set.orders}}
        self._pieces = {piece.id: piece for piece in board.pieces}
        self._accepted: list[AcceptedMove] = []
        self.n_attempts = 0
        self.finish = IN_PROGRESS
        self.line = 0
        self._line_count: int | None = None
        self._atom_counts: list[int | None] = []
        #: Moves that each atom of the active line accepts now.
        self._moves: list[set[Move]] = []
        if self._pieces:
            self._find_line(0)
        else:
            self._enter(0)
            self.finish = CLEARED

    def copy(self) -> ReferenceGame:
        """Return a game in the same state, to try a move on."""
        twin = copy.copy(self)
        twin._pieces = dict(self._pieces)
        twin._accepted = list(self._accepted)
        twin._atom_counts = list(self._atom_counts)
        return twin

    # -- observations -----------------------------------------------------------------------------

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces that are left, in the order of the board."""
        return tuple(self._pieces.values())

    @property
    def memory(self) -> tuple[AcceptedMove, ...]:
        """All accepted moves, the first one first. Rejections and picks leave no trace."""
        return tuple(self._accepted)

    @property
    def last_accepted(self) -> AcceptedMove | None:
        """The last accepted move, if there is one."""
        return self._accepted[-1] if self._accepted else None

    def counters(self) -> str:
        """Return the counters of the active line: ``line / atom,atom,...``, ``*`` if unmetered."""
        atoms = ",".join(_shown(count) for count in self._atom_counts)
        return f"{_shown(self._line_count)} / {atoms}"

    def legal_moves(self) -> list[Move]:
        """Return (piece id, bucket) of every attempt that would be accepted now, sorted."""
        return sorted(set().union(*self._moves)) if self.finish == IN_PROGRESS else []

    # -- attempts --------------------------------------------------------------------------------

    def attempt(self, piece_id: int, bucket: int) -> int:
        """Try to move a piece into a bucket, and return the code of the outcome.

        Parameters
        ----------
        piece_id : int
            Id of a piece on the board.
        bucket : int
            0 to 3.

        Returns
        -------
        int
            0 accepted; 4 denied (the piece can be moved, but not there); 7 the piece cannot be
            moved at all now; -10 no such piece; -4 the episode is over.
        """
        if bucket not in range(N_BUCKETS):
            raise ValueError(f"expected a bucket from 0 to 3, found {bucket}")
        code = self._address(piece_id)
        if code != ACCEPTED:
            return code
        self.n_attempts += 1
        accepting = self._accepting(piece_id, bucket)
        if not accepting:
            return DENIED if self._is_movable(piece_id) else IMMOVABLE
        self._accept(piece_id, bucket, accepting)
        return ACCEPTED

    def follow(self, piece_id: int, bucket: int) -> None:
        """Carry out a move that was accepted by another rule, whether or not this one accepts it.

        A move that this rule would refuse leaves its counters as they are. A stalemate ends if the
        rule has a move on what is left.
        """
        self._accept(piece_id, bucket, self._accepting(piece_id, bucket))

    def attempt_at(self, pos: int, bucket: int) -> int:
        """Try to move the piece in a cell; also 3 for an empty cell, -11 for several pieces."""
        return self._at_cell(pos, lambda piece_id: self.attempt(piece_id, bucket))

    def pick(self, piece_id: int) -> int:
        """Name a piece without a bucket: 0 if it can be moved now, 7 if not. Changes nothing.

        A pick counts as an attempt. The other codes are those of :meth:`attempt`.
        """
        code = self._address(piece_id)
        if code != ACCEPTED:
            return code
        self.n_attempts += 1
        return ACCEPTED if self._is_movable(piece_id) else IMMOVABLE

    def pick_at(self, pos: int) -> int:
        """Pick the piece in a cell; also 3 for an empty cell, -11 for several pieces."""
        return self._at_cell(pos, self.pick)

    def _accepting(self, piece_id: int, bucket: int) -> list[int]:
        """Return the atoms of the active line that accept a move."""
        return [i for i, moves in enumerate(self._moves) if (piece_id, bucket) in moves]

    def _address(self, piece_id: int) -> int:
        """Return 0 if a piece can be spoken to, else why not."""
        if self.finish != IN_PROGRESS:
            return EPISODE_OVER
        return ACCEPTED if piece_id in self._pieces else NO_SUCH_PIECE

    def _at_cell(self, pos: int, act: Callable[[int], int]) -> int:
        """Do something with the piece in a cell, if there is exactly one."""
        here = [piece.id for piece in self._pieces.values() if piece.pos == pos]
        if self.finish != IN_PROGRESS:
            return EPISODE_OVER
        if not here:
            return EMPTY_CELL
        return act(here[0]) if len(here) == 1 else SEVERAL_PIECES

    def _is_movable(self, piece_id: int) -> bool:
        return any(mover == piece_id for mover, _ in self.legal_moves())

    # -- the cycle -------------------------------------------------------------------------------

    def _accept(self, piece_id: int, bucket: int, accepting: list[int]) -> None:
        """Carry a move out: counters, memory, board, and perhaps another line."""
        # Every atom that accepts the move pays for it, not the first one alone.
        for index in accepting:
            self._atom_counts[index] = _less(self._atom_counts[index])
        if accepting:
            self._line_count = _less(self._line_count)
        self._accepted.append(AcceptedMove(self._pieces.pop(piece_id), bucket))
        if not self._pieces:
            self.finish = CLEARED
            self._moves = []
            return
        # ⚠ Lines switch eagerly, right after the move, not at the next attempt that is refused. So
        # a stalemate is announced together with the move that led to it.
        self.finish = IN_PROGRESS
        self._look()
        if self._is_done():
            self._find_line((self.line + 1) % len(self._rule_set.lines))

    def _find_line(self, first: int) -> None:
        """Enter one line after the other, cyclically, until one has a move; else a stalemate."""
        n_lines = len(self._rule_set.lines)
        for step in range(n_lines):
            self._enter((first + step) % n_lines)
            if not self._is_done():
                return
        self.line = first
        self.finish = STALEMATE

    def _enter(self, line: int) -> None:
        """Make a line active, with fresh counters."""
        self.line = line
        self._line_count = self._rule_set.lines[line].count
        self._atom_counts = [atom.count for atom in self._rule_set.lines[line].atoms]
        self._look()

    def _is_done(self) -> bool:
        """Return whether the active line is exhausted, or accepts nothing on this board."""
        return self._is_exhausted() or not any(self._moves)

    def _is_exhausted(self) -> bool:
        # One unmetered atom keeps a line from ever being exhausted by its atoms.
        return self._line_count == 0 or all(count == 0 for count in self._atom_counts)

    # -- acceptance ------------------------------------------------------------------------------

    def _look(self) -> None:
        """Note for each atom of the active line which moves it accepts now."""
        atoms = self._rule_set.lines[self.line].atoms
        self._moves = [
            set() if self._is_exhausted() or count == 0 else self._acceptable(atom)
            for atom, count in zip(atoms, self._atom_counts, strict=True)
        ]

    def _acceptable(self, atom: Atom) -> set[Move]:
        """Return the moves that an atom accepts, its counter aside."""
        moves = {
            (piece.id, bucket)
            for piece in self._pieces.values()
            for bucket in range(N_BUCKETS)
            if self._accepts(atom, piece, bucket)
        }
        if atom.postpos is None:
            return moves
        # An order in postpos looks at the pieces that this atom would move, not at all pieces.
        cell = {piece_id: self._pieces[piece_id].pos for piece_id, _ in moves}
        movable = frozenset(cell.values())
        return {
            (piece_id, bucket)
            for piece_id, bucket in moves
            if self._allows_cell(atom.postpos, cell[piece_id], movable)
        }

    def _accepts(self, atom: Atom, piece: Piece, bucket: int) -> bool:
        """Evaluate the conditions in the reference's order, which decides those skipped."""
        # Each bucket is tried by itself, for `this.bucket` and `q.bucket` depend on it.
        scope = self._scope(piece, bucket)
        # ⚠ A condition holds when it has any value at all: `code:0` does.
        if atom.code is not None and not evaluate(atom.code, scope):
            return False
        if not (
            _has(piece, "shape", atom.shape, scope)
            and _has(piece, "color", atom.color, scope)
            and all(_has_property(piece, each, scope) for each in atom.properties)
        ):
            return False
        # An order ranks all pieces on the board, movable or not, by any atom.
        occupied = frozenset(other.pos for other in self._pieces.values())
        if not all(self._allows_cell(where, piece.pos, occupied) for where in atom.positions):
            return False
        if atom.buckets is None:
            return True
        # A value that is not an integer is not a bucket; negative ones count backwards from 0.
        allowed = evaluate(atom.buckets, scope)
        return bucket in {value % N_BUCKETS for value in allowed if isinstance(value, int)}

    def _allows_cell(self, where: Expression, cell: int, cells: frozenset[int]) -> bool:
        """Test a cell against numbers and orders; one match is enough."""
        places = list(_flat(where))
        # Numbers come first: if one matches, an undefined order is not even looked up.
        if any(place.value == cell for place in places if isinstance(place, Number)):
            return True
        names = [str(place).strip('"') for place in places if not isinstance(place, Number)]
        return any(cell in eligible(self._ranks(name), cells) for name in names)

    def _ranks(self, name: str) -> Ranks:
        """Return the ranks of an order. ⚠ That it does not exist is noticed only here."""
        if name not in self._orders:
            raise RuleError(str(UnknownNameError("order", name, self._orders)))
        return self._orders[name]

    # -- variables -------------------------------------------------------------------------------

    def _scope(self, piece: Piece, bucket: int) -> Scope:
        """Return the values of the variables of an expression for one piece and one bucket."""
        this = _record(piece, bucket)

        def latest(field: str) -> AcceptedMove | None:
            """Find the last accepted move of a piece that shares a field with this one."""
            value = this.field(field)
            if value is None:
                return None
            records = ((move, _record(move.piece, move.bucket)) for move in self._accepted[::-1])
            return next((move for move, past in records if past.field(field) == value), None)

        def scope(name: str) -> Values:
            owner, _, field = _ABBREVIATIONS.get(name, name).partition(".")
            match owner:
                case "this" if not field:
                    return frozenset({this})
                case "last" if not field:
                    return _of_move(self.last_accepted)
                case "p":
                    move = latest(field) if field else self.last_accepted
                    return frozenset({move.bucket} if move else ())
                case "q" if field:
                    return _of_move(latest(field))
                # The paper writes these in lower case; ⚠ that would be an undefined variable.
                case "Nearby" if not field:
                    return frozenset({_nearby(piece)})
                case "Remotest" if not field:
                    return frozenset({(_nearby(piece) + 2) % N_BUCKETS})
            return frozenset()

        return scope


_ABBREVIATIONS = {"pc": "p.color", "ps": "p.shape"}


def _record(piece: Piece, bucket: int) -> PieceRecord:
    """Return a piece for use in expressions. Its own `pos` and `bucket`, if any, are hidden."""
    if piece.properties is None:
        named = {"shape": piece.shape or "", "color": piece.color or ""}
    else:
        named = dict(piece.properties)
    fields: dict[str, int | str] = {}
    for key, text in named.items():
        number = integer_of(text)
        fields[key] = text if number is None else number
    return PieceRecord(frozenset({**fields, "pos": piece.pos, "bucket": bucket}.items()))


def _of_move(move: AcceptedMove | None) -> Values:
    return frozenset() if move is None else frozenset({_record(move.piece, move.bucket)})


def _nearby(piece: Piece) -> int:
    """Return the bucket in the corner of the piece's quadrant."""
    if piece.y >= 4:
        return 0 if piece.x <= 3 else 1
    return 3 if piece.x <= 3 else 2


def _flat(where: Expression) -> Iterator[Expression]:
    """List the cells and names of a position field, which may be a list of lists."""
    if isinstance(where, ListOf):
        for item in where.items:
            yield from _flat(item)
    else:
        yield where


def _less(count: int | None) -> int | None:
    return count - 1 if count else count


def _shown(count: int | None) -> str:
    return "*" if count is None else str(count)


# -- a piece against an atom -----------------------------------------------------------------------


def _has_property(piece: Piece, clause: Property, scope: Scope) -> bool:
    """Return whether the clause allows a further property."""
    if piece.properties is None:
        # ⚠ A piece of shape and colour passes any condition on a property that it does not have.
        return True
    return _matches_string(piece.properties.get(clause.key), clause.value, scope)


def _has(
    piece: Piece, key: Literal["shape", "color"], clause: Expression | None, scope: Scope
) -> bool:
    """Return whether a clause allows the shape or the colour; None allows all.

    A piece of shape and colour is identified by two names, whose case does not matter; a piece with
    properties by strings, whose case does.
    """
    if clause is None:
        return True
    if piece.properties is not None:
        return _matches_string(piece.properties.get(key), clause, scope)
    return _matches_name(getattr(piece, key) or "", clause, scope)


def _matches_name(name: str, clause: Expression, scope: Scope) -> bool:
    """Match an upper-case name."""
    items = clause.items if isinstance(clause, ListOf) else (clause,)
    literals = _literals(items)
    if literals is None:
        return name in _strings(clause, scope)
    if any(isinstance(item, Number) for item in items):
        # ⚠ A list with a number in it is kept as it is spelt: [red,3] never matches RED.
        return name in literals
    return name in {literal.upper() for literal in literals}


def _matches_string(value: str | None, clause: Expression | Range, scope: Scope) -> bool:
    """Match the value of a property, None if the piece does not have it."""
    if value is None:
        return False
    if isinstance(clause, Range):
        number = integer_of(value)
        return number is not None and clause.low <= number <= clause.high
    if clause == Text("*"):
        return True
    literals = _literals(clause.items if isinstance(clause, ListOf) else (clause,))
    return value in (_strings(clause, scope) if literals is None else literals)


def _literals(items: tuple[Expression, ...]) -> set[str] | None:
    """Return what a clause of plain names, strings and numbers lists; None for any other."""
    literals: set[str] = set()
    for item in items:
        match item:
            case Name(parts=(word,)) | Text(value=word):
                literals.add(word)
            case Number(value=number):
                literals.add(str(number))
            case _:
                return None
    return literals


def _strings(clause: Expression, scope: Scope) -> set[str]:
    """Return the values of an expression as they are spelt; pieces are spelt like no name."""
    return {str(v) for v in evaluate(clause, scope) if not isinstance(v, PieceRecord)}
