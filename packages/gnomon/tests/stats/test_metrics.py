import numpy as np
import pytest
from scipy import stats

import gnomon.stats as gs
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable
from gnomon.stats import METRICS, Metric, Strata, estimate, metric_named

X = np.random.default_rng(0).normal(size=(7, 5))
STRATA = Strata.from_matrix(X)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mean", gs.mean(X)),
        ("median", gs.median(X)),
        ("iqm", gs.interquartile_mean(X)),
        ("optimality_gap", gs.optimality_gap(X)),
        ("task_iqm", np.mean([stats.trim_mean(runs, 0.25) for runs in X.T])),
        ("trimmed_mean", gs.trimmed_mean(X, 0.1)),
        ("trimmed_mean:0.4", gs.trimmed_mean(X, 0.4)),
        ("share_above:0.5", np.mean(X > 0.5)),
        ("difficulty_progress", np.sort(X, axis=None)[:8].mean()),
        ("difficulty_progress:0.5", np.sort(X, axis=None)[:17].mean()),
    ],
)
def test_metrics_by_name(name, expected):
    assert metric_named(name).value(STRATA) == pytest.approx(expected, rel=1e-12)


def test_the_worst_scores_are_the_highest_where_lower_is_better():
    worst = metric_named("difficulty_progress:0.5", higher_is_better=False)
    assert worst.value(STRATA) == pytest.approx(np.sort(X, axis=None)[-17:].mean())


def test_additive_metrics_are_means_of_a_function_of_the_score():
    for name in ("mean", "optimality_gap", "share_above:0.2"):
        metric = metric_named(name)
        assert STRATA.averaged(metric.each(STRATA.values)) == pytest.approx(metric.value(STRATA))


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_default_metrics_need_a_target_where_lower_is_better():
    for higher, gamma, n in ((True, None, 4), (False, None, 3), (False, 0.5, 4)):
        table = ScoreTable.from_arrays({"a": X}, higher_is_better=higher)
        found = estimate(table, gamma=gamma)
        assert [one.metric for one in found] == list(METRICS)[:n]


def test_a_matrix_metric_needs_a_complete_table():
    own = Metric.of_matrix("own", lambda x: float(x.max()))
    assert own.value(STRATA) == X.max()
    with pytest.raises(ScoreDataError, match="own: expected the same number of runs on every task"):
        own.value(Strata.from_runs([[1.0], [1.0, 2.0]]))


@pytest.mark.parametrize("name", ["iqn", "mean:0.1", "trimmed"])
def test_unknown_names(name):
    with pytest.raises(UnknownNameError, match="unknown metric"):
        metric_named(name)


def test_wrong_parameters():
    with pytest.raises(ScoreDataError, match="metric share_above: expected a number after ':'"):
        metric_named("share_above:high")
    with pytest.raises(ValueError, match=r"expected a proportion from 0 to below 0\.5"):
        metric_named("trimmed_mean:0.7")
    with pytest.raises(ValueError, match="expected a proportion above 0 and up to 1"):
        metric_named("difficulty_progress:0").value(STRATA)
