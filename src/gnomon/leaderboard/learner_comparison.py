"""Comparison of two learners of a season: differences of errors and pairs won, rule by rule.

Every number is one of :func:`gnomon.stats.compare` on the table of scores that anybody can
download.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.leaderboard.refusals import Conflict
from gnomon.leaderboard.standing_records import LEVEL, Board, Contender, Difference, Number
from gnomon.leaderboard.standings import score_table
from gnomon.results import noted

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable
    from gnomon.stats import Comparison

_METRICS = ("mean", "probability_of_improvement")


@dataclass(frozen=True, slots=True)
class RuleComparison:
    """Two learners on a rule, or on all of them together.

    Parameters
    ----------
    rule : str
        ``""`` for all rules together.
    hidden : bool
    a, b : Number or None
        Medians of their errors on the rule; None for all rules together.
    difference : Difference
        Mean errors of the first minus those of the second: below 0 the first has fewer.
    won : Number
        Share of the pairs of trials that the first wins, from 0 to 1; a tie is half a pair.
    p_difference, p_won : float or None
        p-values; those of the rules are corrected over the rules (Holm).
    """

    rule: str
    hidden: bool
    a: Number | None
    b: Number | None
    difference: Difference
    won: Number
    p_difference: float | None
    p_won: float | None


@dataclass(frozen=True, slots=True)
class LearnerComparison:
    """Two learners of a season: on all rules that both have played, and on each.

    ``notes`` is what the statistics warned of.
    """

    whole: RuleComparison
    rules: tuple[RuleComparison, ...]
    notes: tuple[str, ...]
    level: float = LEVEL


def compare_learners(board: Board, a: Contender, b: Contender) -> LearnerComparison:
    """Compare two learners of a season.

    Raises
    ------
    Conflict
        One of them has no score that counts, or they share no rule.
    """
    from gnomon.stats import compare

    there = set(board.scores["entry"].to_list())
    for each in (a, b):
        if each.entry_id not in there:
            raise Conflict(f"{each.name} has no trial that counts: there is nothing to compare")
    table = score_table(board, [a, b])
    if not set(table.tasks_of(a.name)) & set(table.tasks_of(b.name)):
        raise Conflict(f"{a.name} and {b.name} have played no rule in common")
    rng = np.random.default_rng(board.seed)
    with noted() as notes:
        found = compare(table, a.name, b.name, _METRICS, per_task=True, level=LEVEL, rng=rng)
        by_rule: dict[str, list[Comparison]] = {}
        for one in found:
            by_rule.setdefault(one.task or "", []).append(one)
        lines = [
            _line(rule, board.rules.get(rule, False), _medians(table, rule, a, b), both)
            for rule, both in by_rule.items()
        ]
    return LearnerComparison(lines[0], tuple(lines[1:]), tuple(notes))


def _medians(
    table: ScoreTable, rule: str, a: Contender, b: Contender
) -> tuple[Number, Number] | tuple[None, None]:
    if not rule:
        return None, None
    return Number.median(table.runs(a.name, rule)), Number.median(table.runs(b.name, rule))


def _line(
    rule: str,
    hidden: bool,
    medians: tuple[Number, Number] | tuple[None, None],
    both: Sequence[Comparison],
) -> RuleComparison:
    difference, won = both
    a, b = medians
    p_difference, p_won = _finite(difference.p_adjusted, won.p_adjusted)
    return RuleComparison(
        *(rule, hidden, a, b),
        Difference(*_finite(difference.value, difference.low, difference.high)),
        Number(*_finite(won.value, won.low, won.high)),
        *(p_difference, p_won),
    )


def _finite(*values: float) -> tuple[float | None, ...]:
    return tuple(value if math.isfinite(value) else None for value in values)
