"""The search over all subsets, against scikit-learn and against plain NumPy."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.distillation import PaperProcedure, cross_validate, search_subsets
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from strategies_distill import gapped_scores

ATARI5 = ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")


def folds_of(n, n_folds):
    """Return the fold of each row, computed as in the paper's code."""
    order = np.random.RandomState(1982).permutation(n)
    fold = np.empty(n, dtype=np.int64)
    for k, part in enumerate(np.array_split(order, n_folds)):
        fold[part] = k
    return fold


def slow_errors(data, tasks, n_folds=10):
    """Return the cross-validated and the in-sample error, by least squares on rows."""
    x = data.x[:, [data.tasks.index(t) for t in tasks]]
    whole = ~np.isnan(x).any(axis=1)
    x, y = x[whole], data.target[whole]
    fold, means = folds_of(len(y), n_folds), []
    for k in range(n_folds):
        w = np.linalg.lstsq(x[fold != k], y[fold != k], rcond=None)[0]
        means.append(np.mean((y[fold == k] - x[fold == k] @ w) ** 2))
    w = np.linalg.lstsq(x, y, rcond=None)[0]
    return np.mean(means), np.mean((y - x @ w) ** 2)


@pytest.mark.parametrize("n_folds", [10, 3, 7])
def test_the_folds_are_those_of_scikit_learn(make_scores, n_folds):
    selection = pytest.importorskip("sklearn.model_selection")
    for n in (n_folds, n_folds + 1, 62, 79):
        splits = selection.KFold(n_folds, shuffle=True, random_state=1982).split(np.zeros(n))
        expected = np.empty(n)
        for k, (_, held) in enumerate(splits):
            expected[held] = k
        assert np.array_equal(folds_of(n, n_folds), expected)
        held = cross_validate(make_scores(n), PaperProcedure(), ["t00"], n_folds=n_folds)
        assert np.array_equal(held.folds, expected)


@pytest.mark.full
def test_atari5_is_the_best_of_all(paper):
    found = search_subsets(paper, 5)
    assert found.n_subsets == 3_819_816
    assert found.subsets[0] == ATARI5
    assert found.errors[0] == pytest.approx(0.00338675951206, abs=1e-13)
    assert found.subsets[1] == ("assault", "battlezone", "namethisgame", "phoenix", "pitfall")
    expected = [slow_errors(paper, tasks)[0] for tasks in found.subsets]
    assert found.errors == pytest.approx(expected, rel=1e-11)
    in_sample = search_subsets(paper, 5, criterion="in_sample").subsets
    assert ATARI5 in in_sample


@pytest.mark.filterwarnings("ignore:subsets with fewer than")
@settings(max_examples=25)
@given(gapped_scores(), st.integers(1, 4), st.integers(1, 400))
def test_every_subset_is_judged_on_its_own_rows(data, size, n_best):
    subsets = list(combinations(data.candidates, size))
    slow = {tasks: slow_errors(data, tasks, 3) for tasks in subsets if enough(data, tasks)}
    if not slow:
        return
    for criterion, which in (("cv", 0), ("in_sample", 1)):
        found = search_subsets(data, size, n_folds=3, criterion=criterion, n_best=n_best)
        best = np.sort([errors[which] for errors in slow.values()])[:n_best]
        assert found.errors == pytest.approx(best, rel=1e-7, abs=1e-10)
        expected = [slow[tasks][which] for tasks in found.subsets]
        assert found.errors == pytest.approx(expected, rel=1e-7, abs=1e-10)


