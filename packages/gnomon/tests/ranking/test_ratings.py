"""Pooled ratings: mean ranks against SciPy, the server's score against NumPy's eigenvectors."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from gnomon.ranking import rank
from gnomon.scores import ScoreTable
from strategies_ranking import Runs, contests


@pytest.mark.filterwarnings("ignore")
@given(contests(missing=False))
def test_mean_ranks_are_those_of_friedman(contest):
    pooled = [stats.rankdata(np.concatenate(row)) for row in contest.samples]
    middles = [
        [r.mean() for r in np.split(ranks, np.cumsum([x.size for x in row])[:-1])]
        for ranks, row in zip(pooled, contest.samples, strict=True)
    ]
    if all(len({x.size for x in row}) == 1 for row in contest.samples):
        slow = np.mean([stats.rankdata(-np.round(m, 9)) for m in middles], axis=0)
        found = {one.name: one.value for one in rank(contest.table, "mean-rank")}
        assert [found[name] for name in contest.names] == pytest.approx(slow)


def largest_vector(ratios):
    """Return the eigenvector of the largest eigenvalue, by NumPy."""
    values, vectors = np.linalg.eig(ratios)
    largest = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    return largest / np.linalg.norm(largest)


def server_example():
    """Errors of three rules for one algorithm; W = (Z + 1) / (Z' + 1) as the server has it."""
    errors = [np.array([3.0, 5, 9]), np.array([4.0, 6, 8]), np.array([20.0, 30, 40])]
    z = np.array(
        [[sum((a < b) + 0.5 * (a == b) for a in x for b in y) for y in errors] for x in errors]
    )
    w = (z + 1) / (z.T + 1)
    np.fill_diagonal(w, 1.0)
    return errors, largest_vector(w)


def test_one_rule_gives_the_servers_score_for_algorithms():
    errors, vector = server_example()
    table = Runs(("a", "b", "c"), ("rule",), (tuple(-x for x in errors),)).table
    found = {one.name: one.value for one in rank(table, "gohr-ev")}
    assert [found[name] for name in "abc"] == pytest.approx(vector)


def test_one_algorithm_gives_the_servers_difficulty_of_rules():
    errors, vector = server_example()
    records = [
        {"algorithm": "dqn", "task": task, "run": r, "score": x}
        for task, runs in zip("abc", errors, strict=True)
        for r, x in enumerate(runs)
    ]
    table = ScoreTable(records, higher_is_better=False)
    found = {one.name: one.value for one in rank(table, "gohr-ev", by="task")}
    assert [found[name] for name in "abc"] == pytest.approx(vector.min() / vector)
    assert max(found.values()) == 1.0  # the hardest


def test_a_missing_ratio_is_left_to_the_others():
    """Where a pair never met, its entry is 0 and its row has one more (Harker 1987)."""
    x, nothing = np.array([1.0]), np.empty(0)
    table = Runs(("a", "b", "c"), ("u", "v"), ((x + 1, x, nothing), (nothing, x + 1, x))).table
    # One win of one pair of runs: (1 + 1) / (0 + 1).
    vector = largest_vector([[2.0, 2.0, 0.0], [0.5, 1.0, 2.0], [0.0, 0.5, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {one.name: one.value for one in rank(table, "gohr-ev")}
    assert [found[name] for name in "abc"] == pytest.approx(vector)
