"""Equivalence: against Welch's tests of SciPy, by its duality with intervals, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import Metric, compare, equivalence


def draws(seed=0):
    return np.random.default_rng(seed)


def table(**arrays):
    return ScoreTable.from_arrays(arrays)


def pair(n_tasks=6, runs=5, apart=0.1):
    x = draws().normal(size=(2, runs, n_tasks))
    return table(a=x[0], b=x[1] + apart)


def test_of_one_task_it_is_two_tests_of_welch():
    x, y = draws().normal(size=5), draws(1).normal(size=7) + 0.2
    scores = table(a=x[:, None], b=y[:, None])
    for margin in (0.1, 0.5, 1.5, 3.0):
        (one,) = equivalence(scores, "a", "b", margin=margin, metrics="mean", variances="own")
        above = stats.ttest_ind(x, y - margin, equal_var=False, alternative="greater")
        below = stats.ttest_ind(x, y + margin, equal_var=False, alternative="less")
        p = max(above.pvalue, below.pvalue)
        assert one.p_equivalence == pytest.approx(p, rel=1e-4)
        interval = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.9)
        assert (one.equivalence_low, one.equivalence_high) == pytest.approx(tuple(interval))


@pytest.mark.parametrize(
    ("runs", "options"),
    [(5, {}), (5, {"paired": True}), (5, {"method": "percentile"}), (22, {})],
)
def test_tests_succeed_exactly_where_the_interval_lies_within(runs, options):
    scores = pair(runs=runs)
    metrics = ["mean", "iqm"]
    for margin in (0.05, 0.4, 1.2):
        options |= {"n_resamples": 300, "rng": 0}
        found = equivalence(scores, "a", "b", margin=margin, metrics=metrics, **options)
        inner = compare(scores, "a", "b", metrics, level=0.9, **options)
        for one, other in zip(found, inner, strict=True):
            assert one.equivalence_low == pytest.approx(other.low)
            assert one.equivalence_high == pytest.approx(other.high)
            within = -margin < other.low and other.high < margin
            assert (one.p_equivalence < 0.05) == within == (one.share_within == 1.0)
            assert 0.0 <= one.share_within <= 1.0


def test_a_median_is_tested_by_its_own_interval():
    (one,) = equivalence(pair(n_tasks=3), "a", "b", margin=1.5, metrics="median")
    (at,) = compare(pair(n_tasks=3), "a", "b", "median", level=1 - 2 * one.p_equivalence)
    assert max(-at.low, at.high) == pytest.approx(1.5, rel=1e-4)
    assert one.method == "profile"


def test_the_comparison_is_the_same_as_without():
    scores = pair()
    found = equivalence(scores, "a", "b", margin=1.0, metrics=["mean", "iqm"], per_task=True)
    for one, other in zip(
        found, compare(scores, "a", "b", ["mean", "iqm"], per_task=True), strict=True
    ):
        for name in ("a", "b", "metric", "task", "value", "low", "high", "p_value", "p_adjusted"):
            assert getattr(one, name) == getattr(other, name)


def test_verdicts_in_words():
    x = draws().normal(0, 0.1, (6, 5))
    scores = table(a=x, b=x[::-1] + 0.5, c=x * 3)
    verdict = {
        ("b", 0.2): "different",
        ("b", 0.9): "different and equivalent",
        ("c", 1.0): "equivalent",
        ("c", 0.01): "cannot tell",
    }
    for (b, margin), expected in verdict.items():
        (one,) = equivalence(scores, "a", b, margin=margin, metrics="mean")
        assert one.verdict == expected, (b, margin)


def test_pairs_and_tasks_are_corrected_by_holm():
    x = draws().normal(size=(3, 5, 4))
    scores = table(a=x[0], b=x[1], c=x[2])
    found = equivalence(scores, margin=1.0, metrics=["mean", "iqm"])
    assert [(c.a, c.b) for c in found] == [
        (c.a, c.b) for c in compare(scores, metrics=["mean", "iqm"])
    ]
    for metric in ("mean", "iqm"):
        p = [one.p_equivalence for one in found.where(metric=metric)]
        adjusted = stats.false_discovery_control(p)  # of another kind, but never above Holm's
        ours = [one.p_equivalence_adjusted for one in found.where(metric=metric)]
        assert max(ours) <= 1.0
        assert all(h >= max(f, q) - 1e-12 for h, f, q in zip(ours, adjusted, p, strict=True))
        assert min(ours) == pytest.approx(min(1.0, 3 * min(p)))
    assert "corrected over the pairs of each metric (Holm)" in str(found)
    tasks = equivalence(scores, "a", "b", margin=1.0, metrics="mean", per_task=True)
    assert tasks[0].p_equivalence == tasks[0].p_equivalence_adjusted
    assert min(t.p_equivalence_adjusted for t in tasks[1:]) == pytest.approx(
        min(1.0, 4 * min(t.p_equivalence for t in tasks[1:]))
    )


def test_swapping_and_stretching_change_nothing_else():
    scores = pair()
    (one,) = equivalence(scores, "a", "b", margin=0.7, metrics="mean")
    (swapped,) = equivalence(scores, "b", "a", margin=0.7, metrics="mean")
    assert swapped.p_equivalence == pytest.approx(one.p_equivalence)
    assert swapped.share_within == pytest.approx(one.share_within)
    frame = scores.to_polars().with_columns(scores.to_polars()["score"] * 10)
    (ten,) = equivalence(ScoreTable.from_frame(frame), "a", "b", margin=7.0, metrics="mean")
    assert ten.p_equivalence == pytest.approx(one.p_equivalence)


def test_a_probability_has_its_margin_around_one_half():
    x = draws().normal(size=(8, 20))
    scores = table(a=x, b=draws(1).normal(size=(8, 20)))
    found = equivalence(scores, "a", "b", margin=0.2, metrics="probability_of_improvement")
    assert "P(a better) between 0.3 and 0.7, by the 90 % interval" in str(found)
    (one,) = found
    assert one.share_within == 1.0
    assert one.verdict == "equivalent"


def test_a_metric_of_ones_own_takes_part():
    spread = Metric.of_matrix("spread", lambda x: float(x.std()))
    (one,) = equivalence(pair(), "a", "b", margin=0.5, metrics=spread, n_resamples=100)
    assert 0.0 < one.p_equivalence < 1.0


def test_margins_that_are_none_are_refused():
    scores = pair()
    for margin in (0.0, -1.0, math.nan):
        with pytest.raises(ScoreDataError, match="expected a number above 0"):
            equivalence(scores, "a", "b", margin=margin)
    with pytest.raises(ScoreDataError, match=r"expected between 0 and 0\.5, found 0\.5"):
        equivalence(scores, margin=0.5, metrics="probability_of_improvement")
    with pytest.raises(ScoreDataError, match="ask for one kind at a time"):
        equivalence(scores, margin=0.1, metrics=["mean", "probability_of_improvement"])


def test_what_is_not_estimable_says_so():
    with pytest.warns(DegenerateScoresWarning, match="from one run per task of a"):
        (one,) = equivalence(
            table(a=[[1.0, 2.0]], b=[[1.0, 2.0], [2.0, 3.0]]), margin=1.0, metrics="mean"
        )
    assert one.verdict == "not estimable"
    assert one.as_record()["p_equivalence"] is None
    assert one.as_record()["share_within"] is None


def test_the_same_rng_gives_the_same_answer():
    scores = pair(runs=22, n_tasks=2)
    options = {"margin": 0.5, "metrics": "mean", "n_resamples": 200}
    assert equivalence(scores, rng=draws(3), **options) == equivalence(
        scores, rng=draws(3), **options
    )


def test_no_p_value_is_smaller_than_resamples_can_show():
    scores = pair(runs=22)
    options = {"metrics": "mean", "method": "percentile", "n_resamples": 99}
    (one,) = equivalence(scores, "a", "b", margin=99.0, **options)
    assert one.p_equivalence == pytest.approx(0.01)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_a_difference_at_the_margin_is_called_equivalent_in_at_most_one_of_twenty():
    trials, called = 1500, 0
    for seed in range(trials):
        x = draws(seed).normal(size=(2, 10, 4))
        (one,) = equivalence(table(a=x[0] + 1.5, b=x[1]), margin=1.5, metrics="mean")
        called += one.verdict.endswith("equivalent")
    assert stats.binomtest(called, trials, 0.05, "greater").pvalue > 1e-3
    assert called > trials / 50
