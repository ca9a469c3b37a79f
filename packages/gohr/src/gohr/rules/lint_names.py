"""Findings of a rule's check, and those about names: unknown variables, clauses and conditions.

A :class:`Finding` gives the place of an unintended construct, its description, and a remedy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, cast

from gnomon.errors import shortened
from gohr.rules.catalogue import TAGS
from gohr.rules.fields import CLAUSES
from gohr.rules.syntax import (
    Atom,
    Binary,
    Expression,
    ListOf,
    Name,
    Number,
    Property,
    Range,
    RuleSet,
    Span,
    Text,
)
from gohr.rules.variables import FIELDS, VARIABLES, expressions_of, is_defined, is_literal, walk

#: Maximum number of characters shown: a name in a text may fill a file.
_LONGEST = 300

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

    Examples
    --------
    >>> print(Finding(1, 5, "warning", "an empty list", "name a bucket"))
    line 1, column 5: warning: an empty list; name a bucket
    """

    line: int
    column: int
    severity: Severity
    message: str
    remedy: str

    @classmethod
    def at(cls, span: Span | None, severity: Severity, message: str, remedy: str) -> Finding:
        """Create a finding at the beginning of a node."""
        return cls(span.line if span else 0, span.column if span else 0, severity, message, remedy)

    def __str__(self) -> str:
        message, remedy = shortened(self.message, _LONGEST), shortened(self.remedy, _LONGEST)
        said = f"{message}; {remedy}" if remedy else message
        return f"line {self.line}, column {self.column}: {self.severity}: {said}"


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


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that differs from another only by its case or a letter or two."""
    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.75)
    return by_lower[found[0]] if found else None


# -- variables -------------------------------------------------------------------------------------


def expression_findings(atom: Atom, properties: Collection[str] = ()) -> Iterator[Finding]:
    """Find undefined variables, and operators on operands of the wrong kind."""
    yield from _variables(atom, properties)
    for _, expression in expressions_of(atom):
        for node in walk(expression):
            if isinstance(node, Binary) and node.operator in ("+", "-", "*", "/", "%"):
                yield from _operands(node)
            elif isinstance(node, Binary):
                yield from _compared(node)


def _variables(atom: Atom, properties: Collection[str]) -> Iterator[Finding]:
    for key, expression in expressions_of(atom):
        for node in walk(expression):
            if isinstance(node, Name):
                yield from _variable(key, node, properties)


def _variable(key: str, node: Name, properties: Collection[str]) -> Iterator[Finding]:
    first = node.parts[0]
    if not is_defined(node.parts):
        message = f"the variable '{node}' does not exist, so it never has a value"
        yield Finding.at(node.span, "warning", message, _remedy_for_variable(key, node))
    elif len(node.parts) > 1 and first in ("p", "q", "this", "last"):
        for part in node.parts[1:]:
            if part not in FIELDS and part not in properties:
                meant = near(part, (*FIELDS, *properties)) or _OTHER_WORDS.get(part)
                message = f"no piece has the property '{part}', so '{node}' never has a value"
                yield Finding.at(node.span, "warning", message, _remedy_for_property(meant))


def _remedy_for_variable(key: str, node: Name) -> str:
    first, *rest = node.parts
    meant = near(first, VARIABLES) or _OTHER_VARIABLES.get(first.lower())
    if node.parts == ("q",):
        return "name what is shared, as in q.color or q.bucket"
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


def _operands(node: Binary) -> Iterator[Finding]:
    if node.operator in ("/", "%") and isinstance(node.right, Number) and node.right.value == 0:
        yield Finding.at(
            node.span,
            "warning",
            f"'{node}' divides by zero, so it never has a value",
            "divide by another number",
        )
    for operand in (node.left, node.right):
        is_name = isinstance(operand, Name) and operand.parts[-1] in ("shape", "color")
        # p.shape is a bucket: that of the last piece of the same shape.
        if isinstance(operand, Text) or (
            is_name and isinstance(operand, Name) and operand.parts[0] != "p"
        ):
            yield Finding.at(
                operand.span,
                "error",
                f"'{operand}' is a name, and arithmetic on it stops the game",
                "calculate with .pos or .bucket, or compare names by ==",
            )


def _compared(node: Binary) -> Iterator[Finding]:
    yield from _lower_case(side for side in (node.left, node.right) if isinstance(side, Text))


def _lower_case(texts: Iterable[Text]) -> Iterator[Finding]:
    for text in texts:
        if text.value != text.value.upper():
            yield Finding.at(
                text.span,
                "warning",
                f"{text} equals no shape and no colour, since their names are in capitals here",
                f'write "{text.value.upper()}" (pieces with properties keep their case)',
            )


def paper_words(rule_set: RuleSet, text: str) -> Iterator[Finding]:
    """Note the paper's spelling of two variables, which the tree no longer shows.

    Examples
    --------
    >>> from gohr.rules.parser import parse
    >>> [found.column for found in paper_words(parse("(*,*,*,*,nearby)"), "(*,*,*,*,nearby)")]
    [10]
    """
    lines = text.split("\n")
    nodes = (
        node
        for line in rule_set.lines
        for atom in line.atoms
        for _, expression in expressions_of(atom)
        for node in walk(expression)
        if isinstance(node, Name) and node.parts in (("Nearby",), ("Remotest",))
    )
    for node in nodes:
        word = node.parts[0].lower()
        if node.span and lines[node.span.line - 1][node.span.column - 1 :].startswith(word):
            yield Finding.at(
                node.span,
                "note",
                f"'{word}' is the paper's spelling; the reference game server does not know it",
                f"write '{node.parts[0]}' if the rule is to be played there",
            )


def negative_counts(rule_set: RuleSet, text: str) -> Iterator[Finding]:
    """Note negative counts, which the tree no longer shows: they mean no limit."""
    lines = text.split("\n")
    for atom in (atom for line in rule_set.lines for atom in line.atoms if atom.span):
        span = cast("Span", atom.span)
        written = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        found = re.match(r"\(\s*(-\s*\d+)\s*,", written) or re.search(
            r"\bcount\s*:\s*(-\s*\d+)", written
        )
        if found:
            yield Finding(
                span.line,
                span.column + found.start(1),
                "note",
                f"the count {found[1]} is negative, which means no limit",
                "write * (or leave the count out) if that is meant",
            )


def misspelt_tags(text: str) -> Iterator[Finding]:
    """Note the tags at the head of a rule that are nearly known ones.

    Examples
    --------
    >>> print(*misspelt_tags("# tags: memry, my-own"))
    line 1, column 9: note: the tag 'memry' is not a known one; write 'memory' if that is meant
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            return  # the comments at the head of a rule end here
        head = re.match(r"\s*#\s*tags\s*:", line, re.IGNORECASE)
        if not head:
            continue
        for found in re.finditer(r"[^,\s][^,]*", line[head.end() :]):
            tag = found[0].strip()
            meant = near(tag, TAGS)
            if meant and tag not in TAGS:
                yield Finding(
                    number,
                    head.end() + found.start() + 1,
                    "note",
                    f"the tag '{tag}' is not a known one",
                    f"write '{meant}' if that is meant",
                )


