"""The rules that come with Gnomon, by name, and rule files of your own.

A rule in ``library/`` is a text in the rule language. The comments at its head describe it, one
``key: value`` per line::

    # title: Clockwise
    # sentence: Each piece goes to the bucket that follows the last one, clockwise.
    # family: sequence
    # tags: paper, memory
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from gnomon.errors import UnknownNameError
from gnomon.text_files import read_text
from gohr.errors import RuleSyntaxError
from gohr.rules.parser import parse
from gohr.rules.syntax import RuleSet

#: Maximum size of a rule file, which is at most a page; protects from large files and endless
#: devices.
_MOST_BYTES = 1_000_000

#: Common feature of the rules of each family: the one element of the task that varies in it.
FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "feature": "The bucket depends on what the piece looks like.",
        "position": "The bucket depends on where the piece lies.",
        "order": "Pieces must go in an order given by their cells.",
        "sequence": "The buckets take turns, for any piece.",
        "memory": "The permitted moves depend on earlier accepted moves.",
        "counting": "The permitted moves change after a number of pieces.",
        "priority": "Some pieces must go before others may.",
        "logic": "Two conditions on a piece are joined by and, or, not.",
        "ambiguity": "The number of buckets allowed for a piece varies.",
    }
)


#: Meaning of the tags of the rules: the features that a learner needs, and the difficulty.
TAGS: Mapping[str, str] = MappingProxyType(
    {
        "shape": "the shape of the piece matters",
        "color": "the colour of the piece matters",
        "cell": "the cell of the piece matters",
        "order": "where the other pieces lie matters",
        "memory": "accepted moves are remembered by a variable",
        "count": "the number of accepted moves matters",
        "one-bucket": "a piece that can be moved may go to one bucket",
        "two-buckets": "a piece that can be moved may go to two buckets",
        "three-buckets": "a piece that can be moved may go to three buckets",
        "any-bucket": "a piece that can be moved may go to any bucket",
        "mixed-buckets": "how many buckets are allowed varies",
        "metered": "atoms or lines have counts",
        "several-lines": "there is more than one rule line",
        "cycle-2": "the buckets repeat after two moves",
        "cycle-3": "the buckets repeat after three moves",
        "cycle-4": "the buckets repeat after four moves",
        "strict": "only one piece can be moved at a time",
        "ties": "several pieces may share a place in the order",
        "custom-order": "the rule defines its own order",
        "irregular": "the rule has an exception, or no regularity",
        "free-start": "the first piece, or the first of its kind, may go to any bucket",
        "can-stall": "a wrong choice can leave pieces that nothing accepts",
        "and": "two conditions must hold",
        "or": "one of two conditions must hold",
        "xor": "exactly one of two conditions must hold",
        "not": "two conditions must not hold",
        "if": "one condition decides which other condition applies",
        "paper": "one of the four sample rules of the paper on the game",
    }
)


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """The head of a rule file: a title, a sentence that gives the answer away, family and tags."""

    name: str
    title: str
    sentence: str
    family: str
    tags: tuple[str, ...]


@cache
def available_rules(family: str | None = None) -> tuple[str, ...]:
    """Return the names of the rules that come with Gnomon, in alphabetical order.

    Parameters
    ----------
    family : str, optional
        Only the rules of this family, one of `FAMILIES`.

    Examples
    --------
    >>> "clockwise" in available_rules()
    True
    """
    names = sorted(
        path.name.removesuffix(".txt")
        for path in _library().iterdir()
        if path.name.endswith(".txt")
    )
    if family is None:
        return tuple(names)
    if family not in FAMILIES:
        raise UnknownNameError("family", family, FAMILIES)
    return tuple(name for name in names if rule_info(name).family == family)


@cache
def load_rule_text(name: str) -> str:
    """Return the text of a rule that comes with Gnomon.

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> load_rule_text("clockwise").splitlines()[-1]
    '(*, *, *, *, p+1)'
    """
    if name not in available_rules():
        raise UnknownNameError("rule", name, available_rules())
    return (_library() / f"{name}.txt").read_text(encoding="utf-8")


@cache
def load_rule(name: str) -> RuleSet:
    """Return a rule that comes with Gnomon.

    Parameters
    ----------
    name : str
        One of :func:`available_rules`.

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> print(load_rule("clockwise").lines[1])
    (*, *, *, *, p+1)
    """
    return parse(load_rule_text(name))


def rule_info(name: str) -> RuleInfo:
    """Return the contents of the head of a rule of the library.

    Examples
    --------
    >>> rule_info("clockwise").family
    'sequence'
    """
    return info_of(name, load_rule(name))


def info_of(name: str, rule_set: RuleSet) -> RuleInfo:
    """Read the ``key: value`` comments at the head of any rule; missing fields stay empty.

    Examples
    --------
    >>> info_of("clockwise", load_rule("clockwise")).title
    'Clockwise'
    """
    heads = (line.partition(":") for line in rule_set.description)
    head = {key.strip().lower(): value.strip() for key, colon, value in heads if colon}
    tags = tuple(tag.strip() for tag in head.get("tags", "").split(",") if tag.strip())
    return RuleInfo(
        name, head.get("title", ""), head.get("sentence", ""), head.get("family", ""), tags
    )


def resolve_rule(rule: str | Path | RuleSet) -> RuleSet:
    """Return a rule by its name in the library, or else by its file; a tree as it is.

    Parameters
    ----------
    rule : str, Path or RuleSet
        A name takes precedence over a file of the same name; write ``./clockwise`` for the file.

    Raises
    ------
    UnknownNameError
        If it is neither, with the nearest names.
    GnomonError
        If the file cannot be read, is not UTF-8 text, or has more than a million bytes.
    RuleSyntaxError
        If it is not a rule; the message begins with the file's name.

    Examples
    --------
    >>> resolve_rule("spirall")
    Traceback (most recent call last):
    gnomon.errors.UnknownNameError: unknown rule or file 'spirall'; did you mean 'spiral'?
    """
    if isinstance(rule, RuleSet):
        return rule
    try:
        return parse(read_rule_text(rule))
    except RuleSyntaxError as error:
        raise error.in_file(str(rule)) from None


def read_rule_text(name_or_path: str | Path) -> str:
    """Return the text of a rule of the library, or else of a file, whether it parses or not."""
    name = str(name_or_path)
    if name in available_rules():
        return load_rule_text(name)
    if not os.path.exists(name):
        raise UnknownNameError("rule or file", name, available_rules(), base="")
    return read_text(Path(name), noun="rule file", most_bytes=_MOST_BYTES)


def _library() -> resources.abc.Traversable:
    return resources.files("gohr.rules") / "library"
