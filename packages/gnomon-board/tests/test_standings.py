"""Standings: the numbers of the statistics, and ranks that further entries do not steer."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking import rank
from gnomon.stats import compare, estimate
from gnomon_board.standings import Board, Contender, Score, score_table, standings_of

IMPROVEMENT = "probability_of_improvement"


def board(means, rules=("r1", "r2", "r3"), trials=5, seed=0, **changes):
    """Draw a board: entry i, of account i, has errors around means[i] on every rule."""
    rng = np.random.default_rng(seed)
    scores = [
        Score(entry, rule, run, float(rng.poisson(mean * (1 + k))))
        for entry, mean in enumerate(means, 1)
        for k, rule in enumerate(rules)
        for run in range(trials)
    ]
    contenders = [Contender(i, f"learner {i}", f"account {i}") for i in range(1, len(means) + 1)]
    return Board("season", rules, trials, contenders, scores, **changes)


def test_the_numbers_are_those_of_the_statistics_and_no_count_is_negative():
    given_board = board([0.5, 40, 80], trials=2)
    found = standings_of(given_board)
    table = score_table(given_board, given_board.contenders)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        expected = {e.algorithm: e for e in estimate(table, "iqm", variances="own")}
    assert expected["learner 1"].low < 0.0
    ranking = rank(table)
    for line, one in zip(found.ranked, ranking, strict=True):
        own = expected[line.contender.name]
        assert (line.errors.value, line.errors.low, line.errors.high) == (
            *(own.value, max(own.low, 0.0), own.high),
        )
        assert (line.contender.name, line.rank_low, line.rank_high, line.tiers) == (
            *(one.name, one.rank_low, one.rank_high, one.tiers),
        )


def test_few_errors_come_first():
    found = standings_of(board([80, 20, 40], trials=20))
    assert [line.contender.entry_id for line in found.ranked] == [2, 3, 1]


def test_one_learner_alone_is_first_and_has_estimates():
    (line,) = standings_of(board([30])).ranked
    assert (line.rank_low, line.rank_high, line.tiers) == (1, 1, (1,))
    assert line.errors.low is not None


def test_nobody_is_a_board_too():
    found = standings_of(board([]))
    assert (found.ranked, found.unranked) == ((), ())


@settings(max_examples=8)
@given(st.integers(1, 3), st.sampled_from(["r1", "r2", "r3"]), st.integers(0, 4))
def test_who_lacks_a_trial_never_ranks(entry, rule, run):
    whole = board([20, 40, 80])
    scores = [row for row in whole.scores if row[:3] != (entry, rule, run)]
    found = standings_of(replace(whole, scores=scores))
    assert [(line.contender.entry_id, line.why) for line in found.unranked] == [
        (entry, "incomplete")
    ]
    assert entry not in [line.contender.entry_id for line in found.ranked]


def test_what_is_no_number_never_ranks():
    whole = board([20, 40, 80])
    scores = [row._replace(errors=math.nan) if row[::2] == (2, 0) else row for row in whole.scores]
    found = standings_of(replace(whole, scores=scores))
    assert [line.contender.entry_id for line in found.unranked] == [2]


@pytest.mark.parametrize("ending", ["withdrawn", "refused"])
def test_who_withdraws_or_spoils_an_attempt_never_ranks(ending):
    """Else the best of a hundred could be had: the logs of the others need only be damaged."""
    contenders = [Contender(1, "a", n_attempts=2, excluded=f"{ending} attempt"), Contender(2, "b")]
    found = standings_of(replace(board([20, 40]), contenders=contenders))
    assert [line.why for line in found.unranked] == [f"{ending} attempt"]
    assert [line.contender.name for line in found.ranked] == ["b"]


def test_a_hundred_submissions_of_one_learner_do_not_raise_it():
    """Chance alone would make the best of a hundred look better than its equals."""
    n_goes, trials = 100, 3
    rng = np.random.default_rng(1)
    rows = [
        Score(entry, rule, run, float(rng.poisson(50)))
        for entry, runs in ((1, n_goes * trials), (2, trials), (3, trials), (4, trials))
        for rule in ("r1", "r2")
        for run in range(runs)
    ]
    contenders = [
        Contender(1, "often", "a", n_attempts=n_goes, n_verified=n_goes, n_begun=n_goes),
        *(Contender(i, f"once {i}", f"b{i}") for i in (2, 3, 4)),
    ]
    found = standings_of(Board("s", ("r1", "r2"), trials, contenders, rows))
    often = next(line for line in found.ranked if line.contender.name == "often")
    assert often.n_trials == 2 * n_goes * trials
    assert often.errors.value == pytest.approx(50, abs=1.5)
    assert often.rank_high > 1
    best_of_many = min(
        np.mean([row[3] for row in rows if row[0] == 1 and row[2] // trials == go])
        for go in range(n_goes)
    )
    assert best_of_many < often.errors.low


def test_what_is_not_estimable_is_none_with_a_note():
    found = standings_of(board([20, 40], trials=1))
    assert all(line.errors.low is None for line in found.ranked)
    assert any("not estimable" in note for note in found.notes)


def test_the_same_scores_give_the_same_standings_in_any_order():
    whole = board([20, 40, 60])
    mixed = [whole.scores[i] for i in np.random.default_rng(3).permutation(len(whole.scores))]
    assert standings_of(replace(whole, scores=mixed)) == standings_of(whole)


def test_rules_of_a_pooled_board_are_runs_of_one_task():
    """Each entry has rules of its own: what they have in common is the family."""
    rng = np.random.default_rng(0)
    rules = tuple(f"s-h{i:02}" for i in range(40))
    scores = [
        Score(entry, rule, 0, float(rng.poisson(mean)))
        for entry, mean in ((1, 20), (2, 60))
        for rule in rng.permutation(rules)[:20]
    ]
    contenders = [Contender(1, "a", "ada"), Contender(2, "b", "bob")]
    found = standings_of(Board("s", rules, 20, contenders, scores, pooled=True))
    assert [(line.contender.name, line.rank_high) for line in found.ranked] == [("a", 1), ("b", 2)]
    few = standings_of(Board("s", rules, 20, contenders, scores[1:], pooled=True))
    assert [(line.contender.name, line.why) for line in few.unranked] == [("a", "incomplete")]


def with_decoys(n, seed=0):
    """Two equal learners, and decoys of the first one's account that lose to it on rule r2."""
    rng = np.random.default_rng(seed)
    means = {1: (20, 60, 41, 41), 2: (60, 20, 40, 40)}
    means |= dict.fromkeys(range(3, 3 + n), (40, 90, 40, 40))
    scores = [
        Score(entry, f"r{k}", run, float(rng.poisson(mean)))
        for entry, of_rules in means.items()
        for k, mean in enumerate(of_rules, 1)
        for run in range(10)
    ]
    contenders = [
        Contender(i, f"learner {i}", "bob" if i == 2 else "ada", n_begun=1 if i == 2 else n + 1)
        for i in means
    ]
    return Board("s", ("r1", "r2", "r3", "r4"), 10, contenders, scores)


