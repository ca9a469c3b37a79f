"""The covariance shrunk towards one factor, and the subsets that leave the least variance."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.distillation import FactorProcedure
from gnomon.errors import ScoreDataError, UnknownNameError
from strategies_distill import prepared

OURS = FactorProcedure()


def sample(n, p, *, seed=0, gaps=0.0):
    """Return scores with one factor, their rows t-distributed, and its loadings."""
    rng = np.random.default_rng(seed)
    loadings = rng.uniform(0.4, 0.9, p)
    skill = rng.normal(size=(n, 1))
    x = skill * loadings + rng.normal(size=(n, p)) * np.sqrt(1 - loadings**2)
    heavy = np.sqrt(4 / rng.chisquare(4, (n, 1)))
    x, y = x * heavy, (skill * heavy)[:, 0]
    x[rng.random(x.shape) < gaps] = np.nan
    tasks, names = (tuple(f"{c}{i:04}" for i in range(k)) for c, k in (("t", p), ("a", n)))
    return prepared(names, tasks, x, y), loadings


def covariance(data):
    """Return the covariance of all tasks and, last, of the summary."""
    return OURS.fit(data, data.tasks).forecaster.moments.covariance


@settings(max_examples=40)
@given(st.integers(6, 30), st.integers(2, 40), st.floats(0, 0.4), st.integers(0, 1000))
def test_the_covariance_is_always_positive_definite(n, p, gaps, seed):
    data, _ = sample(n, p, seed=seed, gaps=gaps)
    if data.varies(data.tasks).all():
        assert np.linalg.eigvalsh(covariance(data)).min() > 0


def test_resampled_papers_may_be_one_algorithm_alone():
    data, _ = sample(3, 5, seed=4)
    model = OURS.fit(data, data.tasks, spread=True)
    assert np.isfinite(model.forecaster.forecast(data.x[0]).spread)


def test_correlations_are_found_through_gaps():
    data, loadings = sample(4000, 8, gaps=0.2)
    found = covariance(data)[:-1, :-1]
    scale = np.sqrt(np.diag(found))
    truth = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    assert found / np.outer(scale, scale) == pytest.approx(truth, abs=0.05)


def test_many_tasks_are_shrunk_to_one_factor():
    """With few algorithms it is closer to the truth than the sample correlations."""
    data, loadings = sample(25, 40)
    truth = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    found = covariance(data)[:-1, :-1]
    scale = np.sqrt(np.diag(found))
    both = found / np.outer(scale, scale), np.corrcoef(data.x.T)
    ours, theirs = (((c - truth) ** 2).sum() for c in both)
    assert ours < 0.6 * theirs


def test_units_do_not_matter():
    data, _ = sample(60, 6, gaps=0.1)
    scale = np.array([1, 10, 0.1, 5, 2, 3])
    plain, scaled = covariance(data), covariance(replace(data, x=data.x * scale + 7))
    assert scaled[:-1, :-1] == pytest.approx(plain[:-1, :-1] * np.outer(scale, scale))


def test_an_unusual_algorithm_counts_less():
    data, _ = sample(60, 6)
    x = data.x.copy()
    x[0] = [9, -9, 9, -9, 9, -9]
    spoiled = replace(data, x=x)
    clean = covariance(data)[:-1, :-1]
    ours = np.abs(covariance(spoiled)[:-1, :-1] - clean).max()
    assert ours < 0.4 * np.abs(np.cov(x.T) - np.cov(data.x.T)).max()


def left(matrix, picks):
    index = list(picks)
    cross = matrix[index, -1]
    return matrix[-1, -1] - cross @ np.linalg.solve(matrix[np.ix_(index, index)], cross)


@pytest.mark.parametrize(("size", "forced"), [(1, 0), (2, 0), (4, 0), (5, 1)])
def test_the_search_finds_the_best_of_all(size, forced):
    for seed in range(3):
        data, _ = sample(30, 14, seed=seed)
        given_tasks = data.tasks[7 : 7 + forced]
        found = OURS.choose(data, size, forced=given_tasks)
        every = [s for s in combinations(range(14), size) if {*data.columns(given_tasks)} <= {*s}]
        matrix = covariance(data)
        best = min(every, key=lambda s: left(matrix, s))
        assert {*found} == {data.tasks[i] for i in best}
        assert found[:forced] == given_tasks


def test_any_number_of_tasks():
    data, _ = sample(40, 140, seed=1)
    found = OURS.choose(data, 3)
    matrix, (*first, last) = covariance(data), data.columns(found)
    near = [left(matrix, [*first, j]) for j in range(140) if j not in first]
    assert left(matrix, [*first, last]) == pytest.approx(min(near))


def test_the_published_choice(paper):
    tasks = ("bankheist", "battlezone", "berzerk", "namethisgame", "zaxxon")
    assert OURS.choose(paper, 5) == tasks
    assert min(OURS.fit(paper, tasks).weights) > 0


def test_weights_are_not_negative(make_scores):
    data = make_scores()
    target = data.x[:, 0] - 0.8 * data.x[:, 1]
    model = OURS.fit(replace(data, target=target, smoothed=target), ["t00", "t01"])
    assert model.weights[0] > 0
    assert model.weights[1] == pytest.approx(0.0, abs=1e-12)


def test_errors_name_what_is_missing(make_scores):
    with pytest.raises(UnknownNameError, match="unknown task 't99'"):
        OURS.fit(make_scores(), ["t99"])
    with pytest.raises(ScoreDataError, match="at least 3 algorithms"):
        OURS.choose(make_scores(2), 1)
    with pytest.raises(ScoreDataError, match="a size from 1 to 8, found 9"):
        OURS.choose(make_scores(), 9)
