"""Conditions that set apart the boards for training from those for testing.

A condition file is a rule file, read otherwise: a piece *meets* a line if every atom of the line
accepts it, into whichever bucket. A board serves for training if no piece on it meets any line, and
for testing if some piece meets some line.
"""

from __future__ import annotations

from collections.abc import Iterator

from gnomon.game.board import N_CELLS, Board
from gnomon.game.reference import ReferenceGame
from gnomon.rules.syntax import (
    Expression,
    ListOf,
    Number,
    RuleLine,
    RuleSet,
)

__all__ = ["BoardConditions"]


class BoardConditions:
    """What a condition file says.

    Parameters
    ----------
    rule_set : RuleSet
        The file, parsed as a rule.

    Examples
    --------
    >>> from gnomon.game.board import Piece
    >>> from gnomon.rules.parser import parse
    >>> conditions = BoardConditions(parse("(pos:[31,36]) (color:red)"))
    >>> conditions.suits(Board((Piece(0, 31, "STAR", "RED"),)), testing=True)
    True
    >>> conditions.suits(Board((Piece(0, 31, "STAR", "BLUE"),)), testing=True)
    False
    >>> BoardConditions(parse("(pos:[31,36])")).zone
    (31, 36)
    """

    def __init__(self, rule_set: RuleSet) -> None:
        #: The cells that decide, if nothing but cells does; else None.
        self.zone = _zone(rule_set)
        self._lines = [
            [RuleSet((RuleLine((atom,)),), rule_set.orders) for atom in line.atoms]
            for line in rule_set.lines
        ]

    def suits(self, board: Board, *, testing: bool) -> bool:
        """Tell whether a board serves for testing, or for training."""
        return any(_meeting(atoms, board) for atoms in self._lines) == testing


def _meeting(atoms: list[RuleSet], board: Board) -> set[int]:
    """Return the ids of the pieces that every one of the atoms, each a rule, accepts."""
    pieces = {piece.id for piece in board.pieces}
    for atom in atoms:
        if pieces:
            pieces &= {piece_id for piece_id, _ in ReferenceGame(atom, board).legal_moves()}
    return pieces


def _zone(rule_set: RuleSet) -> tuple[int, ...] | None:
    """Return the cells of a file that is one atom with cell numbers and no other condition."""
    if len(rule_set.lines) != 1 or len(rule_set.lines[0].atoms) != 1:
        return None
    (atom,) = rule_set.lines[0].atoms
    others = (atom.shape, atom.color, atom.code, atom.postpos, *atom.properties)
    if len(atom.positions) != 1 or any(each is not None for each in others):
        return None
    places = list(_flat(atom.positions[0]))
    if not all(isinstance(place, Number) for place in places):
        return None
    listed = {place.value for place in places if isinstance(place, Number)}
    return tuple(cell for cell in range(1, N_CELLS + 1) if cell in listed)


def _flat(where: Expression) -> Iterator[Expression]:
    if isinstance(where, ListOf):
        for item in where.items:
            yield from _flat(item)
    else:
        yield where
