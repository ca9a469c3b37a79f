"""Standings: the very numbers of the statistics, and nobody ranked who should not be."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking import rank
from gnomon.results import noted
from gnomon.stats import estimate
from gnomon_board.leaderboard import METRICS, Board, Contender, Standings, score_table, standings_of


def board(means, rules=("r1", "r2", "r3"), trials=5, seed=0, hidden=(), **changes):
    """Draw a board: entry i has errors around means[i] on every rule."""
    rng = np.random.default_rng(seed)
    rows = [
        (entry, rule, run, float(rng.poisson(mean * (1 + k))))
        for entry, mean in enumerate(means, 1)
        for k, rule in enumerate(rules)
        for run in range(trials)
    ]
    scores = pl.DataFrame(rows, schema=["entry", "rule", "run", "score"], orient="row")
    contenders = [Contender(i, f"learner {i}") for i in range(1, len(means) + 1)]
    known = {rule: rule in hidden for rule in rules}
    return Board(*("season", known, trials, contenders, scores), **changes)


def test_the_numbers_are_those_of_the_statistics():
    given_board = board([20, 40, 80])
    found = standings_of(given_board)
    table = score_table(given_board, given_board.contenders)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        estimates = estimate(table, METRICS, variances="own", rng=np.random.default_rng(0))
        ranking = rank(table, level=0.95)
    for line in found.ranked:
        own = {e.metric: e for e in estimates if e.algorithm == line.contender.name}
        for metric in METRICS:
            shown = line.estimates[metric]
            expected = own[metric]
            assert (shown.value, shown.low, shown.high) == (
                *(expected.value, expected.low, expected.high),
            )
    assert [line.contender.name for line in found.ranked] == list(ranking.names)
    assert [line.rank_low for line in found.ranked] == [one.rank_low for one in ranking]
    assert [line.rank_high for line in found.ranked] == [one.rank_high for one in ranking]


def test_few_errors_come_first_and_the_hardest_rule_too():
    found = standings_of(board([80, 20, 40], trials=20))
    assert [line.contender.entry_id for line in found.ranked] == [2, 3, 1]
    assert [rule["name"] for rule in found.rules] == ["r3", "r2", "r1"]


def test_identical_learners_are_one_group():
    found = standings_of(board([30, 30, 30, 30], trials=10))
    assert {line.groups for line in found.ranked} == {(1,)}
    assert {(line.rank_low, line.rank_high) for line in found.ranked} == {(1, 4)}


def test_one_learner_alone_is_first_and_has_estimates():
    (line,) = standings_of(board([30])).ranked
    assert (line.rank_low, line.rank_high, line.groups) == (1, 1, (1,))
    assert line.estimates["mean"].low is not None


def test_nobody_is_a_board_too():
    found = standings_of(board([]))
    assert (found.ranked, found.unranked, len(found.rules)) == ((), (), 3)


def without(given_board, keep):
    return Board(
        given_board.season,
        given_board.rules,
        given_board.trials,
        given_board.contenders,
        given_board.scores.filter(keep),
    )


@settings(max_examples=8)
@given(st.integers(1, 3), st.sampled_from(["r1", "r2", "r3"]), st.integers(0, 4))
def test_who_lacks_a_trial_never_ranks(entry, rule, run):
    at = (pl.col("entry") == entry) & (pl.col("rule") == rule) & (pl.col("run") == run)
    found = standings_of(without(board([20, 40, 80]), ~at))
    assert [line.contender.entry_id for line in found.unranked] == [entry]
    assert found.unranked[0].why == "incomplete"
    assert entry not in [line.contender.entry_id for line in found.ranked]


@settings(max_examples=8)
@given(st.integers(1, 3), st.sampled_from([float("nan"), None]))
def test_what_is_no_number_never_ranks(entry, nothing):
    whole = board([20, 40, 80])
    at = (pl.col("entry") == entry) & (pl.col("run") == 0)
    scores = whole.scores.with_columns(
        pl.when(at).then(pl.lit(nothing, dtype=pl.Float64)).otherwise("score").alias("score")
    )
    found = standings_of(Board(whole.season, whole.rules, 5, whole.contenders, scores))
    assert [line.contender.entry_id for line in found.unranked] == [entry]


def test_who_withdrew_a_verified_attempt_never_ranks():
    whole = board([20, 40])
    contenders = [Contender(1, "a", n_attempts=2, n_withdrawn=1), Contender(2, "b")]
    found = standings_of(Board(whole.season, whole.rules, 5, contenders, whole.scores))
    assert [line.why for line in found.unranked] == ["withdrawn attempt"]
    assert [line.contender.name for line in found.ranked] == ["b"]


def test_who_spoils_an_attempt_never_ranks():
    """Else the best of a hundred could be had: the logs of the others need only be damaged."""
    whole = board([20, 40])
    contenders = [Contender(1, "a", n_attempts=2, n_refused=1), Contender(2, "b")]
    found = standings_of(Board(whole.season, whole.rules, 5, contenders, whole.scores))
    assert [line.why for line in found.unranked] == ["refused attempt"]
    assert [line.contender.name for line in found.ranked] == ["b"]


def test_a_hundred_submissions_of_one_learner_do_not_raise_it():
    """Chance alone would make the best of a hundred look better than its equals."""
    n_goes, trials = 100, 3
    rng = np.random.default_rng(1)
    rows = [
        (entry, rule, run, float(rng.poisson(50)))
        for entry, runs in ((1, n_goes * trials), (2, trials), (3, trials), (4, trials))
        for rule in ("r1", "r2")
        for run in range(runs)
    ]
    scores = pl.DataFrame(rows, schema=["entry", "rule", "run", "score"], orient="row")
    contenders = [
        Contender(1, "often", n_attempts=n_goes, n_verified=n_goes),
        *(Contender(i, f"once {i}") for i in (2, 3, 4)),
    ]
    found = standings_of(Board("s", {"r1": False, "r2": False}, trials, contenders, scores))
    often = next(line for line in found.ranked if line.contender.name == "often")
    assert often.n_trials == 2 * n_goes * trials
    assert often.estimates["mean"].value == pytest.approx(50, abs=1.5)
    assert often.rank_high > 1
    best_of_many = min(
        np.mean([row[3] for row in rows if row[0] == 1 and row[2] // trials == go])
        for go in range(n_goes)
    )
    assert best_of_many < often.estimates["mean"].low


def test_the_gap_is_the_difference_of_two_estimates():
    whole = board([20, 40], rules=("p1", "p2", "h1"), hidden=("h1",), trials=10)
    found = standings_of(whole)
    table = score_table(whole, whole.contenders)
    for line in found.ranked:
        name = line.contender.name
        hidden = table.runs(name, "h1").mean()
        public = np.mean([table.runs(name, rule).mean() for rule in ("p1", "p2")])
        assert line.gap is not None
        assert line.gap.value == pytest.approx(hidden - public)
        assert line.gap.low < line.gap.value < line.gap.high
    assert found.has_gap
    assert not standings_of(board([20])).has_gap


@pytest.mark.full
def test_the_interval_of_the_gap_covers_it():
    """In 95 of 100 draws, as far as a binomial test with 300 draws can tell."""
    rng, covered, n_draws = np.random.default_rng(0), 0, 300
    for _ in range(n_draws):
        errors = {"h": rng.normal(10, 3, (2, 8)), "p": rng.normal(4, 2, (2, 8))}
        rows = [
            (1, f"{kind}{k}", run, float(errors[kind][k, run]))
            for kind in errors
            for k in range(2)
            for run in range(8)
        ]
        scores = pl.DataFrame(rows, schema=["entry", "rule", "run", "score"], orient="row")
        rules = {name: name[0] == "h" for name in ("h0", "h1", "p0", "p1")}
        with noted():  # In some draws the runs of a task fall in two clusters.
            (line,) = standings_of(Board("s", rules, 8, [Contender(1, "a")], scores)).ranked
        covered += line.gap.low <= 6.0 <= line.gap.high
    assert 0.91 <= covered / n_draws <= 0.99


def test_what_is_not_estimable_is_none_with_a_note():
    found = standings_of(board([20, 40], trials=1))
    assert all(line.estimates["mean"].low is None for line in found.ranked)
    assert any("not estimable" in note for note in found.notes)


def test_a_record_is_json_and_comes_back():
    found = standings_of(board([20, 40], hidden=("r1",)))
    text = json.dumps(found.as_record(), allow_nan=False)
    assert Standings.from_record(json.loads(text)) == found


def test_the_same_scores_give_the_same_standings_in_any_order():
    whole = board([20, 40, 60])
    mixed = whole.scores.sample(fraction=1.0, shuffle=True, seed=3)
    again = Board(whole.season, whole.rules, whole.trials, whole.contenders, mixed)
    assert standings_of(again) == standings_of(whole)


@pytest.mark.full  # two hundred rankings
def test_the_best_of_many_equal_attempts_stands_surely_above_one_no_more_often_than_stated():
    """An account begins a hundred learners that play at random and finishes the best of them."""
    n_boards, k, above, uncorrected = 100, 100, 0, 0
    for seed in range(n_boards):
        drawn = board([100] * (k + 1), trials=10, seed=seed)
        means = drawn.scores.filter(pl.col("entry") <= k).group_by("entry").agg(pl.mean("score"))
        best = means.sort("score", "entry")["entry"][0]
        two = drawn.scores.filter(pl.col("entry").is_in([best, k + 1]))
        for n_begun in (k, 1):
            contenders = [Contender(best, "best", n_begun_of_account=n_begun)]
            contenders.append(Contender(k + 1, "alone"))
            first = standings_of(replace(drawn, contenders=contenders, scores=two)).ranked[0]
            sure = (first.contender.name, first.rank_high) == ("best", 1)
            above += sure and n_begun == k
            uncorrected += sure and n_begun == 1
    # The stated error, and three standard errors of this simulation.
    assert above / n_boards <= 0.05 + 3 * (0.05 * 0.95 / n_boards) ** 0.5
    assert uncorrected > above
