"""The covariance shrunk towards one factor, and the subsets that leave the least variance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.distillation import FactorProcedure, fit_factors, least_variance_subsets
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError

NORMAL = {"degrees_of_freedom": np.inf}


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
    if sum(enough) >= 2:
        assert np.linalg.eigvalsh(fit_factors(x[:, enough]).covariance[0]).min() > 0


def test_loadings_are_found_through_gaps():
    x, loadings = sample(4000, 8, gaps=0.2)
    found = fit_factors(x, **NORMAL)
    assert found.loadings[0] == pytest.approx(loadings, abs=0.05)
    truth = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    assert found.covariance[0] == pytest.approx(truth, abs=0.08)


def test_without_gaps_and_shrinkage_it_is_the_sample_covariance():
    x, _ = sample(50, 5)
    found = fit_factors(x, shrinkage=0.0, **NORMAL)
    assert found.covariance[0] == pytest.approx(np.cov(x.T, bias=True), rel=1e-9)
    assert found.mean[0] == pytest.approx(x.mean(axis=0))


def test_many_fits_at_once_are_those_of_repeated_rows():
    x, _ = sample(20, 6, gaps=0.1)
    times = np.array([np.arange(20) % 3, np.arange(20) % 2 + 1])
    found = fit_factors(x, times.astype(float), [1, 5])
    for i, counts in enumerate(times):
        alone = fit_factors(np.repeat(x, counts, axis=0))
        assert found.mean[i] == pytest.approx(alone.mean[0, [1, 5]])
        assert found.covariance[i] == pytest.approx(alone.covariance[0][np.ix_([1, 5], [1, 5])])


def test_a_column_that_does_not_vary_is_ignored_in_its_fit():
    x, _ = sample(20, 6)
    x[:10, 2] = 1.0
    counts = np.r_[np.ones(10), np.zeros(10)]
    found = fit_factors(x, counts[None], [0, 1])
    alone = fit_factors(x[:10][:, [0, 1, 3, 4, 5]], chosen=[0, 1])
    assert found.covariance == pytest.approx(alone.covariance)


def test_units_do_not_matter():
    x, _ = sample(60, 6, gaps=0.1)
    scale = np.array([1, 10, 0.1, 5, 2, 3])
    plain, scaled = fit_factors(x).covariance[0], fit_factors(x * scale + 7).covariance[0]
    assert scaled == pytest.approx(plain * np.outer(scale, scale))


def test_an_unusual_row_counts_less():
    x, _ = sample(60, 6)
    spoiled = np.vstack([x, np.array([[9, -9, 9, -9, 9, -9]])])
    clean = fit_factors(x).loadings
    robust = np.abs(fit_factors(spoiled).loadings - clean).max()
    assert robust < 0.25 * np.abs(fit_factors(spoiled, **NORMAL).loadings - clean).max()


@pytest.fixture
def covariance():
    x = np.random.default_rng(0).normal(size=(40, 9))
    x[:, -1] += x[:, :8] @ np.linspace(1, 0.1, 8)
    return np.cov(x.T)


NAMES = list("abcdefgh")


def left(covariance, picks):
    index = list(picks)
    cross = covariance[index, -1]
    solved = np.linalg.solve(covariance[np.ix_(index, index)], cross)
    return covariance[-1, -1] - cross @ solved


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n_best", [1, 5, 60])
def test_it_is_the_best_of_all(covariance, size, n_best):
    every = sorted(combinations(range(8), size), key=lambda s: left(covariance, s))
    expected = [tuple(NAMES[i] for i in s) for s in every[:n_best]]
    assert list(least_variance_subsets(covariance, NAMES, size, n_best=n_best)) == expected


def test_it_is_the_best_of_many_with_forced_tasks():
    x, _ = sample(30, 19, seed=3)
    covariance, names = fit_factors(x).covariance[0], [f"t{j}" for j in range(18)]
    found = least_variance_subsets(covariance, names, 5, forced=["t7"], n_best=3)
    every = [s for s in combinations(range(18), 5) if 7 in s]
    best = sorted(every, key=lambda s: left(covariance, s))[:3]
    assert [{*tasks} for tasks in found] == [{names[i] for i in s} for s in best]
    assert found[0][0] == "t7"


def test_beyond_128_tasks_they_are_exchanged():
    x, _ = sample(40, 141, seed=1)
    covariance, names = fit_factors(x).covariance[0], [f"t{j}" for j in range(140)]
    with pytest.warns(DegenerateScoresWarning, match="too many to compare all"):
        (found,) = least_variance_subsets(covariance, names, 3)
    near = [left(covariance, [*(names.index(t) for t in found[:2]), j]) for j in range(140)
            if names[j] not in found[:2]]  # fmt: skip
    assert left(covariance, map(names.index, found)) == pytest.approx(min(near))


def test_the_published_choice_and_weights(paper):
    """One factor, normal rows, weights for the plain median: figures known from elsewhere."""
    tasks = ("bankheist", "battlezone", "berzerk", "namethisgame", "zaxxon")
    assert FactorProcedure().choose(paper, 5)[0] == tasks
    assert min(FactorProcedure().fit(paper, tasks).weights) > 0
    plain = FactorProcedure(degrees_of_freedom=np.inf, smoothed=False)
    model = plain.fit(paper, tasks)
    assert model.weights == pytest.approx((0.1052, 0.1857, 0.0772, 0.2938, 0.2459), abs=5e-5)
    assert model.intercept == pytest.approx(0.2563, abs=3e-4)


def test_weights_are_not_negative(make_scores):
    from dataclasses import replace

    data = make_scores()
    target = data.x[:, 0] - 0.8 * data.x[:, 1]
    model = FactorProcedure().fit(replace(data, target=target, smoothed=target), ["t00", "t01"])
    assert model.weights[0] > 0
    assert model.weights[1] == 0.0


def test_errors_name_what_is_missing(make_scores):
    with pytest.raises(UnknownNameError, match="unknown task 't99'"):
        FactorProcedure().fit(make_scores(), ["t99"])
    with pytest.raises(ScoreDataError, match="at least 3 algorithms"):
        FactorProcedure().choose(make_scores(2), 1)
    with pytest.raises(ScoreDataError, match="a size from 1 to 8, found 9"):
        FactorProcedure().choose(make_scores(), 9)
