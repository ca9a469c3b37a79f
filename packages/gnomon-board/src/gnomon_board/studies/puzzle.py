"""Rules that people can play: by name, by an uninformative number, or of a season.

The name of a rule often reveals the answer, so each rule of the library also has a number. Public
rules of a season can be played on its boards. Hidden rules can be played only in studies until they
are revealed, since playing a rule reveals something of it.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from gnomon.errors import UnknownNameError
from gnomon_board.database.schema import (
    Entry,
    EntryAttempt,
    Season,
    SeasonRule,
    Submission,
    VerifiedTrial,
)
from gnomon_board.database.schema import PlaySession as Row
from gnomon_board.errors import NotAllowed
from gohr import BoardSpec, available_rules
from gohr.experiments import RuleEntry, season_board_spec
from gohr.game import DEFAULT_SPEC
from gohr.people import DEFAULT_TERMS, Game, SeriesTerms, Yardstick
from gohr.rules import load_rule_text

#: Limits of a game outside of studies: boards, and attempts on a board.
_EPISODES, _HORIZON = 20, 100


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A rule that can be played.

    ``rule`` is its own name, ``shown`` the name that players see, ``text`` the rule itself.
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
    """Return the names of the rules in the order of their numbers, from 1."""
    return tuple(sorted(available_rules(), key=lambda name: hashlib.sha256(name.encode()).digest()))


def puzzle_named(name: str) -> Puzzle:
    """Return the puzzle of a rule's name, or of ``puzzle-7``, which hides the name.

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

    Raises NotAllowed: the rule is still hidden.
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


# -- verified learners beside a person -------------------------------------------------------------

#: Fewest trials of a learner that is drawn.
_FEWEST_TRIALS = 3
_MOST = 3


def verified_learners(
    session: Session, row: Row, game: Game, n_boards: int
) -> tuple[Yardstick, ...]:
    """Return the three verified learners with the fewest errors on a rule after some boards.

    They played the same rule text, on boards of the same distribution, with the same horizon. The
    result is None for games of a study or numbered puzzle, or without verified learners.
    """
    if row.assignment_id is not None or row.rule != game.rule_name:
        return ()
    curves: dict[tuple[int, str, str], list[list[int]]] = defaultdict(list)
    for rule, season in _rules_like(session, row, game):
        for entry, name, curve in session.execute(_trials_on(rule)):
            if len(curve) >= n_boards:
                curves[entry, name, season.title].append(curve[:n_boards])
    found = [
        Yardstick.of(name, "", f"on this leaderboard, season {title}", own, entry)
        for (entry, name, title), own in curves.items()
        if len(own) >= _FEWEST_TRIALS
    ]
    return tuple(sorted(found, key=lambda each: each.median[-1])[:_MOST])


def _rules_like(session: Session, row: Row, game: Game) -> Iterable[tuple[SeasonRule, Season]]:
    """Return the rules of seasons with the settings of this game."""
    query = select(SeasonRule, Season).join(Season, SeasonRule.season_id == Season.id)
    if row.season_rule_id is not None:
        query = query.where(SeasonRule.id == row.season_rule_id)
    else:
        query = query.where(SeasonRule.name == row.rule)
    wanted = RuleEntry("", game.rule_text).hash
    for rule, season in session.execute(query):
        try:
            puzzle = puzzle_of(season, rule)
        except NotAllowed:
            continue
        same = (puzzle.horizon, puzzle.board) == (game.horizon, game.board)
        if same and RuleEntry("", rule.text).hash == wanted:
            yield rule, season


def _trials_on(rule: SeasonRule) -> Select[int, str, list[Any]]:
    return (
        select(Entry.id, Entry.name, VerifiedTrial.curve)
        .join(EntryAttempt, EntryAttempt.entry_id == Entry.id)
        .join(Submission, Submission.attempt_id == EntryAttempt.id)
        .join(VerifiedTrial, VerifiedTrial.submission_id == Submission.id)
        .where(VerifiedTrial.rule_id == rule.id, Submission.state == "verified")
        .where(Entry.withdrawn_at.is_(None))
        .order_by(VerifiedTrial.id)
    )
