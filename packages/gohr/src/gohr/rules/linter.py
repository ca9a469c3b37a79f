"""Static checks of a rule: what parses but surely is not meant, each with a remedy.

The language forgives much: a misspelt variable is empty, a misspelt clause a condition on a
property that no piece has, and neither is an error. :mod:`gohr.game.stalemate` finds what needs
boards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from gohr.errors import RuleError, RuleSyntaxError
from gohr.rules.lint_names import (
    Finding,
    condition_findings,
    expression_findings,
    misspelt_tags,
    near,
    negative_counts,
    paper_words,
)
from gohr.rules.orders import BUILT_IN_ORDERS
from gohr.rules.parser import parse
from gohr.rules.syntax import Atom, Expression, ListOf, Name, Number, RuleLine, RuleSet, Text
from gohr.rules.variables import is_literal, literals_of, may_have_value, must_have_value, walk

#: The default palettes, repeated here, since this package does not depend on boards.
SHAPES = ("SQUARE", "STAR", "CIRCLE", "TRIANGLE")
COLORS = ("RED", "BLACK", "BLUE", "YELLOW")
_CELLS = range(1, 37)


def lint(
    rule_set: RuleSet,
    *,
    shapes: Sequence[str] = SHAPES,
    colors: Sequence[str] = COLORS,
    properties: Collection[str] = (),
    text: str | None = None,
) -> tuple[Finding, ...]:
    """Find mistakes in a rule.

    Parameters
    ----------
    rule_set : RuleSet
        Any rule that parses.
    shapes, colors : sequence of str, optional
        Upper-case names of the pieces that it is meant for; the default palettes.
    properties : collection of str, optional
        Properties that the pieces have besides, as those with pictures do; none.
    text : str, optional
        Text of the rule, with the spelling of its variables.

    Returns
    -------
    tuple of Finding
        In the order of the text; empty for a rule with which all is well.

    Notes
    -----
    It finds: orders that are undefined, not used, have names among their cells or do not list all
    cells; variables that do not exist (``near``), arithmetic on names; clauses whose key is
    misspelt (``Bucket:``); properties that no piece has; names and cells that never match; rules
    that accept no piece of these shapes and colours; atoms that never accept anything, or repeat
    another; lines that are never reached; divisions by zero; negative counts; misspelt tags.

    Examples
    --------
    >>> for finding in lint(parse("(*,*,*,Furthest,near)")):
    ...     print(finding)
    line 1, column 1: warning: the atom never accepts anything, since its buckets never have a
    value; correct or remove it
    line 1, column 8: error: the order 'Furthest' does not exist, which stops the game; write
    'Farthest'
    line 1, column 17: warning: the variable 'near' does not exist, so it never has a value; write
    'Nearby' (the case matters)
    """
    findings = [*_order_findings(rule_set), *_line_findings(rule_set)]
    if not any(
        atom.properties or (_matches(atom.shape, shapes) and _matches(atom.color, colors))
        for line in rule_set.lines
        for atom in line.atoms
    ):
        findings.append(
            Finding.at(
                rule_set.lines[0].span,
                "warning",
                "the rule accepts no piece of the usual shapes and colours",
                "correct the names, or give the board pieces that have them",
            )
        )
    known = {*BUILT_IN_ORDERS, *(order.name for order in rule_set.orders)}
    for line in rule_set.lines:
        for atom in line.atoms:
            findings += _position_findings(atom, known)
            findings += condition_findings(atom, tuple(shapes), tuple(colors), properties)
            findings += expression_findings(atom, properties)
            findings += _bucket_findings(atom)
            findings += _idle_findings(atom)
    if text is not None:
        findings += paper_words(rule_set, text)
        findings += negative_counts(rule_set, text)
        findings += misspelt_tags(text)
    return tuple(sorted(findings))


def lint_text(text: str) -> tuple[Finding, ...]:
    """Find mistakes in a text; a syntax error is then the only finding.

    Examples
    --------
    >>> print(*lint_text("(*,*,*,*,p=1)"))
    line 1, column 11: error: expected ',' or ')', found '='; to compare, write '=='
    """
    try:
        return lint(parse(text), text=text)
    except RuleSyntaxError as error:
        where = error.line, error.column
        return (Finding(*where, "error", error.message, error.remedy or ""),)


def check_playable(rule_set: RuleSet, file: str) -> None:
    """Raise RuleError, with the file and the place, if an order that a rule names is missing.

    Examples
    --------
    >>> check_playable(parse("(*,*,*,Furthest,0)"), "rule 'mine'")
    Traceback (most recent call last):
    gohr.errors.RuleError: rule 'mine', line 1, column 8: error: the order 'Furthest' does not
    exist, which stops the game; write 'Farthest'
    """
    known = {*BUILT_IN_ORDERS, *(order.name for order in rule_set.orders)}
    for atom in (atom for line in rule_set.lines for atom in line.atoms):
        for finding in _position_findings(atom, known):
            if finding.severity == "error":
                raise RuleError(f"{file}, {finding}")


# -- orders ----------------------------------------------------------------------------------------


def _order_findings(rule_set: RuleSet) -> Iterator[Finding]:
    used = {name.value for name in _order_names(rule_set)}
    for index, order in enumerate(rule_set.orders):
        later = {each.name for each in rule_set.orders[index + 1 :]}
        if order.name in later:
            yield Finding.at(
                order.span,
                "warning",
                f"the order '{order.name}' is defined again below, and only the last one counts",
                "give one of them another name",
            )
        if order.name not in used:
            yield Finding.at(
                order.span,
                "warning",
                f"the order '{order.name}' is not used",
                "name it in a position field, or remove it",
            )
        if () in order.ranks:
            yield Finding.at(
                order.span,
                "warning",
                f"something in the order '{order.name}' is not a cell and is ignored",
                "list numbers from 1 to 36, and lists of them",
            )
        if order.name in BUILT_IN_ORDERS:
            yield Finding.at(
                order.span,
                "note",
                f"'{order.name}' hides the built-in order of this name",
                "give it another name if that one is meant",
            )
        missing = set(_CELLS).difference(*order.ranks)
        if missing:
            yield Finding.at(
                order.span,
                "note",
                f"the order '{order.name}' does not list {len(missing)} of the 36 cells, which "
                "come last, all at once",
                "list them if their order matters",
            )


def _order_names(rule_set: RuleSet) -> Iterator[Text]:
    for line in rule_set.lines:
        for atom in line.atoms:
            for where in _places(atom):
                yield from _orders_in(where)


def _places(atom: Atom) -> tuple[Expression, ...]:
    return atom.positions if atom.postpos is None else (*atom.positions, atom.postpos)


def _orders_in(where: Expression) -> Iterator[Text]:
    """Yield the names of orders in a position field, quoted or not."""
    for node in walk(where):
        if isinstance(node, Name):
            yield Text(str(node), node.span)
        elif isinstance(node, Text):
            yield node


def _position_findings(atom: Atom, known: Collection[str]) -> Iterator[Finding]:
    for where in _places(atom):
        for name in _orders_in(where):
            if name.value not in known:
                meant = near(name.value, known)
                yield Finding.at(
                    name.span,
                    "error",
                    f"the order '{name.value}' does not exist, which stops the game",
                    f"write '{meant}'" if meant else f"known: {', '.join(sorted(known))}",
                )
        for node in walk(where):
            if isinstance(node, Number) and node.value not in _CELLS:
                yield Finding.at(
                    node.span,
                    "warning",
                    f"there is no cell {node}, so it never matches",
                    "cells are numbered from 1 at the bottom left to 36 at the top right",
                )


# -- atoms -----------------------------------------------------------------------------------------


def _matches(clause: Expression | None, names: Collection[str]) -> bool:
    """Return whether a condition may hold for one of the upper-case names."""
    if clause is None or not is_literal(clause):
        return True
    return any(word.upper() in names for word in literals_of(clause))


def _bucket_findings(atom: Atom) -> Iterator[Finding]:
    buckets = atom.buckets
    for node in buckets.items if isinstance(buckets, ListOf) else (buckets,):
        if isinstance(node, Number) and node.value not in range(4):
            yield Finding.at(
                node.span,
                "note",
                f"buckets are 0 to 3, and {node} means {node.value % 4}",
                f"write {node.value % 4}",
            )
        elif isinstance(node, Text):
            yield Finding.at(
                node.span, "warning", f"{node} is not a bucket", "write a number without quotes"
            )


def _idle_findings(atom: Atom) -> Iterator[Finding]:
    for reason in _reasons_to_be_idle(atom):
        yield Finding.at(
            atom.span,
            "warning",
            f"the atom never accepts anything, since {reason}",
            "correct or remove it",
        )
        return


def _reasons_to_be_idle(atom: Atom) -> Iterator[str]:
    if atom.count == 0:
        yield "its count is 0"
    if atom.buckets is not None and not _may_be_bucket(atom.buckets):
        yield "its buckets never have a value"
    if atom.code is not None and not may_have_value(atom.code):
        yield "its code never has a value"
    if _allowed_cells(atom.positions) == set():
        yield "no cell is in all of its positions"


def _may_be_bucket(buckets: Expression) -> bool:
    match buckets:
        case ListOf(items=items):
            return any(map(_may_be_bucket, items))
        case Text() | Name(parts=("this" | "last",) | ("q", _)):  # the latter are pieces
            return False
    return may_have_value(buckets)


def _allowed_cells(positions: tuple[Expression, ...]) -> set[int]:
    """Return the cells that the numbers leave; orders leave all."""
    allowed = set(_CELLS)
    for where in positions:
        if not any(_orders_in(where)):
            allowed &= {node.value for node in walk(where) if isinstance(node, Number)}
    return allowed


# -- lines -----------------------------------------------------------------------------------------


def _line_findings(rule_set: RuleSet) -> Iterator[Finding]:
    for line in rule_set.lines:
        if line.count == 0:
            yield Finding.at(
                line.span,
                "warning",
                "the line never accepts anything, since its count is 0",
                "remove it, or give it another count",
            )
        seen: set[Atom] = set()
        for atom in line.atoms:
            if atom.count is None and atom in seen:
                yield Finding.at(
                    atom.span,
                    "warning",
                    "the atom repeats an earlier one of its line and changes nothing",
                    "remove it, or correct it",
                )
            seen.add(atom)
    for index, line in enumerate(rule_set.lines[:-1]):
        if _is_never_left(line):
            yield Finding.at(
                rule_set.lines[index + 1].span,
                "warning",
                f"rule line {index + 2} is never reached, since line {index + 1} accepts something "
                "as long as there are pieces",
                f"give line {index + 1} a count, or remove what follows it",
            )
            return


def _is_never_left(line: RuleLine) -> bool:
    """Return whether a line always accepts some move on every board."""
    return line.count is None and any(
        atom.count is None
        and atom.shape is None
        and atom.color is None
        and not atom.properties
        # Two orders may lead to different cells; one always leads to some.
        and len(atom.positions) <= 1
        # A position field that names an order always allows a cell: some piece leads it.
        and all(any(_orders_in(where)) for where in _places(atom))
        and (atom.buckets is None or _always_has_a_bucket(atom.buckets))
        and (atom.code is None or must_have_value(atom.code))
        for atom in line.atoms
    )


def _always_has_a_bucket(buckets: Expression) -> bool:
    if isinstance(buckets, ListOf):
        return any(map(_always_has_a_bucket, buckets.items))
    # Values of `this` other than cells and buckets are not buckets.
    names = [node for node in walk(buckets) if isinstance(node, Name)]
    return must_have_value(buckets) and not (
        isinstance(buckets, Text) or any(name.parts[0] == "this" for name in names)
    )