# -- conditions ------------------------------------------------------------------------------------


def condition_findings(
    atom: Atom,
    shapes: tuple[str, ...],
    colors: tuple[str, ...],
    properties: Collection[str] = (),
) -> Iterator[Finding]:
    """Find names and properties that no piece has, and clauses whose keys are misspelt."""
    for key, clause, own, others in [
        ("shape", atom.shape, shapes, colors),
        ("color", atom.color, colors, shapes),
    ]:
        if clause is None:
            continue
        if is_literal(clause):
            yield from _literal(key, clause, own, others)
        else:
            yield from _lower_case(node for node in walk(clause) if isinstance(node, Text))
        for item in clause.items if isinstance(clause, ListOf) else (clause,):
            if isinstance(item, Binary):
                yield Finding.at(
                    item.span,
                    "warning",
                    f"'{item}' is arithmetic, and matches no {key}",
                    f'write a name with a slash or a dash in quotes: "{item}"',
                )
    for each in atom.properties:
        yield from _property(each, properties)


def _literal(
    key: str, clause: Expression, own: tuple[str, ...], others: tuple[str, ...]
) -> Iterator[Finding]:
    items = clause.items if isinstance(clause, ListOf) else (clause,)
    has_numbers = isinstance(clause, ListOf) and any(isinstance(i, Number) for i in items)
    for item in items:
        if not isinstance(item, Name | Text):
            continue
        word = str(item) if isinstance(item, Name) else item.value
        if has_numbers and word != word.upper():
            yield Finding.at(
                item.span,
                "warning",
                f"in a list with numbers '{word}' is kept as it is spelt, and matches nothing",
                f"write it in capitals, {word.upper()}, or leave the numbers out",
            )
        elif word.upper() not in own:
            yield _unknown(key, item, word, own, others)


def _unknown(
    key: str, item: Name | Text, word: str, own: tuple[str, ...], others: tuple[str, ...]
) -> Finding:
    if word.upper() in others:
        other = "shape" if key == "color" else "color"
        return Finding.at(
            item.span,
            "warning",
            f"'{word}' is a {other}, and stands in the field of the {key}",
            "the fields are (count, shapes, colors, positions, buckets)",
        )
    meant = near(word, own)
    remedy = f"write '{meant.lower()}'" if meant else f"known: {', '.join(own).lower()}"
    return Finding.at(
        item.span,
        "warning" if meant else "note",
        f"no piece of the usual kind has the {key} '{word}', so it never matches",
        f"{remedy}, or give the board pieces that have it",
    )


def _remedy_for_property(meant: str | None) -> str:
    return f"write '{meant}'" if meant else "remove it, or give the board pieces that have it"


def unknown_properties(rule_set: RuleSet, properties: Collection[str] = ()) -> Iterator[Finding]:
    """Find properties that no piece has, and variables without a meaning.

    ``properties`` are those that some pieces have.

    Examples
    --------
    >>> from gohr.rules.parser import parse
    >>> [found.column for found in unknown_properties(parse("(color:red, siez:3, bucket:p.seq)"))]
    [28, 13]
    """
    for line in rule_set.lines:
        for atom in line.atoms:
            yield from _variables(atom, properties)
            for clause in atom.properties:
                yield from _property(clause, properties)


def _property(clause: Property, properties: Collection[str]) -> Iterator[Finding]:
    meant = near(clause.key, CLAUSES) or _OTHER_WORDS.get(clause.key.lower())
    if meant and clause.key not in properties:
        yield Finding.at(
            clause.span,
            "warning",
            f"'{clause.key}' is no clause of the language, but a property that pieces of shape "
            "and colour need not have",
            f"write '{meant}:' (the case matters)",
        )
    elif clause.key not in properties:
        alike = near(clause.key, properties)
        yield Finding.at(
            clause.span,
            "warning",
            f"no piece has the property '{clause.key}', and pieces of shape and colour pass over "
            "a condition on it",
            _remedy_for_property(alike),
        )
    if isinstance(clause.value, Range) and clause.value.low > clause.value.high:
        yield Finding.at(
            clause.value.span,
            "warning",
            f"the range {clause.value} is empty",
            f"write [{clause.value.high}..{clause.value.low}]",
        )
