"""Matching a piece against an atom: its shape, its colour, its other properties.

A piece of shape and colour is identified by two names, whose case does not matter. A piece with
properties is identified by strings, whose case does.
"""

from __future__ import annotations

from gohr.game.board import Piece
from gohr.rules.expressions import PieceRecord, Scope, evaluate, integer_of
from gohr.rules.syntax import Expression, ListOf, Name, Number, Property, Range, Text


def has_shape(piece: Piece, clause: Expression | None, scope: Scope) -> bool:
    """Return whether the clause allows the shape; None allows all."""
    return _has(piece, "shape", piece.shape, clause, scope)


def has_color(piece: Piece, clause: Expression | None, scope: Scope) -> bool:
    """Return whether the clause allows the colour; None allows all."""
    return _has(piece, "color", piece.color, clause, scope)


def has_property(piece: Piece, clause: Property, scope: Scope) -> bool:
    """Return whether the clause allows a further property."""
    if piece.properties is None:
        # ⚠ A piece of shape and colour passes any condition on a property that it does not have.
        return True
    return _matches_string(piece.properties.get(clause.key), clause.value, scope)


def _has(piece: Piece, key: str, name: str | None, clause: Expression | None, scope: Scope) -> bool:
    if clause is None:
        return True
    if piece.properties is not None:
        return _matches_string(piece.properties.get(key), clause, scope)
    return _matches_name(name or "", clause, scope)


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
