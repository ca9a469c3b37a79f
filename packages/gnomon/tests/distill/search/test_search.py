"""The search over all subsets, against scikit-learn, against plain NumPy, and against itself."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.distillation import Folds, PaperProcedure, cross_validate, search_subsets
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from strategies_distill import gapped_scores


def slow_errors(data, tasks, folds):
    """Return the cross-validated and the in-sample error, by least squares on rows."""
    x = data.x[:, [data.tasks.index(t) for t in tasks]]
    whole = ~np.isnan(x).any(axis=1)
    x, y = x[whole], data.target[whole]
    fold = folds.of(len(y))
    means = []
    for k in range(folds.n_folds):
        w = np.linalg.lstsq(x[fold != k], y[fold != k], rcond=None)[0]
        means.append(np.mean((y[fold == k] - x[fold == k] @ w) ** 2))
    w = np.linalg.lstsq(x, y, rcond=None)[0]
    return np.mean(means), np.mean((y - x @ w) ** 2)


@pytest.mark.full
def test_scikit_learn_agrees_on_random_subsets(paper):
    """The benchmark does this for 2,000 subsets of all; here are 200, of a few searches."""
    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    folds = selection.KFold(10, shuffle=True, random_state=1982)
    model = linear.LinearRegression(fit_intercept=False)
    rng = np.random.default_rng(0)
    for _ in range(5):
        names = sorted(rng.choice(paper.candidates, 12, replace=False).tolist())
        found = search_subsets(paper, 5, n_best=792, candidates=names)
        assert len(found.subsets) == 792
        for i in rng.choice(792, 40, replace=False):
            x = paper.x[:, paper.columns(found.subsets[i])]
            whole = ~np.isnan(x).any(axis=1)
            scores = selection.cross_val_score(
                model, x[whole], paper.target[whole], cv=folds, scoring="neg_mean_squared_error"
            )
            assert found.errors[i] == pytest.approx(-scores.mean(), rel=1e-10)


def test_atari5_is_the_best_of_all(paper):
    found = search_subsets(paper, 5)
    assert (found.n_subsets, found.n_row_sets) == (3_819_816, 188)
    assert found.subsets[0] == ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")
    assert found.errors[0] == pytest.approx(0.00338675951206, abs=1e-13)
    assert found.subsets[1] == ("assault", "battlezone", "namethisgame", "phoenix", "pitfall")
    expected = [slow_errors(paper, tasks, Folds())[0] for tasks in found.subsets]
    assert found.errors == pytest.approx(expected, rel=1e-11)


def test_the_bound_loses_nothing(paper):
    free = search_subsets(paper, 5)
    bounded = search_subsets(paper, 5, bounded=True)
    assert bounded.subsets == free.subsets
    assert bounded.errors == pytest.approx(free.errors, rel=1e-11)


def test_the_rows_agree_with_the_grams(paper):
    found = search_subsets(paper, 4, n_best=200, candidates=paper.tasks[5:25])
    errors = [cross_validate(paper, PaperProcedure(), one).mse for one in found.subsets[:20]]
    assert errors == pytest.approx(found.errors[:20], rel=1e-10)


@pytest.mark.filterwarnings("ignore:subsets with fewer than")
@settings(max_examples=25)
@given(gapped_scores(), st.integers(1, 4))
def test_every_subset_is_judged_on_its_own_rows(data, size):
    folds = Folds(3, seed=4)
    subsets = list(combinations(data.candidates, size))
    slow = {tasks: slow_errors(data, tasks, folds) for tasks in subsets if enough(data, tasks)}
    if not slow:
        return
    for criterion, which in (("cv", 0), ("in_sample", 1)):
        found = search_subsets(data, size, folds=folds, criterion=criterion, n_best=len(subsets))
        assert set(found.subsets) == set(slow)
        expected = [slow[tasks][which] for tasks in found.subsets]
        assert found.errors == pytest.approx(expected, rel=1e-7, abs=1e-10)


def enough(data, tasks):
    x = data.x[:, data.columns(tasks)]
    return (~np.isnan(x).any(axis=1)).sum() >= Folds(3).least_rows(len(tasks))


def test_a_table_with_gaps_everywhere_is_searched_by_rows(make_scores):
    data = make_scores(60, 12, gaps=0.1)
    found = search_subsets(data, 3, n_best=5)
    assert found.n_row_sets == 0
    expected = [slow_errors(data, tasks, Folds())[0] for tasks in found.subsets]
    assert found.errors == pytest.approx(expected, rel=1e-9)
    everything = [slow_errors(data, t, Folds())[0] for t in combinations(data.tasks, 3)]
    assert found.errors == pytest.approx(np.sort(everything)[:5], rel=1e-9)


def test_forced_tasks_are_in_every_subset(make_scores):
    data = make_scores()
    found = search_subsets(data, 3, forced=["t05"], n_best=100, folds=Folds(3))
    assert found.n_subsets == len(found.subsets) == 21
    assert all(tasks[0] == "t05" for tasks in found.subsets)
    expected = [slow_errors(data, tasks, Folds(3))[0] for tasks in found.subsets]
    assert found.errors == pytest.approx(expected, rel=1e-10)


def test_processes_find_the_same(make_scores):
    data = make_scores(50, 9, gaps=0.02)
    alone = search_subsets(data, 3, n_best=30)
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        together = search_subsets(data, 3, n_best=30, executor=executor)
    assert together.subsets == alone.subsets
    assert np.array_equal(together.errors, alone.errors)


def test_threads_find_the_same(make_scores):
    for gaps in (0.0, 0.1):  # By sets of rows, and by numbers of subsets.
        data = make_scores(40, 8, gaps=gaps)
        alone = search_subsets(data, 3, n_best=30)
        for n_threads in (1, 2, 4):
            with ThreadPoolExecutor(n_threads) as executor:
                together = search_subsets(data, 3, n_best=30, executor=executor)
            assert together.subsets == alone.subsets
            assert np.array_equal(together.errors, alone.errors)


@pytest.mark.parametrize("most", [1, 7, 40])
@pytest.mark.parametrize("criterion", ["cv", "in_sample"])
def test_small_pieces_find_the_same(paper, monkeypatch, most, criterion):
    """Gaps in several patterns, and a forced task: pieces that begin with up to three tasks."""
    options = {"criterion": criterion, "n_best": 400, "forced": ["pong"]}
    options["candidates"] = [t for t in paper.tasks[4:40:3] if t != "pong"]
    whole = search_subsets(paper, 6, **options)
    monkeypatch.setattr(
        "gnomon.distillation.search.pieces._PIECE",
        dict.fromkeys(("cv", "in_sample", "bound"), most),
    )
    told = []
    found = search_subsets(paper, 6, progress=lambda *now: told.append(now), **options)
    assert found.subsets == whole.subsets
    assert found.errors == pytest.approx(whole.errors, rel=1e-10)
    assert told[-1] == (whole.n_subsets, whole.n_subsets)
    assert len(told) > 100 / most


@pytest.mark.full
def test_more_tasks_than_the_bound_can_tell_apart(make_scores):
    data = make_scores(14, 15)
    bounded = search_subsets(data, 9, folds=Folds(7), bounded=True, n_best=5)
    every = search_subsets(data, 9, folds=Folds(7), n_best=5)
    assert bounded.subsets == every.subsets
    assert bounded.errors == pytest.approx(every.errors, rel=1e-6)


def test_a_perfect_fit_is_found_by_the_bound_too(make_scores):
    data = make_scores(30, 6)
    copied = replace(data, target=data.x[:, 3].copy())
    for bounded in (False, True):
        found = search_subsets(copied, 1, n_best=1, bounded=bounded)
        assert found.subsets == (("t03",),)
        # Sums of squares of this size are rounded to so much.
        assert found.errors[0] < 1e-14 * np.mean(copied.target**2)


def test_a_fold_must_leave_as_many_rows_as_tasks(make_scores):
    with pytest.raises(ScoreDataError, match="at least 6 algorithms for 2 folds and 3 tasks"):
        search_subsets(make_scores(5), 3, folds=Folds(2))


def test_a_copy_of_a_task_is_harmless(make_scores):
    data = make_scores(40, 5)
    doubled = replace(
        data,
        x=np.column_stack([data.x, data.x[:, 0]]),
        tasks=(*data.tasks, "copy"),
        candidates=(*data.tasks, "copy"),
    )
    found = search_subsets(doubled, 2, n_best=15, folds=Folds(3))
    errors = dict(zip(found.subsets, found.errors, strict=True))
    alone = search_subsets(data, 1, n_best=5, folds=Folds(3))
    single = dict(zip(alone.subsets, alone.errors, strict=True))
    assert errors["t00", "copy"] == pytest.approx(single["t00",], rel=1e-6)


def test_progress_tells_all(make_scores):
    told = []
    search_subsets(
        make_scores(), 3, folds=Folds(3), progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (56, 56)


def test_too_few_algorithms_are_refused(make_scores):
    with pytest.raises(ScoreDataError, match=r"at least 10 algorithms for 10 folds.*found 6"):
        search_subsets(make_scores(6), 3)


def test_a_size_must_fit(make_scores):
    with pytest.raises(ScoreDataError, match=r"a size from 1 to 8, found 9: 8 tasks"):
        search_subsets(make_scores(), 9)
    with pytest.raises(ScoreDataError, match=r"a size from 2 to 8, found 1: 7 tasks .* 1 forced"):
        search_subsets(make_scores(), 1, forced=["t00"])
    with pytest.raises(ScoreDataError, match="t00 is forced twice"):
        search_subsets(make_scores(), 2, forced=["t00", "t00"])
    with pytest.raises(ScoreDataError, match="expected tasks to choose from, whose scores differ"):
        search_subsets(make_scores(), 1, candidates=[])


def test_an_unknown_task_is_named(make_scores):
    with pytest.raises(UnknownNameError, match="unknown task 't0x'; did you mean 't0"):
        search_subsets(make_scores(), 3, forced=["t0x"])


def test_no_complete_rows_is_said(make_scores):
    data = make_scores(30, 4)
    x = data.x.copy()
    x[:15, 0], x[15:, 1] = np.nan, np.nan
    gapped = replace(data, x=x, candidates=("t00", "t01"))
    with (
        pytest.warns(DegenerateScoresWarning, match="fewer than 10 complete rows are left out"),
        pytest.raises(ScoreDataError, match="no subset of 2 tasks has at least 10 algorithms"),
    ):
        search_subsets(gapped, 2)


def test_a_constant_task_is_left_out_with_a_warning(make_scores):
    data = make_scores()
    x = data.x.copy()
    x[:, 3] = 1.0
    with pytest.warns(DegenerateScoresWarning, match="all scores are the same: t03"):
        found = search_subsets(replace(data, x=x), 2, n_best=100, folds=Folds(3))
    assert not any("t03" in tasks for tasks in found.subsets)
