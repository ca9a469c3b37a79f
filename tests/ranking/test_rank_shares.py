"""Rank distributions: exact against all draws, and against draws at random."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import ScoreDataError
from gnomon.ranking import rank_distribution
from gnomon.scores import ScoreTable

samples = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3), min_size=2, max_size=4)


def by_all_draws(runs):
    """Return the shares by every draw of one run of each, and every order of those that tie."""
    n = len(runs)
    shares = np.zeros((n, n))
    orders = list(permutations(range(n)))
    for drawn in product(*runs):
        for order in orders:
            ranked = sorted(range(n), key=lambda i: (-drawn[i], order[i]))
            for rank, i in enumerate(ranked):
                shares[i, rank] += 1.0
    return shares / shares[0].sum()


@given(samples)
@settings(max_examples=60)
def test_shares_are_those_of_all_draws(runs):
    table = ScoreTable.from_records(
        [
            {"algorithm": f"a{i}", "task": "t", "run": k, "score": x}
            for i, scores in enumerate(runs)
            for k, x in enumerate(scores)
        ]
    )
    found = {one.name: one.shares for one in rank_distribution(table)}
    wanted = by_all_draws(runs)
    for i, shares in enumerate(wanted):
        np.testing.assert_allclose(found[f"a{i}"], shares, atol=1e-12)


def test_shares_are_those_of_random_draws_over_tasks():
    draws = np.random.default_rng(0)
    x = draws.normal([[[0.0]], [[0.3]], [[0.5]], [[1.0]]], 1.0, (4, 6, 5))
    found = rank_distribution(ScoreTable.from_arrays(dict(zip("abcd", x, strict=True))))
    picked = draws.integers(6, size=(4, 20_000, 5))
    scores = np.take_along_axis(x[:, :, :], picked, axis=1)
    ranks = (-scores).argsort(axis=0).argsort(axis=0)
    for i, name in enumerate("abcd"):
        (one,) = (one for one in found if one.name == name)
        wanted = [(ranks[i] == rank).mean() for rank in range(4)]
        np.testing.assert_allclose(one.shares, wanted, atol=0.01)
    assert [one.mean_rank for one in found] == sorted(one.mean_rank for one in found)
    assert sum(one.mean_rank for one in found) == pytest.approx(10.0)


def test_many_that_tie_share_all_ranks():
    table = ScoreTable.from_arrays({f"a{i}": np.ones((3, 2)) for i in range(20)})
    for one in rank_distribution(table):
        np.testing.assert_allclose(one.shares, 1.0 / 20.0, atol=1e-9)


def test_lower_may_be_better_and_tasks_may_be_ranked():
    errors = {"a": [[1.0, 9.0], [2.0, 8.0]], "b": [[5.0, 7.0], [6.0, 10.0]]}
    table = ScoreTable.from_arrays(errors, tasks=["easy", "hard"], higher_is_better=False)
    assert rank_distribution(table)[0].name == "a"
    hardest = rank_distribution(table, by="task")[0]
    assert (hardest.name, hardest.shares[0]) == ("hard", 1.0)


def test_only_tasks_that_all_have_count():
    rows = [("a", "t", 1.0), ("b", "t", 2.0), ("a", "u", 9.0)]
    records = [{"algorithm": a, "task": t, "run": 0, "score": s} for a, t, s in rows]
    found = rank_distribution(ScoreTable.from_records(records))
    assert (found[0].name, found.settings["n_grounds"]) == ("b", 1)
    with pytest.raises(ScoreDataError, match="expected a task that all have, found none"):
        rank_distribution(ScoreTable.from_records([records[0] | {"task": "v"}, records[1]]))
