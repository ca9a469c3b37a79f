"""A covariance shrunk towards one factor, and the subset that leaves the least variance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.distillation import Moments
from gnomon.distillation.procedures.factor import (
    least_variance_subsets,
    residual_variance,
    shrunk_covariance,
)
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError


def sample(n, p, *, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    loadings = rng.uniform(0.4, 0.9, p)
    x = rng.normal(size=(n, 1)) * loadings + rng.normal(size=(n, p)) * np.sqrt(1 - loadings**2)
    x[rng.random(x.shape) < gaps] = np.nan
    return x, loadings


@settings(max_examples=40)
@given(st.integers(6, 30), st.integers(2, 40), st.floats(0, 0.4), st.integers(0, 1000))
def test_the_covariance_is_always_positive_definite(n, p, gaps, seed):
    x, _ = sample(n, p, seed=seed, gaps=gaps)
    enough = [len(np.unique(c[~np.isnan(c)])) > 1 for c in x.T]
    if sum(enough) < 2:
        return
    found = shrunk_covariance(x[:, enough])
    assert np.linalg.eigvalsh(found.covariance).min() > 0


def test_loadings_are_found_through_gaps():
    x, loadings = sample(4000, 8, gaps=0.2)
    found = shrunk_covariance(x, degrees_of_freedom=np.inf)
    assert found.loadings == pytest.approx(loadings, abs=0.05)
    assert found.unique == pytest.approx(1 - loadings**2, abs=0.08)
    truth = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    assert found.covariance == pytest.approx(truth, abs=0.08)


def test_without_gaps_and_shrinkage_it_is_the_sample_covariance():
    x, _ = sample(50, 5)
    found = shrunk_covariance(x, shrinkage=0.0, degrees_of_freedom=np.inf)
    assert found.covariance == pytest.approx(np.cov(x.T, bias=True), rel=1e-9)
    assert found.mean == pytest.approx(x.mean(axis=0))


def test_a_row_that_counts_twice_is_a_row_that_stands_twice():
    x, _ = sample(20, 6, gaps=0.1)
    times = np.arange(20) % 3 + 1
    counted = shrunk_covariance(x, counts=times.astype(float))
    repeated = shrunk_covariance(np.repeat(x, times, axis=0))
    assert counted.mean == pytest.approx(repeated.mean)
    assert counted.covariance == pytest.approx(repeated.covariance)
    assert (counted.covariance == counted.covariance.T).all()


def test_units_do_not_matter():
    x, _ = sample(60, 6, gaps=0.1)
    scale = np.array([1, 10, 0.1, 5, 2, 3])
    plain, scaled = shrunk_covariance(x), shrunk_covariance(x * scale + 7)
    assert scaled.covariance == pytest.approx(plain.covariance * np.outer(scale, scale))


def test_a_strange_row_counts_less():
    x, _ = sample(60, 6)
    spoiled = np.vstack([x, np.array([[9, -9, 9, -9, 9, -9]])])
    clean = shrunk_covariance(x).loadings
    robust = np.abs(shrunk_covariance(spoiled).loadings - clean).max()
    normal = np.abs(shrunk_covariance(spoiled, degrees_of_freedom=np.inf).loadings - clean).max()
    assert robust < 0.25 * normal


def test_weights_are_the_regression_of_the_covariance():
    x, _ = sample(80, 4)
    found = shrunk_covariance(x, shrinkage=0.0, degrees_of_freedom=np.inf)
    kept = [0, 1, 3]
    rows = tuple(map(tuple, found.covariance[np.ix_(kept, kept)]))
    moments = Moments(tuple(found.mean[kept]), rows, positive=False)
    both = np.array([True, True])
    w, intercept = moments.weights(both)
    design = np.column_stack([x[:, :2], np.ones(80)])
    expected = np.linalg.lstsq(design, x[:, 3], rcond=None)[0]
    assert (*w, intercept) == pytest.approx(tuple(expected))
    residual = x[:, 3] - design @ expected
    assert moments.spread(both) ** 2 == pytest.approx(residual.var())


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


def test_exchanges_find_it_too(covariance):
    every = least_variance_subsets(covariance, NAMES, 4)
    with pytest.warns(DegenerateScoresWarning, match="more than 10 subsets: tasks are added and"):
        assert least_variance_subsets(covariance, NAMES, 4, most_subsets=10) == every


def test_bad_sizes_and_names(covariance):
    with pytest.raises(ScoreDataError, match="a size from 1 to 8, found 9"):
        least_variance_subsets(covariance, NAMES, 9)
    with pytest.raises(UnknownNameError, match="unknown task 'z'"):
        least_variance_subsets(covariance, NAMES, 2, forced=["z"])
