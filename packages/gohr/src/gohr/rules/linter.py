"""Static checks of a rule: probable mistakes in valid text, each with its place and a remedy.

The language is permissive: a misspelt variable is empty, a misspelt clause is a condition on a
property that no piece has, and neither is an error. :mod:`gohr.stalemate` has the checks that
need boards.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, cast

from gnomon.errors import shortened
from gohr.errors import RuleSyntaxError
from gohr.rules.catalogue import TAGS
from gohr.rules.fields import CLAUSES
from gohr.rules.orders import BUILT_IN_ORDERS
from gohr.rules.parser import parse
from gohr.rules.syntax import (
    COLORS,
    N_CELLS,
    SHAPES,
    Atom,
    Binary,
    Expression,
    ListOf,
    Name,
    Number,
    Property,
    Range,
    RuleLine,
    RuleSet,
    Span,
    Text,
    check_rule,
)
from gohr.rules.variables import (
    FIELDS,
    VARIABLES,
    cells_in,
    expressions_of,
    is_defined,
    is_literal,
    literals_of,
    may_have_value,
    must_have_value,
    orders_in,
    walk,
)

_CELLS = range(1, N_CELLS + 1)
#: Maximum number of characters shown: a name in a text may fill a file.
_LONGEST = 300
#: Common misspellings of the language's own clauses.
_OTHER_WORDS = {
    "colour": "color",
    "colors": "color",
    "colours": "color",
    "shapes": "shape",
    "buckets": "bucket",
    "position": "pos",
    "positions": "pos",
    "cell": "pos",
    "counter": "count",
    "condition": "code",
    "if": "code",
}
#: Words for the variables that differ from them by more than a letter or two.
_OTHER_VARIABLES = {
    "nearest": "Nearby",
    "closest": "Nearby",
    "farthest": "Remotest",
    "furthest": "Remotest",
}
_NO_PROPERTY = "remove it, or give the board pieces that have it"

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding in a rule text.

    Parameters
    ----------
    line, column : int
        Where, counted from 1; 0 for a tree that was not read from a text.
    severity : {'error', 'warning', 'note'}
        An error: the rule does not parse, or cannot be played. A warning: some part of it has no
        effect, or an effect other than it seems. A note: worth knowing.
    message, remedy : str
        The problem, and how to correct it; no remedy where the message says what is expected.
    """

    line: int
    column: int
    severity: Severity
    message: str
    remedy: str

    def __str__(self) -> str:
        message, remedy = shortened(self.message, _LONGEST), shortened(self.remedy, _LONGEST)
        said = f"{message}; {remedy}" if remedy else message
        return f"line {self.line}, column {self.column}: {self.severity}: {said}"


def lint(
    rule: RuleSet | str, *, shapes: Sequence[str] = SHAPES, colors: Sequence[str] = COLORS
) -> tuple[Finding, ...]:
    """Find mistakes in a rule.

    Parameters
    ----------
    rule : RuleSet or str
        A rule or its text; a syntax error is then the only finding. Negative counts and misspelt
        tags are found in a text alone.
    shapes, colors : sequence of str, optional
        Upper-case names of shapes and colours of its pieces; the default palettes.

    Returns
    -------
    tuple of Finding
        In the order of the text; empty if nothing is found.

    Notes
    -----
    It finds: orders that are undefined, not used, have names among their cells or do not list all
    cells; variables that do not exist (``near``), arithmetic on names; clauses whose key is
    misspelt (``Bucket:``); properties that pieces of shape and colour do not have; names and cells
    that never match; rules that accept no piece of these shapes and colours; atoms that never
    accept anything, or repeat another; lines that are never reached; divisions by zero; negative
    counts; misspelt tags.

    Examples
    --------
    >>> for finding in lint("(*,*,*,Furthest,near)"):
    ...     print(finding)
    line 1, column 1: warning: the atom never accepts anything, since its buckets never have a
    value; correct or remove it
    line 1, column 8: error: the order 'Furthest' does not exist, which stops the game; write
    'Farthest'
    line 1, column 17: warning: the variable 'near' does not exist, so it never has a value; write
    'Nearby' (the case matters)
    """
    findings: list[Finding] = []
    rule_set = rule
    if isinstance(rule_set, str):
        try:
            rule_set = parse(rule_set)
        except RuleSyntaxError as error:
            where = error.line, error.column
            return (Finding(*where, "error", error.message, error.remedy or ""),)
    check_rule(rule_set)
    if isinstance(rule, str):
        findings += [*_negative_counts(rule_set, rule), *_misspelt_tags(rule)]
    findings += [*_order_findings(rule_set), *_line_findings(rule_set)]
    atoms = [atom for line in rule_set.lines for atom in line.atoms]
    if not any(
        atom.properties or (_matches(atom.shape, shapes) and _matches(atom.color, colors))
        for atom in atoms
    ):
        findings.append(
            _warning(
                rule_set.lines[0],
                "the rule accepts no piece of the usual shapes and colours",
                "correct the names, or give the board pieces that have them",
            )
        )
    known = {*BUILT_IN_ORDERS, *(order.name for order in rule_set.orders)}
    for atom in atoms:
        findings += _position_findings(atom, known)
        findings += _condition_findings("shape", atom.shape, shapes, colors)
        findings += _condition_findings("color", atom.color, colors, shapes)
        findings += [found for clause in atom.properties for found in _property_findings(clause)]
        findings += _expression_findings(atom)
        findings += _bucket_findings(atom)
        findings += _idle_findings(atom)
    return tuple(sorted(findings))


