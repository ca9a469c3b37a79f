"""The best subset with proof."""

from itertools import combinations
from time import monotonic

import numpy as np
import pytest
from scipy.optimize import nnls

from gnomon.distill import optimal, search_subsets
from gnomon.distill.search import proof
from gnomon.errors import ScoreDataError


def best_of(data, size, **options):
    (best,) = optimal(data, size=size, **{"time_limit_s": np.inf} | options)
    return best


@pytest.mark.parametrize("size", [5, 6])
def test_it_is_what_enumeration_finds(paper, size):
    every = search_subsets(
        paper, size, criterion="in_sample", candidates=paper.complete_tasks(), n_best=1
    )
    found = best_of(paper, size, any_sign=True)
    assert found.tasks == every.subsets[0]
    assert found.mse == pytest.approx(every.errors[0], rel=1e-9)
    assert found.certified


def test_ten_of_the_complete_games_are_certified(paper):
    found = best_of(paper, 10)
    assert found.certified
    assert len(found.tasks) == 10
    assert found.mse == pytest.approx(0.0023587927, rel=1e-7)
    x = paper.x[:, paper.columns(found.tasks)]
    assert nnls(x, paper.target)[1] ** 2 / 62 == pytest.approx(found.mse, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_non_negative_means_the_best_of_all_non_negative_ones(make_scores, seed):
    data = make_scores(25, 9, seed=seed)
    for size in (1, 2, 3, 4):
        found = best_of(data, size)
        best = min(nnls(data.x[:, list(s)], data.target)[1] for s in combinations(range(9), size))
        assert found.mse == pytest.approx(best**2 / 25, rel=1e-8)
        assert len(found.tasks) <= size


def test_when_time_is_up_the_gap_is_told(paper):
    found = best_of(paper, 10, time_limit_s=0.0)
    assert not found.certified
    assert 0 < found.gap <= 1
    assert found.lower_bound <= best_of(paper, 10).mse


def test_the_clock_is_heard_inside_a_branch(make_scores):
    data = make_scores(200, 90)
    best_of(data, 2)
    began = monotonic()
    found = best_of(data, 12, time_limit_s=0.5)
    assert monotonic() - began < 10.0  # A single branch of this search takes hours.
    assert not found.certified


def test_a_branch_cut_into_smaller_ones_is_the_same(make_scores, monkeypatch):
    data = make_scores(25, 14)
    whole = best_of(data, 6)
    monkeypatch.setattr(proof, "_BUDGET", 200)
    assert best_of(data, 6) == whole


def test_progress_tells_all(make_scores):
    told = []
    best_of(make_scores(), 3, progress=lambda done, total: told.append((done, total)))
    n_branches = told[-1][1]
    assert told[-1] == (n_branches, n_branches)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_bad_sizes(make_scores):
    with pytest.raises(ScoreDataError, match="a size from 1 to 8, found 9"):
        best_of(make_scores(), 9)
    with pytest.raises(ScoreDataError, match="more than 4 complete rows, found 4"):
        best_of(make_scores(4), 4)
    assert np.isfinite(best_of(make_scores(), 8).mse)


def test_people_are_told_what_is_proved(make_scores):
    found = optimal(make_scores(), size=3)
    assert str(found).endswith("the best 3 of the 8 tasks without gaps, in-sample")
    assert found.as_records()[0]["certified"]
    assert found.settings["size"] == 3
