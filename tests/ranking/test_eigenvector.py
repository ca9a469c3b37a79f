"""The server's score: against NumPy's eigenvectors."""

import numpy as np
import pytest
from hypothesis import given

from gnomon.ranking.contest import Contest
from gnomon.ranking.ratings.methods import METHODS
from gnomon.ranking.ratings.pooled import difficulty, perron_vector
from gnomon.ranking.tournament import Tournament
from strategies_ranking import contests, flows


@given(flows())
def test_the_vector_is_numpys(f):
    e = np.exp(f)
    values, vectors = np.linalg.eig(e)
    largest = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    assert perron_vector(e) == pytest.approx(largest / np.linalg.norm(largest), abs=1e-8)


def server_example():
    """Errors of three rules for one algorithm; W = (Z + 1) / (Z' + 1) as the server has it."""
    errors = [np.array([3.0, 5, 9]), np.array([4.0, 6, 8]), np.array([20.0, 30, 40])]
    z = np.array(
        [[sum((a < b) + 0.5 * (a == b) for a in x for b in y) for y in errors] for x in errors]
    )
    w = (z + 1) / (z.T + 1)
    np.fill_diagonal(w, 1.0)
    return errors, perron_vector(w)


def test_one_rule_gives_the_servers_score_for_algorithms():
    errors, vector = server_example()
    contest = Contest(("a", "b", "c"), ("rule",), (tuple(-x for x in errors),))
    found = METHODS["gohr-ev"].rate(Tournament.of(contest), contest)
    assert found == pytest.approx(vector)


def test_one_algorithm_gives_the_servers_difficulty_of_rules():
    errors, vector = server_example()
    contest = Contest(("a", "b", "c"), ("dqn",), (tuple(errors),), "task")
    found = METHODS["gohr-ev"].rate(Tournament.of(contest), contest)
    assert found == pytest.approx(vector.min() / vector)
    assert found.max() == 1.0  # the hardest
    assert difficulty([0.8, 0.4]).tolist() == [0.5, 1.0]


@given(contests(max_grounds=1, missing=False))
def test_ratios_of_one_rule_are_the_smoothed_counts(contest):
    graph = Tournament.of(contest)
    expected = (contest.wins[0] + 1) / (contest.wins[0].T + 1)
    assert np.exp(graph.log_odds) == pytest.approx(expected)


def test_a_missing_ratio_is_left_to_the_others():
    """With consistent ratios an unmet pair changes nothing (Harker 1987)."""
    v = np.array([4.0, 2.0, 1.0])
    e = v[:, None] / v[None, :]
    e[0, 2] = e[2, 0] = np.nan
    assert perron_vector(e) == pytest.approx(v / np.linalg.norm(v), abs=1e-9)


def test_ratios_of_zero_are_refused():
    with pytest.raises(ValueError, match="expected ease ratios above 0; smooth the counts"):
        perron_vector([[1.0, 0.0], [2.0, 1.0]])
