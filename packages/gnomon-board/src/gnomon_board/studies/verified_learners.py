"""Verified learners beside a person: error curves on the same rule, from the leaderboard.

Only for a rule that is played under its own name: the numbers of a season would tell which rule a
numbered puzzle is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

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
from gnomon_board.studies.playable_rules import puzzle_of
from gohr.experiments import RuleEntry
from gohr.people import Game, Yardstick

#: Fewer trials say too little of a learner to be drawn.
_FEWEST_TRIALS = 3
_MOST = 3


def verified_learners(
    session: Session, row: Row, game: Game, n_boards: int
) -> tuple[Yardstick, ...]:
    """Return the three learners with the fewest errors on a rule after so many boards, as verified.

    They played the same text, on boards drawn alike, as long a board. None for a game of a study or
    of a numbered puzzle, and where nobody was measured.
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
    """Return the rules of seasons that were played as this game is."""
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