class _Node(Protocol):
    @property
    def span(self) -> Span | None: ...


def _found(severity: Severity, node: _Node, message: str, remedy: str) -> Finding:
    line, column = (node.span.line, node.span.column) if node.span else (0, 0)
    return Finding(line, column, severity, message, remedy)


_error = partial(_found, "error")
_warning = partial(_found, "warning")
_note = partial(_found, "note")


def _near(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that differs from another only by its case or a letter or two."""
    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.75)
    return by_lower[found[0]] if found else None


# -- the text --------------------------------------------------------------------------------------


def _negative_counts(rule_set: RuleSet, text: str) -> Iterator[Finding]:
    """Note negative counts, which the tree no longer shows: they mean no limit."""
    lines = text.split("\n")
    for atom in (atom for line in rule_set.lines for atom in line.atoms):
        span = cast("Span", atom.span)
        written = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        found = re.match(r"\(\s*(-\s*\d+)\s*,", written) or re.search(
            r"\bcount\s*:\s*(-\s*\d+)", written
        )
        if found:
            message = f"the count {found[1]} is negative, which means no limit"
            remedy = "write * (or leave the count out) if that is meant"
            yield Finding(span.line, span.column + found.start(1), "note", message, remedy)


def _misspelt_tags(text: str) -> Iterator[Finding]:
    """Note the tags in the comments at the head of a rule that are nearly known ones."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            return
        head = re.match(r"\s*#\s*tags\s*:", line, re.IGNORECASE)
        for found in re.finditer(r"[^,\s][^,]*", line[head.end() :]) if head else ():
            tag, column = found[0].strip(), cast("re.Match[str]", head).end() + found.start() + 1
            meant = _near(tag, TAGS)
            if meant and tag not in TAGS:
                message, remedy = f"the tag '{tag}' is unknown", f"write '{meant}' if that"
                yield Finding(number, column, "note", message, f"{remedy} is meant")


# -- orders ----------------------------------------------------------------------------------------


def _order_findings(rule_set: RuleSet) -> Iterator[Finding]:
    used = {
        name.value
        for line in rule_set.lines
        for atom in line.atoms
        for where in _places(atom)
        for name in orders_in(where)
    }
    for index, order in enumerate(rule_set.orders):
        name = f"the order '{order.name}'"
        if order.name in {each.name for each in rule_set.orders[index + 1 :]}:
            message = f"{name} is defined again below, and only the last one counts"
            yield _warning(order, message, "give one of them another name")
        if order.name not in used:
            yield _warning(
                order, f"{name} is not used", "name it in a position field, or remove it"
            )
        if () in order.ranks:
            message = f"something in {name} is not a cell and is ignored"
            yield _warning(order, message, "list numbers from 1 to 36, and lists of them")
        if order.name in BUILT_IN_ORDERS:
            message = f"'{order.name}' hides the built-in order of this name"
            yield _note(order, message, "rename it to use the built-in order")
        if missing := set(_CELLS).difference(*order.ranks):
            message = f"{name} does not list {len(missing)} of the 36 cells, which come last, "
            yield _note(order, f"{message}all at once", "list them if their order matters")


def _places(atom: Atom) -> tuple[Expression, ...]:
    return atom.positions if atom.postpos is None else (*atom.positions, atom.postpos)


def _position_findings(atom: Atom, known: Collection[str]) -> Iterator[Finding]:
    for where in _places(atom):
        for name in orders_in(where):
            if name.value not in known:
                meant = _near(name.value, known)
                message = f"the order '{name.value}' does not exist, which stops the game"
                remedy = f"write '{meant}'" if meant else f"known: {', '.join(sorted(known))}"
                yield _error(name, message, remedy)
        for node in walk(where):
            if isinstance(node, Number) and node.value not in _CELLS:
                message = f"there is no cell {node}, so it never matches"
                remedy = "cells are numbered from 1 at the bottom left to 36 at the top right"
                yield _warning(node, message, remedy)


# -- variables and operators -----------------------------------------------------------------------


def _expression_findings(atom: Atom) -> Iterator[Finding]:
    for key, expression in expressions_of(atom):
        for node in walk(expression):
            if isinstance(node, Name):
                yield from _variable_findings(key, node)
            elif isinstance(node, Binary) and node.operator in ("+", "-", "*", "/", "%"):
                yield from _arithmetic_findings(node)
            elif isinstance(node, Binary):
                yield from _lower_case((node.left, node.right))


def _variable_findings(key: str, node: Name) -> Iterator[Finding]:
    first, *rest = node.parts
    if not is_defined(node.parts):
        message = f"the variable '{node}' does not exist, so it never has a value"
        yield _warning(node, message, _remedy_for_variable(key, node))
    elif rest and first in ("p", "q", "this", "last"):
        for part in rest:
            if part not in FIELDS:
                meant = _near(part, FIELDS) or _OTHER_WORDS.get(part)
                message = f"no piece has the property '{part}', so '{node}' never has a value"
                yield _warning(node, message, f"write '{meant}'" if meant else _NO_PROPERTY)


def _remedy_for_variable(key: str, node: Name) -> str:
    first, *rest = node.parts
    meant = _near(first, VARIABLES) or _OTHER_VARIABLES.get(first.lower())
    if node.parts == ("q",):
        return "name the shared property, as in q.color or q.bucket"
    if first in ("p", "pc", "ps", "Nearby", "Remotest") and rest:
        return f"'{first}' is a bucket and has no such fields; write last.{rest[-1]}"
    if meant and meant != first:
        return f"write '{'.'.join([meant, *rest])}' (the case matters)"
    if key in ("shape", "color"):
        return f'beside an expression a name needs quotes and capitals: "{first.upper()}"'
    return (
        f'for a name write it in quotes and capitals, "{first.upper()}"; '
        f"variables are {', '.join(VARIABLES)}, p.x, q.x"
    )


def _arithmetic_findings(node: Binary) -> Iterator[Finding]:
    if node.operator in ("/", "%") and isinstance(node.right, Number) and node.right.value == 0:
        message = f"'{node}' divides by zero, so it never has a value"
        yield _warning(node, message, "divide by another number")
    for operand in (node.left, node.right):
        # p.shape is a bucket: that of the last piece of the same shape.
        is_name = isinstance(operand, Text) or (
            isinstance(operand, Name)
            and operand.parts[-1] in ("shape", "color")
            and operand.parts[0] != "p"
        )
        if is_name:
            message = f"'{operand}' is a name, and arithmetic on it stops the game"
            yield _error(operand, message, "calculate with .pos or .bucket, or compare names by ==")


def _lower_case(nodes: Iterable[Expression]) -> Iterator[Finding]:
    for node in nodes:
        if isinstance(node, Text) and node.value != node.value.upper():
            message = f"{node} equals no shape and no colour, since their names are in capitals"
            remedy = f'write "{node.value.upper()}" (pieces with properties keep their case)'
            yield _warning(node, f"{message} here", remedy)


# -- conditions on pieces --------------------------------------------------------------------------


def _matches(clause: Expression | None, names: Collection[str]) -> bool:
    """Return whether a condition may hold for one of the upper-case names."""
    if clause is None or not is_literal(clause):
        return True
    return any(word.upper() in names for word in literals_of(clause))


def _condition_findings(
    key: str, clause: Expression | None, own: Sequence[str], others: Sequence[str]
) -> Iterator[Finding]:
    """Find names that no piece has, of `own` kind or of the `others`."""
    if clause is None:
        return
    items = clause.items if isinstance(clause, ListOf) else (clause,)
    if not is_literal(clause):
        yield from _lower_case(walk(clause))
    for item in items:
        if isinstance(item, Binary):
            message = f"'{item}' is arithmetic, and matches no {key}"
            yield _warning(item, message, f'write a name with a slash or dash in quotes: "{item}"')
    if not is_literal(clause):
        return
    has_numbers = isinstance(clause, ListOf) and any(isinstance(i, Number) for i in items)
    for item in items:
        if not isinstance(item, Name | Text):
            continue
        word = str(item) if isinstance(item, Name) else item.value
        if has_numbers and word != word.upper():
            message = f"in a list with numbers '{word}' is kept as it is spelt, and matches nothing"
            remedy = f"write it in capitals, {word.upper()}, or leave the numbers out"
            yield _warning(item, message, remedy)
        elif word.upper() in own:
            continue
        elif word.upper() in others:
            other = "shape" if key == "color" else "color"
            message = f"'{word}' is a {other}, and stands in the field of the {key}"
            remedy = "the fields are (count, shapes, colors, positions, buckets)"
            yield _warning(item, message, remedy)
        else:
            meant = _near(word, own)
            message = f"no piece of the usual kind has the {key} '{word}', so it never matches"
            remedy = f"write '{meant.lower()}'" if meant else f"known: {', '.join(own).lower()}"
            found = _warning if meant else _note
            yield found(item, message, f"{remedy}, or give the board pieces that have it")


def _property_findings(clause: Property) -> Iterator[Finding]:
    """Find clauses whose keys are misspelt, or properties of no piece of shape and colour."""
    meant = _near(clause.key, CLAUSES) or _OTHER_WORDS.get(clause.key.lower())
    if meant:
        message = f"'{clause.key}' is not a clause of the language but a property, which pieces of "
        remedy = f"write '{meant}:' (the case matters)"
        yield _warning(clause, f"{message}shape and colour do not have", remedy)
    else:
        message = f"no piece has the property '{clause.key}', and pieces of shape and colour pass "
        yield _warning(clause, f"{message}over a condition on it", _NO_PROPERTY)
    if isinstance(clause.value, Range) and clause.value.low > clause.value.high:
        remedy = f"write [{clause.value.high}..{clause.value.low}]"
        yield _warning(clause.value, f"the range {clause.value} is empty", remedy)


# -- atoms -----------------------------------------------------------------------------------------


def _bucket_findings(atom: Atom) -> Iterator[Finding]:
    buckets = atom.buckets
    for node in buckets.items if isinstance(buckets, ListOf) else (buckets,):
        if isinstance(node, Number) and node.value not in range(4):
            message = f"buckets are 0 to 3, and {node} means {node.value % 4}"
            yield _note(node, message, f"write {node.value % 4}")
        elif isinstance(node, Text):
            yield _warning(node, f"{node} is not a bucket", "write a number without quotes")


def _idle_findings(atom: Atom) -> Iterator[Finding]:
    allowed = set(_CELLS)
    for where in atom.positions:
        if not any(orders_in(where)):  # orders leave all cells
            allowed &= cells_in(where)
    reasons = {
        "its count is 0": atom.count == 0,
        "its buckets never have a value": atom.buckets and not _may_be_bucket(atom.buckets),
        "its code never has a value": atom.code and not may_have_value(atom.code),
        "no cell is in all of its positions": not allowed,
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), None):
        message = f"the atom never accepts anything, since {reason}"
        yield _warning(atom, message, "correct or remove it")


def _may_be_bucket(buckets: Expression) -> bool:
    match buckets:
        case ListOf(items=items):
            return any(map(_may_be_bucket, items))
        case Text() | Name(parts=("this" | "last",) | ("q", _)):  # the latter are pieces
            return False
    return may_have_value(buckets)


# -- lines -----------------------------------------------------------------------------------------


def _line_findings(rule_set: RuleSet) -> Iterator[Finding]:
    for line in rule_set.lines:
        if line.count == 0:
            message = "the line never accepts anything, since its count is 0"
            yield _warning(line, message, "remove it, or change the count")
        seen: set[Atom] = set()
        for atom in line.atoms:
            if atom.count is None and atom in seen:
                message = "the atom repeats an earlier one of its line and changes nothing"
                yield _warning(atom, message, "remove it, or correct it")
            seen.add(atom)
    stays = next((k for k, line in enumerate(rule_set.lines[:-1], 1) if _is_never_left(line)), 0)
    if stays:
        message = f"rule line {stays + 1} is never reached, since line {stays} accepts something "
        remedy = f"give line {stays} a count, or remove what follows it"
        yield _warning(rule_set.lines[stays], f"{message}as long as there are pieces", remedy)


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
        and all(any(orders_in(where)) for where in _places(atom))
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
