"""Two learners of a season: the numbers are those of the statistics, and of a slow twin."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

from gnomon.leaderboard.learner_comparison import compare_learners
from gnomon.leaderboard.refusals import Conflict
from gnomon.leaderboard.standing_records import Board, Contender
from gnomon.leaderboard.standings import score_table
from gnomon.stats import compare

ERRORS = {
    (1, "easy"): [3, 5, 4, 4, 9],
    (1, "hard"): [30, 41, 38, 35, 36],
    (2, "easy"): [4, 4, 6, 7, 8],
    (2, "hard"): [60, 44, 38, 71, 52],
    (3, "other"): [1, 2, 3, 4, 5],
}
PAIR = (Contender(1, "a"), Contender(2, "b"))


@pytest.fixture(scope="module")
def board():
    rows = [
        {"entry": entry, "rule": rule, "run": run, "score": float(x)}
        for (entry, rule), errors in ERRORS.items()
        for run, x in enumerate(errors)
    ]
    rules = {"easy": False, "hard": True, "other": False}
    return Board("s", rules, 5, PAIR, pl.DataFrame(rows))


def test_shares_and_differences_by_a_slow_twin(board):
    found = compare_learners(board, *PAIR)
    assert [(line.rule, line.hidden) for line in found.rules] == [("easy", False), ("hard", True)]
    for line in found.rules:
        a, b = ERRORS[1, line.rule], ERRORS[2, line.rule]
        won = sum((x < y) + (x == y) / 2 for x, y in itertools.product(a, b)) / 25
        assert line.won.value == pytest.approx(won)
        assert line.difference.value == pytest.approx(sum(a) / 5 - sum(b) / 5)
        assert (line.a.value, line.b.value) == (sorted(a)[2], sorted(b)[2])
        for each in (line.won, line.difference):
            assert each.low < each.value < each.high


def test_the_numbers_are_those_of_the_statistics(board):
    found = compare_learners(board, *PAIR)
    told = compare(score_table(board, PAIR), "a", "b", "mean", per_task=True, rng=0)
    lines = (found.whole, *found.rules)
    assert [(x.difference.low, x.difference.high, x.p_difference) for x in lines] == [
        (x.low, x.high, x.p_adjusted) for x in told
    ]


def test_the_other_way_round_is_the_mirror(board):
    one, other = compare_learners(board, *PAIR), compare_learners(board, *PAIR[::-1])
    for a, b in zip((one.whole, *one.rules), (other.whole, *other.rules), strict=True):
        assert a.difference.low == pytest.approx(-b.difference.high)
        assert a.won.low == pytest.approx(1 - b.won.high)


def test_what_cannot_be_compared_is_refused(board):
    with pytest.raises(Conflict, match="nobody has no trial that counts"):
        compare_learners(board, PAIR[0], Contender(9, "nobody"))
    with pytest.raises(Conflict, match="no rule in common"):
        compare_learners(board, PAIR[0], Contender(3, "c"))
