import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import Metric, Strata, estimate, metric_named
from strategies_scores import matrices, ragged_runs

X = np.random.default_rng(0).normal(size=(7, 5))
STRATA = Strata.from_matrix(X)


def test_additive_metrics_are_means_of_a_function_of_the_score():
    for name in ("mean", "optimality_gap"):
        metric = metric_named(name)
        assert STRATA.averaged(metric.each(STRATA.values)) == pytest.approx(metric.value(STRATA))


def test_a_matrix_metric_needs_a_complete_table():
    own = Metric.of_matrix("own", lambda x: float(x.max()))
    assert own.value(STRATA) == X.max()
    with pytest.raises(ScoreDataError, match="own: expected the same number of runs on every task"):
        own.value(Strata.from_runs([[1.0], [1.0, 2.0]]))


@given(matrices())
def test_complete_tables_have_rliables_values(x):
    scale = max(1.0, np.abs(x).max())
    expected = {
        "mean": np.mean(np.mean(x, axis=0)),
        "median": np.median(np.mean(x, axis=0)),
        "iqm": stats.trim_mean(x, 0.25, axis=None),
        "optimality_gap": 1.0 - np.mean(np.minimum(x, 1.0)),
    }
    for name, value in expected.items():
        assert abs(metric_named(name)(x) - value) <= 1e-12 * scale, name


@given(ragged_runs(max_runs=4, max_tasks=4))
def test_ragged_trimming_is_that_of_a_table_made_balanced(runs):
    """Repeat each task's runs up to a common number, then cut the same share of the weight."""
    n_scores = sum(x.size for x in runs)
    repeated = np.sort(np.concatenate([np.repeat(x, 12 // x.size) for x in runs]))
    cut = int(0.25 * n_scores) / n_scores * repeated.size
    edges = np.arange(repeated.size + 1)
    kept = np.clip(np.minimum(edges[1:], repeated.size - cut) - np.maximum(edges[:-1], cut), 0, 1)
    expected = kept @ repeated / kept.sum()
    found = metric_named("iqm")(Strata.from_runs(runs))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1, np.abs(repeated).max()))


@given(ragged_runs())
def test_every_task_has_the_same_weight(runs):
    strata = Strata.from_runs(runs)
    assert metric_named("mean")(strata) == pytest.approx(
        np.mean([x.mean() for x in runs]), abs=1e-8
    )
    assert metric_named("median")(strata) == pytest.approx(
        np.median([x.mean() for x in runs]), abs=1e-8
    )
    gap = np.mean([np.maximum(1 - x, 0).mean() for x in runs])
    assert metric_named("optimality_gap")(strata) == pytest.approx(gap, abs=1e-8)


@given(matrices(), st.floats(0.1, 10), st.floats(-10, 10))
def test_shift_and_scale(x, scale, shift):
    for summary in map(metric_named, ("mean", "median", "iqm")):
        assert summary(scale * x + shift) == pytest.approx(
            scale * summary(x) + shift, rel=1e-9, abs=1e-5
        )


def test_missing_runs_are_left_out():
    x = [[1.0, 5.0], [np.nan, 7.0], [3.0, np.nan]]
    assert metric_named("mean")(x) == 4.0
    assert Strata.from_matrix(x).n_runs == 2


def test_the_gap_where_lower_is_better():
    x = [[1.0, 4.0], [3.0, 8.0]]
    assert (
        metric_named("optimality_gap", gamma=2.0, higher_is_better=False)(x) == (0 + 1 + 2 + 6) / 4
    )


def test_infinite_scores_make_means_infinite_but_can_be_trimmed():
    x = [[1.0, 2.0, 3.0, np.inf]]
    assert metric_named("mean")(x) == np.inf
    assert metric_named("iqm")(x) == 2.5
    assert metric_named("median")(x) == 2.5
    assert metric_named("optimality_gap", gamma=4.0)(x) == 6 / 4
    assert np.isnan(metric_named("mean")([[np.inf, -np.inf]]))


def test_misuse():
    with pytest.raises(ValueError, match=r"expected scores of shape \(runs, tasks\), found \(1, 1"):
        metric_named("mean")([[[1.0]]])
    with pytest.raises(ValueError, match="expected at least one task, each with at least one"):
        metric_named("mean")([[np.nan, 1.0]])


@pytest.mark.parametrize("metrics", [5, np.mean, [None], ["mean", 5]])
def test_a_metric_is_a_name_or_a_metric(metrics):
    with pytest.raises(TypeError, match="metrics: expected names or instances of Metric, found"):
        estimate(ScoreTable.from_arrays({"a": [[1.0], [2.0]]}), metrics)
