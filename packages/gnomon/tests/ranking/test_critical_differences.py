"""Critical differences: SciPy's test, rank's pairs, and groups."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.ranking import critical_difference, rank
from gnomon.scores import ScoreTable, read_scores
from strategies_ranking import Runs, contests

CASES = Path(__file__).parents[4] / ".." / "shared" / "cases"


def contest(matrix, names="abcdef"):
    """From scores (tasks, algorithms)."""
    samples = tuple(tuple(np.atleast_1d(float(x)) for x in row) for row in matrix)
    tasks = tuple(f"{g}" for g in range(len(matrix)))
    return Runs(tuple(names[: len(matrix[0])]), tasks, samples).table


@pytest.mark.filterwarnings("ignore:one run per algorithm")
def test_friedmans_p_is_scipys():
    matrix = np.round(np.random.default_rng(0).normal(size=(12, 4)), 1)
    expected = stats.friedmanchisquare(*matrix.T).pvalue
    assert critical_difference(contest(matrix)).settings["friedman_p"] == pytest.approx(expected)


@given(contests(missing=False, max_grounds=4))
@settings(max_examples=40, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_pairs_are_those_of_rank_and_mean_ranks_those_of_that_method(contest):
    if len(contest.grounds) < 2:
        return
    found, ranking = critical_difference(contest.table), rank(contest.table)
    place = {one.name: i for i, one in enumerate(found)}
    at = [ranking.names.index(name) for name in place]
    apart = ranking.separated[np.ix_(at, at)]
    rank_of = {one.name: one.value for one in rank(contest.table, "mean-rank")}
    assert [one.mean_rank for one in found] == pytest.approx([rank_of[name] for name in place])
    joined = np.zeros(apart.shape, bool)
    for group in found.groups:
        members = [place[name] for name in group]
        joined[np.ix_(members, members)] = True
        assert not apart[np.ix_(members, members)].any()
    np.fill_diagonal(joined, True)
    assert (joined == ~apart).all()


@pytest.mark.filterwarnings("ignore:one run per algorithm")
@pytest.mark.skipif(not CASES.is_dir(), reason="the reported cases are not in the repository")
def test_a_pair_on_both_sides_of_a_third_has_its_bar():
    """A beats B on every task; neither is separated from C, which ranks behind B."""
    found = critical_difference(read_scores(CASES / "critical_difference_gap.csv"))
    assert [one.name for one in found] == ["A", "B", "C"]
    assert set(found.groups) == {("B", "C"), ("A", "C")}
    assert [record["groups"] for record in found.as_records()] == [[2], [1], [1, 2]]


def test_a_better_one_stands_alone_and_equals_are_joined():
    rng = np.random.default_rng(0)
    x = {"x": 0.0, "y": 0.0, "z": 2.0}
    table = ScoreTable.from_arrays({name: rng.normal(m, 1, (5, 20)) for name, m in x.items()})
    found = critical_difference(table)
    assert found[0].name == "z"
    assert [set(g) for g in found.groups] == [{"x", "y"}]
    assert sum(one.mean_rank for one in found) == pytest.approx(6)
    assert found.notes == (
        "Pairs are separated by the test and the correction of rank (3 pairs).",
        "Friedman's test that all are equal: p < 0.0001.",
    )


@pytest.mark.filterwarnings("ignore")
def test_no_common_tasks_no_diagram():
    one, none = np.ones(2), np.empty(0)
    samples = ((one, one, none), (none, one, one))
    with pytest.raises(ScoreDataError, match=r"expected two tasks or more that all .* found 0"):
        critical_difference(Runs(("a", "b", "c"), ("x", "y"), samples).table)
