"""Weighted means: against plain ones and SciPy's linear programs; what they depend on."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable
from gnomon.stats import (
    compare,
    compare_weighted,
    estimate,
    estimate_weighted,
    task_weights,
    turning_share,
)


def table(**arrays):
    return ScoreTable.from_arrays(arrays)


def draws(seed=0):
    return np.random.default_rng(seed)


def with_families(scores, families):
    family = [families[task] for task in scores.frame["task"]]
    return ScoreTable.from_frame({**scores.frame.to_dict(as_series=False), "family": family})


def test_equal_weights_are_the_plain_mean():
    x = draws().normal(size=(2, 5, 4))
    scores = table(a=x[0], b=x[1])
    equal = dict.fromkeys(scores.tasks, 7)
    for one, other in zip(estimate_weighted(scores, equal), estimate(scores, "mean"), strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
        assert one.metric == "weighted_mean"
    (one,) = compare_weighted(scores, equal, "a", "b")
    (other,) = compare(scores, "a", "b", "mean")
    assert (one.low, one.high, one.p_value) == pytest.approx((other.low, other.high, other.p_value))
    assert one.equal_value == pytest.approx(one.value)


def test_intervals_are_satterthwaites_of_a_linear_combination():
    x, w = draws().normal(size=(5, 3)) * [1, 2, 5], np.array([0.5, 0.3, 0.2])
    weights = {f"task_{i}": v for i, v in enumerate(10 * w)}
    (one,) = estimate_weighted(table(a=x), weights)
    parts = np.square(w) * x.var(axis=0, ddof=1) / 5
    df = parts.sum() ** 2 / np.sum(np.square(parts) / 4)
    half = stats.t.ppf(0.975, df) * math.sqrt(parts.sum())
    assert (one.value, one.low, one.high) == pytest.approx(
        (w @ x.mean(axis=0), w @ x.mean(axis=0) - half, w @ x.mean(axis=0) + half)
    )


def test_a_task_of_weight_zero_is_as_if_it_were_not_there():
    x = draws().normal(size=(2, 5, 3))
    x[0, 2, 2] = 1e9
    scores = table(a=x[0], b=x[1])
    (one,) = compare_weighted(scores, {"task_0": 1, "task_1": 1, "task_2": 0}, "a", "b")
    (other,) = compare(scores.select(tasks=["task_0", "task_1"]), "a", "b", "mean")
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@pytest.mark.filterwarnings("ignore:.*of the variance is that of one task")
def test_families_weigh_the_same_and_so_do_the_tasks_of_one():
    scores = with_families(
        table(a=draws().normal(size=(4, 4))),
        {"task_0": "x", "task_1": "x", "task_2": "x", "task_3": "y"},
    )
    sixth = pytest.approx(1 / 6)
    assert task_weights(scores, "family") == {
        "task_0": sixth, "task_1": sixth, "task_2": sixth, "task_3": 0.5,
    }  # fmt: skip
    means = [scores.runs("a", task).mean() for task in scores.tasks]
    (one,) = estimate_weighted(scores, "family")
    assert one.value == pytest.approx((np.mean(means[:3]) + means[3]) / 2)


def test_what_one_task_or_family_decides():
    d = np.array([5.0, 1.0, 0.5, -2.0])
    b = np.zeros((2, 4))
    scores = table(a=b + d + [[0.1], [-0.1]], b=b)
    families = {"task_0": "x", "task_1": "x", "task_2": "y", "task_3": "y"}
    scores = with_families(scores, families)
    equal = dict.fromkeys(scores.tasks, 1)
    (one,) = compare_weighted(scores, equal, "a", "b")
    assert one.family_value == pytest.approx(d.mean())
    assert (one.least, one.least_without) == (pytest.approx(-0.75), "family x")
    assert (one.most, one.most_without) == (pytest.approx(3.0), "family y")
    plain = scores.select()
    plain = ScoreTable.from_frame(plain.frame.drop("family"))
    (one,) = compare_weighted(plain, equal, "a", "b")
    assert (one.least, one.least_without) == (pytest.approx(-0.5 / 3), "task_0")
    assert (one.most, one.most_without) == (pytest.approx(6.5 / 3), "task_3")
    assert math.isnan(one.family_value)
    assert one.as_record()["family_value"] is None


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-9, 9)), min_size=2, max_size=8))
def test_the_least_change_is_that_of_a_linear_program(pair):
    w, d = np.array(pair, dtype=float).T
    w /= w.sum()
    share = turning_share(w, d)
    sign = math.copysign(1.0, w @ d)
    if (sign * d).min() >= 0.0 and abs(w @ d) > 1e-12:
        assert math.isnan(share)
        return
    n = w.size
    # Weights v and |v - w| <= u: the least sum of u / 2.
    found = optimize.linprog(
        np.r_[np.zeros(n), np.full(n, 0.5)],
        A_ub=np.block([[np.eye(n), -np.eye(n)], [-np.eye(n), -np.eye(n)], [sign * d, np.zeros(n)]]),
        b_ub=np.r_[w, -w, 0.0],
        A_eq=np.r_[np.ones(n), np.zeros(n)][None],
        b_eq=[1.0],
    )
    assert share == pytest.approx(found.fun, abs=1e-7)


def test_weights_that_nothing_turns_are_told():
    x = draws().normal(size=(3, 3))
    with pytest.warns(DegenerateScoresWarning, match="a and b: no weights turn the sign"):
        (one,) = compare_weighted(
            table(a=x + 99, b=x), dict.fromkeys(["task_0", "task_1", "task_2"], 1)
        )
    assert math.isnan(one.turning_share)


def test_pairs_are_corrected_and_compared_on_their_own_tasks():
    x = draws().normal(size=(3, 5, 3))
    x[2, :, 2] = np.nan
    x[0] += [[2.0, -2.0, 2.0]]
    scores = table(a=x[0], b=x[1], c=x[2])
    with pytest.warns(DegenerateScoresWarning, match="1 of 3 tasks left out"):
        found = compare_weighted(scores, {"task_0": 2, "task_1": 1, "task_2": 1})
    assert [(one.a, one.b) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    d = x[0].mean(axis=0) - x[2].mean(axis=0)
    assert found[1].value == pytest.approx((2 * d[0] + d[1]) / 3)
    assert min(one.p_adjusted for one in found) == pytest.approx(
        min(1.0, 3 * min(one.p_value for one in found))
    )


def test_unlike_scales_are_those_of_the_scores_and_told_once():
    runs = {name: [[18.0 + i, 60_000.0], [20.0, 60_000.0 + i]] for i, name in enumerate("abc")}
    table = ScoreTable.from_arrays(runs, tasks=["Pong", "Atlantis"])
    for verb in (compare_weighted, estimate_weighted):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateScoresWarning)
            notes = verb(table, {"Pong": 1, "Atlantis": 3}).warnings
        (said,) = [note for note in notes if note.startswith("raw scores on scales of their own")]
        assert "(median 20.0 on Pong, 60,000 on Atlantis)" in said


def test_weights_that_are_none_are_refused():
    scores = table(a=draws().normal(size=(3, 2)), b=draws().normal(size=(3, 2)))
    wrong = {
        "none for task_1": {"task_0": 1},
        "at least 0, found task_1 -1": {"task_0": 1, "task_1": -1},
        "at least 0, found task_0 nan": {"task_0": math.nan, "task_1": 1},
        "found 0 for every task": {"task_0": 0, "task_1": 0},
    }
    for message, weights in wrong.items():
        with pytest.raises(ScoreDataError, match=message):
            task_weights(scores, weights)
    with pytest.raises(UnknownNameError, match="unknown attribute of the scores 'suite'"):
        task_weights(scores, "suite")
    rows = {"algorithm": ["a", "a"], "task": ["t", "t"], "run": [0, 1], "score": [1, 2]}
    with pytest.raises(
        ScoreDataError, match="task t, column 'family': expected one family, found x, y"
    ):
        task_weights(ScoreTable.from_frame({**rows, "family": ["x", "y"]}), "family")
    with pytest.raises(ScoreDataError, match="expected two algorithms or more, found a alone"):
        compare_weighted(table(a=[[1.0], [2.0]]), {"task_0": 1})
    with pytest.warns(DegenerateScoresWarning, match="weights of 1 task not used"):
        assert task_weights(scores, {"task_0": 1, "task_1": 3, "other": 5})["task_1"] == 0.75
