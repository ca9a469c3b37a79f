import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import gnomon.stats as gs
from gnomon.stats import Strata
from strategies_scores import matrices, ragged_runs


@given(matrices())
def test_complete_tables_have_rliables_values(x):
    scale = max(1.0, np.abs(x).max())
    expected = {
        "mean": np.mean(np.mean(x, axis=0)),
        "median": np.median(np.mean(x, axis=0)),
        "interquartile_mean": stats.trim_mean(x, 0.25, axis=None),
        "optimality_gap": 1.0 - np.mean(np.minimum(x, 1.0)),
    }
    for name, value in expected.items():
        assert abs(getattr(gs, name)(x) - value) <= 1e-12 * scale, name


@given(matrices(max_runs=5, max_tasks=5), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.4]))
def test_trimmed_mean_is_scipys(x, proportion):
    expected = stats.trim_mean(x, proportion, axis=None)
    assert gs.trimmed_mean(x, proportion) == pytest.approx(
        expected, rel=1e-12, abs=1e-12 * max(1.0, np.abs(x).max())
    )


@given(ragged_runs(max_runs=4, max_tasks=4), st.sampled_from([0.0, 0.1, 0.25, 0.4]))
def test_ragged_trimming_is_that_of_a_table_made_balanced(runs, proportion):
    """Repeat each task's runs up to a common number, then cut the same share of the weight."""
    n_scores = sum(x.size for x in runs)
    repeated = np.sort(np.concatenate([np.repeat(x, 12 // x.size) for x in runs]))
    cut = int(proportion * n_scores) / n_scores * repeated.size
    edges = np.arange(repeated.size + 1)
    kept = np.clip(np.minimum(edges[1:], repeated.size - cut) - np.maximum(edges[:-1], cut), 0, 1)
    expected = kept @ repeated / kept.sum()
    found = gs.trimmed_mean(Strata.from_runs(runs), proportion)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1, np.abs(repeated).max()))


@given(ragged_runs())
def test_every_task_has_the_same_weight(runs):
    strata = Strata.from_runs(runs)
    assert gs.mean(strata) == pytest.approx(np.mean([x.mean() for x in runs]), abs=1e-8)
    assert gs.median(strata) == pytest.approx(np.median([x.mean() for x in runs]), abs=1e-8)
    gap = np.mean([np.maximum(1 - x, 0).mean() for x in runs])
    assert gs.optimality_gap(strata) == pytest.approx(gap, abs=1e-8)


@given(matrices(), st.floats(0.1, 10), st.floats(-10, 10))
def test_shift_and_scale(x, scale, shift):
    for summary in (gs.mean, gs.median, gs.interquartile_mean):
        assert summary(scale * x + shift) == pytest.approx(
            scale * summary(x) + shift, rel=1e-9, abs=1e-5
        )


def test_missing_runs_are_left_out():
    x = [[1.0, 5.0], [np.nan, 7.0], [3.0, np.nan]]
    assert gs.mean(x) == 4.0
    assert Strata.from_matrix(x).n_runs == 2


def test_the_gap_where_lower_is_better():
    x = [[1.0, 4.0], [3.0, 8.0]]
    assert gs.optimality_gap(x, 2.0, higher_is_better=False) == (0 + 1 + 2 + 6) / 4


def test_infinite_scores_make_means_infinite_but_can_be_trimmed():
    x = [[1.0, 2.0, 3.0, np.inf]]
    assert gs.mean(x) == np.inf
    assert gs.interquartile_mean(x) == 2.5
    assert gs.median(x) == 2.5
    assert gs.optimality_gap(x, 4.0) == 6 / 4
    assert np.isnan(gs.mean([[np.inf, -np.inf]]))


def test_misuse():
    with pytest.raises(ValueError, match=r"expected a proportion .* below 0\.5, found 0\.5"):
        gs.trimmed_mean([[1.0]], 0.5)
    with pytest.raises(ValueError, match=r"expected scores of shape \(runs, tasks\), found \(1, 1"):
        gs.mean([[[1.0]]])
    with pytest.raises(ValueError, match="expected at least one task, each with at least one"):
        gs.mean([[np.nan, 1.0]])
