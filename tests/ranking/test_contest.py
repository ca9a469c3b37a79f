"""Won pairs: against counting them, against SciPy, and what a table becomes."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.ranking import Contest
from gnomon.scores import ScoreTable
from strategies_ranking import contests


def counted(contest, g, i, j):
    """The slow twin: look at every pair of runs."""
    x, y = contest.samples[g][i], contest.samples[g][j]
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in x for b in y)


@given(contests())
def test_wins_are_the_pairs_counted_one_by_one(contest):
    n = len(contest.names)
    for g in range(len(contest.grounds)):
        slow = [[counted(contest, g, i, j) for j in range(n)] for i in range(n)]
        assert np.array_equal(contest.wins[g], slow)


@given(contests())
def test_wins_and_losses_are_all_pairs(contest):
    assert np.array_equal(contest.wins + np.swapaxes(contest.wins, 1, 2), contest.pairs)


@given(contests())
def test_only_the_order_of_scores_counts(contest):
    bent = tuple(tuple(np.exp(x / 20.0) for x in row) for row in contest.samples)
    assert np.array_equal(contest.wins, Contest(contest.names, contest.grounds, bent).wins)


def test_wins_are_scipys_statistic_of_the_other_direction():
    rng = np.random.default_rng(0)
    errors_i, errors_j = rng.poisson(50, 100), rng.poisson(52, 100)
    contest = Contest(("i", "j"), ("rule",), ((-errors_i.astype(float), -errors_j.astype(float)),))
    u = stats.mannwhitneyu(errors_i, errors_j).statistic
    assert contest.wins[0, 0, 1] == 100 * 100 - u


def test_variance_of_probability_is_that_of_delong_by_hand():
    x, y = np.array([1.0, 4.0, 6.0]), np.array([2.0, 3.0])
    mine = np.array([0.0, 1.0, 1.0])  # share of y below each x
    other = np.array([1 / 3, 1 / 3])  # share of x below each y
    expected = mine.var(ddof=1) / 3 + other.var(ddof=1) / 2
    contest = Contest(("x", "y"), ("rule",), ((x, y),))
    assert contest.probability_variance[0, 0, 1] == pytest.approx(expected)


def test_variance_of_probability_is_that_of_many_repetitions():
    rng = np.random.default_rng(1)
    found, guessed = [], []
    for _ in range(400):
        contest = Contest(("x", "y"), ("r",), ((rng.normal(0.5, 1, 30), rng.normal(0, 1, 20)),))
        found.append(contest.probability[0, 0, 1])
        guessed.append(contest.probability_variance[0, 0, 1])
    assert np.mean(guessed) == pytest.approx(np.var(found), rel=0.2)


def test_variance_of_a_single_run_is_unknown_whatever_rounding_does():
    runs = np.arange(5.0)
    for shift in (0.0, 0.5, 1.0, 2.5):
        contest = Contest(("x", "y"), ("r",), ((np.array([shift]), runs),))
        assert np.isnan(contest.probability_variance[0, 0, 1])
    three = Contest(("x", "y"), ("r",), ((np.array([1.5]), np.arange(3.0)),))
    assert np.isnan(three.probability_variance[0, 0, 1])


def table_of(scores, **options):
    records = [
        {"algorithm": a, "task": t, "run": i, "score": x, "censored": np.isinf(x)}
        for (a, t), runs in scores.items()
        for i, x in enumerate(runs)
    ]
    return ScoreTable.from_records(records, **options)


def test_the_tables_direction_says_who_is_better():
    scores = {("a", "rule"): [1.0, 2.0], ("b", "rule"): [3.0, 4.0]}
    up = Contest.from_table(table_of(scores))
    down = Contest.from_table(table_of(scores, higher_is_better=False))
    assert up.probability[0, 0, 1] == 0.0
    assert down.probability[0, 0, 1] == 1.0


def test_tasks_win_by_being_harder():
    scores = {("a", "easy"): [1.0, 2.0], ("a", "hard"): [30.0, 40.0]}
    contest = Contest.from_table(table_of(scores, higher_is_better=False), by="task")
    assert contest.names == ("easy", "hard")
    assert contest.grounds == ("a",)
    assert contest.probability[0, 1, 0] == 1.0


def test_unlearned_runs_are_worst_and_tied_among_themselves():
    scores = {("a", "rule"): [np.inf, 5.0], ("b", "rule"): [np.inf, np.inf]}
    contest = Contest.from_table(table_of(scores, higher_is_better=False))
    assert contest.wins[0, 0, 1] == 1.0 + 2.0  # one tied with both, one before both


def test_different_subsets_of_tasks_are_kept():
    scores = {("a", "x"): [1.0], ("b", "x"): [2.0], ("b", "y"): [2.0], ("c", "y"): [1.0]}
    contest = Contest.from_table(table_of(scores))
    assert np.isnan(contest.probability[:, 0, 2]).all()
    assert contest.met.sum() == 4


def test_ease_ratio_is_the_servers():
    contest = Contest(("a", "b"), ("r",), ((np.array([3.0, 4.0]), np.array([1.0, 2.0])),))
    assert contest.ease_ratio()[0, 0, 1] == (4 + 1) / (0 + 1)
    assert contest.ease_ratio(0.0)[0, 0, 1] == np.inf


def test_one_learner_is_no_contest():
    with pytest.raises(ScoreDataError) as error:
        Contest.from_table(ScoreTable.from_arrays({"dqn": [[1.0]]}))
    assert str(error.value) == "expected at least two algorithms with scores to rank, found dqn"


def test_a_learner_without_scores_is_left_out_aloud():
    table = ScoreTable.from_arrays({"a": [[1.0]], "b": [[2.0]], "c": [[np.nan]]})
    with pytest.warns(DegenerateScoresWarning, match="left out, since they have no score: c"):
        assert Contest.from_table(table).names == ("a", "b")


def test_too_many_runs_are_refused():
    with pytest.raises(ScoreDataError, match="at most 5000 runs"):
        Contest(("a", "b"), ("r",), ((np.zeros(5001), np.zeros(1)),))


def test_a_score_that_is_none_is_refused_and_named():
    samples = ((np.array([5.0, np.nan]), np.array([1.0, 2.0])),)
    with pytest.raises(ScoreDataError, match="b on r: expected scores, found NaN"):
        Contest(("b", "a"), ("r",), samples)
