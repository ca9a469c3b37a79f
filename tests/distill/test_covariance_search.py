"""The subset that leaves the least variance."""

from itertools import combinations

import numpy as np
import pytest

import gnomon.distill.procedures.factor as covariance_search
from gnomon.distill.procedures.factor import least_variance_subsets, residual_variance
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError


@pytest.fixture
def covariance():
    x = np.random.default_rng(0).normal(size=(40, 9))
    x[:, -1] += x[:, :8] @ np.linspace(1, 0.1, 8)
    return np.cov(x.T)


NAMES = list("abcdefgh")


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_it_is_the_best_of_all(covariance, size):
    every = sorted(combinations(range(8), size), key=lambda s: residual_variance(covariance, s))
    expected = [tuple(NAMES[i] for i in s) for s in every[:5]]
    found = least_variance_subsets(covariance, NAMES, size, n_best=5)
    assert list(found) == expected[: len(found)]


def test_forced_tasks_stay(covariance):
    found = least_variance_subsets(covariance, NAMES, 3, forced=["h"])[0]
    every = [s for s in combinations(range(8), 3) if 7 in s]
    best = min(every, key=lambda s: residual_variance(covariance, s))
    assert set(found) == {NAMES[i] for i in best}
    assert found[0] == "h"


def test_exchanges_find_it_too(covariance, monkeypatch):
    every = least_variance_subsets(covariance, NAMES, 4)
    monkeypatch.setattr(covariance_search, "_MOST_SUBSETS", 10)
    with pytest.warns(DegenerateScoresWarning, match="more than 10 subsets: tasks are added and"):
        assert least_variance_subsets(covariance, NAMES, 4) == every


def test_bad_sizes_and_names(covariance):
    with pytest.raises(ScoreDataError, match="a size from 1 to 8, found 9"):
        least_variance_subsets(covariance, NAMES, 9)
    with pytest.raises(UnknownNameError, match="unknown task 'z'"):
        least_variance_subsets(covariance, NAMES, 2, forced=["z"])
