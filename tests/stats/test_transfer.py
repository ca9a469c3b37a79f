"""Transfer: contrasts against textbook tests, effects by hand, coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import contrast, transfer_effects


def named(values, prefix=""):
    return {f"{prefix}{i}": float(y) for i, y in enumerate(values)}


def test_a_contrast_is_welchs_of_groups_apart_and_paired_of_the_same_people():
    rng = np.random.default_rng(0)
    x, y = rng.normal(5, 1, 7), rng.normal(3, 3, 7)
    for groups, test in (
        (
            {"a": named(x, "p"), "b": named(y[:5], "q")},
            scipy_stats.ttest_ind(x, y[:5], equal_var=False),
        ),
        ({"a": named(x), "b": named(y)}, scipy_stats.ttest_rel(x, y)),
    ):
        found = contrast(groups, {"a": 1.0, "b": -1.0})
        interval = test.confidence_interval()
        expected = [test.pvalue, interval.low, interval.high, test.df]
        assert [found.p_value, found.low, found.high, found.df] == pytest.approx(expected)


def test_a_crossover_is_the_test_of_period_differences():
    """Two orders: half the difference of mean period differences, ability cancelled."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(10, 3, (2, 6)), rng.normal(6, 3, (2, 6))
    groups = {
        "a": named(first[0], "ab"), "a:b": named(second[0], "ab"),
        "b": named(first[1], "ba"), "b:a": named(second[1], "ba"),
    }  # fmt: skip
    found = contrast(groups, {"a": 0.5, "b": 0.5, "a:b": -0.5, "b:a": -0.5})
    saved = first - second
    test = scipy_stats.ttest_ind(saved[0], -saved[1], equal_var=False)
    assert found.value == pytest.approx(saved.mean())
    assert (found.p_value, found.df) == pytest.approx((test.pvalue, test.df))


def test_what_does_not_vary_or_is_alone_has_no_interval():
    for groups in ({"a": named([1]), "b": named([1, 2])}, {"a": named([1, 1]), "b": named([2, 2])}):
        found = contrast(groups, {"a": 1.0, "b": -1.0})
        assert math.isnan(found.low)
        assert math.isfinite(found.value)


def table_of(scores, **more):
    """Return a table of ``{"a:b": {player: score}}``."""
    rows = [
        {
            "algorithm": "people", "task": task, "run": i, "score": float(y), "player": who,
            "rule": task.rpartition(":")[2], "preceding": task.rpartition(":")[0] or None,
            **{name: values.get(task) for name, values in more.items()},
        }
        for task, of_task in scores.items()
        for i, (who, y) in enumerate(of_task.items())
    ]  # fmt: skip
    return ScoreTable.from_records(rows, metric="errors", higher_is_better=False)


SCORES = {
    "a": {"p": 8, "q": 6}, "a:b": {"p": 2, "q": 4},
    "b": {"r": 9, "s": 11}, "b:a": {"r": 5, "s": 7},
    "c": {"t": 4, "u": 6}, "c:b": {"t": 9, "u": 10},
}  # fmt: skip


def test_effects_by_hand():
    found = transfer_effects(table_of(SCORES), near=[("a", "b"), ("b", "a")])
    saved = {(one.effect, one.before, one.rule): one.saved for one in found}
    assert saved == pytest.approx({
        ("pair", "a", "b"): 7, ("pair", "b", "a"): 1, ("pair", "c", "b"): 0.5,
        ("near", None, None): 4, ("far", None, None): 0.5, ("all", None, None): 8.5 / 3,
        ("near - far", None, None): 3.5, ("order", "a", "b"): 6,
    })  # fmt: skip
    assert found[0].share == pytest.approx(0.7)
    assert (found[0].n_fresh, found[0].n_after) == (2, 2)
    assert np.nansum([one.p_adjusted >= one.p_value for one in found]) == 3
    by_column = transfer_effects(table_of(SCORES, kind={"a:b": "near", "b:a": "near"}))
    assert [one.effect for one in by_column] == ["pair"] * 3 + ["near", "all", "order"]


def test_what_has_no_transfer_is_refused():
    with pytest.raises(ScoreDataError, match="met both fresh and after another; found none"):
        transfer_effects(table_of({"a": {"p": 1}, "a:b": {"p": 2}}))
    with pytest.raises(ScoreDataError, match="columns 'rule' and 'preceding'"):
        transfer_effects(ScoreTable.from_arrays({"x": [[1.0]]}, higher_is_better=False))
    censored = table_of({"a": {"p": 1}}).frame.to_dicts()
    rows = [censored[0] | {"score": math.inf, "censored": True}]
    with pytest.raises(ScoreDataError, match="a censored score has no mean; score errors"):
        transfer_effects(ScoreTable.from_records(rows, higher_is_better=False))


@pytest.mark.full
def test_intervals_cover():
    """Between people, within them, of a crossover and of order; equal and skewed errors."""
    rng = np.random.default_rng(0)
    n_studies = 1500
    truths = {
        (("b", 1), ("a:b", -1)): 10, (("a", 1), ("a:b", -1)): 0,
        (("b", 0.5), ("a:b", -0.5), ("a", 0.5), ("b:a", -0.5)): 7,
        (("b", 1), ("a:b", -1), ("a", -1), ("b:a", 1)): 6,
    }  # fmt: skip
    means = {"a": 20, "a:b": 20, "b": 30, "b:a": 16}
    for n, skewed in ((8, False), (8, True), (20, True)):
        held = dict.fromkeys(truths, 0)
        for _ in range(n_studies):
            groups = {}
            for first, second in (("a", "a:b"), ("b", "b:a")):
                ability = rng.gamma(2, 0.5, n) if skewed else rng.normal(0, 4, n)
                for group in (first, second):
                    mean = means[group]
                    y = rng.poisson(mean * ability) if skewed else rng.normal(mean + ability, 5)
                    groups[group] = named(y, first)
            for weights, truth in truths.items():
                found = contrast(groups, dict(weights))
                held[weights] += found.low <= truth <= found.high
        # Errors as skewed as these, of eight people: 93 to 97 %.
        assert all(0.92 < x / n_studies < 0.98 for x in held.values()), (n, skewed, held)


def test_runs_of_a_table_without_players_are_learners_and_unpaired():
    rng = np.random.default_rng(3)
    fresh, after = rng.normal(9, 1, 6), rng.normal(6, 1, 6)
    rows = [
        {"algorithm": "q", "task": task, "run": i, "score": float(y), "rule": "b",
         "preceding": task[:-2] or None}
        for task, scores in {"b": fresh, "a:b": after}.items()
        for i, y in enumerate(scores)
    ]  # fmt: skip
    table = ScoreTable.from_records(rows, metric="errors", higher_is_better=False)
    pair = transfer_effects(table)[0]
    test = scipy_stats.ttest_ind(fresh, after, equal_var=False)
    assert (pair.algorithm, pair.n_fresh, pair.n_after) == ("q", 6, 6)
    assert pair.p_value == pytest.approx(test.pvalue)
