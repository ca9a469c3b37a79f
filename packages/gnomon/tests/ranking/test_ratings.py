"""Pooled ratings against independent programs: choix and evalica.

The server's score: against NumPy's eigenvectors.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.ranking import bradley_terry, rank
from gnomon.scores import ScoreTable
from strategies_ranking import Runs, contests

WINS = np.array([[0, 7, 4, 9], [3, 0, 6, 5], [6, 4, 0, 8], [1, 5, 2, 0]])


def games(wins):
    return [(i, j) for i in range(len(wins)) for j in range(len(wins)) for _ in range(wins[i, j])]


def oracle(name):
    """A program that is only there to be compared with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed: nothing to compare with")


def evalica_of(function, wins=WINS, **options):
    evalica = oracle("evalica")
    played = games(wins)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = getattr(evalica, function)(
            [f"{i}" for i, _ in played],
            [f"{j}" for _, j in played],
            [evalica.Winner.X] * len(played),
            **options,
        )
        scores = result.scores
    return np.array([scores[f"{i}"] for i in range(len(wins))])


@pytest.mark.parametrize("seed", range(6))
def test_generated_games_are_rated_as_by_choix_and_evalica(seed):
    choix, rng = oracle("choix"), np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    wins = rng.integers(1, 12, (n, n))
    np.fill_diagonal(wins, 0)
    ours = bradley_terry(wins, ridge=0.0)
    assert ours == pytest.approx(choix.ilsr_pairwise(n, games(wins)), abs=1e-6)
    theirs = np.log(evalica_of("bradley_terry", wins, tolerance=1e-12, limit=10_000))
    assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    ridge = float(rng.uniform(0.1, 3.0))
    with_ridge = choix.opt_pairwise(n, games(wins), alpha=ridge / 2, method="Newton-CG", tol=1e-12)
    assert bradley_terry(wins, ridge=ridge) == pytest.approx(
        with_ridge - with_ridge.mean(), abs=1e-5
    )


def test_without_ridge_everyone_must_win_and_lose():
    with pytest.raises(ScoreDataError, match="give a ridge above 0"):
        bradley_terry([[0, 3], [0, 0]], ridge=0.0)
    assert np.isfinite(bradley_terry([[0, 3], [0, 0]])).all()


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