def enough(data, tasks):
    x = data.x[:, data.columns(tasks)]
    n = (~np.isnan(x).any(axis=1)).sum()
    return n >= 3 and n - -(-n // 3) >= len(tasks)


def test_forced_tasks_are_in_every_subset(make_scores):
    data = make_scores(gaps=0.05)
    found = search_subsets(data, 3, forced=["t05"], n_best=100, n_folds=3)
    assert found.n_subsets == len(found.subsets) == 21
    assert all(tasks[0] == "t05" for tasks in found.subsets)
    expected = [slow_errors(data, tasks, 3)[0] for tasks in found.subsets]
    assert found.errors == pytest.approx(expected, rel=1e-10)


def test_more_tasks_than_the_bound_can_tell_apart(make_scores):
    data = make_scores(14, 11)
    found = search_subsets(data, 9, n_folds=7, n_best=5)
    everything = [slow_errors(data, t, 7)[0] for t in combinations(data.tasks, 9)]
    assert found.errors == pytest.approx(np.sort(everything)[:5], rel=1e-6)


def test_a_perfect_fit_and_a_copied_task(make_scores):
    data = make_scores(30, 6)
    copied = replace(data, target=data.x[:, 3].copy())
    found = search_subsets(copied, 1, n_best=1)
    assert found.subsets == (("t03",),)
    assert found.errors[0] < 1e-14 * np.mean(copied.target**2)
    names = (*data.tasks, "copy")
    doubled = replace(
        data, x=np.column_stack([data.x, data.x[:, 0]]), tasks=names, candidates=names
    )
    pairs = search_subsets(doubled, 2, n_best=21, n_folds=3)
    errors = dict(zip(pairs.subsets, pairs.errors, strict=True))
    alone = search_subsets(data, 1, n_best=6, n_folds=3)
    single = dict(zip(alone.subsets, alone.errors, strict=True))
    assert errors["copy", "t00"] == pytest.approx(single["t00",], rel=1e-6)


def test_progress_tells_all(make_scores):
    told = []
    search_subsets(make_scores(gaps=0.1), 3, n_folds=3, progress=lambda *now: told.append(now))
    assert told[-1] == (56, 56)


def test_the_error_is_that_of_the_validation(make_scores):
    data = make_scores(30, 6, gaps=0.05)
    found = search_subsets(data, 2, n_best=3, n_folds=3)
    held = [cross_validate(data, PaperProcedure(), tasks, n_folds=3) for tasks in found.subsets]
    assert found.errors == pytest.approx([one.mse for one in held])


@pytest.mark.parametrize(
    ("n", "size", "options", "said"),
    [
        (6, 3, {}, r"at least 10 algorithms for 10 folds.*found 6"),
        (5, 3, {"n_folds": 2}, "at least 6 algorithms for 2 folds and 3 tasks"),
        (40, 9, {}, r"a size from 1 to 8, found 9: 8 tasks"),
        (40, 1, {"forced": ["t00"]}, r"a size from 2 to 8, found 1: 7 tasks .* 1 given"),
        (40, 2, {"forced": ["t00", "t00"]}, "t00 is given twice"),
        (40, 3, {"forced": ["t0x"]}, "unknown task 't0x'; did you mean 't0"),
        (40, 3, {"criterion": "vc"}, "unknown criterion 'vc'"),
    ],
)
def test_what_does_not_fit_is_refused(make_scores, n, size, options, said):
    with pytest.raises((ScoreDataError, UnknownNameError), match=said):
        search_subsets(make_scores(n), size, **options)


def test_no_complete_rows_and_constant_tasks(make_scores):
    data = make_scores(30, 4)
    x = data.x.copy()
    x[:15, 0], x[15:, 1] = np.nan, np.nan
    gapped = replace(data, x=x, candidates=("t00", "t01"))
    with (
        pytest.warns(DegenerateScoresWarning, match="fewer than 10 complete rows are left out"),
        pytest.raises(ScoreDataError, match="no subset of 2 tasks has at least 10 algorithms"),
    ):
        search_subsets(gapped, 2)
    x = data.x.copy()
    x[:, 3] = 1.0
    with pytest.warns(DegenerateScoresWarning, match="all scores are the same: t03"):
        found = search_subsets(replace(data, x=x), 2, n_best=100, n_folds=3)
    assert not any("t03" in tasks for tasks in found.subsets)
    equal = replace(data, target=np.zeros(30))
    with pytest.raises(ScoreDataError, match="summaries differ; all 30 have 0"):
        search_subsets(equal, 2)
