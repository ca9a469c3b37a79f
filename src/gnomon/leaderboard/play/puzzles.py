"""Which rules people can play: those of the catalogue, by a number that says nothing.

The name of a rule often is the answer. So each rule of the catalogue has a number too, which tells
nothing of it. Hidden rules of a season are for studies only: whoever plays one learns of it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache

from gnomon.errors import UnknownNameError
from gnomon.rules.catalogue import available_rules, load_rule_text

__all__ = ["Puzzle", "puzzle_named", "puzzles"]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A rule that can be played.

    Parameters
    ----------
    rule : str
        Its own name.
    shown : str
        What players are told.
    text : str
        The rule itself.
    season_rule_id : int, optional
        If it is a season's.
    """

    rule: str
    shown: str
    text: str
    season_rule_id: int | None = None


@cache
def puzzles() -> tuple[str, ...]:
    """Return the names of the rules in the order of their numbers, the first of which is 1.

    Examples
    --------
    >>> len(puzzles()) == len(available_rules())
    True
    """
    return tuple(sorted(available_rules(), key=lambda name: hashlib.sha256(name.encode()).digest()))


def puzzle_named(name: str) -> Puzzle:
    """Return the puzzle of a rule's name, or of ``puzzle-7``, which keeps the name to itself.

    Raises
    ------
    UnknownNameError
        There is no such rule.

    Examples
    --------
    >>> puzzle_named("puzzle-7").shown, puzzle_named("clockwise").shown
    ('Puzzle 7', 'clockwise')
    """
    numbered = re.fullmatch(r"puzzle-([1-9][0-9]{0,3})", name)
    if numbered and int(numbered[1]) <= len(puzzles()):
        rule = puzzles()[int(numbered[1]) - 1]
        return Puzzle(rule, f"Puzzle {numbered[1]}", load_rule_text(rule))
    if numbered or name not in available_rules():
        raise UnknownNameError("rule", name, available_rules())
    return Puzzle(name, name, load_rule_text(name))