@pytest.mark.parametrize("n", [5, 12])
def test_decoys_of_an_account_do_not_separate_it_from_a_rival(n):
    """Five to twelve once did: ranks went by wins against the average of the board."""
    before, after = standings_of(with_decoys(0)), standings_of(with_decoys(n))
    assert [(line.rank_low, line.rank_high) for line in before.ranked] == [(1, 2), (1, 2)]
    lines = {line.contender.entry_id: line for line in after.ranked}
    for entry in (1, 2):
        assert (lines[entry].rank_low, lines[entry].rank_high) == (1, 2)
    assert set(lines[1].tiers) & set(lines[2].tiers)
    assert [line.contender.entry_id for line in after.ranked if line.contender.entry_id < 3] == [
        line.contender.entry_id for line in before.ranked
    ]


def test_a_decoy_whose_trials_vary_together_does_not_change_the_comparison_of_others():
    """It once widened the intervals of all pairs, since trials of one number passed for one run."""
    without = board([40, 43], tuple("abcde"), seed=3)
    together = np.random.default_rng(0).normal(1000, 60, size=5)
    decoy = [Score(3, rule, run, x) for rule in without.rules for run, x in enumerate(together)]
    contenders = [*without.contenders, Contender(3, "decoy", "account 2")]
    given = replace(without, scores=[*without.scores, *decoy], contenders=contenders)
    before, after = (
        compare(score_table(each, each.contenders), "learner 1", "learner 2", IMPROVEMENT)[0]
        for each in (without, given)
    )
    assert (before.low, before.high, before.p_value) == (after.low, after.high, after.p_value)


def test_attempts_of_an_account_never_weaken_a_rival():
    """Only what the account itself wins is corrected for the choice that it had."""
    drawn = board([30, 33], trials=20)
    assert [line.rank_high for line in standings_of(drawn).ranked] == [1, 2]
    many = [replace(c, n_begun=10**6) for c in drawn.contenders]
    worse = [drawn.contenders[0], many[1]]
    assert [line.rank_high for line in standings_of(replace(drawn, contenders=worse)).ranked] == [
        *(1, 2)
    ]
    better = [many[0], drawn.contenders[1]]
    found = standings_of(replace(drawn, contenders=better)).ranked
    assert [line.rank_high for line in found] == [2, 2]


@pytest.mark.full  # a hundred boards
def test_the_best_of_many_equal_attempts_is_first_alone_no_more_often_than_stated():
    """An account begins a hundred learners that play at random and finishes the best of them."""
    n_boards, k, above, uncorrected = 100, 100, 0, 0
    for seed in range(n_boards):
        drawn = board([100] * (k + 1), trials=10, seed=seed)
        sums = dict.fromkeys(range(1, k + 1), 0.0)
        for row in drawn.scores:
            if row.entry <= k:
                sums[row.entry] += row.errors
        best = min(sums, key=lambda entry: sums[entry])
        two = [row for row in drawn.scores if row.entry in (best, k + 1)]
        for n_begun in (k, 1):
            contenders = [Contender(best, "best", "ada", n_begun=n_begun)]
            contenders.append(Contender(k + 1, "alone", "bob"))
            first = standings_of(replace(drawn, contenders=contenders, scores=two)).ranked[0]
            sure = (first.contender.name, first.rank_high) == ("best", 1)
            above += sure and n_begun == k
            uncorrected += sure and n_begun == 1
    # The stated error, and three standard errors of this simulation.
    assert above / n_boards <= 0.05 + 3 * (0.05 * 0.95 / n_boards) ** 0.5
    assert uncorrected > above
