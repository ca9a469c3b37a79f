"""Rules that people can play: by name, by an uninformative number, or of a season.

The name of a rule often is the answer. So each rule of the catalogue has a number too, which tells
nothing of it. The rules of a season that anybody may read can be played on its boards. Its hidden
rules are for studies only, until they are revealed: whoever plays one learns of it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache

from gnomon.errors import UnknownNameError
from gnomon_board.database.schema import Season, SeasonRule
from gnomon_board.errors import NotAllowed
from gohr import BoardSpec, available_rules
from gohr.experiments import season_board_spec
from gohr.game import DEFAULT_SPEC
from gohr.people import DEFAULT_TERMS, SeriesTerms
from gohr.rules import load_rule_text

#: What is played outside of studies: as many boards as one likes, up to so many.
_EPISODES, _HORIZON = 20, 100


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A rule that can be played.

    ``rule`` is its own name, ``shown`` what players are told, ``text`` the rule itself.
    """

    rule: str
    shown: str
    text: str
    season_rule_id: int | None = None
    episodes: int = _EPISODES
    horizon: int = _HORIZON
    board: BoardSpec = DEFAULT_SPEC
    terms: SeriesTerms = DEFAULT_TERMS


@cache
def puzzles() -> tuple[str, ...]:
    """Return the names of the rules in the order of their numbers, the first of which is 1."""
    return tuple(sorted(available_rules(), key=lambda name: hashlib.sha256(name.encode()).digest()))


def puzzle_named(name: str) -> Puzzle:
    """Return the puzzle of a rule's name, or of ``puzzle-7``, which keeps the name to itself.

    Raises UnknownNameError: there is no such rule.

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


def puzzle_of(season: Season, rule: SeasonRule) -> Puzzle:
    """Return a rule of a season as a puzzle, on boards like those of its learners.

    Raises NotAllowed: the rule is hidden still.
    """
    if rule.visibility == "hidden" and season.revealed_at is None:
        raise NotAllowed("this rule is hidden until the season is revealed: it is for studies only")
    return Puzzle(
        rule.name,
        rule.name,
        rule.text,
        rule.id,
        min(_EPISODES, season.episodes),
        season.horizon,
        season_board_spec(season.board),
    )
